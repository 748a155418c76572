"""Commands from the network: every hostile one gets a reason, none an exception."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabled.model.hand import HandSetup, SeatSetup
from tabled.model.outcome import AbandonHand, Answer, NextStreet, StartHand
from tabled.outlets.commands import ACTS, MAX_COMMAND, Refusal, parse_command

GOOD = {"request": "r-1", "who": "dealer", "question": 120, "key": "key_a"}


def parse(body: object, topic: str = "tabled/v1/house/t17/cmd/answer") -> object:
    return parse_command(topic, body if isinstance(body, bytes) else msgspec.json.encode(body))


def test_good_commands() -> None:
    assert parse(GOOD) == Answer(request="r-1", who="dealer", question=120, key="key_a")
    assert parse({**GOOD, "act": "answer"}) == parse(GOOD)
    assert parse({"request": "a"}, "cmd/next_street") == NextStreet(request="a")
    assert parse({"request": "a"}, "x/cmd/abandon_hand") == AbandonHand(request="a")
    setup = HandSetup(hand_id="h", seats=(SeatSetup("1", 500), SeatSetup("2", 900, blind=10)), blinds=(5, 10))
    raw = msgspec.to_builtins(StartHand(request="b", setup=setup))
    raw.pop("act")
    assert parse(raw, "cmd/start_hand") == StartHand(request="b", setup=setup)


@pytest.mark.parametrize(
    ("body", "topic", "says"),
    [
        (b"", "cmd/answer", "not JSON"),
        (b"\xff\xfe", "cmd/answer", "JSON"),
        (b'{"request": "a"', "cmd/answer", "not JSON"),
        (b"[1]", "cmd/answer", "one JSON object"),
        (b"NaN", "cmd/answer", "not JSON"),
        (b"[" * 5_000, "cmd/answer", "levels deep"),
        (b'{"request": "a", "x": ' + b'{"a":' * 9 + b"1" + b"}" * 10, "cmd/answer", "levels deep"),
        (b" " * (MAX_COMMAND + 1), "cmd/answer", "send at most 16384"),
        ({"question": 1, "key": "key_a"}, "cmd/answer", '"request"'),
        ({**GOOD, "request": ""}, "cmd/answer", '"request"'),
        ({**GOOD, "request": "a b"}, "cmd/answer", '"request"'),
        ({**GOOD, "request": 7}, "cmd/answer", '"request"'),
        (GOOD, "cmd/shuffle", "abandon_hand, answer, next_street, overrule, record, start_hand, undo"),
        (GOOD, "answer", "no command"),
        (GOOD, "tabled/v1/house/t17/ruling/answer", "no command"),
        ({**GOOD, "act": "next_street"}, "cmd/answer", "contradicts"),
        ({**GOOD, "extra": 1}, "cmd/answer", "no field 'extra'"),
        ({**GOOD, "key": "key_c"}, "cmd/answer", "key_c' - at `$.key` (send one of key_a, key_b)"),
        (
            {"request": "a", "ruling": 7, "action": "raize"},
            "cmd/overrule",
            "(send one of fold, check, call, bet, raise, complete, all_in)",
        ),
        ({**GOOD, "question": "120"}, "cmd/answer", "int"),
        ({**GOOD, "question": True}, "cmd/answer", "int"),
        ({**GOOD, "question": 1.5}, "cmd/answer", "whole number"),
        ({**GOOD, "question": -1}, "cmd/answer", "from 0"),
        (b'{"request":"a","key":"key_a","question":' + b"9" * 4_000 + b"}", "cmd/answer", "9999"),
        ({**GOOD, "who": "x" * 129}, "cmd/answer", "too long"),
        ({**GOOD, "who": "a\u0000b"}, "cmd/answer", "not printable"),
        ({"request": "a", "setup": {"hand_id": "h"}}, "cmd/start_hand", "seats"),
        ({"request": "a", "setup": {"hand_id": "h", "seats": [["1", 5]]}}, "cmd/start_hand", "seats"),
        (
            {"request": "a", "setup": {"hand_id": "h", "seats": [{"seat": "1", "stack": 5, "blnd": 2}]}},
            "cmd/start_hand",
            "blnd",
        ),
        ({"request": "a", "setup": {"hand_id": "h", "seats": [{}] * 65}}, "cmd/start_hand", "65 items"),
    ],
)
def test_hostile_commands_are_refused_with_a_reason(body: object, topic: str, says: str) -> None:
    got = parse(body, topic)
    assert isinstance(got, Refusal)
    assert says in got.reason
    assert len(got.reason) < 400


def test_a_refusal_keeps_the_callers_id() -> None:
    got = parse({**GOOD, "key": "key_c"})
    assert isinstance(got, Refusal)
    assert got.request == "r-1"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=30,
)


@given(topic=st.sampled_from([f"cmd/{a}" for a in ACTS]) | st.text(), body=st.binary() | JSON)
def test_nothing_makes_it_raise(topic: str, body: object) -> None:
    payload = body if isinstance(body, bytes) else msgspec.json.encode(body)
    assert isinstance(parse_command(topic, payload), Refusal)


@given(changes=st.dictionaries(st.sampled_from([*GOOD, "act", "setup"]), JSON, min_size=1))
def test_no_mutation_of_a_good_command_passes_as_another(changes: dict) -> None:
    got = parse({**GOOD, **changes})
    if not isinstance(got, Refusal):
        assert isinstance(got, Answer)
        assert msgspec.to_builtins(got) == {**GOOD, **changes, "act": "answer"}
