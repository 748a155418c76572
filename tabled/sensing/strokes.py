"""From where a hand's foremost point is to what it does: it enters, advances, leaves.

What is seen at ``a`` over the line truly is at ``a + lift * h`` if it is ``h`` over the felt, and h is only known to
lie between 0 and `HAND_HIGH_MM`.  So each crossing has a first and a last instant, and a hand that turns back between
them may or may not have been over the line: what is likelier is told, with a confidence below `DOUBT`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from firmware_bridge.wire import DeviceId, TimeSpan
from tabled.model.camera import MAX_PAUSE_MS, HandMoved, HandOf, HandStep

MS = 1_000_000
HAND_HIGH_MM = 100.0
"""No finger tip that puts down or pushes chips is higher over the felt at the line: the bound of all spans."""
HEIGHTS_MM, HEIGHTS_SHARE = (0.0, 12.0, 30.0, 50.0, 75.0, 100.0), (0.0, 0.1, 0.5, 0.85, 0.97, 1.0)
"""Which share of hands is no higher than that: chips are carried low, a stack is slid.  An assumption, until rooms have
labelled recordings of their own; it moves best guesses and confidences, never a span."""
HAND_LIKELY_MM = 30.0
DOUBT = 450
"""The most confidence of a step that may not have happened."""
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

    @property
    def over(self) -> float:
        """How probable it is that this point is over the line (0 to 1)."""
        if abs(self.lift) < 1e-3:
            return 1.0 if self.front_mm > 0 else 0.0
        share = float(np.interp(-self.front_mm / self.lift, HEIGHTS_MM, HEIGHTS_SHARE))
        return 1.0 - share if self.lift > 0 else share


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
    _last: Sample | None = None
    _early_ns: int | None = None
    _band_ns: int | None = None
    _likely_ns: int | None = None
    """When the best guess crossed the line."""
    _graze: float = 0.0
    """The greatest probability that it was over the line since it may be so."""
    _out: tuple[float, int, int] = (0.0, 0, 0)
    """The greatest probability that it was back behind the line since it went back, and from when to when."""
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

    # -- over the line ----------------------------------------------------------------------------

    def _crossing(self, last: Sample | None, now: Sample, unseen_ns: int) -> list[HandMoved]:
        if now.most <= -TREMBLE_MM:
            out = self._grazed(last, now)
            self._early_ns = self._band_ns = self._likely_ns = None
            self._graze = 0.0
            self.memory.valley_mm = min(self.memory.valley_mm, now.likely)
            return out
        self.memory.valley_mm = min(self.memory.valley_mm, now.likely)
        if self._early_ns is None:
            self._early_ns = unseen_ns if last is None else _when(last.at_ns, last.most, now.at_ns, now.most)
        if self._likely_ns is None and now.likely > 0 and last is not None:
            self._likely_ns = _when(last.at_ns, last.likely, now.at_ns, now.likely)
        self._graze = max(self._graze, now.over)
        if now.least > 0:
            late = now.at_ns if last is None else _when(last.at_ns, last.least, now.at_ns, now.least)
            return [self._enter(self._early_ns, late, now, 1000)]
        # It rests where it may be over the line or not.
        if last is None or abs(now.front_mm - last.front_mm) > TREMBLE_MM:
            self._band_ns = now.at_ns
        elif self._band_ns is None:
            self._band_ns = last.at_ns
        if now.at_ns - (self._band_ns or now.at_ns) > LINGER_MS * MS and now.over > 0.5:
            return [self._enter(self._early_ns, now.at_ns, now, _doubt(now.over))]
        return []

    def _grazed(self, last: Sample | None, now: Sample) -> list[HandMoved]:
        """It turned back where it may have been over the line: both crossings, if that is likelier than none."""
        if last is None or self._early_ns is None or self._graze <= 0.5:
            return []
        late = max(self._early_ns, _when(last.at_ns, last.most, now.at_ns, now.most))
        span, sure = (self._early_ns, late), _doubt(self._graze)
        parting = self.memory.parting(self._early_ns)
        self.memory.forward_ns, self.memory.peak_mm = self._likely_ns or self._early_ns, 0.0
        self.memory.valley_mm = 0.0
        return [self._moved("enters", *span, parting=parting, confidence=sure, likely=self._likely_ns),
                self._moved("leaves", *span, confidence=sure)]  # fmt: skip

    def _enter(self, early: int, late: int, now: Sample, confidence: int) -> HandMoved:
        likely, self._likely_ns = self._likely_ns, None
        retreat, pause = self.memory.parting(likely or (early + late) // 2)
        self.inside = True
        self._early_ns, self._out, self._graze = None, (0.0, 0, 0), 0.0
        self._begin_stroke(now)
        self.memory.peak_mm, self.memory.valley_mm, self.memory.forward_ns = now.likely, now.likely, now.at_ns
        return self._moved(
            "enters", early, max(early, late), parting=(retreat, pause), confidence=confidence, likely=likely
        )

    def _within(self, last: Sample | None, now: Sample) -> list[HandMoved]:
        assert last is not None
        self._goes_back(last, now)
        out = self._stroke(now)
        if now.least <= 0:
            if self._early_ns is None:
                self._early_ns = _when(last.at_ns, last.least, now.at_ns, now.least)
                self._band_ns = now.at_ns
        elif now.least > TREMBLE_MM:
            self._early_ns, self._out = None, (0.0, 0, 0)
        if self._early_ns is not None and now.most <= 0:
            late = _when(last.at_ns, last.most, now.at_ns, now.most)
            out.append(self._moved("leaves", self._early_ns, max(self._early_ns, late), likely=self._likely_ns))
            self._leave()
        elif self._early_ns is not None and now.over < 0.5 and self._rests(last, now):
            sure = _doubt(1.0 - now.over)
            out.append(self._moved("leaves", self._early_ns, now.at_ns, confidence=sure, likely=self._likely_ns))
            self._leave()
        return out

    def _goes_back(self, last: Sample, now: Sample) -> None:
        """Keep when the best guess last went behind the line, and how probable it is that it all did."""
        if now.likely > 0:
            if now.least > 0:
                self._likely_ns = None
        elif last.likely > 0 or self._likely_ns is None:
            self._likely_ns = _when(last.at_ns, last.likely, now.at_ns, now.likely)
        if now.least <= 0 and 1.0 - now.over >= self._out[0]:
            since = self._out[1] if self._out[1] else now.at_ns
            self._out = (1.0 - now.over, since, now.at_ns)

    def _rests(self, last: Sample, now: Sample) -> bool:
        if abs(now.front_mm - last.front_mm) > TREMBLE_MM:
            self._band_ns = now.at_ns
        return now.at_ns - (self._band_ns or now.at_ns) > LINGER_MS * MS

    def _leave(self) -> None:
        self.inside = False
        self._early_ns = self._band_ns = self._likely_ns = None
        self._graze = 0.0
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
        if again and self._out[0] > 0.5 and self._early_ns is not None:
            return self._came_again(early, now, (retreat, pause))
        if again:
            self._begin_stroke(now)
        else:
            self._valley = d
            self._turn = (now.at_ns, now.at_ns, self._peak)
        self.memory.forward_ns, self.memory.peak_mm, self.memory.valley_mm = now.at_ns, self._peak, self._valley
        return [self._moved("advances", early, late, parting=(retreat, pause))] if again else []

    def _came_again(self, turn_ns: int, now: Sample, parting: tuple[int, int]) -> list[HandMoved]:
        """It turned where it was more probably behind the line than over it: it left and came again, in doubt."""
        assert self._early_ns is not None
        sure, left = _doubt(self._out[0]), self._early_ns
        turn = max(left, turn_ns)
        out = [self._moved("leaves", left, turn, confidence=sure, likely=self._likely_ns),
               self._moved("enters", turn, max(turn, now.at_ns), parting=parting, confidence=sure)]  # fmt: skip
        self._early_ns, self._out, self._likely_ns = None, (0.0, 0, 0), None
        self._begin_stroke(now)
        self.memory.forward_ns, self.memory.peak_mm, self.memory.valley_mm = now.at_ns, self._peak, self._valley
        return out

    def _moved(self, step: HandStep, early: int, late: int, *, parting: tuple[int, int] = (0, 0),
               confidence: int = 1000, likely: int | None = None) -> HandMoved:  # fmt: skip
        span = TimeSpan(max(0, early - self.error_ns), max(0, late) + self.error_ns)
        best = min(max(likely, span.earliest_ns), span.latest_ns) if likely is not None else 0
        return HandMoved(
            device=self.device,
            span=span,
            seat=self.seat,
            step=step,
            by=self.by,
            retreat_mm=parting[0],
            pause_ms=parting[1],
            confidence=confidence,
            likely_ns=best,
        )


def _when(t0: int, v0: float, t1: int, v1: float) -> int:
    """When a value that was ``v0`` at ``t0`` and is ``v1`` at ``t1`` was 0, if it went straight; within the two."""
    if v0 == v1 or (v0 > 0) == (v1 > 0):
        return t1 if (v0 > 0) != (v1 > 0) else t0
    return t0 + round((t1 - t0) * v0 / (v0 - v1))


def _doubt(probability: float) -> int:
    """The confidence of a step that is likelier than not, and no more."""
    return round(DOUBT * max(0.0, min(1.0, 2.0 * probability - 1.0)))
