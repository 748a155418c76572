"""One question at a time to a reader that is asked, and what its silence means.

A reader answers strictly in order, but its answers do not say which question they are for, only which *kind* of
question (their key).  So nothing is ever taken for an answer while another of the same key may be on its way:

After any silence a *barrier* is sent, a harmless command of which no answer is outstanding, and everything before
its answer is dropped.  What was under way is begun anew behind it, from its first step: the silence may have
been a restart, which loses every selection and setting.

Between two questions of the same key a *separator* is asked, so that an answer that came twice is not taken for the
second one's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar, Generic

from firmware_bridge.session.asking import (
    LATEST_ANSWER_NS,
    MS,
    Awaited,
    Command,
    Found,
    FrameT,
    OptionsT,
    PolledDecoder,
    Question,
    Role,
)


class Interview(Generic[FrameT, OptionsT]):
    """The asking part of a reader's session (see `polled.PolledSession`)."""

    barriers: ClassVar[tuple[Command, ...]]
    """Commands that change nothing, of which one has no answer outstanding; the first is the separator."""

    def __init__(self, options: OptionsT) -> None:
        self.options = options
        self._decoder = self._new_decoder()
        self._out = bytearray()
        self._awaited = {self._key_of(command): Awaited() for command in self.barriers}
        self._timeouts = self._foreign = 0
        self._hush(0)

    def _hush(self, now_ns: int) -> None:
        """A new life of the port: nothing is asked, and what an earlier life asked may still be answered."""
        self._closed = True
        self._question: Question[FrameT] | None = None
        self._last_key: object = None
        self._answered_key: object = None
        self._resting = False
        self._rest_until_ns: int | None = None
        self._out.clear()
        self._asked: set[object] = set()
        self._doubt = self._chained = False
        self._suspect = True
        self._silent = 0
        self._started_ns = self._answered_ns = self._heard_ns = now_ns

    # -- what a subclass says --------------------------------------------------------------------

    def _new_decoder(self) -> PolledDecoder[FrameT]:
        raise NotImplementedError

    def _key_of(self, command: Command) -> object:
        """What an answer to this command is known by."""
        raise NotImplementedError

    def _answers_to(self, frame: FrameT) -> object:
        """The key of the command that this frame answers; None for one that is not for us."""
        raise NotImplementedError

    def _encode(self, command: Command) -> bytes:
        raise NotImplementedError

    def _after_barrier(self, now_ns: int) -> Found:
        """Goes on once no late answer can be mistaken."""
        raise NotImplementedError

    # -- asking ----------------------------------------------------------------------------------

    def _ask(
        self,
        command: Command,
        handler: Callable[[FrameT, int], Found],
        now_ns: int,
        role: Role = Role.LOOK,
        *,
        timeout_ms: int | None = None,
    ) -> None:
        # What is pending came before the question: it cannot be the start of its answer.
        self._foreign += len(self._decoder.gap())
        timeout_ns = (timeout_ms or self.options.reply_timeout_ms) * MS
        question = Question(command, role, handler, timeout_ns, now_ns, now_ns)
        key = self._key_of(command)
        between = self.barriers[0]
        if role is not Role.CHAIN and key == self._last_key != self._key_of(between):
            self._ask(between, partial(self._on_separator, question), now_ns, role)
            return
        self._put(question)

    def _put(self, question: Question[FrameT]) -> None:
        self._question = question
        self._last_key = self._key_of(question.command)
        self._asked.add(self._last_key)
        self._chained |= question.role is Role.CHAIN
        self._send(question)

    def _on_separator(self, question: Question[FrameT], _frame: FrameT, now_ns: int) -> Found:
        question.first_ns = question.sent_ns = now_ns
        self._put(question)
        return []

    def _ask_barrier(self, now_ns: int, *, first: Command | None = None) -> None:
        """Asks ``first`` or another command that no late answer can be taken for; waits if there is none."""
        # The second of two equal answers is outstanding too: what was answered last comes last.
        doubled = (self._last_key, self._answered_key)
        others = sorted(self.barriers, key=lambda command: self._key_of(command) in doubled)
        for command in (first, *others):
            if command is None:
                continue
            awaited = self._awaited[self._key_of(command)]
            if not awaited.answers or now_ns - awaited.asked_ns >= LATEST_ANSWER_NS:
                awaited.answers = 0
                # It waits behind what the reader still has to do.  The one that decides waits for all the time that is
                # left: each that stays without an answer cannot be used again for long.
                left_ns = self._left_ns(now_ns)
                timeout_ns = left_ns or 2 * self.options.reply_timeout_ms * MS
                self._foreign += len(self._decoder.gap())
                self._put(Question(command, Role.BARRIER, self._on_barrier, timeout_ns, now_ns, now_ns))
                return
        until_ns = min(awaited.asked_ns for awaited in self._awaited.values()) + LATEST_ANSWER_NS
        if self._silent:  # a reader that says nothing meanwhile is lost as if it had been asked
            until_ns = min(until_ns, max(self._answered_ns + self.options.lost_after_ms * MS, now_ns))
        self._rest(until_ns)

    def _left_ns(self, now_ns: int) -> int:
        """Time until the silence is a loss, for a question that decides it; 0 for one that does not."""
        left_ns = self._answered_ns + self.options.lost_after_ms * MS - now_ns
        return max(0, left_ns) if self._silent + 1 >= self.options.silent_limit else 0

    def _rest(self, until_ns: int | None) -> None:
        """Waits until then; None: until the plan gives the next look."""
        self._question, self._resting, self._rest_until_ns = None, True, until_ns

    def _send(self, question: Question[FrameT]) -> None:
        awaited = self._awaited.get(self._key_of(question.command))
        if awaited is not None:
            awaited.answers += 1
            awaited.asked_ns = question.sent_ns
        self._out += self._encode(question.command)

    def _again(self, question: Question[FrameT], now_ns: int) -> None:
        question.sent_ns = now_ns
        question.timeout_ns = min(question.timeout_ns, self._left_ns(now_ns) or question.timeout_ns)
        self._send(question)

    # -- answers ---------------------------------------------------------------------------------

    def _take(self, frames: Sequence[FrameT], now_ns: int) -> Found:
        found: Found = []
        asked = self._question
        for frame in frames:
            key = self._answers_to(frame)
            awaited = self._awaited.get(key)
            if awaited is not None and awaited.answers:
                awaited.answers -= 1
            question = self._question
            # What was read before a question was asked cannot answer it.
            mine = question is not None and question is asked and not self._closed
            if question is None or not mine or key is None or key != self._key_of(question.command):
                # In a chain it may have carried a part that the reader will not name again.
                self._doubt |= key in self._asked
                found += self._unasked(frame, now_ns)
                continue
            self._silent = 0
            self._answered_ns = now_ns
            self._answered_key = key
            found += question.handler(frame, now_ns)
        return found

    def _unasked(self, _frame: FrameT, _now_ns: int) -> Found:
        """A good frame that answers no question of ours."""
        self._foreign += 1
        return []

    def _on_barrier(self, _frame: FrameT, now_ns: int) -> Found:
        self._suspect = False
        for awaited in self._awaited.values():
            awaited.answers = 0
        return self._after_barrier(now_ns)

    # -- silence ---------------------------------------------------------------------------------

    def _gap_due(self, now_ns: int) -> bool:
        return self._decoder.pending > 0 and now_ns - self._heard_ns >= self.options.gap_ms * MS

    def _is_gone(self, now_ns: int) -> bool:
        """Enough questions in a row without an answer, for long enough."""
        long_ns = self.options.lost_after_ms * MS
        return self._silent >= self.options.silent_limit and now_ns - self._answered_ns >= long_ns
