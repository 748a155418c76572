"""Loading the catalogues and filling in the gaps."""

from __future__ import annotations

import string
import tomllib
from functools import lru_cache
from importlib import resources

from tabled.model.ruling import Reason, Ruling

LANGUAGES = ("en", "sv", "nl")


class UnknownCode(KeyError):
    """No sentence for this code, or a parameter is missing: add it to each of en.toml, sv.toml and nl.toml."""

    def __str__(self) -> str:
        return str(self.args[0])


@lru_cache(maxsize=len(LANGUAGES))
def _catalogue(lang: str) -> dict[str, str]:
    if lang not in LANGUAGES:
        raise UnknownCode(f"no catalogue for language {lang!r}; there are {', '.join(LANGUAGES)}")
    text = (resources.files("tabled.outlets.wording") / f"{lang}.toml").read_text("utf-8")
    flat: dict[str, str] = {}
    for key, value in tomllib.loads(text).items():
        if isinstance(value, dict):
            flat.update(value)
        else:
            flat[key] = value
    return flat


def codes(lang: str) -> frozenset[str]:
    """All codes of one catalogue."""
    return frozenset(_catalogue(lang))


def gaps(lang: str, code: str) -> frozenset[str]:
    """Names of the parameters that a sentence needs."""
    return frozenset(name for _, name, _, _ in string.Formatter().parse(_catalogue(lang)[code]) if name)


def say(reason: Reason, lang: str) -> str:
    """The sentence for a reason.  Raises UnknownCode if the catalogue lacks the code or the reason a parameter."""
    return _fill(reason.code, reason.params, lang)


def _fill(code: str, params: dict[str, int | str], lang: str) -> str:
    sentence = _catalogue(lang).get(code)
    if sentence is None:
        raise UnknownCode(f"no sentence for code {code!r} in {lang}.toml; add it to en.toml, sv.toml and nl.toml")
    try:
        return sentence.format_map(params)
    except KeyError as e:
        raise UnknownCode(
            f"code {code!r} ({lang}) needs the parameter {e.args[0]!r}; it has {sorted(params)}"
        ) from None


def spoken(reason: Reason, lang: str) -> str:
    """As :func:`say`; where the catalogue has a hole, the code and its parameters, so that a ruling is never lost."""
    try:
        return say(reason, lang)
    except UnknownCode:
        params = ", ".join(f"{k} {v}" for k, v in sorted(reason.params.items()))
        return f"{reason.code} ({params})" if params else reason.code


def announce(ruling: Ruling) -> dict[str, str]:
    """What the dealer says, in every language: the ruling, then the chips to move, then why the floor is wanted.

    A code without a sentence is said as it is (:func:`spoken`): better than no ruling, and a test finds the hole.
    """
    return {lang: _announce(ruling, lang) for lang in LANGUAGES}


def _announce(ruling: Ruling, lang: str) -> str:
    parts = [spoken(Reason(ruling.reason.code, {"seat": ruling.seat, **ruling.reason.params}), lang)]
    if ruling.add:
        parts.append(_fill("part_add", {"add": ruling.add}, lang))
    if ruling.back:
        parts.append(_fill("part_back", {"back": ruling.back}, lang))
    for other in ruling.adjust:
        code = "part_adjust" if other.add > 0 else "part_adjust_back"
        parts.append(_fill(code, {"seat": other.seat, "add": abs(other.add)}, lang))
    if ruling.floor_reason is not None:
        parts.append(spoken(ruling.floor_reason, lang))
    return " ".join(p for p in parts if p)
