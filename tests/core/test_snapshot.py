"""A state as bytes: whole, the same in any process, and refused when it is another layout's."""

from __future__ import annotations

import os
import subprocess
import sys

import msgspec
import pytest
from hypothesis import Phase, given, settings

from firmware_bridge.wire import Present, TimeSpan
from tabled.core import snapshot
from tabled.core.entries import Seen
from tabled.core.snapshot import SnapshotUnreadable, from_bytes, to_bytes
from tabled.core.state import TableState
from tabled.rules.state import State
from tabled.rules.table import Table
from tests.core.driver import READER, Bench, fold
from tests.core.test_memo import moves, play

PHASES = (Phase.explicit, Phase.reuse, Phase.generate)
"""Long courses shrink for minutes; the seed is enough."""


@settings(max_examples=30, deadline=None, phases=PHASES)
@given(moves, moves)
def test_a_restored_state_is_the_same_and_goes_on_the_same(
    before: list[tuple[str, int]], after: list[tuple[str, int]]
) -> None:
    bench = Bench(camera=True)
    play(bench, before)
    count, position = len(bench.entries), bench.position
    state, _ = fold(TableState(), 0, bench.entries)
    body = to_bytes(state)
    again = from_bytes(body)
    assert again == state
    assert to_bytes(again) == body
    bench.start("h2")
    for what, k in after:
        bench.press(("fold", "call", "raise", "check", "undo")[k % 5]) if what == "press" else bench.wait(100 + 90 * k)
    one, made = fold(state, position, bench.entries[count:])
    other, same = fold(again, position, bench.entries[count:])
    assert made == same
    assert to_bytes(other) == to_bytes(one)


def test_the_order_in_which_chips_came_is_kept() -> None:
    bench = Bench()
    bench.deal()
    bench.put("3", 1000)
    bench.wait(3000)
    bench.put("1", 100, 25)
    bench.wait(2500)
    lines = {seat: list(line.settled) for seat, line in bench.state.lines.items()}
    assert {seat: list(line.settled) for seat, line in from_bytes(to_bytes(bench.state)).lines.items()} == lines


SHOW = """
from tests.core.test_snapshot import quiet_table
from tabled.core.snapshot import digest, layout, to_bytes
print(digest(to_bytes(quiet_table().state)), layout())
"""


def quiet_table() -> Bench:
    """A table with sets of several members in its state."""
    bench = Bench()
    bench.deal()
    there = bench.put("3", 25, 100, 500)
    bench.wait(300)
    seen = Present(READER, TimeSpan(bench.ns, bench.ns + 5), 3, (), complete=False, quiet=tuple(sorted(there)))
    bench.feed(Seen(at_ns=bench.ns + 5, observation=seen))
    return bench


def test_the_bytes_are_the_same_under_any_hash_seed_zone_and_locale() -> None:
    shown = set()
    for seed, zone, locale in (("0", "UTC", "C"), ("1", "Asia/Tokyo", "C.UTF-8"), ("4711", "America/Lima", "C")):
        env = {**os.environ, "PYTHONHASHSEED": seed, "TZ": zone, "LC_ALL": locale}
        run = subprocess.run([sys.executable, "-c", SHOW], env=env, capture_output=True, text=True, check=True)
        shown.add(run.stdout)
    assert len(shown) == 1
    assert len(shown.pop().split()) == 2


def test_every_part_of_a_hand_and_its_table_is_kept() -> None:
    bench = Bench()
    bench.deal()
    hand = from_bytes(to_bytes(bench.state)).hand
    assert hand is not None
    assert bench.state.hand is not None
    for name in State.__slots__:
        if name != "table":
            assert getattr(hand, name) == getattr(bench.state.hand, name), name
    for name in Table.__slots__:
        assert getattr(hand.table, name) == getattr(bench.state.hand.table, name), name


@pytest.mark.parametrize("cut", [0, 1, 100, -1])
def test_what_is_no_state_is_refused(cut: int) -> None:
    bench = Bench()
    bench.deal()
    body = to_bytes(bench.state)
    with pytest.raises(SnapshotUnreadable):
        from_bytes(body[:cut] if cut else b"[]")
    with pytest.raises(SnapshotUnreadable):
        from_bytes(body.replace(b'"actor":', b'"player":'))


def test_another_layout_has_another_name(monkeypatch: pytest.MonkeyPatch) -> None:
    now = snapshot.layout()
    assert now == snapshot.layout()
    for kind in (State, Table):
        with monkeypatch.context() as changed:
            changed.setattr(kind, "__slots__", (*kind.__slots__, "more"))
            assert snapshot.layout.__wrapped__() != now
    with monkeypatch.context() as changed:
        changed.setitem(TableState.__annotations__, "act", "int | None")
        assert snapshot.layout.__wrapped__() != now
    assert snapshot.layout.__wrapped__() == now


def test_nothing_of_the_state_is_left_out() -> None:
    """A field that is added is in the bytes by itself; the memo is the one that is not."""
    names = set(msgspec.json.decode(to_bytes(Bench().state)))
    assert names == set(TableState.__struct_encode_fields__) - {"memo"}
