"""What is kept of the last half minute besides the pictures, and when it is all written down.

A disputed ruling (a question, a floor decision, an overrule, an undo, the key that calls the floor) or an order
asks for a recording.  It is made a moment later, so that what follows at once is in it, and what else is disputed
meanwhile is in the same one.  The camera's process writes it; where that is down, what the readers said is written
without pictures.  Nothing here can hold up the table: what fails is counted and named.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import msgspec

from firmware_bridge.wire import Observation, Present, Press, RawBytes
from tabled.core.entries import Ordered, Seen
from tabled.model.outcome import AnyOutcome, Outcome, QuestionAsked, RulingIssued, Undo
from tabled.model.ruling import Reason
from tabled.sensing.process_child import facts_of
from tabled.sensing.process_wire import NOTES_CHUNK, Notes, Save, ToChild, Written
from tabled.sensing.recorder import Ring, Shelf, save
from tabled.sensing.recording import Note, NoteKind, RecordingError
from tabled.shell.clock import file_stamp
from tabled.shell.engine import Committed

RECORDING_FAILED = "recording_failed"

NOTES_BYTES = 32 << 20
"""Of what is no picture.  Ten readers at full speed make some 10 MB in half a minute."""
TAIL_S = 2.0
PATIENCE_S = 60.0
"""For a recording to be written: 400 MB on a slow disk."""
MAX_REASONS = 4
FAILED_NS = 60_000_000_000

Said = RawBytes | Observation | Outcome


class Writer(Protocol):
    """What is needed of `tabled.shell.camera.Camera`.  ``up`` and ``send`` as there."""

    @property
    def up(self) -> bool: ...
    async def send(self, messages: list[ToChild]) -> bool: ...


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """Whose recordings these are."""

    site: str
    table: str
    version: str
    journal: str
    calibration: str = ""


class Disputes:
    """Event loop's thread only.  ``writer`` None: there is no camera."""

    def __init__(
        self,
        writer: Writer | None,
        shelf: Shelf,
        origin: Origin,
        now_ns: Callable[[], int],
        wall_ns: Callable[[], int],
        *,
        span_ns: int,
        tail_s: float = TAIL_S,
        on_news: Callable[[], None] = lambda: None,
    ) -> None:
        self._writer, self._shelf, self._origin = writer, shelf, origin
        self._now_ns, self._wall_ns, self._tail_s, self._on_news = now_ns, wall_ns, tail_s, on_news
        self._span_ns = span_ns
        self._ring: Ring[tuple[int, Said, bool | int]] = Ring(span_ns, NOTES_BYTES)
        self._reasons: list[str] = []
        self._task: asyncio.Task[None] | None = None
        self._answers: dict[int, asyncio.Future[Written]] = {}
        self._ident = 0
        self._failed_ns: int | None = None
        self._problem = ""
        self.saved = self.failed = self.blind = 0
        self.last = ""

    # -- what is kept ----------------------------------------------------------------------------

    def overhear(self, raw: RawBytes, from_host: bool) -> None:
        """Bytes on a device's wire."""
        self._ring.put(raw.read_ns, len(raw.data) + 256, (raw.read_ns, raw, from_host))

    def follow(self, committed: Committed) -> None:
        """A durable input and what came of it: kept, and where it is a dispute, a recording is asked for."""
        entry, at_ns = committed.entry, committed.entry.at_ns
        if isinstance(entry, Seen):
            seen: Observation = entry.observation
            size = 400 + (64 * len(seen.tags) if isinstance(seen, Present) else 0)
            self._ring.put(at_ns, size, (at_ns, seen, committed.position))
            if isinstance(seen, Press) and seen.key == "floor":
                self.ask("floor-called")
        elif isinstance(entry, Ordered) and isinstance(entry.act, Undo):
            self.ask("undo")
        for position, outcome in committed.outcomes:
            self._ring.put(at_ns, 4096, (at_ns, outcome, position))
            if why := dispute_of(outcome):
                self.ask(why)

    # -- writing ---------------------------------------------------------------------------------

    def ask(self, reason: str) -> None:
        """Have the last half minute written, in a moment; asked again before that, it is still one recording."""
        if reason not in self._reasons and len(self._reasons) < MAX_REASONS:
            self._reasons.append(reason)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._write_soon(), name="recording")

    async def stop(self) -> None:
        """Write what was asked for, now; `PATIENCE_S` at most."""
        self._tail_s = 0.0
        if self._task is not None:
            await asyncio.wait([self._task], timeout=PATIENCE_S)

    def written(self, written: Written) -> None:
        """The camera's process has written a recording, or not."""
        waiting = self._answers.pop(written.ident, None)
        if waiting is not None and not waiting.done():
            waiting.set_result(written)

    async def _write_soon(self) -> None:
        while self._reasons:
            await asyncio.sleep(self._tail_s)
            reason, self._reasons = "+".join(self._reasons), []
            try:
                done = await self._write(reason)
            except Exception as error:  # a recording is not worth a table
                done = Written(ident=0, problem=f"{error!r}; please report this line to the makers")
            self._note(done)

    def _note(self, done: Written) -> None:
        if done.problem:
            self.failed += 1
            self._failed_ns, self._problem = self._now_ns(), done.problem
        else:
            self.saved += 1
            self.last, self._failed_ns = done.path, None
        self._on_news()

    async def _write(self, reason: str) -> Written:
        self._ident += 1
        loop = asyncio.get_running_loop()
        now_ns, wall_ns = self._now_ns(), self._wall_ns()
        since_ns = now_ns - self._span_ns
        kept, dropped = self._ring.since(since_ns), self._ring.squeezed_since(since_ns)
        order = Save(
            ident=self._ident,
            reason=reason,
            stamp=file_stamp(wall_ns),
            wall_offset_ns=wall_ns - now_ns,
            site=self._origin.site,
            table=self._origin.table,
            version=self._origin.version,
            journal=self._origin.journal,
            dropped=dropped,
        )
        notes = await loop.run_in_executor(None, lambda: [note_of(*one) for one in kept])
        if self._writer is not None and self._writer.up:
            done = await self._by_camera(order, notes)
            if done is not None:
                return done
        self.blind += 1
        return await loop.run_in_executor(None, self._without_pictures, order, notes)

    async def _by_camera(self, order: Save, notes: list[Note]) -> Written | None:
        """None where its process went away over it."""
        assert self._writer is not None
        answer: asyncio.Future[Written] = asyncio.get_running_loop().create_future()
        self._answers = {order.ident: answer}
        parts: list[ToChild] = [Notes(ident=order.ident, notes=tuple(part)) for part in chunks(notes)]
        if not await self._writer.send([*parts, order]):
            return None
        # It answers, or it dies, or it takes too long for any disk.
        for _ in range(int(PATIENCE_S * 4)):
            done, _ = await asyncio.wait([answer], timeout=0.25)
            if done:
                return answer.result()
            if not self._writer.up:
                return None
        return Written(
            ident=order.ident, problem=f"the recording was not written within {PATIENCE_S:g} s; check the disk"
        )

    def _without_pictures(self, order: Save, notes: list[Note]) -> Written:
        try:
            saved = save(self._shelf, order.stamp, facts_of(order, "", self._origin.calibration, 0), [], notes)
        except RecordingError as error:
            return Written(ident=order.ident, problem=str(error))
        return Written(ident=order.ident, path=saved.path, size=saved.size, deleted=saved.deleted)

    # -- health ----------------------------------------------------------------------------------

    def faults(self) -> list[Reason]:
        """For the dealer's screen too: a recording that was not made, for a minute."""
        recent = self._failed_ns is not None and self._now_ns() - self._failed_ns < FAILED_NS
        return [Reason(RECORDING_FAILED, {"why": self._problem[:240]})] if recent else []

    def figures(self) -> dict[str, int | str]:
        """In figures, since the start.  ``blind``: written without pictures."""
        return {"saved": self.saved, "failed": self.failed, "blind": self.blind, "last": Path(self.last).name}


def dispute_of(outcome: AnyOutcome) -> str:
    """Why an outcome is worth a recording, "" where it is not."""
    if isinstance(outcome, QuestionAsked):
        return "question"
    if isinstance(outcome, RulingIssued):
        if outcome.ruling.by_floor:
            return "overrule"
        if outcome.ruling.floor and outcome.status == "final":
            return "floor"
    return ""


def note_of(at_ns: int, said: Said, more: bool | int) -> Note:
    """One thing that was kept, as it stands in a recording.  ``more``: a journal position, or who wrote the bytes."""
    if isinstance(said, RawBytes):
        body = {"device": said.device, "at_ns": at_ns, "from_host": bool(more), "hex": said.data.hex()}
        return Note(at_ns, "bytes", msgspec.json.encode(body), said.device)
    told = msgspec.to_builtins(said)
    kind: NoteKind = "outcome" if isinstance(said, Outcome) else "observation"
    return Note(at_ns, kind, msgspec.json.encode({**told, "position": int(more)}))


def chunks(notes: list[Note]) -> list[list[Note]]:
    """The notes in messages that the pipe takes."""
    parts: list[list[Note]] = [[]]
    size = 0
    for note in notes:
        if size + len(note.body) > NOTES_CHUNK and parts[-1]:
            parts.append([])
            size = 0
        parts[-1].append(note)
        size += len(note.body) + 64
    return parts
