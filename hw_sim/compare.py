"""What the product said against what it had to say, hand by hand."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import Any

from hw_sim.ears import Ears, Json
from hw_sim.hands import Expected, Hand


def observed(ruling: Json) -> Json:
    """The part of a published final ruling that a hand's ``expected`` speaks of."""
    r = ruling.get("ruling") or {}
    faced = r.get("faced") or {}
    return {
        "act": ruling.get("act"),
        "street": ruling.get("street"),
        "seat": r.get("seat"),
        "verb": r.get("verb") or r.get("action"),
        "to": r.get("to"),
        "all_in": bool(r.get("all_in", False)),
        "to_call": faced.get("to_call"),
        "min_to": faced.get("min_to"),
        "max_to": faced.get("max_to"),
        "raise_open": faced.get("raise_open"),
        "faced": bool(faced),
        "owed": r.get("add", 0),
        "back": r.get("back", 0),
        "action": r.get("action"),
        "cite": r.get("cite", []),
        "announce": (ruling.get("announce") or {}).get("en"),
        "position": ruling.get("_position"),
    }


def differences(want: Expected, got: Json) -> list[tuple[str, Any, Any]]:
    """Fields that differ, as (name, expected, observed).

    Where raising is closed the bounds mean nothing and are not compared.  A fold or check may leave ``to``
    out when it is 0.  To complete a bring-in is a raise by another name.
    """
    pairs: list[tuple[str, Any, Any]] = [
        ("street", want.street, got["street"]),
        ("seat", str(want.seat), got["seat"]),
        ("verb", want.verb, "raise" if got["verb"] == "complete" and want.verb == "raise" else got["verb"]),
        ("to", want.to, got["to"]),
        ("all_in", want.all_in, got["all_in"]),
        ("to_call", want.to_call, got["to_call"]),
        ("raise_open", want.raise_open, got["raise_open"]),
        ("back", want.change, got["back"]),
        ("owed", 0, got["owed"]),
    ]
    if want.raise_open:
        pairs += [("min_to", want.min_to, got["min_to"]), ("max_to", want.max_to, got["max_to"])]
    silent_to = want.verb in ("fold", "check") and got["to"] is None
    return [(n, a, b) for n, a, b in pairs if a != b and not (n == "to" and silent_to)]


def pots_agree(hand: Hand, pots: list[int]) -> bool:
    """Whether closed streets carry the right pots.

    A run-out after an all-in closes streets without betting; whether the product names those again is open,
    so the pots must be those of the collections, with nothing but repeats of the last one after them.
    """
    collected = [e.pot for e in hand.events if e.kind == "collect"]
    n = len(collected)
    if pots[:n] != collected:
        return False
    return all(p == collected[-1] for p in pots[n:]) and len(pots) <= max(n, len(hand.street_pots) + 1)


def judge(hand: Hand, ears: Ears) -> tuple[list[Json], list[Json]]:
    """Observed final rulings in order, and the discrepancies against ``expected`` and the pots."""
    seen = [observed(r) for r in ears.finals(hand.hand)]
    wrong: list[Json] = []
    # Aligned by who acted on which street, so that one missing or surplus ruling is reported as just that.
    rows = [(e.street, str(e.seat)) for e in hand.expected]
    heard = [(r["street"], r["seat"]) for r in seen]
    matcher = SequenceMatcher(None, rows, heard, autojunk=False)
    for _, i1, i2, j1, j2 in matcher.get_opcodes():
        for want, got in zip(hand.expected[i1:i2], seen[j1:j2], strict=False):
            wrong += [
                {"what": "ruling", "k": want.k, "event": want.event, "field": n, "expected": a, "observed": b}
                for n, a, b in differences(want, got)
            ]
        both = min(i2 - i1, j2 - j1)
        wrong += [
            {"what": "no_ruling", "k": want.k, "event": want.event, "seat": str(want.seat)}
            for want in hand.expected[i1 + both : i2]
        ]
        wrong += [{"what": "extra_ruling", "observed": r} for r in seen[j1 + both : j2]]
    pots = ears.pots(hand.hand)
    if not pots_agree(hand, pots):
        wrong.append({"what": "street_pots", "expected": hand.street_pots, "observed": pots})
    return seen, wrong
