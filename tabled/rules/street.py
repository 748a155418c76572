"""Acts of several seats on one street, in the order in which they happened, and the ruling on the one in question.

This is the law over a whole situation: acts out of turn wait for their turn, wrong amounts are pointed out by
someone who may or may not, and later acts may have closed the window for putting them right.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from tabled.model.acts import (
    AnyAct,
    Claims,
    DealerGivesChange,
    DealerStatesAmount,
    Decided,
    ErrorPointedOut,
    HandWithdraws,
    NextCardDealt,
    Place,
    PullBack,
    PushForward,
    Say,
    Witness,
)
from tabled.model.ruling import Adjustment, Candidate, Reason, Ruling
from tabled.rules import afterwards, correct, rights
from tabled.rules.accepted import accepted
from tabled.rules.gesture import Gesture
from tabled.rules.hand import Hand
from tabled.rules.judge import judge
from tabled.rules.profile import Profile
from tabled.rules.reading import Reading, Spot
from tabled.rules.settle import Judgement, settle
from tabled.rules.table import POT_LIMIT
from tabled.rules.turn import behind_skipped, resolve_held, substantial

CLOSED = "closed by substantial action"
CLOSED_STREET = "closed by the next card"


class Docket:
    """Takes acts one by one and remembers what was ruled for each seat.

    ``hand`` is where the street stands with every settled act applied.  ``put_by`` names a seat on whose line an
    unruled wrong amount lay before the first act, ``put_followers`` those who have answered it.
    """

    def __init__(self, hand: Hand, profile: Profile, put_by: str | None = None, put_followers: Sequence[str] = ()):
        self.hand = self.start = hand
        self.profile = profile
        self.put_by, self.put_followers = put_by, tuple(put_followers)
        self.open: list[AnyAct] = []
        self.before: dict[str, Hand] = {}
        self.groups: list[tuple[str, list[AnyAct]]] = []
        self.held: dict[str, tuple[int, list[AnyAct]]] = {}
        self.judged: dict[str, Judgement] = {}
        self.subject: str | None = None
        self.free_acts: set[str] = set()
        self.quoted: int | None = None
        self.quoted_price: int | None = None  # the price of which the dealer spoke; None until it stands
        self.late: dict[str, list[AnyAct]] = {}
        self.short: list[str] = []  # seats that undercalled one after the other
        self.street_closed = False
        self.adjust: list[Adjustment] = []
        self.final: Judgement | None = None
        self.premature: str | None = None

    # ---- taking acts ------------------------------------------------------------------------------------------

    def take(self, act: AnyAct) -> None:
        """Take the next act, of any seat or of the dealer."""
        match act:
            case DealerStatesAmount():
                self.quoted = act.amount
                self.quoted_price = None if self.open else self.hand.bet_to
            case NextCardDealt():
                self._settle_open()
                self.street_closed = True
            case ErrorPointedOut():
                self._settle_open()
                self._point_out(act)
            case DealerGivesChange():
                if self.open:
                    self.open.append(replace(act, seat=self.open[0].seat))
            case _:
                self._act(act)

    def _act(self, act: AnyAct) -> None:
        seat = act.seat
        if seat != self._open_seat():
            if self._waits_for_chips(act):
                self.premature = seat
            else:
                self._close_open()
            if self._is_late(act):
                self.late.setdefault(seat, []).append(act)
                self.subject = seat
                return
        if not isinstance(act, Decided) and seat not in self.free_acts:
            self.free_acts.add(seat)
            self.subject = seat
        if self.hand.to_act == seat and seat not in self.held:
            self.open.append(act)
        elif seat in self.held:
            self.held[seat][1].append(act)
        elif seat in self.judged and isinstance(act, HandWithdraws):
            return
        else:
            self.held[seat] = (self.hand.bet_to, [act])

    def _close_open(self) -> None:
        """Another seat acts.  A claim that the raise was not seen is too late once somebody has (RRP 3.12)."""
        acts: list[AnyAct] = [a for a in self.open if not isinstance(a, Claims)]
        self.open = acts or self.open
        self._settle_open()

    def _is_late(self, act: AnyAct) -> bool:
        """Whether this comes after the seat's act was ruled and others have acted, with no turn of its own ahead."""
        seat = act.seat
        judged = self.judged.get(seat)
        if judged is None or seat in self.held or isinstance(act, Decided):
            return False
        turn = self.hand.to_act == seat
        if isinstance(act, Claims):
            return judged.after is None or not turn
        faces = self.hand.bet_of(seat) < self.hand.bet_to
        return judged.after is not None and not (turn or faces or afterwards.folds(act))

    def _open_seat(self) -> str | None:
        return self.open[0].seat if self.open else None

    def _waits_for_chips(self, act: AnyAct) -> bool:
        """The open seat said "bet" or "raise" without an amount and has put nothing in, and this one calls already."""
        if not self.open or not isinstance(act, Say) or act.word not in ("call", "raise"):
            return False
        said = any(isinstance(a, Say) and a.word in ("bet", "raise") and a.amount is None for a in self.open)
        return said and not any(isinstance(a, Place | PushForward) for a in self.open)

    def _settle_open(self) -> None:
        """Rule the acts of the seat to act and go on to the next; then whoever acted early and has the turn now."""
        if self.open:
            acts, self.open = self.open, []
            self._rule(acts)
        self._due_held()

    def _rule(self, acts: list[AnyAct]) -> None:
        seat = acts[0].seat
        self.before[seat] = self.hand
        quoted = self.quoted if self.quoted_price == self.hand.bet_to else None
        judged = accepted(self.hand, self.profile, acts, quoted) or judge(self.hand, self.profile, acts)
        self._note(seat, acts, judged)

    def _note(self, seat: str, acts: list[AnyAct], judged: Judgement) -> None:
        self.judged[seat] = judged
        self.groups.append((seat, acts))
        if judged.ruling.reason.code == "undercall":
            self.short.append(seat)
        elif len(self.short) < 2:
            self.short = []
        if judged.after is None:
            return
        self.adjust += _difference(judged, acts)
        self.hand = judged.after
        if self.quoted_price is None:
            self.quoted_price = self.hand.bet_to

    def _due_held(self) -> None:
        while self.hand.to_act in self.held:
            seat = self.hand.to_act
            then, acts = self.held.pop(seat)
            self.before[seat] = self.hand
            if seat == self.premature:
                judged = self._premature(seat)
            else:
                judged = resolve_held(self.hand, then, self.profile, acts)
            self._note(seat, acts, judged)

    def _premature(self, seat: str) -> Judgement:
        """A call before the amount was known (TDA 59-B)."""
        to = self.hand.bet_to
        reading = Reading(
            kind="floor",
            reason=Reason("floor_premature", {"to": to}),
            topics=("premature",),
            candidates=(Candidate("call", to, Reason("call_any", {"to": to})),),
        )
        return settle(Spot(self.hand, self.profile, Gesture(seat=seat)), reading)

    # ---- wrong amounts ----------------------------------------------------------------------------------------

    def _point_out(self, act: ErrorPointedOut) -> None:
        subject = self.put_by or self._last_bettor()
        if subject is None:
            return
        self.subject = subject
        if not correct.may_speak(self.profile, act.by):
            self.final = Judgement(self._not_heard(subject, act.by), None)
        elif self.put_by is not None:
            self.final = self._correct_put(subject)
        elif subject in self.before:  # else its act is still held, and there is nothing to put right yet
            self.final = self._correct_ruled(subject)

    def _not_heard(self, subject: str, witness: Witness) -> Ruling:
        """The word does not count; if the dealer counts all the same, the floor hears what that would come to."""
        ruling = correct.not_heard(self.profile, subject, witness)
        hand, adjust = self.hand, self.adjust
        found = None
        if ruling.floor and self.put_by:
            found = self._correct_put(subject)
        elif ruling.floor and subject in self.before:
            found = self._correct_ruled(subject)
        self.hand, self.adjust = hand, adjust
        stands = Candidate("stands", None, Reason("choice_stands"))
        if not found or found.ruling.to is None or found.ruling.action == "stands":
            return replace(ruling, candidates=(stands,) if ruling.floor else ())
        put = Candidate("corrected", found.ruling.to, Reason("choice_corrected", {"to": found.ruling.to}))
        return replace(ruling, candidates=(stands, put))

    def _last_bettor(self) -> str | None:
        for seat, _ in reversed(self.groups):
            judged = self.judged[seat]
            if judged.ruling.verb in ("bet", "raise", "complete") and seat in self.free_acts:
                return seat
        for seat, _ in reversed(self.groups):
            if self.subject is None and self.judged[seat].ruling.verb in ("bet", "raise", "complete"):
                return seat
        return self.subject or (self.groups[-1][0] if self.groups else None)

    def _window(self, after: Sequence[Sequence[AnyAct]], setting: str) -> str:
        """Why the window is closed; empty while it is open."""
        if self.street_closed:
            return CLOSED_STREET
        if setting == "none" or (setting == "substantial_action" and substantial(after)):
            return CLOSED
        if setting == "all_acted" and self.hand.street_over:
            return CLOSED
        return ""

    def _correct_put(self, seat: str) -> Judgement:
        acts = [a for _, a in self.groups]
        followed: list[list[AnyAct]] = [[Decided(s, "call")] for s in self.put_followers]
        over = correct.over_pot(self.start, seat, later=self.put_followers)
        setting = self.profile.pot_overbet_window if over else self.profile.correction_window
        topic = "correct_pot" if over else "correct"
        why = self._window([*followed, *acts], setting)
        self.adjust = []
        if why:
            self.hand = correct.let_stand(self.start, seat, self.put_followers)
            self._again(acts)
            return Judgement(correct.stands(self.hand, self.profile, seat, why, topic), self.hand)
        judged = correct.correct_put(self.start, self.profile, seat, self.put_followers, topic)
        if judged.after is None:
            return judged
        self.hand = judged.after
        self._again(acts)
        return Judgement(correct.told(_rights(judged.ruling, self.hand, ""), self.start, self.adjust), self.hand)

    def _correct_ruled(self, seat: str) -> Judgement:
        """The wrong amount was put in during these acts."""
        before, ruled = self.before[seat], self.judged[seat].ruling
        index = max(k for k, (s, _) in enumerate(self.groups) if s == seat)
        acts = self.groups[index][1]
        after = [a for _, a in self.groups[index + 1 :]]
        put = _put(before, ruled, acts)
        if _said_all_in(acts) and put < before.bet_of(seat) + before.stack_of(seat) and after:
            return self._hidden(before, seat, put)
        intended = self._intended(before, put)
        over = correct.over_pot(before, seat, put)
        if over:
            setting = self.profile.pot_overbet_window
        else:
            setting = self.profile.correction_window if intended is None else self.profile.pot_underbet_window
        why = self._window(after, setting)
        topic = "correct_pot" if over or intended is not None else "correct"
        if why and _is_amount(ruled):
            to = ruled.to if ruled.to in _answers(after) else put
            return self._stands(seat, to or put, after, why=why, topic=topic)
        if why or intended is None:
            ruling = replace(ruled, cite=_first(self.profile.clauses(topic), ruled.cite))
            own = (Adjustment(seat, ruling.add),) if ruling.add and isinstance(acts[-1], Decided) else ()
            return Judgement(replace(ruling, adjust=(*own, *self.adjust)), self.hand)
        # The pot was quoted wrong and the pot was meant: judge it as the true pot, with what lies there.
        spot = Spot(before, self.profile, _chips_only(seat, put))
        judged = settle(spot, Reading(kind="raise", to=spot.high, reason=Reason("corrected_pot"), topics=(topic,)))
        self.hand = judged.after or self.hand
        self.adjust = []
        self._again(after)
        return Judgement(judged.ruling, self.hand)

    def _hidden(self, before: Hand, seat: str, put: int) -> Judgement:
        """All-in was said and answered; then more chips were found behind (TDA 62): accepted or not, the floor says."""
        mine = before.bet_of(seat) + before.stack_of(seat)
        reading = Reading(
            kind="floor",
            reason=Reason("floor_hidden_chips", {"said": mine, "chips": put}),
            topics=("hidden_chips",),
            candidates=tuple(Candidate("all_in", to, Reason("amount", {"to": to})) for to in (put, mine)),
            default_to=mine,
        )
        return settle(Spot(before, self.profile, Gesture(seat=seat)), reading)

    def _intended(self, before: Hand, put: int) -> int | None:
        """The quoted pot, if that is what was bet at pot limit."""
        if before.table.structure == POT_LIMIT and self.quoted is not None and put == self.quoted:
            return self.quoted
        return None

    def _stands(self, seat: str, put: int, after: Sequence[Sequence[AnyAct]], *, why: str, topic: str) -> Judgement:
        """It is too late: ``put`` is the seat's bet, and who acted since has acted on that."""
        hand = self.before[seat].copy()
        opening = hand.bet_to == 0
        hand.stand_at(put)
        self.hand = hand
        self.adjust = []
        self._again(after)
        ruling = correct.stands(self.hand, self.profile, seat, why, topic)
        return Judgement(replace(ruling, action="bet" if opening else "raise"), self.hand)

    def _again(self, groups: Sequence[Sequence[AnyAct]]) -> None:
        """Apply the later acts again, on the corrected hand."""
        for acts in groups:
            if self.hand.to_act != acts[0].seat:
                return
            judged = judge(self.hand, self.profile, acts)
            if judged.after is not None:
                self.adjust += _difference(judged, acts)
                self.hand = judged.after

    # ---- the ruling asked for ---------------------------------------------------------------------------------

    def ruling(self) -> Judgement:
        """The ruling on the seat in question: the last whose own act began, else the last that acted.

        Raises ValueError if no act was given.
        """
        self._leave_unfinished()
        self._settle_open()
        if self.final is not None:
            return self._finish(self.final)
        seat = self.subject
        if self.held and substantial([acts for _, acts in self.held.values()]):
            return self._skipped(self._first_binding())
        if len(self.short) > 1 and self.profile.undercall == "opening_only":
            return afterwards.backs_up(self.judged[self.short[0]], self.profile, self.short[1:])
        if seat is None:
            if not self.groups and not self.held:
                raise ValueError("no act to rule on")
            seat = next(iter(self.held)) if self.held else self.groups[-1][0]
        if seat in self.held:
            return self._finish(judge(self.hand, self.profile, self.held[seat][1]))
        return self._finish(afterwards.with_late(self.judged[seat], self.late.get(seat, ())))

    def _first_binding(self) -> str:
        """The first of the seats that acted out of turn whose act can bind: a check of a bet cannot."""
        for seat, (_, acts) in self.held.items():
            if behind_skipped(self.hand, self.profile, acts).after is not None:
                return seat
        return next(iter(self.held))

    def _leave_unfinished(self) -> None:
        """A last bare "raise" or "bet", with neither amount nor chips yet, leaves the act before it in question."""
        words = [a for a in self.open if isinstance(a, Say)]
        bare = len(words) == len(self.open) == 1 and words[0].word in ("bet", "raise") and words[0].amount is None
        if bare and len(self.free_acts) > 1 and self.groups:
            self.subject = next((s for s, _ in reversed(self.groups) if s in self.free_acts), self.subject)
            self.open = []

    def _skipped(self, seat: str) -> Judgement:
        """Substantial action behind a skipped seat: the acts out of turn bind, in their order."""
        judged = behind_skipped(self.hand, self.profile, self.held[seat][1])
        turn = self.hand.to_act
        for other, (_, later) in self.held.items():
            if other == seat or judged.after is None:
                continue
            judged.after.give_turn(other)
            done = judge(judged.after, self.profile, later)
            if done.after is not None:
                judged = Judgement(judged.ruling, done.after)
        if judged.after is None:
            return judged
        ruling = _rights(judged.ruling, judged.after, seat)
        free = tuple(s for s in ruling.may_raise if s != turn)
        return Judgement(rights.told(replace(ruling, may_raise=free), judged.after), judged.after)

    def _finish(self, judged: Judgement) -> Judgement:
        """State the rights as they are after all acts, not only after the act in question."""
        ruling = judged.ruling
        if self.adjust:
            ruling = replace(ruling, adjust=ruling.adjust or tuple(self.adjust))
        if judged.after is not None and ruling.action not in ("corrected", "stands"):
            ruling = _rights(ruling, self.hand, self.groups[-1][0] if self.groups else ruling.seat)
        return Judgement(ruling, self.hand if judged.after is not None else None)


def _rights(ruling: Ruling, hand: Hand, last: str) -> Ruling:
    """The same ruling with what everyone faces now; the seat that acted last has had its say."""
    free = tuple(s for s in rights.may_raise(hand, ruling.seat) if s != last)
    now = replace(
        ruling,
        next_seat=hand.to_act,
        call_to=hand.bet_to or None,
        min_raise_to=rights.smallest(hand, free),
        max_raise_to=rights.largest(hand, free),
        may_raise=free,
        may_not_raise=tuple(lock for lock in rights.locked(hand, ruling.seat) if lock.seat != last),
        options=rights.options(hand),
        round_over=hand.street_over,
    )
    return rights.told(now, hand)


def _difference(judged: Judgement, acts: Sequence[AnyAct]) -> list[Adjustment]:
    """What a seat adds, or gets back, that answered another amount than it owes."""
    act = acts[-1]
    if not isinstance(act, Decided) or act.act != "call" or act.to is None or judged.ruling.all_in:
        return []
    due = (judged.ruling.to or 0) - act.to
    return [Adjustment(act.seat, due)] if due else []


def _put(before: Hand, ruled: Ruling, acts: Sequence[AnyAct]) -> int:
    """What the seat put in, in total on the street: its chips, else the amount it said or was ruled at."""
    seat = ruled.seat
    chips = sum(sum(a.chips) for a in acts if isinstance(a, Place | PushForward))
    chips -= sum(sum(a.chips) for a in acts if isinstance(a, PullBack))
    named = [a.amount + before.bet_to * (a.by_or_to == "by") for a in acts if isinstance(a, Say) and a.amount]
    named += [a.to for a in acts if isinstance(a, Decided) and a.to]
    total = before.bet_of(seat) + chips if chips > 0 else max(named, default=ruled.to or 0)
    return min(total, before.bet_of(seat) + before.stack_of(seat))


def _is_amount(ruled: Ruling) -> bool:
    """Whether the seat was free to name its amount: a bet, a raise, or chips that were too few for one."""
    return ruled.verb in ("bet", "raise", "complete") or ruled.reason.code.startswith(("underraise_", "underbet_"))


def _answers(after: Sequence[Sequence[AnyAct]]) -> list[int | None]:
    """The amounts that later seats have called."""
    return [a.to for acts in after for a in acts if isinstance(a, Decided) and a.act == "call"]


def _said_all_in(acts: Sequence[AnyAct]) -> bool:
    """All-in was said and chips came with it."""
    said = any(isinstance(a, Say) and a.word == "all_in" for a in acts)
    return said and any(isinstance(a, Place | PushForward) for a in acts)


def _chips_only(seat: str, put: int) -> Gesture:
    return Gesture(seat=seat, motions=((put,),) if put else ())


def _first(clauses: tuple[str, ...], rest: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*clauses, *rest)))


def rule_street(
    hand: Hand, profile: Profile, acts: Sequence[AnyAct], put_by: str | None = None, put_followers: Sequence[str] = ()
) -> Judgement:
    """Rule a street's acts by several seats (see :class:`Docket`).  Raises ValueError if there are none."""
    docket = Docket(hand, profile, put_by, put_followers)
    for act in acts:
        docket.take(act)
    return docket.ruling()
