"""A played hand (one JSON object: posts, pushes, gestures, declarations) → every ruling and the pots, as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tabled.model import acts as a
from tabled.model.hand import HandSetup, Limits, SeatSetup
from tabled.model.ruling import Ruling
from tabled.rules.games import game_of
from tabled.rules.gesture import MAX_CHIPS
from tabled.rules.hand import Hand
from tabled.rules.judge import judge
from tabled.rules.profile import Profile
from tabled.shell.judge_records import HandEvent, HandRecord, RecordError, read_hand

_WORDS: dict[str, a.Word] = {
    "all-in": "all_in", "all_in": "all_in", "raise": "raise", "bet": "bet", "call": "call", "check": "check",
    "fold": "fold", "complete": "complete",
}  # fmt: skip


class HandError(RecordError):
    """A hand cannot be read or played; the message names the event."""


def is_hand(record: dict[str, Any]) -> bool:
    """Whether the record has the keys of a hand."""
    return "hand" in record and "events" in record and "stacks" in record


def judge_hand(record: dict[str, Any], profile: Profile) -> dict[str, Any]:
    """Play the hand through the law.  Raises HandError."""
    return _Player(read_hand(record), profile).play()


def told_hand(record: dict[str, Any], profile: Profile) -> list[tuple[int, Ruling]]:
    """The rulings of the hand, each with the number of its act.  Raises HandError."""
    player = _Player(read_hand(record), profile)
    player.play()
    return player.told


def hand_setup(r: HandRecord) -> HandSetup:
    """The set-up that the posts of a played hand make.  Raises HandError."""
    n = len(r.stacks)
    ante, blind = [0] * n, [0] * n
    for event in r.events:
        if event.kind == "post":
            (ante if event.what == "ante" else blind)[_seat(event, n) - 1] += _worth(event.chips)
    level = sorted(b for b in r.blinds if b)  # the record may list them by seat
    big = r.min_bet or (level[1] if len(level) > 1 else max(level, default=0)) or r.small_bet
    blinds = tuple(level[:2]) if len(level) > 1 else (0, big) if level or not r.bring_in else ()
    straddle = max(level[2:], default=0)
    first = next((e.seat for e in r.events if e.kind in ("push", "gesture", "declare")), None)
    posted_late = sum(1 for b in blind if b) > 2
    # Who opens is taken from the record where cards decide it (stud), and where somebody posted late or straddled:
    # records start left of the last post, rooms left of the big blind.
    return HandSetup(
        hand_id=r.hand,
        seats=tuple(SeatSetup(str(i + 1), s, ante[i], blind[i]) for i, s in enumerate(r.stacks)),
        game=r.variant,
        structure=r.structure,
        blinds=blinds,
        straddle=straddle if straddle > big else None,
        limits=Limits(
            small_bet=r.small_bet, big_bet=r.big_bet, bring_in=r.bring_in, min=r.spread_min, max=r.spread_max
        ),
        chip_unit=min(r.denominations, default=1),
        opener=str(first) if first is not None and (r.bring_in or posted_late) else None,
        button=str(n),
    )


class _Player:
    """Walks the events: posts build the set-up, acts are judged one seat at a time, collections close streets."""

    def __init__(self, record: HandRecord, profile: Profile) -> None:
        self.record, self.profile = record, profile
        self.n = len(record.stacks)
        self.game = game_of(record.variant)
        self.rulings: list[dict[str, Any]] = []
        self.told: list[tuple[int, Ruling]] = []
        self.pots: list[int] = []
        self.words: dict[str, list[a.AnyAct]] = {}
        self.ignored: set[str] = set()
        self.k = self.n  # one deal of hole cards a seat comes first in the hand history

    def play(self) -> dict[str, Any]:
        self.hand = Hand.start(hand_setup(self.record), self.profile)
        for n, event in enumerate(self.record.events):
            try:
                self._event(event)
            except ValueError as e:
                raise HandError(f"event {n if event.i < 0 else event.i} ({event.kind}): {e}") from None
        self._run_out()
        return {
            "hand": self.record.hand,
            "rulings": self.rulings,
            "street_pots": self.pots,
            "pots": [{"amount": p.amount, "seats": [int(s) for s in p.seats]} for p in self.hand.pots()],
            "stacks": self.hand.stack,
            "profile": {"name": self.profile.name, "hash": self.profile.hash},
            **({"ignored": sorted(self.ignored)} if self.ignored else {}),
        }

    # ---- events ---------------------------------------------------------------------------------------------

    def _event(self, event: HandEvent) -> None:
        match event.kind:
            case "declare":
                self._declare(event)
            case "push":
                seat = str(_seat(event, self.n))
                self._act(seat, list(_push(event, seat)))
            case "gesture":
                seat = str(_seat(event, self.n))
                self._act(seat, [a.TapTable(seat) if event.gesture == "tap" else a.CardsForward(seat)])
            case "collect":
                self._collect()
            case "board":
                self.k += 1
            case "draw":
                self.k += 2 if event.discards else 1
            case "post" | "return" | "change" | "change-back" | "show":
                pass
            case kind:
                self.ignored.add(kind)

    def _declare(self, event: HandEvent) -> None:
        seat = str(_seat(event, self.n))
        if event.verb not in _WORDS:
            raise HandError(f"declared verb {event.verb!r} is not known")
        say = a.Say(seat, _WORDS[event.verb], event.to, "unstated" if event.to is None else "to")
        if event.verb in ("fold", "check"):
            self._act(seat, [say])
        else:
            self.words.setdefault(seat, []).append(say)

    def _act(self, seat: str, acts: list[a.AnyAct]) -> None:
        if self.hand.swept or (self.hand.street_over and self.hand.to_act is None and not self.hand.over):
            self._next_street(seat)
        if self.hand.to_act is None and self.hand.over:
            return  # cards thrown in at the showdown, or a gesture after the last bet
        acts = [*self.words.pop(seat, []), *acts]
        before = self.hand
        judged = judge(before, self.profile, acts)
        if judged.after is None:
            raise HandError(f"seat {seat} cannot be ruled: {judged.ruling.action} ({judged.ruling.reason.code})")
        self.hand = judged.after
        self.rulings.append(self._line(judged.ruling, before))
        self.told.append((self.k, judged.ruling))
        self.k += 1

    def _line(self, ruling: Ruling, before: Hand) -> dict[str, Any]:
        faced = ruling.faced
        assert faced is not None
        return {
            "k": self.k,
            "street": before.street,
            "seat": int(ruling.seat),
            "verb": "raise" if ruling.verb == "complete" else ruling.verb,
            "action": ruling.action,
            "to": ruling.to,
            "add": (ruling.to or 0) - before.bet_of(ruling.seat),
            "to_call": faced.to_call,
            "min_to": faced.min_to if faced.raise_open else None,
            "max_to": faced.max_to if faced.raise_open else None,
            "raise_open": faced.raise_open,
            "all_in": ruling.all_in,
            "change": ruling.back,
            "pot_before": before.pot_total,
            "floor": ruling.floor,
            "cite": list(ruling.cite),
        }

    def _collect(self) -> None:
        """Bets go to the pot.  A street that was run out without betting has no bets to collect."""
        if self.hand.swept:
            if self.hand.n_live > 1 and self.hand.n_in > 1 and self.hand.street < self.hand.table.rounds - 1:
                raise HandError("collected twice")
            return
        if not self.hand.street_over:
            raise HandError(f"bets collected while seat {self.hand.to_act} must still act")
        self.hand = self.hand.copy()
        self.hand.close_street()
        self.pots.append(self.hand.pot_total)

    def _run_out(self) -> None:
        """Streets that were dealt without betting, because all or all but one were all-in, keep the pot as it was."""
        if not self.hand.swept and self.hand.street_over:
            self._collect()
        if self.hand.n_live > 1 and self.hand.n_in <= 1 and self.pots:
            self.pots += [self.pots[-1]] * (self.game.rounds - 1 - len(self.pots))

    def _next_street(self, seat: str) -> None:
        if not self.hand.swept:
            self._collect()
        self.hand = self.hand.copy()
        if self.game.bring_in:
            self.k += self.hand.n_live  # one card dealt to each live seat
        self.hand.deal_next_street(opener=seat if self.game.bring_in else None)


def _seat(event: HandEvent, n: int) -> int:
    """The event's seat number.  Raises HandError if it has none, or one that is not at the table."""
    if event.seat is None or event.seat > n:
        raise HandError(f"seat {event.seat} is not one of 1 to {n}")
    return event.seat


def _push(event: HandEvent, seat: str) -> Iterator[a.AnyAct]:
    """One push; several motions are told by number only, so each later one is a single chip, the last ones."""
    if sum(event.chips.values()) > MAX_CHIPS:
        raise HandError(f"more than {MAX_CHIPS} chips in one push")
    chips = [_value(v) for v, count in event.chips.items() for _ in range(count)]
    later = min(max(event.motions, 1), max(len(chips), 1)) - 1
    yield a.Place(seat, tuple(chips[: len(chips) - later]))
    for chip in chips[len(chips) - later :]:
        yield a.HandReturnsToStack(seat)
        yield a.Place(seat, (chip,))
    yield a.HandWithdraws(seat)


def _value(name: str) -> int:
    """A denomination.  Raises HandError."""
    if not (name.isascii() and name.isdigit() and len(name) <= 15):
        raise HandError(f"{name!r} is no denomination")
    return int(name)


def _worth(chips: dict[str, int]) -> int:
    return sum(_value(v) * n for v, n in chips.items())


_COMPARED = (
    "k",
    "street",
    "seat",
    "verb",
    "to",
    "add",
    "to_call",
    "min_to",
    "max_to",
    "raise_open",
    "all_in",
    "pot_before",
    "change",
)


def hand_differences(record: dict[str, Any], got: dict[str, Any]) -> list[str]:
    """Differences of a played hand's rulings, pots and stacks from what it expects.

    What a hand does not say (a field, ``street_pots``) is not compared, but for change, which is none then.  A
    completion counts as a raise: the records have no word for it.
    """
    wrong: list[str] = []
    expected, rulings = record.get("expected") or [], got["rulings"]
    if len(expected) != len(rulings):
        wrong.append(f"rulings: expected {len(expected)}, ruled {len(rulings)}")
    for told, have in zip(expected, rulings, strict=False):
        want = {"change": 0, **told}  # a hand names the change where there is some
        for key in _COMPARED:
            if key in want and want[key] != have[key]:
                label = f"act {have['k']} (seat {have['seat']}, {have['verb']})"
                wrong.append(f"{label}: {key}: expected {want[key]!r}, ruled {have[key]!r}")
    pots = record.get("street_pots")
    if pots is not None and pots != got["street_pots"]:
        wrong.append(f"street_pots: expected {pots}, ruled {got['street_pots']}")
    stacks = record.get("before_award_stacks")
    if stacks is not None and stacks != got["stacks"]:
        wrong.append(f"before_award_stacks: expected {stacks}, ruled {got['stacks']}")
    return wrong
