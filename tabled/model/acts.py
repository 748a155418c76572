"""What people at the table did, in the order in which it bound them.

These are the words shared by fusion (which makes them from sensors) and the rules (which judge
them).  A list of acts is already ordered: whoever builds it has decided, or has asked the dealer,
whether a word came before a chip.  ``Say.order`` keeps the one relation that a list cannot hold:
a word spoken in the same instant as the first touch (§7.5.1).
"""

from __future__ import annotations

from typing import Literal

import msgspec

Word = Literal["fold", "check", "call", "bet", "raise", "all_in", "number", "pot", "complete", "other"]
Order = Literal["before", "simultaneous", "after"]
Counting = Literal["by", "to", "unstated"]
Witness = Literal["dealer", "player_at_table", "staff", "player_other_table", "spectator"]


class Act(msgspec.Struct, frozen=True, tag_field="do"):
    """Base of all acts.  ``seat`` is the seat that did it (its name in the hand's set-up)."""

    seat: str


class Say(Act, frozen=True, tag="say"):
    """A spoken declaration.  ``amount`` in smallest chips; ``order`` is relative to the first touch of chips."""

    word: Word
    amount: int | None = None
    by_or_to: Counting = "unstated"
    order: Order = "before"
    text: str = ""
    low_voice: bool = False


class Place(Act, frozen=True, tag="place"):
    """Chips released on the felt of the betting area, by denomination."""

    chips: tuple[int, ...]
    accidental: bool = False
    color_unclear: bool = False
    forced_change: bool = False


class PushForward(Act, frozen=True, tag="push_forward"):
    """Chips pushed toward the pot (§7.7): binding before they are released."""

    chips: tuple[int, ...]
    hand_on_chips: bool = False
    crossed_line: bool = True


class StageNearStack(Act, frozen=True, tag="stage_near_stack"):
    """Chips counted out beside the player's own stack: free (§7.7, comment)."""

    chips: tuple[int, ...]


class HoldOverLine(Act, frozen=True, tag="hold_over_line"):
    """Chips held over the betting area without touching it: no act."""

    chips: tuple[int, ...]


class HandReturnsToStack(Act, frozen=True, tag="hand_returns_to_stack"):
    """The hand went back for more: whatever follows is another motion (§7.1)."""


class HandWithdraws(Act, frozen=True, tag="hand_withdraws"):
    """The hand left the betting area; the motion is over."""


class PullBack(Act, frozen=True, tag="pull_back"):
    """Chips that had been put forward were taken back."""

    chips: tuple[int, ...]


class TapTable(Act, frozen=True, tag="tap_table"):
    """A knock on the table: a check (§7.6)."""


class CardsForward(Act, frozen=True, tag="cards_forward"):
    """Cards pushed toward the muck: a fold."""


class Decided(Act, frozen=True, tag="act"):
    """An act that is already ruled, given as its outcome (``to`` is the total on the street)."""

    act: Literal["fold", "check", "call", "bet", "raise", "complete", "all_in", "post"]
    to: int | None = None


class ErrorPointedOut(Act, frozen=True, tag="error_pointed_out"):
    """Someone pointed out a wrong amount (§7.9); who may do so is the profile's ``third_party``."""

    by: Witness
    what: str = ""


class DealerStatesAmount(Act, frozen=True, tag="dealer_states_amount"):
    """The dealer said aloud what a bet or the pot is."""

    amount: int | None = None


class NextCardDealt(Act, frozen=True, tag="next_card_dealt"):
    """Substantial action: the next card is out, correction windows close."""


class AskChange(Act, frozen=True, tag="ask_change"):
    """The player asked for change."""


class DealerGivesChange(Act, frozen=True, tag="dealer_gives_change"):
    """The dealer made change out of the pot or the float."""

    amount: int | None = None


class Claims(Act, frozen=True, tag="claims"):
    """The player objects; a claim changes nothing by itself but may need the floor."""

    text: str = ""


AnyAct = (
    Say
    | Place
    | PushForward
    | StageNearStack
    | HoldOverLine
    | HandReturnsToStack
    | HandWithdraws
    | PullBack
    | TapTable
    | CardsForward
    | Decided
    | ErrorPointedOut
    | DealerStatesAmount
    | NextCardDealt
    | AskChange
    | DealerGivesChange
    | Claims
)
