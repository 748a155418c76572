"""What the journal feeds the core: inputs only.  Their bytes are canonical JSON; times are host monotonic ns."""

from __future__ import annotations

from typing import get_args

import msgspec

from firmware_bridge.wire import AnyObservation
from tabled.fusion.settings import FusionSettings
from tabled.model.camera import AnyCameraObservation
from tabled.model.layout import Layout
from tabled.model.outcome import AnyOperatorAct
from tabled.rules.profile import Profile


class TableConfig(msgspec.Struct, frozen=True, kw_only=True):
    """Everything outside the evidence that a ruling depends on; journalled whole, so a journal explains itself.

    ``chips`` maps a tag's UID to its value in smallest chips, ``barred`` the UIDs that are no money to why
    ("void", "stolen", "cage").  ``profile`` is the betting law in force, with
    all that it inherits.  ``camera`` names the device that watches the hands, "" where there is none;
    ``calibration`` is the digest of what was measured of this table.
    """

    site: str
    table: str
    layout: Layout
    chips: dict[str, int]
    profile: Profile
    fusion: FusionSettings = FusionSettings()
    camera: str = ""
    barred: dict[str, str] = {}
    calibration: str = ""


class Input(msgspec.Struct, frozen=True, tag_field="in", kw_only=True):
    """Base of all inputs.  ``at_ns`` is the host's monotonic clock when the input was taken."""

    at_ns: int


class Started(Input, frozen=True, tag="started", kw_only=True):
    """The daemon started.  ``clock`` names the host's boot: monotonic times compare only within one."""

    epoch: str
    clock: str
    version: str
    config: TableConfig


class Seen(Input, frozen=True, tag="obs", kw_only=True):
    """A device or the camera reported something."""

    observation: AnyObservation | AnyCameraObservation


class Ticked(Input, frozen=True, tag="timer", kw_only=True):
    """Time passed a moment that the core had asked to be woken at."""


class Bound(msgspec.Struct, frozen=True):
    """What a reader states of one antenna, without faults, in ns: the longest time from a chip's landing to the
    observation that names it, and from its lifting to the first complete one without it."""

    arrival_ns: int
    removal_ns: int


class Stated(Input, frozen=True, tag="bounds", kw_only=True):
    """What the readers that are up state now; it replaces what they stated before.

    ``bounds`` by the antenna's name (`tabled.core.state.area_key`).  ``unstated`` are readers that are up and say
    nothing of the kind: no ruling on their antennas becomes final by itself.  ``overran`` counts the sweeps of each
    reader, since the daemon started, that took longer than it had stated.
    """

    bounds: dict[str, Bound] = {}
    unstated: tuple[str, ...] = ()
    overran: dict[str, int] = {}


class Known(Input, frozen=True, tag="chips", kw_only=True):
    """What the room's registry says of chips that are seen here, before the first look that names them or when it says
    otherwise than before.

    ``chips`` by UID to their value, ``barred`` to why they are no money, ``unknown`` are in the registry no more; a UID
    is in one of the three at most.  ``registry`` is the sum over all of the room's chips.
    """

    chips: dict[str, int] = {}
    barred: dict[str, str] = {}
    unknown: tuple[str, ...] = ()
    registry: str = ""


class Ordered(Input, frozen=True, tag="cmd", kw_only=True):
    """An operator ordered something."""

    act: AnyOperatorAct


AnyInput = Started | Seen | Ticked | Stated | Known | Ordered

_encoder = msgspec.json.Encoder(order="deterministic")
_decoder: msgspec.json.Decoder[AnyInput] = msgspec.json.Decoder(AnyInput)


def encode(entry: AnyInput) -> bytes:
    """Canonical bytes of an input."""
    return _encoder.encode(entry)


def decode(body: bytes) -> AnyInput:
    """An input from its canonical bytes.  Raises `msgspec.DecodeError` for anything else."""
    return _decoder.decode(body)


def kind_of(entry: AnyInput) -> str:
    """The journal's name for this kind of entry."""
    return str(type(entry).__struct_config__.tag)


KINDS = frozenset(str(kind.__struct_config__.tag) for kind in get_args(AnyInput))
"""The journal's names for all inputs."""
