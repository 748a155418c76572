"""The soak in a length that fits here; ten minutes of it: ``python -m tests.bridge.soak``."""

from __future__ import annotations

import pytest

from tests.bridge.soak import soak


@pytest.mark.slow
def test_every_press_and_chip_is_accounted_for_once() -> None:
    print(soak(22.0, seed=11, mishap_every_s=2.0))
