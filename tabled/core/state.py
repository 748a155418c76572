"""The table's state: a value that `tabled.core.table.step` folds the journal into.

A `TableState` is never changed once it has been returned: `step` copies it and replaces whole fields.
The betting engine inside is treated the same way (copied before it moves).
"""

from __future__ import annotations

from typing import Literal

import msgspec

from firmware_bridge.wire import Press, TimeSpan
from tabled.core.entries import Bound, TableConfig
from tabled.core.memo import Memo
from tabled.fusion.attempt import Attempt, DoubtKind
from tabled.fusion.presence import Area
from tabled.fusion.settings import FusionSettings
from tabled.fusion.strokes import Stroke
from tabled.model.hand import SeatView
from tabled.model.layout import Antenna, Place
from tabled.model.outcome import Phase, SeatLine, TableView
from tabled.model.ruling import Reason, Ruling
from tabled.rules.hand import Hand
from tabled.rules.profile import Profile

MAX_PRESSES_REMEMBERED = 512
"""A panel holds far fewer unacknowledged presses; older repeats than this cannot come."""
MAX_REQUESTS_REMEMBERED = 256
"""Orders whose repeat is no second order; a client that repeats an older one is told that it no longer fits."""
RECENT_RULINGS = 16
MAX_RULED = 128
"""Acts of one street that can be taken back; a street of ten seats has far fewer."""


Key = Literal["key_a", "key_b"]


class NotNow(ValueError):
    """An order makes no sense as the table stands; the message says what to do instead."""


class Line(msgspec.Struct, frozen=True):
    """A seat's betting area as the accounts have it.

    ``settled`` are chips (UID to value) that belong to acts already ruled or to posts, in the order in which they
    came; ``ante`` are those of them that are an ante, which the dealer may sweep at any time.  ``posted``
    counts what has been put up before the first act, ``owed`` what a final ruling still asks for and ``back``
    what it gives back.  ``missing`` are settled chips that vanished while nothing explained it, ``returned`` those that
    went while something was due back.
    """

    settled: dict[str, int] = {}
    ante: dict[str, int] = {}
    missing: dict[str, int] = {}
    returned: dict[str, int] = {}
    posted: int = 0
    owed: int = 0
    back: int = 0

    @property
    def chips(self) -> tuple[int, ...]:
        """Denominations of the settled chips that are no ante, largest first."""
        return tuple(sorted((v for uid, v in self.settled.items() if uid not in self.ante), reverse=True))


class Standing(msgspec.Struct, frozen=True):
    """The newest ruling on the act in progress and its journal position."""

    position: int
    ruling: Ruling
    seat: str
    final: bool = False


class Ruled(msgspec.Struct, frozen=True):
    """A final ruling of this street, with all that is needed to take it back: ``hand`` and ``line`` as they were
    before it, the ruling, and when it was issued."""

    position: int
    attempt: Attempt
    hand: Hand
    line: Line
    ruling: Ruling
    ruled_ns: int


class OpenQuestion(msgspec.Struct, frozen=True):
    """The one question that is on the screen: which doubt of which seat's act it settles, on which evidence."""

    position: int
    seat: str
    doubt: DoubtKind
    evidence: tuple[int, ...]


class Sight(msgspec.Struct, frozen=True):
    """What the camera sees and since when it may be believed.

    ``since_ns`` is since when it watches the table (None: it does not); ``clear_ns`` since when a seat's zone is
    in sight again (None: it is not now).  ``strokes`` are those of hands at each seat since its last act, ``hand_ns``
    the newest time at which any hand may have been over its line.
    """

    since_ns: int | None = None
    clear_ns: dict[str, int | None] = {}
    strokes: dict[str, tuple[Stroke, ...]] = {}
    hand_ns: dict[str, int] = {}


class Stray(msgspec.Struct, frozen=True):
    """By how much a stack changed while no hand was played, and when it was touched last."""

    amount: int
    last_ns: int


class Landing(msgspec.Struct, frozen=True):
    """A chip that the camera saw land at a seat, and when; some tag should explain it."""

    seat: str
    span: TimeSpan


class EarlyKey(msgspec.Struct, frozen=True):
    """A key pressed before its seat's turn was known to have come, and its journal position."""

    press: Press
    pos: int


class Blind(msgspec.Struct, frozen=True):
    """An antenna that answers with errors alone: since when (host ns), and the last error's reason."""

    since_ns: int
    why: str


class TableState(msgspec.Struct, kw_only=True):
    """Everything the daemon knows, as a fold of its journal."""

    config: TableConfig | None = None
    profile: Profile | None = None
    fusion: FusionSettings = FusionSettings()
    """As configured, with what this table has taught since (see `tabled.core.learning`)."""
    epoch: str = ""
    clock: str = ""
    position: int = 0
    now_ns: int = 0
    phase: Phase = "idle"
    hand: Hand | None = None
    hand_id: str = ""
    hand_profile: Profile | None = None
    button: str | None = None
    due: dict[str, int] = {}
    post_by_ns: int = 0
    act: int = 0
    areas: dict[str, Area] = {}
    places: dict[str, str] = {}
    """UID to the antenna where that tag most likely lies: each tag in one place."""
    where: dict[str, str] = {}
    """UID to the name of the place where each chip that has been seen is, or went (see `tabled.core.money`)."""
    gone_ns: dict[str, int] = {}
    """UID to when a chip that left a line of this street was read there last."""
    strays: dict[str, Stray] = {}
    landings: tuple[Landing, ...] = ()
    lines: dict[str, Line] = {}
    attempts: dict[str, Attempt] = {}
    sight: Sight = Sight()
    standing: Standing | None = None
    question: OpenQuestion | None = None
    answers: dict[DoubtKind, bool] = {}
    answered: tuple[int, ...] = ()
    """The evidence that the answers were given on; with more evidence they are asked anew."""
    bounds: dict[str, Bound] = {}
    """By the antenna's name, what its reader states; none for a reader that is not up."""
    bound_since_ns: dict[str, int] = {}
    """Since when each of them has been stated without a break."""
    overran: dict[str, int] = {}
    blind: dict[str, Blind] = {}
    """By the antenna's name, those whose newest answer was an error; see `tabled.core.blind`."""
    confirmed: tuple[str, ...] = ()
    """What lay and was said (see `looks.substance`) when the dealer confirmed a ruling that the readers cannot."""
    flagged: tuple[str, ...] = ()
    """Seats that acted out of turn and were told so."""
    held_at: dict[str, int] = {}
    """Where the ruling stands that told each of them."""
    early: tuple[EarlyKey, ...] = ()
    """Folds and checks keyed while the act before them was not final yet: they are the next seats'."""
    last_key: Press | None = None
    faults: dict[str, Reason] = {}
    presses: tuple[str, ...] = ()
    requests: tuple[str, ...] = ()
    recent: tuple[int, ...] = ()
    floor_waiting: int | None = None
    known: frozenset[str] = frozenset()
    """UIDs of all chips that have been on a line in this hand: once the street is over they may cross any
    antenna on their way to the pot."""
    ruled: tuple[Ruled, ...] = ()
    """Final rulings of this street that moved the hand, oldest first."""
    corrects: int | None = None
    """Position of the ruling that the next one on this act corrects."""
    memo: Memo = Memo()
    """Saves judging again; no part of what is known."""


def area_key(device: str, antenna: int) -> str:
    """Name of one antenna in `TableState.areas`."""
    return f"{device}#{antenna}"


def place_at(config: TableConfig, key: str) -> Place | None:
    """The place that an antenna covers, by its name (see `area_key`); None if the table has no such antenna."""
    device, _, antenna = key.rpartition("#")
    return config.layout.place_of(device, int(antenna))


def bet_areas(state: TableState, seat: str) -> tuple[Area | None, ...]:
    """What is known of each antenna of a seat's bets; None for one that has not answered yet."""
    assert state.config is not None
    return tuple(state.areas.get(area_key(a.device, a.antenna)) for a in bet_antennas(state.config, seat))


def read_areas(state: TableState, seat: str) -> tuple[Area, ...]:
    """The same of those antennas that have answered."""
    return tuple(area for area in bet_areas(state, seat) if area is not None)


def places_beside(config: TableConfig, seat: str) -> tuple[Place, ...]:
    """The neighbours of a seat's bets, each once."""
    return tuple(dict.fromkeys(config.layout.beside(Place("bet", seat))))


def bet_antennas(config: TableConfig, seat: str) -> tuple[Antenna, ...]:
    """The antennas that cover a seat's bets."""
    return config.layout.antennas_of(Place("bet", seat))


def view(state: TableState) -> TableView:
    """The display's picture of the state.  Holds no stack, no pot and no chip that is not yet bet."""
    hand = state.hand
    seats: tuple[SeatLine, ...] = ()
    if hand is not None:
        picture = hand.view()
        seats = tuple(SeatLine(s.seat, s.bet, s.status, not _locked(hand, s)) for s in picture.seats)
    betting = hand is not None and state.phase == "betting"
    return TableView(
        epoch=state.epoch,
        position=state.position,
        phase=state.phase,
        hand_id=state.hand_id or None,
        structure=picture.structure if hand is not None else None,
        street=hand.street if hand is not None else 0,
        to_act=hand.to_act if betting and hand is not None else None,
        bet_to=picture.bet_to if hand is not None and state.phase != "over" else 0,
        min_raise_to=picture.min_raise_to if betting and hand is not None else 0,
        seats=seats,
        button=state.button,
        question=state.question.position if state.question else None,
        recent=state.recent,
        faults=tuple(state.faults[k] for k in sorted(state.faults)),
    )


def _locked(hand: Hand, seat: SeatView) -> bool:
    """A lock is news only for a seat that has a bet to answer, and it is about the right to raise alone: whether
    the stack would reach for one is nobody's business."""
    if seat.status != "in" or seat.bet >= hand.bet_to:
        return False
    return hand.capped() or not hand.reopened(hand.table.index[seat.seat])
