"""``tabled record``: take a recording from the configured camera, and look at those that are there."""

from __future__ import annotations

from pathlib import Path

import click

from tabled.sensing.capture import CaptureProblem, FramePump
from tabled.sensing.capture_sources import source_of
from tabled.sensing.process_child import calibration_files
from tabled.sensing.recorder import Ring, Saved, Shelf, save, still_size
from tabled.sensing.recording import CAMERA, OUTCOMES, Facts, Recording, RecordingError, Still
from tabled.shell.calibrated import calibration_of
from tabled.shell.camera import MIB, begin_of
from tabled.shell.clock import file_stamp, monotonic_ns, utc_text, wall_ns
from tabled.shell.config import CameraSection, Config, ConfigError, load

FIRST_S = 20.0
"""For the first picture."""
_CONFIG = click.option(
    "--config",
    "path",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The table's configuration, a TOML file.",
)


@click.group(invoke_without_command=True)
@_CONFIG
@click.option("--seconds", type=click.FloatRange(0.1, 600), default=30.0, show_default=True, help="How long.")
@click.option("--reason", default="by-hand", show_default=True, help="Stands in the recording and in its name.")
@click.pass_context
def record(context: click.Context, path: Path | None, seconds: float, reason: str) -> None:
    """Record from the configured camera while the daemon is not running.

    A daemon that runs has the camera: there, publish {"request": "r1"} to its topic cmd/record, and the last half
    minute is kept, with what readers and panel said.
    """
    if context.invoked_subcommand is not None:
        return
    if path is None:
        raise click.UsageError("give --config table.toml, or `tabled record list` or `show`")
    try:
        config = load(path)
        saved = take(config, seconds, reason)
    except (ConfigError, CaptureProblem, RecordingError) as problem:
        raise click.ClickException(str(problem)) from problem
    click.echo(f"{saved.path}: {saved.frames} frames, {saved.size / MIB:.1f} MB")


def section_of(config: Config) -> CameraSection:
    """``[camera]``, with a folder for recordings.  Raises `ConfigError`."""
    if config.camera is None or not config.camera.record:
        raise ConfigError("the configuration has no recorder: give it [camera] source and record")
    return config.camera


def take(config: Config, seconds: float, reason: str) -> Saved:
    """Record for so long.  Raises `ConfigError`, `CaptureProblem` and `RecordingError`."""
    section = section_of(config)
    calibration = calibration_of(config)
    digest = calibration.digest if calibration is not None else ""
    source = source_of(begin_of(section, digest), monotonic_ns)
    ring: Ring[Still] = Ring(int((seconds + 60) * 1e9), section.record_memory_mb * MIB)
    pump = FramePump(
        source, monotonic_ns, lambda f: ring.put(f.stamp_ns, still_size(s := Still(f.stamp_ns, f.jpeg)), s)
    )
    _watch(pump, seconds)
    stills = ring.since(0)
    facts = Facts(
        site=config.table.site,
        table=config.table.name,
        reason=reason,
        wall_offset_ns=wall_ns() - monotonic_ns(),
        camera=source.model,
        calibration=digest,
        dropped=ring.squeezed_since(0),
    )
    files = calibration_files(Path(section.calibration)) if section.calibration else {}
    shelf = Shelf(Path(section.record), section.record_quota_mb * MIB)
    return save(
        shelf,
        file_stamp(wall_ns()),
        facts,
        [s for s in stills if s.stamp_ns <= stills[0].stamp_ns + seconds * 1e9],
        [],
        calibration=files,
    )


def _watch(pump: FramePump, seconds: float) -> None:
    """Let frames come for so long after the first.  The end of a file ends it sooner."""
    pump.start()
    begin_ns, came = monotonic_ns(), False
    try:
        while True:
            frame = pump.take(0.25)
            now_ns = monotonic_ns()
            if frame is not None and not came:
                came, begin_ns = True, now_ns
            if not came:
                _check_patience(now_ns - begin_ns)
            elif now_ns - begin_ns >= seconds * 1e9:
                return
    except CaptureProblem as problem:
        if not (came and problem.over):
            raise
    finally:
        pump.stop(1.0)


def _check_patience(waited_ns: int) -> None:
    if waited_ns > FIRST_S * 1e9:
        raise CaptureProblem(f"no picture came for {FIRST_S:g} s", "check the camera's cable and its power")


@record.command("list")
@_CONFIG
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), required=False)
def list_recordings(path: Path | None, folder: Path | None) -> None:
    """The recordings in FOLDER, or in the one that --config names; those kept for good are marked *."""
    try:
        if folder is None:
            if path is None:
                raise click.UsageError("give a folder, or --config table.toml")
            folder = Path(section_of(load(path)).record)
        files = Shelf(folder, 0).files()
    except (ConfigError, OSError) as problem:
        raise click.ClickException(str(problem)) from problem
    for kept in files:
        try:
            facts = Recording.open(kept.path).facts
            said = f"{facts.frames:6} frames {(facts.last_ns - facts.first_ns) / 1e9:6.1f} s  {facts.reason}"
        except RecordingError as problem:
            said = f"cannot be read: {problem}"
        click.echo(f"{'*' if kept.protected else ' '} {kept.path.name:44} {kept.size / MIB:8.1f} MB {said}")
    total = sum(k.size for k in files)
    click.echo(f"{len(files)} recordings, {total / MIB:.1f} MB in {folder}")


@record.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
def show(file: Path) -> None:
    """What is in a recording: of which table, why, how many of what, and the rulings in it."""
    try:
        recording = Recording.open(file)
        facts, topics = recording.facts, recording.topics()
        click.echo(f"{facts.site}/{facts.table}, {facts.reason}, {utc_text(facts.first_ns + facts.wall_offset_ns)} UTC")
        click.echo(f"camera: {facts.camera or 'none'}; calibration {facts.calibration[:12] or 'none'}")
        for topic, count in sorted(topics.items()):
            click.echo(f"  {topic:24} {count}")
        if len(recording.stamps_ns) > 1 and CAMERA in topics:
            steps = sorted(b - a for a, b in zip(recording.stamps_ns, recording.stamps_ns[1:], strict=False))
            click.echo(f"  between frames: median {steps[len(steps) // 2] / 1e6:.1f} ms, most {steps[-1] / 1e6:.1f} ms")
        if facts.dropped:
            click.echo(f"  {facts.dropped} frames and notes had no room in memory")
        for at_ns, told in recording.notes(OUTCOMES) if OUTCOMES in topics else ():
            what = told.get("ruling", told.get("reason", {}))
            word = what.get("action") or what.get("code") or ""
            click.echo(
                f"  {utc_text(at_ns + facts.wall_offset_ns)} {told['kind']} {word} (entry {told.get('position')})"
            )
    except RecordingError as problem:
        raise click.ClickException(str(problem)) from problem
