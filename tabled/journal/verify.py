"""Going over a whole journal: is every byte still what was written, and if not, which entry is the first?"""

from __future__ import annotations

import os

import msgspec

from tabled.journal.entry import Head
from tabled.journal.errors import JournalDamaged, damaged
from tabled.journal.reader import JournalReader


class Damage(msgspec.Struct, frozen=True):
    """The first bad entry (0: the header) and what is wrong with it."""

    pos: int
    reason: str
    advice: str


class VerifyReport(msgspec.Struct, frozen=True, kw_only=True):
    """What `verify` found.

    Entries 1 to ``sound`` are as they were written and still replay.  ``head`` is the newest position that the
    file claims (None: it does not say).  ``cursor_sound`` is False when the outbox's place is damaged: nothing is
    lost by that, but everything will be published once more.
    """

    path: str
    epoch: str | None
    sound: int
    head: int | None
    damage: Damage | None = None
    cursor_sound: bool = True

    @property
    def ok(self) -> bool:
        """True when nothing at all is wrong."""
        return self.damage is None and self.cursor_sound

    def line(self) -> str:
        """One line for a technician."""
        if self.damage is not None:
            return f"{self.damage.reason}. {self.damage.advice}"
        if not self.cursor_sound:
            return (
                f"{self.path}: all {self.sound} entries are sound, but the mark of what was published is damaged. "
                "Nothing is lost: the daemon publishes everything once more when it starts"
            )
        return f"{self.path}: all {self.sound} entries are sound"


def verify(path: str | os.PathLike[str]) -> VerifyReport:
    """Read every entry and check the chain, also while a daemon writes (then up to the newest entry at the start).

    Damage is in the report.  Raises as `JournalReader.open` for what is no journal, of a newer format or absent.
    """
    try:
        reader = JournalReader.open(path)
    except JournalDamaged as error:
        return VerifyReport(path=error.path, epoch=None, sound=0, head=None, damage=_damage(error))
    with reader:
        return _verified(reader)


def _verified(reader: JournalReader) -> VerifyReport:
    sound, head = 0, None
    damage = None
    try:
        # The rows first: entries that come in between are then past the head, never short of it.
        last = reader.last_position()
        head = reader.head().pos
        for entry in reader.read_as_written():
            sound = entry.pos
        if last > head:
            raise damaged(reader.path, head + 1, f"it stands beyond entry {head}, which was written last")
    except JournalDamaged as error:
        damage = _damage(error)
    return VerifyReport(
        path=reader.path, epoch=reader.epoch, sound=sound, head=head, damage=damage, cursor_sound=cursor_sound(reader)
    )


def cursor_sound(reader: JournalReader, cursor: Head | None = None) -> bool:
    """True when the outbox cursor names an entry by its right hash."""
    try:
        cursor = reader.cursor() if cursor is None else cursor
        return cursor.pos >= 0 and reader.hash_at(cursor.pos) == cursor.hash
    except JournalDamaged:
        return False


def _damage(error: JournalDamaged) -> Damage:
    return Damage(error.pos, error.reason, error.advice)
