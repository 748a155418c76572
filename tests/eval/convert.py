"""The simulator's records as the product's observations."""

from __future__ import annotations

import typing

from firmware_bridge.wire import BootId, CleanEmpty, Corrupt, DeviceId, DeviceUp, Observation, Present, Tag, TimeSpan
from hw_sim.camera import HandStep, Landed, Record
from hw_sim.sweeps import Read
from tabled.core.entries import Seen
from tabled.model.camera import CameraTrust, ChipsLanded, HandMoved

READER, PANEL, CAMERA = DeviceId("reader"), DeviceId("panel"), DeviceId("camera")


def core_sees_cameras() -> bool:
    """Whether the core's input takes what a camera reports."""
    observation = typing.get_type_hints(Seen)["observation"]
    return HandMoved in typing.get_args(observation)


def read(seen: Read) -> Present | CleanEmpty | Corrupt:
    """One inventory."""
    span = TimeSpan(seen.from_ns, seen.to_ns)
    if seen.uids is None:
        return Corrupt(READER, span, seen.antenna, seen.fault)
    if seen.uids or not seen.complete:
        return Present(READER, span, seen.antenna, tuple(Tag(u) for u in seen.uids), seen.complete)
    return CleanEmpty(READER, span, seen.antenna)


def camera(seen: Record) -> Observation:
    """One report of the camera."""
    if isinstance(seen, HandStep):
        span = TimeSpan(seen.earliest_ns, seen.latest_ns)
        return HandMoved(
            CAMERA, span, seen.seat, seen.step, seen.by, seen.retreat_mm, seen.pause_ms, seen.confidence
        )  # fmt: skip
    if isinstance(seen, Landed):
        span = TimeSpan(seen.earliest_ns, seen.latest_ns)
        return ChipsLanded(CAMERA, span, seen.seat, seen.x_mm, seen.y_mm, seen.area_mm2, seen.value)
    return CameraTrust(CAMERA, TimeSpan(seen.at_ns, seen.at_ns), seen.trusted, seen.reason)


def up(device: DeviceId, now_ns: int) -> Observation:
    """A device answered its hello."""
    return DeviceUp(device, TimeSpan(now_ns, now_ns), "twin", "0", BootId(7))
