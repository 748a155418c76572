"""``python -m hw_sim.scene``: a film of a table, the truth beside it, and a contact sheet."""

from __future__ import annotations

from pathlib import Path
from time import process_time

import click

from hw_sim.scene import CONDITIONS, boards, marker_view, world
from hw_sim.scene.boards import Board
from hw_sim.scene.film import write
from hw_sim.scene.layout import Layout


@click.command()
@click.option("--conditions", default="baseline", type=click.Choice(sorted(CONDITIONS)), show_default=True)
@click.option("--seconds", default=5.0, show_default=True, help="Length of the film.")
@click.option("--seed", default=1, show_default=True)
@click.option("--seats", default=9, show_default=True)
@click.option("--shape", default="oval", type=click.Choice(["oval", "d"]), show_default=True)
@click.option("--size", default="1280x720", show_default=True)
@click.option("--fps", default=60.0, show_default=True)
@click.option("--acts", default="", help="Only these acts, with commas: bet,push,string_bet,hover,splash,sweep,…")
@click.option("--boards", "count", default=0, help="Also so many views of a ChArUco board, and the empty table.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="A folder.")
def main(*, conditions: str, seconds: float, seed: int, seats: int, shape: str, size: str, fps: float, acts: str,
         count: int, out: Path) -> None:  # fmt: skip
    """Render a poker table: film.avi, truth.json, first.jpg and sheet.png in the folder --out."""
    try:
        width, _, height = size.partition("x")
        scene = world(seed, conditions, seconds=seconds, width=int(width), height=int(height), fps=fps, seats=seats,
                      shape="d" if shape == "d" else "oval", acts=[a for a in acts.split(",") if a])  # fmt: skip
    except ValueError as e:
        raise click.UsageError(str(e)) from e
    began = process_time()
    for path in write(scene, None, out):
        click.echo(path)
    frames = round(seconds * fps)
    click.echo(f"{frames} frames, {1000 * (process_time() - began) / max(1, frames):.1f} ms of processor time each")
    if count:
        for k, view in enumerate(boards(seed, count, width=int(width), height=int(height))):
            (out / f"board-{k:02}.jpg").write_bytes(view.jpeg)
        (out / "markers.jpg").write_bytes(
            marker_view(seed, width=int(width), height=int(height), seats=seats, shape=scene.layout.shape)
        )
        (out / "markers.csv").write_text(_middles(scene.layout))
        printed = Board()
        spec = f"{printed.columns}x{printed.rows}:{printed.square_mm:g}:{printed.marker_mm:g}"
        click.echo(f"{count} views of the board {spec}:{printed.dictionary.removeprefix('DICT_')}, and markers.jpg")


def _middles(layout: Layout) -> str:
    """Number and middle of each marker, in mm, as one would measure them."""
    rows = [(m.id, *(sum(axis) / len(axis) for axis in zip(*m.corners, strict=True))) for m in layout.markers]
    return "id,x_mm,y_mm\n" + "".join(f"{k},{x:.1f},{y:.1f}\n" for k, x, y in rows)


if __name__ == "__main__":
    main()
