"""``table.toml`` and the chip registry: every mistake is one line that says what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from tabled.model.layout import Place
from tabled.shell.config import ConfigError, layout_of, load, load_chips, neighbours_of

GOOD = """
[table]
site = "club"
name = "t7"
seats = 2
profile = "swedish"
[chips]
file = "chips.csv"
[journal]
file = "t7.journal"
[mqtt]
broker = "mqtt://127.0.0.1:1883"
websocket = "ws://127.0.0.1:9001"
[fusion]
motion_close_ms = 700
[[device]]
id = "reader"
driver = "feig"
port = "/dev/ttyUSB0"
antennas = { 1 = "bet:1", 2 = "bet:2" }
[[device]]
id = "panel"
driver = "panel"
port = "/dev/ttyACM0"
"""


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "table.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_good_file_loads_and_its_paths_are_relative_to_it(tmp_path: Path) -> None:
    config = load(write(tmp_path, GOOD))
    assert config.table.name == "t7"
    assert config.chips.file == str(tmp_path / "chips.csv")
    assert config.fusion.motion_close_ms == 700
    assert layout_of(config).place_of("reader", 2) == Place("bet", "2")


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        (('site = "club"', 'sight = "club"'), ["unknown key `sight`", "in table"]),
        (("seats = 2", 'seats = "two"'), ["in table.seats", "Expected `int`"]),
        (("seats = 2", "seats = 12"), ["in table.seats"]),
        (("seats = 2", "seats = 3"), ["no antenna covers the bets of seat 3"]),
        (('file = "t7.journal"', ""), ["key `file` is missing", "in journal"]),
        (('"bet:2"', '"bet:9"'), ["no seat 9", "device reader, antenna 2"]),
        (('"bet:2"', '"bett:2"'), ["no place"]),
        (('"bet:2"', '"bet:1"'), ["covered by antenna 1 of reader already"]),
        (('id = "panel"', 'id = "reader"'), ["two devices are called 'reader'"]),
        (("motion_close_ms = 700", "motion_close_ms = 0"), ["motion_close_ms must be positive"]),
        (("motion_close_ms = 700", "one_motion_ms = 9000"), ["must not be larger than two_motions_ms"]),
        (("[fusion]", "[fusion"), ["not valid TOML"]),
        (('name = "t7"', 'name = "t 7#"'), ["in table.name"]),
        (('name = "t7"', 'name = "t.7"'), ["in table.name"]),
        (('name = "t7"', 'name = "t7"\nlanguage = "xx"'), ["in table.language"]),
        (('websocket = "ws://127.0.0.1:9001"\n', ""), ["needs the broker's WebSockets address", "[mqtt] websocket"]),
        (('2 = "bet:2"', '"²" = "bet:2"'), ["antennas are numbered from 1 to 64"]),
        (("seats = 2", 'seats = 2\nneighbours = [["bet:1", "bet:7"]]'), ["neighbours", "'bet:7'", "no antenna covers"]),
        (("seats = 2", 'seats = 2\nneighbours = ["bet:1"]'), ["in table.neighbours"]),
        (('port = "/dev/ttyUSB0"', 'port = "/dev/tty\\u0000"'), ["NUL character"]),
    ],
)
def test_a_mistake_is_one_line_that_names_the_key(tmp_path: Path, change: tuple[str, str], wanted: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        load(write(tmp_path, GOOD.replace(*change)))
    text = str(caught.value)
    assert "\n" not in text
    assert "table.toml" in text
    for part in wanted:
        assert part in text


TWO_READERS = GOOD.replace("seats = 2", "seats = 4").replace(
    'antennas = { 1 = "bet:1", 2 = "bet:2" }\n',
    'antennas = { 1 = "bet:1", 2 = "bet:2" }\n[[device]]\nid = "other"\ndriver = "feig"\nport = "/dev/ttyUSB1"\n'
    'antennas = { 1 = "bet:3", 2 = "bet:4", 3 = "pot" }\n',
)


def test_seats_side_by_side_are_neighbours_and_those_of_two_readers_are_told_to_the_bridge(tmp_path: Path) -> None:
    layout = layout_of(load(write(tmp_path, TWO_READERS)))
    assert layout.beside(Place("bet", "2")) == (Place("bet", "1"), Place("bet", "3"), Place("pot"))
    assert layout.beside(Place("bet", "4")) == (Place("bet", "3"), Place("pot"))
    assert set(neighbours_of(layout)) == {
        (("reader", 2), ("other", 1)),
        (("reader", 1), ("other", 3)),
        (("reader", 2), ("other", 3)),
    }


@pytest.mark.parametrize(("text", "pairs"), [("[]", 0), ('[["bet:1", "bet:4"], ["bet:1", "bet:2"]]', 1)])
def test_neighbours_can_be_named(tmp_path: Path, text: str, pairs: int) -> None:
    layout = layout_of(load(write(tmp_path, TWO_READERS.replace("seats = 4", f"seats = 4\nneighbours = {text}"))))
    assert len(neighbours_of(layout)) == pairs
    assert (("reader", 1), ("other", 2)) in neighbours_of(layout) or not pairs


def test_a_missing_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        load(tmp_path / "none.toml")


def test_no_device_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no \[\[device\]\]"):
        load(write(tmp_path, 'device = []\n[chips]\nfile="c"\n[journal]\nfile="j"\n'))


CHIPS = "uid,denomination\nE004015000000001,25\nE004015000000002,100\n"


def chips(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "chips.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_chips_load(tmp_path: Path) -> None:
    assert load_chips(chips(tmp_path, CHIPS)) == {"E004015000000001": 25, "E004015000000002": 100}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", "row 1 must be the header"),
        ("tag,value\n", "row 1 must be the header"),
        (CHIPS + "E004015000000001,25\n", "row 4: UID E004015000000001 stands in the file twice"),
        (CHIPS + "E00401500000000G,25\n", "row 4"),
        (CHIPS + "E004015000000003,0\n", "row 4"),
        (CHIPS + "E004015000000003,-5\n", "row 4"),
        (CHIPS + "E004015000000003\n", "row 4"),
        (CHIPS + "E004015000000003,2.5\n", "row 4"),
        (CHIPS + "E004015000000003," + "9" * 5000 + "\n", "row 4"),
        (CHIPS + "E004015000000003," + "x" * 140_000 + "\n", "row 4"),
        ("uid,denomination\n", "holds no chip"),
    ],
)
def test_a_damaged_registry_is_refused_with_the_row(tmp_path: Path, text: str, wanted: str) -> None:
    with pytest.raises(ConfigError, match=wanted):
        load_chips(chips(tmp_path, text))


def test_a_registry_that_is_not_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "chips.csv"
    path.write_bytes(b"uid,denomination\n\xff\xfe\n")
    with pytest.raises(ConfigError, match="not UTF-8"):
        load_chips(path)
