"""The kit for readers' sessions, on our own: what a third party must pass, we pass."""

from __future__ import annotations

import pytest

from firmware_bridge.conformance import Bench, Device, ReaderConformance, results
from firmware_bridge.session.contract import Session
from firmware_bridge.session.feig import FeigSession
from firmware_bridge.session.metratec import MetratecOptions, MetratecSession
from firmware_bridge.session.pepper import PepperOptions, PepperSession
from firmware_bridge.session.plan import FeigOptions
from firmware_bridge.wire import AnyObservation, CleanEmpty, DeviceId
from tests.bridge import peers, peers_readers

NAME = DeviceId("reader")


class TestFeig(ReaderConformance):
    def make_device(self) -> Device:
        return peers.FeigReader({})

    def make_session(self) -> Session:
        return FeigSession(NAME, FeigOptions(antennas=(1, 2)))


class TestPepper(ReaderConformance):
    def make_device(self) -> Device:
        return peers_readers.PepperReader({})

    def make_session(self) -> Session:
        return PepperSession(NAME, PepperOptions(antennas=(1, 2)))


class TestMetratec(ReaderConformance):
    checked = False

    def make_device(self) -> Device:
        return peers_readers.MetratecReader({}, ports=2)

    def make_session(self) -> Session:
        return MetratecSession(NAME, MetratecOptions(antennas=(1, 2), first_port=1))


class Talkative:
    """A session that repeats every look: what the kit must find."""

    def __init__(self, inner: FeigSession) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)

    def receive(self, data: bytes, now_ns: int) -> list[AnyObservation]:
        self._inner.refresh()
        return self._inner.receive(data, now_ns)


class Hasty(Talkative):
    """A session that takes silence for an empty field."""

    def wake(self, now_ns: int) -> list[AnyObservation]:
        found = self._inner.wake(now_ns)
        return [CleanEmpty(o.device, o.span, o.antenna) if o in results(found) else o for o in found]


@pytest.mark.parametrize(
    ("bad", "test", "says"),
    [
        (Talkative, "test_repeats_are_thinned_and_a_change_passes_at_once", "fill the journal"),
        (Hasty, "test_silence_is_a_loss_with_advice_and_never_an_empty_field", "says nothing"),
    ],
)
def test_the_kit_finds_a_session_that_repeats_or_guesses(bad: type[Talkative], test: str, says: str) -> None:
    class Broken(TestFeig):
        def make_session(self) -> Session:
            return bad(FeigSession(NAME, FeigOptions(antennas=(1, 2))))  # type: ignore[return-value]  # a session in all but its type

    with pytest.raises(AssertionError, match=says):
        getattr(Broken(), test)()


def test_the_kit_finds_a_busy_loop() -> None:
    class Busy(Talkative):
        next_wake_ns = 0

    bench = Bench(Busy(FeigSession(NAME, FeigOptions(antennas=(1,)))), peers.FeigReader({}))  # type: ignore[arg-type]  # the same
    bench.start()
    with pytest.raises(AssertionError, match="busy loop"):
        bench.run(1)
