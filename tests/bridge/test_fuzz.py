"""A few seconds of `tests.bridge.fuzz`, its corpus, and what it once found."""

from __future__ import annotations

import pytest

from tests.bridge.fuzz import corpus, one_input, seeded

FINDS: tuple[str, ...] = ()
"""Hexadecimal inputs that once broke a law.  Four minutes by coverage and many by seed have found none so far."""


def test_the_corpus_and_every_find_keep_the_laws() -> None:
    seeds = corpus()
    assert len(seeds) > 150
    for data in (*seeds, *map(bytes.fromhex, FINDS)):
        one_input(data)


def test_some_seconds_of_mutation() -> None:
    assert seeded(2.5, seed=7) > 1000


def test_the_laws_can_be_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("firmware_bridge.framing.pepper.PepperDecoder.gap", lambda self: setattr(self, "fed", 0) or [])
    with pytest.raises(AssertionError):
        one_input(bytes((2, 9)) + b"\xf5\x03\x00")
