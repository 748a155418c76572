"""A metraTec HF reader of the first generation: lines of ASCII, one or several antenna ports.

Hello: ``BRK`` ends a continuous run that somebody left (BRA, or NCM if there was none), ``COF`` ends checksums
where the reader asks for them (CCE), ``RFW`` names model and firmware.  Set-up: ``MOD 156``, ``SRI SS 100``,
``SET PWR`` if asked for, ``SAP ARP ON`` with several ports.  A look: ``SAP MAN n`` and ``INV``; or, with
``select = "auto"``, only ``INV`` after one ``SAP AUT n``, where the reader itself goes from port to port.

An inventory is UIDs, perhaps error words, ``ARP nn`` and ``IVF nn``.  The count must be that of the UIDs and the
port the one that was asked, else the answer proves nothing.  There is no checksum: a damaged UID of a right
shape counts as a tag that was there once.

Lanes "ont", for a single port: ``INV ONT`` names each tag once while it has power; ``SRI OFF`` and ``SRI SS 100``
before a full look wake all.  Beside other readers the field goes on behind ``SAP MAN``, else it would be on at the port
of the look before.  ``SRT`` and ``RNW`` mean that the reader has started anew.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from firmware_bridge.framing.metratec import CR, UNREADABLE, MetratecDecoder, encode
from firmware_bridge.session.asking import LIFE_MS, MS, Command, Found, Role, common_problem, loss_problem
from firmware_bridge.session.inventory import inventory_ns
from firmware_bridge.session.polled import PolledSession
from firmware_bridge.session.schedule import Lane, Look, Member
from firmware_bridge.wire import MAX_TAGS_PER_INVENTORY, BootId, DeviceUp

NO_BOOT = BootId(0)
MAX_PORTS = 16
EXCHANGE_NS = 2 * MS
SWITCH_NS = 5 * MS
FIELD_RESET_NS = 20 * MS
BARRIERS: tuple[Command, ...] = ("RFW", "BRK")
POWERS_MW = frozenset((100, 200, *range(500, 4001, 250)))
_REFUSALS = frozenset(("CCE", "UCO", "UPA", "NOS", "EHX", "EDX", "WDL", "CRT"))


class MetratecOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Options of the driver.  Times in milliseconds."""

    antennas: tuple[int, ...]
    select: Literal["manual", "auto"] = "manual"
    """"auto": the reader itself goes from port to port; then the antennas are 1, 2, 3 … in this order."""
    first_port: int = 0
    """Number of the first antenna port on the wire, 0 or 1: antenna ``a`` is port ``a - 1 + first_port``."""
    power_mw: int | None = None
    """Output power: 100, 200, or 500 to 4000 in steps of 250; without it the reader's own setting stays."""
    lanes: Literal["sweep", "ont"] = "sweep"
    """"ont": the reader names only chips that are new, so that they are seen sooner; for a single antenna."""
    presence_ms: int = 1000
    new_chips: int = 5
    chips_per_antenna: int = 20
    inventory_timeout_ms: int = 400
    reply_timeout_ms: int = 100
    gap_ms: int = 400
    lost_after_ms: int = 800
    silent_limit: int = 3
    min_sweep_ms: int = 20

    def problem(self, _byte_ns: int = 0) -> str | None:
        """What is wrong with these options, None if nothing."""
        antennas = self.antennas
        problem = common_problem(self, MAX_PORTS)
        if problem is not None:
            return problem
        if self.first_port not in (0, 1):
            return "'first_port' must be 0 or 1"
        if self.select == "auto" and antennas != tuple(range(1, len(antennas) + 1)):
            return "with 'select' = \"auto\" the antennas are 1, 2, 3 … in this order"
        if self.power_mw is not None and self.power_mw not in POWERS_MW:
            return "'power_mw' must be 100, 200 or 500 to 4000 in steps of 250"
        if self.lanes == "ont" and len(antennas) > 1:
            return "'lanes' = \"ont\" needs an antenna that stays energised; several take turns"
        return loss_problem(self, self.inventory_timeout_ms)


class Answer(msgspec.Struct, frozen=True):
    """A word, or an inventory: then ``word`` is "IVF", ``count`` what it announced and ``port`` what it named."""

    word: str
    uids: tuple[str, ...] = ()
    unreadable: int = 0
    port: int | None = None
    count: int = 0


class AnswerDecoder:
    """Lines to answers.  An inventory that is interrupted by another line, or by silence, is given up and counted."""

    def __init__(self) -> None:
        self._lines = MetratecDecoder()
        self._named: list[str] = []
        self._unreadable = 0
        self._port: int | None = None
        self._held = 0
        self.broken = 0
        """Inventories that did not come to their end."""

    @property
    def fed(self) -> int:
        """Bytes received."""
        return self._lines.fed

    @property
    def framed(self) -> int:
        """Bytes that became answers, or are held for one."""
        return self._lines.framed - self._held

    @property
    def garbage(self) -> int:
        """Bytes given up."""
        return self._lines.garbage

    @property
    def frames(self) -> int:
        """Lines understood."""
        return self._lines.frames

    @property
    def refused(self) -> int:
        """Lines that were not understood."""
        return self._lines.refused

    @property
    def last_refused(self) -> bytes:
        """The newest of those."""
        return self._lines.last_refused

    @property
    def pending(self) -> int:
        """Bytes of a line or an inventory that is not at its end."""
        return self._lines.pending + self._held

    def feed(self, data: bytes) -> list[Answer]:
        """Takes bytes as they came; returns the complete answers, oldest first."""
        found: list[Answer] = []
        for line in self._lines.feed(data):
            answer = self._line(line)
            if answer is not None:
                found.append(answer)
        return found

    def gap(self) -> list[Answer]:
        """Silence: neither half a line nor an inventory under way will be completed."""
        self.clear()
        return []

    def clear(self) -> None:
        """Gives up what is pending, counted."""
        self._break_off()
        self._lines.clear()

    def _line(self, line: str) -> Answer | None:
        if line.startswith("IVF "):
            answer = Answer("IVF", tuple(self._named), self._unreadable, self._port, int(line[4:]))
            self._start_over()
            return answer
        if line.startswith("ARP "):
            self._port = int(line[4:])
        elif len(line) == 16 and " " not in line:
            self._named.append(line)
        elif line in UNREADABLE:
            self._unreadable += 1
        elif line == "HBT":
            return None
        else:
            self._break_off()
            return Answer(line)
        self._held += len(line) + len(CR)
        if len(self._named) + self._unreadable > 2 * MAX_TAGS_PER_INVENTORY:
            self._break_off()
        return None

    def _break_off(self) -> None:
        self.broken += self._held > 0
        self._start_over()

    def _start_over(self) -> None:
        self._named.clear()
        self._unreadable = self._held = 0
        self._port = None


class MetratecSession(PolledSession[Answer, MetratecOptions]):
    """One reader."""

    barriers = BARRIERS
    kind = "metraTec reader"
    line_advice = "the baud rate (115200 8N1 as shipped)"

    # -- words -----------------------------------------------------------------------------------

    def _new_decoder(self) -> AnswerDecoder:
        return AnswerDecoder()

    def member_in(self, *, shared: bool) -> Member:
        """See `schedule.Member`; a UID is a line of 17 bytes."""
        options = self.options

        def exchange(sent: int, received: int) -> int:
            return EXCHANGE_NS + (sent + received) * self._byte_ns

        def inventory(chips: int) -> int:
            return inventory_ns(chips) + exchange(8, 14 + 17 * chips)

        between = exchange(4, 22)
        field = exchange(8, 4) + between + exchange(11, 4) + FIELD_RESET_NS
        ont = options.lanes == "ont" and not shared
        several = len(options.antennas) > 1
        around = (exchange(11, 4) + SWITCH_NS if several else between) + shared * (field + several * between)
        around += between * (shared or options.min_sweep_ms > LIFE_MS)
        return Member(
            device=self.device,
            antennas=options.antennas,
            full_ns=(around + inventory(options.chips_per_antenna) + ont * field,) * len(options.antennas),
            fresh_ns=around + inventory(options.new_chips) if ont else None,
            presence_ns=options.presence_ms * MS,
            rest_ns=options.min_sweep_ms * MS,
        )

    def _reset(self) -> None:
        self._unsure()

    def _unsure(self) -> None:
        self._field_on: bool | None = None
        """None: not known."""
        # Beside others the field stays off until the first look: it would make the tags of their looks miss.
        settings = ["SRI OFF", "MOD 156"] if self._turns.plan.shared else ["MOD 156", "SRI SS 100"]
        if self.options.power_mw is not None:
            settings.append(f"SET PWR {self.options.power_mw}")
        if len(self.options.antennas) > 1:
            settings.append("SAP ARP ON")
            if self._automatic:
                settings.append(f"SAP AUT {len(self.options.antennas)}")
        self._settings = settings

    @property
    def _muting(self) -> bool:
        return self.options.lanes == "ont"

    @property
    def _automatic(self) -> bool:
        return self.options.select == "auto" and not self._turns.plan.shared

    def _key_of(self, command: Command) -> object:
        word = str(command).split(" ")[0]
        return word if word in ("BRK", "RFW", "INV") else "OK!"

    def _answers_to(self, frame: Answer) -> object:
        if frame.word in _REFUSALS:
            # It answers whatever was asked: answers come in order, and no barrier is ever refused.
            return self._key_of(self._question.command) if self._question is not None else None
        if frame.word in ("BRA", "NCM"):
            return "BRK"
        if frame.word in ("IVF", "RNW"):
            return "INV"
        if frame.word == "OK!":
            return "OK!"
        return "RFW" if " " in frame.word else None

    def _encode(self, command: Command) -> bytes:
        text = str(command)
        return encode(text, checksum=text == "COF")

    # -- set-up ----------------------------------------------------------------------------------

    def _say_hello(self, now_ns: int) -> None:
        self._ask("BRK", self._on_break, now_ns, Role.HELLO)

    def _on_break(self, answer: Answer, now_ns: int) -> Found:
        if answer.word == "CCE":
            self._ask("COF", self._on_no_checksums, now_ns, Role.HELLO)
        elif answer.word in _REFUSALS:
            return [self._refused(f"BRK answered with {answer.word}", now_ns)]
        else:
            self._ask("RFW", self._on_version, now_ns, Role.HELLO)
        return []

    def _on_no_checksums(self, answer: Answer, now_ns: int) -> Found:
        if answer.word != "OK!":
            return [self._refused(f"COF answered with {answer.word}", now_ns)]
        self._say_hello(now_ns)
        return []

    def _on_version(self, answer: Answer, now_ns: int) -> Found:
        name, _, number = answer.word.rpartition(" ")
        if answer.word in _REFUSALS:
            name, number = "HF reader", ""
        firmware = f"{number[-4:-2]}.{number[-2:]}" if number else "unknown"
        up = DeviceUp(
            self.device, self._span(now_ns), model=f"metraTec {name.strip()}", firmware=firmware, boot=NO_BOOT
        )
        self._ask_barrier(now_ns)
        return [up]

    def _after_barrier(self, now_ns: int) -> Found:
        if self._settings:
            self._ask(self._settings[0], self._on_setting, now_ns, Role.SETUP)
            return []
        return super()._after_barrier(now_ns)

    def _on_setting(self, answer: Answer, now_ns: int) -> Found:
        setting = self._settings.pop(0)
        if answer.word != "OK!":
            return [self._refused(f"'{setting}' answered with {answer.word}", now_ns)]
        if setting.startswith("SRI "):
            self._field_on = setting != "SRI OFF"
        return self._after_barrier(now_ns)

    def _unasked(self, frame: Answer, now_ns: int) -> Found:
        if frame.word != "SRT" or self._closed or not self._is_up:
            return super()._unasked(frame, now_ns)
        return [self._rebooted(now_ns)]

    # -- a look ----------------------------------------------------------------------------------

    def _begin_look(self, look: Look, now_ns: int) -> None:
        if self._muting and look.lane is Lane.FULL and self._field_on is not False:
            self._ask("SRI OFF", self._on_off, now_ns)
        elif len(self.options.antennas) > 1 and not self._automatic:
            # Before the field is on: at the port of the last look it would be on beside others.
            self._ask(f"SAP MAN {self._port_of(look.antenna)}", self._on_port, now_ns)
        else:
            self._energise(now_ns)

    def _energise(self, now_ns: int) -> None:
        """The field; where it is on, something else between two inventories all the same: a reply that comes twice
        cannot answer the next one.
        """
        if not self._field_on:
            self._ask("SRI SS 100", self._on_field, now_ns)
        elif len(self.options.antennas) > 1 and not self._automatic:
            self._ask_inventory(now_ns)
        else:
            self._ask("RFW", self._on_between, now_ns)

    def _on_between(self, _answer: Answer, now_ns: int) -> Found:
        self._ask_inventory(now_ns)
        return []

    def _port_of(self, antenna: int) -> int:
        return antenna - 1 + self.options.first_port

    def _on_off(self, answer: Answer, now_ns: int) -> Found:
        if answer.word != "OK!":
            return self._spoilt(f"the field would not switch off: {answer.word}", now_ns)
        self._field_on = False
        self._energise(now_ns)
        return []

    def _on_field(self, answer: Answer, now_ns: int) -> Found:
        if answer.word != "OK!":
            return self._spoilt(f"the field would not switch on: {answer.word}", now_ns)
        self._field_on = True
        self._ask_inventory(now_ns)
        return []

    def _on_port(self, answer: Answer, now_ns: int) -> Found:
        if answer.word != "OK!":
            return self._spoilt(f"port {self._port_of(self._antenna)} refused: {answer.word}", now_ns)
        self._energise(now_ns)
        return []

    def _ask_inventory(self, now_ns: int) -> None:
        self._look_ns = now_ns
        command = "INV ONT" if self._muting else "INV"
        self._ask(command, self._on_inventory, now_ns, timeout_ms=self.options.inventory_timeout_ms)

    def _on_inventory(self, answer: Answer, now_ns: int) -> Found:
        if answer.word == "RNW":
            found = self._spoilt("the reader has lost its settings (RNW)", now_ns)
            return [*found, self._rebooted(now_ns)]
        if answer.word != "IVF":
            return self._spoilt(f"inventory refused: {answer.word}", now_ns)
        if len(self.options.antennas) > 1:
            problem = self._check_port(answer.port)
            if problem:
                return self._spoilt(problem, now_ns)
        self._uids = set(answer.uids)
        whole = not answer.unreadable and answer.count == len(answer.uids) == len(self._uids)
        if not whole and not self._uids:
            return self._spoilt(f"{answer.count} tags announced, {answer.unreadable} could not be read", now_ns)
        return self._book(now_ns, complete=whole)

    def _check_port(self, port: int | None) -> str:
        if port is None:
            return "an inventory without its antenna port (ARP)"
        antenna = port - self.options.first_port + 1
        if antenna == self._antenna:
            return ""
        if self._automatic and antenna in self.options.antennas:
            # The reader is ahead or behind; what it names is the truth.
            self._look = Look(antenna)
            return ""
        return f"port {port} answered, port {self._port_of(self._antenna)} was asked"

    # -- darkness --------------------------------------------------------------------------------

    def _go_dark(self, now_ns: int) -> bool:
        if self._field_on is False:
            return False
        self._ask("SRI OFF", self._on_dark, now_ns, Role.DARK)
        return True

    def _on_dark(self, answer: Answer, now_ns: int) -> Found:
        if answer.word != "OK!":
            return [self._refused(f"will not switch its field off: {answer.word}", now_ns)]
        self._field_on = False
        self._is_dark(now_ns)
        return []
