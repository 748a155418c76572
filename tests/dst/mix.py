"""What goes wrong in one simulation, drawn from its seed.

Swarm style: each class of fault is in or out by the toss of a coin, so that some seeds have none, some one
alone and some many.  Faults happen in the safety phase only; at ``heal_ns`` everything works again.
"""

from __future__ import annotations

from random import Random

import msgspec

from hw_sim.devices.faults import NO_FAULTS, FaultPlan
from hw_sim.devices.feig import QUIET, Noise
from tests.dst.clock import MS, S

CLASSES = (
    "serial", "noise", "unplug", "panel_reset", "reader_restart", "broker_down", "broker_mute", "broker_drop",
    "broker_empty", "kill", "disk", "slow_disk", "pause", "wall", "reboot",
    "spoilt",
)  # fmt: skip
LOSES_READS = frozenset({"noise"})
"""Classes under which a chip may be read wrongly although every message arrives."""
LOSES_TIMES = frozenset({"reboot"})
"""Classes after which nobody can know when a chip came."""
CHANCE = 0.2
QUIET_SEEDS = 0.08


class Fault(msgspec.Struct, frozen=True, order=True):
    """One fault: ``lasts_ns`` 0 for an instant, ``number`` and ``what`` say more where the kind needs it."""

    at_ns: int
    kind: str
    lasts_ns: int = 0
    number: int = 0
    what: str = ""


class Mix(msgspec.Struct, frozen=True, kw_only=True):
    """All chance of a seed that is not people's or devices' own."""

    seed: int
    seats: int
    hands: int
    classes: tuple[str, ...]
    serial: FaultPlan
    noise: Noise
    faults: tuple[Fault, ...]
    heal_ns: int

    @property
    def exact(self) -> bool:
        """True when nothing of this mix can make a ruling differ from the truth: only deliveries suffer.

        Known: a press that comes much later than it was made counts for the seat that is to act by then
        (``test_finds.py``), so a panel that was away makes no exact mix.
        """
        late_words = any(f.kind == "unplug" and f.what == "panel" for f in self.faults)
        return not late_words and not (LOSES_READS | LOSES_TIMES) & set(self.classes)

    def line(self) -> str:
        """One line for people."""
        return f"seed {self.seed}: {self.seats} seats, {self.hands} hand(s), faults: {' '.join(self.classes) or 'none'}"


def draw(seed: int) -> Mix:
    """The fault mix of a seed."""
    rng = Random(seed * 2_654_435_761 + 1)
    classes = [c for c in CLASSES if rng.random() < CHANCE]
    if rng.random() < QUIET_SEEDS:
        classes = []
    if "broker_empty" in classes and {"kill", "reboot"} & set(classes):
        # A broker that forgets what it took and, in the same seconds, a daemon that forgets what it sent: no
        # sender with a cursor can mend that, and the journal still has it.  Not simulated together.
        classes.remove("broker_empty")
    safety_ns = rng.randint(20, 70) * S
    faults = [f for kind in classes for f in _faults(kind, rng, safety_ns)]
    heal_ns = max([safety_ns, *(f.at_ns + f.lasts_ns for f in faults)]) + S
    return Mix(
        seed=seed,
        seats=rng.choice((2, 2, 3, 3, 4, 5, 9)),
        hands=rng.choice((1, 1, 2)),
        classes=tuple(classes),
        serial=_serial(rng) if "serial" in classes else NO_FAULTS,
        noise=_field(rng, classes),
        faults=tuple(sorted(faults)),
        heal_ns=heal_ns,
    )


def _serial(rng: Random) -> FaultPlan:
    """Rates for one chunk; each kind of fault in or out by itself."""

    def rate(top: float) -> float:
        return rng.random() * top if rng.random() < 0.5 else 0.0

    return FaultPlan(
        drop=rate(0.04),
        duplicate=rate(0.04),
        corrupt=rate(0.04),
        split=rate(0.2),
        stall=rate(0.01),
        stall_ms=rng.choice((30.0, 150.0, 300.0, 700.0)),
    )


def _field(rng: Random, classes: list[str]) -> Noise:
    """The reader's field.  ``spoilt``: most inventories say nothing, and none says anything false."""
    noise = _noise(rng) if "noise" in classes else QUIET
    return msgspec.structs.replace(noise, rf_error=rng.uniform(0.2, 0.8)) if "spoilt" in classes else noise


def _noise(rng: Random) -> Noise:
    def rate(top: float) -> float:
        return rng.random() * top if rng.random() < 0.5 else 0.0

    return Noise(
        miss_lone=rate(0.05),
        miss_buried=rate(0.15),
        ghost=rate(0.01),
        bleed=rate(0.02),
        rf_error=rate(0.05),
        rf_warning=rate(0.03),
        silent=rate(0.01),
    )


_LASTS: dict[str, tuple[int, int]] = {
    "unplug": (50, 6000),
    "broker_down": (100, 9000),
    "broker_mute": (100, 4000),
    "broker_empty": (50, 3000),
    "disk": (100, 9000),
    "slow_disk": (500, 5000),
    "pause": (300, 300),
    "kill": (50, 3000),
    "reboot": (4000, 9000),
}
"""Shortest and longest of each fault that lasts, in milliseconds."""


def _faults(kind: str, rng: Random, safety_ns: int) -> list[Fault]:
    if kind in ("serial", "noise", "spoilt"):
        return []
    most = {"kill": 6, "reboot": 2, "pause": 8}.get(kind, 4)
    found = []
    for _ in range(rng.randint(1, most)):
        low, high = _LASTS.get(kind, (0, 0))
        found.append(
            Fault(
                at_ns=rng.randrange(safety_ns),
                kind=kind,
                lasts_ns=rng.randint(low, high) * MS,
                number=rng.randrange(40),
                what=rng.choice(("reader", "panel")),
            )
        )
    return found
