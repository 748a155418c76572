"""Bodies: one value, one byte string; old formats are raised; open types are refused."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge.wire import AnyObservation, CleanEmpty, DeviceId, Present, Tag, TimeSpan
from tabled.journal import KINDS, UPCASTS, BodyUnreadable, Codec, Entry, JournalTooNew, Kind, upcast
from tabled.journal.codec import missing_steps
from tabled.model.outcome import AnyOperatorAct, AnyOutcome, HandEnded, TableView

spans = st.tuples(st.integers(0, 2**62), st.integers(0, 2**40)).map(lambda t: TimeSpan(t[0], t[0] + t[1]))
uids = st.integers(0, 2**64 - 1).map(lambda n: f"{n:016X}")
present = st.builds(
    lambda span, antenna, seen, complete: Present(DeviceId("reader-a"), span, antenna, tuple(seen), complete),
    spans,
    st.integers(0, 63),
    st.lists(st.builds(Tag, uids, st.none() | st.integers(-128, 255)), max_size=20, unique_by=lambda t: t.uid).map(
        sorted
    ),
    st.booleans(),
)


@given(present)
def test_observations_round_trip_to_the_byte(value: Present) -> None:
    codec: Codec[AnyObservation] = Codec(AnyObservation)
    body = codec.encode(value)
    assert codec.decode(body) == value
    assert codec.encode(codec.decode(body)) == body


def test_key_order_decides_nothing() -> None:
    codec: Codec[AnyOutcome] = Codec(AnyOutcome)
    one = HandEnded(hand_id="h", pot_total=5, stacks={"1": 2, "2": 3}, ended_ns=0)
    two = HandEnded(hand_id="h", pot_total=5, stacks={"2": 3, "1": 2}, ended_ns=0)
    assert codec.encode(one) == codec.encode(two)


def test_the_model_can_be_journalled() -> None:
    for kind in (AnyObservation, AnyOutcome, AnyOperatorAct, TableView):
        Codec(kind)


class _Loop(msgspec.Struct):
    next: _Loop | None = None


class _Sloppy(msgspec.Struct):
    amount: list[dict[str, tuple[int, float]]]


@pytest.mark.parametrize(
    "bad", [float, Any, _Sloppy, dict[str, float], set[int], frozenset[int], int | float, tuple[Any, ...]]
)
def test_a_type_without_canonical_bytes_is_refused(bad: Any) -> None:
    with pytest.raises(TypeError, match="may not be journalled"):
        Codec(bad)


def test_a_recursive_type_is_no_trap() -> None:
    codec: Codec[_Loop] = Codec(_Loop)
    assert codec.decode(codec.encode(_Loop(_Loop()))).next == _Loop()
    deep = b'{"next":' * 50_000
    with pytest.raises(BodyUnreadable):
        codec.decode(deep)


@pytest.mark.parametrize(
    "body", [b"", b"{", b'{"o":"empty"}', b'{"o":"smell"}', b"\xff", b"[]", b'{"o":"up","device":1}']
)
def test_bytes_that_are_no_value_say_so(body: bytes) -> None:
    codec: Codec[AnyObservation] = Codec(AnyObservation)
    with pytest.raises(BodyUnreadable, match="use the version that wrote it"):
        codec.decode(body)


def test_a_span_that_ends_before_it_begins_is_unreadable() -> None:
    codec: Codec[AnyObservation] = Codec(AnyObservation)
    good = codec.encode(CleanEmpty(DeviceId("r"), TimeSpan(5, 6), 0))
    with pytest.raises(BodyUnreadable):
        codec.decode(good.replace(b'"latest_ns":6', b'"latest_ns":4'))


def _entry(version: int, body: bytes = b"1", kind: str = "obs") -> Entry:
    return Entry(9, kind, body, 0, b"said", "leaf", b"h" * 32, version)


def test_old_bodies_are_raised_step_by_step_and_payloads_left_alone() -> None:
    kinds = {"obs": Kind(3, is_input=True)}
    steps = {("obs", 1): lambda b: b + b"2", ("obs", 2): lambda b: b + b"3"}
    assert upcast(_entry(1), kinds, steps) == _entry(3, b"123")
    assert upcast(_entry(2), kinds, steps) == _entry(3, b"13")
    today = _entry(3)
    assert upcast(today, kinds, steps) is today


def test_newer_entries_are_refused_by_name() -> None:
    with pytest.raises(JournalTooNew, match="entry 9 is a 'obs' of format 99"):
        upcast(_entry(99))
    with pytest.raises(JournalTooNew, match="'camera'"):
        upcast(_entry(1, kind="camera"))


def test_every_old_format_can_be_raised() -> None:
    assert missing_steps(KINDS, UPCASTS) == []
    assert missing_steps({"obs": Kind(3, is_input=True)}, {("obs", 1): bytes}) == [("obs", 2)]
