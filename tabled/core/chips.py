"""From inventories to chips that came to or left a seat's betting area, and what each of them is for."""

from __future__ import annotations

from msgspec.structs import replace

from firmware_bridge.wire import CleanEmpty, Corrupt, Present, TimeSpan
from tabled.core import astray, learning, money, sight
from tabled.core.draft import Draft
from tabled.core.entries import Known
from tabled.core.sight import watched
from tabled.core.state import Line, TableState, area_key, place_at
from tabled.fusion.attempt import MAX_ARRIVALS, Arrival, Attempt
from tabled.fusion.motion import strange
from tabled.fusion.presence import Area, lower, observe, owner, read_across
from tabled.fusion.settings import MS
from tabled.model.ruling import Reason

HITS_WITHOUT_A_HAND = 5
"""So often a tag must be read where no hand was seen."""

FAINT_MS = 5000
"""A chip that was read here so short a time ago and is read again has lain here since."""

Inventory = Present | CleanEmpty | Corrupt


def on_known(draft: Draft, known: Known) -> None:
    """The room's registry says of chips what it had not said before.

    A chip that lies in a bet keeps the worth that it came with: what was ruled is not altered behind the dealer's back.
    One that lay there as a stranger comes with the next look that names it, as if it had been put down then.
    """
    state = draft.state
    config = state.config
    assert config is not None
    news = {*known.chips, *known.barred, *known.unknown}
    strangers = {uid for uid in known.chips if uid not in config.chips and uid in state.places}
    if strangers:
        state.places = {uid: key for uid, key in state.places.items() if uid not in strangers}
        state.areas = {
            key: replace(area, tags={uid: tag for uid, tag in area.tags.items() if uid not in strangers})
            for key, area in state.areas.items()
        }
    values = {uid: value for uid, value in config.chips.items() if uid not in news} | known.chips
    barred = {uid: why for uid, why in config.barred.items() if uid not in news} | known.barred
    state.config = replace(config, chips=values, barred=barred)
    for uid in sorted(news):
        if uid not in barred:
            draft.clear(f"barred:{uid}")


def on_inventory(draft: Draft, seen: Inventory) -> None:
    """Fold one inventory of one antenna into the table."""
    state = draft.state
    config = state.config
    assert config is not None
    place = config.layout.place_of(seen.device, seen.antenna)
    key = area_key(seen.device, seen.antenna)
    if place is None:
        draft.alert(key, "warning", Reason("antenna_unknown", {"device": seen.device, "antenna": seen.antenna}))
        return
    model = state.fusion.sensor
    before = state.areas.get(key, Area())
    hand_ns = sight.hand_ns(state, place.seat) if place.kind == "bet" else None
    expected = frozenset[str]()
    if isinstance(seen, Present):
        hand_there = hand_ns is not None and hand_ns >= seen.span.earliest_ns
        lately = {uid for uid, last_ns in before.faint if last_ns >= seen.span.earliest_ns - FAINT_MS * MS}
        free = (t.uid for t in seen.tags if t.uid in config.chips and t.uid not in state.places)
        expected = frozenset(uid for uid in free if hand_there or uid in lately)
    area, delta = observe(before, seen, draft.position, model, hand_ns=hand_ns, expected=expected)
    areas = {**state.areas, key: area}
    seen_now = tuple(tag.uid for tag in seen.tags) if isinstance(seen, Present) else ()
    doubled: set[str] = set()
    for other, elsewhere in state.areas.items():
        if other == key or not elsewhere.tags:
            continue
        for uid in seen_now:
            if uid in elsewhere.tags:
                areas[other] = lower(areas[other], uid, model)
                doubled.add(uid)
    state.areas = areas
    if (area.again, area.found) != (before.again, before.found):
        learning.misses(state)
    for uid in sorted({*seen_now, *delta.left}):
        if uid not in doubled and uid in area.tags and state.places.get(uid) == key:
            continue  # it lies where it lay, and no other antenna knows it
        known = before.tags.get(uid)
        flicker = known is not None and known.peak < model.confirmed
        _locate(draft, uid, flicker=flicker, lay_ns=known.last_ns if known is not None else 0)
    for uid in delta.left:
        draft.clear(f"barred:{uid}")
        draft.clear(f"twice:{uid}")
    if place.kind == "bet":
        _confirm(draft, place.seat, area, model.confirmed)
    if isinstance(seen, Present):
        _report_unknown(draft, seen, area, key)
        _report_barred(draft, seen, area)
    money.look(draft, sorted(doubled), key)


def _locate(draft: Draft, uid: str, *, flicker: bool, lay_ns: int) -> None:
    """Follow one tag to where it most likely lies now.  ``flicker``: where it was, it never was for sure;
    ``lay_ns``: when it was read here last."""
    state = draft.state
    assert state.config is not None
    here = state.places.get(uid)
    there = owner(state.areas, uid, here, state.fusion.sensor)
    if there == here or (here is None and there is not None and _strange(state, uid, there)):
        return
    if there is not None and here is not None:
        if _untouched(state, uid, here, there):
            return  # read across a neighbour's antenna: nobody has been near it to move it
        if not _surely_there(state, uid, here, there, lay_ns):
            if uid in state.areas[here].tags:
                return
            there = None  # it is not read here any more, but that it lies there is not said yet
    places = {k: v for k, v in state.places.items() if k != uid}
    state.places = places if there is None else {**places, uid: there}
    origin = state.where.get(uid)
    money.moved(draft, uid, there)
    seat = _bet_seat(state, here)
    if seat:
        _left(draft, seat, uid, elsewhere=there is not None, flicker=flicker, lay_ns=lay_ns)
    seat = _bet_seat(state, there)
    if seat and there is not None:
        _came(draft, seat, uid, state.areas[there], origin)


def _strange(state: TableState, uid: str, key: str) -> bool:
    """A new tag on a line that no hand has been near: most likely read across from a neighbour.  It must be read again
    and again before it counts, for the camera may have missed a hand.  One that lay there before has not been away."""
    sighting = state.areas[key].tags[uid]
    seat = _bet_seat(state, key)
    attempt = state.attempts.get(seat)
    if (attempt is not None and any(a.uid == uid for a in attempt.arrivals)) or uid in _line(state, seat).missing:
        return False
    return sighting.hits < HITS_WITHOUT_A_HAND and _no_hand_since(state, key, sighting.reach_ns)


def _untouched(state: TableState, uid: str, key: str, other: str) -> bool:
    """True when a chip was read on a line after any hand was near it, by what the camera saw: it cannot have left.

    Unless it never lay there, but where the ``other`` antenna keeps naming it."""
    sighting, elsewhere = state.areas[key].tags.get(uid), state.areas[other].tags.get(uid)
    if sighting is None or not _no_hand_since(state, key, sighting.last_ns):
        return False
    return elsewhere is None or not read_across(sighting, elsewhere)


def _surely_there(state: TableState, uid: str, key: str, other: str, lay_ns: int) -> bool:
    """Whether a chip of one place (read there last at ``lay_ns``) can be taken to lie on another line by what that
    line's antenna said.

    One answer says nothing: a chip that is badly read is heard across now and then.  Where no hand has been that could
    have brought it, it takes as many as for a new one.
    """
    if not _bet_seat(state, other):
        return True
    sighting = state.areas[other].tags[uid]
    known = state.areas[key].tags.get(uid)
    since_ns = known.last_ns if known is not None else lay_ns
    if sighting.hits < HITS_WITHOUT_A_HAND and _no_hand_since(state, other, since_ns):
        return False
    return sighting.level >= state.fusion.sensor.confirmed


def _line(state: TableState, seat: str) -> Line:
    return state.lines.get(seat, Line())


def _no_hand_since(state: TableState, key: str, since_ns: int) -> bool:
    """True where the camera is to be believed that no hand was over a seat's line since; never of another place."""
    seat = _bet_seat(state, key)
    hand_ns = sight.hand_ns(state, seat) if seat else None
    return hand_ns is not None and hand_ns < since_ns


def _bet_seat(state: TableState, key: str | None) -> str:
    """The seat whose bets an antenna covers, "" for another place or none."""
    assert state.config is not None
    place = place_at(state.config, key) if key is not None else None
    return place.seat if place is not None and place.kind == "bet" else ""


def _report_unknown(draft: Draft, seen: Present, area: Area, key: str) -> None:
    """A tag that is in no registry is money or it is not: the dealer must look.  Once seen it may be a ghost."""
    config = draft.state.config
    assert config is not None
    strangers = [
        t.uid
        for t in seen.tags
        if t.uid not in config.chips
        and t.uid not in config.barred
        and t.uid in area.tags
        and area.tags[t.uid].level >= draft.state.fusion.sensor.confirmed
    ]
    subject = f"unknown_tag:{key}"
    if strangers:
        place = config.layout.place_of(seen.device, seen.antenna)
        seat = place.seat if place else ""
        draft.alert(subject, "warning", Reason("unknown_tag", {"seat": seat, "uid": strangers[0]}))
    elif not any(uid not in config.chips for uid in area.tags):
        draft.clear(subject)


def _report_barred(draft: Draft, seen: Present, area: Area) -> None:
    """A chip that the registry bars is no money, however real it looks."""
    config = draft.state.config
    assert config is not None
    for tag in seen.tags:
        status = config.barred.get(tag.uid)
        known = area.tags.get(tag.uid)
        if status is not None and known is not None and known.level >= draft.state.fusion.sensor.confirmed:
            place = config.layout.place_of(seen.device, seen.antenna)
            params: dict[str, int | str] = {"seat": place.seat if place else "", "uid": tag.uid, "status": status}
            draft.alert(f"barred:{tag.uid}", "fault", Reason("chip_barred", params))


def _came(draft: Draft, seat: str, uid: str, area: Area, origin: str | None) -> None:
    """A chip lies on a seat's line now; ``origin`` is the place where it was before, as far as anybody knows."""
    state = draft.state
    assert state.config is not None
    value = state.config.chips.get(uid)
    if value is None:
        return  # reported by `_report_unknown` once it is surely there
    line = draft.line(seat)
    if uid in line.missing:
        missing = {k: v for k, v in line.missing.items() if k != uid}
        draft.set_line(seat, replace(line, settled={**line.settled, uid: value}, missing=missing))
        if not missing:
            draft.clear(f"line:{seat}")
        return
    if uid in line.settled or (uid in line.returned and _never_left(draft, seat, line, uid, value)):
        return
    paid = line.owed > 0 and origin == f"stack:{seat}"
    if state.phase == "sweeping" and uid in state.known and not paid:
        return  # a bet dragged across a neighbour's antenna on its way to the pot
    state.known = state.known | {uid}
    attempt = state.attempts.get(seat)
    known = attempt is not None and any(a.uid == uid for a in attempt.arrivals)
    dealt_in = state.hand is not None and seat in state.hand.seats
    if known:
        _set_taken(draft, seat, uid, False)
    elif state.phase in ("idle", "over"):
        draft.set_line(seat, replace(line, settled={**line.settled, uid: value}))
    elif state.phase == "posting" and line.posted < state.due.get(seat, 0):
        draft.set_line(seat, replace(line, settled={**line.settled, uid: value}, posted=line.posted + value))
    elif line.owed > 0 and not _fetches_a_raise(draft, seat):
        _pay(draft, seat, line, uid, value)
    elif state.phase == "sweeping" and line.settled and not (state.ruled and state.ruled[-1].attempt.seat == seat):
        # Its bet still lies there to be swept, so this is no first act of the next street.
        draft.alert(f"late:{seat}", "warning", Reason("chips_late", {"seat": seat, "amount": value}))
        draft.set_line(seat, replace(line, settled={**line.settled, uid: value}, back=line.back + value))
    elif dealt_in and state.hand is not None and state.hand.status_of(seat) == "in":
        _arrive(draft, seat, uid, value, area)
    else:
        draft.alert(f"line:{seat}", "warning", Reason("chips_no_turn", {"seat": seat, "value": value}))
        draft.set_line(seat, replace(line, settled={**line.settled, uid: value}))


def _never_left(draft: Draft, seat: str, line: Line, uid: str, value: int) -> bool:
    """Take a chip back into the line that seemed to have been returned, if no hand of the player can have brought it
    again since; then a chip that is missing is the one that was.  False where that cannot be told."""
    state = draft.state
    since = state.gone_ns.get(uid)
    if since is None or sight.player_since(state, seat, since):
        return False
    returned = {u: v for u, v in line.returned.items() if u != uid}
    paid = min(line.owed, value)  # what it had seemed to leave owing
    missing, back = dict(line.missing), line.back + value - paid
    for gone, worth in line.missing.items():
        if worth <= back:
            del missing[gone]
            returned[gone], back = worth, back - worth
    settled = {**line.settled, uid: value}
    owed = line.owed - paid
    draft.set_line(seat, replace(line, settled=settled, missing=missing, returned=returned, back=back, owed=owed))
    if not owed:
        draft.clear(f"owed:{seat}")
    if not missing:
        draft.clear(f"line:{seat}")
    return True


def _fetches_a_raise(draft: Draft, seat: str) -> bool:
    """True while a seat that said "raise" without an amount may still be bringing it (§7.1, the exception).

    Its act is final at the least raise by then; what it brings makes a new reading of the same act, not a payment.
    """
    state = draft.state
    if not state.ruled or state.ruled[-1].attempt.seat != seat or not state.ruled[-1].attempt.arrivals:
        return False
    return any(w.say.word == "raise" and w.say.amount is None for w in state.ruled[-1].attempt.words)


def _pay(draft: Draft, seat: str, line: Line, uid: str, value: int) -> None:
    """A chip that a final ruling had asked for."""
    if draft.state.hand is not None and draft.state.hand.to_act == seat:
        # It must act again while it still owes: what these chips are for cannot be seen.
        draft.alert(f"owed:{seat}", "warning", Reason("still_owed", {"seat": seat, "amount": line.owed}))
    owed = line.owed - value
    line = replace(line, settled={**line.settled, uid: value}, owed=max(0, owed))
    if owed < 0:
        line = replace(line, back=line.back - owed)
        draft.alert(f"owed:{seat}", "info", Reason("change_due", {"seat": seat, "amount": -owed}))
    draft.set_line(seat, line)
    if owed <= 0:
        draft.clear(f"owed:{seat}")


def _arrive(draft: Draft, seat: str, uid: str, value: int, area: Area) -> None:
    state = draft.state
    attempt = attempt_of(draft, seat)
    if len(attempt.arrivals) >= MAX_ARRIVALS:
        draft.alert(f"line:{seat}", "fault", Reason("too_many_chips", {"seat": seat, "limit": MAX_ARRIVALS}))
        return
    sighting = area.tags[uid]
    arrival = Arrival(
        uid, value, sighting.arrived, sighting.first_pos, misses=sighting.misses, reach_ns=sighting.reach_ns
    )
    attempt = replace(attempt, arrivals=(*attempt.arrivals, arrival), held=False)
    state.attempts = {**state.attempts, seat: watched(state, attempt)}


def _confirm(draft: Draft, seat: str, area: Area, confirmed: int) -> None:
    """A chip read more than once was there; a single answer may be a ghost and may still be dropped unseen."""
    state = draft.state
    attempt = state.attempts.get(seat)
    if attempt is None:
        return
    sure = {a.uid for a in attempt.arrivals if not a.certain and a.uid in area.tags}
    sure = {uid for uid in sure if area.tags[uid].level >= confirmed}
    if sure:
        arrivals = tuple(replace(a, certain=True) if a.uid in sure else a for a in attempt.arrivals)
        state.attempts = {**state.attempts, seat: replace(attempt, arrivals=arrivals)}


def _pay_with_what_came(draft: Draft, seat: str) -> None:
    """Change comes before the large chip is seen to go: what lies there already pays for it, oldest first."""
    state = draft.state
    attempt = state.attempts.get(seat)
    if attempt is None or attempt.held or (state.hand is not None and state.hand.to_act == seat):
        return
    for arrival in attempt.arrivals:
        line = draft.line(seat)
        if line.owed >= arrival.value and not arrival.taken_back:
            _pay(draft, seat, line, arrival.uid, arrival.value)
            attempt = replace(attempt, arrivals=tuple(a for a in attempt.arrivals if a.uid != arrival.uid))
    state.attempts = {**state.attempts, seat: attempt}


def attempt_of(draft: Draft, seat: str) -> Attempt:
    """What the seat has done so far, or the beginning of it.

    What was read here before may have been a neighbour's chip or a ghost: then the seat begins to act now.
    """
    attempt = draft.state.attempts.get(seat, Attempt(seat))
    if attempt.held or attempt.words or any(a.certain for a in attempt.arrivals):
        return attempt
    return replace(attempt, faced=bet_in_sight(draft, seat))


def bet_in_sight(draft: Draft, seat: str) -> int:
    """The bet that a seat sees that begins to act now: the ruled one, or another seat's that lies there to be ruled."""
    state = draft.state
    if state.hand is None or state.phase != "betting":
        return 0
    other = state.standing is not None and state.standing.seat != seat
    standing = state.standing.ruling.to if state.standing is not None and other else None
    return max(state.hand.bet_to, standing or 0)


def _left(draft: Draft, seat: str, uid: str, *, elsewhere: bool, flicker: bool, lay_ns: int) -> None:
    """A chip is no longer on a seat's line.  ``elsewhere``: it answers on another antenna now, so its stay here
    was a misreading or it was moved; ``flicker``: it may have been a ghost."""
    state = draft.state
    if not elsewhere:
        state.gone_ns = {**state.gone_ns, uid: lay_ns}
    line = draft.line(seat)
    attempt = state.attempts.get(seat)
    arrival = next((a for a in attempt.arrivals if a.uid == uid), None) if attempt is not None else None
    if attempt is not None and arrival is not None:
        if arrival.certain and not elsewhere and not attempt.held and arrival not in strange(attempt):
            _set_taken(draft, seat, uid, True, lay_ns)
        else:
            rest = tuple(a for a in attempt.arrivals if a.uid != uid)
            state.attempts = {**state.attempts, seat: replace(attempt, arrivals=rest)}
            if not rest:
                astray.gathered(draft, seat)
        return
    if uid not in line.settled:
        return
    value = line.settled[uid]
    settled = {k: v for k, v in line.settled.items() if k != uid}
    if state.phase == "posting" and (flicker or elsewhere):
        draft.set_line(seat, replace(line, settled=settled, posted=max(0, line.posted - value)))
        return
    if uid in line.ante:
        draft.set_line(seat, replace(line, settled=settled))
    elif line.back > 0 and state.phase in ("posting", "betting"):
        # Change being made: a chip worth more than is due goes, and the rest is brought back in smaller ones.
        short = max(0, value - line.back)
        back = max(0, line.back - value)
        returned = {**line.returned, uid: value}
        owed = line.owed + short
        draft.set_line(seat, replace(line, settled=settled, back=back, owed=owed, returned=returned))
        _pay_with_what_came(draft, seat)
    elif state.phase != "betting":
        draft.set_line(seat, replace(line, settled=settled, back=max(0, line.back - value)))
    else:
        draft.set_line(seat, replace(line, settled=settled, missing={**line.missing, uid: value}))
        if not line.missing:
            draft.alert(f"line:{seat}", "warning", Reason("chips_left", {"seat": seat, "amount": value}))


def _set_taken(draft: Draft, seat: str, uid: str, taken: bool, lay_ns: int = 0) -> None:
    state = draft.state
    attempt = state.attempts[seat]
    arrivals = tuple(replace(a, taken_back=taken, lay_ns=lay_ns) if a.uid == uid else a for a in attempt.arrivals)
    state.attempts = {**state.attempts, seat: replace(attempt, arrivals=arrivals)}


def forget_times(attempt: Attempt, now_ns: int) -> Attempt:
    """After the host's clock began anew nothing is known of when the chips came or the words were spoken."""
    wide = TimeSpan(min(0, now_ns), now_ns)
    return replace(
        attempt,
        arrivals=tuple(
            replace(a, span=wide, misses=(), reach_ns=None, lay_ns=wide.earliest_ns) for a in attempt.arrivals
        ),
        words=tuple(replace(w, span=wide) for w in attempt.words),
        closed_ns=None if attempt.closed_ns is None else now_ns,
        strokes=(),
        sighted=False,
    )
