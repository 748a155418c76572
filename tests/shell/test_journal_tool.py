"""``tabled journal``: what an officer of surveillance and other programs get to see."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result

from tabled.journal import Journal, JournalReader
from tabled.model.outcome import RulingIssued, Undo
from tabled.outlets.topics import Origin
from tabled.shell.cli import main
from tabled.shell.engine import Engine
from tabled.shell.rendering import renderer
from tests.core.driver import Bench

WALL = 1_790_000_000_000_000_000


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Bench]:
    """A journal with a raise, an out-of-turn chip and an undo."""
    bench = Bench(camera=True)
    bench.deal()
    bench.press("raise", 600, said_first=True)
    bench.trip("3", 500, 100)
    bench.wait(3000)
    bench.order(Undo(request="u", who="floor"))
    bench.press("raise", 600)
    bench.wait(3000)
    path = tmp_path_factory.mktemp("journal") / "table.journal"
    with Journal.open(path, epoch="epoch") as book:
        engine = Engine(book, renderer(Origin("test", "t1", "epoch")))
        for entry in bench.entries:
            engine.commit([entry], WALL + entry.at_ns)
    return path, bench


def run(*args: object) -> Result:
    return CliRunner().invoke(main, ["journal", *map(str, args)])


def finals(bench: Bench) -> list[tuple[int, RulingIssued]]:
    return [(p, o) for p, o in bench.outcomes if isinstance(o, RulingIssued) and o.status == "final"]


def damage(path: Path, copy: Path, pos: int) -> Path:
    copy.write_bytes(path.read_bytes())
    with contextlib.closing(sqlite3.connect(copy)) as db:
        db.execute("UPDATE entry SET wall_ns = wall_ns + 1 WHERE pos = ?", (pos,))
        db.commit()
    return copy


def test_a_ruling_is_shown_with_all_that_it_rests_on(written: tuple[Path, Bench]) -> None:
    path, bench = written
    position, issued = next((p, r) for p, r in finals(bench) if r.ruling.action == "raise")
    result = run("show", path, position)
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert lines[0] == f"ruling {position}, final, hand h1, street 1, act 1"
    assert "600" in lines[1]
    for pos in issued.evidence:
        assert sum(line.startswith(f"  #{pos}  ") for line in lines) == 1, f"evidence {pos} is shown once"
    text = result.output
    assert "key raise 600" in text
    assert "said first" in text
    assert "(bet of seat 3): 2 chip(s)" in text
    assert "hand (player) enters at seat 3" in text
    assert f"profile {issued.ruling.profile}" in text
    assert all(clause in text for clause in issued.ruling.cite)
    assert "corrected by ruling" in text, "the undo names it"
    touched = WALL + (issued.touched_from_ns or 0)
    assert f"{touched // 1_000_000 % 1000:03d} + " in text
    assert run("show", path, f"epoch/{position}").output == text


def test_a_correction_names_what_it_corrects(written: tuple[Path, Bench]) -> None:
    path, bench = written
    position, issued = next((p, r) for p, r in finals(bench) if r.corrects is not None)
    assert f"corrects ruling {issued.corrects}" in run("show", path, position, "--language", "sv").output


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("1", "is no ruling but of kind 'started'"),
        ("999999", "the journal ends at entry"),
        ("other/7", "of another journal"),
        ("abc", "is no ruling's id"),
        ("0", "is no ruling's id"),
        ("9" * 30, "is no ruling's id"),
    ],
)
def test_what_is_no_ruling_is_said(written: tuple[Path, Bench], name: str, says: str) -> None:
    result = run("show", written[0], name)
    assert result.exit_code == 1
    assert says in result.output
    assert len(result.output.strip().splitlines()) == 1


def test_verify_names_the_first_bad_entry(written: tuple[Path, Bench], tmp_path: Path) -> None:
    path, _ = written
    sound = run("verify", path)
    assert sound.exit_code == 0
    assert "entries are sound" in sound.output
    bad = run("verify", damage(path, tmp_path / "j", 9))
    assert bad.exit_code == 1
    assert "entry 9" in bad.output
    assert run("verify", tmp_path / "none").exit_code == 1


def test_an_export_has_every_entry_and_each_message(written: tuple[Path, Bench], tmp_path: Path) -> None:
    path, bench = written
    out = tmp_path / "all.jsonl"
    assert run("export", path, "--out", out).exit_code == 0
    rows = [msgspec.json.decode(line) for line in out.read_bytes().splitlines()]
    with JournalReader.open(path) as book:
        entries = list(book.read())
    assert [r["pos"] for r in rows] == [e.pos for e in entries]
    assert [r["hash"] for r in rows] == [e.hash.hex() for e in entries]
    assert [r["body"] for r in rows] == [msgspec.json.decode(e.body) for e in entries]
    rulings = [r for r in rows if r["kind"] == "ruling"]
    assert len(rulings) == len(bench.of(RulingIssued))
    assert all(r["messages"] for r in rulings)
    again = run("export", path, "--out", out)
    assert again.exit_code == 1
    assert "there already" in again.output
    assert run("export", path, "--after", len(rows) - 2).stdout.count("\n") == 2


def test_an_export_ends_at_damage_and_keeps_what_came_before(written: tuple[Path, Bench], tmp_path: Path) -> None:
    out = tmp_path / "some.jsonl"
    result = run("export", damage(written[0], tmp_path / "j", 9), "--out", out)
    assert result.exit_code == 1
    assert "entry 9" in result.output
    assert len(out.read_bytes().splitlines()) == 8
