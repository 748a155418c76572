"""``tabled calibrate check``: does the table still stand as it was measured?  Exit code 0, 1 (findings) or 2 (trouble).

While the daemon runs it has the devices and checks by itself; this one is for before and after.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
import msgspec
import numpy as np

from calibration.bench import Bench, config_from
from calibration.check import AntennaNow, CameraNow, Snapshot, check
from calibration.steps import StepError
from tabled.model.calibration import Calibration, Plane
from tabled.model.camera import CameraTrust
from tabled.outlets.health import say
from tabled.sensing import sections
from tabled.shell.clock import monotonic_ns
from tabled.shell.config import Config

MS = 1_000_000
SECONDS = 5.0
CAMERA_SECONDS = 20.0


@click.command("check")
@click.option("--config", type=click.Path(path_type=Path, dir_okay=False), help="table.toml: look at its devices.")
@click.option(
    "--picture", type=click.Path(path_type=Path, dir_okay=False), multiple=True, help="A picture of the camera now."
)
@click.option("--dictionary", default="4X4_50", show_default=True, help="Of the plane's markers.")
@click.option("--seconds", type=click.FloatRange(1, 600), default=SECONDS, show_default=True, help="How long to look.")
@click.option("--folder", type=click.Path(path_type=Path, file_okay=False), default=None, help="The calibration files.")
@click.pass_context
def command(
    ctx: click.Context,
    *,
    config: Path | None,
    picture: tuple[Path, ...],
    dictionary: str,
    seconds: float,
    folder: Path | None,
) -> None:
    """Does the table still stand as it was measured?  Names the step to repeat."""
    table = config_from(str(config)) if config is not None else None
    given = folder or (ctx.parent.params.get("folder") if ctx.parent is not None else None)
    folder = given or _folder_of(table) or Path("calibration")
    found = sections.load(folder)
    if not found.digest:
        raise StepError(f"{folder}: nothing was measured yet; 'tabled calibrate --folder {folder}'", code="nothing")
    now = Snapshot()
    if table is not None:
        now = _devices(table, found, seconds)
    if picture:
        now = msgspec.structs.replace(now, camera=_looked(found, picture, dictionary, now.camera))
    findings = check(found, now)
    for finding in findings:
        click.echo(say(finding.reason, "en"))
    if findings:
        raise SystemExit(1)
    if table is None and not picture:
        click.echo(
            f"calibration {found.digest[:12]}: its files are whole, and nothing else was looked at; give --config "
            "table.toml (readers, panel, camera), --picture (markers), or both"
        )
        return
    click.echo(f"calibration {found.digest[:12]}: all stands as it was measured")


def _folder_of(table: Config | None) -> Path | None:
    """The folder that the table itself takes."""
    camera = table.camera if table is not None else None
    return Path(camera.calibration) if camera is not None and camera.calibration else None


def _devices(config: Config, calibration: Calibration, seconds: float) -> Snapshot:
    """Look at readers, panels and camera for a while."""
    watches = config.camera is not None and bool(config.camera.calibration) and calibration.zones is not None
    panels = any(not d.antennas for d in config.device)
    with Bench(config, panels=panels, eye=watches) as bench:
        start_ns = monotonic_ns()
        if watches:
            bench.until(lambda: bool(bench.camera_seen), CAMERA_SECONDS)
        bench.until(lambda: False, seconds)
        now_ns = monotonic_ns()
        looks = bench.snapshot()
        antennas = []
        for spot, place in bench.configured.items():
            seen = looks.at(spot)
            age_ns = now_ns - (seen[-1].span.latest_ns if seen else start_ns - 60_000 * MS)
            antennas.append(AntennaNow(device=spot[0], antenna=spot[1], place=place, clean_ms=age_ns // MS))
        widths = {d.id: -(-d.figures.clock_ns // MS) for d in bench.health() if d.figures.clock_ns is not None}
        camera = None
        if config.camera is not None:
            newest = {one.seat: one for one in bench.camera_seen if isinstance(one, CameraTrust)}
            camera = CameraNow(distrusted={seat: one.reason for seat, one in newest.items() if not one.trusted})
    return Snapshot(antennas=tuple(antennas), panels=widths, camera=camera)


def _looked(calibration: Calibration, pictures: Sequence[Path], dictionary: str, camera: CameraNow | None) -> CameraNow:
    """Where the plane's markers are in pictures of now."""
    from calibration import marks  # noqa: PLC0415  OpenCV
    from calibration.optics import Optics  # noqa: PLC0415  as above
    from calibration.pictures import read_file  # noqa: PLC0415  as above

    if calibration.lens is None or calibration.plane is None:
        raise StepError("lens and plane were never measured: nothing to compare with; 'tabled calibrate'", code="needs")
    seen = marks.find([read_file(path) for path in pictures], Optics.of(calibration.lens), dictionary)
    off = _off_px(calibration.plane, seen)
    known = {marker.id for marker in calibration.plane.markers}
    moved = round(float(np.median(off)) * 1e6) if off else None
    return CameraNow(
        distrusted=camera.distrusted if camera is not None else {},
        markers_seen=len(known & seen.keys()),
        moved_upx=moved,
    )


def _off_px(plane: Plane, seen: dict[int, np.ndarray[tuple[int, ...], np.dtype[np.float64]]]) -> list[float]:
    """How far each marker's corners are, on average, from where they were."""
    found = []
    for marker in plane.markers:
        corners = seen.get(marker.id)
        if corners is not None and len(marker.seen_upx) == len(corners):
            was = np.array(marker.seen_upx, dtype=np.float64) / 1e6
            found.append(float(np.hypot(*(corners - was).T).mean()))
    return found
