"""The outcome of each step, kept beside the calibration files so that a report can be made of them later."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from calibration.files import write
from calibration.steps import Figure, Outcome

FOLDER = "plots"
MAX_BYTES = 1 << 20
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,40}")


class KeptPicture(msgspec.Struct, frozen=True, kw_only=True):
    """A picture of an outcome: its file's name in the folder ``plots``."""

    file: str
    caption: str


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """An outcome as it is kept."""

    step: str
    summary: str
    figures: tuple[Figure, ...] = ()
    pictures: tuple[KeptPicture, ...] = ()
    warnings: tuple[str, ...] = ()


def keep(folder: Path, step: str, outcome: Outcome) -> Kept:
    """Write ``plots/<step>.json`` and its pictures; raises `FilesError`, or ValueError for a name that is no name."""
    pictures = []
    for picture in outcome.pictures:
        if not _NAME.fullmatch(picture.name):
            raise ValueError(f"{picture.name!r} is no name of a picture: small letters, digits and dashes")
        file = f"{step}-{picture.name}.png"
        write(folder / FOLDER / file, picture.png)
        pictures.append(KeptPicture(file=file, caption=picture.caption))
    kept = Kept(
        step=step,
        summary=outcome.summary,
        figures=outcome.figures,
        pictures=tuple(pictures),
        warnings=outcome.warnings,
    )
    write(folder / FOLDER / f"{step}.json", msgspec.json.format(msgspec.json.encode(kept), indent=1) + b"\n")
    return kept


def kept(folder: Path, step: str) -> Kept | None:
    """What was kept of a step; None if nothing was, or what is there cannot be read (the step can be repeated)."""
    try:
        with (folder / FOLDER / f"{step}.json").open("rb") as file:
            return msgspec.json.decode(file.read(MAX_BYTES), type=Kept)
    except (OSError, msgspec.DecodeError, ValueError):
        return None
