"""Which chips lie on which antenna: a bounded Bayesian filter in integers.

Each tag on each antenna has a level (log-odds, see `SensorModel`).  A sighting raises it, a clean
inventory without the tag lowers it, and a corrupt or incomplete inventory changes nothing for the
tags it does not name: only a clean answer is evidence of absence.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from firmware_bridge.wire import CleanEmpty, Corrupt, Present, TimeSpan
from tabled.fusion.settings import SensorModel

MAX_TAGS_PER_AREA = 512
"""More tags than this on one antenna are not chips on a line; further new ones are refused and counted."""

Inventory = Present | CleanEmpty | Corrupt


class Sighting(msgspec.Struct, frozen=True):
    """One tag on one antenna.  ``arrived`` runs from the last clean absence to the first sighting.

    ``peak`` is the highest level it has had: one that never got beyond its first answer may have been a ghost.
    """

    level: int
    arrived: TimeSpan
    first_pos: int
    last_pos: int
    peak: int = 0


class Area(msgspec.Struct, frozen=True):
    """What is known of one antenna.  ``clean`` is the span of its newest complete inventory."""

    tags: dict[str, Sighting] = {}
    clean: TimeSpan | None = None
    refused: int = 0


class Delta(msgspec.Struct, frozen=True):
    """Tags that came to or left an antenna with one inventory (UIDs, sorted)."""

    came: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


def observe(area: Area, seen: Inventory, pos: int, model: SensorModel) -> tuple[Area, Delta]:
    """Fold one inventory into an area.  ``pos`` is its journal position."""
    if isinstance(seen, Corrupt):
        return area, Delta()
    uids = tuple(dict.fromkeys(tag.uid for tag in seen.tags)) if isinstance(seen, Present) else ()
    complete = isinstance(seen, CleanEmpty) or seen.complete
    tags = dict(area.tags)
    came: list[str] = []
    refused = area.refused
    for uid in uids:
        known = tags.get(uid)
        if known is None and len(tags) >= MAX_TAGS_PER_AREA:
            refused += 1
            continue
        if known is None:
            since = area.clean.earliest_ns if area.clean else 0
            span = TimeSpan(min(since, seen.span.latest_ns), seen.span.latest_ns)
            level = model.start + model.hit
            tags[uid] = Sighting(level, span, pos, pos, level)
            came.append(uid)
        else:
            level = min(known.level + model.hit, model.ceiling)
            tags[uid] = Sighting(level, known.arrived, known.first_pos, pos, max(level, known.peak))
    left = _lower_missing(tags, frozenset(uids), pos, model) if complete else []
    clean = seen.span if complete else area.clean
    return Area(tags, clean, refused), Delta(tuple(sorted(came)), tuple(sorted(left)))


def _lower_missing(tags: dict[str, Sighting], seen: frozenset[str], pos: int, model: SensorModel) -> list[str]:
    step = model.miss_lone if len(tags) <= 1 else model.miss_stack
    left = []
    for uid, known in list(tags.items()):
        if uid in seen:
            continue
        level = known.level - step
        if level <= model.gone:
            del tags[uid]
            left.append(uid)
        else:
            tags[uid] = Sighting(level, known.arrived, known.first_pos, pos, known.peak)
    return left


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
        tags[uid] = Sighting(level, known.arrived, known.first_pos, known.last_pos, known.peak)
    return Area(tags, area.clean, area.refused)


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


def confidence(level: int) -> int:
    """Probability in thousandths for a level, by a table of the logistic function (no float decides anything)."""
    for bound, thousandths in _LOGISTIC:
        if level < bound:
            return thousandths
    return 998


_LOGISTIC = ((-2000, 119), (-1000, 269), (0, 500), (1000, 622), (2000, 807), (3000, 916), (4000, 967), (5000, 988))
