"""One seat's acts, sorted into what binds: words before the touch, motions of chips, words after."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from tabled.model.acts import (
    AnyAct,
    AskChange,
    CardsForward,
    Claims,
    DealerGivesChange,
    Decided,
    HandReturnsToStack,
    HandWithdraws,
    Place,
    PullBack,
    PushForward,
    Say,
    TapTable,
)

MAX_ACTS = 256
MAX_CHIPS = 2000


class Gesture(msgspec.Struct, frozen=True, kw_only=True):
    """What one seat did.

    ``words`` came before the first chip or with it, ``late`` after.  ``motions`` are the
    chips of each trip.  ``lifted`` are chips of an earlier bet taken back, ``retracted`` new ones; ``mixed`` when the
    lifted ones came forward again with the new.  ``short`` is a push that stopped before the line and went back,
    ``pushed`` says that all chips came as pushes toward the pot.
    """

    seat: str
    words: tuple[Say, ...] = ()
    late: tuple[Say, ...] = ()
    motions: tuple[tuple[int, ...], ...] = ()
    lifted: tuple[int, ...] = ()
    retracted: tuple[int, ...] = ()
    mixed: bool = False
    short: tuple[int, ...] = ()
    accidental: bool = False
    forced_change: bool = False
    change_asked: bool = False
    decided: Decided | None = None
    claim: str | None = None
    pushed: bool = False

    @property
    def new(self) -> tuple[int, ...]:
        """All new chips put forward, in order."""
        return tuple(c for m in self.motions for c in m)


class _Reader:
    """Walks the acts once."""

    def __init__(self, line: tuple[int, ...], bind: str) -> None:
        self.bind = bind
        self.words: list[Say] = []
        self.late: list[Say] = []
        self.motions: list[list[int]] = [[]]
        self.lifted: list[int] = []
        self.retracted: list[int] = []
        self.pending: tuple[int, ...] = ()
        self.held = False
        self.short: tuple[int, ...] = ()
        self.flags: dict[str, bool] = {}
        self.decided: Decided | None = None
        self.claim: str | None = None
        self.placed = False
        self.line = Counter(line)

    def say(self, act: Say) -> None:
        if act.word == "number" and not act.amount:
            act = replace(act, word="other")  # a number that nobody heard is an unclear word
        touched = any(self.motions)
        if act.order == "simultaneous":
            self.words.append(act)
        elif act.order == "after" or touched:
            self.late.append(act)
        else:
            self.words.append(act)

    def put(self, chips: tuple[int, ...]) -> None:
        self.motions[-1].extend(chips)

    def push(self, act: PushForward) -> None:
        held = self.bind == "release" and act.hand_on_chips  # over the line, and not let go
        if act.crossed_line and not held:
            self.pending = ()
            self.put(act.chips)
        else:
            self.pending, self.held = act.chips, held and act.crossed_line

    def pull(self, act: PullBack) -> None:
        if self.pending:
            self.short, self.pending = self.pending, ()
            return
        new = Counter(c for m in self.motions for c in m) - Counter(self.retracted)
        for chip in act.chips:
            if new[chip] > 0:
                new[chip] -= 1
                self.retracted.append(chip)
            else:
                self.lifted.append(chip)

    def see(self, act: AnyAct) -> None:
        match act:
            case Say():
                self.say(act)
            case TapTable():
                self.say(Say(act.seat, "check", text="tap"))
            case CardsForward():
                self.say(Say(act.seat, "fold", text="cards"))
            case Place():
                self.pending = ()
                self.placed = True
                self.put(act.chips)
                self.flags["accidental"] = self.flags.get("accidental", False) or act.accidental
                self.flags["forced_change"] = self.flags.get("forced_change", False) or act.forced_change
            case PushForward():
                self.push(act)
            case PullBack():
                self.pull(act)
            case HandReturnsToStack() | HandWithdraws():
                if self.pending and self.held:  # the hand went and the chips stayed
                    self.put(self.pending)
                    self.pending = ()
                if self.motions[-1]:
                    self.motions.append([])
            case AskChange():
                self.flags["change_asked"] = self.flags.get("change_asked", False) or not any(self.motions)
            case DealerGivesChange() if self.flags.get("change_asked"):
                self.motions, self.flags["change_asked"] = [[]], False  # what lay there was for change
            case Decided():
                self.decided = act
            case Claims():
                self.claim = act.text
            case _:
                pass  # counting beside the stack, hovering, what the dealer said: nothing that binds


def read(acts: Sequence[AnyAct], line: tuple[int, ...] = (), bind: str = "push") -> Gesture:
    """Sort the acts of one seat.  ``line`` are the chips of its earlier bet, ``bind`` the profile's setting.

    Raises ValueError when the acts are of more than one seat, none, or too many to be one motion.
    """
    if not acts or len(acts) > MAX_ACTS:
        raise ValueError(f"{len(acts)} acts cannot be judged as one: 1 to {MAX_ACTS} are possible")
    seats = {a.seat for a in acts}
    if len(seats) != 1:
        raise ValueError(f"the acts of one seat are judged at a time, not of {', '.join(sorted(seats))}")
    reader = _Reader(line, bind)
    for act in acts:
        reader.see(act)
    if reader.pending and bind == "push":
        reader.put(reader.pending)  # on its way to the pot and not taken back
        reader.pending = ()
    motions = tuple(tuple(m) for m in reader.motions if m)
    if sum(map(len, motions)) > MAX_CHIPS:
        raise ValueError(f"more than {MAX_CHIPS} chips in one bet: count them in parts")
    lifted = Counter(reader.lifted)
    new = Counter(c for m in motions for c in m) - Counter(reader.retracted)
    return Gesture(
        seat=acts[0].seat,
        words=tuple(reader.words),
        late=tuple(reader.late),
        motions=motions,
        lifted=tuple(reader.lifted),
        retracted=tuple(reader.retracted),
        mixed=bool(lifted) and not lifted - new,
        short=reader.short or reader.pending,
        accidental=reader.flags.get("accidental", False),
        forced_change=reader.flags.get("forced_change", False),
        change_asked=reader.flags.get("change_asked", False),
        decided=reader.decided,
        claim=reader.claim,
        pushed=bool(motions) and not reader.placed,
    )
