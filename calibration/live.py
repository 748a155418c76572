"""A few pictures of a table at rest, from files or from the camera."""

from __future__ import annotations

from collections.abc import Sequence

from calibration import pictures
from calibration.pictures import Shot
from calibration.steps import Given, StepError, Talk

FRAMES = 12
SETTLE_FRAMES = 10
"""Of a camera that was just opened: its exposure is still moving."""


def shots(talk: Talk, given: Given) -> Sequence[Shot]:
    """Up to two dozen pictures that the options ``from`` or ``source`` mean; raises `StepError`."""
    if given["from"].strip():
        return tuple(pictures.read_file(p) for p in pictures.expand(given["from"])[: 2 * FRAMES])
    if not given["source"].strip():
        raise StepError(
            "say where the picture comes from: --source /dev/video0 for the camera, or --from FILES", code="no-files"
        )
    talk.say("Nobody touches the table for a moment.")
    taken = []
    for number, shot in enumerate(pictures.from_source(given["source"].strip())):
        talk.check()
        if number >= SETTLE_FRAMES:
            taken.append(shot)
        if number % 4 == 0:
            talk.look(pictures.jpeg(shot.image))
        if len(taken) >= FRAMES:
            break
    if not taken:
        raise StepError("the film is shorter than a second; give pictures with --from", code="no-files")
    return taken
