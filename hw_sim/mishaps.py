"""Cables pulled, readers and panels that restart: a seeded timetable for live and virtual time alike."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from random import Random
from typing import NamedTuple, Protocol

import msgspec

from hw_sim.table import SimTable

SECOND = 1_000_000_000
LEAST_GAP_S = 0.2


class MishapPlan(msgspec.Struct, frozen=True, kw_only=True):
    """Mean seconds between two mishaps of a kind, 0 for never; a pulled cable stays out for ``away_s``."""

    unplug_every_s: float = 0.0
    reboot_every_s: float = 0.0
    panel_reset_every_s: float = 0.0
    away_s: tuple[float, float] = (0.5, 3.0)


NO_MISHAPS = MishapPlan()


class Mishap(NamedTuple):
    """One thing that happens: ``what`` is "unplug", "replug", "reboot" or "panel_reset"."""

    at_ns: int
    what: str
    device: str


class Pluggable(Protocol):
    """What a mishap needs of a port."""

    def unplug(self) -> None:
        """Pull the cable."""
        ...

    def replug(self) -> object:
        """Put it back."""
        ...


class Mishaps:
    """What happens when, drawn as time goes on; the same seed, plan and names give the same timetable."""

    def __init__(self, plan: MishapPlan, table: SimTable, *, seed: int, start_ns: int) -> None:
        self._plan, self._table = plan, table
        self._rng = Random(seed ^ 0x0D15EA5E)
        self._due: list[Mishap] = []
        self.counts: dict[str, int] = {}
        every = {
            "unplug": plan.unplug_every_s, "reboot": plan.reboot_every_s, "panel_reset": plan.panel_reset_every_s
        }  # fmt: skip
        for what, seconds in every.items():
            if seconds > 0:
                self._plan_next(what, start_ns)

    def _plan_next(self, what: str, after_ns: int) -> None:
        rng, readers = self._rng, sorted(self._table.readers)
        mean = getattr(self._plan, f"{what}_every_s")
        gap = max(LEAST_GAP_S, rng.expovariate(1 / mean))
        device = "panel" if what == "panel_reset" else rng.choice([*readers, "panel"] if what == "unplug" else readers)
        heapq.heappush(self._due, Mishap(after_ns + round(gap * SECOND), what, device))

    def next_ns(self) -> int | None:
        """When the next mishap comes."""
        return self._due[0].at_ns if self._due else None

    def happen(self, now_ns: int, ports: Mapping[str, Pluggable]) -> list[Mishap]:
        """Let everything happen that is due; each is written into the truth."""
        done: list[Mishap] = []
        while self._due and self._due[0].at_ns <= now_ns:
            mishap = heapq.heappop(self._due)
            self._apply(mishap, now_ns, ports)
            self._table.world.note(now_ns, "mishap", kind=mishap.what, device=mishap.device)
            self.counts[mishap.what] = self.counts.get(mishap.what, 0) + 1
            done.append(mishap)
        return done

    def _apply(self, mishap: Mishap, now_ns: int, ports: Mapping[str, Pluggable]) -> None:
        match mishap.what:
            case "unplug":
                ports[mishap.device].unplug()
                back = now_ns + round(self._rng.uniform(*self._plan.away_s) * SECOND)
                heapq.heappush(self._due, Mishap(back, "replug", mishap.device))
            case "replug":
                ports[mishap.device].replug()
                self._plan_next("unplug", now_ns)
            case "reboot":
                self._table.readers[mishap.device].restart(now_ns)
                self._plan_next("reboot", now_ns)
            case _:
                self._table.panel.reset(now_ns)
                self._plan_next("panel_reset", now_ns)

    def mend(self, ports: Mapping[str, Pluggable]) -> None:
        """End of the trouble: whatever is unplugged is plugged in again, and nothing more happens."""
        for device in sorted({m.device for m in self._due if m.what == "replug"} & set(ports)):
            ports[device].replug()
        self._due.clear()
