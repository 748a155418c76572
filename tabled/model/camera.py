"""What the camera reports: observations of hands and chips over the betting zones, as frozen integers.

The sensing process makes these from frames; nothing to the right of it sees a picture.  Times are spans of the
host's monotonic clock that hold the instant itself (exposure, read-out and parallax are inside the span).  The camera
is a device like another: it comes with `DeviceUp`, goes with `DeviceLost`, and says by `CameraTrust` when it must
not be believed.
"""

from __future__ import annotations

from typing import Literal

from firmware_bridge.wire import Observation

HandStep = Literal["enters", "advances", "leaves"]
HandOf = Literal["player", "dealer", "unsure"]


class HandMoved(Observation, frozen=True, tag="hand"):
    """One step of a hand at a seat's betting line.

    ``enters``: it crosses the line inwards.  ``advances``: over the line already, it moves forward again after it went
    back or rested.  ``leaves``: it is behind the line.  ``retreat_mm`` is how far it had gone back from its furthest
    point, ``pause_ms`` how long before this step the forward movement before it had ended; both 0 for the first
    stroke of a visit that no other visit of this seat preceded within `MAX_PAUSE_MS`, and for ``leaves``.
    ``by`` is told from the side of first contact.  ``confidence`` in thousandths; below 500 it may not have happened.
    ``likely_ns`` is the best guess of the instant, somewhere within the span (0: its middle): how high a hand is can
    only be bounded, and the bound is further from what hands do on one side than on the other.
    """

    seat: str
    step: HandStep
    by: HandOf = "unsure"
    retreat_mm: int = 0
    pause_ms: int = 0
    confidence: int = 1000
    likely_ns: int = 0


class ChipsLanded(Observation, frozen=True, tag="landed"):
    """A chip or pile that lies on a seat's zone and did not before.

    ``span`` is when it landed: a hand hides the landing, so it runs from the hand's coming to the first free view.
    ``area_mm2`` is what it covers, ``value`` the denomination of its top chip by colour (0: no colour of the table's).
    """

    seat: str
    x_mm: int
    y_mm: int
    area_mm2: int
    value: int = 0
    confidence: int = 1000


class CameraTrust(Observation, frozen=True, tag="trust"):
    """Whether the camera may be believed from now on, for one seat or (seat "") for the whole table.

    ``reason`` is a code: "ok", "moved", "lights", "occluded", "focus", "dirt", "stalled".  While it is not trusted it
    reports no hands and no chips.
    """

    trusted: bool
    reason: str = "ok"
    seat: str = ""


AnyCameraObservation = HandMoved | ChipsLanded | CameraTrust

MAX_PAUSE_MS = 5_000
"""A hand that comes back later than this after it left begins anew: no stroke preceded it."""
