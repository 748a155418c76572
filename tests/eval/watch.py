"""What was heard while one seat acted, and what that came to."""

from __future__ import annotations

from hw_sim.acts import MS, Act
from tabled.model.outcome import RulingIssued
from tests.eval import truth
from tests.eval.tally import Result, Verdict

UNTIMED = ("drop", "out_of_turn")
"""Acts whose ruling waits for something else than the chips, or where what touched first means nothing."""


class Watch:
    """What is heard while one seat acts."""

    def __init__(self, act: Act, spot: truth.Spot, style: str) -> None:
        self.act, self.spot, self.style = act, spot, style
        self.rulings: list[RulingIssued] = []
        self.questions: list[str] = []
        self.idle = 0

    @property
    def finals(self) -> list[RulingIssued]:
        """Final rulings, oldest first."""
        return [r for r in self.rulings if r.status == "final"]


def result(watch: Watch, verdict: Verdict, *, where: str, number: int, now_ns: int) -> Result:
    """What the act came to: ``number`` is the act's own at its table ``where``."""
    act, spot = watch.act, watch.spot
    final = watch.finals[-1] if watch.finals else None
    right = truth.accepted(spot, act, final.ruled_ns if final else now_ns)
    effects = [truth.effect(j.ruling) for j in right]
    decided = [truth.outcome(j.ruling) for j in right]
    single = act.one_motion()
    wrong = verdict == "wrong" and final is not None
    got = truth.effect(final.ruling) if final else ()
    alone = truth.effect(truth.as_one(spot, act)) if single is False and len(act.motions) > 1 else ()
    matters = single is False and bool(alone) and alone not in effects
    touch, said = truth.first_touch_ns(act), truth.first_word_ns(act)
    first = touch if touch is not None and (final is None or touch <= final.ruled_ns) else said
    in_span = None
    if final is not None and final.touched_from_ns is not None and first is not None and watch.style != "drop":
        assert final.touched_to_ns is not None
        in_span = final.touched_from_ns <= first <= final.touched_to_ns
    to_provisional = None
    plainly = watch.style not in UNTIMED
    if plainly and touch is not None and watch.rulings and (said is None or said > touch):
        to_provisional = (watch.rulings[0].ruled_ns - touch) / MS
    left = truth.hand_left_ns(act)
    quick = plainly and final is not None and left is not None and not watch.questions
    note = ""
    if wrong and final is not None:
        want = " or ".join(str(e) for e in effects)
        note = f"{got} ({final.ruling.reason.code}) instead of {want}"
    return Result(
        where=where, act=number, style=watch.style, verdict=verdict,
        decided=wrong and final is not None and truth.outcome(final.ruling) not in decided,
        corrected=verdict == "right" and any(was_wrong(watch, f) for f in watch.finals[:-1]),
        called_string=wrong and single is True and got in [truth.effect(r) for r in truth.as_string(spot, act)],
        string=matters, missed=wrong and matters and got == alone, questions=tuple(watch.questions),
        idle_questions=watch.idle, in_span=in_span, to_provisional=to_provisional,
        to_final=(final.ruled_ns - left) / MS if quick and final is not None and left is not None else None,
        note=note,
    )  # fmt: skip


def was_wrong(watch: Watch, final: RulingIssued) -> bool:
    """Whether a final ruling was none of the right ones."""
    right = truth.accepted(watch.spot, watch.act, final.ruled_ns)
    return truth.match(right, final.ruling, watch.style) is None
