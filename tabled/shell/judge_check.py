"""Comparing a ruling with what a case expects, and an ambiguous case's other reading with the profile's switches."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from tabled.rules.profile import SETTINGS, Profile, choices
from tabled.shell.judge_cites import uncited

Json = dict[str, Any]
# A guide by the case files' own words (announce), what an ambiguous case says of itself, and free text (next).
# Paragraphs (cite) and candidates are compared below, by what they name.
_NOT_COMPARED = frozenset({"announce", "cite", "ambiguous", "alt", "next"})
# The case files name these wherever there is something to name, so a ruling that has one unasked is wrong.
_ABSENT_IS_NONE = ("return_chips", "return_change", "adjust", "hold", "skipped", "default", "window")


def differences(expected: Json, got: Json, setup: Json | None = None) -> tuple[list[str], list[str]]:
    """Differences of a case's ruling from ``expected``, and notes on where the case says less than the law.

    Every field that the case gives must be equal, and money, chips, floor and holds that it does not give must be
    absent.  Three things are not compared value by value, because the case files do not settle them:

    - ``may_raise`` and ``may_not_raise`` are compared as sets: the files list some in order of action and some in
      order of seats.
    - ``options`` are those of the next seats to act, as many as the case gives, in order.
    - A seat that ``may_raise`` leaves out is a note if the case's own numbers in ``setup`` and ``expected`` show that
      it may raise (see :func:`_left_out`); any other difference of the two lists is wrong.
    """
    wrong: list[str] = []
    notes: list[str] = []
    for key, want in expected.items():
        have = got.get(key)
        if key in _NOT_COMPARED:
            continue
        if key == "may_raise":
            missing, extra = set(want) - set(have or []), set(have or []) - set(want)
            wrong += [f"may_raise: {s} may raise by the case" for s in sorted(missing)]
            for seat in sorted(extra):
                into = notes if _left_out(seat, expected, setup) else wrong
                into.append(f"may_raise: {seat} may raise too; the case does not list it")
        elif key == "may_not_raise":
            if sorted(want) != sorted(have or []):
                wrong.append(_line(key, want, have or []))
        elif key == "options":
            if not _same(want, (have or [])[: len(want)]):
                wrong.append(_line(key, want, have))
        elif key == "candidates":
            if sorted(map(repr, want)) != sorted(map(repr, have or [])):  # in any order, of the same types
                wrong.append(_line(key, want, have))
        elif not _same(want, have):
            wrong.append(_line(key, want, have))
    wrong += [_line(k, None, got[k]) for k in _ABSENT_IS_NONE if k not in expected and got.get(k)]
    if "floor" not in expected and got.get("floor") and got.get("action") != "floor":
        wrong.append(_line("floor", None, True))
    ours = got.get("cite") or []
    wrong += [f"cite: {p} is not among {ours}" for p in uncited(str(expected.get("cite") or ""), ours)]
    return wrong, notes


def _line(key: str, want: object, have: object) -> str:
    return f"{key}: expected {want!r}, ruled {have!r}"


def _same(want: object, have: object) -> bool:
    """Equal, and of the same types all the way down (1 is not true)."""
    if isinstance(want, dict) and isinstance(have, dict):
        return want.keys() == have.keys() and all(_same(v, have[k]) for k, v in want.items())
    if isinstance(want, list) and isinstance(have, list):
        return len(want) == len(have) and all(map(_same, want, have))
    return type(want) is type(have) and want == have


def _left_out(seat: str, expected: Json, setup: Json | None) -> bool:
    """Whether the case's own numbers say that a seat it does not list may raise.

    After a call or a short all-in some cases list only the seats that have not acted (SE-072, TD-053) and others, in
    the same position, also those to whom an earlier raise came back (TD-062, TD-050), so no one list can equal both.
    The law decides: a seat that has acted may raise if it faces at least a last full raise, which is what the case
    gives as the smallest raise less the call.  A case that lists ``may_not_raise`` lists everybody.
    """
    call, low = expected.get("call_to"), expected.get("min_raise_to")
    if setup is None or "may_not_raise" in expected or not expected.get("may_raise"):
        return False
    if not isinstance(call, int) or not isinstance(low, int) or expected.get("action") not in ("call", "all_in"):
        return False
    lines = [s.get("line", 0) for s in setup["seats"] if str(s["seat"]) == seat and s.get("acted")]
    return any(call - line >= low - call > 0 for line in lines)


# ---- the other reading ------------------------------------------------------------------------------------------

_CITES = re.compile(r"§\s*[\d.]+(?:\s[a-c]\b)?|\b(?:TDA|RRP|WSOP(?: LA)?|WS)[ -]?[\d./-]+[A-C]?\b|\b\d+ %")
_ACTS = (
    (re.compile(r"raises? \(?to (\d+)"), "raise"),
    (re.compile(r"\bbet (\d+)"), "bet"),
    (re.compile(r"complete to (\d+)"), "complete"),
    (re.compile(r"\bcall (\d+)"), "call"),
)


def other_reading(alt: str) -> Json | None:
    """The other reading of an ambiguous case, from its sentence; None if the sentence is not understood."""
    text = _CITES.sub(" ", alt)
    want = _special(text)
    if want is not None:
        return want
    want = {}
    for pattern, action in _ACTS:
        found = pattern.search(text)
        if found:
            want = {"action": action, "to": int(found[1])}
            break
    else:
        if re.search(r"\bcheck\b", text):
            want = {"action": "check"}
        elif re.search(r"only call", text):
            want = {"action": "call"}
        elif found := re.search(r":\s*(\d+)\s*(?:\(|$)", text):
            want = {"to": int(found[1])}
    if want and (found := re.search(r"(\d+) back", text)):
        want["return"] = int(found[1])
    if want and (found := re.search(r"\badd (\d+)", text)):
        want["add"] = int(found[1])
    return want or None


def _special(text: str) -> Json | None:
    """Sentences that speak of a seat's rights rather than of the act."""
    if found := re.search(r"fold, call (\d+) or raise to (\d+)\+", text):
        return {"option": {"fold": True, "call_to": int(found[1]), "raise_min_to": int(found[2])}}
    if found := re.search(r"let (\S+) complete to (\d+)", text):
        return {"option": {"seat": found[1], "complete_to": int(found[2])}}
    if found := re.search(r"(\S+) may raise", text):
        return {"free": found[1]}
    if "ignore" in text:
        return {"action": "stands", "floor": False}
    return None


def matches(want: Json, got: Json) -> bool:
    """Whether a ruling is the reading that the sentence describes."""
    for key, value in want.items():
        if key == "option":
            if not any(all(o.get(k) == v for k, v in value.items()) for o in got.get("options", [])):
                return False
        elif key == "free":
            if value not in got.get("may_raise", []):
                return False
        elif not _same(value, got.get(key)):
            return False
    return True


def switched(profile: Profile) -> Iterator[tuple[str, str, Profile]]:
    """The profile with each of its switches turned to each other value, one at a time."""
    for setting in SETTINGS:
        now = getattr(profile, setting)
        for value in choices(setting):
            if value != now:
                yield setting, str(value), profile.with_values(**{setting: value})


def check_ambiguous(
    expected: Json, got: Json, profile: Profile, rule: Callable[[Profile], Json], setup: Json | None = None
) -> tuple[list[str], list[str]]:
    """Check both readings of an ambiguous case.

    One reading must be what the profile rules, the other what it rules with one named switch turned.  Of the other
    reading the case tells only a sentence; what that sentence says must be equal.  Returns the differences and the
    notes; one of these names the switch.
    """
    alt = str(expected.get("alt", ""))
    want = other_reading(alt)
    main, notes = differences(expected, got, setup)
    if want is None:
        return [*main, f"the other reading is not understood, so it is not checked: {alt!r}"], notes
    first = not main
    if not first and not matches(want, got):
        return [*main, f"nor is it the other reading: {alt!r}"], notes
    found: list[str] = []
    for setting, value, other in switched(profile):
        turned = rule(other)
        if matches(want, turned) and not matches(want, got) if first else not differences(expected, turned, setup)[0]:
            found.append(f"{setting} = {getattr(profile, setting)} | {value}")
    if found:
        return [], [*notes, f"both readings hold: {'; '.join(found)}"]
    return [f"no switch of the profile gives the other reading: {alt!r}"], notes
