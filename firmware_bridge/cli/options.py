"""``bridge options DRIVER``: what can stand in a device's ``options``, told by the driver's own type."""

from __future__ import annotations

import ast
import inspect
import textwrap
import typing
from typing import Any, Literal

import click
import msgspec

from firmware_bridge.cli.text import wrapped
from firmware_bridge.drivers.registry import driver_names, options_type
from firmware_bridge.session.asking import PolledOptions

REQUIRED = "must be given"


class Option(msgspec.Struct, frozen=True):
    """One option: its values and its default in TOML's words (or `REQUIRED`), and what it means."""

    name: str
    values: str
    default: str
    means: str


@click.command()
@click.argument("driver", required=False)
def options(driver: str | None) -> None:
    """List the options of a DRIVER: name, default, values and meaning. Without one, the drivers."""
    if driver is None:
        for name in driver_names():
            click.echo(name)
        return
    kind = options_type(driver)
    if kind is None:
        click.echo(f"'{driver}' is an added driver that does not tell its options; see its package.")
        return
    click.secho(f'[[device]] with driver = "{driver}"', bold=True)
    for option in options_of(kind):
        default = option.default if option.default == REQUIRED else f"default {option.default}"
        click.secho(f"  {option.name}", fg="cyan", nl=False)
        click.echo(f"  {option.values}, {default}")
        click.echo(wrapped(option.means or "(its type has no text for it)", first="      ", indent=6))
    click.echo(
        wrapped("Written as options = { name = value, … } in table.toml, as -o name=value for 'tabled-bridge dump'.")
    )


def options_of(kind: type[msgspec.Struct]) -> list[Option]:
    """Options of a type, in its order.  A text of its own wins over the one that all asked readers share."""
    texts = _texts(PolledOptions) | _texts(kind)
    hints = typing.get_type_hints(kind)
    found = []
    for field in msgspec.structs.fields(kind):
        default = REQUIRED if field.required else _toml(_default(field))
        found.append(Option(field.encode_name, _values(hints[field.name]), default, texts.get(field.name, "")))
    return found


def _default(field: msgspec.structs.FieldInfo) -> Any:
    return field.default if field.default is not msgspec.NODEFAULT else field.default_factory()


def _texts(kind: type[Any]) -> dict[str, str]:
    """Docstrings of fields and properties, which Python itself does not keep."""
    try:
        source = textwrap.dedent(inspect.getsource(kind))
    except (OSError, TypeError):
        return {}
    (body,) = [node.body for node in ast.parse(source).body if isinstance(node, ast.ClassDef)]
    found: dict[str, str] = {}
    for node, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.FunctionDef):
            text = ast.get_docstring(node)
            if text:
                found[node.name] = " ".join(text.split())
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and isinstance(after, ast.Expr):
            constant = after.value
            if isinstance(constant, ast.Constant) and isinstance(constant.value, str):
                found[node.target.id] = " ".join(constant.value.split())
    return {name: text.replace("``", "'") for name, text in found.items()}


def _values(kind: Any) -> str:
    """A type in TOML's words."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is Literal:
        return " or ".join(_toml(value) for value in arguments)
    if type(None) in arguments:
        return _values(next(a for a in arguments if a is not type(None)))
    words = {bool: "true or false", int: "a whole number", str: "text", float: "a number"}
    if kind in words:
        return words[kind]
    if origin in (tuple, list):
        return "a list"
    return "a table" if origin is dict else "a value"


def _toml(value: Any) -> str:
    if value is None:
        return "none given"
    if isinstance(value, tuple):
        value = list(value)
    return msgspec.json.encode(value).decode() if not isinstance(value, bool) else str(value).lower()
