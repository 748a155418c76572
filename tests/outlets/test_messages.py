"""Messages: pure, deterministic, and silent about what a display must not know."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from tabled.model.hand import HandView, Pot, SeatView
from tabled.model.outcome import HandEnded, HandStarted, QuestionClosed, StreetClosed, TableView
from tabled.model.ruling import Locked, Option, Reason, Ruling
from tabled.outlets import wording
from tabled.outlets.messages import MAX_PAYLOAD, Wording, render, render_health, render_state, rfc3339
from tabled.outlets.safety import safe_ruling
from tests.outlets.support import (
    ORIGIN,
    WALL,
    WORDING,
    a_floor_case,
    a_question,
    a_ruling,
    an_alert,
    rendered,
)


def test_a_ruling_goes_cut_to_the_display_and_whole_to_evidence() -> None:
    shown, whole = rendered(a_ruling(), 120)
    assert (shown.leaf, whole.leaf) == ("ruling", "evidence")
    event = msgspec.json.decode(shown.payload)
    assert event["id"] == "e1/120"
    assert event["source"] == "tabled/house/t17"
    assert event["type"] == "tabled.ruling"
    assert event["specversion"] == "1.0"
    assert event["time"] == "2026-02-02T02:40:00.123456909Z"
    assert event["data"]["kind"] == "ruling"
    assert event["data"]["announce"] == {"en": "Raise to 1000", "sv": "Höjning till 1000", "nl": "Raise naar 1000"}
    full = msgspec.json.decode(whole.payload)["data"]["ruling"]
    assert full["faced"]["max_to"] == 77_777
    assert [o["raise_max_to"] for o in full["options"]] == [66_666, None, 1234]


def test_no_stack_reaches_the_display() -> None:
    shown, _ = rendered(a_ruling(), 120)
    for secret in (b"77777", b"66666", b"88888", b"555", b"1234,", b"1234}"):
        assert secret not in shown.payload.replace(b"123456909", b"")
    options = msgspec.json.decode(shown.payload)["data"]["ruling"]["options"]
    assert [o["call_to"] for o in options] == [1000, 1000, 1000]  # what is asked of everyone, not what they have
    assert [o["raise_min_to"] for o in options] == [1500, None, 1500]


STACK = st.integers(2_000, 10**9)


@given(stack=STACK, bet=st.integers(1, 900))
def test_the_display_message_is_the_same_whatever_the_stacks_are(stack: int, bet: int) -> None:
    def with_stack(behind: int) -> Ruling:
        return Ruling(
            seat="1",
            action="bet",
            to=bet,
            call_to=bet,
            min_raise_to=2 * bet,
            options=(Option("2", check=False, fold=True, call_to=bet, raise_min_to=2 * bet, raise_max_to=behind),),
            reason=Reason("floor_low_voice", {"stack": behind}),
        )

    assert safe_ruling(with_stack(stack)) == safe_ruling(with_stack(stack + 1))
    assert safe_ruling(safe_ruling(with_stack(stack))) == safe_ruling(with_stack(stack))


def test_a_seat_that_is_too_poor_to_raise_does_not_show_it() -> None:
    rich = Ruling(
        seat="1",
        action="bet",
        to=500,
        call_to=500,
        min_raise_to=1000,
        may_raise=("2", "3", "10"),
        options=(
            Option("2", check=False, fold=True, call_to=500, raise_min_to=1000, raise_max_to=9_000),
            Option("3", check=False, fold=True, call_to=500, raise_min_to=1000, raise_max_to=8_000),
        ),
    )
    poor = msgspec.structs.replace(
        rich,
        may_raise=("2", "10"),
        may_not_raise=(Locked("3", Reason("lock_stack", {"stack": 120})),),
        options=(rich.options[0], Option("3", check=False, fold=True, call_to=120)),
    )
    assert safe_ruling(poor) == safe_ruling(rich)


def test_the_real_catalogue_speaks_without_secrets() -> None:
    real = Wording(wording.announce, wording.say)
    reasons = (Reason("string_call"), Reason("raise"), Reason("one_chip_call"))
    for reason in reasons:
        ruling = msgspec.structs.replace(a_ruling().ruling, reason=reason, may_not_raise=())
        issued = msgspec.structs.replace(a_ruling(), ruling=ruling)
        shown, _ = render(issued, 120, WALL, origin=ORIGIN, wording=real)
        data = msgspec.json.decode(shown.payload)["data"]
        assert set(data["announce"]) == {"en", "sv", "nl"}
        assert b"77777" not in shown.payload


def test_a_structural_maximum_is_shown() -> None:
    options = (Option("2", check=False, fold=True, call_to=100, raise_min_to=200, raise_max_to=350),)
    capped = Ruling(
        seat="1", action="bet", to=100, call_to=100, min_raise_to=200, max_raise_to={"2": 350}, options=options
    )
    assert safe_ruling(capped).options[0].raise_max_to == 350


def test_pots_and_stacks_go_to_evidence_only() -> None:
    view = HandView("h", "no-limit", 0, 0, 0, "1", (SeatView("1", 5000, 0, "in"),), (Pot(300, ("1",)),), False, False)
    for outcome in (
        StreetClosed(hand_id="h", street=1, pots=(Pot(300, ("1",)),), pot_total=300, closed_ns=1),
        HandStarted(hand_id="h", view=view, started_ns=1),
        HandEnded(hand_id="h", pot_total=300, stacks={"1": 5000}, ended_ns=1),
    ):
        assert [m.leaf for m in rendered(outcome, 7)] == ["evidence"]


def test_questions_and_alerts_carry_their_texts() -> None:
    (asked,) = rendered(a_question(), 130)
    data = msgspec.json.decode(asked.payload)["data"]
    assert asked.leaf == "question"
    assert set(data["texts"]) == {"question", "key_a", "key_b"}
    assert data["texts"]["key_b"]["sv"] == "Marken kom först"
    (closed,) = rendered(QuestionClosed(question=130, answer="key_a"), 131)
    assert closed.leaf == "question_closed"
    (alert,) = rendered(an_alert(), 132)
    assert msgspec.json.decode(alert.payload)["data"]["texts"]["en"].startswith("Reader reader-a")
    shown, _ = rendered(a_floor_case(), 133)
    assert len(msgspec.json.decode(shown.payload)["data"]["texts"]["candidates"]) == 3


@given(position=st.integers(0, 2**53), wall=st.integers(0, 4 * 10**18), evidence=st.lists(st.integers(0, 10**6)))
def test_rendering_is_a_function(position: int, wall: int, evidence: list[int]) -> None:
    one, two = (
        render(a_ruling(evidence=tuple(evidence)), position, wall, origin=ORIGIN, wording=WORDING) for _ in range(2)
    )
    assert one == two
    again = msgspec.json.decode(one[1].payload)
    assert msgspec.json.encode(again, order="deterministic") == one[1].payload


def test_the_order_in_which_parameters_were_set_does_not_matter() -> None:
    one = an_alert()
    left = msgspec.structs.replace(one, reason=Reason("device_lost", {"a": 1, "b": 2}))
    right = msgspec.structs.replace(one, reason=Reason("device_lost", {"b": 2, "a": 1}))
    assert rendered(left, 1) == rendered(right, 1)


def test_a_hole_in_the_catalogue_is_visible_and_stops_nothing() -> None:
    def broken(reason: Reason, lang: str) -> str:
        raise KeyError(reason.code)

    empty = Wording(lambda ruling: {"en": "Raise"}, broken)
    shown, _ = render(a_ruling(), 1, WALL, origin=ORIGIN, wording=empty)
    data = msgspec.json.decode(shown.payload)["data"]
    assert data["announce"]["sv"] == "raise 1000"
    assert data["texts"]["reason"]["en"] == "raise_lifted (to 1000)"
    assert data["untranslated"] == ["announce:raise", "lock_acted", "raise_lifted"]


def test_a_message_that_is_too_long_becomes_a_notice_under_its_id() -> None:
    shown, whole = rendered(a_ruling(evidence=tuple(range(10**6, 10**6 + 20_000))), 120)
    assert len(shown.payload) < 4_000
    event = msgspec.json.decode(whole.payload)
    assert event["id"] == "e1/120"
    assert event["data"]["oversize"] > MAX_PAYLOAD
    assert "journal" in event["data"]["advice"]


def test_times_are_exact() -> None:
    assert rfc3339(0) == "1970-01-01T00:00:00.000000000Z"
    assert rfc3339(1_770_000_000_000_000_001) == "2026-02-02T02:40:00.000000001Z"


def test_state_and_health() -> None:
    view = TableView(epoch="e1", position=140, phase="betting", recent=(120, 133))
    state = msgspec.json.decode(render_state(view, WALL, origin=ORIGIN))
    assert state["data"]["recent"] == [120, 133]
    assert state["time"].startswith("2026-02-02")
    faults = [Reason("device_lost")]
    health = msgspec.json.decode(render_health("online", WALL, origin=ORIGIN, wording=WORDING, faults=faults))
    assert health["data"]["faults"][0]["texts"]["nl"].startswith("Lezer")
