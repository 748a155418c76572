"""From where a hand's foremost point is to what it does: it enters, advances, leaves.

What is seen at ``a`` over the line truly is at ``a + lift * h`` if it is ``h`` over the felt, and h is only known to
lie between 0 and `HAND_HIGH_MM`.  So each crossing has a first and a last instant, and a hand that turns back between
them may or may not have been over the line.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from firmware_bridge.wire import DeviceId, TimeSpan
from tabled.model.camera import MAX_PAUSE_MS, HandMoved, HandOf, HandStep

MS = 1_000_000
HAND_HIGH_MM = 75.0
"""Finger tips that put down or push chips are no higher over the felt when they cross the line: chips are carried low,
a stack is slid.  A hand that comes in higher is seen to cross later than it does (by 1/100 s for each 20 mm or so)."""
HAND_LIKELY_MM = 35.0
TREMBLE_MM = 3.0
"""Of the foremost point, while the hand is at rest."""
FORWARD_MM = 6.0
"""So far it must come forward again to be another stroke."""
BACK_MM = 7.0
NOTCH_MM = 2.0
MAX_NOTCHES = 32
HALT_MS = 70
LINGER_MS = 300
"""A hand that stays so long where it may be over the line or not is reported, with little confidence."""
LOST_MS = 130
"""Out of sight for so long, it is gone."""
BEYOND_MS = 10_000
"""A hand that reached further in than can be seen may stay there so long."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Where the foremost point looked to be at an instant: mm over the line, and what a mm of height adds to it."""

    at_ns: int
    front_mm: float
    lift: float

    @property
    def least(self) -> float:
        """The least that it can be over the line, in mm."""
        return self.front_mm + min(0.0, self.lift * HAND_HIGH_MM)

    @property
    def most(self) -> float:
        """The most that it can be over the line, in mm."""
        return self.front_mm + max(0.0, self.lift * HAND_HIGH_MM)

    @property
    def likely(self) -> float:
        """The best guess, in mm."""
        return self.front_mm + self.lift * HAND_LIKELY_MM


@dataclass(slots=True)
class Memory:
    """What earlier visits to a seat left: until when the last one moved forward, how far, and how far back since."""

    forward_ns: int | None = None
    peak_mm: float = 0.0
    valley_mm: float = 0.0

    def parting(self, at_ns: int) -> tuple[int, int]:
        """(retreat mm, pause ms) before a visit that begins at ``at_ns``; (0, 0) if none came before it."""
        if self.forward_ns is None or at_ns - self.forward_ns > MAX_PAUSE_MS * MS:
            return 0, 0
        return max(0, round(self.peak_mm - self.valley_mm)), max(0, (at_ns - self.forward_ns) // MS)


@dataclass(slots=True)
class Strokes:
    """One hand of one seat.  Give it each sample in order; it gives back the steps as they become certain."""

    device: DeviceId
    seat: str
    memory: Memory
    error_ns: int
    """Of any instant: the camera's clock and the picture's noise."""
    by: HandOf = "unsure"
    inside: bool = False
    reported: bool = False
    _last: Sample | None = None
    _early_ns: int | None = None
    _band_ns: int | None = None
    _peak: float = 0.0
    _valley: float = 0.0
    _turn: tuple[int, int, float] = (0, 0, 0.0)
    """Between which instants it turned at the valley, and the peak before that."""
    _ratchet: list[tuple[int, float]] = field(default_factory=list)
    """The newest instants at which it came `NOTCH_MM` further than ever in this stroke."""

    def step(self, now: Sample, unseen_ns: int) -> list[HandMoved]:
        """One sample; ``unseen_ns`` is when the place was last looked at without this hand in it."""
        last = self._last
        out = self._crossing(last, now, unseen_ns) if not self.inside else self._within(last, now)
        self._last = now
        return out

    def gone(self, moved_ns: int, at_ns: int) -> list[HandMoved]:
        """The hand has been out of sight; it was last seen to move at ``moved_ns``."""
        last = self._last
        if not self.inside or last is None:
            return []
        self._leave()
        self.memory.valley_mm = min(self.memory.valley_mm, -HAND_HIGH_MM)
        early = min(moved_ns, self._early_ns if self._early_ns is not None else last.at_ns)
        return [self._moved("leaves", early, max(at_ns, early), confidence=700)]

    @property
    def last_ns(self) -> int:
        """When it was last seen."""
        return self._last.at_ns if self._last is not None else 0

    # -- over the line ----------------------------------------------------------------------------

    def _crossing(self, last: Sample | None, now: Sample, unseen_ns: int) -> list[HandMoved]:
        self.memory.valley_mm = min(self.memory.valley_mm, now.likely)
        if now.most <= -TREMBLE_MM:
            self._early_ns = self._band_ns = None
            return []
        if self._early_ns is None:
            self._early_ns = unseen_ns if last is None else _when(last.at_ns, last.most, now.at_ns, now.most)
        if now.least > 0:
            late = now.at_ns if last is None else _when(last.at_ns, last.least, now.at_ns, now.least)
            return [self._enter(self._early_ns, late, now, 1000)]
        # It rests where it may be over the line or not.
        if last is None or abs(now.front_mm - last.front_mm) > TREMBLE_MM:
            self._band_ns = now.at_ns
        elif self._band_ns is None:
            self._band_ns = last.at_ns
        if now.at_ns - (self._band_ns or now.at_ns) > LINGER_MS * MS and now.likely > 0:
            return [self._enter(self._early_ns, now.at_ns, now, 400)]
        return []

    def _enter(self, early: int, late: int, now: Sample, confidence: int) -> HandMoved:
        retreat, pause = self.memory.parting((early + late) // 2)
        self.inside = True
        self._early_ns = None
        self._begin_stroke(now)
        self.memory.peak_mm, self.memory.valley_mm, self.memory.forward_ns = now.likely, now.likely, now.at_ns
        return self._moved("enters", early, max(early, late), parting=(retreat, pause), confidence=confidence)

    def _within(self, last: Sample | None, now: Sample) -> list[HandMoved]:
        assert last is not None
        out = self._stroke(now)
        if now.least <= 0:
            if self._early_ns is None:
                self._early_ns = _when(last.at_ns, last.least, now.at_ns, now.least)
                self._band_ns = now.at_ns
        elif now.least > TREMBLE_MM:
            self._early_ns = None
        if self._early_ns is not None and now.most <= 0:
            late = _when(last.at_ns, last.most, now.at_ns, now.most)
            out.append(self._moved("leaves", self._early_ns, max(self._early_ns, late)))
            self._leave()
        elif self._early_ns is not None and now.likely < -TREMBLE_MM and self._rests(last, now):
            out.append(self._moved("leaves", self._early_ns, now.at_ns, confidence=400))
            self._leave()
        return out

    def _rests(self, last: Sample, now: Sample) -> bool:
        if abs(now.front_mm - last.front_mm) > TREMBLE_MM:
            self._band_ns = now.at_ns
        return now.at_ns - (self._band_ns or now.at_ns) > LINGER_MS * MS

    def _leave(self) -> None:
        self.inside = False
        self._early_ns = self._band_ns = None
        self.memory.valley_mm = min(self.memory.valley_mm, self._valley)

    # -- strokes ----------------------------------------------------------------------------------

    def _begin_stroke(self, now: Sample) -> None:
        self._peak = self._valley = now.likely
        self._turn = (now.at_ns, now.at_ns, now.likely)
        self._ratchet = [(now.at_ns, now.likely)]

    def _stroke(self, now: Sample) -> list[HandMoved]:
        """Follow the foremost point: its furthest, its rearmost since, and whether it comes forward again."""
        d = now.likely
        self._valley = min(self._valley, d)
        if d <= self._valley + NOTCH_MM:
            self._turn = (now.at_ns, now.at_ns, self._peak)
        elif self._turn[0] == self._turn[1]:
            self._turn = (self._turn[0], now.at_ns, self._turn[2])
        self._peak = max(self._peak, d)
        if d > self._ratchet[-1][1] + NOTCH_MM:
            self._ratchet = [*self._ratchet, (now.at_ns, d)][-MAX_NOTCHES:]
        self.memory.valley_mm = min(self.memory.valley_mm, self._valley)
        if d < self._valley + FORWARD_MM:
            return []
        early, late, peak = self._turn
        stopped = [at for at, _ in self._ratchet if at <= early]
        retreat = max(0, round(peak - self._valley))
        pause = max(0, (early - (stopped[-1] if stopped else self._ratchet[0][0])) // MS)
        again = retreat >= BACK_MM or pause >= HALT_MS
        if again:
            self._begin_stroke(now)
        else:
            self._valley = d
            self._turn = (now.at_ns, now.at_ns, self._peak)
        self.memory.forward_ns, self.memory.peak_mm, self.memory.valley_mm = now.at_ns, self._peak, self._valley
        return [self._moved("advances", early, late, parting=(retreat, pause))] if again else []

    def _moved(
        self, step: HandStep, early: int, late: int, *, parting: tuple[int, int] = (0, 0), confidence: int = 1000
    ) -> HandMoved:
        self.reported = self.reported or step == "enters"
        span = TimeSpan(max(0, early - self.error_ns), max(0, late) + self.error_ns)
        return HandMoved(
            device=self.device,
            span=span,
            seat=self.seat,
            step=step,
            by=self.by,
            retreat_mm=parting[0],
            pause_ms=parting[1],
            confidence=confidence,
        )


def _when(t0: int, v0: float, t1: int, v1: float) -> int:
    """When a value that was ``v0`` at ``t0`` and is ``v1`` at ``t1`` was 0, if it went straight; within the two."""
    if v0 == v1 or (v0 > 0) == (v1 > 0):
        return t1 if (v0 > 0) != (v1 > 0) else t0
    return t0 + round((t1 - t0) * v0 / (v0 - v1))
