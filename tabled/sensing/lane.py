"""One seat's zone over time: hands are followed from frame to frame, changes are judged, the background is kept."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import cv2
import numpy as np

from firmware_bridge.wire import DeviceId, Observation, TimeSpan
from tabled.model.camera import ChipsLanded, HandOf
from tabled.sensing.colours import Colours
from tabled.sensing.geometry import MM_PER_PX, Bytes, Floats, Tile
from tabled.sensing.ground import Ground, Look
from tabled.sensing.hands import Hand, HandFinder
from tabled.sensing.piles import Change, PileFinder, Settled
from tabled.sensing.strokes import BEYOND_MS, LOST_MS, Memory, Sample, Strokes

MS = 1_000_000
STILL_NS = 50 * MS
"""A thing in a hand that has not moved for so long may have been let go."""
FOLLOW_MM = 110.0
"""No hand moves further between two frames, nor does its foremost point jump so far when it lets go."""
FREE_HAND_MM2 = 2500.0
"""A hand whose sleeve cannot be told from the felt hangs free; smaller free things of skin's colour are chips."""
BODY_MM = 210.0
"""Skin that is wider than this is a head or a bare arm laid along the line."""
SIDE_DEGREES = 25.0
HOT_NS = 1_500 * MS
"""After something was seen in a tile it is looked at in full for so long."""
GHOST_NS = 20_000 * MS
"""What has the colour of skin and has not moved for so long is no hand."""
MAX_TRACKS = 4


@dataclass(frozen=True, slots=True)
class Moment:
    """The instants of one frame: of the middle of the first row's exposure, and what the last row is later."""

    first_ns: int
    readout_ns: int
    before_ns: int
    """The first row's instant of the frame before; the same as ``first_ns`` less a second if there was none."""

    def at(self, row: float) -> int:
        """The instant at which a row (part of the picture's height) was seen."""
        return self.first_ns + round(self.readout_ns * row)

    def before(self, row: float) -> int:
        """The same of the frame before."""
        return self.before_ns + round(self.readout_ns * row)


@dataclass(slots=True)
class Track:
    """One hand from frame to frame."""

    strokes: Strokes
    hand: Hand
    seen_ns: int
    moved_ns: int
    from_ns: int
    """When the place was last seen without it."""
    free: bool = False


@dataclass(slots=True)
class Counts:
    """What was left out, for the health message."""

    bodies: int = 0
    ghosts: int = 0
    cards: int = 0
    lifted: int = 0
    crowded: int = 0
    withheld: int = 0


@dataclass(eq=False)
class Lane:
    """The zone of one seat."""

    device: DeviceId
    tile: Tile
    foot_mm: tuple[float, float]
    colours: Colours | None
    error_ns: int
    ground: Ground = field(init=False)
    counts: Counts = field(default_factory=Counts)
    covered: float = 0.0
    """Share of the zone that is hidden."""
    hot_ns: int = 0
    tracks: list[Track] = field(default_factory=list)
    _memories: dict[HandOf, Memory] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.ground = Ground(self.tile)
        self._hands = HandFinder(self.tile)
        self.piles = PileFinder(self.tile, self.foot_mm, self.colours)
        self._settled = Settled(self.tile)
        self._clear_ms = np.zeros(self.tile.shape, np.float64)
        self._zone = np.where(self.tile.inward > 0, np.uint8(255), np.uint8(0))
        self._zone_px = max(1, cv2.countNonZero(self._zone))
        self.look: Look | None = None

    # -- one frame --------------------------------------------------------------------------------

    def see(self, raw: Floats, gain: Floats, tint: Floats, picture: Bytes, when: Moment) -> list[Observation]:
        """Look at the tile in full: smoothed parts, gain (parts), the white's parts, BGR picture, instants."""
        at_ns = when.at(float(self.tile.row.mean()))
        look = self.ground.look(raw, gain, tint)
        self.look = look
        self._settled.step(look.now, at_ns)
        hands = self._real(self._hands.find(look, self._settled.still(STILL_NS)), at_ns)
        out: list[Observation] = []
        out += self._follow(hands, look, when)
        out += self._lost(at_ns)
        changes = self.piles.find(look, self._settled, hands, self.ground, picture)
        for change in changes:
            out += self._changed(change, look, when)
        self._learn(look, hands, changes, at_ns)
        self.covered = cv2.countNonZero(cv2.bitwise_and(look.strange, self._zone)) / self._zone_px
        if hands or changes or self.tracks or self.covered > 0.01:
            self.hot_ns = at_ns + HOT_NS
        return out

    def idle(self, at_ns: int) -> list[Observation]:
        """A frame in which nothing seems to be in the tile."""
        self.covered = 0.0
        return self._lost(at_ns)

    def forget(self) -> None:
        """Nothing that was seen before holds any more: the camera was not to be believed meanwhile."""
        self.tracks.clear()
        self._memories.clear()

    def learn_anew(self) -> None:
        """The background is learned again from the next frames."""
        self.forget()
        self.piles.forget()
        self.ground.start_again()

    # -- hands ------------------------------------------------------------------------------------

    def _real(self, hands: list[Hand], at_ns: int) -> list[Hand]:
        """Without what has skin's colour and is none: too wide for a hand."""
        kept = [h for h in hands if h.width_mm <= BODY_MM]
        self.counts.bodies += len(hands) - len(kept)
        return kept

    def _follow(self, hands: list[Hand], look: Look, when: Moment) -> list[Observation]:
        out: list[Observation] = []
        free = list(self.tracks)
        for hand in hands:
            track = min(free, key=lambda t: _apart(t.hand, hand), default=None)
            if track is not None and _apart(track.hand, hand) <= FOLLOW_MM:
                free.remove(track)
            else:
                track = self._begin(hand, when)
                if track is None:
                    continue
            out += self._step(track, hand, look, when)
        return out

    def _begin(self, hand: Hand, when: Moment) -> Track | None:
        if hand.touch is None and hand.area_mm2 < FREE_HAND_MM2:
            return None
        if len(self.tracks) >= MAX_TRACKS:
            self.counts.crowded += 1
            return None
        by = side(self.tile, hand.touch)
        strokes = Strokes(self.device, self.tile.seat, self._memories.setdefault(by, Memory()), self.error_ns, by)
        at_ns = when.at(hand.row)
        track = Track(strokes, hand, at_ns, at_ns, when.before(hand.row), hand.touch is None)
        self.tracks.append(track)
        return track

    def _step(self, track: Track, hand: Hand, look: Look, when: Moment) -> list[Observation]:
        at_ns = when.at(hand.row)
        if math.hypot(hand.at[0] - track.hand.at[0], hand.at[1] - track.hand.at[1]) > 1.5:
            track.moved_ns = at_ns
        track.hand, track.seen_ns = hand, at_ns
        sample = Sample(at_ns, hand.front_mm, hand.lift)
        if track.strokes.by == "dealer":
            sample = Sample(at_ns, self._inside_mm(hand, look), -hand.lift)
        return list(track.strokes.step(sample, track.from_ns))

    def _inside_mm(self, hand: Hand, look: Look) -> float:
        """How far inside the zone any part of hand or arm looks."""
        y, x = np.nonzero(cv2.bitwise_and(hand.mask, look.solid))
        return float(np.partition(self.tile.inward[y, x], -6)[-6]) if len(y) >= 6 else -100.0

    def _lost(self, at_ns: int) -> list[Observation]:
        """Hands that have not been seen for some time are gone; one that reached out of sight may stay longer."""
        out: list[Observation] = []
        for track in list(self.tracks):
            beyond = track.hand.edge and track.strokes.inside
            ghost = at_ns - track.moved_ns > GHOST_NS and track.hand.touch is None
            if ghost or at_ns - track.seen_ns > (BEYOND_MS if beyond else LOST_MS) * MS:
                self.counts.ghosts += int(ghost)
                self.tracks.remove(track)
                out += track.strokes.gone(at_ns)
        return out

    # -- what lies there --------------------------------------------------------------------------

    def _changed(self, change: Change, look: Look, when: Moment) -> list[Observation]:
        # A stack leans over its neighbourhood: take its rim along.
        mask = cv2.dilate(change.mask, np.ones((5, 5), np.uint8))
        self.ground.take(look.now, mask)
        self.piles.note(change)
        if change.gone:
            self.counts.lifted += 1
            return []
        if change.pile.cards:
            self.counts.cards += 1
            return []
        covered = change.mask > 0
        early = int(np.percentile(self._clear_ms[covered], 5) * MS)
        age = float(np.percentile(self._settled.ages()[covered], 10))
        row = float(self.tile.row[covered].mean())
        late = when.at(row) - round(age * MS) + max(0, min(50 * MS, when.first_ns - when.before_ns))
        pile = change.pile
        return [
            ChipsLanded(
                device=self.device,
                span=TimeSpan(max(0, min(early, late) - self.error_ns), max(0, late) + self.error_ns),
                seat=self.tile.seat,
                x_mm=round(pile.x_mm),
                y_mm=round(pile.y_mm),
                area_mm2=round(pile.area_mm2),
                value=pile.value,
                confidence=pile.confidence,
            )
        ]

    def _learn(self, look: Look, hands: Sequence[Hand], changes: Sequence[Change], at_ns: int) -> None:
        quiet = cv2.bitwise_not(cv2.dilate(look.strange, np.ones((5, 5), np.uint8)))
        for hand in hands:
            quiet = cv2.bitwise_and(quiet, cv2.bitwise_not(hand.mask))
        self._clear_ms[quiet > 0] = at_ns / MS
        self.ground.follow(look, quiet)


def _apart(one: Hand, other: Hand) -> float:
    """How far apart two sightings are, in mm: by their middles or their foremost points, what is nearer."""
    return MM_PER_PX * min(
        math.hypot(one.middle[0] - other.middle[0], one.middle[1] - other.middle[1]),
        math.hypot(one.at[0] - other.at[0], one.at[1] - other.at[1]),
    )


def side(tile: Tile, touch: tuple[float, float] | None) -> HandOf:
    """Whose arm comes in at a pixel of the tile's border: from the player's side, from where the dealer sits, or unsure."""
    if touch is None:
        return "unsure"
    ys, xs = np.nonzero(tile.inward > 0)
    x, y = touch[0] - float(xs.mean()), touch[1] - float(ys.mean())
    size = math.hypot(x, y)
    if size < 1.0:
        return "unsure"
    player = math.degrees(math.acos(max(-1.0, min(1.0, -y / size))))
    dealer = math.degrees(math.acos(max(-1.0, min(1.0, (x * tile.dealer[0] + y * tile.dealer[1]) / size))))
    if player + SIDE_DEGREES < dealer:
        return "player"
    return "dealer" if dealer + SIDE_DEGREES < player else "unsure"
