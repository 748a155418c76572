"""The ``antennas`` and ``neighbours`` lines of a ``table.toml``: as text to paste, or put into the file in place.

Only those two keys change; everything else, comments included, stays byte for byte.  The result is parsed and compared
before it is taken, so a file that is written in an unusual way is refused and not spoilt.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from calibration.looks import Spot

Pairs = Sequence[tuple[str, str]]


class Unpatchable(ValueError):
    """The file is written in a way that this cannot change safely; paste the lines by hand."""


def antennas_line(antennas: Mapping[int, str]) -> str:
    """``antennas = { 1 = "bet:1", … }``."""
    inside = ", ".join(f'{n} = "{place}"' for n, place in sorted(antennas.items()))
    return f"antennas = {{ {inside} }}"


def neighbours_line(pairs: Pairs) -> str:
    """``neighbours = [["bet:1", "bet:2"], …]``."""
    return "neighbours = [" + ", ".join(f'["{a}", "{b}"]' for a, b in pairs) + "]"


def by_device(mapping: Mapping[Spot, str]) -> dict[str, dict[int, str]]:
    """Antennas of each reader."""
    found: dict[str, dict[int, str]] = {}
    for (device, antenna), place in sorted(mapping.items()):
        found.setdefault(device, {})[antenna] = place
    return found


def to_paste(mapping: Mapping[Spot, str], pairs: Pairs | None) -> str:
    """The lines for a person, each under the table it belongs to."""
    lines = []
    if pairs is not None:
        lines += ["[table]", neighbours_line(pairs), ""]
    for device, antennas in by_device(mapping).items():
        lines += [f'[[device]]  # the one with id = "{device}"', antennas_line(antennas), ""]
    return "\n".join(lines).rstrip()


def patched(text: str, mapping: Mapping[Spot, str], pairs: Pairs | None) -> str:
    """``text`` with these antennas and neighbours (None: as they are); raises `Unpatchable`."""
    wanted = _wanted(text, mapping, pairs)
    out = text
    for device, antennas in by_device(mapping).items():
        out = _set_device(out, device, antennas_line(antennas))
    if pairs is not None:
        out = _set_neighbours(out, neighbours_line(pairs))
    try:
        found = tomllib.loads(out)
    except tomllib.TOMLDecodeError as problem:
        raise Unpatchable(f"the antennas are written in a way that cannot be changed safely ({problem})") from problem
    if found != wanted:
        raise Unpatchable("the antennas are written in a way that cannot be changed safely")
    return out


def _wanted(text: str, mapping: Mapping[Spot, str], pairs: Pairs | None) -> dict[str, Any]:
    tree = tomllib.loads(text)
    for device in tree.get("device", []):
        antennas = by_device(mapping).get(device.get("id", ""))
        if antennas is not None:
            device["antennas"] = {str(n): place for n, place in antennas.items()}
    if pairs is not None:
        tree.setdefault("table", {})["neighbours"] = [list(pair) for pair in pairs]
    return tree


_HEAD = re.compile(r"^[ \t]*\[{1,2}[\w.\-\"' ]+\]{1,2}[ \t]*(?:#.*)?$", re.MULTILINE)
_ANTENNAS = re.compile(r"^[ \t]*antennas[ \t]*=[ \t]*\{[^{}\n]*\}", re.MULTILINE)
_NEIGHBOURS = re.compile(r"^[ \t]*neighbours[ \t]*=[ \t]*\[(?:[^\[\]#]|\[[^\[\]#]*\])*\]", re.MULTILINE)


def _part(text: str, head: str, holds: str = "") -> tuple[int, int]:
    """Where the table called ``head`` begins and ends, of several the one with a line that matches ``holds``."""
    for found in re.finditer(rf"^[ \t]*{re.escape(head)}[ \t]*(#.*)?$", text, re.MULTILINE):
        after = next((head.start() for head in _HEAD.finditer(text, found.end())), len(text))
        if re.search(holds, text[found.end() : after], re.MULTILINE):
            return found.end(), after
    raise Unpatchable(f"no part {head} was found")


def _set_device(text: str, device: str, line: str) -> str:
    start, end = _part(text, "[[device]]", rf"^[ \t]*id[ \t]*=[ \t]*[\"']{re.escape(device)}[\"']")
    return _put(text, start, end, _ANTENNAS, line)


def _set_neighbours(text: str, line: str) -> str:
    try:
        start, end = _part(text, "[table]")
    except Unpatchable:
        return f"[table]\n{line}\n\n{text}"
    return _put(text, start, end, _NEIGHBOURS, line)


def _put(text: str, start: int, end: int, old: re.Pattern[str], line: str) -> str:
    found = old.search(text, start, end)
    if found:
        return text[: found.start()] + line + text[found.end() :]
    return text[:start] + "\n" + line + text[start:]
