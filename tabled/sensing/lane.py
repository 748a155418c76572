"""One seat's zone over time: hands are followed from frame to frame, changes are judged, the background is kept."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from firmware_bridge.wire import DeviceId, Observation, TimeSpan
from tabled.model.camera import ChipsLanded, HandOf
from tabled.sensing.colours import Colours
from tabled.sensing.geometry import MM_PER_PX, Bytes, Floats, Tile
from tabled.sensing.ground import Ground, Look
from tabled.sensing.hands import Hand, HandFinder
from tabled.sensing.opencv import cv2
from tabled.sensing.piles import Change, PileFinder, Settled
from tabled.sensing.strokes import BEYOND_MS, LOST_MS, Memory, Sample, Strokes

MS = 1_000_000
FOLLOW_MM = 110.0
"""No hand moves further between two frames, nor does its foremost point jump so far when it lets go."""
FREE_HAND_MM2 = 2500.0
"""A hand whose sleeve cannot be told from the felt hangs free; smaller free things of skin's colour are chips."""
BODY_MM = 210.0
"""Skin that is wider than this is a head or a bare arm laid along the line."""
SIDE_DEGREES = 25.0
HOT_NS = 500 * MS
WATCH_MM = -70.0
"""What is further back from the line than this is not looked at: hands rest there all the time."""
GHOST_MS, FREE_GHOST_MS, SMALL_GHOST_MS, OUTER_GHOST_MS = 20_000.0, 1_500.0, 160.0, 700.0
"""What has the colour of skin and rests so long is no hand: if an arm holds it, if it hangs free, if it is small, and
(or it is one, but tells nothing) if it is on the player's side of the line."""
OUTER_MM = -60.0
NEAR_MM = 220.0
"""A free piece of skin so near to a hand that is there already belongs to it."""
REST_OUTSIDE_MS, REST_INSIDE_MS = 500.0, 2_500.0
"""What has lain still for so long, outside of the zone and within it, and is neither hand nor pile, is background."""
MAX_TRACKS = 4
HELD_MM, GOES_BACK_MM, STILL_MS = 4.0, 5.0, 30.0
"""Skin that goes back so far from what was before it, while that stays where it is, has let it go."""
BORN_MM, BORN_FRAMES = 30.0, 2
"""What is first seen so far over the line came faster than hands do, or is none: a glint, a wrong background."""
PUSH_MM, PUSH_FRAMES = 1.0, 3
"""A hand that goes forward so much a frame with something before it that was not there pushes it."""
_NEAR = np.ones((5, 5), np.uint8)
_CLOSE = np.ones((3, 3), np.uint8)


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
    still: bool = True
    """It has not moved since it first appeared."""
    wait: int = 0
    """It first appeared within the zone: so many more frames must show it."""
    empty: bool = False
    """It has let go of what it held: what lies before the skin is not in it."""
    pushed: int = 0
    skin_peak: float = -1e9
    front_peak: float = -1e9


@dataclass(eq=False)
class Lane:
    """The zone of one seat."""

    device: DeviceId
    tile: Tile
    foot_mm: tuple[float, float]
    colours: Colours | None
    error_ns: int
    ground: Ground = field(init=False)
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
        self._outside = np.where(self.tile.inward < -15.0, np.uint8(255), np.uint8(0))
        self._zone_px = max(1, cv2.countNonZero(self._zone))
        self._row = float(self.tile.row.mean())
        self.watch: npt.NDArray[np.bool_] = (self.tile.depth > WATCH_MM) & (self.tile.known > 0)
        """The pixels in which something has to be seen before a tile is looked at in full."""
        self._let_go = np.zeros(self.tile.shape, np.uint8)
        self.look: Look | None = None

    # -- one frame --------------------------------------------------------------------------------

    def see(
        self, raw: Floats, gain: Floats, tint: Floats, picture: Bytes, when: Moment, *, turn: bool = True
    ) -> list[Observation]:
        """Look at the tile in full: smoothed parts, gain (parts), the white's parts, BGR picture, instants.

        ``turn``: it is this tile's turn to have its unevenness learned.
        """
        at_ns = when.at(self._row)
        look = self.ground.look(raw, gain, tint)
        self.look = look
        self._settled.step(look.seen, at_ns)
        hands = self._real(
            self._hands.find(look, self._settled.ages(), self._let_go, arms=any(t.strokes.inside for t in self.tracks))
        )
        out: list[Observation] = []
        out += self._follow(hands, look, when)
        out += self._lost(at_ns)
        changes = self.piles.find(look, self._settled, hands, self.ground, picture)
        for change in changes:
            out += self._changed(change, look, when)
        self._learn(look, hands, at_ns, rough=turn)
        self.covered = cv2.countNonZero(cv2.bitwise_and(look.strange, self._zone)) / self._zone_px
        near = any(h.front_mm > WATCH_MM for h in hands)
        if near or changes or self.covered > 0.01 or any(t.strokes.inside for t in self.tracks):
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

    def _real(self, hands: list[Hand]) -> list[Hand]:
        """Without what has skin's colour and is none: too wide for a hand, or as still as no hand is."""
        kept = []
        for hand in hands:
            patience = GHOST_MS if hand.touch is not None else FREE_GHOST_MS
            if hand.area_mm2 < FREE_HAND_MM2:
                patience = SMALL_GHOST_MS
            elif hand.front_mm < OUTER_MM:
                patience = OUTER_GHOST_MS
            if hand.width_mm <= BODY_MM and not (hand.area_mm2 and hand.rest_ms > patience):
                kept.append(hand)
        return kept

    def _follow(self, hands: list[Hand], look: Look, when: Moment) -> list[Observation]:
        out: list[Observation] = []
        free = list(self.tracks)
        for hand in hands:
            arm = hand.area_mm2 == 0
            likely = [t for t in free if t.strokes.inside] if arm else free
            track = min(likely, key=lambda t: _apart(t.hand, hand), default=None)
            if track is not None and (_apart(track.hand, hand) <= FOLLOW_MM or (arm and _overlap(track.hand, hand))):
                free.remove(track)
            else:
                track = None if arm else self._begin(hand, when)
                if track is None:
                    continue
            out += self._step(track, hand, look, when)
        return out

    def _begin(self, hand: Hand, when: Moment) -> Track | None:
        if hand.touch is None and (
            hand.area_mm2 < FREE_HAND_MM2 or any(_apart(t.hand, hand) < NEAR_MM for t in self.tracks)
        ):
            return None
        if len(self.tracks) >= MAX_TRACKS:
            return None
        by = side(self.tile, hand.touch)
        strokes = Strokes(self.device, self.tile.seat, self._memories.setdefault(by, Memory()), self.error_ns, by)
        at_ns = when.at(hand.row)
        track = Track(strokes, hand, at_ns, at_ns, when.before(hand.row), hand.touch is None)
        track.wait = BORN_FRAMES if hand.front_mm > BORN_MM else 0
        self.tracks.append(track)
        return track

    def _step(self, track: Track, hand: Hand, look: Look, when: Moment) -> list[Observation]:
        at_ns = when.at(hand.row)
        if math.hypot(hand.at[0] - track.hand.at[0], hand.at[1] - track.hand.at[1]) > 1.5:
            track.moved_ns, track.still = at_ns, False
        before, track.hand, track.seen_ns = track.hand, hand, at_ns
        if self._lets_go(track, hand):
            track.empty = True
            lying = cv2.bitwise_and(
                cv2.bitwise_and(look.solid, hand.mask), cv2.bitwise_not(cv2.dilate(look.skin, _CLOSE))
            )
            still = cv2.compare(self._settled.ages(), STILL_MS, cv2.CMP_GE)
            self._let_go = cv2.bitwise_or(self._let_go, cv2.bitwise_and(lying, still))
        elif track.empty:
            pushes = hand.front_mm > hand.skin_mm + HELD_MM and hand.skin_mm > before.skin_mm + PUSH_MM
            track.pushed = track.pushed + 1 if pushes else 0
            track.empty = track.pushed < PUSH_FRAMES
        if track.wait:
            # What a hand leaves behind as it goes (a red card's back) may have skin's colour too, but rests.
            rests = track.still or hand.rest_ms >= STILL_MS
            track.wait -= not (rests and (track.free or hand.area_mm2 < FREE_HAND_MM2))
            return []
        sample = Sample(at_ns, hand.skin_mm if track.empty else hand.front_mm, hand.lift)
        if track.strokes.by == "dealer":
            sample = Sample(at_ns, self._inside_mm(hand, look), -hand.lift)
        return list(track.strokes.step(sample, track.from_ns))

    def _lets_go(self, track: Track, hand: Hand) -> bool:
        """Whether the skin goes back from things that stay where they are."""
        beyond = hand.front_mm - hand.skin_mm
        if hand.skin_mm >= track.skin_peak or beyond < HELD_MM:
            track.skin_peak, track.front_peak = hand.skin_mm, hand.front_mm
            return False
        return hand.skin_mm < track.skin_peak - GOES_BACK_MM and hand.front_mm > track.front_peak - GOES_BACK_MM / 2

    def _inside_mm(self, hand: Hand, look: Look) -> float:
        """How far inside the zone any part of hand or arm looks."""
        y, x = np.nonzero(cv2.bitwise_and(hand.mask, look.solid))
        return float(np.partition(self.tile.inward[y, x], -6)[-6]) if len(y) >= 6 else -100.0

    def _lost(self, at_ns: int) -> list[Observation]:
        """Hands that have not been seen for some time are gone; one that reached out of sight may stay longer."""
        out: list[Observation] = []
        for track in list(self.tracks):
            beyond = track.hand.edge and track.strokes.inside and track.hand.touch is None
            if at_ns - track.seen_ns > (BEYOND_MS if beyond else LOST_MS) * MS:
                self.tracks.remove(track)
                since = track.moved_ns if track.hand.rest_ms > SMALL_GHOST_MS else track.seen_ns
                out += track.strokes.gone(since, at_ns)
        return out

    # -- what lies there --------------------------------------------------------------------------

    def _changed(self, change: Change, look: Look, when: Moment) -> list[Observation]:
        # A stack leans over its neighbourhood: take its rim along.
        mask = cv2.dilate(change.mask, _NEAR)
        self.ground.take(look.seen, mask)
        self.piles.note(change)
        if change.gone or change.pile.cards:
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

    def _learn(self, look: Look, hands: Sequence[Hand], at_ns: int, *, rough: bool) -> None:
        """Keep the background: it follows what is quiet, and takes in what has lain still and is nothing we report."""
        busy = np.zeros(self.tile.shape, np.uint8)
        for hand in hands:
            busy = cv2.bitwise_or(busy, hand.mask)
        quiet = cv2.bitwise_not(cv2.bitwise_or(cv2.dilate(look.strange, _NEAR), busy))
        self._clear_ms[quiet > 0] = at_ns / MS
        self._let_go[(look.strange == 0) | ((self._settled.ages() == 0) & (busy == 0))] = 0
        self.ground.follow(look, quiet, rough=rough)
        outside = cv2.bitwise_and(cv2.compare(self._settled.ages(), REST_OUTSIDE_MS, cv2.CMP_GT), self._outside)
        inside = cv2.compare(self._settled.ages(), REST_INSIDE_MS, cv2.CMP_GT)
        rested = cv2.bitwise_and(cv2.bitwise_or(outside, inside), cv2.bitwise_not(cv2.dilate(busy, _NEAR)))
        rested = cv2.bitwise_and(rested, look.strange)
        if cv2.countNonZero(rested):
            self.ground.take(look.seen, rested)


def _apart(one: Hand, other: Hand) -> float:
    """How far apart two sightings are, in mm: by their middles or their foremost points, what is nearer."""
    return MM_PER_PX * min(
        math.hypot(one.middle[0] - other.middle[0], one.middle[1] - other.middle[1]),
        math.hypot(one.at[0] - other.at[0], one.at[1] - other.at[1]),
    )


def _overlap(one: Hand, other: Hand) -> bool:
    return bool(cv2.countNonZero(cv2.bitwise_and(one.mask, other.mask)) > 40)


def side(tile: Tile, touch: tuple[float, float] | None) -> HandOf:
    """Whose arm comes in at a pixel of the tile's border: the player's, the dealer's, or unsure."""
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
