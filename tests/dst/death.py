"""Death of the daemon's process, between any two effects."""

from __future__ import annotations


class Killed(BaseException):
    """The process is dead.  No production code may catch it, as none can catch a SIGKILL."""


POINTS = (
    "not appended", "disk before BEGIN", "disk before outcomes", "disk before COMMIT", "disk after COMMIT",
    "committed, nothing acknowledged",
    "press durable, not acknowledged", "acknowledged, not written", "order durable, not answered",
    "acknowledged, state not shown", "not published yet", "published, not booked as sent", "booked as sent",
    "PUBACK came, cursor not moved", "cursor moved",
)  # fmt: skip
"""Between which effects the process may die, in the order in which one input meets them."""


class Reaper:
    """Kills at the ``n``-th effect after it was armed, or at the next one of a kind."""

    def __init__(self) -> None:
        self._left: int | None = None
        self._kind = ""
        self.kills: dict[str, int] = {}

    def arm(self, effects: int, kind: str = "") -> None:
        """Let so many effects (of ``kind``, if one is given) pass, then kill."""
        self._left, self._kind = effects, kind

    def disarm(self) -> None:
        """Let it live."""
        self._left = None

    def point(self, name: str) -> None:
        """Stands between two effects."""
        if self._left is None or self._kind not in ("", name):
            return
        if self._left <= 0:
            self._left = None
            self.kills[name] = self.kills.get(name, 0) + 1
            raise Killed(name)
        self._left -= 1
