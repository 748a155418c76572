"""Recordings: what is kept, what is written, that Foxglove's own schema reads it, and what a bad disk does."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from foxglove_schemas_protobuf.CompressedImage_pb2 import CompressedImage
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from hypothesis import given
from hypothesis import strategies as st
from mcap.reader import make_reader

from tabled.sensing import recorder as recorder_module
from tabled.sensing.recorder import KEEP_SUFFIX, LABELS_SUFFIX, Ring, Shelf, ShelfFull, save, still_size
from tabled.sensing.recording import Facts, Note, Recording, RecordingError, Still, write
from tabled.sensing.recording_schema import IMAGE_SCHEMA, image, jpeg_of
from tests.sensing.support import MS, PERIOD_NS, picture

S = 10**9
FACTS = Facts(site="club", table="t7", reason="question", wall_offset_ns=1_769_860_800 * S)


def stills(count: int, start_ns: int = 100 * S) -> list[Still]:
    return [Still(start_ns + n * PERIOD_NS, picture(n)) for n in range(count)]


NOTES = [
    Note(100 * S + 1, "bytes", b'{"device":"reader","at_ns":1,"from_host":false,"hex":"07ff"}', "reader"),
    Note(100 * S + 2, "observation", b'{"o":"hand","seat":"3"}'),
    Note(100 * S + 3, "outcome", b'{"kind":"ruling","position":412}'),
]


# -- memory ------------------------------------------------------------------------------------------


@given(
    st.lists(st.tuples(st.integers(0, 50), st.integers(1, 40)), max_size=80), st.integers(1, 300), st.integers(1, 200)
)
def test_a_ring_keeps_the_newest_that_fit_and_counts_the_others(
    steps: list[tuple[int, int]], span: int, limit: int
) -> None:
    ring: Ring[int] = Ring(span, limit)
    put, now = [], 0
    for n, (later, size) in enumerate(steps):
        now += later
        ring.put(now, size, n)
        put.append((now, size, n))
    kept = ring.since(0)
    young = [n for at, _, n in put if at >= now - span]
    assert kept == [n for _, _, n in put[len(put) - len(kept) :]], "the newest, in order"
    assert ring.size == sum(size for _, size, n in put if n in kept) <= limit
    missing = [n for n in young if n not in kept]
    assert ring.squeezed_since(now - span) == len(missing)


# -- files -------------------------------------------------------------------------------------------


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "r.mcap"
    given_stills = stills(12)
    write(path, FACTS, given_stills, NOTES, {"lens.json": b"{}"})
    found = Recording.open(path)
    assert list(found.frames()) == given_stills
    assert [found.frame(n) for n in (11, 0, 5)] == [given_stills[n] for n in (11, 0, 5)]
    assert found.topics() == {"/camera": 12, "/bytes/reader": 1, "/observations": 1, "/outcomes": 1}
    assert list(found.notes("/outcomes")) == [(100 * S + 3, {"kind": "ruling", "position": 412})]
    assert found.calibration() == {"lens.json": b"{}"}
    assert found.facts == FACTS
    assert [p.name for p in tmp_path.iterdir()] == ["r.mcap"]
    with pytest.raises(IndexError):
        found.frame(12)


def test_pictures_of_one_and_the_same_time_are_told_apart(tmp_path: Path) -> None:
    twins = [Still(5 * S, picture(n)) for n in range(3)]
    write(tmp_path / "r.mcap", FACTS, twins, [])
    found = Recording.open(tmp_path / "r.mcap")
    assert [found.frame(n) for n in range(3)] == twins


def test_foxgloves_own_schema_reads_the_pictures(tmp_path: Path) -> None:
    """By the makers' generated code and by the descriptors that stand in the file: two witnesses that are not ours."""
    path = tmp_path / "r.mcap"
    write(path, FACTS, stills(2), NOTES)
    with path.open("rb") as file:
        reader = make_reader(file, validate_crcs=True)
        (schema, channel, message), *_ = reader.iter_messages(topics=["/camera"])
    assert schema is not None
    assert (schema.name, schema.encoding, channel.message_encoding) == (
        "foxglove.CompressedImage",
        "protobuf",
        "protobuf",
    )
    theirs = CompressedImage()
    theirs.ParseFromString(message.data)
    assert (theirs.data, theirs.format, theirs.frame_id) == (picture(0), "jpeg", "table")
    wall_ns = theirs.timestamp.seconds * S + theirs.timestamp.nanos
    assert wall_ns == message.log_time == 100 * S + FACTS.wall_offset_ns
    described = FileDescriptorSet.FromString(schema.data)
    (ours,) = described.file[1].message_type
    official = {f.name: (f.number, f.type) for f in CompressedImage.DESCRIPTOR.fields}
    assert {f.name: (f.number, f.type) for f in ours.field} == official
    assert described.file[1].dependency == ["google/protobuf/timestamp.proto"] == [described.file[0].name]


@given(st.binary(min_size=1, max_size=400), st.integers(0, 2**62))
def test_a_picture_comes_out_of_its_message(jpeg: bytes, wall_ns: int) -> None:
    assert jpeg_of(image(wall_ns, jpeg)) == jpeg
    theirs = CompressedImage.FromString(image(wall_ns, jpeg))
    assert theirs.data == jpeg
    assert jpeg_of(theirs.SerializeToString()) == jpeg


@given(st.binary(max_size=60))
def test_a_message_that_is_none_is_a_value_error(noise: bytes) -> None:
    try:
        jpeg = jpeg_of(noise)
    except ValueError:
        return
    assert jpeg in noise


def test_the_schema_is_a_valid_set_of_descriptors() -> None:
    assert [f.package for f in FileDescriptorSet.FromString(IMAGE_SCHEMA).file] == ["google.protobuf", "foxglove"]


@given(part=st.floats(0, 1), flip=st.booleans())
def test_a_cut_or_damaged_recording_is_refused_or_reads_as_it_was(
    part: float, flip: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("cut")
    path = folder / "r.mcap"
    whole = stills(3)
    write(path, FACTS, whole, NOTES)
    raw = bytearray(path.read_bytes())
    at = min(len(raw) - 1, int(part * len(raw)))
    if flip:
        raw[at] ^= 0x10
    else:
        del raw[at:]
    path.write_bytes(raw)
    found, says = None, ""
    try:
        found = list(Recording.open(path).frames())
    except RecordingError as problem:
        says = str(problem)
    if found is None:
        assert str(path) in says
    else:
        assert flip
        assert [f.jpeg for f in found] == [s.jpeg for s in whole[: len(found)]]


def test_a_file_that_is_no_recording_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="tabled record list"):
        Recording.open(tmp_path / "none.mcap")
    from mcap.writer import Writer  # noqa: PLC0415  one strange file

    with (tmp_path / "other.mcap").open("wb") as file:
        writer = Writer(file)
        writer.start()
        writer.finish()
    with pytest.raises(RecordingError, match="not of tabled"):
        Recording.open(tmp_path / "other.mcap")


# -- the shelf ---------------------------------------------------------------------------------------


def shelf_with(folder: Path, sizes: list[int], quota: int, free: int = 10**15) -> Shelf:
    folder.mkdir()
    for n, size in enumerate(sizes):
        path = folder / f"{n}.mcap"
        path.write_bytes(b"x" * size)
        os.utime(path, ns=(n * S, n * S))
    return Shelf(folder, quota, lambda _: free)


def names(shelf: Shelf) -> list[str]:
    return [k.path.name for k in shelf.files()]


def test_the_oldest_that_nobody_protects_go_first_and_no_more_than_needed(tmp_path: Path) -> None:
    shelf = shelf_with(tmp_path / "r", [100] * 6, 600)
    (tmp_path / "r" / f"0.mcap{KEEP_SUFFIX}").touch()
    (tmp_path / "r" / f"2.mcap{LABELS_SUFFIX}").touch()
    shelf.make_room(150)
    assert names(shelf) == ["0.mcap", "2.mcap", "4.mcap", "5.mcap"]
    assert [k.protected for k in shelf.files()] == [True, True, False, False]


def test_where_it_would_not_help_nothing_is_deleted(tmp_path: Path) -> None:
    shelf = shelf_with(tmp_path / "r", [100] * 4, 400)
    for n in range(3):
        (tmp_path / "r" / f"{n}.mcap{KEEP_SUFFIX}").touch()
    with pytest.raises(ShelfFull, match="record_quota_mb"):
        shelf.make_room(150)
    assert len(names(shelf)) == 4


def test_what_the_journal_needs_is_left_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder_module, "FREE_BYTES", 1000)
    shelf = shelf_with(tmp_path / "r", [100] * 4, 10**9, free=1000)
    shelf.make_room(150)
    assert names(shelf) == ["2.mcap", "3.mcap"]
    with pytest.raises(ShelfFull, match="its disk has no room"):
        shelf.make_room(5000)
    assert names(shelf) == ["2.mcap", "3.mcap"]


def test_halves_of_a_killed_process_are_swept_and_those_of_a_living_one_stay(tmp_path: Path) -> None:
    shelf = shelf_with(tmp_path / "r", [], 1000)
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    dead, mine = tmp_path / "r" / f".a.mcap.{ended.pid}.part", tmp_path / "r" / f".b.mcap.{os.getpid()}.part"
    dead.touch()
    mine.touch()
    shelf.make_room(1)
    assert (dead.exists(), mine.exists()) == (False, True)


def test_two_recordings_of_one_second_have_two_names(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path, 1 << 30, lambda _: 10**15)
    made = [save(shelf, "20260131T120000Z", FACTS, stills(2), NOTES) for _ in range(2)]
    assert [Path(m.path).name for m in made] == ["20260131T120000Z-question.mcap", "20260131T120000Z-question-2.mcap"]
    assert Recording.open(Path(made[0].path)).facts.last_ns == 100 * S + PERIOD_NS


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EROFS])
def test_a_disk_that_refuses_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(_: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("tabled.sensing.recording.os.fsync", refuse)
    shelf = Shelf(tmp_path / "r", 1 << 30, lambda _: 10**15)
    with pytest.raises(RecordingError, match=r"\[camera\] record"):
        save(shelf, "20260131T120000Z", FACTS, stills(2), NOTES)
    assert list((tmp_path / "r").iterdir()) == []


def test_a_disk_that_is_full_in_the_middle_leaves_nothing_behind(tmp_path: Path) -> None:
    """A real limit of the kernel's, on the size of a file, in a process of its own."""
    code = (
        "import resource, signal, sys\n"
        "from pathlib import Path\n"
        "from tests.sensing.test_recorder import FACTS, NOTES, Shelf, save, stills\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "try:\n"
        "    save(Shelf(Path(sys.argv[1]), 1 << 30, lambda _: 10**15), 's', FACTS, stills(40), NOTES)\n"
        "except Exception as error:\n"
        "    print(type(error).__name__, error)\n"
    )
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "r")], cwd=root, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("RecordingError"), done.stderr
    assert "free some space" in done.stdout
    assert list((tmp_path / "r").iterdir()) == []


def test_the_size_that_room_is_made_for_holds_the_file(tmp_path: Path) -> None:
    many: list[Any] = stills(200)
    path = tmp_path / "r.mcap"
    assert write(path, FACTS, many, NOTES) <= sum(map(still_size, many)) + (1 << 20)
    assert MS
