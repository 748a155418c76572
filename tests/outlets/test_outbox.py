"""The outbox without a network: order, window, cursor, redo."""

from __future__ import annotations

from random import Random

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from tabled.model.outcome import QuestionClosed
from tabled.outlets.outbox import MAX_IN_FLIGHT, REDO, SUSPECT, SUSPECT_DROPS, Outbox, Recent
from tests.outlets.support import MemoryStore, a_question, a_ruling, an_alert


def filled(count: int, step: int = 7) -> MemoryStore:
    store = MemoryStore()
    for n in range(1, count + 1):
        store.add(a_ruling(act=n), n * step)
    return store


ROWS = filled(30).rows


@given(st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_any_order_of_acks_and_losses_sends_all_in_order(random: Random) -> None:
    store = MemoryStore()
    store.rows = list(ROWS)
    box = Outbox(store)
    mids = iter(range(1, 100_000))
    seen: list[tuple[int, str]] = []
    flight: list[int] = []
    for _ in range(600):
        while (message := box.next()) is not None:
            mid = next(mids)
            box.sent(mid)
            flight.append(mid)
            seen.append((message.position, message.leaf))
            assert box.in_flight <= MAX_IN_FLIGHT
        if not flight:
            break
        if random.randrange(20) == 0:
            box.rewind()
            flight.clear()
            continue
        box.acknowledged(flight.pop(random.randrange(len(flight))))
    while flight or box.next() is not None:
        while (message := box.next()) is not None:
            box.sent(mid := next(mids))
            flight.append(mid)
            seen.append((message.position, message.leaf))
        box.acknowledged(flight.pop(0))
    want = [(m.position, m.leaf) for m in store.rows]
    assert list(dict.fromkeys(seen)) == want
    assert store.at == want[-1][0]
    assert store.moves == sorted(set(store.moves))


def test_the_cursor_waits_for_the_last_message_of_a_position() -> None:
    store = filled(1)
    box = Outbox(store)
    for mid in (1, 2):
        assert box.next() is not None
        box.sent(mid)
    box.acknowledged(2)
    assert store.at == 0
    box.acknowledged(1)
    assert store.at == 7


def test_a_limit_that_cuts_a_position_loses_nothing() -> None:
    store = filled(70)
    store.rows.pop(0)  # an odd number before the cut: the 64th message is the first of a pair
    box = Outbox(store)
    sent = []
    while (message := box.next()) is not None:
        box.sent(len(sent) + 1)
        sent.append(message)
        box.acknowledged(len(sent))
    assert sent == store.rows


def test_what_a_dying_broker_may_have_lost_is_sent_again() -> None:
    store = filled(40)
    box = Outbox(store)
    for mid in range(1, 51):
        assert box.next() is not None
        box.sent(mid)
        box.acknowledged(mid)
    box.rewind()
    first = box.next()
    assert first is not None
    assert first == store.rows[50 - REDO]
    assert store.at == 25 * 7


def test_a_message_that_breaks_the_link_each_time_gives_way_to_a_notice() -> None:
    store = MemoryStore()
    store.add(a_ruling(evidence=tuple(range(10**6, 10**6 + 3_000))), 5)
    store.add(a_ruling(), 9)
    assert len(store.rows[1].payload) > SUSPECT
    box = Outbox(store)
    assert box.next() is not None
    box.sent(1)
    box.acknowledged(1)
    for mid in range(2, 2 + SUSPECT_DROPS):
        while (message := box.next()) is not None and message.leaf != "evidence":
            box.sent(1000 + mid)
            box.acknowledged(1000 + mid)
        assert message == store.rows[1]
        box.sent(mid)
        box.rewind()
    while (message := box.next()) is not None and message.leaf != "evidence":
        box.sent(5000)
        box.acknowledged(5000)
    assert message is not None
    event = msgspec.json.decode(message.payload)
    assert event["id"] == "e1/5"
    assert event["data"]["oversize"] == len(store.rows[1].payload)
    assert box.withheld == 1


def test_the_snapshot_for_a_page_that_opens_now() -> None:
    store = filled(20)
    store.add(a_question(), 200)
    store.add(an_alert(), 210)
    recent = Recent()
    store.at = 210
    recent.seed(store)
    got = recent.messages()
    positions = [int(msgspec.json.decode(m["event"])["id"].split("/")[1]) for m in got]
    assert positions == [n * 7 for n in range(13, 21)] + [200, 210]
    for outcome, position in ((QuestionClosed(question=200, answer=None), 220), (an_alert(cleared=True), 230)):
        store.add(outcome, position)
        assert recent.take(store.rows[-1])
    assert [m["leaf"] for m in recent.messages()] == ["ruling"] * 8
    assert b"evidence" not in msgspec.json.encode([m["leaf"] for m in recent.messages()])
