"""Profiles from files: the room's own TOML or one that comes with the product, with inheritance resolved."""

from __future__ import annotations

import sys
from importlib import resources
from pathlib import Path

import click

from tabled.rules.profile import SETTINGS, Profile, ProfileError, parse

MAX_BYTES = 1 << 16
MAX_DEPTH = 8


def names() -> tuple[str, ...]:
    """Names of the profiles that come with the product."""
    files = resources.files("tabled.rules") / "profiles"
    return tuple(sorted(f.name.removesuffix(".toml") for f in files.iterdir() if f.name.endswith(".toml")))


def _find(name: str, beside: Path | None) -> tuple[str, str, Path | None]:
    """Text, label and folder of a profile given by name or by path."""
    if name.endswith(".toml") or "/" in name:
        path = Path(name)
        if not path.is_absolute() and beside is not None and not path.exists():
            path = beside / name
        try:
            raw = path.read_bytes()
        except OSError as e:
            raise ProfileError(f"{path}: cannot read the profile ({e.strerror}); give a readable .toml file") from None
        if len(raw) > MAX_BYTES:
            raise ProfileError(f"{path}: {len(raw)} bytes is no profile; at most {MAX_BYTES} are read")
        try:
            return raw.decode("utf-8"), str(path), path.parent
        except UnicodeDecodeError:
            raise ProfileError(f"{path}: not UTF-8 text; save it as UTF-8") from None
    if name not in names():
        known = ", ".join(names())
        raise ProfileError(f"no profile is called {name!r}; choose one of {known}, or give the path of a .toml file")
    file = resources.files("tabled.rules") / "profiles" / f"{name}.toml"
    return file.read_text("utf-8"), f"{name}.toml", None


def load(name: str | Path) -> Profile:
    """Load a profile by name or path, and the profiles it inherits.  Raises ProfileError, one line."""
    return _load(str(name), None, ())


def _load(name: str, beside: Path | None, chain: tuple[str, ...]) -> Profile:
    text, where, folder = _find(name, beside)
    if where in chain or len(chain) >= MAX_DEPTH:
        raise ProfileError(f"{where}: inherits in a circle: {' -> '.join((*chain, where))}")
    parent = _inherits(text)
    base = _load(parent, folder, (*chain, where)) if parent else None
    return parse(text, base, where)


def _inherits(text: str) -> str:
    import tomllib  # noqa: PLC0415 - parse() reports a broken file with its name

    try:
        return str(tomllib.loads(text).get("inherits", ""))
    except tomllib.TOMLDecodeError:
        return ""
