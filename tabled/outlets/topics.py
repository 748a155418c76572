"""The topic tree of one table, ``tabled/v1/<site>/<table>/…``, and who says what on it.

| leaf | direction | QoS | retained | content |
|---|---|---|---|---|
| ``ruling`` | out | 1 | no | rulings, display-safe (see `tabled.outlets.safety`) |
| ``question``, ``question_closed``, ``alert`` | out | 1 | no | as they are issued |
| ``evidence`` | out | 1 | no | full rulings, hands and closed streets: floor and surveillance only |
| ``state`` | out | 1 | yes | `TableView` as of a journal position |
| ``recent`` | out | 1 | yes | the newest display messages as sent, so that a page just opened misses nothing |
| ``health`` | out | 1 | yes | birth, a heartbeat a second and at each fault, last will |
| ``ack`` | out | 1 | no | what became of a command, under the caller's request id |
| ``cmd/<act>`` | in | 1 | never | operator acts; a retained command is refused |
"""

from __future__ import annotations

import re

import msgspec

ROOT = "tabled/v1"

RULING = "ruling"
STATE = "state"
RECENT = "recent"
QUESTION = "question"
QUESTION_CLOSED = "question_closed"
ALERT = "alert"
HEALTH = "health"
EVIDENCE = "evidence"
ACK = "ack"
COMMANDS = "cmd"

RETAINED = frozenset({STATE, RECENT, HEALTH})
DISPLAY = frozenset({RULING, QUESTION, QUESTION_CLOSED, ALERT})
"""Outbox leaves that a display may read; ``evidence`` is never one of them."""

_NAME = re.compile(r"[A-Za-z0-9_-]{1,32}\Z")


class Origin(msgspec.Struct, frozen=True):
    """Whose messages these are.  ``epoch`` names the journal, so that (epoch, position) is unique for ever."""

    site: str
    table: str
    epoch: str

    def __post_init__(self) -> None:
        for what, name in (("site", self.site), ("table", self.table)):
            if not _NAME.match(name):
                raise ValueError(
                    f"{what} name {name!r} cannot stand in an MQTT topic: use 1 to 32 letters, digits, '-' or '_'"
                )

    @property
    def source(self) -> str:
        """CloudEvents ``source``."""
        return f"tabled/{self.site}/{self.table}"

    @property
    def prefix(self) -> str:
        """Topic prefix, without a trailing slash."""
        return f"{ROOT}/{self.site}/{self.table}"

    def topic(self, leaf: str) -> str:
        """Full topic of a leaf such as ``"ruling"`` or ``"cmd/answer"``."""
        return f"{self.prefix}/{leaf}"
