"""What must hold whatever happens: chips, minimum raises, closed seats, halves, and a judge that always answers."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tabled.model import acts as a
from tabled.model.ruling import Change
from tabled.outlets.wording import announce
from tabled.rules.giveback import give_back
from tabled.rules.hand import Hand
from tabled.rules.judge import judge
from tabled.shell.profiles import names
from tests.rules.deal import deal
from tests.rules.table import chips_of, load

PROFILES = {name: load(name) for name in names()}
BUSY = [HealthCheck.too_slow]  # a loaded machine is no fault of the rules
QUICK = settings(max_examples=120, deadline=None, suppress_health_check=BUSY)
CHIPS = st.sampled_from([1, 5, 25, 100, 500, 1000])


@st.composite
def hands(draw: st.DrawFn) -> Hand:
    """A hand of any structure, just dealt."""
    n = draw(st.integers(2, 6))
    stacks = draw(st.lists(st.integers(1, 3000), min_size=n, max_size=n))
    law = PROFILES[draw(st.sampled_from(sorted(PROFILES)))]
    structure = draw(st.sampled_from(["no-limit", "pot-limit", "fixed-limit", "spread-limit"]))
    limits = {
        "fixed-limit": {"small_bet": 100, "big_bet": 200, "raises_cap": 3},
        "spread-limit": {"min": 100, "max": 500},
    }.get(structure, {})
    if structure == "fixed-limit" and draw(st.booleans()):
        return deal(
            [s + 5 for s in stacks], (), law, antes=5, game="7stud", structure=structure, opener="1",
            limits={**limits, "bring_in": 25},
        )  # fmt: skip
    return deal(stacks, (50, 100), law, antes=draw(st.sampled_from([0, 0, 5])), structure=structure, limits=limits)


def legal(draw: st.DrawFn, hand: Hand) -> None:
    """One legal act of the seat to act, or the next street."""
    seat = hand.to_act
    if seat is None:
        hand.deal_next_street(draw(st.sampled_from(hand.seats)) if hand.table.bring_in else None)
        return
    if hand.owes_bring_in:
        hand.bring_in()
        return
    faced = hand.faced(seat)
    kinds = ["passive", "passive", "fold"] + (["raise"] * 2 if faced.raise_open else [])
    kind = draw(st.sampled_from(kinds))
    if kind == "raise":
        mine = hand.bet_of(seat) + hand.stack_of(seat)
        low, high = min(faced.min_to, mine), min(faced.max_to, mine)
        hand.raise_to(draw(st.integers(low, high)) if low <= high else low)
    elif kind == "fold":
        hand.fold()
    elif faced.to_call:
        hand.call()
    else:
        hand.check()


@given(st.data())
@QUICK
def test_chips_are_conserved_and_pots_hold_all_of_them(data):
    hand = data.draw(hands())
    whole = chips_of(hand)
    for _ in range(data.draw(st.integers(0, 40))):
        if hand.over:
            break
        legal(data.draw, hand)
        assert chips_of(hand) == whole
        assert sum(p.amount for p in hand.pots()) == hand.pot_total
        assert min(hand.stack) >= 0
        assert all(p.seats for p in hand.pots())
    if hand.street_over and not hand.swept:
        hand.close_street()
        assert chips_of(hand) == whole
        assert sum(p.amount for p in hand.pots()) == hand.pot_total


@given(st.data())
@QUICK
def test_the_size_of_a_raise_never_falls_within_a_street(data):
    hand = data.draw(hands())
    street, size = hand.street, hand.full
    for _ in range(40):
        if hand.over:
            break
        legal(data.draw, hand)
        if hand.street == street:
            assert hand.full >= size
        street, size = hand.street, hand.full


@given(st.data())
@QUICK
def test_a_closed_seat_never_raises(data):
    hand = data.draw(hands())
    for _ in range(40):
        if hand.over:
            break
        seat = hand.to_act
        if seat is not None and not hand.faced(seat).raise_open:
            mine = hand.bet_of(seat) + hand.stack_of(seat)
            for to in {mine, hand.bet_to + 1, hand.bet_to + hand.full, mine + 1}:
                assert not hand.can_raise_to(to)
            spoken = judge(hand, PROFILES["tda-2024"], [a.Say(seat, "raise", mine, "to")])
            assert spoken.ruling.verb in ("call", "check", None)
        legal(data.draw, hand)


@given(st.integers(1, 4000), st.integers(0, 4000))
@QUICK
def test_half_is_two_increments_against_the_full_raise(bet, over):
    """Silent chips over a bet are a raise exactly when ``2 * increment >= full``, by integers."""
    hand = deal([20000] * 3, (1, 2), "swedish")
    for _ in range(2):
        hand.call()
    hand.check()
    hand.deal_next_street()
    bet = max(bet, 2)
    hand.raise_to(bet)
    chips = (bet, over) if over else (bet,)
    ruling = judge(hand, PROFILES["swedish"], [a.Place("2", tuple(c for c in chips if c))]).ruling
    assert (ruling.verb == "raise") == (over > 0 and 2 * over >= bet)
    if ruling.verb == "raise":
        assert ruling.to == max(2 * bet, bet + over)
    else:
        assert (ruling.to, ruling.back) == (bet, over)


@given(st.integers(2, 3000))
@QUICK
def test_half_bet_reopening_at_the_boundary(bet):
    for stack, open_ in ((bet + bet // 2 + (bet % 2), True), (bet + (bet - 1) // 2, False)):
        hand = deal([9000, 9000, stack + 2], (1, 2), "dutch-half-bet")
        hand.call(), hand.call(), hand.check()
        hand.deal_next_street()
        hand.raise_to(bet)
        hand.call()
        if hand.stack_of("3") <= bet:
            continue
        hand.raise_to(stack)
        assert hand.faced("1").raise_open is open_


@st.composite
def gestures(draw: st.DrawFn, seat: str) -> list[a.AnyAct]:
    """Anything that a seat might do, sensible or not."""
    chips = st.lists(CHIPS, min_size=1, max_size=6).map(tuple)
    words = st.sampled_from(["fold", "check", "call", "bet", "raise", "all_in", "number", "pot", "complete", "other"])
    one = st.one_of(
        st.builds(
            a.Say, st.just(seat), words, st.one_of(st.none(), st.integers(0, 4000)),
            st.sampled_from(["by", "to", "unstated"]), st.sampled_from(["before", "simultaneous", "after"]),
            st.sampled_from(["", "passar", "if you bet I raise", "hm"]), st.booleans(),
        ),
        st.builds(a.Place, st.just(seat), chips, st.booleans(), st.booleans(), st.booleans()),
        st.builds(a.PushForward, st.just(seat), chips, st.booleans(), st.booleans()),
        st.builds(a.StageNearStack, st.just(seat), chips),
        st.builds(a.HoldOverLine, st.just(seat), chips),
        st.just(a.HandReturnsToStack(seat)),
        st.just(a.HandWithdraws(seat)),
        st.builds(a.PullBack, st.just(seat), chips),
        st.just(a.TapTable(seat)),
        st.just(a.CardsForward(seat)),
        st.just(a.AskChange(seat)),
        st.just(a.Claims(seat, "no")),
    )  # fmt: skip
    return draw(st.lists(one, min_size=1, max_size=6))


@given(st.data())
@settings(max_examples=400, deadline=None, suppress_health_check=BUSY)
def test_the_judge_always_answers_changes_nothing_and_conserves_chips(data):
    hand = data.draw(hands())
    for _ in range(data.draw(st.integers(0, 12))):
        if hand.over:
            break
        legal(data.draw, hand)
    seat = data.draw(st.sampled_from(hand.seats))
    if data.draw(st.booleans()) and hand.to_act:
        seat = hand.to_act
    if data.draw(st.booleans()):
        hand.set_line_chips(seat, tuple(data.draw(st.lists(CHIPS, max_size=3))))
    law = PROFILES[data.draw(st.sampled_from(sorted(PROFILES)))]
    acts = data.draw(gestures(seat))
    before = hand.snapshot()
    first = judge(hand, law, acts)
    assert hand.snapshot() == before
    assert judge(hand, law, acts).ruling == first.ruling
    assert first.ruling.profile == law.hash
    assert set(announce(first.ruling)) == {"en", "sv", "nl"}
    assert first.ruling.add >= 0
    assert first.ruling.back >= 0
    assert not (first.ruling.add and first.ruling.back)
    if first.after is not None:
        assert chips_of(first.after) == chips_of(hand)
        assert first.ruling.to == first.after.bet_of(seat)
        assert first.after.faced is not None


@given(st.lists(CHIPS, min_size=1, max_size=20), st.integers(1, 5000))
@QUICK
def test_chips_given_back_make_the_amount(chips, amount):
    back, change = give_back(chips, amount)
    assert all(chips.count(c) >= back.count(c) for c in set(back))
    if amount <= sum(chips):
        assert sum(back) + (change.amount if change else 0) == amount
        if change:
            rest = list(chips)
            for chip in back:
                rest.remove(chip)
            assert change.out_of in rest
            assert change.amount < change.out_of


def test_whole_chips_are_preferred_to_change():
    assert give_back([500, 200, 200, 200], 600) == ((200, 200, 200), None)
    assert give_back([500, 100, 100], 700) == ((500, 100, 100), None)
    assert give_back([1000, 500], 100)[1].out_of == 500
    assert give_back([100], 0) == ((), None)
    assert give_back([500, 400, 300, 300], 1100) == ((500, 300, 300), None)
    assert give_back([1, 1], 1) == ((1,), None)
    assert give_back([100, 25], 30) == ((25,), Change(5, 100))
    assert give_back([25, 25], 60) == ((25, 25), None)


@given(st.data())
@QUICK
def test_a_copy_is_equal_and_apart(data):
    hand = data.draw(hands())
    for _ in range(data.draw(st.integers(0, 10))):
        if hand.over:
            break
        twin = hand.copy()
        assert twin == hand
        legal(data.draw, hand)
        assert twin != hand
