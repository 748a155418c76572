"""Parts of ``bridge`` that need no device: captures decoded, and Linux's own folders read."""

from __future__ import annotations

import os
import re
import stat
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from firmware_bridge.cli import findings, main, system
from firmware_bridge.cli.decode import PROTOCOLS
from firmware_bridge.cli.dump import Show
from firmware_bridge.wire import BootId, DeviceId, Press, TimeSpan
from tests.bridge.peers import feig_reply, hello_payload, panel_frame, press_payload, records


def decode(*words: str, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(main, ["decode", *words], input=stdin)


# -- decode --------------------------------------------------------------------------------------


def test_hexadecimal_in_any_dress() -> None:
    for text in ("05ff65e5cb", "05 FF 65 E5 CB", "05:ff:65:e5:cb", "0x05, 0xff, 0x65, 0xe5, 0xcb", "05-ff-65-e5-cb\n"):
        result = decode(text)
        assert result.exit_code == 0, result.output
        assert "       0     5  host    [65] get software version" in result.output
        assert "1 frame, 5 bytes in frames, 0 bytes of garbage" in result.output


def test_a_capture_of_both_ways_with_garbage(tmp_path: Path) -> None:
    capture = bytes.fromhex("07ffb001001c56") + b"\xfe\xfd\xfc" + feig_reply(0xB0, 0, records("E0040150A05F02B7"))
    capture += feig_reply(0xB0, 1) + feig_reply(0xB0, 0x83) + b"\x0d\x00"
    path = tmp_path / "capture.bin"
    path.write_bytes(capture)
    for words, stdin in (((str(path),), None), (("-",), capture), (("-",), capture.hex().encode())):
        result = decode(*words, stdin=stdin)
        assert [line[:24].split()[:3] for line in result.output.splitlines()[2:-1]] == [
            ["0", "7", "host"],
            ["7", "3", "none"],
            ["10", "17", "reader"],
            ["27", "6", "reader"],
            ["33", "6", "reader"],
            ["39", "2", "none"],
        ]
        lines = result.output.splitlines()
        assert "inventory" in lines[2]
        assert lines[3].endswith("fe fd fc")
        assert lines[4].endswith("1 tag  E0040150A05F02B7")
        assert "01 no tag" in lines[5]
        assert "83 RF error" in lines[6]
        assert "4 frames" in lines[-1]
        assert "5 bytes of garbage" in lines[-1]
    strict = decode(str(path), "--protocol", "feig-replies")
    assert "inventory" not in strict.output


def test_a_panels_capture() -> None:
    capture = panel_frame(1, hello_payload()) + panel_frame(3, press_payload(9, 5, 6, amount=800, seat=2, flags=1))
    capture += panel_frame(0x82, (0xB007).to_bytes(4, "little") + b"\x09\x00") + panel_frame(0x83, b"\x05\x00\x00\x00")
    capture += (
        panel_frame(2, b"\x01\x00") + panel_frame(2, b"\x01") + panel_frame(0x44) + panel_frame(2, b"\0\0", ver=9)
    )
    out = decode(capture.hex()).output
    assert "as panel" in out
    flat = " ".join(out.split())
    for words in (
        "panel HELLO seq 1 boot 0000B007 tick 0 'test panel' 1.2 schema 7AB1ED01",
        "0000B007/9 raise_to amount 800 seat 2 said first",
        "host ACK",
        "token 5",
        "pending 1 lost 0",
        "BAD: HEARTBEAT of 1 bytes",
        "type 44",
        "a panel frame of protocol version 9; this is version 1",
        "7 frames",
    ):
        assert words in flat
        flat = flat.partition(words)[2]


def test_nothing_in_it_is_status_1() -> None:
    result = decode("ffffffff")
    assert result.exit_code == 1
    assert "0 frames" in result.output
    assert len({p.name for p in PROTOCOLS}) == len(PROTOCOLS)


# -- Linux's folders -----------------------------------------------------------------------------


def adapter(root: Path, name: str, *, serial: str = "", latency: str = "", by_id: str = "", by_path: str = "") -> None:
    """A USB serial adapter as Linux shows it."""
    usb = root / "sys/devices/usb1" / f"1-{name}"
    port = usb / "1-1:1.0" / name
    port.mkdir(parents=True)
    ids = {"idVendor": "0403", "idProduct": "6001", "manufacturer": "FTDI", "product": "FT232R", "serial": serial}
    for file, text in ids.items():
        if text:
            (usb / file).write_text(text + "\n")
    if latency:
        (port / "latency_timer").write_text(latency + "\n")
    bus = root / "sys/bus/usb-serial"
    bus.mkdir(parents=True, exist_ok=True)
    (port / "subsystem").symlink_to(bus)
    tty = root / "sys/class/tty" / name
    tty.mkdir(parents=True)
    (tty / "device").symlink_to(port)
    device = root / "dev" / name
    device.parent.mkdir(exist_ok=True)
    device.touch()
    for kind, link in (("by-id", by_id), ("by-path", by_path)):
        if link:
            folder = root / "dev/serial" / kind
            folder.mkdir(parents=True, exist_ok=True)
            (folder / link).symlink_to(f"../../{name}")


def test_ports_their_names_and_their_usb_ids(tmp_path: Path) -> None:
    adapter(tmp_path, "ttyUSB0", serial="A50285BI", latency="16", by_id="usb-FTDI_A50285BI-if00", by_path="pci-usb-0:1")
    adapter(tmp_path, "ttyUSB1", latency="1", by_id="usb-1a86_USB_Serial", by_path="pci-usb-0:2")
    board = tmp_path / "sys/class/tty/ttyS0/device"
    board.mkdir(parents=True)
    (tmp_path / "sys/bus/platform").mkdir(parents=True)
    (board / "subsystem").symlink_to(tmp_path / "sys/bus/platform")
    first, second = system.serial_devices(tmp_path)
    assert (first.path, first.latency_ms) == ("/dev/ttyUSB0", 16)
    assert first.usb == system.Usb("0403", "6001", "A50285BI", "FTDI", "FT232R")
    assert first.best_name == "/dev/serial/by-id/usb-FTDI_A50285BI-if00"
    assert second.best_name == "/dev/serial/by-path/pci-usb-0:2", "no serial number: the socket is the name"
    assert system.serial_device("/dev/serial/by-id/usb-FTDI_A50285BI-if00", tmp_path) == first


def levels(found: list[findings.Finding]) -> dict[str, str]:
    return {f.says[:12]: f.level for f in found}


def test_names_that_move_and_latency_are_told_with_the_line_to_paste(tmp_path: Path) -> None:
    adapter(tmp_path, "ttyUSB0", serial="A50285BI", latency="16", by_id="usb-FTDI_A50285BI-if00", by_path="pci-usb-0:1")
    adapter(tmp_path, "ttyUSB1", serial="Z9", latency="1")
    first, second = system.serial_devices(tmp_path)
    found = findings.port_findings("/dev/ttyUSB0", first, tmp_path)
    assert [f.level for f in found] == ["ok", "warn", "warn"]
    assert found[1].says.endswith("/dev/serial/by-id/usb-FTDI_A50285BI-if00")
    assert "16 ms" in found[2].says
    assert found[2].paste == (
        'echo \'ACTION=="add", SUBSYSTEM=="usb-serial", DRIVER=="ftdi_sio", ATTR{latency_timer}="1"\' '
        "| sudo tee -a /etc/udev/rules.d/60-tabled.rules",
        "sudo udevadm control --reload && sudo udevadm trigger",
        "echo 1 | sudo tee /sys/bus/usb-serial/devices/ttyUSB0/latency_timer",
    )
    good = findings.port_findings(first.by_id, first, tmp_path)
    assert [f.level for f in good] == ["ok", "ok", "warn"]
    bare = findings.port_findings("/dev/ttyUSB1", second, tmp_path)
    assert [f.level for f in bare] == ["ok", "warn", "ok"]
    assert bare[1].paste[0] == (
        'echo \'SUBSYSTEM=="tty", ATTRS{idVendor}=="0403", ATTRS{idProduct}=="6001", ATTRS{serial}=="Z9", '
        'SYMLINK+="tabled-reader"\' | sudo tee -a /etc/udev/rules.d/60-tabled.rules'
    )
    assert [f.level for f in findings.port_findings("/dev/ttyUSB7", second, tmp_path)] == ["bad"]


def test_permissions_are_told_with_the_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    adapter(tmp_path, "ttyUSB0", serial="A1", by_id="usb-A1")
    (device,) = system.serial_devices(tmp_path)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    monkeypatch.setattr(system, "user", lambda: "floor")
    node = tmp_path / "dev/ttyUSB0"
    node.chmod(0o660)
    found = findings.port_findings(device.by_id, device, tmp_path)[0]
    group = system.denied(str(node))
    assert found.level == "bad"
    assert found.paste == (f"sudo usermod -aG {group} floor",)
    monkeypatch.setattr(system, "waits_for_login", lambda group: True)
    assert "from the next log-in on" in findings.port_findings(device.by_id, device, tmp_path)[0].says
    node.chmod(stat.S_IRUSR)
    closed = findings.port_findings(device.by_id, device, tmp_path)[0]
    rule = 'SUBSYSTEM=="tty", ATTRS{idVendor}=="0403", ATTRS{idProduct}=="6001", ATTRS{serial}=="A1", '
    assert rule + 'GROUP="dialout", MODE="0660"' in closed.paste[0], "the device, whatever its name is next time"
    assert "KERNEL" not in closed.paste[0]


def test_a_mainboards_port_is_opened_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    port = tmp_path / "dev/ttyS0"
    port.parent.mkdir()
    port.touch()
    port.chmod(stat.S_IRUSR)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    found = findings.port_findings("/dev/ttyS0", system.serial_device("/dev/ttyS0", tmp_path), tmp_path)[0]
    assert 'KERNEL=="ttyS0", GROUP="dialout", MODE="0660"' in found.paste[0]


def test_the_process_behind_a_pseudo_terminal_is_the_device_and_no_other_user(tmp_path: Path) -> None:
    for pid, index in ((4711, "7"), (4712, "8")):
        folder = tmp_path / "proc" / str(pid)
        for part in ("fd", "fdinfo"):
            (folder / part).mkdir(parents=True)
        (folder / "comm").write_text("panel_host\n")
        (folder / "fd/3").symlink_to(tmp_path / "dev/ptmx")
        (folder / "fd/4").symlink_to(tmp_path / "dev/pts/7")
        (folder / "fdinfo/3").write_text(f"pos:\t0\nflags:\t02\ntty-index:\t{index}\n")
    assert [h.pid for h in system.holders("/dev/pts/7", tmp_path)] == [4712], "who has another's master is a user"


def test_holders_are_named(tmp_path: Path) -> None:
    adapter(tmp_path, "ttyUSB0", serial="A1", by_id="usb-A1")
    (device,) = system.serial_devices(tmp_path)
    for pid, comm in ((1, "init"), (4711, "minicom")):
        folder = tmp_path / "proc" / str(pid) / "fd"
        folder.mkdir(parents=True)
        (folder.parent / "comm").write_text(comm + "\n")
        (folder / "0").symlink_to(tmp_path / ("dev/ttyUSB0" if pid > 1 else "dev/null"))
    assert system.holders(device.by_id, tmp_path) == [system.Holder(4711, "minicom")]
    assert findings.port_findings(device.by_id, device, tmp_path)[1].says.startswith("is held by minicom (pid 4711)")


def test_keypads_and_decks(tmp_path: Path) -> None:
    inputs = tmp_path / "dev/input/by-id"
    inputs.mkdir(parents=True)
    (tmp_path / "dev/input/event3").touch()
    for link in ("usb-Pad-event-kbd", "usb-Mouse-event-mouse"):
        (inputs / link).symlink_to("../event3")
        break
    deck = tmp_path / "sys/bus/usb/devices/1-4"
    deck.mkdir(parents=True)
    for file, text in (("idVendor", "0fd9"), ("idProduct", "0080"), ("serial", "AL1"), ("product", "Stream Deck MK.2")):
        (deck / file).write_text(text)
    assert system.keypads(tmp_path) == ["/dev/input/by-id/usb-Pad-event-kbd"]
    assert [d.serial for d in system.decks(tmp_path)] == ["AL1"]
    (pad, pad_found), (name, deck_found) = findings.panel_findings(tmp_path)
    assert (pad, pad_found[0].level) == ("/dev/input/by-id/usb-Pad-event-kbd", "ok")
    assert (name, deck_found[0].level) == ("streamdeck:AL1", "warn")
    assert 'ATTRS{idVendor}=="0fd9"' in deck_found[0].paste[0]
    rules = tmp_path / "etc/udev/rules.d/60-tabled.rules"
    rules.parent.mkdir(parents=True)
    rules.write_text('ATTRS{idVendor}=="0fd9"')
    assert findings.panel_findings(tmp_path)[1][1][0].level == "ok"


def test_an_empty_machine_is_no_error(tmp_path: Path) -> None:
    assert system.serial_devices(tmp_path) == []
    assert system.keypads(tmp_path) == []
    assert system.decks(tmp_path) == []
    assert system.holders("/dev/ttyUSB0", tmp_path) == []
    assert findings.panel_findings(tmp_path) == []


# -- dump ----------------------------------------------------------------------------------------


def test_a_press_whose_time_is_unknown_is_shown_without_one(capsys: pytest.CaptureFixture[str]) -> None:
    now_ns = time.monotonic_ns()
    show = Show(take=False, as_json=False)
    for span in (TimeSpan(now_ns, now_ns + 4_000_000), TimeSpan(0, now_ns + 100_000_000_000)):
        show.take_in(Press(DeviceId("panel"), span, boot=BootId(7), seq=1, key="fold"))
    known, unknown = capsys.readouterr().out.splitlines()
    assert re.match(r" +\d+\.\d{3}  press ", known)
    assert "known to 4.0 ms" in known
    assert re.match(r" +\?  press ", unknown), "no number where none is known"
    assert "its time unknown" in unknown
