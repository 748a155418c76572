"""People as scripts: generators that say what they wait for, run by whichever clock there is.

A script yields `Sleep` or `Until` and is resumed with True, or with False when an `Until` ran out of time.
The same script runs in real time (`hw_sim.live`) and in virtual time (`hw_sim.memory`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass


@dataclass(frozen=True)
class Sleep:
    """Let time pass."""

    ns: int


@dataclass(frozen=True)
class Until:
    """Wait until ``ready()`` is true (asked whenever news arrives), at most ``ns``."""

    ready: Callable[[], bool]
    ns: int


Wait = Sleep | Until
Script = Generator[Wait, bool, None]
Asking = Generator[Wait, bool, bool]
"""A part of a script that answers yes or no."""
