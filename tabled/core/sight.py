"""What the camera contributes: strokes of hands at each seat, chips that it saw land, and whether to believe it."""

from __future__ import annotations

from msgspec.structs import replace

from firmware_bridge.wire import DeviceLost, DeviceUp
from tabled.core import money
from tabled.core.draft import Draft
from tabled.core.state import TableState
from tabled.fusion.attempt import Attempt
from tabled.fusion.strokes import follow, joined, players
from tabled.model.camera import CameraTrust, ChipsLanded, HandMoved
from tabled.model.ruling import Reason

FAR_NS = 1 << 62
"""Later than any time: the hand is over the line still."""


def on_hand(draft: Draft, seen: HandMoved) -> None:
    """Fold one step of a hand.  What a camera that is not trusted, or not this table's, reports is left out."""
    state = draft.state
    if not _watching(draft, seen.device, seen.seat):
        return
    strokes = follow(state.sight.strokes.get(seen.seat, ()), seen, draft.position)
    over = any(s.left is None for s in strokes)
    hand_ns = FAR_NS if over else max((s.left.latest_ns for s in strokes if s.left is not None), default=0)
    state.sight = replace(
        state.sight,
        strokes={**state.sight.strokes, seen.seat: strokes},
        hand_ns={**state.sight.hand_ns, seen.seat: hand_ns},
    )
    attempt = state.attempts.get(seen.seat)
    if attempt is not None:
        state.attempts = {**state.attempts, seen.seat: watched(state, attempt)}


def on_landed(draft: Draft, seen: ChipsLanded) -> None:
    """A chip that the camera saw land and no tag explains is money that nobody counts."""
    if _watching(draft, seen.device, seen.seat):
        money.landed(draft, seen)


def on_up(draft: Draft, seen: DeviceUp) -> None:
    """The camera answers; it watches as soon as it says that it may be trusted."""
    if seen.device == _camera(draft):
        draft.state.sight = replace(draft.state.sight, since_ns=None, clear_ns={})


def on_lost(draft: Draft, seen: DeviceLost) -> None:
    """The camera is gone: from here on the reader is alone, and asks more."""
    if seen.device == _camera(draft):
        draft.state.sight = replace(draft.state.sight, since_ns=None, clear_ns={}, strokes={})
        _forget_sight(draft, "")


def on_trust(draft: Draft, seen: CameraTrust) -> None:
    """The camera says for itself whether it may be believed, for the table or for one seat."""
    state = draft.state
    if seen.device != _camera(draft) or (seen.seat and not _has_seat(draft, seen.seat)):
        return
    subject = f"camera:{seen.seat}" if seen.seat else "camera"
    if seen.trusted:
        since = seen.span.latest_ns
        if seen.seat:
            state.sight = replace(state.sight, clear_ns={**state.sight.clear_ns, seen.seat: since})
        else:
            state.sight = replace(state.sight, since_ns=since)
        draft.clear(subject)
        return
    if seen.seat:
        state.sight = replace(state.sight, clear_ns={**state.sight.clear_ns, seen.seat: None})
    else:
        state.sight = replace(state.sight, since_ns=None)
    _forget_sight(draft, seen.seat)
    params: dict[str, int | str] = {"seat": seen.seat, "why": seen.reason}
    draft.alert(subject, "warning", Reason("camera_blind_seat" if seen.seat else "camera_blind", params))


def watched(state: TableState, attempt: Attempt) -> Attempt:
    """The attempt with the strokes at its seat, and whether the camera had it in sight since before its first chip."""
    strokes = state.sight.strokes.get(attempt.seat, ())
    since = _in_sight_ns(state, attempt.seat)
    first = min((a.likely.earliest_ns for a in attempt.arrivals), default=None)
    sighted = since is not None and (first is None or since <= first)
    return replace(attempt, strokes=joined(attempt.strokes, strokes), sighted=sighted)


def act_over(state: TableState, seat: str) -> None:
    """The seat's act is ruled: strokes that ended belong to it; a hand that is still over the line goes on."""
    strokes = tuple(s for s in state.sight.strokes.get(seat, ()) if s.left is None)
    state.sight = replace(state.sight, strokes={**state.sight.strokes, seat: strokes})


def hand_ns(state: TableState, seat: str) -> int | None:
    """The newest time at which a hand may have been over a seat's line; None while the camera cannot tell."""
    since = _in_sight_ns(state, seat)
    return None if since is None else max(since, state.sight.hand_ns.get(seat, 0))


def player_since(state: TableState, seat: str, since_ns: int) -> bool:
    """Whether a hand of the player, or one that may be his, was over the line at or after an instant; True where the
    camera did not watch all the time since."""
    since = _in_sight_ns(state, seat)
    if since is None or since > since_ns:
        return True
    strokes = players(state.sight.strokes.get(seat, ()))
    return any(s.left is None or s.left.latest_ns >= since_ns for s in strokes)


def _in_sight_ns(state: TableState, seat: str) -> int | None:
    """Since when the camera has had a seat's zone in sight without a break; None while it has not."""
    since, clear = state.sight.since_ns, state.sight.clear_ns.get(seat, 0)
    return None if since is None or clear is None else max(since, clear)


def _watching(draft: Draft, device: str, seat: str) -> bool:
    return device == _camera(draft) and _in_sight_ns(draft.state, seat) is not None and _has_seat(draft, seat)


def _has_seat(draft: Draft, seat: str) -> bool:
    config = draft.state.config
    return config is not None and seat in config.layout.seats


def _camera(draft: Draft) -> str:
    """The device that watches this table; no device is named "" ."""
    return draft.state.config.camera if draft.state.config is not None else ""


def _forget_sight(draft: Draft, seat: str) -> None:
    """Acts in the making (of one seat, or all) can no longer be told by the camera."""
    state = draft.state
    state.attempts = {s: replace(a, sighted=False) if not seat or s == seat else a for s, a in state.attempts.items()}
