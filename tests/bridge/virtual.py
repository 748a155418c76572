"""Sessions and scripted readers in virtual time, without I/O: what the tests of the sessions run on."""

from __future__ import annotations

from typing import Any

from firmware_bridge.session.contract import Session
from firmware_bridge.wire import AnyObservation

MS = 1_000_000


class Bench:
    """Pairs of a session and its reader; a question and its answer take ``took_ns``.

    ``commits``: the sink has everything on disk at once, and says so.
    """

    def __init__(self, *pairs: tuple[Any, Any], took_ns: int = MS, commits: bool = True) -> None:
        self.pairs = pairs
        self.took_ns = took_ns
        self.commits = commits
        self.now = 1000 * MS
        self.seen: list[AnyObservation] = []
        for session, _ in pairs:
            session.start(self.now)

    @property
    def session(self) -> Any:
        """The first session."""
        return self.pairs[0][0]

    @property
    def reader(self) -> Any:
        """The first reader."""
        return self.pairs[0][1]

    def step(self) -> list[AnyObservation]:
        """One question of each session answered, or, where none asks, the next wake-up."""
        found: list[AnyObservation] = []
        busy = False
        for session, reader in self.pairs:
            if reply := reader.feed(session.outgoing()):
                busy = True
                self.now += self.took_ns
                found += self.told(session, session.receive(reply, self.now))
        if not busy:
            wakes = [w for session, _ in self.pairs if (w := session.next_wake_ns) is not None]
            assert wakes, "everybody sleeps for ever"
            self.now = max(self.now, min(wakes))
            for session, _ in self.pairs:
                found += self.told(session, session.wake(self.now))
        return found

    def told(self, session: Session, found: list[AnyObservation]) -> list[AnyObservation]:
        """What a session said, as the sink takes it."""
        self.seen += found
        if self.commits:
            for observation in found:
                session.acknowledge(observation)
        return found

    def until(self, kind: type[Any] | tuple[type[Any], ...], count: int = 1, most: int = 3000) -> list[Any]:
        """Runs until ``count`` more observations of ``kind`` have come; returns them."""
        found: list[Any] = []
        for _ in range(most):
            found += [o for o in self.step() if isinstance(o, kind)]
            if len(found) >= count:
                return found
        raise AssertionError(f"{len(found)} of {count} {kind} in {most} steps; last {self.seen[-2:]}")
