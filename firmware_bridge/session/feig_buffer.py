"""A FEIG reader that goes round its antennas by itself: buffered read mode and notification mode.

Buffered: [0x22] reads the data sets of the reader's table.  Notification: the reader sends the same answer
unasked, and again every 5 s until it is acknowledged; what it sent before we came is read with [0x22].  In both, [0x32]
clears what was read, and is sent only when the sink has committed it (see `feig_table`).  Meanwhile, and
in notification mode always, [0x31] asks how full the table is: a sign of life that says also from when a new data set
can be.  Sources: FEIG system manuals H20411-0e-ID-B p. 153-156,
H40801-5e-ID-B p. 15, H71011-0e-ID-B p. 61 and 105.  A reader whose notifications come on a connection that it
opens itself answers no questions there: see `feig_caller`.

A data set says that a tag was there; nothing here ever says that one was not (status 92 means that the table
is empty, not the field).  So these modes report arrivals only, as incomplete `Present`; a seat's betting area
needs mode "host".  Times: a data set was made after the last moment at which everything in the table was known;
what was recorded before we first found it empty is told with a span from 0, for it may be as old as the reader's start.
One window cannot be closed here: a reader that sends a longer notification just while our [0x32] for the
shorter one is on its way clears both, and what is new in it is lost if we die before it is committed.
"""

from __future__ import annotations

from firmware_bridge.framing.feig import FeigFrame
from firmware_bridge.session.asking import MS, Found, Question, Role
from firmware_bridge.session.contract import Counters, Figures
from firmware_bridge.session.feig import FeigSession
from firmware_bridge.session.feig_table import BUFFER_INFO, CLEAR_BUFFER, READ_BUFFER, Table, has_table, table_length
from firmware_bridge.session.inventory import Status, describe
from firmware_bridge.session.plan import FeigOptions, data_sets
from firmware_bridge.session.schedule import Member
from firmware_bridge.wire import AnyObservation, DeviceId, TimeSpan


class FeigBufferSession(FeigSession):
    """One reader in buffered read or notification mode."""

    life_ns = None

    def __init__(self, device: DeviceId, options: FeigOptions, *, byte_ns: int = 0, port: str = "") -> None:
        super().__init__(device, options, byte_ns=byte_ns, port=port)
        self._table = Table(device, options.antennas)
        self._most = data_sets(options, byte_ns)
        self._taken_ns = 0
        """A data set that is new was made after this."""
        self._cleared_ns = 0
        """What was made before this is no more in the reader."""

    def member_in(self, *, shared: bool) -> Member:
        """The reader's own round cannot be put into a plan."""
        if shared:
            raise ValueError(f"reader '{self.device}' goes round by itself; neighbours need mode \"host\"")
        return Member(device=self.device, antennas=self.options.antennas, full_ns=(0,) * len(self.options.antennas))

    def _reset(self) -> None:
        super()._reset()
        self._buffers = self._known = False
        """It has said that it has a table; it has been told as up."""
        self._early: FeigFrame | None = None
        """A notification that came before that."""
        self._life_ns = 0
        self._reads = self.options.mode == "buffered"
        """The next question is for the table."""
        self._table.reopened()
        if not self._table.timed:
            self._taken_ns = self._cleared_ns  # what it holds counts as new
        self._asks_for = self._most
        """Data sets asked for at once.  An answer with fewer holds all that there are (H20411-0e-ID-B p. 153)."""

    def worst_arrival_ns(self, antenna: int) -> int | None:
        """The reader's own round is not known here."""

    def worst_removal_ns(self, antenna: int) -> int | None:
        """Removals are not seen."""

    def counters(self) -> Counters:
        """``dropped``: answers left to the reader because too much waits for the sink."""
        return self._table.added_to(super().counters())

    def figures(self) -> Figures:
        """Nothing is stated for a round that the reader makes by itself."""
        return Figures(notes=self._table.notes(self._heard_ns))

    # -- the sink's word -------------------------------------------------------------------------

    def acknowledge(self, observation: AnyObservation) -> None:
        """It is on disk: when all that was read is, the reader may forget it."""
        if self._table.acknowledge(observation) and self._table.may_clear:
            self._hurry()

    def withdraw(self, observation: AnyObservation) -> None:
        """The sink let go of it: it is read again."""
        if self._table.withdraw(observation):
            self._reads = True
            self._hurry()

    def _hurry(self) -> None:
        if self._resting:
            self._rest_until_ns = self._heard_ns

    # -- the rounds ------------------------------------------------------------------------------

    def _on_hello(self, frame: FeigFrame, now_ns: int) -> Found:
        found = super()._on_hello(frame, now_ns)
        self._known = not self._closed
        early, self._early = self._early, None
        if self._known and early is not None:
            found += self._table.take(early, TimeSpan(self._taken_ns, now_ns))
        return found

    def _after_barrier(self, now_ns: int) -> Found:
        if self._buffers:
            self._next(now_ns)
        else:
            self._ask((BUFFER_INFO, b""), self._on_buffers, now_ns, Role.SETUP)
        return []

    def _on_buffers(self, frame: FeigFrame, now_ns: int) -> Found:
        if not has_table(frame):
            reason = f'it has no buffer ({describe(frame.status)}); set mode "{self.options.mode}" with FEIG\'s tool'
            return [self._refused(reason, now_ns)]
        self._buffers = True
        self._look_at(frame)
        self._reads |= bool(table_length(frame))
        self._next(now_ns)
        return []

    def _next(self, now_ns: int) -> None:
        if self._suspect:
            self._ask_barrier(now_ns)
        elif self._table.may_clear:
            # Not asked twice: if its answer is lost, the table shows whether it was obeyed.
            self._ask((CLEAR_BUFFER, b""), self._on_cleared, now_ns, Role.BARRIER)
            self._table.cleared()
        elif self._table.waits or not self._reads:
            self._life_ns = now_ns
            self._ask((BUFFER_INFO, b""), self._on_life, now_ns, Role.BARRIER)
        else:
            command = (READ_BUFFER, self._asks_for.to_bytes(2, "big"))
            timeout_ms = self.options.inventory_timeout_ms
            self._ask(command, self._on_buffer, now_ns, Role.BARRIER, timeout_ms=timeout_ms)

    def _pause(self, now_ns: int) -> None:
        """Until the next question is due; none waits longer because others came in between."""
        if self._table.may_clear:
            self._rest(now_ns)
        elif self._table.waits or not self._reads:
            self._rest(max(now_ns, self._life_ns + self.options.ping_ms * MS))
        else:
            self._rest(now_ns + self.options.poll_ms * MS)

    def _on_life(self, frame: FeigFrame, now_ns: int) -> Found:
        self._look_at(frame)
        self._pause(now_ns)
        return []

    def _look_at(self, frame: FeigFrame) -> None:
        """How full the table is: whether there may be anything in it that is not known."""
        assert self._question is not None, "it was asked"
        length = table_length(frame)
        if length == 0:
            self._table.emptied()
            self._cleared_ns = self._question.first_ns
        if length is not None and length <= self._table.held:
            self._taken_ns = self._question.first_ns

    def _on_buffer(self, frame: FeigFrame, now_ns: int) -> Found:
        assert self._question is not None, "it was asked"
        asked_ns = self._question.first_ns
        found: Found = []
        self._reads = self.options.mode == "buffered"
        if frame.status == Status.NO_VALID_DATA:
            self._table.emptied()
            self._taken_ns = self._cleared_ns = asked_ns
        elif self.options.mode == "notify" and not has_table(frame):
            self._foreign += 1  # it will repeat its notification
        else:
            found = self._table.take(frame, TimeSpan(self._taken_ns, now_ns))
            if 0 < self._table.held < self._asks_for and frame.status != Status.MORE_DATA:
                self._taken_ns = asked_ns
            elif self._table.held >= self._asks_for:
                self._asks_for = min(self._asks_for + 1, self._most)
        self._pause(now_ns)
        return found

    def _on_silence(self, question: Question[FeigFrame], now_ns: int) -> Found:
        if question.command[0] == READ_BUFFER:
            # Its data sets may be longer than reckoned with, so that so many of them never arrive whole.
            self._asks_for = max(1, self._asks_for // 2)
        return super()._on_silence(question, now_ns)

    def _unasked(self, frame: FeigFrame, now_ns: int) -> Found:
        if frame.command != READ_BUFFER or self.options.mode != "notify" or self._closed:
            return super()._unasked(frame, now_ns)
        if not self._known:
            self._early = frame
            return []
        found = self._table.take(frame, TimeSpan(self._taken_ns, now_ns))
        if self._table.may_clear:
            self._hurry()
        return found

    def _on_cleared(self, frame: FeigFrame, now_ns: int) -> Found:
        if frame.status != Status.OK:
            self._foreign += 1
            self._pause(now_ns)
            return []
        self._cleared_ns = self._taken_ns
        if self.options.mode == "buffered" or not self._table.timed:
            self._table.forget()
        self._pause(now_ns)
        return []
