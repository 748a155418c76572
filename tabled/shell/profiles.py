"""Profiles from files: the room's own TOML or one that comes with the product, with inheritance resolved."""

from __future__ import annotations

import os
import stat
import tomllib
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from tabled.rules.profile import SETTINGS, Profile, ProfileError, parse, to_toml
from tabled.rules.profile_check import did_you_mean, verify

__all__ = ["Layer", "Profile", "ProfileError", "layers", "load", "names", "resolved"]

MAX_BYTES = 1 << 16
MAX_DEPTH = 8


def names() -> tuple[str, ...]:
    """Names of the profiles that come with the product."""
    files = resources.files("tabled.rules") / "profiles"
    return tuple(sorted(f.name.removesuffix(".toml") for f in files.iterdir() if f.name.endswith(".toml")))


def _find(name: str, beside: Path | None) -> tuple[str, str, Path | None]:
    """Text, label and folder of a profile given by name or by path."""
    if _is_path(name):
        path = Path(name)
        if not path.is_absolute() and beside is not None and not path.exists():
            path = beside / name
        try:
            return _bytes(path).decode("utf-8"), str(path), path.parent
        except (OSError, ValueError) as e:
            if isinstance(e, UnicodeDecodeError):
                raise ProfileError(f"{path}: not UTF-8 text; save it as UTF-8") from None
            why = getattr(e, "strerror", None) or str(e)
            raise ProfileError(f"{path}: cannot read the profile ({why}); give a readable .toml file") from None
    if name not in names():
        known, hint = ", ".join(names()), did_you_mean(name, names())
        raise ProfileError(
            f"no profile is called {name!r}{hint}; choose one of {known}, or give the path of a .toml file"
        )
    file = resources.files("tabled.rules") / "profiles" / f"{name}.toml"
    return file.read_text("utf-8"), f"{name}.toml", None


def _bytes(path: Path) -> bytes:
    """The bytes of a plain file of a profile's size.  A device or a pipe may have no end, so they are not read."""
    # Not to wait on a pipe: what it is can only be asked of what was opened.
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as f:
        if not stat.S_ISREG(os.fstat(f.fileno()).st_mode):
            raise ValueError("it is no plain file")
        raw = f.read(MAX_BYTES + 1)
    if len(raw) > MAX_BYTES:
        raise ValueError(f"it has over {MAX_BYTES} bytes")
    return raw


def load(name: str | Path) -> Profile:
    """Load a profile by name or path, and the profiles it inherits.  Raises ProfileError, one line.

    A file that inherits and gives no name of its own goes by its file name, never by that of the law it changes.
    """
    return _load(str(name), None, ())


def _load(name: str, beside: Path | None, chain: tuple[str, ...]) -> Profile:
    text, where, folder = _find(name, beside)
    if where in chain:
        raise ProfileError(f"{where}: inherits in a circle: {' -> '.join((*chain, where))}")
    if len(chain) >= MAX_DEPTH:
        raise ProfileError(f"{where}: inherits over more than {MAX_DEPTH} files: {' -> '.join((*chain, where))}")
    given = _given(text)
    parent = str(given.get("inherits", ""))
    base = _parent(parent, folder, where, chain) if parent else None
    if folder is None:
        return parse(text, base, where)
    missing = set(SETTINGS) - set(given)
    if base is None and given and missing:
        raise ProfileError(
            f'{where}: give inherits = "tda-2024" or another law, or every setting; '
            f"it lacks {', '.join(sorted(missing)[:5])}…"
        )
    made = parse(text, base, where, house=Path(where).stem)
    if made.name in names():
        raise ProfileError(f'{where}: {made.name!r} is a law that comes with tabled; give the room\'s own name = "…"')
    verify(made, given, where)
    return made


def _parent(parent: str, folder: Path | None, where: str, chain: tuple[str, ...]) -> Profile:
    """The profile that a file inherits; what is wrong with the name is said of the file that gives it."""
    if not _is_path(parent) and parent not in names():
        hint = did_you_mean(parent, names())
        raise ProfileError(
            f"{where}: inherits = {parent!r} is no profile{hint}; "
            f"choose one of {', '.join(names())}, or give a .toml file"
        )
    return _load(parent, folder, (*chain, where))


def _is_path(name: str) -> bool:
    return name.endswith(".toml") or "/" in name


def _given(text: str) -> dict[str, Any]:
    """What the file itself gives; nothing if it is no TOML, which :func:`parse` reports by name."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


class Layer(NamedTuple):
    """One file of a profile's inheritance: what it says itself, and the law up to it."""

    profile: Profile
    given: dict[str, Any]
    house: bool


def layers(name: str | Path) -> tuple[Layer, ...]:
    """The files behind a profile, the asked one first.  Raises ProfileError."""
    found: list[Layer] = []
    asked, beside = str(name), None
    while asked:
        made = _load(asked, beside, ())
        text, _, folder = _find(asked, beside)
        found.append(Layer(made, _given(text), folder is not None))
        asked, beside = made.inherits if "inherits" in found[-1].given else "", folder
    return tuple(found)


def resolved(name: str | Path) -> str:
    """The profile as one TOML text with nothing inherited: what the journal keeps and the pure parser reads."""
    return to_toml(load(name))
