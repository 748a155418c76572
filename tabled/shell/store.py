"""The outbox's view of the journal: one journalled payload is the bundle of an outcome's messages."""

from __future__ import annotations

from tabled.journal import Journal
from tabled.outlets.messages import Outgoing
from tabled.shell.engine import unpack


class JournalStore:
    """`tabled.outlets.outbox.OutboxStore` over a journal.  Any thread."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def pending(self, after: int, limit: int) -> list[Outgoing]:
        """Messages behind ``after``, whole positions only; an outcome makes at most two."""
        rows = self._journal.pending(after, max(1, limit // 2))
        return [message for row in rows for message in unpack(row.position, row.payload)]

    def cursor(self) -> int:
        """Position up to which the broker has acknowledged everything."""
        return self._journal.cursor()

    def advance(self, position: int) -> None:
        """Everything up to ``position`` has been acknowledged."""
        self._journal.advance(position)
