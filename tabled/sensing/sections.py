"""A table's calibration as files: one JSON file a section in a folder, refused when it is not whole.

A file is ``{"tabled": "<section>", "schema": 1, "body": {…}, "sha256": "<hex>"}``.  The sum is over the canonical body
(JSON, keys sorted, no spaces), so a changed digit is found and a changed indentation is not.  `encode` and `decode`
are pure; `load` reads a folder.  Nothing here writes: see `calibration.files`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec

from tabled.model.calibration import (
    SCHEMA,
    Antennas,
    Calibration,
    CameraTime,
    Dealers,
    Lens,
    Palette,
    Plane,
    Zones,
)
from tabled.sensing.section_checks import body_fault, value_fault

SectionName = Literal["lens", "plane", "zones", "palette", "time", "antennas", "dealers"]
Section = Lens | Plane | Zones | Palette | CameraTime | Antennas | Dealers

TYPES: Mapping[SectionName, type[Section]] = {
    "lens": Lens,
    "plane": Plane,
    "zones": Zones,
    "palette": Palette,
    "time": CameraTime,
    "antennas": Antennas,
    "dealers": Dealers,
}
NAMES: tuple[SectionName, ...] = get_args(SectionName)
"""All sections, in the order in which they are measured and hashed."""
STEPS: Mapping[SectionName, str] = {**{name: name for name in NAMES}, "dealers": "dealer"}
"""The step of ``tabled calibrate`` that measures a section again."""

MAX_BYTES = 8 << 20
"""A section is some kilobytes; a read-zone map of twenty antennas is one megabyte."""

Upgrade = Callable[[dict[str, Any]], dict[str, Any]]
UPGRADES: Mapping[tuple[str, int], Upgrade] = {}
"""``(section, schema)`` → the step that makes a body of schema+1 out of one of schema.  Kept for good."""

_SUM = re.compile(r"[0-9a-f]{64}")
_WHERE = re.compile(r"^(?P<what>.*?)(?: - at `\$\.?(?P<field>[^`]*)`)?$", re.DOTALL)


class CalibrationError(ValueError):
    """A calibration file cannot be used; the message is one line that says what to do.

    ``section`` is whose file it is, ``field`` the path of the part at fault ("" where it is the file as a whole).
    """

    def __init__(self, message: str, *, section: str = "", field: str = "") -> None:
        super().__init__(message)
        self.section, self.field = section, field


def section_of(value: Section) -> SectionName:
    """The name of the section that ``value`` is; raises TypeError for anything else."""
    for name, kind in TYPES.items():
        if type(value) is kind:
            return name
    raise TypeError(f"{type(value).__name__} is no section of a calibration; the sections are {', '.join(NAMES)}")


def encode(value: Section) -> bytes:
    """The section's file, indented for people; equal values give equal bytes.

    Raises `CalibrationError` for a value that `decode` would refuse, naming the field.
    """
    section = section_of(value)
    body = msgspec.to_builtins(value)
    if fault := body_fault(body) or value_fault(value):
        field, reason = fault
        raise _refusal(section, field, reason, "this was just measured: nothing was written")
    envelope = {"tabled": section, "schema": SCHEMA, "body": body, "sha256": _sum(body)}
    raw = msgspec.json.format(msgspec.json.encode(envelope), indent=1) + b"\n"
    if len(raw) > MAX_BYTES:
        raise _refusal(section, "", f"{len(raw)} bytes are over the {MAX_BYTES} allowed", "nothing was written")
    return raw


def decode(
    raw: bytes,
    section: SectionName,
    *,
    schema: int = SCHEMA,
    upgrades: Mapping[tuple[str, int], Upgrade] = UPGRADES,
) -> Section:
    """The section that ``raw`` holds, upgraded to ``schema`` if it is older.

    Raises `CalibrationError` for bytes that are damaged, of another section, or of a newer schema.
    """
    envelope = _envelope(raw, section)
    found, body = envelope["schema"], envelope["body"]
    if found > schema:
        raise _refusal(
            section, "schema", f"schema {found} is newer than the {schema} that this version reads", "upgrade tabled"
        )
    if fault := body_fault(body):
        raise _refusal(section, fault[0], fault[1])
    if _sum(body) != envelope["sha256"]:
        raise _refusal(section, "sha256", "the file is not as it was written (damaged, or edited by hand)")
    for version in range(found, schema):
        step = upgrades.get((section, version))
        if step is None:
            raise _refusal(section, "schema", f"schema {version} is too old to be upgraded by this version")
        body = step(body)
    return _value(body, section)


def load(folder: Path, only: Collection[str] = NAMES) -> Calibration:
    """The sections in ``folder``, or of these ``only`` those; one whose file is absent is None.

    Raises `CalibrationError` if the folder cannot be read or any of the files is refused.
    """
    if not folder.is_dir():
        raise CalibrationError(
            f"{folder}: is no folder; measure the table with 'tabled calibrate --folder {folder}', "
            "or set [camera] calibration to the folder that has its files"
        )
    values: dict[SectionName, Section] = {}
    for name in NAMES:
        if name in only and (raw := read(path_of(folder, name), name)) is not None:
            values[name] = decode(raw, name)
    parts: dict[str, Any] = dict(values.items())
    return Calibration(**parts, digest=digest(values))


def path_of(folder: Path, section: SectionName) -> Path:
    """Where a section's file is."""
    return folder / f"{section}.json"


def read(path: Path, section: SectionName) -> bytes | None:
    """The bytes of a section's file, None if there is none; raises `CalibrationError` if it cannot be read."""
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as problem:
        raise _refusal(
            section,
            "",
            f"cannot be read ({problem.strerror})",
            f"make {path} readable to the user that runs tabled, or {_again(section)}",
        ) from problem
    if len(raw) > MAX_BYTES:
        raise _refusal(section, "", f"is larger than the {MAX_BYTES} bytes that a section can have")
    return raw


def digest(values: Mapping[SectionName, Section]) -> str:
    """SHA-256 over the names and canonical bodies, in the order of `NAMES`, in hexadecimal; "" for no section."""
    if not values:
        return ""
    whole = hashlib.sha256()
    for name in NAMES:
        if name in values:
            body = msgspec.json.encode(values[name], order="deterministic")
            whole.update(f"{name} {len(body)}\n".encode())
            whole.update(body)
    return whole.hexdigest()


def _envelope(raw: bytes, section: SectionName) -> dict[str, Any]:
    if len(raw) > MAX_BYTES:
        raise _refusal(section, "", f"is larger than the {MAX_BYTES} bytes that a section can have")
    try:
        envelope = msgspec.json.decode(raw, strict=True)
    except (msgspec.DecodeError, RecursionError, ValueError) as problem:
        raise _refusal(section, "", f"is not whole ({problem})") from problem
    if not isinstance(envelope, dict):
        raise _refusal(section, "", "holds no object")
    for key in ("tabled", "schema", "body", "sha256"):
        if key not in envelope:
            raise _refusal(section, key, "is missing")
    if envelope["tabled"] != section:
        raise _refusal(section, "tabled", f"says {str(envelope['tabled'])[:20]!r}: the file of another section")
    schema, total = envelope["schema"], envelope["sha256"]
    if not isinstance(schema, int) or isinstance(schema, bool) or schema < 1:
        raise _refusal(section, "schema", "is no version number")
    if not isinstance(total, str) or not _SUM.fullmatch(total):
        raise _refusal(section, "sha256", "is no checksum")
    if not isinstance(envelope["body"], dict):
        raise _refusal(section, "body", "is no object")
    return envelope


def _value(body: dict[str, Any], section: SectionName) -> Section:
    """The body as a value, every field known and in its range."""
    try:
        value: Section = msgspec.convert(body, TYPES[section], strict=True)
    except (msgspec.ValidationError, ValueError, RecursionError) as problem:
        found = _WHERE.match(str(problem))
        what, field = (found["what"], found["field"] or "") if found else (str(problem), "")
        raise _refusal(section, field, what[:1].lower() + what[1:]) from problem
    if unknown := _unknown(body, msgspec.to_builtins(value), ""):
        raise _refusal(section, unknown, "is no field that this version knows", "upgrade tabled")
    if fault := value_fault(value):
        raise _refusal(section, fault[0], fault[1])
    return value


def _unknown(body: Any, known: Any, at: str) -> str:
    """Path of a field in ``body`` that ``known`` has not, "" if there is none."""
    if isinstance(body, dict):
        for key, part in body.items():
            here = f"{at}.{key}" if at else str(key)
            if key not in known:
                return here[:120]
            if found := _unknown(part, known[key], here):
                return found
    elif isinstance(body, list):
        for index, (part, other) in enumerate(zip(body, known, strict=True)):
            if found := _unknown(part, other, f"{at}[{index}]"):
                return found
    return ""


def _sum(body: Any) -> str:
    return hashlib.sha256(msgspec.json.encode(body, order="deterministic")).hexdigest()


def _again(section: SectionName) -> str:
    return f"repeat the step with 'tabled calibrate {STEPS[section]}'"


def _refusal(section: SectionName, field: str, reason: str, todo: str = "") -> CalibrationError:
    todo = todo or f"copy {section}.json.bak back over it if there is one, or {_again(section)}"
    where = f"{section}.json: {field}" if field else f"{section}.json"
    return CalibrationError(f"{where}: {reason}; {todo}", section=section, field=field)
