"""Profiles from files: the room's own TOML or one that comes with the product, with inheritance resolved."""

from __future__ import annotations

import tomllib
from importlib import resources
from pathlib import Path
from typing import Any

import click

from tabled.rules.profile import SETTINGS, Profile, ProfileError, ReopenBy, allowed, parse, to_toml
from tabled.rules.settings import SETTINGS_EXPLAINED, Setting

__all__ = ["Profile", "ProfileError", "load", "names", "profile", "resolved"]

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
    """Load a profile by name or path, and the profiles it inherits.  Raises ProfileError, one line.

    A file that inherits and gives no name of its own goes by its file name, never by that of the law it changes.
    """
    return _load(str(name), None, ())


def _load(name: str, beside: Path | None, chain: tuple[str, ...]) -> Profile:
    text, where, folder = _find(name, beside)
    if where in chain or len(chain) >= MAX_DEPTH:
        raise ProfileError(f"{where}: inherits in a circle: {' -> '.join((*chain, where))}")
    given = _given(text)
    parent = str(given.get("inherits", ""))
    base = _load(parent, folder, (*chain, where)) if parent else None
    made = parse(text, base, where)
    own = {"name": Path(where).stem, "title": ""}
    return made.with_values(**{k: v for k, v in own.items() if k not in given}) if base is not None else made


def _given(text: str) -> dict[str, Any]:
    """What the file itself gives; nothing if it is no TOML, which :func:`parse` reports by name."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return {}


def resolved(name: str | Path) -> str:
    """The profile as one TOML text with nothing inherited: what the journal keeps and the pure parser reads."""
    return to_toml(load(name))


# ---- commands -----------------------------------------------------------------------------------------------------


@click.group()
def profile() -> None:
    """The betting laws a room can pick."""


def _loaded(name: str) -> Profile:
    try:
        return load(name)
    except ProfileError as e:
        raise click.ClickException(str(e)) from None


@profile.command("list")
def list_() -> None:
    """Name the profiles that come with the product."""
    for name in names():
        p = load(name)
        click.echo(f"{name:16} {p.hash}  {p.title}")


@profile.command()
@click.argument("name")
def show(name: str) -> None:
    """Explain every value of the profile NAME (a name or a .toml file) with its paragraph."""
    p = _loaded(name)
    click.echo(f"{_label(name, p)}{': ' if p.title else ''}{p.title}  [hash {p.hash}]")
    if p.inherits:
        click.echo(f"inherits {p.inherits}")
    for setting in SETTINGS:
        if setting == "cite":
            continue
        told = SETTINGS_EXPLAINED[setting]
        clauses = ", ".join(p.clauses(*told.topics))
        click.echo(f"\n{setting} = {_shown(getattr(p, setting))}" + (f"  ({clauses})" if clauses else ""))
        click.echo(f"    {told.about}")
        meaning = _meaning(told, getattr(p, setting))
        if meaning:
            click.echo(f"    Here: {meaning}.")
        others = [v for v in allowed(setting) if v != _shown(getattr(p, setting))]
        if told.values and others:
            click.echo(f"    Also possible: {', '.join(others)}.")


@profile.command()
@click.argument("one")
@click.argument("other")
def diff(one: str, other: str) -> None:
    """Print the settings in which the profiles ONE and OTHER differ, and what each value means."""
    a, b = _loaded(one), _loaded(other)
    different = [s for s in SETTINGS if s != "cite" and getattr(a, s) != getattr(b, s)]
    for setting in different:
        told = SETTINGS_EXPLAINED[setting]
        click.echo(f"{setting}: {told.about}")
        for label, p in ((_label(one, a), a), (_label(other, b), b)):
            value = getattr(p, setting)
            meaning = _meaning(told, value)
            clauses = ", ".join(p.clauses(*told.topics))
            text = f"    {label}: {_shown(value)}" + (f" - {meaning}" if meaning else "")
            click.echo(text + (f"  ({clauses})" if clauses else ""))
    if not different:
        click.echo(
            f"{_label(one, a)} and {_label(other, b)} have the same settings"
            + ("" if a.cite == b.cite else "; they cite differently")
        )


def _label(asked: str, p: Profile) -> str:
    """The name, and the file where the profile is one of the room's own."""
    return p.name if asked in names() else f"{p.name} ({Path(asked).name})"


def _shown(value: object) -> str:
    if isinstance(value, ReopenBy):
        return ", ".join(f"{k.replace('_', '-')} {getattr(value, k)}" for k in value.__struct_fields__)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "none"
    if isinstance(value, dict):
        return ", ".join(f"{k} {v}" for k, v in value.items()) or "none"
    return str(value)


def _meaning(told: Setting, value: object) -> str:
    return told.values.get(_shown(value), "")
