"""A device's life above its session, without ports and without waiting: back-off, and what of a loss is told."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from firmware_bridge.drivers.registry import drive
from firmware_bridge.supervisor import BACK_OFF_CAP_S, BACK_OFF_S, STEADY_NS, DeviceConfig, _Device
from firmware_bridge.wire import AnyObservation, BootId, DeviceId, DeviceLost, DeviceUp, RawBytes, TimeSpan

CONFIG = DeviceConfig("r", "feig", "/dev/none", options={"antennas": [1]})


def device(seen: list[AnyObservation]) -> _Device:
    return _Device(CONFIG, drive(CONFIG), seen.append, lambda: 7, lambda: 1.0)


def waits(lives_ns: list[int], monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long was waited behind each of these lives."""
    found: list[float] = []
    it = iter(lives_ns)

    async def life(_: Any) -> int:
        return next(it)

    async def sleep(seconds: float) -> None:
        found.append(seconds)
        if len(found) == len(lives_ns):
            raise asyncio.CancelledError

    monkeypatch.setattr(_Device, "_one_life", life)
    monkeypatch.setattr("firmware_bridge.supervisor.asyncio.sleep", sleep)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(device([]).live())
    return found


def test_the_back_off_doubles_up_to_its_cap_and_starts_anew_after_a_steady_life(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = waits([0, 0, 0, STEADY_NS - 1, 0, 0, 0, STEADY_NS, 0, STEADY_NS], monkeypatch)
    doubled = [min(BACK_OFF_S * 2**n, BACK_OFF_CAP_S) for n in range(7)]
    assert found == pytest.approx([*doubled, BACK_OFF_S, 2 * BACK_OFF_S, BACK_OFF_S])


def test_a_loss_is_told_once_while_it_lasts_and_again_when_it_happens_again() -> None:
    async def body() -> None:
        seen: list[AnyObservation] = []
        it = device(seen)
        for _ in range(3):
            it._lost("hung up", "plug it in", subject="gone")
        assert len(seen) == 1
        it._lost("permission denied", "add the group", subject="")
        assert len(seen) == 2, "another matter"
        up = DeviceUp(DeviceId("r"), TimeSpan(7, 7), model="m", firmware="f", boot=BootId(0))
        it._deliver([up])
        it._lost("permission denied", "add the group", subject="")
        it._lost("permission denied", "add the group", subject="")
        losses = [o for o in seen if isinstance(o, DeviceLost)]
        assert [o.reason for o in losses] == ["hung up", "permission denied", "permission denied"]

    asyncio.run(body())


def test_a_tap_hears_both_directions_and_its_trouble_is_no_devices() -> None:
    class Port:
        dropped = 0

        def __init__(self) -> None:
            self.written: list[bytes] = []

        def write(self, data: bytes) -> None:
            self.written.append(data)

        def close(self) -> None:
            pass

    async def body() -> None:
        heard: list[tuple[RawBytes, bool]] = []
        it = _Device(CONFIG, drive(CONFIG), lambda _: None, lambda: 7, lambda: 1.0, tap=lambda *one: heard.append(one))
        port = Port()
        it._port = port  # type: ignore[assignment]  # a stand-in
        it.driven.session.start(7)
        it._carry_on()
        it._on_data(b"\x07\xff")
        assert heard[0] == (RawBytes(DeviceId("r"), port.written[0], 7), True)
        assert (RawBytes(DeviceId("r"), b"\x07\xff", 7), False) in heard
        it._tap = lambda *_: 1 // 0
        it._on_data(b"\x07")
        assert it.health().error == ""
        it._shut()

    asyncio.run(body())
