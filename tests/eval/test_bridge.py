"""With the production filter of repeats between reader and core, the core is told what it needs."""

from __future__ import annotations

from firmware_bridge.wire import CleanEmpty, DeviceId, Present, Tag, TimeSpan
from hw_sim.noise import Disturbance
from tabled.core.adjudicate import awaited_looks
from tabled.core.entries import Seen
from tabled.fusion.settings import MS, SensorModel
from tests.core.driver import READER, Bench
from tests.eval.bridge import Bridge
from tests.eval.play import Game

MODEL = SensorModel()
EACH_MS = 100
TO_FORGET = -(-(MODEL.ceiling - MODEL.gone) // MODEL.miss_untouched)
"""Looks until a chip that lay surely, and that nobody was seen to take, is taken to be gone."""


def looks_until_forgotten(*, thinned: bool, wishes: bool) -> int | None:
    """How many looks the reader needs until the core forgets a chip that left unseen, by a camera that sees no hand.

    ``wishes``: what the core wants to hear reaches the bridge.
    """
    bench = Bench(camera=True)
    bridge = Bridge(bench.config.layout, thinned=thinned, favour=lambda spots: None)

    def look(uid: str) -> None:
        span = TimeSpan(bench.ns, bench.ns + 9 * MS)
        seen = Present(READER, span, 1, (Tag(uid),)) if uid else CleanEmpty(READER, span, 1)
        bench.now_ms += EACH_MS
        for passed in bridge.looks(seen):
            bench.feed(Seen(at_ns=bench.ns, observation=passed))
        if wishes:
            bridge.follow(bench.state, bench.ns)

    uid = bench.free[0]
    for _ in range(40):
        look(uid)
    assert uid in bench.state.places
    for n in range(1, 3 * TO_FORGET):
        look("")
        if uid not in bench.state.places:
            return n
    return None


def test_a_chip_that_left_unseen_is_forgotten_as_soon_as_if_every_look_were_told() -> None:
    whole = looks_until_forgotten(thinned=False, wishes=False)
    assert whole == TO_FORGET
    assert looks_until_forgotten(thinned=True, wishes=True) == whole
    late = looks_until_forgotten(thinned=True, wishes=False)
    assert late is None or late > whole  # so the wish is what does it


def test_chips_that_are_missed_now_and_then_are_no_reason_to_look_closer() -> None:
    bench = Bench(camera=True)
    (uid,) = bench.put("1", 100)
    bench.wait(3000)
    for seen in ((), (), (uid,), (), (), (), (uid,)):
        tags = tuple(Tag(u) for u in seen)
        span = TimeSpan(bench.ns, bench.ns + 9 * MS)
        look = Present(DeviceId(READER), span, 1, tags) if tags else CleanEmpty(READER, span, 1)
        bench.feed(Seen(at_ns=bench.ns, observation=look))
        bench.now_ms += EACH_MS
        assert awaited_looks(bench.state) == ()


def test_the_table_plays_on_fewer_looks_when_they_are_thinned() -> None:
    clear = Disturbance().without_noise()
    entries = []
    for thinned in (True, False):
        noise = clear.change(f"thinned={thinned}")
        played = Game(4, 1, noise, styles={"plain": 1.0}, meanwhile={}, acts=6).play()
        assert [a.verdict for a in played.acts] == ["right"] * 6
        entries.append(played.entries)
    assert entries[0] < entries[1]
