"""The end of a street: what nobody called comes back, the bets are swept, the next street begins clean."""

from __future__ import annotations

import pytest

from tabled.rules import errors as e
from tests.rules.deal import deal, play


def test_what_nobody_called_comes_back_to_the_chip_and_only_once():
    hand = play(deal([1000, 1000, 1000]), "3 raise 400", "1 call", "2 fold")
    assert hand.return_uncalled() is None
    assert (hand.bet, hand.paid, hand.stack, hand.total) == ([400, 100, 400], [400, 100, 400], [600, 900, 600], 900)
    hand = play(deal([1000, 300, 1000]), "3 raise 700", "1 fold", "2 call")
    assert (hand.total, hand.return_uncalled(), hand.total) == (1050, ("3", 400), 650)
    assert (hand.bet, hand.paid, hand.stack) == ([50, 300, 300], [50, 300, 300], [950, 0, 700])
    assert hand.return_uncalled() is None
    assert (hand.close_street(), hand.bet, hand.total) == (None, [0, 0, 0], 650)


def test_an_open_street_is_not_closed_and_the_next_begins_clean():
    hand = play(deal([1000, 1000, 1000]), "3 raise 400", "1 call")
    with pytest.raises(e.StreetNotOver, match="2 must still act"):
        hand.close_street()
    with pytest.raises(e.StreetNotOver, match="2 must still act"):
        hand.deal_next_street()
    play(hand, "2 call")
    assert (hand.swept, hand.close_street(), hand.swept) == (False, None, True)
    hand.deal_next_street()
    assert (hand.street, hand.swept, hand.bet_to, hand.bets, hand.raises) == (1, False, 0, 0, 0)
    assert (hand.seen, hand.heard, hand.line_chips, hand.full) == ([-1, -1, -1], [0, 0, 0], {}, 100)


def test_the_seat_that_opens_by_its_cards_is_the_first_even_in_the_first_chair():
    for opener, then in (("1", "2"), ("2", "3"), ("3", "1")):
        hand = play(deal([1000, 1000, 1000]), "3 call", "1 call", "2 check")
        hand.deal_next_street(opener)
        assert hand.to_act == opener
        assert play(hand, f"{opener} check").to_act == then
