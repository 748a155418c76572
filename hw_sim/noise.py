"""How unreliable people, camera and readers are, in one value that can be swept.

`Disturbance()` is the reference; `Disturbance().without_noise()` the same room with perfect sensors.  A change is
written as ``name=value`` (`change`), so that a command line and a sweep say it alike.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from hw_sim.devices.physics import Noise

MissModel = Literal["mixed", "independent", "together", "sticky", "deaf"]
"""How misses hang together, each with the same share of missed reads in the long run.

``independent``: each read of each chip by itself.  ``together``: a buried stack is missed as a whole.  ``sticky``: an
unchanged stack mostly answers as it did the last time.  ``deaf``: some chips, as they happen to lie, are missed often
and the others seldom.  ``mixed``: one of them for each table.
"""


class Disturbance(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Shares are probabilities, times milliseconds.  What each is a share of:

    ``miss_*``, ``ghost``, ``bleed``, ``rf_*``, ``silent``: see `hw_sim.devices.physics.Noise`.  ``hover_read``: a chip
    held over the line answers all the same.  ``favour``: the antenna of the seat to act is looked at before each other.
    ``thinned``: looks that repeat the one before are withheld, as the bridge does.
    ``jitter_ms``: error of a camera's times; ``span_ms``: half the span that it claims.  ``retreat_mm``, ``pause_ms``:
    errors of what it measures.  ``step_missed``, ``step_invented``: of steps.  ``late_ms``: until it is delivered.
    ``unsure``: the side of a hand is not told.  ``untrusted``: share of the time in which the camera is not to be
    trusted.  ``reaction_ms``: dealer; ``hasty``: share of tables whose dealer presses within `HASTY_MS`.
    ``answer_ms``: until the dealer answers a question.
    """

    miss_lone: float = 0.05
    miss_buried: float = 0.15
    miss_model: MissModel = "mixed"
    ghost: float = 0.001
    bleed: float = 0.01
    rf_error: float = 0.003
    rf_warning: float = 0.002
    silent: float = 0.001
    hover_read: float = 0.0
    favour: bool = True
    thinned: bool = True
    camera: bool = True
    jitter_ms: float = 17.0
    span_ms: float = 17.0
    retreat_mm: float = 6.0
    pause_ms: float = 20.0
    step_missed: float = 0.003
    step_invented: float = 0.0005
    late_ms: tuple[float, float] = (50.0, 120.0)
    unsure: float = 0.01
    untrusted: float = 0.0
    reaction_ms: tuple[float, float] = (200.0, 1500.0)
    hasty: float = 0.0
    answer_ms: tuple[float, float] = (1000.0, 3000.0)

    def without_noise(self) -> Disturbance:
        """Perfect sensors; people as they are."""
        return msgspec.structs.replace(
            self, miss_lone=0.0, miss_buried=0.0, ghost=0.0, bleed=0.0, rf_error=0.0, rf_warning=0.0, silent=0.0,
            jitter_ms=0.0, retreat_mm=0.0, pause_ms=0.0, step_missed=0.0, step_invented=0.0, unsure=0.0,
        )  # fmt: skip

    def change(self, text: str) -> Disturbance:
        """With one value changed, written ``name=value`` (a range ``low-high``).  ValueError says what fits."""
        name, _, value = text.partition("=")
        known = {f.name: getattr(self, f.name) for f in msgspec.structs.fields(self)}
        if name not in known or not value:
            raise ValueError(f"{text!r} is no noise; give NAME=VALUE with one of {', '.join(sorted(known))}")
        parsed: object = value
        if isinstance(known[name], tuple):
            low, _, high = value.partition("-")
            parsed = [low, high or low]
        try:
            return msgspec.convert({**msgspec.structs.asdict(self), name: parsed}, Disturbance, strict=False)
        except msgspec.ValidationError as e:
            raise ValueError(f"{text!r} does not fit: {e}; at present it is {known[name]}") from e

    def radio(self, model: MissModel) -> Noise:
        """What the readers' air is told, for one model of misses."""
        return Noise(
            miss_lone=self.miss_lone, miss_buried=self.miss_buried, ghost=self.ghost, bleed=self.bleed,
            rf_error=self.rf_error, rf_warning=self.rf_warning, silent=self.silent,
            miss_together={"together": 1.0, "sticky": 0.5}.get(model, 0.0), sticky=0.75 if model == "sticky" else 0.0,
        )  # fmt: skip


HASTY_MS = (50.0, 300.0)
