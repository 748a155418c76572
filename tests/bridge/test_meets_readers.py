"""Three makes of readers meet the simulated ones, which were written from the same texts by another hand."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from firmware_bridge.supervisor import DeviceConfig
from firmware_bridge.wire import CleanEmpty, Corrupt, DeviceLost, DeviceUp, Present, Restarted
from hw_sim.devices.feig import FeigReader
from hw_sim.devices.metratec import MetratecReader
from hw_sim.devices.pepper import PepperReader
from hw_sim.devices.physics import Air, Timing
from hw_sim.devices.quirks import Quirks
from hw_sim.devices.reader import Reader
from hw_sim.line_port import now_ns
from hw_sim.pty_port import PtyPort
from hw_sim.tcp_port import TcpPort
from tests.bridge.rig import PATIENT, Room, drive, no_hurry, running

__all__ = ["no_hurry"]  # a fixture
pytestmark = pytest.mark.usefixtures("no_hurry")

Field = dict[int, list[str]]
MAKES: dict[str, type[Reader]] = {"feig": FeigReader, "pepper": PepperReader, "metratec": MetratecReader}


def table() -> Field:
    counts = (0, 1, 5, 0, 2, 30)
    return {a: [f"E00401{a:04X}{n:06X}" for n in range(count)] for a, count in enumerate(counts, 1)}


def config(make: str, path: str, antennas: list[int], **options: Any) -> DeviceConfig:
    return DeviceConfig("reader", make, path, options={"antennas": antennas, "min_sweep_ms": 0} | options)


def check(room: Room, field: Field) -> None:
    """Whatever was said of an antenna is the truth of it."""
    for present in room.of(Present):
        uids = [t.uid for t in present.tags]
        truth = field[present.antenna]
        assert set(uids) <= set(truth)
        if present.complete:
            assert uids == truth
    assert {e.antenna for e in room.of(CleanEmpty)} <= {a for a, stack in field.items() if not stack}


def meet(
    make: str,
    body: Callable[[Room, Reader], Awaitable[None]],
    *,
    tcp: bool = False,
    field: Field | None = None,
    antennas: list[int] | None = None,
    quirks: Quirks | None = None,
    timing: Timing | None = None,
    **options: Any,
) -> None:
    async def run() -> None:
        stacks = table() if field is None else field
        count = len(antennas or stacks)
        extra: dict[str, Any] = {"quirks": quirks} if quirks else {}
        reader = MAKES[make](stacks.__getitem__, antennas=count, timing=timing or Timing(), **extra)
        port = (TcpPort if tcp else PtyPort)(reader)
        port.plug()
        room = Room(config(make, port.path, antennas or list(stacks), **options))
        async with running(room):
            await room.until(lambda: room.of(DeviceUp))
            await body(room, reader)
            check(room, stacks)
        port.unplug()

    drive(run)


async def all_antennas(room: Room, _reader: Reader) -> None:
    wanted = set(table())
    await room.until(lambda: {o.antenna for o in (*room.of(Present), *room.of(CleanEmpty))} >= wanted)
    await asyncio.sleep(0.2)
    assert room.of(Corrupt) == []
    assert room.of(DeviceLost) == []
    assert {p.antenna for p in room.of(Present) if p.complete} == {2, 3, 5, 6}


@pytest.mark.parametrize("tcp", [False, True])
@pytest.mark.parametrize("make", list(MAKES))
def test_a_table_is_read_as_it_is(make: str, tcp: bool) -> None:
    meet(make, all_antennas, tcp=tcp, **PATIENT)


def test_ports_that_the_reader_goes_through_by_itself() -> None:
    meet("metratec", all_antennas, select="auto", **PATIENT)


@pytest.mark.parametrize(
    ("make", "quirk", "options"),
    [
        ("metratec", "crc_mode", {}),
        ("metratec", "field_on", {}),
        ("metratec", "ports_from_one", {"first_port": 1}),
        ("pepper", "afi_required", {}),
        ("pepper", "error_low_first", {}),
        ("pepper", "uid_msb_first", {}),
        ("pepper", "polling", {}),
        ("feig", "ont_default", {}),
        ("feig", "mux_wrapped", {"mux_frame": "wrapped"}),
        ("feig", "short_info", {}),
    ],
)
def test_what_readers_do_that_no_manual_says(make: str, quirk: str, options: dict[str, Any]) -> None:
    meet(make, all_antennas, quirks=Quirks(**{quirk: True}), **PATIENT, **options)


@pytest.mark.parametrize(
    ("make", "quirk"),
    [
        *((make, quirk) for make in MAKES for quirk in ("late", "twice")),
        *((make, "wrong_echo") for make in ("feig", "pepper")),
        *(("feig", quirk) for quirk in ("empty_warning", "error_data", "hardware_warning")),
    ],
)
def test_rare_misbehaviour_makes_no_wrong_word(make: str, quirk: str) -> None:
    async def body(room: Room, reader: Reader) -> None:
        await room.until(lambda: room.health("reader").counters.frames > 350)
        assert room.of(Present)

    meet(make, body, quirks=Quirks(**{quirk: True}), inventory_timeout_ms=250)


@pytest.mark.parametrize(("wrapped", "ours", "other"), [(True, "bare", "wrapped"), (False, "wrapped", "bare")])
def test_the_wrong_form_of_the_multiplexers_command_is_named(wrapped: bool, ours: str, other: str) -> None:
    async def body(room: Room, reader: Reader) -> None:
        await room.until(lambda: room.of(Corrupt))
        (note,) = room.health("reader").notes
        assert f'try the option mux_frame = "{other}"' in note
        assert not room.of(Present)
        assert not room.of(CleanEmpty), "an antenna that was not selected is not empty"

    meet("feig", body, quirks=Quirks(mux_wrapped=wrapped), mux_frame=ours)


def test_a_single_antenna_with_only_new_tags_as_shipped_is_never_empty() -> None:
    async def body(room: Room, reader: Reader) -> None:
        await room.until(lambda: len(room.of(Present)) >= 8)
        await asyncio.sleep(0.3)
        assert room.of(CleanEmpty) == []

    field = {1: ["E004015000000001", "E004015000000002"]}
    meet("feig", body, field=field, quirks=Quirks(ont_default=True))


@pytest.mark.parametrize(("make", "lane"), [("feig", "ont"), ("metratec", "ont"), ("pepper", "quiet")])
def test_lanes_with_the_physics_of_a_high_stack(make: str, lane: str) -> None:
    """Twenty chips and real timing: arrivals are told by looks at new chips alone, a removal by a full look."""
    field = {1: [f"E0040150000000{n:02X}" for n in range(20)]}
    fast: list[str] = []

    async def body(room: Room, reader: Reader) -> None:
        arrival, removal = room.bridge.worst_arrival_ns("reader", 1), room.bridge.worst_removal_ns("reader", 1)
        assert 0 < (arrival or 0) < (removal or 0)
        await room.until(lambda: [p for p in room.of(Present) if p.complete and len(p.tags) == 20])
        for n in range(4):
            uid = f"E0040150000001{n:02X}"
            await asyncio.sleep(0.13)
            field[1].append(uid)
            named = await room.until(lambda uid=uid: [p for p in room.of(Present) if uid in {t.uid for t in p.tags}])
            if named[0].quiet:
                assert set(named[0].quiet) <= set(field[1])
                fast.append(uid)
        gone = field[1].pop(3)
        reader.radio.lifted([gone])
        seen = len(room.seen)

        def missed() -> bool:
            later = [p for p in room.seen[seen:] if isinstance(p, Present) and p.complete]
            return any(gone not in {t.uid for t in p.tags} for p in later)

        await room.until(missed)
        assert room.of(CleanEmpty) == []
        # the field changed under the check: what was said stays true of one of its moments
        field[1].append(gone)

    async def run_once() -> None:
        reader = MAKES[make](field.__getitem__, antennas=1, timing=Timing(real=True))
        port = PtyPort(reader)
        port.plug()
        options = {"lanes": lane, "presence_ms": 1500, "chips_per_antenna": 25} | PATIENT
        async with running(Room(config(make, port.path, [1], **options))) as room:
            await body(room, reader)
        port.unplug()

    drive(run_once)
    assert fast, "no arrival was told by a look at new chips alone"


def test_a_restart_is_named_and_survived() -> None:
    async def body(room: Room, reader: Reader) -> None:
        await room.until(lambda: len(room.of(Present)) > 5)
        ups = len(room.of(DeviceUp))
        reader.restart(now_ns())
        await room.until(lambda: len(room.of(DeviceUp)) > ups)
        seen = len(room.seen)
        await room.until(lambda: [o for o in room.seen[seen:] if isinstance(o, Present)])

    for make in MAKES:
        meet(make, body, timing=Timing(real=False, restart_ms=1300.0))


def test_a_brown_out_of_a_metratec_reader_is_told_as_a_restart() -> None:
    async def body(room: Room, reader: Reader) -> None:
        await room.until(lambda: room.of(Restarted))
        seen = len(room.of(DeviceUp))
        assert seen >= 1
        await room.until(lambda: len(room.of(DeviceUp)) > seen or room.of(Present))

    meet("metratec", body, quirks=Quirks(brown_out=True), timing=Timing(restart_ms=100.0))


@pytest.mark.parametrize("mode", ["buffered", "notify", "notify-ack"])
@pytest.mark.parametrize("tcp", [False, True])
def test_a_reader_that_goes_round_by_itself(mode: str, tcp: bool) -> None:
    field: Field = {1: [], 2: ["E004015000000001"], 3: []}

    async def run() -> None:
        reader = FeigReader(field.__getitem__, antennas=3, mode=mode, valid_ms=300.0)  # type: ignore[arg-type]  # one of three
        port = (TcpPort if tcp else PtyPort)(reader)
        port.plug()
        ours = "buffered" if mode == "buffered" else "notify"
        async with running(Room(config("feig", port.path, [1, 2, 3], mode=ours))) as room:
            room.sink = room.commits
            await room.until(lambda: room.of(Present))
            field[3].append("E004015000000002")
            found = await room.until(lambda: [p for p in room.of(Present) if p.antenna == 3])
            assert [t.uid for t in found[0].tags] == ["E004015000000002"]
            assert not found[0].complete
            assert room.of(CleanEmpty) == []
            assert room.of(Corrupt) == []
            assert room.bridge.worst_removal_ns("reader", 3) is None
        port.unplug()

    drive(run)


@pytest.mark.parametrize("make", list(MAKES))
def test_two_readers_share_the_air_without_a_clash(make: str) -> None:
    """Neighbouring antennas of two readers, real timing: without the plan they would spoil each other's inventories."""
    air = Air()
    field = {place: [f"E0040150000{place:03X}{n:02X}" for n in range(3)] for place in range(1, 7)}

    async def run() -> None:
        ports, configs = [], []
        for n, places in enumerate(((1, 2, 3), (4, 5, 6))):
            reader = MAKES[make](
                field.__getitem__,
                antennas=3,
                places=dict(enumerate(places, 1)),
                seed=n,
                timing=Timing(real=True),
                air=air,
            )
            port = PtyPort(reader)
            port.plug()
            ports.append(port)
            configs.append(
                DeviceConfig(
                    f"reader-{n}", make, port.path, options={"antennas": [1, 2, 3], "chips_per_antenna": 5} | PATIENT
                )
            )
        pairs = [(("reader-0", a), ("reader-1", b)) for a in (1, 2, 3) for b in (1, 2, 3) if abs(a - (b + 3)) <= 1]
        room = Room(*configs, neighbours=pairs)
        async with running(room):
            await room.until(lambda: all(len(room.of(Present, f"reader-{n}")) > 20 for n in (0, 1)))
            for present in room.of(Present):
                place = present.antenna + 3 * int(present.device[-1])
                assert [t.uid for t in present.tags] == field[place], present
            assert room.of(Corrupt) == []
            for port in ports:
                assert port.device.counts.get("clash", 0) == 0  # type: ignore[attr-defined]  # a Reader has counts
                assert port.device.counts.get("carrier near", 0) == 0  # type: ignore[attr-defined]  # the same
        for port in ports:
            port.unplug()

    drive(run)
