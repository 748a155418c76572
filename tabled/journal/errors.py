"""What can go wrong with a journal.  Each error says what the technician or the dealer does next."""

from __future__ import annotations


class JournalError(Exception):
    """Base of all journal errors: ``reason`` is what happened, ``advice`` the next step of a human."""

    def __init__(self, reason: str, advice: str) -> None:
        self.reason = reason
        self.advice = advice
        super().__init__(f"{reason}. {advice}")


class JournalMissing(JournalError):
    """There is no file at the path, or a part of it is missing."""


class NotAJournal(JournalError):
    """The file at the path was not made by this program."""


class JournalTooNew(JournalError):
    """The file, or an entry in it, was written by a newer version of this program."""


class JournalBusy(JournalError):
    """Another daemon writes this journal now."""


class JournalUnwritable(JournalError):
    """The disk is full, read-only or broken.  Nothing of the batch was kept; a later append may succeed."""


class JournalClosed(JournalError):
    """The journal was used after ``close()``: a fault of the program."""


class DraftRefused(JournalError, ValueError):
    """A draft that may not stand in a journal (unknown kind, over a cap).  Nothing of its batch was kept."""


class BodyUnreadable(JournalError, ValueError):
    """The bytes of a sound entry do not decode as what its kind says they are."""


class JournalDamaged(JournalError):
    """The file does not hold what was written.  ``pos`` is the first bad entry (0: the file's header)."""

    def __init__(self, path: str, pos: int, reason: str, advice: str) -> None:
        self.path = path
        self.pos = pos
        where = f"entry {pos}" if pos else "the header"
        super().__init__(f"journal {path} is damaged at {where}: {reason}", advice)


def damaged(path: str, pos: int, reason: str) -> JournalDamaged:
    """`JournalDamaged` with the advice that fits: what still stands, and how to go on."""
    stands = f"Entries 1 to {pos - 1} still stand. " if pos > 1 else ""
    advice = (
        f"{stands}Keep this file and its -wal file together as evidence: move both aside, then start again with a new "
        "journal. If it happens twice, replace the disk"
    )
    return JournalDamaged(path, pos, reason, advice)
