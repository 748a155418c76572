"""The markers that the plane was measured by: are they still in the picture, and where they were?

A small part of one picture now and then: each marker is looked for only round where it was when the camera was
measured.  Decoding and all, a look takes 8 to 14 ms of one core for six markers in 1280 x 720 (simulated pictures, from
bright to dark).  A pure function of its arguments: each picture comes with its time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tabled.model.calibration import Marker
from tabled.sensing.opencv import cv2
from tabled.sensing.picture import BadPicture, decode

Floats = npt.NDArray[np.float64]
Gray = npt.NDArray[np.uint8]

PERIOD_NS = 30_000_000_000
"""From one look to the next."""
LOOKS = 3
"""A marker is hidden when so many looks in a row did not find it: an arm does not lie on it for so long.  How far the
markers are off is the median of so many."""
MARGIN = 1.5
"""Of a marker's size: so far round its place it is looked for, and found if the camera was moved."""
MIN_CROP_PX = 16
DICTIONARIES: dict[str, int] = {
    name: getattr(cv2.aruco, f"DICT_{name}")
    for name in (
        *(f"{bits}X{bits}_{size}" for bits in (4, 5, 6, 7) for size in (50, 100, 250, 1000)),
        "ARUCO_ORIGINAL",
        "APRILTAG_36H11",
    )
}
"""OpenCV's numbers of the sets of markers that tabled knows."""


def detector_of(dictionary: str, least_perimeter: float) -> cv2.aruco.ArucoDetector:
    """OpenCV's detector of one set, for this and for the plane step; ``least_perimeter`` is a share of the picture's
    longer side."""
    options = cv2.aruco.DetectorParameters()
    options.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
    options.adaptiveThreshWinSizeMax = 53
    options.minMarkerPerimeterRate = least_perimeter
    # The white sheet's edge and the black square's are two contours close together; by default one hides the other.
    options.minMarkerDistanceRate = 0.05
    return cv2.aruco.ArucoDetector(cv2.aruco.getPredefinedDictionary(DICTIONARIES[dictionary]), options)


class _Place:
    """Where one marker was: its corners in the picture, and the part of the picture in which it is looked for."""

    def __init__(self, marker: Marker, size: tuple[int, int]) -> None:
        self.id = marker.id
        self.was: Floats = np.array(marker.seen_upx, np.float64) / 1e6
        low, high = self.was.min(axis=0), self.was.max(axis=0)
        margin = MARGIN * float((high - low).max())
        left, top = np.maximum(np.floor(low - margin), 0).astype(int)
        right, bottom = np.minimum(np.ceil(high + margin), size).astype(int)
        self.rows, self.columns = slice(int(top), int(bottom)), slice(int(left), int(right))
        self.origin: Floats = np.array([left, top], np.float64)
        self.big = bool(min(right - left, bottom - top) >= MIN_CROP_PX)
        self.found = False
        """Ever."""
        self.misses = 0
        """Looks in a row that did not find it."""


class Landmarks:
    """Looks for ``markers`` in pictures of ``size`` (width, height), which is that of the calibrated lens.

    Only markers whose four corners were measured are looked for; points that were measured without a marker are none.
    The plane's file does not say which set of markers was printed: while that is not known, one set a picture is tried
    until one finds half of the markers.
    """

    def __init__(self, markers: Sequence[Marker], size: tuple[int, int]) -> None:
        self._size = size
        self._places = [_Place(m, size) for m in markers if len(m.corners) == len(m.seen_upx) == 4]
        self._names = _names_for([place.id for place in self._places])
        self._name: str | None = None
        """Of the set that was printed, once it is known."""
        self._untried = list(self._names)
        self._best: dict[int, Floats] = {}
        self._last_ns: int | None = None
        """The newest look that came to its end."""
        self._shifts: deque[float | None] = deque(maxlen=LOOKS)

    @property
    def seen(self) -> int | None:
        """How many markers are not hidden; None while that is not known, and where there is none to look for."""
        if self._last_ns is None or any(not p.found and p.misses < LOOKS for p in self._places):
            return None
        return sum(place.misses < LOOKS for place in self._places)

    @property
    def shift_upx(self) -> int | None:
        """How far the markers are from where they were, in millionths of a pixel.

        Each marker's is how far the mean of its corners went, a look's the median over the markers, and this the median
        over the last looks that found half of the markers; None where none of them did.
        """
        known = [shift for shift in self._shifts if shift is not None]
        return round(float(np.median(known)) * 1e6) if known else None

    def look(self, at_ns: int, frame: bytes) -> None:
        """A frame, a JPEG, of the time ``at_ns``; one that cannot be believed, and one too soon, is left alone."""
        if not self._names or (self._last_ns is not None and 0 <= at_ns - self._last_ns < PERIOD_NS):
            return
        try:
            picture = decode(frame, self._size)
        except BadPicture:
            return  # the eye counts it; the next frame is as good
        name = self._name or self._untried.pop(0)
        found = self._find(picture, name)
        if self._name is None:
            if self._enough(found):
                self._name = name
            elif len(found) > len(self._best):
                self._best = found
            if self._name is None and self._untried:
                return
            found = found if self._name is not None else self._best
        self._note(found)
        self._last_ns, self._untried, self._best = at_ns, list(self._names), {}

    def _enough(self, found: dict[int, Floats]) -> bool:
        return 2 * len(found) >= len(self._places)

    def _note(self, found: dict[int, Floats]) -> None:
        shifts = []
        for place in self._places:
            corners = found.get(place.id)
            place.misses = 0 if corners is not None else place.misses + 1
            if corners is not None:
                place.found = True
                # The detector draws all corners a little inwards (the lens's blur); of their mean nothing is left.
                shifts.append(float(np.hypot(*(corners - place.was).mean(axis=0))))
        # Of one marker among many that are gone, nobody knows whether the camera was moved or the marker.
        self._shifts.append(float(np.median(shifts)) if self._enough(found) else None)

    def _find(self, picture: Gray, name: str) -> dict[int, Floats]:
        """Marker to its (4, 2) corners in raw pixels."""
        # Of a crop's side a marker's edges make one length and more; what noise draws is far smaller, and costs.
        detector = detector_of(name, 0.5)
        found: dict[int, Floats] = {}
        for place in self._places:
            if not place.big:
                continue
            crop = cv2.blur(cv2.cvtColor(picture[place.rows, place.columns], cv2.COLOR_BGR2GRAY), (3, 3))
            quads, ids, _ = detector.detectMarkers(crop)
            for number, quad in zip([] if ids is None else ids.ravel(), quads, strict=True):
                if int(number) == place.id:
                    found[place.id] = np.asarray(quad, np.float64).reshape(4, 2) + place.origin
        return found


def _names_for(ids: Sequence[int]) -> list[str]:
    """The sets that may have been printed.

    Of one kind the smaller set is the beginning of the larger: the smallest with all of ``ids`` stands for them.
    """
    kinds: dict[str, str] = {}
    for name, number in DICTIONARIES.items():
        if ids and max(ids) < len(cv2.aruco.getPredefinedDictionary(number).bytesList):
            kinds.setdefault(name.partition("_")[0], name)
    return list(kinds.values())
