"""Which chips lie on which antenna: a bounded Bayesian filter in integers.

Each tag on each antenna has a level (log-odds, see `SensorModel`).  A sighting raises it, a clean
inventory without the tag lowers it, and a corrupt or incomplete inventory changes nothing for the
tags it does not name: only a clean answer is evidence of absence.  An inventory taken while known tags
had been told to stay quiet is a clean answer for every tag but those.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from firmware_bridge.wire import CleanEmpty, Corrupt, Present, TimeSpan
from tabled.fusion.settings import SensorModel

MAX_TAGS_PER_AREA = 512
"""More tags than this on one antenna are not chips on a line; further new ones are refused and counted."""

HITS_ACROSS = 3
"""So many more readings than its neighbour's make it certain which of two antennas a tag lies on."""
ECHOES = 4
"""So many looks that say what the one before said count as one."""
MAX_FAINT = 32
MAX_RECENT = 8
"""Sightings of a tag whose times are remembered, to compare two antennas that both name it."""

MAX_COUNTED = 4000
"""Misses that are remembered of an antenna; beyond it the older ones count half."""
MAX_LOOKS = 48
"""Complete inventories of an antenna that are remembered to weigh when a chip came."""

Inventory = Present | CleanEmpty | Corrupt


class Look(msgspec.Struct, frozen=True):
    """One inventory that names every tag there but the ``quiet`` ones: when it began, and whether other chips lay
    there that could hide one.  ``changed`` if it names other chips of this place than the one before: then it is no
    echo of it."""

    start_ns: int
    crowded: bool
    quiet: frozenset[str] = frozenset()
    changed: bool = False


class Sighting(msgspec.Struct, frozen=True):
    """One tag on one antenna.  ``arrived`` holds its coming: from the last look that cannot have missed it to the
    first sighting; ``misses`` are the looks between the two, oldest first.

    ``peak`` is the highest level it has had: one that never got beyond its first answer may have been a ghost.
    """

    level: int
    arrived: TimeSpan
    first_pos: int
    peak: int = 0
    misses: tuple[Look, ...] = ()
    last_ns: int = 0
    """Start of the newest inventory that named it."""
    missed: int = 0
    """Inventories in a row that should have named it and did not."""
    hits: int = 1
    """Inventories that named it."""
    reach_ns: int = 0
    """Start of the oldest look that even a chip which lies badly may have escaped, with all looks after it."""
    recent_ns: tuple[int, ...] = ()
    """Starts of the newest few of them, oldest first; of those that only echo the look before every fourth."""


class Area(msgspec.Struct, frozen=True):
    """What is known of one antenna.

    ``clean`` is the span of its newest complete inventory, ``fresh`` that of the newest one that looked for new
    tags alone; ``looks`` are the newest few of both, oldest first.
    """

    tags: dict[str, Sighting] = {}
    clean: TimeSpan | None = None
    refused: int = 0
    looks: tuple[Look, ...] = ()
    fresh: TimeSpan | None = None
    faint: tuple[tuple[str, int], ...] = ()
    """Tags that are taken to be gone, and when each was read last, oldest first: what is read again is no ghost."""
    again: int = 0
    """Of looks right behind one that missed a tag which lay there, those that missed it too."""
    found: int = 0
    """Of the same looks, those that named it."""

    def new_tags_ns(self) -> int | None:
        """Start of the newest inventory that would have named a new tag; None before any."""
        return max((look.earliest_ns for look in (self.clean, self.fresh) if look is not None), default=None)


class Delta(msgspec.Struct, frozen=True):
    """Tags that came to or left an antenna with one inventory (UIDs, sorted)."""

    came: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


def observe(
    area: Area,
    seen: Inventory,
    pos: int,
    model: SensorModel,
    *,
    hand_ns: int | None = None,
    expected: Container[str] = (),
) -> tuple[Area, Delta]:
    """Fold one inventory into an area.  ``pos`` is its journal position.

    ``hand_ns`` is the newest time at which a hand may have been over the place, None where nobody knows: a chip that
    was read after it lies there still, however often it is missed, unless the camera missed a hand.  ``expected`` are
    tags that may well come here now: for them one answer is enough.
    """
    if isinstance(seen, Corrupt):
        return area, Delta()
    uids = tuple(dict.fromkeys(tag.uid for tag in seen.tags)) if isinstance(seen, Present) else ()
    quiet = frozenset(seen.quiet) if isinstance(seen, Present) else frozenset()
    complete = isinstance(seen, CleanEmpty) or seen.complete
    tags = dict(area.tags)
    came: list[str] = []
    refused, again, found = area.refused, area.again, area.found
    before = {uid for uid, tag in area.tags.items() if not tag.missed and tag.peak >= model.confirmed}
    changed = before != {*_of_here(area, uids, expected, model), *(before & quiet)}
    for uid in uids:
        known = tags.get(uid)
        if known is None and len(tags) >= MAX_TAGS_PER_AREA:
            refused += 1
            continue
        if known is None:
            looks = [look for look in area.looks if uid not in look.quiet]
            missed = _may_have_missed(looks, model)
            # Too few looks so far: the tag may have lain there all the time.
            since = missed[0].start_ns if miss_cost(missed, model) >= model.sure else 0
            span = TimeSpan(min(since, seen.span.latest_ns), seen.span.latest_ns)
            level = (model.start_expected if uid in expected else model.start) + model.hit
            seen_ns, oldest = seen.span.earliest_ns, looks[-looks_wanted(model) :]
            reach = min(span.earliest_ns, oldest[0].start_ns if oldest else 0)
            tags[uid] = Sighting(level, span, pos, level, missed, seen_ns, reach_ns=reach, recent_ns=(seen_ns,))
            came.append(uid)
        else:
            level = min(known.level + model.hit, model.ceiling)
            peak, last, hits = max(level, known.peak), seen.span.earliest_ns, known.hits + 1
            if known.missed:
                again, found = again + known.missed - 1, found + 1
            counts = changed or hits % ECHOES == 0
            recent = (*known.recent_ns, last)[-MAX_RECENT:] if counts else known.recent_ns
            tags[uid] = replace(known, level=level, peak=peak, last_ns=last, missed=0, hits=hits, recent_ns=recent)
    left: list[str] = []
    if again + found > MAX_COUNTED:
        again, found = again // 2, found // 2
    after = replace(area, tags=tags, refused=refused, again=again, found=found)
    if complete or quiet:
        left = _lower_missing(tags, frozenset(uids) | quiet, model, hand_ns)
        if left:
            gone = tuple((uid, area.tags[uid].last_ns) for uid in sorted(left))
            after = replace(after, faint=(*(f for f in area.faint if f[0] not in left), *gone)[-MAX_FAINT:])
        look = Look(seen.span.earliest_ns, bool(uids) or bool(quiet), quiet, changed)
        after = replace(after, looks=(*area.looks, look)[-MAX_LOOKS:])
        after = replace(after, clean=seen.span) if complete else replace(after, fresh=seen.span)
    return after, Delta(tuple(sorted(came)), tuple(sorted(left)))


def _of_here(area: Area, uids: Iterable[str], expected: Container[str], model: SensorModel) -> Iterator[str]:
    """Those that lie here or may have come: a ghost, or a chip that is read across, says nothing of the stack."""
    for uid in uids:
        known = area.tags.get(uid)
        if (known is not None and known.peak >= model.confirmed) or (known is None and uid in expected):
            yield uid


def _lower_missing(
    tags: dict[str, Sighting], excused: frozenset[str], model: SensorModel, hand_ns: int | None
) -> list[str]:
    """Every tag but the ``excused`` was clearly absent.  Quiet ones lie there still and may hide others in a stack."""
    lone = len(tags) <= 1
    first, again = (model.miss_lone, model.again_lone) if lone else (model.miss_buried, model.again_buried)
    left = []
    for uid, known in list(tags.items()):
        if uid in excused:
            continue
        untouched = hand_ns is not None and hand_ns < known.last_ns and known.peak >= model.confirmed
        level = known.level - (model.miss_untouched if untouched else again if known.missed else first)
        if level <= model.gone:
            del tags[uid]
            left.append(uid)
        else:
            tags[uid] = replace(known, level=level, missed=known.missed + 1)
    return left


def _may_have_missed(looks: Sequence[Look], model: SensorModel) -> tuple[Look, ...]:
    """The newest looks, back to where missing them all is too unlikely; all of them where they are too few for that."""
    for n in range(1, len(looks) + 1):
        if miss_cost(looks[-n:], model) >= model.sure:
            return tuple(looks[-n:])
    return tuple(looks)


def miss_cost(looks: Sequence[Look], model: SensorModel) -> int:
    """How unlikely it is, in thousandths of a nat, that all these looks (oldest first) missed a chip that lay there.

    Misses go together: a chip that one look missed is likely missed by the next one too.
    """
    first, *rest = looks or (None,)
    if first is None:
        return 0
    once = model.miss_buried if first.crowded else model.miss_lone
    return once + sum(_again(look, model) for look in rest)


def _again(look: Look, model: SensorModel) -> int:
    if not look.crowded:
        return model.again_lone
    return max(model.again_changed, model.again_here) if look.changed else model.again_here


def surely_shown(looks: Sequence[Look], since_ns: int, model: SensorModel) -> bool:
    """Whether so many looks began at or after ``since_ns`` that no chip which lay there can have escaped them all, not
    even one that lies badly."""
    return _escaped([look for look in looks if look.start_ns >= since_ns], model) >= model.shown


def _escaped(looks: Sequence[Look], model: SensorModel) -> int:
    """What it costs that all these looks missed a chip, though it may be one that lies badly."""
    return min(miss_cost(looks, model), model.badly + len(looks) * model.deaf)


def looks_wanted(model: SensorModel) -> int:
    """Looks at a stack that no buried chip escapes."""
    stacked = 1 - (model.miss_buried - model.shown) // model.again_here
    return min(MAX_LOOKS, max(stacked, -((model.badly - model.shown) // model.deaf)))


def looks_to_forget(model: SensorModel) -> int:
    """Looks that must miss a chip which is as sure as can be, and that no hand has been near, before it is taken to be
    gone."""
    return 1 + (model.ceiling - model.gone) // model.miss_untouched


def surely_gone(looks: Sequence[Look], since_ns: int, model: SensorModel) -> bool:
    """Whether a chip that was read last at ``since_ns`` cannot still lie there: so many looks has not even a chip that
    lies badly escaped."""
    # A look that showed an empty line proves no more than another: the whole stack may be missed together.
    after = [replace(look, crowded=True) for look in looks if look.start_ns > since_ns]
    return _escaped(after, model) >= model.shown


def learned(model: SensorModel, areas: Iterable[Area]) -> SensorModel:
    """The model with how misses hang together at this table, by all that was missed and then read again."""
    again, found = model.prior_again, model.prior_found
    for area in areas:
        again, found = again + area.again, found + area.found
    share = 1000 * again // (again + found)
    cost = next(cost for bound, cost in _AGAIN if share < bound)
    return model if cost == model.again_here else replace(model, again_here=cost)


_AGAIN = ((200, 1500), (280, 1200), (370, 950), (460, 750), (560, 560), (660, 400), (730, 310), (1001, 230))
"""Share of looks (in thousandths, up to each bound) that miss again what the one before missed, and -ln of it."""


def lower(area: Area, uid: str, model: SensorModel) -> Area:
    """The tag was just seen on another antenna, and one tag is in one place: less likely here, by a little."""
    known = area.tags.get(uid)
    if known is None:
        return area
    level = known.level - model.elsewhere
    tags = dict(area.tags)
    if level <= model.gone:
        del tags[uid]
    else:
        tags[uid] = replace(known, level=level)
    return replace(area, tags=tags)


def owner(areas: Mapping[str, Area], uid: str, now: str | None, model: SensorModel) -> str | None:
    """The antenna where the tag most likely lies, None where none has it.

    One tag is in one place.  It stays at ``now`` until another antenna is clearly likelier, so that one
    answer across the neighbour's antenna moves nothing.
    """
    levels = {key: area.tags[uid].level for key, area in areas.items() if uid in area.tags}
    if not levels:
        return None
    best = max(sorted(levels), key=lambda key: levels[key])
    if now in levels and levels[best] < levels[now] + model.moved:
        return now
    return best


def read_across(here: Sighting, there: Sighting) -> bool:
    """Whether a tag lies ``there`` though it was named ``here`` too, and no hand can have moved it: since ``there``
    names it, it has done so too often for an antenna that reads across from its neighbour."""
    named_here = sum(ns >= min(there.recent_ns, default=0) for ns in here.recent_ns)
    return len(there.recent_ns) >= named_here + HITS_ACROSS


def confidence(level: int) -> int:
    """Probability in thousandths for a level, by a table of the logistic function (no float decides anything)."""
    for bound, thousandths in _LOGISTIC:
        if level < bound:
            return thousandths
    return 998


_LOGISTIC = ((-2000, 119), (-1000, 269), (0, 500), (1000, 622), (2000, 807), (3000, 916), (4000, 967), (5000, 988))
