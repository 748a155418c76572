"""Comparing a ruling with what a case expects, and an ambiguous case's other reading with the profile's switches."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from tabled.rules.profile import SETTINGS, Profile, choices

Json = dict[str, Any]
_NOT_COMPARED = frozenset({"announce", "cite", "ambiguous", "alt", "next"})
_AS_SETS = frozenset({"return_chips", "skipped", "hold"})


def differences(expected: Json, got: Json) -> tuple[list[str], list[str]]:
    """Differences of a case's ruling from ``expected``, and notes on what the case does not say.

    Announcements and citations are guides and are not compared.  ``may_raise`` is compared over the seats that
    the case names: a seat that has acted already and that no list of the case mentions is reported as a note.
    """
    wrong: list[str] = []
    notes: list[str] = []
    for key, want in expected.items():
        have = got.get(key)
        if key in _NOT_COMPARED:
            continue
        if key == "may_raise":
            missing, extra = _rights(expected, got)
            wrong += [f"may_raise: {s} may raise by the case" for s in missing]
            for seat in extra:
                named = seat in _named(expected) or not want
                (wrong if named else notes).append(f"may_raise: {seat} may raise too; the case does not name it")
        elif key == "may_not_raise" or key in _AS_SETS:
            if sorted(map(str, want)) != sorted(map(str, have or [])):
                wrong.append(_line(key, want, have or []))
        elif key == "options":
            wrong += [_line("options", o, got.get("options")) for o in want if o not in got.get("options", [])]
        elif key == "candidates":
            if sorted(map(str, want)) != sorted(map(str, have or [])):
                wrong.append(_line(key, want, have))
        elif have != want:
            wrong.append(_line(key, want, have))
    return wrong, notes


def _line(key: str, want: object, have: object) -> str:
    return f"{key}: expected {want!r}, ruled {have!r}"


def _rights(expected: Json, got: Json) -> tuple[list[str], list[str]]:
    want, have = expected["may_raise"], got.get("may_raise", [])
    return [s for s in want if s not in have], [s for s in have if s not in want]


def _named(expected: Json) -> set[str]:
    named = set(expected.get("may_raise", [])) | set(expected.get("may_not_raise", []))
    return named | {str(o.get("seat")) for o in expected.get("options", [])}


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
        elif got.get(key) != value and not (key == "to" and value == 0):
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
    expected: Json, got: Json, profile: Profile, rule: Callable[[Profile], Json]
) -> tuple[list[str], str]:
    """Check both readings of an ambiguous case.

    One reading must be what the profile rules, the other what it rules with one named switch turned.  Returns
    the differences and, if there are none, a note that names the switch.
    """
    alt = str(expected.get("alt", ""))
    want = other_reading(alt)
    main, _ = differences(expected, got)
    if want is None:
        return [*main, f"the other reading is not understood, so it is not checked: {alt!r}"], ""
    first = not main
    if not first and not matches(want, got):
        return [*main, f"nor is it the other reading: {alt!r}"], ""
    found: list[str] = []
    for setting, value, other in switched(profile):
        turned = rule(other)
        if matches(want, turned) and not matches(want, got) if first else not differences(expected, turned)[0]:
            found.append(f"{setting} = {getattr(profile, setting)} | {value}")
    if found:
        return [], f"both readings hold: {'; '.join(found)}"
    return [f"no switch of the profile gives the other reading: {alt!r}"], ""
