"""The calibration report: one HTML file with all figures and pictures, under the hash that every ruling carries.

It is made of the outcomes that the steps left (`calibration.outcomes`) and of the sections themselves, needs no network
and no script, and is written beside the calibration as ``report-<first 12 of the hash>.html``; older ones stay, for a
ruling of last week names last week's.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import Path

import msgspec

from calibration.files import write
from calibration.outcomes import FOLDER, Kept, KeptPicture, kept
from calibration.plan import steps
from calibration.steps import Figure, Step, StepError
from tabled.model.calibration import Calibration
from tabled.sensing import sections

MAX_PICTURE = 8 << 20
NAME_DIGITS = 12

_STYLE = """
:root { --ink: #1c2430; --faint: #5d6878; --line: #d9dee5; --good: #1b6e3c; --bad: #a4281c; --paper: #fff; }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2.5rem 1.5rem 4rem; max-width: 62rem; color: var(--ink); background: var(--paper);
       font: 16px/1.5 system-ui, "Segoe UI", Roboto, sans-serif; }
h1 { font-size: 1.9rem; margin: 0 0 .3rem; letter-spacing: -.01em; }
h2 { font-size: 1.25rem; margin: 0; }
p { margin: .4rem 0; }
code { font: .92em ui-monospace, monospace; overflow-wrap: anywhere; }
.faint { color: var(--faint); }
nav ul { display: grid; grid-template-columns: repeat(auto-fill, minmax(17rem, 1fr)); gap: .3rem 1.5rem; padding: 0;
         margin: 1.5rem 0 0; list-style: none; }
nav li { display: flex; gap: .6rem; align-items: baseline; border-bottom: 1px solid var(--line); padding: .25rem 0; }
nav a { color: inherit; }
.mark { font-size: .8rem; font-weight: 600; min-width: 5.2rem; }
header .mark { text-align: right; }
.good { color: var(--good); } .bad { color: var(--bad); }
section { border-top: 2px solid var(--ink); margin-top: 2.6rem; padding-top: .8rem; break-inside: avoid-page; }
section > header { display: flex; justify-content: space-between; gap: 1rem; align-items: baseline; }
table { border-collapse: collapse; width: 100%; margin: .8rem 0; font-variant-numeric: tabular-nums; }
td { padding: .28rem .5rem .28rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td:last-child { text-align: right; padding-right: 0; }
ul.warnings { margin: .6rem 0; padding-left: 1.1rem; } ul.warnings li { margin: .25rem 0; }
.pictures { display: flex; flex-wrap: wrap; gap: 1.2rem; }
figure { margin: .6rem 0; max-width: 100%; } img { max-width: 100%; height: auto; border: 1px solid var(--line); }
figcaption { font-size: .88rem; color: var(--faint); margin-top: .2rem; }
@media print { body { padding: 0; } section { margin-top: 1.6rem; } }
"""


def path_of(folder: Path, digest: str) -> Path:
    """Where the report of a calibration with this hash is."""
    return folder / f"report-{digest[:NAME_DIGITS]}.html"


def save(folder: Path, wall_ns: int) -> Path:
    """Write the report of what ``folder`` holds now; its path.

    Raises `CalibrationError` for sections that cannot be read, `FilesError` for a disk that takes nothing, and
    `StepError` where nothing was measured.
    """
    found = sections.load(folder)
    if not found.digest:
        raise StepError(f"{folder}: nothing was measured yet, so there is nothing to report", code="nothing")
    path = path_of(folder, found.digest)
    write(path, page(folder, found, wall_ns).encode(), keep=False)
    return path


def page(folder: Path, found: Calibration, wall_ns: int) -> str:
    """The report as HTML."""
    when = datetime.fromtimestamp(wall_ns / 1e9, UTC).strftime("%Y-%m-%d %H:%M UTC")
    parts = [(step, kept(folder, step.name)) for step in steps()]
    body = "\n".join(_section(folder, found, step, outcome) for step, outcome in parts)
    digest = found.digest or "nothing was measured"
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Calibration {escape(digest[:NAME_DIGITS])}</title><style>{_STYLE}</style></head><body>
<h1>Calibration of this table</h1>
<p class="faint">Report of {when}. Every ruling made with this calibration carries its hash:</p>
<p><code>{escape(digest)}</code></p>
<nav><ul>{"".join(_line(found, step, outcome) for step, outcome in parts)}</ul></nav>
{body}
</body></html>
"""


def _state(found: Calibration, step: Step, outcome: Kept | None) -> tuple[str, str]:
    """A word and its class: measured, look (something is not as it should be), old, not done."""
    measured = _value(found, step) is not None or (outcome is not None and step.name not in sections.STEPS.values())
    if not measured:
        return ("not done", "bad" if step.required else "faint")
    if outcome is None:
        return ("no figures", "faint")
    if outcome.warnings or any(figure.good is False for figure in outcome.figures):
        return ("look", "bad")
    return ("measured", "good")


def _value(found: Calibration, step: Step) -> object:
    section = next((name for name, of in sections.STEPS.items() if of == step.name), None)
    return getattr(found, section) if section is not None else None


def _line(found: Calibration, step: Step, outcome: Kept | None) -> str:
    word, look = _state(found, step, outcome)
    return f'<li><span class="mark {look}">{word}</span><a href="#{escape(step.name)}">{escape(step.title)}</a></li>'


def _section(folder: Path, found: Calibration, step: Step, outcome: Kept | None) -> str:
    word, look = _state(found, step, outcome)
    inside = [f"<p>{escape(outcome.summary)}</p>"] if outcome is not None else []
    if word == "not done":
        inside = [f"<p class='faint'>Not measured. <code>tabled calibrate {escape(step.name)}</code></p>"]
    elif outcome is not None:
        inside += [_warnings(outcome.warnings), _figures(outcome.figures), _pictures(folder, outcome.pictures)]
    return (
        f'<section id="{escape(step.name)}"><header><h2>{escape(step.title)}</h2>'
        f'<span class="mark {look}">{word}</span></header>{"".join(inside)}{_raw(found, step)}</section>'
    )


def _warnings(warnings: Sequence[str]) -> str:
    if not warnings:
        return ""
    return '<ul class="warnings">' + "".join(f'<li class="bad">{escape(text)}</li>' for text in warnings) + "</ul>"


def _figures(figures: Iterable[Figure]) -> str:
    rows = [
        f"<tr><td>{escape(one.label)}</td><td class='{_look(one)}'>{escape(one.value)}</td></tr>" for one in figures
    ]
    return f"<table>{''.join(rows)}</table>" if rows else ""


def _look(figure: Figure) -> str:
    return "" if figure.good is None else "good" if figure.good else "bad"


def _pictures(folder: Path, pictures: Sequence[KeptPicture]) -> str:
    shown = []
    for picture in pictures:
        try:
            with (folder / FOLDER / Path(picture.file).name).open("rb") as file:
                raw = file.read(MAX_PICTURE)
        except OSError:
            shown.append(f"<p class='bad'>{escape(picture.caption)}: its picture is gone; repeat the step</p>")
            continue
        data = base64.b64encode(raw).decode("ascii")
        says = escape(picture.caption)
        shown.append(
            f'<figure><img alt="{says}" src="data:image/png;base64,{data}"><figcaption>{says}</figcaption></figure>'
        )
    return f'<div class="pictures">{"".join(shown)}</div>' if shown else ""


def _raw(found: Calibration, step: Step) -> str:
    """The section as it stands in its file, without what is long."""
    value = _value(found, step)
    if not isinstance(value, msgspec.Struct):
        return ""
    plain = {key: part for key, part in msgspec.to_builtins(value).items() if not isinstance(part, list | tuple | dict)}
    if not plain:
        return ""
    listed = ", ".join(f"{escape(key)} {escape(str(part))}" for key, part in plain.items())
    return f"<p class='faint'><code>{listed}</code></p>"
