"""Pepper and metraTec readers for the bridge's tests, written from the vendors' texts: no encoder of production."""

from __future__ import annotations

from collections.abc import Callable


def ccitt(data: bytes) -> int:
    """CRC-16/CCITT-FALSE bit by bit: polynomial 0x1021, preset 0xFFFF, most significant bit first."""
    crc = 0xFFFF
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ (0x1021 if crc & 0x8000 else 0)) & 0xFFFF
    return crc


def pepper_frame(payload: bytes) -> bytes:
    """A frame of either direction."""
    low, high = (len(payload) + 2) & 0xFF, (len(payload) + 2) >> 8
    return bytes((0xF5, low, high, low ^ 0xFF, high ^ 0xFF)) + payload + ccitt(payload).to_bytes(2, "little")


class PepperReader:
    """A Pepper C1 MUX.  ``field`` holds UIDs an antenna; ``script`` may change replies: (command, data, reply)."""

    def __init__(self, field: dict[int, list[str]] | None = None) -> None:
        self.field = field or {}
        self.antenna = 1
        self.log: list[tuple[int, bytes]] = []
        self.script: Callable[[int, bytes, bytes], bytes] = lambda command, data, reply: reply
        self.quiet: set[str] = set()
        self.powered = False
        self._left: list[str] = []
        self._last = ""
        self._buffer = b""

    def feed(self, data: bytes) -> bytes:
        self._buffer += data
        out = b""
        while len(self._buffer) >= 5:
            total = 5 + int.from_bytes(self._buffer[1:3], "little")
            if len(self._buffer) < total:
                break
            raw, self._buffer = self._buffer[:total], self._buffer[total:]
            payload = raw[5:-2]
            if pepper_frame(payload) != raw:
                continue
            self.log.append((payload[0], payload[1:]))
            out += self.script(payload[0], payload[1:], pepper_frame(self._answer(payload[0], payload[1:])))
        return out

    def _answer(self, command: int, data: bytes) -> bytes:
        ack = bytes((0, command))
        if command == 0x0B:
            return ack + b"Pepper C1 MUX v2.1\x00"
        if command == 0x0F:
            if not (len(data) == 1 and 1 <= data[0] <= 8):
                return bytes((0xFF, command, 0x21, 0))
            if data[0] != self.antenna:
                self._power_off()
            self.antenna = data[0]
        if command == 0x05:
            self._power_off()
        if command in (0x90, 0x91):
            return self._inventory(command)
        if command == 0x92:
            self.quiet.add(self._last)
        return ack

    def _power_off(self) -> None:
        self.quiet.clear()
        self._left = []

    def _inventory(self, command: int) -> bytes:
        if command == 0x90:
            self._left = [uid for uid in self.field.get(self.antenna, []) if uid not in self.quiet]
        if not self._left:
            return bytes((0xFF, command, 0x01, 0x00))
        self._last = self._left.pop(0)
        return bytes((0, command)) + bytes.fromhex(self._last)[::-1] + bytes((0, bool(self._left)))


class MetratecReader:
    """A metraTec HF reader with ``ports`` antenna ports, numbered from 1; ``field`` holds the UIDs on each."""

    def __init__(self, field: dict[int, list[str]] | None = None, *, ports: int = 1) -> None:
        self.field = field or {}
        self.ports = ports
        self.port = 1
        self.automatic = 0
        self.report = False
        self.rf = False
        self.continuous = ""
        self.power = 0
        self.quiet: set[str] = set()
        self.log: list[str] = []
        self.script: Callable[[str, bytes], bytes] = lambda command, reply: reply
        self._buffer = b""

    def feed(self, data: bytes) -> bytes:
        *lines, self._buffer = (self._buffer + data).split(b"\r")
        out = b""
        for line in lines:
            command = line.decode("ascii")
            self.log.append(command)
            said = self._answer(command)
            out += self.script(command, b"".join(text.encode() + b"\r" for text in said))
        return out

    def tick(self) -> bytes:
        """One inventory of a continuous run."""
        if not self.continuous:
            return b""
        return b"".join(text.encode() + b"\r" for text in self._inventory("ONT" in self.continuous))

    def restart(self) -> bytes:
        self.__init__(self.field, ports=self.ports)  # type: ignore[misc]  # a reboot forgets everything else
        return b"SRT\r"

    def _answer(self, command: str) -> list[str]:
        words = command.split()
        if command == "BRK":
            running, self.continuous = self.continuous, ""
            return ["BRA" if running else "NCM"]
        if command == "RFW":
            return ["QUASAR_MX      0312"]
        if words[0] == "SRI":
            self.rf = words[1] != "OFF"
            self.quiet.clear()
            return ["OK!"]
        if words[:2] == ["SAP", "AUT"]:
            self.automatic, self.port = int(words[2]), 1
            return ["OK!"] if self.ports > 1 else ["NOS"]
        if words[:2] == ["SAP", "MAN"]:
            self.automatic, self.port = 0, int(words[2])
            self.quiet.clear()
            return ["OK!"]
        if words[:2] == ["SAP", "ARP"]:
            self.report = words[2] == "ON"
            return ["OK!"]
        if words[:2] == ["SET", "PWR"]:
            self.power = int(words[2])
            return ["OK!"]
        if words[0] == "MOD":
            return ["OK!"]
        if words[:2] == ["CNR", "INV"]:
            self.continuous = command
            return []
        if words[0] == "INV":
            return self._inventory("ONT" in words)
        return ["UCO"]

    def _inventory(self, only_new: bool) -> list[str]:
        if not self.rf:
            return ["RNW"]
        port = self.port
        if self.automatic > 1:
            self.port = self.port % self.automatic + 1
            self.quiet.clear()  # the port that was left has no power
        uids = [uid for uid in self.field.get(port, []) if uid not in self.quiet]
        if only_new:
            self.quiet.update(uids)
        report = [f"ARP {port:02d}"] if self.report else []
        return [*uids, *report, f"IVF {len(uids):02d}"]
