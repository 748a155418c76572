"""What the simulation found in production, each as small as it gets."""

from __future__ import annotations

from firmware_bridge.session.feig import FeigSession
from firmware_bridge.session.plan import FeigOptions
from firmware_bridge.wire import BootId, DeviceId, Present, Press, Tag, TimeSpan
from hw_sim.devices.feig import FeigReader
from hw_sim.memory import MemoryPort
from tabled.core.entries import Seen, Started
from tabled.model.outcome import QuestionAsked, RulingIssued
from tests.core.driver import PANEL, READER, Bench

MS = 1_000_000


def test_an_answer_that_comes_late_at_the_end_of_a_short_sweep() -> None:
    """The last antenna was asked twice, and the sweep is over before its least period: after the rest a barrier is
    sent, and its answer must begin the next sweep."""
    session = FeigSession(DeviceId("reader"), FeigOptions(antennas=(1, 2), min_sweep_ms=400))
    port = MemoryPort(FeigReader(lambda _: [], antennas=2))
    session.start(0)
    asked = 0
    for ms in range(2_000):
        out = session.outgoing()
        if out:
            asked += 1
            # Hello, barrier, and for each antenna a switch and an inventory: the fifth switches to the last one.
            if asked != 5:
                port.write(out, ms * MS)
        data = port.read(ms * MS)
        if data:
            session.receive(data, ms * MS)
        if session.next_wake_ns is not None and ms * MS >= session.next_wake_ns:
            session.wake(ms * MS)
    assert session.figures().sweep_ns is not None


def test_change_from_the_tray_is_not_bet_again() -> None:
    """One 500 over a bet of 100 is a call, 400 back in change.  Raised to 300, the seat adds exactly 200: a call."""
    bench = Bench()
    bench.deal()
    bench.put("3", 500)
    bench.wait(2_500)
    assert (bench.final("3").ruling.action, bench.final("3").ruling.back) == ("call", 400)
    bench.put("1", 100, 100, 25, 25)
    bench.wait(2_500)
    assert bench.final("1").ruling.to == 300
    bench.press("fold")
    bench.put("3", 100, 100)
    bench.wait(2_500)
    # Nobody can see whether the dealer gave it out of the tray, so he is asked.
    assert bench.of(QuestionAsked)[-1].reason.code == "ask_change_given"
    bench.press("key_a")
    ruling = bench.final("3").ruling
    assert (ruling.action, ruling.to, ruling.back) == ("call", 300, 0)


def test_a_chip_is_not_booked_at_two_seats() -> None:
    """The big blind's chip answers once on the antenna of a seat that has folded."""
    bench = Bench()
    bench.deal()
    bench.press("fold")
    (uid,) = bench.lines["2"]
    bench.feed(Seen(at_ns=bench.ns, observation=Present(READER, TimeSpan(bench.ns, bench.ns), 3, (Tag(uid),))))
    assert [seat for seat, line in bench.state.lines.items() if uid in line.settled] == ["2"]


def test_a_neighbours_chip_is_no_post() -> None:
    """Before anything is posted by seat 1, the big blind's chip answers once on its antenna."""
    bench = Bench()
    bench.start()
    (uid,) = bench.put("2", 100)
    bench.wait(400)
    bench.feed(Seen(at_ns=bench.ns, observation=Present(READER, TimeSpan(bench.ns, bench.ns), 1, (Tag(uid),))))
    assert bench.state.phase == "posting"


def test_a_declaration_outlives_a_reboot() -> None:
    """Declared all-in, host rebooted, chips come: the ruling becomes final within seconds of the new clock."""
    bench = Bench()
    bench.now_ms = 3_600_000
    bench.wait(200)
    bench.deal()
    bench.press("raise")
    bench.now_ms = 20_000
    bench.feed(Started(at_ns=bench.ns, epoch="e", clock="another", version="0", config=bench.config))
    bench.state_bounds()
    bench.put("3", 100, 100, 100, 100)
    bench.wait(10_000)
    assert bench.state.question is not None or bench.final("3").ruling.to == 400


def test_what_the_floor_was_asked_is_not_replaced_in_silence() -> None:
    """Too little over a raise is the floor's to decide; more chips come: what replaces a final ruling says which one it
    ``corrects``."""
    bench = Bench(profile="tda-2024")
    bench.deal()
    bench.put("3", 100, 100, 100)
    bench.wait(2_500)
    bench.put("1", 100)
    bench.wait(4_000)
    assert bench.final("1").ruling.action == "floor"
    bench.put("1", 100, 25, 25)
    bench.wait(4_000)
    rulings = {position: o for position, o in bench.outcomes if isinstance(o, RulingIssued)}
    replaced = [o for o in rulings.values() if o.replaces in rulings and rulings[o.replaces].status == "final"]
    assert replaced
    assert all(o.corrects == o.replaces for o in replaced)


def test_a_neighbours_chips_are_no_act() -> None:
    """The big blind's chip answers twice on the antenna of the seat to act, then only on its own again."""
    bench = Bench()
    bench.deal()
    (uid,) = bench.lines["2"]
    for _ in range(2):
        bench.feed(Seen(at_ns=bench.ns, observation=Present(READER, TimeSpan(bench.ns, bench.ns), 3, (Tag(uid),))))
    bench.wait(5_000)
    assert not [r for r in bench.of(RulingIssued) if r.status == "final"]


def test_a_late_word_is_not_the_next_seats() -> None:
    """The panel was away: "all in" of seat 3, pressed before its chips came, arrives after they were ruled on."""
    bench = Bench()
    bench.deal()
    pressed = TimeSpan(bench.ns, bench.ns)
    bench.put("3", 100)
    bench.wait(3_000)
    assert bench.final("3").ruling.action == "call"
    bench.feed(Seen(at_ns=bench.ns, observation=Press(PANEL, pressed, BootId(7), 1, "all_in", said_first=True)))
    bench.wait(5_000)
    finals = [r for r in bench.of(RulingIssued) if r.status == "final"]
    assert {r.ruling.seat for r in finals} == {"3"}
    assert (finals[-1].ruling.all_in, finals[-1].corrects is not None) == (True, True)


def test_a_missing_post_is_asked_for() -> None:
    """The small blind never comes (or was never read): after half a minute the dealer is told whose post is missing."""
    bench = Bench()
    bench.start()
    bench.put("2", 100)
    bench.wait(30_000)
    assert bench.state.phase == "posting"
    assert bench.state.faults
