"""The room's chip registry: all or nothing, every wrong row named, whole for every table or the last copy with "
"its age."""

from __future__ import annotations

import os
import sqlite3
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st

from calibration import registry as book
from calibration.plan import perform, step
from calibration.registry_commands import registry as command
from calibration.registry_csv import check, export
from calibration.steps import StepError
from hw_sim.exercise import Stand, Truth
from tabled.shell.config import load_registry
from tabled.shell.registry import Chip, Registry, RegistryError, Share, decode, load, read
from tests.calibration.robot import Robot, given

HOUR = 3_600 * 10**9
NOW = 1_800_000_000 * 10**9


def uid(n: int) -> str:
    return f"E0040150{n:08X}"


@pytest.fixture
def room(tmp_path: Path) -> Path:
    path = tmp_path / "room.chips"
    book.create(path, room="club", denominations=[25, 100, 500], wall_ns=1)
    return path


def fill(room: Path, count: int = 10) -> Registry:
    chips = {uid(n): Chip(25 if n % 2 else 100, "issued", "2026") for n in range(count)}
    return book.change(room, chips, who="test", wall_ns=NOW)


# -- changes -----------------------------------------------------------------------------------------


def test_what_is_written_is_read_and_every_change_is_remembered(room: Path) -> None:
    first = fill(room)
    assert (first.edition, len(first.chips), first.room, first.denominations) == (1, 10, "club", (25, 100, 500))
    second = book.change(room, {uid(3): Chip(25, "stolen", "2026")}, who="floor", wall_ns=NOW + 1)
    assert read(room) == second
    assert second.digest != first.digest
    assert second.barred() == {uid(3): "stolen"}
    assert uid(3) not in second.values()
    newest, older = book.log(room, uid(3))
    assert (newest.who, newest.was, newest.now) == ("floor", "25 issued 2026", "25 stolen 2026")
    assert (older.edition, older.was) == (1, "")


def test_a_change_that_changes_nothing_makes_no_edition(room: Path) -> None:
    before = fill(room)
    assert book.change(room, {uid(0): before.chips[uid(0)]}, who="test", wall_ns=NOW).edition == before.edition


def test_one_writer_at_a_time(room: Path) -> None:
    fill(room)
    before = room.read_bytes()
    with book._alone(room), pytest.raises(StepError, match="is changing it now; wait a moment") as caught:
        book.change(room, {uid(99): Chip(25)}, who="test", wall_ns=NOW)
    assert caught.value.code == "locked"
    assert room.read_bytes() == before
    assert len(fill(room, 11).chips) == 11  # the lock is gone again


def test_a_registry_is_made_once_and_of_known_denominations(room: Path, tmp_path: Path) -> None:
    with pytest.raises(StepError, match="is there already"):
        book.create(room, room="", denominations=[1], wall_ns=1)
    with pytest.raises(StepError, match="which chips has the room"):
        book.create(tmp_path / "other", room="", denominations=[], wall_ns=1)


# -- at the table ------------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@drawn(data=st.data())
def test_no_damaged_byte_is_taken_for_a_registry(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("room") / "room.chips"
    book.create(path, room="club", denominations=[25, 100], wall_ns=1)
    whole = fill(path, 40)
    raw = bytearray(path.read_bytes())
    if data.draw(st.booleans()):
        at = data.draw(st.integers(0, len(raw) - 1))
        raw[at] ^= data.draw(st.integers(1, 255))
    else:
        del raw[data.draw(st.integers(0, len(raw) - 1)) :]
    path.write_bytes(raw)
    try:
        found = read(path)
    except RegistryError as problem:
        says = str(problem)
        assert says.startswith(str(path))
    else:
        assert (found.chips, found.digest) == (whole.chips, whole.digest)


@pytest.mark.parametrize(
    ("sql", "value"),
    [
        ("UPDATE chips SET series = ?", b"\xff\xfe"),
        ("UPDATE about SET value = ? WHERE key = 'edition'", "x"),
        ("UPDATE about SET value = ? WHERE key = 'denominations'", "25-100"),
    ],
)
def test_damage_of_any_kind_leaves_the_copy_in_force(room: Path, tmp_path: Path, sql: str, value: object) -> None:
    fill(room)
    copy = tmp_path / "copy"
    good = load(room, copy, wall_ns=5)
    with sqlite3.connect(room) as base:
        base.execute(sql, (value,))
    base.close()
    with pytest.raises(RegistryError, match="restore it from its"):
        read(room)
    assert load(room, copy, wall_ns=6).chips == good.chips


def test_flipped_bits_are_refused_in_words(room: Path) -> None:
    whole, raw = fill(room), room.read_bytes()
    for at in (k for k in range(0, len(raw), 7) if raw[k]):
        for bit in (1, 8, 0x40, 0x80):
            try:
                found = decode(raw[:at] + bytes([raw[at] ^ bit]) + raw[at + 1 :], "r")
            except RegistryError:
                continue
            assert found.chips == whole.chips


def test_the_last_copy_holds_while_the_share_is_down_and_says_its_age(room: Path, tmp_path: Path) -> None:
    copy = tmp_path / "table.journal.chips"
    live = fill(room)
    assert load(room, copy, NOW) == live
    room.rename(tmp_path / "away")
    stale = load(room, copy, NOW + 3 * HOUR)
    assert (stale.chips, stale.copied_ns) == (live.chips, NOW)
    assert "cannot be read" in stale.why
    (tmp_path / "away").rename(room)
    newer = fill(room, 12)
    assert load(room, copy, NOW + 4 * HOUR) == newer
    assert len(read(copy).chips) == 12
    room.write_bytes(room.read_bytes()[:5000])  # half a file: somebody copied it by hand
    assert load(room, copy, NOW + 5 * HOUR).chips == newer.chips


def test_a_share_that_hangs_is_away_until_it_answers(room: Path, tmp_path: Path) -> None:
    whole, copy, share, hangs = fill(room), tmp_path / "copy", Share(0.2), tmp_path / "hangs"
    assert load(room, copy, 5, share).copied_ns is None
    os.mkfifo(hangs)  # whoever opens it waits
    for _ in range(3):
        found = load(hangs, copy, 6, share)
        assert (found.chips, found.copied_ns, "does not answer" in found.why) == (whole.chips, 5, True)
    assert sum(thread.name == "registry" for thread in threading.enumerate()) == 1
    hangs.write_bytes(room.read_bytes())
    patient = Share(60)
    patient._reading = share._reading
    assert load(hangs, copy, 7, patient).copied_ns is None


def test_without_file_and_copy_it_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(RegistryError, match=r"check the share .* no copy of an earlier day either"):
        load(tmp_path / "none", tmp_path / "copy", NOW)
    (tmp_path / "csv").write_text("uid,denomination\n")
    with pytest.raises(RegistryError, match="is no chip registry"):
        read(tmp_path / "csv")


# -- CSV ---------------------------------------------------------------------------------------------


def test_every_wrong_row_is_named_and_nothing_is_half_imported(room: Path) -> None:
    known = fill(room)
    text = (
        "uid,denomination,status,series\n"
        f"{uid(50)},25,,\n"
        f"{uid(50)},25,,\n"
        f"{uid(1)},500,,\n"
        "nonsense,25,,\n"
        f"{uid(51)},75,,\n"
        f"{uid(52)},25,lent,\n"
        f"{uid(53)},,,\n"
    )
    rows = check(text, known)
    assert rows.chips == {}
    says = "\n".join(rows.problems)
    for row, part in (
        (3, f"UID {uid(50)} stands in row 2 already"),
        (4, f"UID {uid(1)} is in the registry as 25 issued 2026"),
        (5, "is no UID of 16 hexadecimal digits"),
        (6, "75 is no denomination of this room (25, 100, 500)"),
        (7, "'lent' is no status"),
        (8, "is no denomination; write a whole number"),
    ):
        assert any(p.startswith(f"row {row}: ") and part in p for p in rows.problems), says
    assert len(rows.problems) == 6


@pytest.mark.parametrize(
    "text",
    [
        "",
        "denomination,uid\n",
        "uid,worth\n",
        "uid,denomination\n",
        'uid,denomination\n"x\n',
        f"uid,denomination\n{uid(60)},25,000\n",
        f"uid,denomination,denomination\n{uid(60)},25,100\n",
        f"uid;denomination\n{uid(60)};25\n",
    ],
)
def test_a_file_that_is_no_list_of_chips_is_refused(room: Path, text: str) -> None:
    assert check(text, read(room)).problems


chips = st.dictionaries(
    st.integers(0, 2**64 - 1).map(lambda n: f"{n:016X}"),
    st.builds(
        Chip,
        st.sampled_from([25, 100, 500]),
        st.sampled_from(["issued", "cage", "void", "stolen"]),
        st.text(st.characters(codec="utf-8", exclude_categories=("C",)), max_size=20).map(str.strip),
    ),
    min_size=1,
    max_size=20,
)


@settings(max_examples=50, deadline=None)
@drawn(held=chips)
def test_an_export_is_imported_as_it_was(held: dict[str, Chip]) -> None:
    full = Registry(chips=held, digest="", edition=1, changed_ns=0, denominations=(25, 100, 500))
    empty = Registry(chips={}, digest="", edition=0, changed_ns=0, denominations=(25, 100, 500))
    rows = check(export(full), empty)
    assert (rows.problems, rows.chips) == ((), held)
    assert check(export(full), full).unchanged == len(held)


def test_an_export_serves_a_table_without_a_registry(room: Path, tmp_path: Path) -> None:
    fill(room)
    known = book.change(room, {uid(2): Chip(100, "void", "2026")}, who="test", wall_ns=NOW)
    (tmp_path / "chips.csv").write_text(export(known))
    found = load_registry(tmp_path / "chips.csv")
    assert (found.values, found.barred) == (known.values(), {uid(2): "void"})


# -- the commands ------------------------------------------------------------------------------------


def run(*words: object, good: bool = True) -> Result:
    result = CliRunner().invoke(command, [str(word) for word in words])
    assert (result.exit_code == 0) is good, result.output
    return result


def test_the_commands_make_fill_bar_and_show(tmp_path: Path) -> None:
    room, csv = tmp_path / "room.chips", tmp_path / "new.csv"
    run("create", room, "--room", "club", "--denominations", "25,100")
    csv.write_text(f"uid,denomination\n{uid(1)},25\n{uid(2)},100\n")
    assert "2 chips written" in run("import", room, csv).output
    assert "2 rows were in the registry already" in run("import", room, csv).output
    assert (
        "UID E004015000000009 is not in the registry"
        in run("status", room, "stolen", uid(1), uid(9), good=False).output
    )
    assert read(room).barred() == {}
    assert "1 chips written" in run("status", room, "stolen", uid(1)).output
    assert read(room).barred() == {uid(1): "stolen"}
    shown = run("show", room).output
    assert "2 chips; 100 in play" in shown
    assert "25 issued -> 25 stolen" in run("show", room, "--uid", uid(1)).output
    run("export", room, tmp_path / "out.csv", "--status", "issued")
    assert (tmp_path / "out.csv").read_text() == f"uid,denomination,status,series\n{uid(2)},100,issued,\n"
    assert "cannot be read" in run("import", room, tmp_path / "none.csv", good=False).output
    csv.write_text(f"uid,denomination\n{uid(1)},77\n")
    assert "row 2: 77 is no denomination" in run("import", room, csv, good=False).output
    assert "write whole numbers" in run("create", tmp_path / "x", "--denominations", "a,b", good=False).output


# -- racks -------------------------------------------------------------------------------------------


def test_a_rack_is_enrolled_if_as_many_chips_answer_as_were_counted(tmp_path: Path, room: Path) -> None:
    which = step("chips")
    with Stand(tmp_path, Truth(stack={1: 0.15}), seats=2) as stand:
        robot, config = Robot(stand), stand.config()

        def enrol(count: int = 12, **more: object) -> None:
            options = {"registry": room, "place": "bet:1", "denomination": 25, "count": count, "series": "2026", **more}
            perform(which, robot, tmp_path / "c", given(which, config=config, **options))

        enrol(racks=2)
        assert sorted(read(room).chips) == sorted(stand.rack.uids[:24])
        assert set(read(room).chips.values()) == {Chip(25, "issued", "2026")}
        before = room.read_bytes()
        for extra, says in (
            (1, "13 chips answer on bet:1, 12 were stated"),
            (-1, "11 chips answer on bet:1, 12 were stated"),
        ):
            stand.extra = extra
            with pytest.raises(StepError, match=says) as caught:
                enrol()
            assert caught.value.code == "chip-count"
        stand.extra = 0
        stand.rack.next = 20  # chips that were enrolled a moment ago come again
        with pytest.raises(StepError, match="4 of the rack's 12 chips are in the registry already") as caught:
            enrol()
        assert caught.value.code == "known-chips"
        with pytest.raises(StepError, match="75 is no denomination of this room"):
            enrol(denomination=75)
        with pytest.raises(StepError, match="has no such antenna"):
            enrol(place="tray")
        assert room.read_bytes() == before
    assert which.done(tmp_path / "c").state == "done"
    assert not os.path.exists(f"{room}.lock")
