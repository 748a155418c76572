"""What a table teaches about its sensors and its dealer, within the bounds of its configuration."""

from __future__ import annotations

from msgspec.structs import replace

from tabled.core.state import TableState
from tabled.fusion.presence import learned


def misses(state: TableState) -> None:
    """How misses hang together here, by what all antennas have missed and read again."""
    sensor = learned(state.fusion.sensor, state.areas.values())
    if sensor is not state.fusion.sensor:
        state.fusion = replace(state.fusion, sensor=sensor)
