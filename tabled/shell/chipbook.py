"""What this table has been told of the room's registry, and what it must be told next.

A CSV of chips stands whole in the journal at each start.  A room's registry is larger than an entry, so of it only
chips that have been seen here stand there: an input of its own (`tabled.core.entries.Known`) goes in before the first
look that names a chip, and again when the registry says otherwise.  Event loop's thread only.
"""

from __future__ import annotations

from collections.abc import Iterable

from firmware_bridge.wire import Present
from tabled.core.entries import Known
from tabled.core.state import TableState
from tabled.model.ruling import Reason
from tabled.shell.registry import Chip, Registry, barred_of, values_of

MAX_TOLD = 200_000
"""UIDs that are remembered, strangers included; more have never been on one table."""
MAX_NEWS = 4_000
"""Chips in one input."""
STALE = "registry_stale"
HOUR_NS = 3_600_000_000_000


class ChipBook:
    """The registry, and the chips of which the journal knows."""

    def __init__(self, registry: Registry) -> None:
        self.registry = registry
        self._told: dict[str, Chip | None] = {}
        """By UID what the journal was told; None: the registry did not have it."""
        self.refused = 0
        """Tags that found no room."""

    def begin(self, state: TableState) -> tuple[dict[str, int], dict[str, str]]:
        """Values and barred chips for the start of the daemon: of the chips that the journal has seen."""
        seen = {*state.where, *state.places, *(uid for area in state.areas.values() for uid in area.tags)}
        self._told = {uid: self.registry.chips.get(uid) for uid in sorted(seen)[:MAX_TOLD]}
        return values_of(self._told), barred_of(self._told)

    def before(self, seen: object, now_ns: int) -> Known | None:
        """What the core must know before it takes this observation; None: nothing new."""
        if not isinstance(seen, Present):
            return None
        fresh = [tag.uid for tag in seen.tags if tag.uid not in self._told]
        room = max(0, MAX_TOLD - len(self._told))
        self.refused += max(0, len(fresh) - room)
        news = {uid: self.registry.chips.get(uid) for uid in fresh[:room]}
        self._told.update(news)
        return self._known({uid: chip for uid, chip in news.items() if chip is not None}, now_ns)

    def renew(self, registry: Registry, now_ns: int) -> Iterable[Known]:
        """The registry was read again: what it says otherwise of chips that were seen here, in inputs of
        bounded size."""
        same = registry.digest == self.registry.digest
        self.registry = registry
        if same:
            return
        news = {uid: registry.chips.get(uid) for uid, was in self._told.items() if registry.chips.get(uid) != was}
        self._told.update(news)
        listed = sorted(news)
        for at in range(0, len(listed), MAX_NEWS):
            known = self._known({uid: news[uid] for uid in listed[at : at + MAX_NEWS]}, now_ns)
            if known is not None:
                yield known

    def notes(self, wall_ns: int) -> tuple[Reason, ...]:
        """That the registry cannot be reached and how old the copy is that holds."""
        copied_ns = self.registry.copied_ns
        if copied_ns is None:
            return ()
        hours = max(0, wall_ns - copied_ns) // HOUR_NS
        return (Reason(STALE, {"hours": hours, "why": self.registry.why[:240]}),)

    def _known(self, news: dict[str, Chip | None], now_ns: int) -> Known | None:
        if not news:
            return None
        gone = tuple(uid for uid, chip in news.items() if chip is None)
        return Known(
            at_ns=now_ns, chips=values_of(news), barred=barred_of(news), unknown=gone, registry=self.registry.digest
        )
