"""The palette step: colours of flat discs of known colour, and pictures from which none can be learnt."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import cv2
import numpy as np
import pytest

from calibration import colours, files
from calibration.draft import Draft
from calibration.draft import zones as laid_out
from calibration.optics import Optics, Pose
from calibration.pictures import Shot, png
from calibration.step_palette import STEP, piles_of
from calibration.steps import StepError
from tabled.model.calibration import Palette, Plane, Zones
from tabled.sensing.colours import lab
from tests.calibration.camera_synthetic import _TO_LINEAR, Image, Table
from tests.calibration.talk import Quiet

TABLE = Table()
OPTICS = Optics(TABLE.camera.size, TABLE.camera.matrix, TABLE.camera.distortion)
POSE = Pose(*TABLE.pose)
ZONES: Zones = laid_out(Draft(length=1900, width=900, seats=6))
CHIPS = {1: (220, 222, 226), 5: (40, 40, 190), 100: (40, 36, 34), 500: (150, 50, 110), 1000: (40, 190, 235)}
"""BGR."""
FELT = (60, 95, 40)
PILES = {"bet:1": 1, "bet:2": 5, "bet:3": 100, "bet:5": 500, "bet:6": 1000}


@cache
def picture(light: float = 1.0, left_out: str = "", chips: tuple[tuple[int, tuple[int, int, int]], ...] = ()) -> Image:
    """The felt with a disc in each zone of `PILES`, the light falling off to the right by ``light``."""
    known = dict(chips) or CHIPS
    half_x, half_y, scale = 1150.0, 650.0, 1.0
    flat = np.full((round(2 * half_y * scale), round(2 * half_x * scale), 3), FELT, np.uint8)
    for zone in ZONES.zones:
        name = f"{zone.kind}:{zone.seat}"
        if name in PILES and name != left_out:
            x, y = np.mean([(p.x_um, p.y_um) for p in zone.outline], axis=0) / 1000
            at = (round((x + half_x) * scale), round((half_y - y) * scale))
            cv2.circle(flat, at, round(19.5 * scale), known[PILES[name]], -1, cv2.LINE_AA)
            cv2.circle(flat, at, round(9 * scale), (170, 175, 178), -1, cv2.LINE_AA)  # the inlay
            line = np.array([(p.x_um / 1000 + half_x, half_y - p.y_um / 1000) for p in zone.line]) * scale
            cv2.polylines(flat, [np.rint(line).astype(np.int32)], False, (190, 210, 215), round(12 * scale))
    image = TABLE.camera.picture(flat, scale, *TABLE.pose, origin=(-half_x, half_y), up=True)
    if light != 1.0:
        linear = _TO_LINEAR[image] * np.linspace(1.0, light, image.shape[1])[None, :, None]
        image = np.interp(linear, _TO_LINEAR, np.arange(256)).round().astype(np.uint8)
    return image


def learn(image: Image, piles: dict[str, int] | None = None) -> colours.PaletteResult:
    return colours.learn([Shot("p", image)], OPTICS, POSE, ZONES, piles or PILES, diameter_mm=39.0)


def true_lab(bgr: tuple[int, int, int]) -> np.ndarray:
    return lab(_TO_LINEAR[list(bgr)][::-1].astype(np.float64))


@pytest.mark.parametrize("light", [1.0, 0.55], ids=["even light", "light that falls off"])
def test_colours_are_learnt_wherever_the_pile_lies(light: float) -> None:
    result = learn(picture(light))
    for colour in result.palette.colours:
        away = np.abs(np.array(colour.lab_e3) / 1000 - true_lab(CHIPS[colour.denomination]))
        # The felt's median is the reference: a table that is darker on the right is darker as a whole, not in hue.
        assert away[1:].max() < 7, colour
        assert away[0] < (4 if light == 1.0 else 16), colour
        assert colour.spread_e3 >= 800
    felt = np.array(result.palette.felt_lab_e3) / 1000
    assert np.abs(felt - true_lab(FELT))[1:].max() < 5
    assert result.warnings == ()


def test_two_piles_of_one_denomination_give_its_spread() -> None:
    chips = tuple({**CHIPS, 5: (40, 40, 190), 100: (64, 64, 200)}.items())
    result = learn(picture(chips=chips), {**PILES, "bet:3": 5})
    five = next(c for c in result.palette.colours if c.denomination == 5)
    assert [c.denomination for c in result.palette.colours] == [1, 5, 500, 1000]
    assert five.spread_e3 > 2000


def test_colours_that_are_near_each_other_or_the_felt_are_told() -> None:
    near = (FELT[0] + 8, FELT[1] + 16, FELT[2] + 26)
    chips = tuple({**CHIPS, 1000: (44, 44, 196), 500: near}.items())
    warnings = " ".join(learn(picture(chips=chips)).warnings)
    assert "5 and 1000 look alike" in warnings
    assert "500 has nearly the colour of the felt" in warnings


def test_pictures_from_which_no_colour_can_be_learnt() -> None:
    cases = {
        "no-pile": lambda: learn(picture(left_out="bet:3")),
        "no-zone": lambda: learn(picture(), {**PILES, "bet:99": 7}),
        "lens-size": lambda: learn(picture()[::2, ::2]),
        "dark": lambda: learn((picture() // 24).astype(np.uint8)),
        "clipped": lambda: learn(picture(chips=tuple({**CHIPS, 1: (255, 255, 255)}.items()))),
    }
    for code, work in cases.items():
        with pytest.raises(StepError) as refusal:
            work()
        assert refusal.value.code == code or (code == "dark" and refusal.value.code == "no-pile"), code


@pytest.mark.parametrize("text", ["", "5", "5=", "x=bet:1", "0=bet:1", "5=bet:1,25=bet:1", "5=bet:" + "x" * 40])
def test_piles_that_are_none(text: str) -> None:
    with pytest.raises(StepError) as refusal:
        piles_of(text)
    assert refusal.value.code == "piles"


def test_the_step_saves_a_palette(tmp_path: Path) -> None:
    folder = tmp_path / "table"
    rotation, translation = POSE.rounded()
    files.save(folder, OPTICS.lens(0.1, 20))
    files.save(folder, Plane(rotation_nrad=rotation, translation_um=translation, markers=(), residual_um=0))
    files.save(folder, ZONES)
    (tmp_path / "p.png").write_bytes(png(picture()))
    given = {o.name: o.default for o in STEP.options} | {
        "from": str(tmp_path / "p.png"),
        "piles": ", ".join(f"{value}={zone}" for zone, value in PILES.items()),
    }
    outcome = STEP.run(Quiet(), folder, given)
    assert outcome.summary == "Palette: 5 denominations."
    saved = files.decode((folder / "palette.json").read_bytes(), "palette")
    assert isinstance(saved, Palette)
    assert STEP.done(folder).state == "done"
    with pytest.raises(StepError, match="no diameter"):
        STEP.run(Quiet(), folder, given | {"diameter-mm": "wide"})
