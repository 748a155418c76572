"""The reference panel core as a program: compiled once, run on a pseudo-terminal, told what to do."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import shutil
import subprocess
import tty
from collections.abc import Callable
from pathlib import Path

import pytest

FIRMWARE = Path(__file__).parents[2] / "firmware_bridge" / "firmware"
STRICT = ("-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror")
SANITIZED = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")


def compiler() -> str:
    """A C compiler, or the test is skipped."""
    found = shutil.which("gcc") or shutil.which("clang") or shutil.which("cc")
    if found is None:
        pytest.skip("no C compiler (gcc, clang or cc): the reference panel core is not tested here")
    return found


def build(folder: Path) -> Path:
    """The program, with every warning an error and both sanitizers; without them where they cannot be linked."""
    cc = compiler()
    program = folder / "panel_host"
    sources = [str(FIRMWARE / name) for name in ("panel_core.c", "host_main.c")]
    probe = folder / "probe.c"
    probe.write_text("int main(void) { return 0; }\n")
    linked = subprocess.run([cc, *SANITIZED, str(probe), "-o", str(folder / "probe")], capture_output=True, check=False)
    extra = SANITIZED if linked.returncode == 0 else ("-O1",)
    made = subprocess.run([cc, *STRICT, *extra, *sources, "-o", str(program)], capture_output=True, check=False)
    assert made.returncode == 0, made.stderr.decode()
    return program


class PanelProgram:
    """One run of the program.  ``path`` is its pseudo-terminal."""

    def __init__(self, program: Path, *options: str) -> None:
        self._process = subprocess.Popen(
            [str(program), *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self.path = self._line()

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline().decode().strip()
        if not line:
            self._process.wait(5)
            assert self._process.stderr is not None
            raise AssertionError(f"the panel program ended: {self._process.stderr.read().decode()}")
        return line

    def tell(self, command: str) -> list[str]:
        """One command; the words of its answer."""
        assert self._process.stdin is not None
        self._process.stdin.write(command.encode() + b"\n")
        self._process.stdin.flush()
        return self._line().split()

    def press(self, key: int = 3, seat: int = 0, flags: int = 0, amount: int = 0) -> tuple[int, int]:
        """The act's name; its number is 0 where the panel did not take it."""
        _, boot, seq = self.tell(f"press {key} {seat} {flags} {amount}")
        return int(boot, 16), int(seq)

    def state(self) -> dict[str, int]:
        _, *words = self.tell("state")
        return {name: int(value) for name, value in zip(words[::2], words[1::2], strict=True)}

    def kill(self) -> None:
        """Power gone in the middle of whatever it did."""
        self._process.kill()
        self._process.wait(5)
        self._close()

    def stop(self) -> None:
        """Ends it, and fails if a sanitizer had something to say."""
        _, errors = self._process.communicate(timeout=5)
        assert (self._process.returncode, errors) == (0, b""), errors.decode()

    def _close(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


class Relay:
    """A bad cable: ``link`` is the host's end, ``path`` the panel's; ``mangle`` spoils each chunk both ways."""

    def __init__(self, link: Path) -> None:
        self.link = link
        self.mangle: Callable[[bytes], bytes] = lambda data: data
        self._panel = -1
        self._master, self._slave = os.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self._master, False)
        link.symlink_to(os.ttyname(self._slave))
        asyncio.get_running_loop().add_reader(self._master, self._from_host)

    def connect(self, path: str) -> None:
        self.disconnect()
        self._panel = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        tty.setraw(self._panel)
        asyncio.get_running_loop().add_reader(self._panel, self._from_panel)

    def disconnect(self) -> None:
        if self._panel >= 0:
            asyncio.get_running_loop().remove_reader(self._panel)
            os.close(self._panel)
            self._panel = -1

    def close(self) -> None:
        self.disconnect()
        asyncio.get_running_loop().remove_reader(self._master)
        os.close(self._master)
        os.close(self._slave)

    def _from_host(self) -> None:
        with contextlib.suppress(OSError):
            data = self.mangle(os.read(self._master, 4096))
            if self._panel >= 0:
                os.write(self._panel, data)

    def _from_panel(self) -> None:
        with contextlib.suppress(OSError):
            os.write(self._master, self.mangle(os.read(self._panel, 4096)))


def bad_cable(seed: int, rate: float) -> Callable[[bytes], bytes]:
    """Bytes lost, doubled and flipped, each with ``rate``; now and then a whole chunk twice or never."""
    chance = random.Random(seed)

    def mangle(data: bytes) -> bytes:
        dice = chance.random()
        if dice < 4 * rate:
            return b""
        if dice < 8 * rate:
            data += data
        out = bytearray()
        for byte in data:
            dice = chance.random()
            if dice < rate:
                continue
            out.append(byte ^ 1 << chance.randrange(8) if dice < 2 * rate else byte)
            if dice > 1 - rate:
                out.append(byte)
        return bytes(out)

    return mangle
