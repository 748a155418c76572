"""A reader that is asked: looks in turn, what they prove, and what a silence makes of them.

What FEIG, Pepper and metraTec readers have in common.  A protocol as a table of questions, no I/O; how a question
finds its answer is `interview`'s.  A look whose question gets no answer is `Corrupt`, and begun anew from
its first step, once: the reader may have restarted and look elsewhere now.

What has been told to stay quiet is believed only while nothing could have woken or muted a chip unseen:
a silence, a spoilt or incomplete look, a restart or an antenna without power forgets it, and the next look
there makes everything answer again.

While nothing is to be asked for long, a sign of life is: a reader that dies is told within a second.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from firmware_bridge.session.asking import (
    LIFE_MS,
    MS,
    Found,
    FrameT,
    OptionsT,
    Question,
    Role,
    lost_words,
)
from firmware_bridge.session.contract import Counters, Figures
from firmware_bridge.session.interview import Interview
from firmware_bridge.session.punctual import Punctual
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


class PolledSession(Interview[FrameT, OptionsT]):
    """The common part of a reader's session; a subclass gives the words.  It outlives its port."""

    kind = "reader"
    line_advice = "the baud rate and parity"
    """What to check on a serial line where bytes come that make no sense."""
    network_advice = "its address and port number"
    """The same behind a socket, where there is neither baud rate nor parity."""

    life_ns: ClassVar[int | None] = LIFE_MS * MS
    """A sign of life is asked for after so long without an answer; None: a subclass sees to that."""

    def __init__(self, device: DeviceId, options: OptionsT, *, byte_ns: int = 0, port: str = "") -> None:
        """``byte_ns`` is the line's time for a byte (0 for TCP), for the stated worst case."""
        problem = options.problem(byte_ns)
        if problem is not None:
            raise ValueError(f"reader '{device}': {problem}")
        super().__init__(options)
        self.device = device
        self._byte_ns = byte_ns
        self._port = port or "its port"
        self.member = self.member_in(shared=False)
        self._turns = Turns(TimePlan((self.member,)))
        self._settle = Settle()
        self._punctual = Punctual()
        self._corrupt = self._over_bound = self._restarts = 0
        self._sweep_ns: int | None = None
        self._sweep_max_ns: int | None = None
        self._notes: dict[str, str] = {}
        self._forget(0)

    # -- what a subclass says --------------------------------------------------------------------

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
        """Sets up what the reader may have lost; goes on once no late answer can be mistaken."""
        if self._is_up:
            self._next(now_ns)
        else:
            self._ready(now_ns)
        return []

    def _reset(self) -> None:
        """A new life of the port: the subclass's own state."""

    def _unsure(self) -> None:
        """It was silent, so it may have restarted: what it was told may be forgotten, what is on is not known."""

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
        self._hush(now_ns)
        self._is_up = False
        self._settle.reset()
        self._punctual.forget()
        self._look: Look | None = None
        self._look_ns = self._sweep_began_ns = now_ns
        self._looks = self._leaves = 0
        self._missed = False
        """The look under way has been without an answer once."""
        self._ending = False
        """The field may be on and has to go off before anything else."""
        self._uids: set[str] = set()
        self._muted: dict[int, frozenset[str]] = {}
        self._heard_bytes = 0

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
        elif (due := self._life_due()) is not None and now_ns >= due:
            self._resting = False
            self._ask(self.barriers[0], self._on_life, now_ns, Role.BARRIER)
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
        if (due := self._life_due()) is not None:
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

    def expect(self, antenna: int, looks: int) -> None:
        """Let the next results of one antenna through."""
        self._settle.expect(antenna, looks)

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

        A look that comes later than stated is counted, whatever made it late (see `punctual`).
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

    # -- turns -----------------------------------------------------------------------------------

    def _rest_due(self) -> int | None:
        return self._turns.due_ns(self.device) if self._rest_until_ns is None else self._rest_until_ns

    def _life_due(self) -> int | None:
        """When a reader that waits, and of which nothing is doubted, must give a sign of life."""
        if self.life_ns is None or not self._resting or not self._is_up or self._suspect:
            return None
        return self._answered_ns + self.life_ns

    def _on_life(self, _frame: FrameT, now_ns: int) -> Found:
        self._next(now_ns)
        return []

    def _ready(self, now_ns: int) -> None:
        """Set up: the reader takes part from here on, dark where others need that."""
        self._finish(now_ns)

    def _finish(self, now_ns: int) -> None:
        """Nothing more to do with the field: it goes off where others need that."""
        if self._turns.plan.shared:
            self._ending = True
            self._next(now_ns)
        else:
            self._is_dark(now_ns)

    def _next(self, now_ns: int) -> None:
        """Goes on with the look under way, or with the next one."""
        if self._suspect:
            # Behind it: a late answer to "on" must not stand for one to "off".
            self._ask_barrier(now_ns)
            return
        if self._ending:
            if not self._go_dark(now_ns):
                self._is_dark(now_ns)
            return
        if self._look is None:
            look = self._turns.take(self.device, now_ns)
            if look is None:
                self._rest(None)
                return
            if look.lane is Lane.FRESH and look.antenna not in self._muted:
                look = Look(look.antenna)
            self._look = look
            self._missed = False
            if self._looks == 0:
                self._sweep_began_ns = now_ns
        self._uids = set()
        self._leaves = self._turns.leaves
        self._asked.clear()
        self._doubt = self._chained = False
        self._look_ns = now_ns
        self._begin_look(self._look, now_ns)

    # -- results ---------------------------------------------------------------------------------

    @property
    def _antenna(self) -> int:
        assert self._look is not None, "a look is under way"
        return self._look.antenna

    def _book(self, now_ns: int, *, complete: bool) -> Found:
        """One antenna's look is over: what was found in `_uids`, and whether that was everything."""
        assert self._look is not None, "a look is under way"
        complete = complete and not (self._chained and self._doubt) and self._undisturbed()
        self._check_count()
        antenna, fresh = self._look.antenna, self._look.lane is Lane.FRESH
        before = self._muted.get(antenna, frozenset())
        if not complete or not self._muting:
            # Something may have answered, been muted and not been heard.
            self._muted.pop(antenna, None)
        else:
            self._muted[antenna] = frozenset(self._uids) | (before if fresh else frozenset())
        quiet = tuple(sorted(before - self._uids)) if fresh and complete else ()
        span = TimeSpan(self._look_ns, now_ns)
        if complete:
            place = (self.device, antenna)
            bounds_ns = self._turns.worst_arrival_ns(place), self._turns.worst_removal_ns(place)
            self._over_bound += self._punctual.late(antenna, (self._look_ns, now_ns), bounds_ns, full=not fresh)
        if complete and not self._uids and not quiet:
            return self._result(CleanEmpty(self.device, span, antenna), now_ns)
        tags = tuple(Tag(uid) for uid in sorted(self._uids))
        return self._result(Present(self.device, span, antenna, tags, complete and not quiet, quiet), now_ns)

    def _undisturbed(self) -> bool:
        """No reader next to this antenna may have had its field on meanwhile, which makes tags miss in silence."""
        place = (self.device, self._antenna)
        beside = self._turns.beside(place)
        if beside:
            self._notes["beside"] = (
                f"reader '{self.device}': while {', '.join(beside)} is not up, the antennas next to it prove no "
                "absence, for its field may be on. Mend it, or take its power away"
            )
        elif self._turns.plan.beside(place):
            self._notes.pop("beside", None)
        return not beside and self._leaves == self._turns.leaves

    def _check_count(self) -> None:
        if len(self._uids) > self.options.chips_per_antenna:
            self._notes["chips"] = (
                f"reader '{self.device}' found {len(self._uids)} chips on antenna {self._antenna}, more than its "
                f"'chips_per_antenna' = {self.options.chips_per_antenna}: its stated times do not hold; raise it"
            )

    def _spoilt(self, reason: str, now_ns: int) -> Found:
        self._muted.pop(self._antenna, None)
        return self._result(self._corrupted(reason, now_ns), now_ns)

    def _corrupted(self, reason: str, now_ns: int) -> Corrupt:
        self._corrupt += 1
        return Corrupt(self.device, TimeSpan(self._look_ns, now_ns), self._antenna, reason)

    def _result(self, result: Present | CleanEmpty | Corrupt, now_ns: int) -> Found:
        """Ends the look: at once, or when the field is off where others need that."""
        self._looks += 1
        self._question = None
        if self._looks >= len(self.member.antennas):
            took = now_ns - self._sweep_began_ns
            self._looks = 0
            self._sweep_ns = took
            self._sweep_max_ns = max(took, self._sweep_max_ns or 0)
        self._finish(now_ns)
        return list(self._settle.offer(result))

    def _is_dark(self, now_ns: int) -> None:
        self._ending = False
        looked, self._look = self._look is not None, None
        if not self._is_up:
            self._is_up = True
            self._turns.join(self.device, now_ns)
        elif looked:
            self._turns.give(self.device, now_ns)
        self._next(now_ns)

    # -- silence ---------------------------------------------------------------------------------

    def _on_silence(self, question: Question[FrameT], now_ns: int) -> Found:
        self._timeouts += 1
        self._silent += 1
        self._suspect = True
        self._muted.clear()
        self._unsure()
        role, gone = question.role, self._is_gone(now_ns)
        if role is Role.CHAIN and not gone:
            return self._book(now_ns, complete=False)
        if role is Role.LOOK and self._missed and not gone:
            return self._spoilt("no reply", now_ns)
        found: Found = []
        if role in (Role.LOOK, Role.CHAIN):
            # Told though it is asked again: every look behind it is late by that.
            found = list(self._settle.offer(self._corrupted("no reply", now_ns)))
        if gone:
            return [*found, self._lost(now_ns)]
        if role is Role.HELLO:
            self._again(question, now_ns)
            return found
        self._question = None
        if role is Role.LOOK:
            self._missed = True
            self._look = Look(self._antenna)
        elif self._is_up and self._look is None:
            self._ending = self._turns.plan.shared  # a reader that starts anew may switch its field on
        self._next(now_ns)
        return found

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
        check = self.network_advice if self._port.startswith("tcp") else self.line_advice
        reason, advice = lost_words(where, self.kind, check, silent_ns, self._heard_bytes)
        self._shut(now_ns)
        return DeviceLost(self.device, TimeSpan(self._answered_ns, now_ns), reason, advice)
