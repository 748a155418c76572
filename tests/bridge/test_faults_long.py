"""The soak in a length that fits here; ten minutes of it: ``python -m tests.bridge.soak``.

And the soak's own test: bugs on purpose that it must notice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from firmware_bridge import clocksync
from firmware_bridge.session.acts import Acts
from firmware_bridge.session.feig import FeigSession
from firmware_bridge.session.panel import PanelSession
from firmware_bridge.session.polled import PolledSession
from firmware_bridge.wire import AnyObservation, CleanEmpty, TimeSpan
from tests.bridge.soak import NEIGHBOURS, soak


@pytest.mark.slow
def test_every_press_and_chip_is_accounted_for_once() -> None:
    print(soak(22.0, seed=11, mishap_every_s=2.0))


def acknowledges_early(patch: pytest.MonkeyPatch) -> None:
    """The panel may forget a press as soon as it is reported, before the journal has it."""
    receive = PanelSession.receive

    def early(self: PanelSession, data: bytes, now_ns: int) -> list[AnyObservation]:
        found = receive(self, data, now_ns)
        for press in found:
            self.acknowledge(press)
        return found

    patch.setattr(PanelSession, "receive", early)


def forgets_presses(patch: pytest.MonkeyPatch) -> None:
    """A press that is resent is a new one."""

    def meet(self: Acts[Any], act: Any) -> str:
        return "new"

    patch.setattr(Acts, "meet", meet)


@pytest.mark.slow
@pytest.mark.parametrize("bug", [acknowledges_early, forgets_presses])
def test_the_soak_notices(bug: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch) -> None:
    bug(monkeypatch)
    with pytest.raises(AssertionError, match="press"):
        soak(8.0, seed=5, mishap_every_s=0.3, only=frozenset(("pepper",)))


Patch = pytest.MonkeyPatch


def takes_corrupt_for_empty(patch: Patch) -> None:
    def empty(self: PolledSession[Any, Any], reason: str, now_ns: int) -> CleanEmpty:
        return CleanEmpty(self.device, TimeSpan(self._look_ns, now_ns), self._antenna)

    patch.setattr(PolledSession, "_corrupted", empty)


def takes_a_warning_for_the_whole(patch: Patch) -> None:
    """Status 84 comes with half of the chips."""
    book = PolledSession._book

    def whole(self: PolledSession[Any, Any], now_ns: int, *, complete: bool) -> Any:
        return book(self, now_ns, complete=True)

    patch.setattr(PolledSession, "_book", whole)


def goes_on_after_a_refused_channel(patch: Patch) -> None:
    patch.setattr(FeigSession, "_selected", lambda self, frame: True)


def asks_again_without_selecting(patch: Patch) -> None:
    """A restart is a silence, and only the inventory is repeated behind it."""
    begin = FeigSession._begin_look

    def repeat(self: FeigSession, look: Any, now_ns: int) -> None:
        if self._missed:
            self._ask_inventory(look, now_ns)
        else:
            begin(self, look, now_ns)

    patch.setattr(FeigSession, "_begin_look", repeat)


def knows_no_wrap(patch: Patch) -> None:
    patch.setattr(clocksync, "_nearest", lambda tick_us, reference: tick_us - reference % (1 << 32))


def knows_no_neighbours(patch: Patch) -> None:
    patch.setattr("tests.bridge.soak.NEIGHBOURS", [])
    assert NEIGHBOURS


def gives_its_turn_away_while_on(patch: Patch) -> None:
    patch.setattr(PolledSession, "_finish", PolledSession._is_dark)


BESIDE = frozenset(("feig-beside", "metratec-beside"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bug", "only", "said"),
    [
        (takes_corrupt_for_empty, frozenset(("feig",)), "and was missed"),
        (takes_a_warning_for_the_whole, frozenset(("feig",)), "and was missed"),
        (goes_on_after_a_refused_channel, frozenset(("feig",)), "and was missed|where it did not lie|unknown"),
        (asks_again_without_selecting, frozenset(("feig",)), "and was missed|where it did not lie|unknown"),
        (knows_no_wrap, frozenset(("pepper",)), "is not in|clock was learnt anew"),
        (knows_no_neighbours, BESIDE, "and was missed"),
        (gives_its_turn_away_while_on, BESIDE, "and was missed"),
    ],
)
def test_the_soak_notices_what_a_reader_or_a_clock_would_hide(
    bug: Callable[[Patch], None], only: frozenset[str], said: str, monkeypatch: Patch
) -> None:
    bug(monkeypatch)
    with pytest.raises(AssertionError, match=said):
        soak(40.0, seed=5, mishap_every_s=1.0, only=only)
