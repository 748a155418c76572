"""A reader that is asked: one question at a time, looks in turn, and what silence means.

What FEIG, Pepper and metraTec readers have in common.  A protocol as a table of questions, no I/O.  A
question without an answer is asked once more; then its antenna is `Corrupt`.  A reader answers strictly in
order, but many replies carry no antenna, so after any silence a *barrier* is sent, a harmless command of
which no answer is outstanding, and everything before its answer is dropped: a late reply can never be
booked to another antenna.

What has been told to stay quiet is believed only while nothing could have woken or muted a chip unseen:
a silence, a spoilt or incomplete look, a restart or an antenna without power forgets it, and the next look
there makes everything answer again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
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
    lost_words,
)
from firmware_bridge.session.contract import Counters, Figures
from firmware_bridge.session.schedule import Lane, Look, Member, Place, TimePlan, Turns
from firmware_bridge.session.settle import Settle
from firmware_bridge.wire import (
    AnyObservation,
    BootId,
    CleanEmpty,
    Corrupt,
    DeviceId,
    DeviceLost,
    Present,
    Press,
    Restarted,
    Tag,
    TimeSpan,
)


class PolledSession(Generic[FrameT, OptionsT]):
    """The common part of a reader's session; a subclass gives the words.  It outlives its port."""

    kind = "reader"
    line_advice = "the baud rate and parity"
    """What to check where bytes come that make no sense."""

    barriers: ClassVar[tuple[Command, ...]]
    """Commands that change nothing, of which one has no answer outstanding."""

    def __init__(self, device: DeviceId, options: OptionsT, *, byte_ns: int = 0, port: str = "") -> None:
        """``byte_ns`` is the line's time for a byte (0 for TCP), for the stated worst case."""
        problem = options.problem(byte_ns)
        if problem is not None:
            raise ValueError(f"reader '{device}': {problem}")
        self.device = device
        self.options = options
        self._byte_ns = byte_ns
        self._port = port or "its port"
        self._decoder = self._new_decoder()
        self.member = self.member_in(shared=False)
        self._turns = Turns(TimePlan((self.member,)))
        self._settle = Settle()
        self._out = bytearray()
        self._awaited = {self._key_of(command): Awaited() for command in self.barriers}
        self._corrupt = self._timeouts = self._foreign = self._over_bound = self._restarts = 0
        self._sweep_ns: int | None = None
        self._sweep_max_ns: int | None = None
        self._notes: dict[str, str] = {}
        self._forget(0)

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

    def _say_hello(self, now_ns: int) -> None:
        """Asks the first question; the handlers lead to `_ready`."""
        raise NotImplementedError

    def _begin_look(self, look: Look, now_ns: int) -> None:
        """Asks the first question of a look; the handlers lead to `_book` or `_spoilt`."""
        raise NotImplementedError

    def _go_dark(self, now_ns: int) -> bool:
        """Asks for the field to be switched off and leads to `_is_dark`; False if it is off already."""
        raise NotImplementedError

    def _after_barrier(self, now_ns: int) -> Found:
        """Goes on once no late answer can be mistaken."""
        if self._is_up:
            self._next(now_ns)
        else:
            self._ready(now_ns)
        return []

    def _reset(self) -> None:
        """A new life of the port: the subclass's own state."""

    @property
    def _muting(self) -> bool:
        """Whether a tag that answers an inventory is quiet from then on."""
        return False

    # -- the owner's side ------------------------------------------------------------------------

    def member_in(self, *, shared: bool) -> Member:
        """This reader as a plan sees it; ``shared``: it must switch its field off after each look."""
        raise NotImplementedError

    def share(self, turns: Turns) -> None:
        """Takes its turns from a plan shared with other readers; to be called before `start`."""
        self._turns = turns
        self.member = turns.plan.members[self.device]

    def start(self, now_ns: int) -> None:
        """The port is open (again): hello first.  Which antenna is on is not known."""
        self._decoder.clear()
        self._turns.leave(self.device, now_ns)
        self._forget(now_ns)
        self._closed = False
        self._reset()
        self._say_hello(now_ns)

    def _forget(self, now_ns: int) -> None:
        self._closed = True
        self._is_up = False
        self._question: Question[FrameT] | None = None
        self._resting = False
        self._rest_until_ns: int | None = None
        self._out.clear()
        self._settle.reset()
        self._look: Look | None = None
        self._look_ns = now_ns
        self._looks = 0
        self._uids: set[str] = set()
        self._asked: set[object] = set()
        self._doubt = self._chained = False
        self._muted: dict[int, frozenset[str]] = {}
        self._suspect = True
        self._silent = 0
        self._started_ns = self._answered_ns = self._heard_ns = self._sweep_began_ns = now_ns
        self._heard_bytes = 0
        self._sweep_clean = True

    def receive(self, data: bytes, now_ns: int) -> Found:
        """Bytes read at ``now_ns``."""
        if self._closed:
            return []
        self._heard_ns = now_ns
        self._heard_bytes += len(data)
        return self._take(self._decoder.feed(data), now_ns)

    def wake(self, now_ns: int) -> Found:
        """Time has passed: a gap, an answer that did not come, or the end of a rest."""
        if self._closed:
            return []
        found = self._take(self._decoder.gap(), now_ns) if self._gap_due(now_ns) else []
        if self._resting and (due := self._rest_due()) is not None and now_ns >= due:
            if self._suspect and self._silent and now_ns - self._answered_ns >= self.options.lost_after_ms * MS:
                return [*found, self._lost(now_ns)]
            self._resting = False
            self._next(now_ns)
        question = self._question
        if question is not None and now_ns >= question.sent_ns + question.timeout_ns:
            found += self._on_silence(question, now_ns)
        return found

    @property
    def next_wake_ns(self) -> int | None:
        """Deadline of what is under way, or of a frame's head.  None while another reader has the turn."""
        times = []
        if self._question is not None:
            times.append(self._question.sent_ns + self._question.timeout_ns)
        if self._resting and (due := self._rest_due()) is not None:
            times.append(due)
        if self._decoder.pending and not self._closed:
            times.append(self._heard_ns + self.options.gap_ms * MS)
        return min(times, default=None)

    def outgoing(self) -> bytes:
        """Bytes to write now."""
        data = bytes(self._out)
        self._out.clear()
        return data

    def acknowledge(self, observation: AnyObservation) -> None:
        """A reader that is asked keeps nothing; the next look tells how things are then."""

    def remember(self, press: Press) -> None:
        """A reader has no keys."""

    def withdraw(self, observation: AnyObservation) -> None:
        """A reader that is asked keeps nothing."""

    def refresh(self) -> None:
        """Let the next result of every antenna through."""
        self._settle.reset()

    def counters(self) -> Counters:
        """Counts so far."""
        return Counters(
            frames=self._decoder.frames,
            garbage=self._decoder.garbage,
            corrupt=self._corrupt,
            timeouts=self._timeouts,
            foreign=self._foreign,
            restarts=self._restarts,
            over_bound=self._over_bound,
            settled=self._settle.withheld,
        )

    def figures(self) -> Figures:
        """Measured and stated times of a whole pass over the antennas, and what a technician should know."""
        return Figures(self._sweep_ns, self._sweep_max_ns, self.worst_sweep_ns(), notes=tuple(self._notes.values()))

    def worst_sweep_ns(self) -> int:
        """The stated bound of a pass without faults (`schedule.TimePlan.pass_ns`).

        A fault lengthens a pass and is a `Corrupt` of its antenna; a longer one without a fault is counted.
        """
        return self._turns.worst_pass_ns()

    def favour(self, places: Iterable[Place]) -> None:
        """Looks at these antennas more often (see `schedule.Turns.favour`)."""
        self._turns.favour(places)

    def worst_arrival_ns(self, antenna: int) -> int | None:
        """Longest time from a chip's landing to the end of the look that names it; None for no such antenna."""
        return self._turns.worst_arrival_ns((self.device, antenna)) if antenna in self.member.antennas else None

    def worst_removal_ns(self, antenna: int) -> int | None:
        """Longest time from a chip's lifting to the end of the first full look without it."""
        return self._turns.worst_removal_ns((self.device, antenna)) if antenna in self.member.antennas else None

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
        timeout_ms = timeout_ms or self.options.reply_timeout_ms
        self._question = Question(command, role, handler, timeout_ms * MS, now_ns, now_ns)
        self._asked.add(self._key_of(command))
        self._chained |= role is Role.CHAIN
        self._send(self._question)

    def _ask_barrier(self, now_ns: int, *, first: Command | None = None) -> None:
        """Asks ``first`` or another command that no late answer can be taken for; waits if there is none."""
        for command in (first, *self.barriers):
            if command is None:
                continue
            awaited = self._awaited[self._key_of(command)]
            if not awaited.answers or now_ns - awaited.asked_ns >= LATEST_ANSWER_NS:
                awaited.answers = 0
                # It waits behind what the reader still has to do.
                timeout_ms = 2 * self.options.reply_timeout_ms
                self._ask(command, self._on_barrier, now_ns, Role.BARRIER, timeout_ms=timeout_ms)
                return
        until_ns = min(awaited.asked_ns for awaited in self._awaited.values()) + LATEST_ANSWER_NS
        if self._silent:  # a reader that says nothing meanwhile is lost as if it had been asked
            until_ns = min(until_ns, max(self._answered_ns + self.options.lost_after_ms * MS, now_ns))
        self._rest(until_ns)

    def _rest(self, until_ns: int | None) -> None:
        """Waits until then; None: until the plan gives the next look."""
        self._question, self._resting, self._rest_until_ns = None, True, until_ns

    def _rest_due(self) -> int | None:
        return self._turns.due_ns(self.device) if self._rest_until_ns is None else self._rest_until_ns

    def _send(self, question: Question[FrameT]) -> None:
        awaited = self._awaited.get(self._key_of(question.command))
        if awaited is not None:
            awaited.answers += 1
            awaited.asked_ns = question.sent_ns
        self._out += self._encode(question.command)

    def _ready(self, now_ns: int) -> None:
        """Set up: the reader takes part from here on, dark where others need that."""
        if not (self._turns.plan.shared and self._go_dark(now_ns)):
            self._is_dark(now_ns)

    def _next(self, now_ns: int) -> None:
        """Goes on with the look under way, or with the next one."""
        if self._suspect:
            self._ask_barrier(now_ns)
            return
        if self._look is None:
            look = self._turns.take(self.device, now_ns)
            if look is None:
                self._rest(None)
                return
            if look.lane is Lane.FRESH and look.antenna not in self._muted:
                look = Look(look.antenna)
            self._look = look
            self._uids = set()
            self._asked.clear()
            self._doubt = self._chained = False
            if self._looks == 0:
                self._sweep_began_ns = now_ns
                self._sweep_clean = True
        self._look_ns = now_ns
        self._begin_look(self._look, now_ns)

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

    # -- results ---------------------------------------------------------------------------------

    @property
    def _antenna(self) -> int:
        assert self._look is not None, "a look is under way"
        return self._look.antenna

    def _book(self, now_ns: int, *, complete: bool) -> Found:
        """One antenna's look is over: what was found in `_uids`, and whether that was everything."""
        assert self._look is not None, "a look is under way"
        complete = complete and not (self._chained and self._doubt)
        antenna, fresh = self._look.antenna, self._look.lane is Lane.FRESH
        before = self._muted.get(antenna, frozenset())
        if not complete or not self._muting:
            # Something may have answered, been muted and not been heard.
            self._muted.pop(antenna, None)
        else:
            self._muted[antenna] = frozenset(self._uids) | (before if fresh else frozenset())
        quiet = tuple(sorted(before - self._uids)) if fresh and complete else ()
        span = TimeSpan(self._look_ns, now_ns)
        if complete and not self._uids and not quiet:
            return self._result(CleanEmpty(self.device, span, antenna), now_ns)
        tags = tuple(Tag(uid) for uid in sorted(self._uids))
        return self._result(Present(self.device, span, antenna, tags, complete and not quiet, quiet), now_ns)

    def _spoilt(self, reason: str, now_ns: int) -> Found:
        self._corrupt += 1
        self._sweep_clean = False
        self._muted.pop(self._antenna, None)
        return self._result(Corrupt(self.device, TimeSpan(self._look_ns, now_ns), self._antenna, reason), now_ns)

    def _result(self, result: Present | CleanEmpty | Corrupt, now_ns: int) -> Found:
        """Ends the look: at once, or when the field is off where others need that."""
        self._looks += 1
        self._question = None
        if self._looks >= len(self.member.antennas):
            self._end_sweep(now_ns)
        if not (self._turns.plan.shared and self._go_dark(now_ns)):
            self._is_dark(now_ns)
        return list(self._settle.offer(result))

    def _is_dark(self, now_ns: int) -> None:
        self._look = None
        if self._is_up:
            self._turns.give(self.device, now_ns)
        else:
            self._is_up = True
            self._turns.join(self.device, now_ns)
        self._next(now_ns)

    def _end_sweep(self, now_ns: int) -> None:
        took = now_ns - self._sweep_began_ns
        self._looks = 0
        self._sweep_ns = took
        self._sweep_max_ns = max(took, self._sweep_max_ns or 0)
        if self._sweep_clean and not self._suspect and took > self.worst_sweep_ns():
            self._over_bound += 1

    # -- silence ---------------------------------------------------------------------------------

    def _gap_due(self, now_ns: int) -> bool:
        return self._decoder.pending > 0 and now_ns - self._heard_ns >= self.options.gap_ms * MS

    def _on_silence(self, question: Question[FrameT], now_ns: int) -> Found:
        self._timeouts += 1
        self._silent += 1
        self._muted.clear()  # it may have been a restart
        silent_ns = now_ns - self._answered_ns
        role = question.role
        if self._silent >= self.options.silent_limit and silent_ns >= self.options.lost_after_ms * MS:
            found: Found = []
            if role in (Role.LOOK, Role.CHAIN):
                self._corrupt += 1
                span = TimeSpan(self._look_ns, now_ns)
                found = list(self._settle.offer(Corrupt(self.device, span, self._antenna, "no reply")))
            return [*found, self._lost(now_ns)]
        if role is Role.BARRIER:
            self._ask_barrier(now_ns)
            return []
        self._suspect = True
        self._sweep_clean = False
        if role in (Role.HELLO, Role.DARK):
            self._again(question, now_ns)
            return []
        if role is Role.CHAIN:
            return self._book(now_ns, complete=False)
        # An inventory that mutes is not asked twice: its lost answer may have named a chip that is quiet now.
        if question.tries == 1 and not self._muting:
            self._again(question, now_ns)
            return []
        return self._spoilt("no reply", now_ns)

    def _again(self, question: Question[FrameT], now_ns: int) -> None:
        question.tries += 1
        question.sent_ns = now_ns
        self._send(question)

    def _rebooted(self, now_ns: int) -> Restarted:
        """The reader says that it has started anew: everything is set up again."""
        self._restarts += 1
        span = TimeSpan(min(self._answered_ns, now_ns), now_ns)
        self.start(now_ns)
        return Restarted(self.device, span, BootId(self._restarts))

    def _span(self, now_ns: int) -> TimeSpan:
        return TimeSpan(self._question.first_ns if self._question is not None else now_ns, now_ns)

    def _shut(self, now_ns: int) -> None:
        self._closed = True
        self._question, self._resting = None, False
        self._out.clear()
        self._turns.leave(self.device, now_ns)

    def _refused(self, reason: str, now_ns: int) -> DeviceLost:
        """The reader answers, but not so that it can be used."""
        span = self._span(now_ns)
        self._shut(now_ns)
        return DeviceLost(
            self.device,
            span,
            reason,
            f"Reader '{self.device}' on {self._port} answers, but not as a {self.kind} should. Check its model and "
            "firmware against the list in the README; tabled tries again by itself.",
        )

    def _lost(self, now_ns: int) -> DeviceLost:
        silent_ns = now_ns - self._answered_ns if self._answered_ns > self._started_ns else None
        where = f"Reader '{self.device}' on {self._port}"
        reason, advice = lost_words(where, self.kind, self.line_advice, silent_ns, self._heard_bytes)
        self._shut(now_ns)
        return DeviceLost(self.device, TimeSpan(self._answered_ns, now_ns), reason, advice)
