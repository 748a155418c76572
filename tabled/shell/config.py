"""``table.toml``: one file that says what is plugged in where, and which law the room plays by.

Every mistake is one `ConfigError` whose text names the file, the key and what to write instead.
"""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from tabled.fusion.settings import FusionSettings
from tabled.model.layout import Antenna, Layout, Place
from tabled.sensing.capture_sources import ADVICE, SOURCES
from tabled.shell.registry import STATUSES

MAX_CONFIG_BYTES = 1 << 20
MAX_CHIPS = 40_000
"""A CSV stands whole in one journal entry at each start; of a room's registry only the chips that are seen do."""
MAX_NEIGHBOURS = 256
MAX_CHIP_FILE_BYTES = 32 << 20

Port = Annotated[int, msgspec.Meta(ge=0, le=65535)]
Name = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9_-]{1,32}$")]
"""Names stand in MQTT topics."""
PictureSide = Annotated[int, msgspec.Meta(ge=64, le=8192)]


class ConfigError(ValueError):
    """The configuration cannot be used; the message is one line that says what to do."""


class TableSection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[table]``: who we are and which betting law holds.

    ``neighbours`` are pairs of places, such as ``["bet:3", "bet:4"]``, so close that a chip on one may be read at the
    other.  Without it they are those that lie beside each other on any table (see `adjacent`); ``[]`` says that the
    antennas are shielded.
    """

    site: Name = "site"
    name: Name = "table-1"
    seats: Annotated[int, msgspec.Meta(ge=2, le=10)] = 9
    profile: str = "tda-2024"
    language: Literal["en", "sv", "nl"] = "en"
    neighbours: tuple[tuple[str, str], ...] | None = None
    dealer: Annotated[str, msgspec.Meta(max_length=64)] = ""
    """Whose reaction span holds, of those in the calibration's dealers.json."""


class ChipsSection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[chips]``: one of the two.  ``file`` is a CSV file with the columns ``uid,denomination`` and, if wanted,
    ``status``; ``registry`` the room's registry of `tabled calibrate registry`, which many tables share."""

    file: str = ""
    registry: str = ""


class JournalSection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[journal]``: where everything is written down."""

    file: str


class MqttSection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[mqtt]``: ``"embedded"``, or the address of a broker, ``mqtt://host:1883`` or ``mqtts://host:8883``.

    ``websocket`` is the address at which the display's browser reaches that broker.  ``port`` and ``ws_port`` fix
    those of the embedded one, so that others find it; 0 takes free ones.
    """

    broker: str = "embedded"
    port: Port = 0
    ws_port: Port = 0
    websocket: str = ""
    username: str = ""
    password_file: str = ""
    ca_file: str = ""


class DisplaySection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[display]``: the dealer's page, served on this machine only.  Port 0 takes a free one."""

    enabled: bool = True
    port: Port = 8080


class CameraSection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[camera]``: what watches the hands.

    ``source`` is ``"/dev/video0"``, ``"rtsp://…"``, ``"http://…"`` (Motion JPEG) or ``"file:NAME"``; ``size``
    in pixels.  Exposure in µs, white balance in kelvin, gain and focus in the camera's own units; what is not given
    stays as it is and is held still.  ``calibration`` is the folder of `tabled calibrate`; without it the camera only
    records.
    ``record`` is the folder of recordings, "" for none: ``record_seconds`` before a dispute are kept, in at most
    ``record_memory_mb`` of memory and ``record_quota_mb`` of disk.  ``memory_mb`` is what its process may have besides.
    """

    source: Annotated[str, msgspec.Meta(min_length=1, max_length=1024)]
    id: Name = "camera"
    size: tuple[PictureSide, PictureSide] = (1280, 720)
    fps: Annotated[int, msgspec.Meta(ge=1, le=240)] = 60
    exposure_us: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)] | None = None
    gain: Annotated[int, msgspec.Meta(ge=0, le=65535)] | None = None
    white_balance_k: Annotated[int, msgspec.Meta(ge=1000, le=20_000)] | None = None
    focus: Annotated[int, msgspec.Meta(ge=0, le=65535)] | None = None
    calibration: str = ""
    record: str = ""
    record_seconds: Annotated[int, msgspec.Meta(ge=5, le=120)] = 30
    record_memory_mb: Annotated[int, msgspec.Meta(ge=16, le=8192)] = 384
    record_quota_mb: Annotated[int, msgspec.Meta(ge=64, le=16_000_000)] = 8192
    memory_mb: Annotated[int, msgspec.Meta(ge=256, le=65_536)] = 1024


class DeviceSection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[[device]]``: one reader or panel.  ``antennas`` maps its antenna numbers to places such as ``"bet:3"``."""

    id: Name
    driver: str
    port: str
    baud: int = 0
    antennas: dict[str, str] = {}
    options: dict[str, Any] = {}


class Config(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole of ``table.toml``."""

    chips: ChipsSection
    journal: JournalSection
    device: tuple[DeviceSection, ...]
    table: TableSection = TableSection()
    mqtt: MqttSection = MqttSection()
    display: DisplaySection = DisplaySection()
    fusion: FusionSettings = FusionSettings()
    camera: CameraSection | None = None


def load(path: Path) -> Config:
    """Read a configuration file.  File names in it are relative to the file itself."""
    try:
        raw = path.read_bytes()[: MAX_CONFIG_BYTES + 1]
    except OSError as problem:
        raise ConfigError(
            f"{path}: cannot be read ({problem.strerror}); give the file's name with --config"
        ) from problem
    if len(raw) > MAX_CONFIG_BYTES:
        raise ConfigError(f"{path}: is larger than a configuration can be; is it the right file?")
    try:
        tree = tomllib.loads(raw.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise ConfigError(f"{path}: is not valid TOML: {problem}") from problem
    config = convert(tree, str(path))
    base = path.resolve().parent

    def beside(name: str) -> str:
        return str(base / name) if name else ""

    profile = config.table.profile
    return msgspec.structs.replace(
        config,
        table=msgspec.structs.replace(config.table, profile=beside(profile) if profile.endswith(".toml") else profile),
        chips=ChipsSection(file=beside(config.chips.file), registry=beside(config.chips.registry)),
        journal=JournalSection(file=beside(config.journal.file)),
        mqtt=msgspec.structs.replace(
            config.mqtt, password_file=beside(config.mqtt.password_file), ca_file=beside(config.mqtt.ca_file)
        ),
        camera=None if config.camera is None else _camera_beside(config.camera, beside),
    )


def _camera_beside(camera: CameraSection, beside: Callable[[str], str]) -> CameraSection:
    source = camera.source
    return msgspec.structs.replace(
        camera,
        source=f"file:{beside(source.removeprefix('file:'))}" if source.startswith("file:") else source,
        calibration=beside(camera.calibration),
        record=beside(camera.record),
    )


def convert(tree: dict[str, Any], source: str) -> Config:
    """Check a configuration tree; ``source`` names it in messages."""
    try:
        config = msgspec.convert(tree, Config)
    except (msgspec.ValidationError, ValueError) as problem:
        raise ConfigError(f"{source}: {explain(problem)}") from problem
    if bool(config.chips.file) == bool(config.chips.registry):
        raise ConfigError(
            f"{source}: [chips] names the table's chips: give either file (a CSV) or registry (the room's)"
        )
    for text in (config.chips.file, config.chips.registry, config.journal.file, *(d.port for d in config.device)):
        if "\0" in text:
            raise ConfigError(f"{source}: {text!r} holds a NUL character; write a plain file name or port")
    if config.mqtt.broker != "embedded" and config.display.enabled and not config.mqtt.websocket:
        raise ConfigError(
            f"{source}: the display needs the broker's WebSockets address: set [mqtt] websocket, for instance "
            '"ws://127.0.0.1:9001", or [display] enabled = false'
        )
    if not config.device:
        raise ConfigError(f"{source}: no [[device]] is given; a table needs at least one reader and one panel")
    ids = [d.id for d in config.device]
    for name in ids:
        if ids.count(name) > 1:
            raise ConfigError(f"{source}: two devices are called {name!r}; give each [[device]] its own id")
    layout_of(config, source)
    if config.camera is not None:
        _check_camera(config.camera, ids, source)
    if config.table.dealer:
        _check_dealer(config, tree, source)
    return config


def _check_camera(camera: CameraSection, ids: Sequence[str], source: str) -> None:
    if camera.id in ids:
        raise ConfigError(f"{source}: a device is called {camera.id!r} like the camera; give [camera] another id")
    if not camera.source.startswith(SOURCES) or camera.source == "file:":
        raise ConfigError(f"{source}: [camera] source {camera.source!r} is no camera; {ADVICE}")
    for text in (camera.source, camera.calibration, camera.record):
        if "\0" in text:
            raise ConfigError(f"{source}: [camera] {text!r} holds a NUL character; write a plain name")


def _check_dealer(config: Config, tree: Mapping[str, Any], source: str) -> None:
    if config.camera is None or not config.camera.calibration:
        raise ConfigError(
            f"{source}: [table] dealer needs the calibration that knows them; set [camera] calibration, or take it out"
        )
    twice = {"reaction_min_ms", "reaction_max_ms"} & set(tree.get("fusion", {}))
    if twice:
        raise ConfigError(
            f"{source}: [fusion] {min(twice)} and [table] dealer both say how fast the dealer is; take one of them out"
        )


def explain(problem: Exception) -> str:
    """msgspec's message in words for a technician: which key, and what to do about it."""
    text = str(problem)
    where = "at the top"
    if " - at `" in text:
        text, _, path = text.partition(" - at `")
        where = f"in {path.rstrip('`').removeprefix('$.') or 'the file'}"
    if text.startswith("Object contains unknown field"):
        return f"unknown key {text.rpartition(' ')[2]} {where}; remove it or correct its spelling"
    if text.startswith("Object missing required field"):
        return f"key {text.rpartition(' ')[2]} is missing {where}; add it"
    return f"{text} {where}; correct the value"


def layout_of(config: Config, source: str = "table.toml") -> Layout:
    """The antennas of all devices as the table's layout."""
    seats = tuple(str(n) for n in range(1, config.table.seats + 1))
    antennas: list[Antenna] = []
    taken: dict[Place, str] = {}
    for device in config.device:
        for number, text in device.antennas.items():
            where = f"{source}: device {device.id}, antenna {number}"
            if not (number.isascii() and number.isdigit() and len(number) <= 2 and 0 < int(number) <= 64):
                raise ConfigError(f"{where}: antennas are numbered from 1 to 64")
            kind, _, seat = text.partition(":")
            if kind not in ("bet", "stack", "tray", "pot") or (kind in ("bet", "stack")) != bool(seat):
                raise ConfigError(f'{where}: {text!r} is no place; write "bet:3", "stack:3", "tray" or "pot"')
            if seat and seat not in seats:
                raise ConfigError(f"{where}: the table has no seat {seat}; its seats are 1 to {config.table.seats}")
            place = Place(kind, seat)
            if place in taken:
                raise ConfigError(f"{where}: {text} is covered by {taken[place]} already")
            taken[place] = f"antenna {number} of {device.id}"
            antennas.append(Antenna(device.id, int(number), place))
    bare = [seat for seat in seats if Place("bet", seat) not in taken]
    if bare:
        raise ConfigError(f'{source}: no antenna covers the bets of seat {bare[0]}; give one of them "bet:{bare[0]}"')
    named = config.table.neighbours
    beside = adjacent(seats, taken) if named is None else _neighbours(named, taken, source)
    return Layout(seats, tuple(sorted(antennas, key=lambda a: (a.device, a.antenna))), beside)


def adjacent(seats: Sequence[str], places: Collection[Place]) -> tuple[tuple[Place, Place], ...]:
    """Which of these places lie beside each other: those of seats in a row (the dealer sits between the last and the
    first), a seat's own two, and every bet beside the pot."""
    pairs = [(Place(kind, a), Place(kind, b)) for kind in ("bet", "stack") for a, b in pairwise(seats)]
    for seat in seats:
        pairs += [(Place("bet", seat), Place("stack", seat)), (Place("bet", seat), Place("pot"))]
    return tuple(pair for pair in pairs if pair[0] in places and pair[1] in places)


def _neighbours(
    named: Sequence[tuple[str, str]], places: Mapping[Place, str], source: str
) -> tuple[tuple[Place, Place], ...]:
    known = {f"{p.kind}:{p.seat}" if p.seat else p.kind: p for p in places}
    for text in (t for pair in named for t in pair):
        if text not in known:
            raise ConfigError(f'{source}: neighbours: no antenna covers {text!r}; name places such as "bet:3"')
    if len(named) > MAX_NEIGHBOURS:
        raise ConfigError(
            f"{source}: more than {MAX_NEIGHBOURS} neighbours; name only antennas that disturb each other"
        )
    return tuple((known[one], known[other]) for one, other in named)


def neighbours_of(layout: Layout) -> tuple[tuple[tuple[str, int], tuple[str, int]], ...]:
    """The neighbours that belong to different readers, as the bridge wants them: (device, antenna) twice.

    One reader never energises two of its own antennas together.
    """
    return tuple(
        ((one.device, one.antenna), (other.device, other.antenna))
        for a, b in layout.neighbours
        for one in layout.antennas_of(a)
        for other in layout.antennas_of(b)
        if one.device != other.device
    )


def _rows(rows: Any, path: Path) -> Iterator[tuple[int, list[str]]]:
    """Rows with their numbers; a row that is no CSV is named."""
    while True:
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as problem:
            raise ConfigError(f"{path}: row {rows.line_num}: {problem}; correct that row") from problem
        yield rows.line_num, row


class ChipRegistry(msgspec.Struct, frozen=True):
    """The chips in play, UID to denomination, and the UIDs that are no money to why; none stands in both."""

    values: dict[str, int]
    barred: dict[str, str]


def load_chips(path: Path) -> dict[str, int]:
    """The chip registry: UID to denomination; see `load_registry`."""
    return load_registry(path).values


def load_registry(path: Path) -> ChipRegistry:
    """The chip registry.  Refuses a damaged file with the row number and the reason."""
    try:
        if path.stat().st_size > MAX_CHIP_FILE_BYTES:
            raise ConfigError(f"{path}: is larger than a chip registry can be; is it the right file?")
        text = path.read_text(encoding="utf-8-sig")
    except OSError as problem:
        raise ConfigError(f"{path}: cannot be read ({problem.strerror}); set [chips] file to the registry") from problem
    except UnicodeDecodeError as problem:
        raise ConfigError(f"{path}: is not UTF-8 text; export the registry as CSV again") from problem
    rows = csv.reader(text.splitlines())
    header = next((row for _, row in _rows(rows, path)), None)
    names = [h.strip().lower() for h in header or ()]
    if names[:2] != ["uid", "denomination"] or any(names.count(n) > 1 for n in names if n):
        raise ConfigError(f"{path}: row 1 must be the header uid,denomination[,status], with commas, each name once")
    status_at = names.index("status") if "status" in names else None
    chips: dict[str, int] = {}
    barred: dict[str, str] = {}
    for number, row in _rows(rows, path):
        if not row:
            continue
        if any(cell.strip() for cell in row[len(names) :]):
            raise ConfigError(
                f"{path}: row {number}: has more cells than the header; write 1000, not 1,000, and quote a text with "
                "a comma"
            )
        uid, value = row[0].strip().upper(), row[1].strip() if len(row) > 1 else ""
        if len(uid) != 16 or any(c not in "0123456789ABCDEF" for c in uid):
            raise ConfigError(f"{path}: row {number}: {row[0]!r} is no UID of 16 hexadecimal digits")
        if not (value.isascii() and value.isdigit() and len(value) <= 12 and int(value) > 0):
            raise ConfigError(f"{path}: row {number}: {value!r} is no denomination; write a whole number above 0")
        if uid in chips or uid in barred:
            raise ConfigError(f"{path}: row {number}: UID {uid} stands in the file twice; keep one of the two rows")
        status = row[status_at].strip().lower() if status_at is not None and len(row) > status_at else ""
        if status not in ("", *STATUSES):
            raise ConfigError(f"{path}: row {number}: {status[:40]!r} is no status; write one of {', '.join(STATUSES)}")
        if status in ("", "issued"):
            chips[uid] = int(value)
        else:
            barred[uid] = status
        if len(chips) + len(barred) > MAX_CHIPS:
            raise ConfigError(
                f"{path}: holds more than {MAX_CHIPS} chips; make a registry of it ('tabled calibrate registry "
                "import') and set [chips] registry instead"
            )
    if not chips:
        raise ConfigError(f"{path}: holds no chip that is in play; enrol the table's chips first")
    return ChipRegistry(chips, barred)
