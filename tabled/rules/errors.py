"""What can be wrong with an act, by what the caller did wrong.  Every message says the numbers."""

from __future__ import annotations


class IllegalAct(ValueError):
    """Base: the law does not allow this act now."""


class NotYourTurn(IllegalAct):
    """Another seat is to act, or nobody is."""


class CannotCheck(IllegalAct):
    """There is a bet to answer."""


class NothingToCall(IllegalAct):
    """There is no bet to call."""


class NotARaise(IllegalAct):
    """The total does not go above the bet to call."""


class TooSmall(IllegalAct):
    """The raise is under the minimum and the seat has chips left."""


class TooLarge(IllegalAct):
    """The raise is over what the structure allows."""


class NotEnoughChips(IllegalAct):
    """The seat does not own that much."""


class RaiseClosed(IllegalAct):
    """The seat may call or fold, not raise: it has acted and no full raise came since, or nobody is left to answer."""


class RaisesCapped(RaiseClosed):
    """The street's raises are used up."""


class NothingToComplete(IllegalAct):
    """There is no incomplete bet that this seat may complete."""


class NoBringIn(IllegalAct):
    """No bring-in is due."""


class StreetNotOver(IllegalAct):
    """The next street was asked for while a seat must still act."""


class SetupError(ValueError):
    """A hand's set-up cannot be dealt: the message names the seat or value."""
