"""``tabled profile``: every value of a betting law, what it means, whose it is, and the paragraph behind it."""

from __future__ import annotations

from pathlib import Path

import click

from tabled.rules.profile import SETTINGS, Profile, ProfileError, ReopenBy, allowed, house_rule, must_be
from tabled.rules.profile_check import inert
from tabled.rules.settings import SETTINGS_EXPLAINED, Setting
from tabled.rules.topics import TOPICS
from tabled.shell.profiles import Layer, layers, load, names

SILENT = "no paragraph: the text is silent, this is the house's reading"
OF_ROOM = "the room's own choice: no law speaks of it"


@click.group()
def profile() -> None:
    """The betting laws a room can pick."""


def _layers(name: str) -> tuple[Layer, ...]:
    try:
        return layers(name)
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
    """Explain every value of the profile NAME (a name or a .toml file) with its paragraph, and say whose it is."""
    chain = _layers(name)
    p = chain[0].profile
    click.echo(f"{_label(name, p)}{': ' if p.title else ''}{p.title}  [hash {p.hash}]")
    if p.inherits:
        click.echo(f"inherits {p.inherits}")
    without = inert(p)
    for setting in SETTINGS:
        if setting == "cite":
            continue
        told, value = SETTINGS_EXPLAINED[setting], getattr(p, setting)
        owner = setter(setting, chain).profile.name
        click.echo(f"\n{setting} = {shown(value)}  ({authority(setting, chain)})  [{_whose(owner, p)}]")
        click.echo(f"    {told.about}")
        if meaning := _meaning(told, value):
            click.echo(f"    Here: {meaning}.")
        if setting in without:
            click.echo(f"    No effect here: {without[setting]}.")
        if told.outside:
            click.echo(f"    {told.outside}")
        others = [v or '""' for v in allowed(setting) if v != value and v != shown(value)]
        if told.values and others:
            click.echo(f"    Also possible: {', '.join(others)}.")
        elif not told.values:
            click.echo(f"    It must be {must_be(setting)}.")
    own = [t for t in chain[0].given.get("cite", {}) if chain[0].house]
    if own:
        click.echo(f"\n[cite] own: {', '.join(own)}")


def _whose(owner: str, p: Profile) -> str:
    return "own" if owner == p.name else f"from {owner}"


@profile.command()
@click.argument("name", required=False, default="tda-2024")
def topics(name: str) -> None:
    """List the topics of [cite], what each is about, and the paragraphs that the profile NAME gives for it."""
    p = _layers(name)[0].profile
    for topic, about in TOPICS.items():
        clauses = ", ".join(p.clauses(topic))
        click.echo(f"{topic:22} {about}" + (f"  ({clauses})" if clauses else ""))


@profile.command()
@click.argument("one")
@click.argument("other")
def diff(one: str, other: str) -> None:
    """Print the settings in which the profiles ONE and OTHER differ, and what each value means."""
    left, right = _layers(one), _layers(other)
    a, b = left[0].profile, right[0].profile
    different = [s for s in SETTINGS if s != "cite" and getattr(a, s) != getattr(b, s)]
    for setting in different:
        told = SETTINGS_EXPLAINED[setting]
        click.echo(f"{setting}: {told.about}")
        for label, chain in ((_label(one, a), left), (_label(other, b), right)):
            value = getattr(chain[0].profile, setting)
            meaning = _meaning(told, value)
            text = f"    {label}: {shown(value)}" + (f" - {meaning}" if meaning else "")
            click.echo(f"{text}  ({authority(setting, chain)})")
    if not different:
        click.echo(
            f"{_label(one, a)} and {_label(other, b)} have the same settings"
            + ("" if a.cite == b.cite else "; they cite differently")
        )


def setter(setting: str, chain: tuple[Layer, ...]) -> Layer:
    """The file that the value is from: the nearest that gives it, unless a room only repeats what it inherits."""
    for layer, parent in zip(chain, (*chain[1:], None), strict=True):
        if setting not in layer.given:
            continue
        same = parent is not None and getattr(parent.profile, setting) == getattr(layer.profile, setting)
        if not (layer.house and same):
            return layer
    return chain[-1]


def authority(setting: str, chain: tuple[Layer, ...]) -> str:
    """The paragraphs behind a value, with their law where it is another one; or that there are none."""
    told, p = SETTINGS_EXPLAINED[setting], chain[0].profile
    topics = told.paragraphs(_key(getattr(p, setting)))
    owner = setter(setting, chain)
    if owner.house:
        own = [c for t in topics for c in owner.given.get("cite", {}).get(t, ())]
        return ", ".join(dict.fromkeys(own)) or house_rule(owner.profile.name)
    if told.of_room:
        return OF_ROOM
    found: dict[str, str] = {}
    for topic in topics:
        source = next((x for x in chain if topic in x.given.get("cite", {})), chain[-1])
        for clause in p.clauses(topic):
            found.setdefault(clause, "" if source.profile.law == p.law else source.profile.name)
    own = [c for c, source in found.items() if not source]
    if own or not found:
        return ", ".join(own) or SILENT
    return f"{', '.join(found)}: {p.law} is silent, so {next(iter(found.values()))} holds"


def _label(asked: str, p: Profile) -> str:
    """The name, and the file where the profile is one of the room's own."""
    return p.name if asked in names() else f"{p.name} ({Path(asked).name})"


def shown(value: object) -> str:
    """A value as text; an empty word is shown as one."""
    return _key(value) or '""'


def _key(value: object) -> str:
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
    return told.values.get(_key(value), "")
