"""The soak in a length that fits here; ten minutes of it: ``python -m tests.bridge.soak``.

And the soak's own test: bugs on purpose that it must notice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from firmware_bridge.session.acts import Acts
from firmware_bridge.session.panel import PanelSession
from firmware_bridge.wire import AnyObservation
from tests.bridge.soak import soak


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
