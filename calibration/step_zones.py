"""Step 3, the zones: from the default layout, a drawing of the page, or another table's file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from calibration.files import save
from calibration.outcomes import FOLDER
from calibration.plan import section_done
from calibration.steps import Figure, Given, Option, Outcome, Picture, Step, StepError, Talk
from tabled.model.calibration import Calibration, Zones
from tabled.sensing.sections import load

if TYPE_CHECKING:
    from calibration.pictures import Image
    from calibration.rectify import Window

FELT = "zones-felt.png"
"""The level picture of the felt that is drawn upon, if one was taken in this step."""
FELTS = (FELT, "plane-felt.png")
MAX_DRAFT_BYTES = 1 << 20


def _run(talk: Talk, folder: Path, given: Given) -> Outcome:
    from calibration import zones  # noqa: PLC0415  shapely and OpenCV: only for the step itself

    whole = load(folder, ("lens", "plane"))
    picture = _taken(talk, whole, given)
    drawn = wanted(given)
    result = zones.partition(drawn)
    for change in result.changes:
        talk.say(change)
    outcome = _outcome(folder, whole, result.zones, result.changes, picture)
    save(folder, result.zones)
    return outcome


def wanted(given: Given) -> Zones:
    """The drawing that ``given`` means: ``draft`` as JSON or a file, or the default layout; raises `StepError`."""
    from calibration import draft, zones  # noqa: PLC0415  shapely and numpy

    text = given["draft"].strip()
    if text.startswith("{"):
        return zones.from_json(text)
    if text:
        path = Path(text).expanduser()
        try:
            with path.open("rb") as file:
                raw = file.read(MAX_DRAFT_BYTES + 1)
        except OSError as problem:
            raise StepError(f"{path}: cannot be read ({problem.strerror}); check the name", code="draft") from problem
        if len(raw) > MAX_DRAFT_BYTES:
            raise StepError(f"{path}: is larger than a drawing can be; is it the right file?", code="draft")
        return zones.from_json(raw)
    if given["shape"] not in ("oval", "d"):
        raise StepError(f"{given['shape']!r} is no shape: oval or d", code="draft")
    names = tuple(n.strip() for n in given["names"].split(",") if n.strip())
    return draft.zones(
        draft.Draft(
            shape=cast(Literal["oval", "d"], given["shape"]),
            length=_number(given, "length-mm"),
            width=_number(given, "width-mm"),
            seats=len(names) or round(_number(given, "seats")),
            line=_number(given, "line-mm"),
            depth=_number(given, "depth-mm"),
            middle=(_number(given, "middle-x-mm"), _number(given, "middle-y-mm")),
            names=names,
        )
    )


def _number(given: Given, name: str) -> float:
    try:
        value = float(given[name].replace(",", "."))
    except ValueError:
        raise StepError(f"{given[name]!r} is no number for --{name}", code="draft") from None
    if not abs(value) < 20_000:
        raise StepError(f"{given[name]} is out of range for --{name}", code="draft")
    return value


def _taken(talk: Talk, whole: Calibration, given: Given) -> Image | None:
    """A new level picture of the felt, if pictures were given."""
    if not given["from"].strip() and not given["source"].strip():
        return None
    from calibration import rectify  # noqa: PLC0415  OpenCV
    from calibration.live import shots  # noqa: PLC0415  OpenCV
    from calibration.optics import Optics, Pose  # noqa: PLC0415  OpenCV

    assert whole.lens is not None, "the step needs the lens step"
    assert whole.plane is not None, "the step needs the plane step"
    optics, pose = Optics.of(whole.lens), Pose.of(whole.plane)
    last = shots(talk, given)[-1]
    if last.size != optics.size:
        raise StepError(
            f"{last.name}: is {last.size[0]} x {last.size[1]}, the lens was measured at {optics.size[0]} x "
            f"{optics.size[1]}: set the camera to that size",
            code="lens-size",
        )
    return rectify.level(last.image, optics, pose, rectify.window(optics, pose))


def felt_picture(folder: Path, part: Window) -> Image | None:
    """The newest level picture of the felt that fits ``part``, None if there is none."""
    from calibration.pictures import read_file  # noqa: PLC0415  OpenCV

    for name in FELTS:
        path = folder / FOLDER / name
        if path.is_file():
            try:
                image = read_file(path).image
            except StepError:
                continue
            if (image.shape[1], image.shape[0]) == part.size:
                return image
    return None


def _outcome(folder: Path, whole: Calibration, made: Zones, changes: tuple[str, ...], picture: Image | None) -> Outcome:
    from calibration import rectify, zone_plots, zones  # noqa: PLC0415  OpenCV
    from calibration.optics import Optics, Pose  # noqa: PLC0415  OpenCV
    from calibration.pictures import png  # noqa: PLC0415  OpenCV
    from calibration.seat_errors import at_lines  # noqa: PLC0415  OpenCV

    assert whole.lens is not None, "the step needs the lens step"
    assert whole.plane is not None, "the step needs the plane step"
    optics, pose = Optics.of(whole.lens), Pose.of(whole.plane)
    part = rectify.window(optics, pose)
    ground = picture if picture is not None else felt_picture(folder, part)
    hidden = zone_plots.unseen(optics, pose, made)
    if any(n.startswith("bet") for n in hidden):
        raise StepError(
            f"the camera does not see all of {', '.join(n for n in hidden if n.startswith('bet'))}: draw it where the "
            "picture reaches, or hang the camera higher and repeat the plane step",
            code="unseen",
        )
    figures = [Figure(label="zones", value=str(len(made.zones)), good=not zones.overlaps(made))]
    for seat, error in at_lines(optics, whole.plane, made):
        figures.append(Figure(label=f"seat {seat}, at its line", value=f"± {error:.2f} mm", good=error <= 2.0))
    pictures = [
        Picture(name="zones", caption="The zones on the felt.", png=png(zone_plots.drawing(made, part, ground)))
    ]
    if picture is not None:
        pictures.append(Picture(name="felt", caption="The felt from straight above.", png=png(picture)))
    seats = sum(z.kind == "bet" for z in made.zones)
    return Outcome(
        summary=f"Zones: {seats} seats, {len(made.zones)} zones, none over another.",
        figures=tuple(figures),
        pictures=tuple(pictures),
        warnings=(*changes, *(f"the camera does not see all of {n}" for n in hidden)),
    )


STEP = Step(
    name="zones",
    title="Zones",
    about=(
        "Where each seat's chips go: bet zone with its betting line, stack, tray and board. On the page they are "
        "dragged over the picture of the felt, snapped together and mirrored; begin with the default layout in your "
        "table's size."
    ),
    run=_run,
    done=lambda folder: section_done(folder, "zones"),
    needs=("lens", "plane"),
    minutes=4,
    options=(
        Option(name="draft", label="A drawing: a zones.json, such as another table's", kind="file"),
        Option(name="shape", label="Default layout: shape of the felt", kind="choice", choices=("oval", "d"),
               default="oval"),
        Option(name="length-mm", label="Length of the felt, mm", kind="number", default="2160"),
        Option(name="width-mm", label="Width of the felt, mm", kind="number", default="980"),
        Option(name="seats", label="Seats", kind="number", default="9"),
        Option(name="names", label="Their names, clockwise from the dealer's left (else 1, 2, 3, …)"),
        Option(name="line-mm", label="From the felt's edge to the betting line, mm", kind="number", default="190"),
        Option(name="depth-mm", label="Depth of the bet zones, mm", kind="number", default="155"),
        Option(name="middle-x-mm", label="The felt's middle in the markers' frame: x, mm", kind="number", default="0"),
        Option(name="middle-y-mm", label="The felt's middle in the markers' frame: y, mm", kind="number", default="0"),
        Option(name="from", label="A new picture of the felt to draw upon", kind="files"),
        Option(name="source", label="Or the camera: /dev/video0, an rtsp:// or http:// address, or a film"),
    ),
)  # fmt: skip
