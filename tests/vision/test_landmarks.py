"""The plane's markers in the camera's own picture: where they are, what hides them, and a camera that was moved."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt
import pytest

from hw_sim.scene import marker_view
from tabled.model.calibration import Marker, Point
from tabled.sensing.landmarks import LOOKS, PERIOD_NS, Landmarks

SIZE = (640, 480)
SIDE = 40
PLACES = {0: (80, 60), 1: (300, 60), 2: (520, 60), 3: (80, 380), 4: (300, 380), 5: (520, 380)}
Picture = npt.NDArray[np.uint8]


def felt(dictionary: str = "4X4_50", numbers: tuple[int, ...] = tuple(PLACES)) -> Picture:
    """Six markers on their white sheets, a little blurred and noisy."""
    kind = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, f"DICT_{dictionary}"))
    image = np.full((SIZE[1], SIZE[0]), 70, np.uint8)
    for number, (x, y) in zip(numbers, PLACES.values(), strict=True):
        image[y - 8 : y + SIDE + 8, x - 8 : x + SIDE + 8] = 220
        image[y : y + SIDE, x : x + SIDE] = cv2.aruco.generateImageMarker(kind, number, SIDE)
    noise = np.random.default_rng(5).normal(0.0, 3.0, image.shape)
    soft = np.clip(cv2.GaussianBlur(image, (0, 0), 0.8) + noise, 0, 255).astype(np.uint8)
    return np.asarray(cv2.cvtColor(soft, cv2.COLOR_GRAY2BGR), np.uint8)


def markers(numbers: tuple[int, ...] = tuple(PLACES)) -> list[Marker]:
    """As the plane step saw them: pixels count from the middle of the first."""
    made = []
    for number, (x, y) in zip(numbers, PLACES.values(), strict=True):
        low, high = -0.5, SIDE - 0.5
        square = ((x + low, y + low), (x + high, y + low), (x + high, y + high), (x + low, y + high))
        seen = tuple((round(a * 1e6), round(b * 1e6)) for a, b in square)
        made.append(Marker(id=number, corners=(Point(0, 0),) * 4, seen_upx=seen))
    return made


def covered(image: Picture, *which: int) -> Picture:
    """Something dark lies on these places."""
    image = image.copy()
    for number in which:
        x, y = PLACES[number]
        image[y - 20 : y + SIDE // 2, x - 20 : x + SIDE + 20] = 50
    return image


def moved(image: Picture, dx: float, dy: float = 0.0, turn: float = 0.0) -> Picture:
    warp = cv2.getRotationMatrix2D((SIZE[0] / 2, SIZE[1] / 2), turn, 1.0)
    warp[:, 2] += (dx, dy)
    return np.asarray(cv2.warpAffine(image, warp, SIZE, borderMode=cv2.BORDER_REPLICATE), np.uint8)


def jpeg(image: Picture) -> bytes:
    done, coded = cv2.imencode(".jpg", image)
    assert done
    return coded.tobytes()


class Looker:
    """Shows pictures, one a period."""

    def __init__(self, known: list[Marker], size: tuple[int, int] = SIZE) -> None:
        self.landmarks = Landmarks(known, size)
        self.now_ns = 0

    def show(self, image: Picture | bytes, times: int = 1) -> tuple[int | None, int | None]:
        for _ in range(times):
            self.landmarks.look(self.now_ns, image if isinstance(image, bytes) else jpeg(image))
            self.now_ns += PERIOD_NS
        return self.landmarks.seen, self.landmarks.shift_upx


def shift(looker: Looker) -> float:
    assert looker.landmarks.shift_upx is not None
    return looker.landmarks.shift_upx / 1e6


def test_a_table_as_it_was_measured() -> None:
    looker = Looker(markers())
    assert looker.show(felt())[0] == 6, "with the first picture"
    assert shift(looker) < 0.2


@pytest.mark.parametrize(("dx", "dy"), [(3.0, 0.0), (0.0, -3.0), (30.0, 0.0)])
def test_a_camera_that_was_moved_before_the_start_is_told_by_the_first_picture(dx: float, dy: float) -> None:
    looker = Looker(markers())
    assert looker.show(moved(felt(), dx, dy))[0] == 6
    assert shift(looker) == pytest.approx(float(np.hypot(dx, dy)), abs=0.3)


def test_a_camera_that_was_turned_about_its_axis() -> None:
    looker = Looker(markers())
    looker.show(moved(felt(), 0.0, turn=1.0))
    assert shift(looker) > 2.5, "the markers are 160 px and more from the middle, and a degree is 1/57 of that"


def test_one_marker_that_was_pushed_is_not_the_camera() -> None:
    looker = Looker(markers())
    image = felt()
    x, y = PLACES[4]
    piece = image[y - 8 : y + SIDE + 8, x - 8 : x + SIDE + 8].copy()
    image[y - 8 : y + SIDE + 8, x - 8 : x + SIDE + 8] = 70
    image[y - 8 : y + SIDE + 8, x + 2 : x + SIDE + 18] = piece
    assert looker.show(image)[0] == 6
    assert shift(looker) < 0.3


def test_an_arm_for_a_moment_is_nothing_and_what_stays_is() -> None:
    looker = Looker(markers())
    looker.show(felt())
    under = covered(felt(), 1, 2)
    assert looker.show(under, LOOKS - 1)[0] == 6
    assert looker.show(felt())[0] == 6
    assert looker.show(under, LOOKS - 1)[0] == 6
    assert looker.show(under)[0] == 4
    assert shift(looker) < 0.2, "the others are where they were"
    assert looker.show(felt())[0] == 6, "one look that finds them is enough"


def test_what_is_covered_from_the_start_is_told_after_three_looks() -> None:
    looker = Looker(markers())
    under = covered(felt(), 0)
    assert looker.show(under, LOOKS - 1)[0] is None
    assert shift(looker) < 0.2, "of the others it is known at once"
    assert looker.show(under)[0] == 5


def test_a_bump_in_one_look_does_not_move_the_camera() -> None:
    looker = Looker(markers())
    looker.show(felt(), 2)
    looker.show(moved(felt(), 6.0))
    assert shift(looker) < 0.2
    looker.show(moved(felt(), 6.0))
    assert shift(looker) == pytest.approx(6.0, abs=0.3)


def test_it_looks_once_in_half_a_minute_and_a_broken_picture_is_no_look() -> None:
    landmarks = Landmarks(markers(), SIZE)
    landmarks.look(0, jpeg(felt())[:-40])
    assert landmarks.shift_upx is None
    landmarks.look(1, jpeg(felt()))
    for at_ns in range(2, PERIOD_NS, PERIOD_NS // 20):
        landmarks.look(at_ns, b"not even looked at")
    for at_ns in range(2, PERIOD_NS, PERIOD_NS // 5):
        landmarks.look(at_ns, jpeg(covered(felt(), *PLACES)))
    assert landmarks.seen == 6
    for n in range(1, LOOKS + 1):
        landmarks.look(1 + n * PERIOD_NS, jpeg(covered(felt(), *PLACES)))
    assert (landmarks.seen, landmarks.shift_upx) == (0, None)


@pytest.mark.parametrize(
    ("dictionary", "numbers"),
    [
        ("4X4_250", (0, 1, 2, 3, 4, 200)),
        ("5X5_100", (3, 14, 15, 92, 65, 35)),
        ("6X6_1000", (3, 14, 15, 92, 65, 35)),
        ("ARUCO_ORIGINAL", (1, 2, 3, 4, 5, 1023)),
        ("APRILTAG_36H11", (0, 1, 2, 3, 4, 5)),
    ],
)
def test_another_set_of_markers_is_found_by_trying(dictionary: str, numbers: tuple[int, ...]) -> None:
    landmarks = Landmarks(markers(numbers), SIZE)
    image = jpeg(felt(dictionary, numbers))
    for n in range(6):  # one set a frame
        landmarks.look(n, image)
    assert landmarks.seen == 6
    landmarks.look(PERIOD_NS + 6, jpeg(moved(felt(dictionary, numbers), 4.0)))
    assert landmarks.shift_upx is not None
    assert landmarks.shift_upx == pytest.approx(2_000_000, abs=300_000), "between the two looks: the set is known now"


def test_none_is_said_only_when_every_set_was_tried_in_three_looks() -> None:
    landmarks = Landmarks(markers(), SIZE)
    empty, at_ns, pictures = jpeg(covered(felt(), *PLACES)), 0, 0
    while landmarks.seen is None:
        landmarks.look(at_ns, empty)
        at_ns, pictures = at_ns + PERIOD_NS, pictures + 1
    assert (landmarks.seen, landmarks.shift_upx, pictures) == (0, None, LOOKS * 6)
    landmarks.look(at_ns, jpeg(felt()))
    assert landmarks.seen == 6


def test_of_a_few_that_are_left_the_camera_is_not_judged() -> None:
    landmarks = Landmarks(markers(), SIZE)
    image = jpeg(moved(covered(felt(), 0, 1, 2, 3), 5.0))
    for n in range(LOOKS * 6):
        landmarks.look(n * PERIOD_NS, image)
    assert (landmarks.seen, landmarks.shift_upx) == (2, None)


def test_measured_points_without_markers_are_nothing_to_look_for() -> None:
    points = [Marker(id=n, corners=(Point(0, 0),), seen_upx=((9_000_000, 9_000_000),)) for n in range(4)]
    assert Looker(points).show(felt(), LOOKS) == (None, None)
    assert Looker([]).show(felt(), LOOKS) == (None, None)


def test_the_simulators_camera() -> None:
    jpeg_then = marker_view(2)
    finder = cv2.aruco.ArucoDetector(cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50))
    image = cv2.imdecode(np.frombuffer(jpeg_then, np.uint8), cv2.IMREAD_COLOR)
    quads, ids, _ = finder.detectMarkers(image)
    known = [
        Marker(
            id=int(number),
            corners=(Point(0, 0),) * 4,
            seen_upx=tuple((round(float(x) * 1e6), round(float(y) * 1e6)) for x, y in np.asarray(quad).reshape(4, 2)),
        )
        for number, quad in zip(np.asarray(ids).ravel(), quads, strict=True)
    ]
    jpeg_now = marker_view(2, conditions="dark")
    looker = Looker(known, (1280, 720))
    assert looker.show(jpeg_now)[0] == len(known) >= 4
    assert shift(looker) < 0.7, "what was measured here is whole pixels"
