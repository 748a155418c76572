"""A short way to write a situation and what happened at it, for tests that read like the paragraphs they test.

Seats: ``"A 4500/500* B 5000 C 5000"`` is name, chips behind, ``/`` counted line, ``*`` has acted, ``!`` folded,
``[25,25]`` the chips on the line.  Acts: ``"B put 500 100"``, ``"B push 500"``, ``"B push 500 held"``,
``"B say raise 700 to"``, ``"B again"`` (back to the stack), ``"B away"``, ``"B tap"``, ``"B cards"``,
``"B pull 500"``, ``"B did call 600"``,
``"B stage 500"``, ``"B hold 500"``, ``"spectator points"``, ``"dealer quotes 9500"``, ``"card dealt"``.
"""

from __future__ import annotations

import functools
import re
from typing import Any

from tabled.model import acts as a
from tabled.model.hand import Limits
from tabled.model.ruling import Ruling
from tabled.outlets.wording import announce
from tabled.rules.games import STREET_NAMES
from tabled.rules.hand import Hand
from tabled.rules.profile import Profile
from tabled.rules.settle import Judgement
from tabled.rules.situation import Prior, SeatNow, Situation, hand_from
from tabled.rules.street import rule_street
from tabled.rules.topics import TOPICS
from tabled.shell import profiles as files

load = functools.cache(files.load)

_SEAT = re.compile(r"(\S+) (\d+)(?:/(\d+))?(\*?)(!?)(?:\[([\d,]+)\])?(?:\s+|$)")
_WORDS = {"all-in": "all_in"}


def profile(name: str, **values: Any) -> Profile:
    """A profile, with some settings changed."""
    base = load(name)
    return base.with_values(**values) if values else base


def seats(text: str) -> tuple[SeatNow, ...]:
    """Seats from their short form."""
    found = []
    for name, stack, line, acted, folded, chips in _SEAT.findall(text):
        status = "folded" if folded else "all_in" if stack == "0" else "in"
        lying = tuple(int(c) for c in chips.split(",")) if chips else None
        found.append(
            SeatNow(
                seat=name, stack=int(stack), line=int(line or 0), line_chips=lying, acted=bool(acted), status=status
            )
        )
    return tuple(found)


def prior(text: str) -> tuple[Prior, ...]:
    """Prior acts: ``"A bet 500, B call"``."""
    out = []
    for part in filter(None, (p.strip() for p in text.split(","))):
        seat, act, *to = part.split()
        out.append(Prior(seat, act.replace("-", "_"), int(to[0]) if to else None))  # type: ignore[arg-type]  # text from a test
    return tuple(out)


def situation(who: str, turn: str | None, bet: int = 0, full: int = 0, **kw: Any) -> Situation:
    """A situation: no-limit on the flop at 50/100 with 300 in the pot unless said otherwise."""
    street = STREET_NAMES[kw.pop("street", "flop")]
    limits = kw.pop("limits", None)
    blinds = kw.pop("blinds", (50, 100))
    return Situation(
        seats=seats(who),
        to_act=turn,
        bet_to=bet,
        last_full_raise=full or bet or 0,
        street=street,
        blinds=blinds,
        limits=Limits(**limits) if limits else Limits(),
        pot_before=kw.pop("pot", 300),
        prior=prior(kw.pop("prior", "")),
        **kw,
    )


def facing(bet: int = 500, stack: int = 5000, behind: str = "C 5000", **kw: Any) -> Situation:
    """A has bet and B is to act."""
    return situation(f"A 4500/{bet}* B {stack} {behind}", "B", bet, bet, prior=f"A bet {bet}", **kw)


def opening(who: str = "A 5000 B 5000 C 5000", **kw: Any) -> Situation:
    """Nobody has bet and A is to act."""
    return situation(who, "A", **kw)


def act(text: str) -> a.AnyAct:
    """One act from its short form."""
    seat, do, *rest = text.split()
    numbers = tuple(int(x) for x in rest if x.isdigit())
    match do:
        case "put":
            return a.Place(seat, numbers, accidental="dropped" in rest, forced_change="change" in rest)
        case "push":
            held = "short" in rest or "held" in rest
            return a.PushForward(seat, numbers, hand_on_chips=held, crossed_line="short" not in rest)
        case "say":
            return _say(seat, rest, numbers)
        case "did":
            return a.Decided(seat, rest[0], numbers[0] if numbers else None)  # type: ignore[arg-type]  # text from a test
        case "pull":
            return a.PullBack(seat, numbers)
        case "stage":
            return a.StageNearStack(seat, numbers)
        case "hold":
            return a.HoldOverLine(seat, numbers)
        case "points":
            return a.ErrorPointedOut("", by=seat)  # type: ignore[arg-type]  # text from a test
        case "quotes":
            return a.DealerStatesAmount("", numbers[0])
        case "claims":
            return a.Claims(seat, " ".join(rest))
        case _:
            plain = {
                "again": a.HandReturnsToStack, "away": a.HandWithdraws, "tap": a.TapTable, "cards": a.CardsForward,
                "asks": a.AskChange, "change": a.DealerGivesChange,
            }  # fmt: skip
            return a.NextCardDealt("") if seat == "card" else plain[do](seat)


def _say(seat: str, rest: list[str], numbers: tuple[int, ...]) -> a.Say:
    order = next((w for w in rest if w in ("after", "simultaneous")), "before")
    counting = next((w for w in rest if w in ("by", "to")), "unstated")
    text = " ".join(rest[1:]) if rest[0] == "other" else ""
    return a.Say(
        seat, _WORDS.get(rest[0], rest[0]), numbers[0] if numbers else None, counting, order, text, "low" in rest  # type: ignore[arg-type]  # text from a test
    )  # fmt: skip


def judged(law: str | Profile, where: Situation, *acts: str, put_by: str | None = None) -> Judgement:
    """The judgement on the acts; also checks that it can be announced in every language and conserves chips."""
    by = load(law) if isinstance(law, str) else law
    hand = hand_from(where, by)
    before = hand.snapshot()
    later = _answered(where, put_by)
    result = rule_street(hand, by, [act(t) for t in acts], put_by, later)
    assert hand.snapshot() == before, "judging changed the hand"
    assert all(announce(result.ruling).values())
    if result.after is not None:
        assert chips_of(result.after) == chips_of(hand)
        assert sum(p.amount for p in result.after.pots()) == result.after.pot_total
        assert result.after.to_act == result.ruling.next_seat
        assert result.after.n_in == result.after.state.count(0)
        assert result.after.n_live == len(result.after.state) - result.after.state.count(1)
    return result


def _answered(where: Situation, put_by: str | None) -> list[str]:
    later: list[str] = []
    seen = False
    for p in where.prior:
        if seen and p.act != "fold":
            later.append(p.seat)
        seen = seen or (p.act == "put" and p.seat == put_by)
    return later


def rule(law: str | Profile, where: Situation, *acts: str, put_by: str | None = None) -> Ruling:
    """The ruling on the acts."""
    return judged(law, where, *acts, put_by=put_by).ruling


def chips_of(hand: Hand) -> int:
    """All chips of the hand."""
    return sum(hand.stack) + hand.pot_total


def short(r: Ruling) -> tuple[str, int | None, int, int]:
    """Action, to, add, back."""
    return r.action, r.to, r.add, r.back


def adjust(r: Ruling) -> list[tuple[str, int]]:
    """What each seat adds or takes back after a correction."""
    return [(x.seat, x.add) for x in r.adjust]


def locked(r: Ruling) -> set[str]:
    """Seats that may not raise."""
    return {lock.seat for lock in r.may_not_raise}


def open_to(r: Ruling) -> set[str]:
    """Seats that may raise."""
    return set(r.may_raise)


def topics(law: str, where: Situation, *acts: str, put_by: str | None = None, **values: Any) -> set[str]:
    """The topics that the ruling cites paragraphs for, under the law with some settings changed."""
    own_names = profile(law, **values).with_values(cite={topic: [topic] for topic in TOPICS})
    return set(rule(own_names, where, *acts, put_by=put_by).cite)
