"""The core's wishes to the readers, and the readers' word to the core.

After each step the antennas of the seat to act are favoured, and when the core waits for a look that it does
not have yet, results that the bridge withholds because they repeat are let through.  Neither is an input: they
alter when something is seen, not what.  What the readers state they can do is one, because rulings wait by it:
it goes to the journal (`Stated`) whenever it changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from firmware_bridge.supervisor import DeviceHealth
from firmware_bridge.wire import AnyObservation, DeviceLost, DeviceUp, Restarted
from tabled.core.adjudicate import awaited_looks
from tabled.core.entries import Bound, Stated
from tabled.core.state import TableState, area_key, bet_antennas
from tabled.model.layout import Antenna, Layout

Spot = tuple[str, int]
"""(device, antenna number)."""
SPARE_LOOKS = 2
"""Let through beyond those that are needed: one may have been under way already."""


class Plan(Protocol):
    """What is needed of `firmware_bridge.supervisor.Bridge`; the simulation has a small model of it."""

    def favour(self, places: Iterable[Spot]) -> None:
        """Looks at these antennas more often, in place of those before."""

    def refresh(self, wanted: Mapping[Spot, int] | None = None) -> None:
        """Lets so many looks of these antennas through; None: the next of every antenna."""

    def health(self) -> Sequence[DeviceHealth]:
        """How every device is."""

    def worst_arrival_ns(self, device: str, antenna: int) -> int | None:
        """Longest time, in ns, from a chip's landing to the observation that names it; None: not stated."""

    def worst_removal_ns(self, device: str, antenna: int) -> int | None:
        """Longest time, in ns, from a chip's lifting to the first complete observation without it; None: not stated."""


class Readers:
    """Between the core and the readers of one table.  Event loop's thread only; cheap when nothing has changed."""

    def __init__(self, plan: Plan, layout: Layout) -> None:
        self._plan = plan
        self._antennas = layout.antennas
        self._favoured: tuple[Spot, ...] = ()
        self._awaited: Mapping[tuple[str, int, int], int] = {}
        self._told: Stated | None = None
        self._changed = True

    def follow(self, state: TableState) -> None:
        """After each step: look where the next chips are expected, and let through what a ruling waits for."""
        wanted = _expected(state)
        if wanted != self._favoured:
            self._favoured = wanted
            self._plan.favour(wanted)
            self._changed = True
        awaited = {
            (look.antenna.device, look.antenna.antenna, look.since_ns): look.looks for look in awaited_looks(state)
        }
        self._let_through({key: looks for key, looks in awaited.items() if key not in self._awaited})
        self._awaited = awaited

    def _let_through(self, awaited: Mapping[tuple[str, int, int], int]) -> None:
        wanted: dict[Spot, int] = {}
        for (device, antenna, _), looks in awaited.items():
            wanted[device, antenna] = max(looks + SPARE_LOOKS, wanted.get((device, antenna), 0))
        if wanted:
            self._plan.refresh(wanted)

    def notice(self, observation: AnyObservation) -> None:
        """A device came, went or began anew: what it states may be another thing now."""
        if isinstance(observation, DeviceUp | DeviceLost | Restarted):
            self._changed = True

    def look_again(self) -> None:
        """Once a second: a sweep may have taken too long, a reader changed its mind, or looks that a ruling waits for
        not have shown what they should."""
        self._changed = True
        self._let_through(self._awaited)

    def news(self, now_ns: Callable[[], int]) -> Stated | None:
        """What the readers state now, if it is not what they stated before."""
        if not self._changed:
            return None
        self._changed = False
        stated = stated_by(self._plan, self._antennas, now_ns())
        if self._told is not None and _same(stated, self._told):
            return None
        self._told = stated
        return stated


def stated_by(plan: Plan, antennas: Sequence[Antenna], now_ns: int) -> Stated:
    """The bounds of all antennas whose reader is up, and the readers that state none or did not keep theirs."""
    up = {health.id: health for health in plan.health() if health.state == "up"}
    bounds: dict[str, Bound] = {}
    unstated: set[str] = set()
    for spot in antennas:
        if spot.device not in up:
            continue
        arrival_ns = plan.worst_arrival_ns(spot.device, spot.antenna)
        removal_ns = plan.worst_removal_ns(spot.device, spot.antenna)
        if arrival_ns is None or removal_ns is None:
            unstated.add(spot.device)
        else:
            bounds[area_key(spot.device, spot.antenna)] = Bound(arrival_ns, removal_ns)
    overran = {name: health.counters.over_bound for name, health in up.items() if health.counters.over_bound}
    return Stated(at_ns=now_ns, bounds=bounds, unstated=tuple(sorted(unstated)), overran=overran)


def _same(one: Stated, other: Stated) -> bool:
    # A reader that is lost is not counted in the meantime: its count has not fallen.
    grown = any(count > other.overran.get(name, 0) for name, count in one.overran.items())
    return (one.bounds, one.unstated) == (other.bounds, other.unstated) and not grown


def _expected(state: TableState) -> tuple[Spot, ...]:
    """Antennas where the next chips are expected: those of the seat to act."""
    if state.config is None or state.hand is None or state.phase != "betting" or state.hand.to_act is None:
        return ()
    return tuple((a.device, a.antenna) for a in bet_antennas(state.config, state.hand.to_act))
