"""The journal: every input and outcome of a table, in order, before it has any effect.

`Journal` is the daemon's (one writer a file); `JournalReader` reads, beside it or alone; `verify` goes over
the whole file.  `Codec` makes bodies and payloads of values.
"""

from tabled.journal.codec import UPCASTS, Codec, upcast
from tabled.journal.entry import (
    FORMAT,
    KINDS,
    MAX_BATCH,
    MAX_BATCH_BYTES,
    MAX_BODY,
    MAX_LEAF,
    MAX_PAYLOAD,
    Draft,
    Entry,
    Head,
    Kind,
    Pending,
    Snapshot,
)
from tabled.journal.errors import (
    BodyUnreadable,
    DraftRefused,
    JournalBusy,
    JournalClosed,
    JournalDamaged,
    JournalError,
    JournalMissing,
    JournalTooNew,
    JournalUnwritable,
    NotAJournal,
)
from tabled.journal.reader import JournalReader
from tabled.journal.verify import Damage, VerifyReport, verify
from tabled.journal.writer import Journal

__all__ = [
    "FORMAT",
    "KINDS",
    "MAX_BATCH",
    "MAX_BATCH_BYTES",
    "MAX_BODY",
    "MAX_LEAF",
    "MAX_PAYLOAD",
    "UPCASTS",
    "BodyUnreadable",
    "Codec",
    "Damage",
    "Draft",
    "DraftRefused",
    "Entry",
    "Head",
    "Journal",
    "JournalBusy",
    "JournalClosed",
    "JournalDamaged",
    "JournalError",
    "JournalMissing",
    "JournalReader",
    "JournalTooNew",
    "JournalUnwritable",
    "Kind",
    "NotAJournal",
    "Pending",
    "Snapshot",
    "VerifyReport",
    "upcast",
    "verify",
]
