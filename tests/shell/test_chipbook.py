"""Of a room's registry the journal has what was seen here: before the look that names it, and again when it changes."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from calibration import registry as book
from firmware_bridge.wire import CleanEmpty, DeviceId, Present, Tag, TimeSpan
from tabled.core.entries import Known, Seen, Started, decode
from tabled.core.state import TableState
from tabled.journal import Journal
from tabled.outlets.health import say
from tabled.outlets.topics import Origin
from tabled.shell import chipbook
from tabled.shell.chipbook import ChipBook
from tabled.shell.config import Config, ConfigError, convert
from tabled.shell.daemon import Daemon, room_registry
from tabled.shell.engine import Engine, refold
from tabled.shell.registry import Chip, Registry, read
from tabled.shell.rendering import renderer

READER = DeviceId("reader")
HOUR = 3_600 * 10**9


def registry(**chips: Chip) -> Registry:
    return Registry(chips=chips, digest=str(sorted(chips.items())), edition=1, changed_ns=0)


def seen(*uids: str) -> Present:
    return Present(READER, TimeSpan(1, 2), 1, tuple(Tag(uid) for uid in uids))


ROOM = registry(A=Chip(25), B=Chip(100, "stolen"), C=Chip(500))


def test_a_chip_is_told_once_before_the_look_that_names_it() -> None:
    chips = ChipBook(ROOM)
    assert chips.begin(TableState()) == ({}, {})
    assert chips.before(CleanEmpty(READER, TimeSpan(1, 2), 1), 7) is None
    known = chips.before(seen("A", "B", "X"), 7)
    assert known == Known(at_ns=7, chips={"A": 25}, barred={"B": "stolen"}, registry=ROOM.digest)
    assert chips.before(seen("A", "X"), 8) is None
    again = chips.before(seen("A", "C"), 9)
    assert again is not None
    assert again.chips == {"C": 500}


def test_what_the_registry_says_otherwise_of_chips_seen_here_is_told() -> None:
    chips = ChipBook(ROOM)
    chips.before(seen("A", "B", "X"), 1)
    assert list(chips.renew(ROOM, 2)) == []
    (known,) = chips.renew(registry(A=Chip(25, "void"), C=Chip(1000), X=Chip(5)), 3)
    assert (known.chips, known.barred, known.unknown) == ({"X": 5}, {"A": "void"}, ("B",))
    assert list(chips.renew(registry(A=Chip(25, "void"), C=Chip(2000), X=Chip(5)), 4)) == []


def test_much_news_comes_in_inputs_of_bounded_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chipbook, "MAX_NEWS", 3)
    monkeypatch.setattr(chipbook, "MAX_TOLD", 8)
    many = registry(**{f"U{n}": Chip(25) for n in range(10)})
    chips = ChipBook(many)
    chips.before(seen(*many.chips), 1)
    assert chips.refused == 2
    barred = registry(**{f"U{n}": Chip(25, "void") for n in range(10)})
    assert [len(known.barred) for known in chips.renew(barred, 2)] == [3, 3, 2]


def test_a_stale_copy_is_noted_with_its_age() -> None:
    chips = ChipBook(ROOM)
    assert chips.notes(9 * HOUR) == ()
    chips = ChipBook(replace(ROOM, copied_ns=HOUR, why="share.chips: cannot be read"))
    (note,) = chips.notes(9 * HOUR)
    assert "the copy in use is 8 h old" in say(note, "en")
    assert "share.chips" in say(note, "sv")


# -- in the daemon -----------------------------------------------------------------------------------


def uid(n: int) -> str:
    return f"E0040150{n:08X}"


def config_with(folder: Path, **chips: str) -> Config:
    antennas = {"1": "bet:1", "2": "bet:2"}
    return convert(
        {
            "table": {"seats": 2},
            "chips": chips,
            "journal": {"file": str(folder / "j")},
            "device": [{"id": "reader", "driver": "feig", "port": "/dev/none", "antennas": antennas}],
        },
        "test",
    )


def test_a_table_names_a_file_or_a_registry_and_not_both(tmp_path: Path) -> None:
    for chips in ({}, {"file": "a", "registry": "b"}):
        with pytest.raises(ConfigError, match="give either file"):
            config_with(tmp_path, **chips)
    with pytest.raises(ConfigError, match="check the share"):
        room_registry(config_with(tmp_path, registry=str(tmp_path / "none")))


def test_a_room_of_a_hundred_thousand_chips_fits_a_table_and_its_journal_replays(tmp_path: Path) -> None:
    room = tmp_path / "room.chips"
    book.create(room, room="club", denominations=[25], wall_ns=1)
    book.change(room, {uid(n): Chip(25) for n in range(100_000)}, who="test", wall_ns=1)
    config = config_with(tmp_path, registry=str(room))

    async def play() -> None:
        daemon = Daemon(config, lambda _: None)
        daemon._journal = Journal.open(tmp_path / "j")
        daemon._origin = Origin("site", "table-1", daemon._journal.epoch)
        daemon._engine = Engine(daemon._journal, renderer(daemon._origin))
        assert daemon._chips is not None
        daemon._engine.commit([daemon._started()], 1)
        look = seen(uid(5), uid(99_999))
        known = daemon._chips.before(look, 5)
        assert known is not None
        daemon._engine.commit([known, Seen(at_ns=5, observation=look)], 2)
        book.change(room, {uid(5): Chip(25, "stolen")}, who="test", wall_ns=2)
        daemon._engine.commit(list(daemon._chips.renew(room_registry(config), 6)), 3)
        state = daemon._engine.state
        assert state.config is not None
        assert (state.config.chips, state.config.barred) == ({uid(99_999): 25}, {uid(5): "stolen"})
        entries = list(daemon._journal.read())
        assert max(len(entry.body) for entry in entries) < 100_000
        started = decode(entries[0].body)
        assert isinstance(started, Started)
        assert started.config.chips == {}
        refold(entries, renderer(daemon._origin))
        # The daemon starts again: what the journal has seen stands whole in the new start.
        values, barred = ChipBook(read(room)).begin(state)
        assert (values, barred) == ({uid(99_999): 25}, {uid(5): "stolen"})
        daemon._journal.close()

    asyncio.run(play())


def test_the_daemon_puts_the_registrys_word_before_the_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    room = tmp_path / "room.chips"
    book.create(room, room="club", denominations=[25], wall_ns=1)
    book.change(room, {uid(1): Chip(25)}, who="test", wall_ns=1)

    async def play() -> None:
        daemon = Daemon(config_with(tmp_path, registry=str(room)), lambda _: None)
        monkeypatch.setattr(daemon, "_readers", SimpleNamespace(notice=lambda _: None), raising=False)
        daemon._on_observation(seen(uid(1)))
        daemon._on_observation(seen(uid(1)))
        assert [type(entry) for entry in daemon._intake.take()] == [Known, Seen, Seen]

    asyncio.run(play())
