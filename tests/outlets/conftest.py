"""Fixtures of the outlet tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tabled.outlets.broker import EmbeddedBroker
from tests.outlets.stage import chromium
from tests.outlets.support import KINDS, need


@pytest.fixture(params=KINDS)
def broker(request: pytest.FixtureRequest) -> Iterator[EmbeddedBroker]:
    """A running embedded broker, once of each kind."""
    need(request.param)
    made = EmbeddedBroker(request.param)
    made.start()
    yield made
    made.stop()


@pytest.fixture(scope="module")
def browser() -> Iterator[object]:
    """A Chromium for one module's tests."""
    with chromium() as opened:
        yield opened
