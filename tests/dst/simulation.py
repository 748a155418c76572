"""One seed: people play hands, the daemon watches, things break and are mended, all in virtual time."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter, deque
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from firmware_bridge.session.panel import PanelSession
from firmware_bridge.wire import DeviceId
from hw_sim.devices.faults import NO_FAULTS
from hw_sim.devices.feig import QUIET
from hw_sim.generate import generate_hand
from hw_sim.hands import Hand
from hw_sim.memory import MemoryTable
from hw_sim.people import Pace
from hw_sim.table import TableOptions
from tabled.core.entries import TableConfig
from tabled.core.state import TableState, view
from tabled.fusion.settings import FusionSettings
from tabled.journal import JournalUnwritable
from tabled.model.layout import Antenna, Layout, Place
from tabled.outlets.topics import STATE
from tabled.shell import replay
from tabled.shell.config import adjacent
from tabled.shell.engine import Committed, JournalMismatch
from tabled.shell.profiles import load as load_profile
from tests.dst import invariants as inv
from tests.dst import truth
from tests.dst.broker import Broker
from tests.dst.clock import MS, Clock, S
from tests.dst.death import POINTS, Killed, Reaper
from tests.dst.disk import Disk, folder
from tests.dst.host import SWEEP_MS, Host, House, Parts, Watch
from tests.dst.mix import Fault, Mix, draw
from tests.dst.witness import Witness

PATIENCE_S = 60.0
"""People wait so long for a ruling before they say that there is none: longer than any fault lasts."""
PACE = Pace(think_s=(0.2, 0.6), board_s=0.5, show_s=0.3, between_hands_s=1.0, ruling_timeout_s=PATIENCE_S)
"""People of common speed who waste no time between acts."""
MAX_VIRTUAL_S = 7200
MAX_STEPS = 5_000_000
REFUSALS = ("BEGIN", "INSERT", "COMMIT")
TRACE_KEPT = 400
SETTLE_NS = 12 * S
"""After the last act: time for the longest give-up and back-off of the outlet."""


class Report(msgspec.Struct, kw_only=True):
    """What came of a seed.  ``broken`` is the invariant that failed, "" for none."""

    mix: Mix
    broken: str = ""
    what: str = ""
    virtual_s: float = 0.0
    counts: dict[str, int] = {}
    trace: list[str] = []

    @property
    def ok(self) -> bool:
        """True when every invariant held."""
        return not self.broken


def run(seed: int, *, parts: Parts | None = None, trace: Callable[[str], None] | None = None) -> Report:
    """Simulate one seed from the first chip to the last message."""
    return run_mix(draw(seed), parts=parts, trace=trace)


def run_mix(mix: Mix, *, parts: Parts | None = None, trace: Callable[[str], None] | None = None) -> Report:
    """As `run`, with a mix that somebody made."""
    where = tempfile.mkdtemp(prefix="tabled-dst-", dir=folder() or None)
    simulation = Simulation(mix, Path(where), parts or Parts(), trace)
    report = Report(mix=mix)
    try:
        simulation.play()
    except inv.Broken as broken:
        report.broken, report.what = broken.name, broken.what
    except JournalMismatch as problem:
        report.broken, report.what = inv.replay_equals_what_was_published.__name__, str(problem)
    except Exception as error:  # a fault of production ends the seed like a broken invariant, with its own words
        report.broken, report.what = "no_exception", f"{type(error).__name__}: {error}"
        simulation.note(_where(error))
    finally:
        simulation.close()
        shutil.rmtree(where, ignore_errors=True)
    report.virtual_s = simulation.clock.virtual_ns / S
    report.counts = dict(simulation.counts)
    report.trace = list(simulation.tail)
    return report


def _where(error: BaseException) -> str:
    trace = error.__traceback__
    lines = []
    while trace is not None:
        code = trace.tb_frame.f_code
        lines.append(f"{Path(code.co_filename).name}:{trace.tb_lineno} {code.co_name}")
        trace = trace.tb_next
    return "RAISED " + " > ".join(lines[-8:])


def _hands(mix: Mix) -> list[Hand]:
    """Hands of a mix, without those that a known fault would spoil (see `truth`)."""
    drawn = (generate_hand(mix.seed * 1_000 + n, mix.seats) for n in range(1_000))
    return list(islice((hand for hand in drawn if not truth.change_from_the_tray(hand)), mix.hands))


class Simulation:
    """See the module's docstring.  ``counts`` says how much happened."""

    def __init__(self, mix: Mix, where: Path, parts: Parts, trace: Callable[[str], None] | None) -> None:
        self.mix = mix
        self.clock = Clock()
        self.counts: Counter[str] = Counter()
        self.tail: deque[str] = deque(maxlen=TRACE_KEPT)
        self._trace = trace
        self._chance = Random(mix.seed * 7919 + 5)
        self.pressed: dict[inv.Press, str] = {}
        self._moved_ns: dict[str, int] = {}
        self._registry: dict[str, int] = {}
        self.witness = Witness(where / "table.journal")
        self.hands = _hands(mix)
        self.table = MemoryTable(
            self.hands,
            options=TableOptions(seed=mix.seed, seats=mix.seats, real_rf=True, noise=mix.noise),
            pace=PACE,
            faults=mix.serial,
            sink=self._on_truth,
        )
        self._registry = {c.uid: c.denomination for c in self.table.table.world.chips}
        self.broker = Broker(self._hear)
        self.reaper = Reaper()
        self.house = House(
            path=where / "table.journal",
            epoch=f"epoch-{mix.seed}",
            config=self._config(),
            antennas=tuple(range(1, mix.seats + 1)),
            ports=self.table.ports,
            clock=self.clock,
            broker=self.broker,
            disk=Disk(self.reaper),
            reaper=self.reaper,
            chance=self._chance,
            watch=Watch(
                written=self.witness.written,
                published=self.witness.published,
                committed=self._on_committed,
                recovered=self._on_recovered,
                note=self.note,
            ),
            parts=parts,
        )
        self.host: Host | None = None
        self._expected: TableState | None = TableState()
        self._starts_ns = 0
        self._paused_until_ns = 0
        self._faults = deque(mix.faults)
        self._mends: list[tuple[int, str, str]] = []
        self._healed = False
        self._stacks = {h.hand: sum(h.stacks) for h in self.hands}
        self._checked: tuple[object, object] = (None, None)
        self._felt_ns = 0
        self._steady_ns = 0
        self._sized = (-1, -1)

    def _config(self) -> TableConfig:
        seats = self.table.table.seats
        antennas = tuple(Antenna(DeviceId("reader"), n, Place("bet", s)) for n, s in enumerate(seats, start=1))
        return TableConfig(
            site="dst",
            table="t1",
            layout=Layout(seats, antennas, adjacent(seats, [a.place for a in antennas])),
            chips=self._registry,
            profile=load_profile("tda-2024"),
            fusion=FusionSettings(one_motion_ms=500, two_motions_ms=1200),
        )

    def close(self) -> None:
        """Give back files."""
        if self.host is not None:
            self.host.die()
            self.host = None
        self.witness.close()

    def note(self, text: str) -> None:
        """One line of the trace."""
        line = f"{self.clock.virtual_ns / S:10.4f}  {text}"
        self.tail.append(line)
        if self._trace is not None:
            self._trace(line)

    # -- time ------------------------------------------------------------------------------------

    def play(self) -> None:
        """Safety phase, healing, liveness, and the final look at everything."""
        self.note(self.mix.line())
        self._until(lambda: self.table.done and self._healed)
        self._until_ns(self.clock.virtual_ns + SETTLE_NS)
        self._settled()

    def _until(self, done: Callable[[], bool]) -> None:
        for _ in range(MAX_STEPS):
            if done():
                return
            self._step(MAX_VIRTUAL_S * S)
            if self.clock.virtual_ns >= MAX_VIRTUAL_S * S:
                raise inv.Broken("liveness", f"people are not done after {MAX_VIRTUAL_S} s")
        raise inv.Broken("liveness", f"people are not done after {MAX_STEPS} steps")

    def _until_ns(self, end_ns: int) -> None:
        while self.clock.virtual_ns < end_ns:
            self._step(end_ns)

    def _step(self, limit_ns: int) -> None:
        now_ns = max(min(self._due(limit_ns)), self.clock.virtual_ns)
        self.clock.virtual_ns = now_ns
        self.table.advance(now_ns)
        self._happen(now_ns)
        self.broker.step(now_ns)
        self._orders(now_ns)
        if self.host is None and now_ns >= self._starts_ns:
            self._start()
        if self.host is not None and now_ns >= self._paused_until_ns:
            self._turn(self.host)
        if now_ns >= self._felt_ns:
            self._felt_ns = now_ns + S // 2
            self._look_at_felt(now_ns)

    def _due(self, limit_ns: int) -> list[int]:
        times = [limit_ns, self.table.next_due_ns(), self.broker.next_due_ns(self.clock.virtual_ns)]
        if self._faults:
            times.append(self._faults[0].at_ns)
        times += [m[0] for m in self._mends]
        if not self._healed:
            times.append(self.mix.heal_ns)
        if self.host is None:
            times.append(self._starts_ns)
        elif self.clock.virtual_ns < self._paused_until_ns:
            times.append(self._paused_until_ns)
        else:
            times.append(self.host.next_due_ns())
        return [t for t in times if t is not None]

    # -- the process -----------------------------------------------------------------------------

    def _start(self) -> None:
        try:
            host = Host(self.house)
        except Killed as dead:
            self._died(f"KILLED while starting: {dead}")
        except JournalUnwritable as problem:
            self.note(f"daemon does not start: {problem.reason}")
            self.broker.drop()
            self._starts_ns = self.clock.virtual_ns + S
        else:
            self.host = host
            self.counts.update({"starts": 1, "from a kept state": int(host.engine.folded < host.recovered)})
            self.note(f"daemon started, {host.recovered} entries recovered, {host.engine.folded} of them folded again")
            self._turn(host)

    def _turn(self, host: Host) -> None:
        try:
            host.turn()
        except Killed as dead:
            self._kill(str(dead))
            return
        inv.kept_states_are_proved(host.engine.marks.doubt)
        now = (self.counts["inputs"], len(host.intake))
        if now != self._sized:
            self._sized = now
            self._size_up(host)

    def _size_up(self, host: Host) -> None:
        session = host.lines["panel"].session
        assert isinstance(session, PanelSession)
        waiting = {
            "inputs waiting": len(host.intake),
            "orders waiting": len(host.orders),
            "messages in flight": host.outlet.outbox.in_flight,
            "answers waiting": len(host.outlet.acks),
            "presses remembered by the session": len(session._acts._acknowledged),
            "presses in the panel": self.table.table.panel.pending,
        }
        inv.queues_under_caps(inv.sizes(host.engine.state, waiting))

    def _kill(self, why: str) -> None:
        assert self.host is not None
        before = self.host.engine.state
        self.host.die()
        self.host = None
        self._died(f"KILLED: {why}")
        self._check_recovery(before)

    def _died(self, why: str) -> None:
        self.note(why)
        self.counts["kills"] += 1
        self.broker.drop()
        self._starts_ns = self.clock.virtual_ns + self._chance.randint(50, 3000) * MS

    def _check_recovery(self, before: TableState) -> None:
        """What the dead process knew must come back, unless it died after a commit and before it knew of it."""
        self.witness.read_on()
        self._expected = before if before.position == self.witness.position else None

    def _on_recovered(self, state: TableState) -> None:
        if self._expected is not None:
            inv.recovery_is_exact(self._expected, state)
        self._expected = None

    # -- looking on ------------------------------------------------------------------------------

    def _on_committed(self, committed: Committed, state: TableState) -> None:
        self.counts["inputs"] += 1
        for position, outcome in committed.outcomes:
            self.counts["outcomes"] += 1
            self.note(f"{position} {outcome}")
        if (state.lines, state.attempts) != self._checked:
            self._checked = (state.lines, state.attempts)
            inv.chips_conserved(state, self._registry)
        inv.money_conserved(state, self._stacks)

    def _on_truth(self, line: str) -> None:
        fact = msgspec.json.decode(line)
        if fact["what"] == "move":
            self._moved_ns.update(dict.fromkeys(fact["chips"], fact["ns"]))
            self.note(f"    {fact['why']}: {len(fact['chips'])} chip(s) {fact['source']} to {fact['target']}")
        elif fact["what"] == "press" and fact["seq"]:
            self.pressed[self.table.table.panel.boot_id, fact["seq"]] = fact["key"]
            self.note(f"    press {fact['key']} {fact['amount'] or ''} seq {fact['seq']}")
        elif fact["what"] == "discrepancy":
            self._complaint(fact["about"], fact["ns"])

    def _complaint(self, about: str, now_ns: int) -> None:
        self.counts[f"people: {about}"] += 1
        self.note(f"    PEOPLE: {about}")
        began_ns = now_ns - round(PATIENCE_S * S)
        if self._healed and began_ns > self.mix.heal_ns and self.host is not None and about != "question_without_truth":
            inv.somebody_is_asked(about, self.host.engine.state, exact=self.mix.exact)

    def _hear(self, leaf: str, payload: bytes) -> None:
        self.witness.delivered(leaf, payload)
        self.table.hear(leaf, payload)

    def _orders(self, now_ns: int) -> None:
        if not self.broker.met:
            return  # the floor opens the table when it sees the daemon there
        for what, message in self.table.commands():
            copies = 2 if self._chance.random() < 0.1 and not self._healed else 1
            self.note(f"    floor orders {what}")
            self.broker.order(f"cmd/{what}", msgspec.json.encode(message), now_ns, copies=copies)

    def _look_at_felt(self, now_ns: int) -> None:
        host = self.host
        if host is None or not self._healed or host.lines["reader"].state != "up":
            self._steady_ns = now_ns
            return
        sweep_ns = max(host.lines["reader"].session.figures().sweep_max_ns or 0, SWEEP_MS * MS)
        seen_ns, gone_ns = 3 * sweep_ns + S, 12 * sweep_ns + 2 * S
        if now_ns - max(self._steady_ns, self.mix.heal_ns) > gone_ns:
            state = host.engine.state
            inv.felt_equals_accounts(state, self.table.table.world, self._moved_ns, now_ns, seen_ns, gone_ns)

    # -- faults ----------------------------------------------------------------------------------

    def _happen(self, now_ns: int) -> None:
        for mend in [m for m in self._mends if m[0] <= now_ns]:
            self._mends.remove(mend)
            self._mend(mend[1], mend[2])
        while self._faults and self._faults[0].at_ns <= now_ns:
            self._fault(self._faults.popleft(), now_ns)
        if not self._healed and now_ns >= self.mix.heal_ns:
            self._heal()

    def _fault(self, fault: Fault, now_ns: int) -> None:
        self.counts[f"fault: {fault.kind}"] += 1
        self.note(f"FAULT {fault.kind} {fault.what} for {fault.lasts_ns // MS} ms")
        table = self.table.table
        match fault.kind:
            case "unplug":
                self.table.ports[fault.what].unplug()
            case "panel_reset":
                table.panel.reset(now_ns)
            case "reader_restart":
                table.reader.restart(now_ns)
            case "broker_down" | "broker_empty":
                self.broker.stop(forget=fault.kind == "broker_empty")
            case "broker_mute":
                self.broker.mute = True
            case "broker_drop":
                self.broker.drop()
            case "kill":
                any_of_them = fault.number >= 2 * len(POINTS)
                self.reaper.arm(
                    fault.number if any_of_them else 0, "" if any_of_them else POINTS[fault.number % len(POINTS)]
                )
            case "disk":
                self.house.disk.refuses = REFUSALS[fault.number % 3]
            case "slow_disk":
                self.house.disk.latency_ns = (20 + 7 * fault.number) * MS
            case "pause":
                self._paused_until_ns = now_ns + fault.lasts_ns
            case "wall":
                self.clock.skew_ns = (3600 if fault.number % 2 else -3600) * S
            case "reboot":
                self._reboot(now_ns + fault.lasts_ns)
        if fault.lasts_ns:
            self._mends.append((now_ns + fault.lasts_ns, fault.kind, fault.what))

    def _mend(self, kind: str, what: str) -> None:
        match kind:
            case "unplug":
                self.table.ports[what].replug()
            case "broker_down" | "broker_empty":
                self.broker.start()
            case "broker_mute":
                self.broker.mute = False
            case "disk":
                self.house.disk.refuses = ""
            case "slow_disk":
                self.house.disk.latency_ns = 400_000

    def _reboot(self, until_ns: int) -> None:
        """The host goes down and comes back with another monotonic clock."""
        if self.host is not None:
            self._kill("power cut")
        self.house.disk.power_cut(self.house.path)
        self.clock.reboot()
        self.reaper.disarm()
        self._starts_ns = until_ns

    def _heal(self) -> None:
        """Everything works from now on."""
        self.note("HEALED")
        self._healed = True
        self._faults.clear()
        for _, kind, what in self._mends:
            self._mend(kind, what)
        self._mends.clear()
        self.reaper.disarm()
        self.table.table.reader.noise = QUIET
        for port in self.table.ports.values():
            for line in port._lines:
                line.plan = NO_FAULTS

    # -- the end ---------------------------------------------------------------------------------

    def _settled(self) -> None:
        """Everything is quiet: the invariants of the whole."""
        host, witness = self.host, self.witness
        if host is None:
            raise inv.Broken("liveness", "the daemon is not there at the end")
        witness.read_on()
        self.counts.update({"final rulings": witness.counts["final rulings"], "questions": witness.counts["question"]})
        self.counts["repeated deliveries"] = witness.repeats
        self.counts["hands ended"] = witness.counts["hand_ended"]
        self.counts["hands abandoned"] = sum(r.abandoned for r in self.table.people.records)
        inv.devices_are_up({name: line.state for name, line in host.lines.items()})
        inv.every_press_once(self.pressed, witness.presses)
        journal = host.journal
        pending, newest = journal.pending(journal.cursor(), 10), max(p for p, _ in witness.messages)
        inv.outbox_empty(len(pending), host.outlet.outbox.in_flight, journal.cursor(), newest)
        inv.everything_was_delivered(witness.messages, witness.heard, journal.epoch)
        shown = self.broker.retained.get(STATE)
        picture: dict[str, Any] = msgspec.to_builtins(view(host.engine.state))
        inv.display_equals_state(
            msgspec.json.decode(shown)["data"] if shown else None, msgspec.json.decode(msgspec.json.encode(picture))
        )
        self._replay()
        self._compare_with_truth()

    def _replay(self) -> None:
        problem = ""
        try:
            replay.run(self.house.path)
        except JournalMismatch as mismatch:
            problem = str(mismatch)
        inv.replay_equals_what_was_published(problem)

    def _compare_with_truth(self) -> None:
        for record in self.table.people.records:
            left = [d for d in record.discrepancies if not truth.said_before_the_chips(record, d)]
            record.discrepancies[:] = left
            wrong = [d for d in record.discrepancies if d["what"] in ("ruling", "extra_ruling", "street_pots")]
            self.counts["wrong rulings"] += len(wrong)
            self.counts["missing rulings"] += sum(d["what"] == "no_ruling" for d in record.discrepancies)
            refused = [d for d in record.discrepancies if d["what"] == "start_refused"]
            never = record.hand not in self.table.ears.started or len(refused) > 1
            if self.mix.exact and not never:
                record.discrepancies[:] = [d for d in record.discrepancies if d["what"] != "start_refused"]
                inv.rulings_are_true(record)
