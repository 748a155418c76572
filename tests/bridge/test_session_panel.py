"""The panel session against a scripted panel, without I/O: presses count once, times hold the truth."""

from __future__ import annotations

from typing import Any

import pytest

from firmware_bridge.session.acts import Acts
from firmware_bridge.session.panel import PanelOptions, PanelSession
from firmware_bridge.wire import KEYS, AnyObservation, DeviceId, DeviceLost, DeviceUp, Press, Restarted
from tests.bridge.peers import Panel, hello_payload, panel_frame, press_payload

MS = 1_000_000
S = 1_000_000_000
PANEL = DeviceId("panel")


class Desk:
    """A session and a panel on a line with 1 ms each way, in virtual time.  The panel's clock is 120 ppm fast."""

    ONE_WAY = MS

    def __init__(self, **options: Any) -> None:
        self.now = 100 * S
        self.zero_ns = 90 * S
        self.panel = Panel(now_us=lambda: int((self.now - self.zero_ns) * 1.00012) // 1000)
        self.session = PanelSession(PANEL, PanelOptions(**options))
        self.seen: list[AnyObservation] = []
        self.plugged = True
        self._next_beat = self.now + S
        self._next_resend = self.now + 200 * MS
        self.session.start(self.now)
        self.pump()

    def of(self, kind: type[Any]) -> list[Any]:
        return [o for o in self.seen if isinstance(o, kind)]

    def pump(self) -> None:
        """Host's bytes to the panel and its answer back."""
        while data := self.session.outgoing():
            self.now += self.ONE_WAY
            reply = self.panel.feed(data) if self.plugged else b""
            self.now += self.ONE_WAY
            if reply:
                self.seen += self.session.receive(reply, self.now)

    def say(self, data: bytes) -> None:
        """Panel's bytes to the host."""
        self.now += self.ONE_WAY
        if self.plugged:
            self.seen += self.session.receive(data, self.now)
        self.pump()

    def run(self, ms: int, *, beats: bool = True, resends: bool = True) -> None:
        end = self.now + ms * MS
        while True:
            wake = self.session.next_wake_ns
            times = [end, self._next_beat, self._next_resend, *([wake] if wake is not None else [])]
            self.now = max(self.now, min(times))
            if self.now >= end:
                return
            if self.now >= self._next_beat:
                self._next_beat = self.now + S
                if beats:
                    self.say(self.panel.heartbeat())
            if self.now >= self._next_resend:
                self._next_resend = self.now + 200 * MS
                if resends:
                    self.say(self.panel.resend())
            if wake is not None and self.now >= wake:
                self.seen += self.session.wake(self.now)
                self.pump()


def test_hello_names_the_panel() -> None:
    desk = Desk()
    up = desk.of(DeviceUp)[0]
    assert (up.model, up.firmware, up.boot) == ("test panel", "1.2", 0xB007)


def test_a_press_is_told_once_and_acknowledged_only_when_it_is_on_disk() -> None:
    desk = Desk()
    desk.run(2000)
    pressed = desk.now
    desk.say(desk.panel.press(6, seat=4, amount=800, flags=1))
    desk.run(1000)  # five resends
    (press,) = desk.of(Press)
    assert (press.key, press.seat, press.amount, press.said_first, press.boot, press.seq) == (
        "raise_to",
        4,
        800,
        True,
        0xB007,
        1,
    )
    assert press.span.earliest_ns <= pressed + 1000
    assert pressed <= press.span.latest_ns + 1000
    assert press.span.latest_ns - press.span.earliest_ns < 4 * MS
    assert desk.panel.acks == []
    desk.session.acknowledge(press)
    desk.pump()
    assert desk.panel.acks == [(0xB007, 1)]
    desk.run(1000)
    assert len(desk.of(Press)) == 1


def test_a_lost_ack_is_given_again_and_counts_once() -> None:
    desk = Desk()
    desk.run(1000)
    desk.say(desk.panel.press())
    press = desk.of(Press)[0]
    desk.plugged = False  # the ACK is lost on the way
    desk.session.acknowledge(press)
    desk.pump()
    desk.plugged = True
    assert desk.panel.acks == []
    desk.run(400)
    assert desk.panel.acks == [(0xB007, 1)]
    assert len(desk.of(Press)) == 1


def test_every_key_has_its_name() -> None:
    desk = Desk()
    desk.run(1000)
    for code in range(1, len(KEYS) + 1):
        desk.say(desk.panel.press(code))
    assert [p.key for p in desk.of(Press)] == list(KEYS)


@pytest.mark.parametrize(
    "bad",
    [
        {"key": 0},
        {"key": 19},
        {"seat": 11},
        {"seat": 77},
        {"flags": 2},
        {"seq": 0},
        {"boot": 0},
        {"amount": 10**15 + 1},
        {"amount": 2**64 - 1},
    ],
)
def test_presses_that_no_panel_sends_are_acknowledged_and_named(bad: dict[str, int]) -> None:
    desk = Desk()
    desk.run(1000)
    fields = {"seq": 77, "us": 5, "key": 3} | bad
    for _ in range(2):
        desk.say(panel_frame(3, press_payload(**fields), us=desk.panel.now_us()))
    assert desk.of(Press) == []
    assert desk.session.counters().foreign == 1
    assert desk.panel.acks == [(fields.get("boot", 0xB007), fields["seq"])] * 2  # or it would come for ever
    (note,) = desk.session.figures().notes
    assert f"key code {fields['key']}" in note
    assert "same release" in note
    desk.say(desk.panel.press(1))
    assert [p.key for p in desk.of(Press)] == ["fold"]


def test_another_schema_is_refused_by_name() -> None:
    desk = Desk()
    desk.panel.schema = 0x7AB1ED02
    desk.session.start(desk.now)
    desk.pump()
    lost = desk.of(DeviceLost)[0]
    assert "0x7AB1ED02" in lost.reason
    assert "test panel" in lost.reason
    assert "same release" in lost.advice
    desk.say(desk.panel.press())
    assert desk.of(Press) == []


def test_a_schema_that_changes_at_a_reboot_is_refused_too() -> None:
    desk = Desk()
    desk.run(1000)
    desk.panel.schema = 1
    desk.say(desk.panel.reboot(0xB0B0, keep=False))
    assert len(desk.of(Restarted)) == 1
    assert "0x00000001" in desk.of(DeviceLost)[0].reason


def test_a_press_before_the_hello_or_the_clock_is_left_to_the_panel() -> None:
    desk = Desk()
    desk.panel.mute = {1}
    desk.session.start(desk.now)
    desk.pump()
    desk.say(desk.panel.press())
    assert desk.of(Press) == []
    desk.panel.mute = set()
    desk.run(1000)
    assert [p.seq for p in desk.of(Press)] == [1]


def test_without_any_pong_a_press_still_comes_with_a_wide_span() -> None:
    desk = Desk()
    desk.panel.mute = {4}
    desk.session = PanelSession(PANEL)
    desk.session.start(desk.now)
    desk.pump()
    pressed = desk.now
    desk.say(desk.panel.press())
    desk.run(1500)
    (press,) = desk.of(Press)
    assert press.span.earliest_ns == 0
    assert pressed <= press.span.latest_ns < pressed + 10 * MS


def test_a_silent_panel_is_lost_within_a_second_of_dying() -> None:
    for age in range(0, 1000, 90):
        desk = Desk()
        desk.run(3000 + age)
        died = desk.now
        desk.plugged = False
        desk.run(1100)
        lost = desk.of(DeviceLost)[0]
        assert lost.span.latest_ns - died <= S
        assert "nothing heard for" in lost.reason
        assert "Check its cable" in lost.advice


def test_a_pause_of_300_ms_loses_nothing() -> None:
    desk = Desk()
    desk.run(3000)
    desk.plugged = False
    desk.run(300)
    desk.plugged = True
    desk.run(3000)
    assert desk.of(DeviceLost) == []


def test_three_seconds_without_a_heartbeat_are_a_loss_even_if_pings_are_answered() -> None:
    desk = Desk()
    desk.run(2000)
    desk.panel.mute = {2}
    desk.run(3200)
    assert "no heartbeat for" in desk.of(DeviceLost)[0].reason


def test_a_panel_that_never_pongs_lives_by_its_heartbeat() -> None:
    desk = Desk()
    desk.panel.mute = {4}
    desk.session = PanelSession(PANEL)
    desk.session.start(desk.now)
    desk.pump()
    desk.run(6000)
    assert desk.of(DeviceLost) == []


def test_no_hello_is_a_loss() -> None:
    desk = Desk()
    desk.seen.clear()
    desk.panel.mute = {1, 2, 3, 4}
    desk.session.start(desk.now)
    desk.pump()
    desk.run(1100)
    assert desk.of(DeviceLost)[0].reason == "no answer to the hello"


def test_a_reboot_is_told_and_the_old_boots_presses_keep_an_honest_span() -> None:
    desk = Desk()
    desk.run(4000)
    clear = desk.now  # nothing was pending up to here, and a heartbeat said so less than a second ago
    desk.plugged = False
    pressed = desk.now
    desk.panel.press(1)
    desk.plugged = True
    desk.zero_ns = desk.now
    desk.say(desk.panel.reboot(0xB0B0, keep=True))
    desk.run(1000)
    (restarted,) = desk.of(Restarted)
    assert restarted.boot == 0xB0B0
    assert [u.boot for u in desk.of(DeviceUp)] == [0xB007, 0xB0B0]
    (press,) = desk.of(Press)
    assert (press.boot, press.seq) == (0xB007, 1)
    assert clear - 1100 * MS <= press.span.earliest_ns <= pressed <= press.span.latest_ns
    desk.session.acknowledge(press)
    desk.pump()
    desk.run(400)
    assert desk.panel.acks == [(0xB007, 1)]
    assert desk.panel.queue == {}


def test_an_old_boots_press_without_any_clear_heartbeat_begins_at_zero() -> None:
    desk = Desk()
    desk.panel.queue[(0xDEAD, 9)] = press_payload(9, 1, boot=0xDEAD)
    desk.run(1000)
    (press,) = desk.of(Press)
    assert press.span.earliest_ns == 0
    assert press.span.latest_ns <= desk.now


def test_the_same_seq_of_two_boots_is_two_presses() -> None:
    desk = Desk()
    desk.run(1000)
    desk.say(desk.panel.press(1))
    desk.say(desk.panel.reboot(0xB0B0, keep=False))
    desk.run(500)
    desk.say(desk.panel.press(2))
    assert [(p.boot, p.seq, p.key) for p in desk.of(Press)] == [(0xB007, 1, "fold"), (0xB0B0, 1, "check")]


def test_a_press_resent_after_a_replug_counts_once() -> None:
    desk = Desk()
    desk.run(1000)
    desk.say(desk.panel.press())
    press = desk.of(Press)[0]
    desk.plugged = False
    desk.session.acknowledge(press)
    desk.pump()
    desk.run(1500)
    assert desk.of(DeviceLost)
    desk.plugged = True
    desk.session.start(desk.now)
    desk.pump()
    desk.run(1000)
    assert len(desk.of(Press)) == 1
    assert desk.panel.acks[0] == (0xB007, 1)
    assert desk.of(Restarted) == []


def test_presses_of_an_earlier_run_are_acknowledged_and_not_told_again() -> None:
    first = Desk()
    first.run(1000)
    first.say(first.panel.press())
    known = first.of(Press)[0]
    desk = Desk()
    desk.session.remember(known)
    desk.panel.press()
    desk.run(1000)
    assert desk.of(Press) == []
    assert desk.panel.acks == [(0xB007, 1)]


def test_a_withdrawn_press_is_told_again() -> None:
    desk = Desk()
    desk.run(1000)
    desk.say(desk.panel.press())
    desk.session.withdraw(desk.of(Press)[0])
    desk.run(400)
    assert len(desk.of(Press)) == 2


def test_a_press_that_waited_through_a_wrap_is_not_mapped_to_a_wrong_minute() -> None:
    desk = Desk()
    desk.panel.press(1)
    pressed = desk.now
    desk.session = PanelSession(PANEL)  # no session ever saw this panel with an empty queue
    desk.now += int((1 << 32) * 1000 / 1.00012) + 3 * S  # the tick is 3 s further, one wrap later
    desk.session.start(desk.now)
    desk.pump()
    desk.run(1000)
    (press,) = desk.of(Press)
    assert press.span.earliest_ns <= pressed <= press.span.latest_ns
    assert press.span.earliest_ns == 0


def test_the_panels_own_losses_are_counted() -> None:
    desk = Desk()
    desk.panel.lost = 2
    desk.run(2500)
    assert desk.session.counters().dropped == 2
    desk.panel.lost = 3
    desk.run(1500)
    assert desk.session.counters().dropped == 3


@pytest.mark.parametrize("minutes", [1, 30, 36, 40, 60, 69, 75, 100, 150])
def test_a_clock_from_before_a_long_pause_is_not_believed(minutes: int) -> None:
    """The panel keeps its power while its port is closed; a press comes before the first PONG of the new contact."""
    desk = Desk()
    desk.run(20_000)
    desk.now += minutes * 60 * S
    pressed = desk.now - 50 * MS
    desk.panel.mute = {4}
    desk.session.start(desk.now)
    desk.pump()
    age_us = int(50_000 * 1.00012)
    desk.panel.queue[(0xB007, 1)] = press_payload(1, (desk.panel.now_us() - age_us) % (1 << 32))
    desk.say(desk.panel.resend())
    assert desk.of(Press) == [], "left to the panel until its clock is known"
    desk.run(700)
    assert desk.of(Press) == []
    desk.run(600)
    (press,) = desk.of(Press)
    assert press.span.earliest_ns <= pressed <= press.span.latest_ns, "without any PONG: wide, and true"

    desk.panel.mute = set()
    desk.session.withdraw(press)
    desk.run(1000)
    again = desk.of(Press)[-1]
    assert again.span.earliest_ns <= pressed <= again.span.latest_ns


def test_a_panel_that_dies_before_its_first_pong_is_lost_within_a_second() -> None:
    desk = Desk()
    desk.panel.mute = {4}
    desk.session.start(desk.now)
    desk.pump()
    for age in (0, 30, 200, 1400):
        desk.plugged = True
        desk.seen.clear()
        desk.session.start(desk.now)
        desk.pump()
        desk.run(age)
        died = desk.now
        desk.plugged = False
        desk.run(1000)
        assert desk.of(DeviceLost)[0].span.latest_ns - died <= 950 * MS


@pytest.mark.parametrize("late", [{"silent_ms": 901}, {"ping_ms": 451}, {"hello_lost_ms": 901}])
def test_options_that_tell_a_loss_too_late_are_refused(late: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="a panel that dies would be told after"):
        PanelSession(PANEL, PanelOptions(**late))


def test_garbage_storm_loses_no_press() -> None:
    desk = Desk()
    desk.run(1000)
    for n in range(40):
        desk.say(bytes((7 * n + k * k) % 256 for k in range(200)))
        desk.say(desk.panel.press(3)[: 10 + n % 12])
    desk.say(b"\x00")
    desk.run(400)
    assert sorted(p.seq for p in desk.of(Press)) == list(range(1, 41))
    assert desk.session.counters().garbage > 1000


def test_boot_zero_and_host_types_are_refused() -> None:
    desk = Desk()
    before = desk.session.counters().foreign
    desk.say(panel_frame(2, b"\x00\x00", boot=0) + panel_frame(0x81) + panel_frame(0x55) + panel_frame(2, b"\x00"))
    assert desk.session.counters().foreign == before + 4
    assert desk.of(Restarted) == []


def test_an_early_hello_at_start_is_enough() -> None:
    session = PanelSession(PANEL)
    session.start(5 * S)
    (up,) = session.receive(panel_frame(1, hello_payload()), 5 * S + MS)
    assert isinstance(up, DeviceUp)


def test_memory_of_acts_is_bounded_and_forgets_only_what_is_on_disk() -> None:
    acts = Acts(memory=4)
    for seq in range(4):
        assert acts.meet((1, seq)) == "new"
    assert acts.meet((1, 9)) == "no room"
    assert acts.meet((1, 0)) == "reported"
    acts.acknowledge((1, 2))
    assert acts.meet((1, 9)) == "new"
    assert acts.meet((1, 2)) == "no room"  # forgotten, and there is no room again
    for seq in (0, 1, 3, 9):
        acts.acknowledge((1, seq))
    assert acts.meet((1, 9)) == "acknowledged"
    acts.withdraw((1, 9))
    assert acts.meet((1, 9)) == "acknowledged"
