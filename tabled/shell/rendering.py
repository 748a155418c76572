"""The message catalogue and the origin, put together once into the pure renderer of outcomes."""

from __future__ import annotations

from tabled.core.entries import Started, decode
from tabled.journal import Entry
from tabled.model.outcome import AnyOutcome
from tabled.outlets.health import say
from tabled.outlets.messages import Outgoing, Wording, render
from tabled.outlets.topics import Origin
from tabled.outlets.wording import announce
from tabled.shell.engine import Renderer

WORDING = Wording(announce, say)


def renderer(origin: Origin) -> Renderer:
    """``(outcome, position, wall_ns) -> messages`` for one table's journal."""

    def rendered(outcome: AnyOutcome, position: int, wall_ns: int) -> tuple[Outgoing, ...]:
        return render(outcome, position, wall_ns, origin=origin, wording=WORDING)

    return rendered


def origin_of(first: Entry, epoch: str) -> Origin:
    """Whose journal this is, from its first entry.  Raises `ValueError` when that is no start of a daemon."""
    started = decode(first.body)
    if not isinstance(started, Started):
        # The type is right, the journal is not: the caller tells a person.
        raise ValueError(  # noqa: TRY004  it is the file's content that is wrong
            f"entry {first.pos} is not the start of a daemon; the journal is not whole"
        )
    return Origin(started.config.site, started.config.table, epoch)
