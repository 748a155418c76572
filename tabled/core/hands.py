"""The course of a hand: posts, streets, the sweep that ends a street, the end."""

from __future__ import annotations

from msgspec.structs import replace

from tabled.core import money
from tabled.core.blind import unseen
from tabled.core.draft import Draft
from tabled.core.state import Line
from tabled.fusion.attempt import Attempt
from tabled.fusion.settings import MS
from tabled.model.hand import HandSetup
from tabled.model.outcome import HandEnded, HandStarted, QuestionClosed, StreetClosed
from tabled.model.ruling import Reason
from tabled.rules.hand import Hand

SEAT_SUBJECTS = ("owed", "line", "post", "turn", "late", "word", "stack", "untagged")
"""Alerts about one seat's street: past with it."""
MAX_SUMS = 4096
"""Partial sums tried to tell ante from blind; a post is a handful of chips."""


def start(draft: Draft, setup: HandSetup) -> None:
    """Begin a hand.  Chips that lie on a line already count as posted: players post before the dealer presses."""
    state = draft.state
    assert state.profile is not None
    hand = Hand.start(setup, state.profile)
    money.hand_begins(state)
    state.gone_ns = {}
    state.hand = hand
    state.hand_id = setup.hand_id
    state.hand_profile = state.profile
    state.button = setup.button
    state.due = {s.seat: min(s.stack, s.ante + s.blind + s.dead) for s in setup.seats}
    state.lines = {
        seat: Line(settled=line.settled, posted=sum(line.settled.values())) for seat, line in state.lines.items()
    }
    state.attempts = {}
    state.act = 0
    state.standing = None
    state.answers = {}
    state.confirmed = ()
    state.flagged = ()
    state.held_at = {}
    state.early = ()
    state.known = frozenset(uid for line in state.lines.values() for uid in line.settled)
    state.post_by_ns = state.now_ns + (state.fusion.post_wait_ms * MS if state.config is not None else 0)
    state.ruled = ()
    state.corrects = None
    state.floor_waiting = None
    state.phase = "posting"
    draft.emit(HandStarted(hand_id=setup.hand_id, view=hand.view(), started_ns=state.now_ns))


def begin_betting(draft: Draft, *, missing_ok: bool) -> bool:
    """Betting begins once every post lies (or lay) on its line, or once the dealer says so by going on."""
    state = draft.state
    short = {seat: due - draft.line(seat).posted for seat, due in state.due.items() if draft.line(seat).posted < due}
    if short and (missing_ok or state.now_ns >= state.post_by_ns):
        for seat in sorted(short):
            # Where nothing can be read it is the reader that is told, not the player.
            if unseen(state, seat):
                draft.clear(f"post:{seat}")
            else:
                draft.alert(f"post:{seat}", "warning", Reason("post_missing", {"seat": seat, "amount": short[seat]}))
    if short and not missing_ok:
        return False
    for seat in state.due:
        draft.clear(f"post:{seat}") if seat not in short else None
    hand = state.hand
    assert hand is not None
    for seat, due in state.due.items():
        line = draft.line(seat)
        over = max(0, line.posted - due)
        if over:
            draft.alert(f"post:{seat}", "info", Reason("change_due", {"seat": seat, "amount": over}))
        ante = _ante_chips(line.settled, hand.bet_of(seat) + over)
        draft.set_line(seat, replace(line, back=over, owed=short.get(seat, 0), ante=ante))
    state.phase = "betting"
    return True


def _ante_chips(settled: dict[str, int], bet: int) -> dict[str, int]:
    """Which of a line's chips are an ante: the oldest ones whose absence leaves exactly ``bet`` there.

    Antes may still lie on the line or be swept already; where no set of chips fits, none is named and the
    betting goes by the counted bet.
    """
    surplus = sum(settled.values()) - bet
    if surplus <= 0:
        return {}
    sums: dict[int, tuple[str, ...]] = {0: ()}
    for uid, value in settled.items():
        for total, chosen in list(sums.items()):
            if total + value <= surplus and total + value not in sums and len(sums) < MAX_SUMS:
                sums[total + value] = (*chosen, uid)
    return {uid: settled[uid] for uid in sums.get(surplus, ())}


def begin_sweep(draft: Draft) -> None:
    """All bets of the street are in; the chips now go to the pot."""
    state = draft.state
    state.phase = "sweeping"
    state.early = ()
    for seat in sorted(state.attempts):
        # Chips that came behind the last act of the street, too late to be one.
        extra = {a.uid: a.value for a in state.attempts[seat].arrivals if not a.taken_back}
        if extra:
            draft.alert(f"late:{seat}", "warning", Reason("chips_late", {"seat": seat, "amount": sum(extra.values())}))
            line = draft.line(seat)
            draft.set_line(seat, replace(line, settled={**line.settled, **extra}, back=line.back + sum(extra.values())))
    state.attempts = {}
    state.flagged = ()
    state.held_at = {}
    state.standing = None
    _ask_for_owed(draft)


def _ask_for_owed(draft: Draft) -> None:
    """Nobody is asked for what may lie there unseen: then the reader has been told."""
    state = draft.state
    for seat in sorted(state.lines):
        line = state.lines[seat]
        if line.owed > 0 and not unseen(state, seat):
            draft.alert(f"owed:{seat}", "warning", Reason("still_owed", {"seat": seat, "amount": line.owed}))


def close_street(draft: Draft, *, by_order: bool = False) -> bool:
    """When the lines are empty the street is over: by what the antennas see, or because the dealer says so."""
    state = draft.state
    hand = state.hand
    assert hand is not None
    if not by_order and any(line.settled or line.owed for line in state.lines.values()):
        _ask_for_owed(draft)
        return False
    drop_question(draft)
    hand = hand.copy()
    hand.close_street()
    pots = hand.pots()
    draft.emit(
        StreetClosed(
            hand_id=state.hand_id,
            street=hand.street,
            pots=pots,
            pot_total=sum(p.amount for p in pots),
            closed_ns=state.now_ns,
        )
    )
    for seat in sorted(state.lines):
        for kind in SEAT_SUBJECTS:
            draft.clear(f"{kind}:{seat}")
    for subject in sorted(state.faults):
        if subject.startswith("sweep:"):
            draft.clear(subject)
    state.attempts = {seat: still for seat, a in state.attempts.items() if (still := _lying(a)).arrivals}
    left_over = {seat: line.settled for seat, line in state.lines.items() if line.settled}
    state.lines = {seat: Line(settled=settled) for seat, settled in left_over.items()}
    state.hand = hand
    state.ruled = ()
    state.gone_ns = {}
    if hand.over:
        _end(draft, hand)
        return False
    hand.deal_next_street()
    state.phase = "betting"
    return True


def _lying(attempt: Attempt) -> Attempt:
    """What a seat put out while the street before was being swept, as far as it still lies there: its first act."""
    return replace(attempt, arrivals=tuple(a for a in attempt.arrivals if not a.taken_back))


def _put_down(draft: Draft) -> None:
    """No hand is played: chips that were an act in the making only lie on their lines now."""
    state = draft.state
    for seat, attempt in state.attempts.items():
        line = draft.line(seat)
        chips = {a.uid: a.value for a in attempt.arrivals if not a.taken_back}
        draft.set_line(seat, replace(line, settled={**line.settled, **chips}))
    state.attempts = {}


def drop_question(draft: Draft) -> None:
    """Close an open question that no longer has an act to settle."""
    state = draft.state
    if state.question is not None:
        draft.emit(QuestionClosed(question=state.question.position, answer=None, by="hand"))
        state.question = None


def _end(draft: Draft, hand: Hand) -> None:
    state = draft.state
    view = hand.view()
    state.phase = "over"
    _put_down(draft)
    state.standing = None
    draft.emit(
        HandEnded(
            hand_id=state.hand_id,
            pot_total=sum(p.amount for p in view.pots),
            stacks={s.seat: s.stack for s in view.seats},
            ended_ns=state.now_ns,
        )
    )


def abandon(draft: Draft) -> None:
    """A misdeal: nothing of the hand counts."""
    state = draft.state
    drop_question(draft)
    draft.emit(HandEnded(hand_id=state.hand_id, pot_total=0, stacks={}, ended_ns=state.now_ns, abandoned=True))
    state.hand = None
    state.hand_id = ""
    state.phase = "idle"
    _put_down(draft)
    state.standing = None
    state.answers = {}
    state.floor_waiting = None
    state.ruled = ()
    state.corrects = None
    for subject in sorted(state.faults):
        if not subject.startswith(("device:", "bound:", "unknown_tag:", "blind:")):
            draft.clear(subject)
