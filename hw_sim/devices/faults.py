"""What happens to bytes on the way: a seeded fault layer between a device's core and its port.

Off unless asked for.  It works on chunks (one write of either side) and is as pure as the cores: give it a
chunk and the time, get back chunks with the times at which they arrive.
"""

from __future__ import annotations

from random import Random

import msgspec

MS = 1_000_000


class FaultPlan(msgspec.Struct, frozen=True, kw_only=True):
    """Probabilities for one chunk; ``stall_ms`` is how long a stalled line keeps everything back.

    ``corrupt`` flips one bit, ``split`` cuts the chunk in two that arrive ``split_ms`` apart.
    """

    drop: float = 0.0
    duplicate: float = 0.0
    corrupt: float = 0.0
    split: float = 0.0
    split_ms: float = 3.0
    stall: float = 0.0
    stall_ms: float = 300.0


NO_FAULTS = FaultPlan()

_SHORT = {"dup": "duplicate"}


class FaultTextError(ValueError):
    """Faults that cannot be read from the command line; the message says what may stand there."""


def parse_faults(text: str) -> FaultPlan:
    """A plan from ``drop=0.001,dup=0.01,stall_ms=200``: names of `FaultPlan`, or "dup" for "duplicate"."""
    known = [f.name for f in msgspec.structs.fields(FaultPlan)]
    values: dict[str, float] = {}
    for part in filter(None, text.split(",")):
        name, _, number = part.partition("=")
        name = _SHORT.get(name, name)
        if name not in known:
            raise FaultTextError(f"there is no fault {name!r}; there are {', '.join(known)}")
        try:
            value = float(number)
        except ValueError as e:
            raise FaultTextError(f"{name} needs a number, as in {name}=0.001, not {number!r}") from e
        if not 0 <= value <= (60_000 if name.endswith("_ms") else 1):
            raise FaultTextError(f"{name}={number} is out of bounds: chances are 0 to 1, times 0 to 60000 ms")
        values[name] = value
    return FaultPlan(**values)


class FaultLine:
    """One direction of one line.  Order is kept: nothing overtakes what was sent before it."""

    def __init__(self, plan: FaultPlan = NO_FAULTS, *, seed: int = 0) -> None:
        self.plan = plan
        self._rng = Random(seed)
        self._clear_ns = 0
        self.counts: dict[str, int] = {}

    def pass_on(self, chunk: bytes, now_ns: int) -> list[tuple[int, bytes]]:
        """Chunks to deliver and when, in order."""
        if not chunk:
            return []
        at = max(now_ns, self._clear_ns)
        plan = self.plan
        if plan == NO_FAULTS:
            return [(at, chunk)]
        if self._happens("stall", plan.stall):
            at += round(plan.stall_ms * MS)
        self._clear_ns = at
        if self._happens("drop", plan.drop):
            return []
        if self._happens("corrupt", plan.corrupt):
            spoilt = bytearray(chunk)
            spoilt[self._rng.randrange(len(spoilt))] ^= 1 << self._rng.randrange(8)
            chunk = bytes(spoilt)
        parts = [(at, chunk)]
        if len(chunk) > 1 and self._happens("split", plan.split):
            cut = self._rng.randrange(1, len(chunk))
            later = at + round(plan.split_ms * MS)
            self._clear_ns = later
            parts = [(at, chunk[:cut]), (later, chunk[cut:])]
        if self._happens("duplicate", plan.duplicate):
            parts += [(self._clear_ns, chunk)]
        return parts

    def _happens(self, what: str, chance: float) -> bool:
        hit = self._rng.random() < chance
        if hit:
            self.counts[what] = self.counts.get(what, 0) + 1
        return hit
