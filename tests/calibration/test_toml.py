"""The two lines of table.toml are put in place, and nothing else is touched."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration.tabletoml import Unpatchable, antennas_line, neighbours_line, patched, to_paste

TEXT = """# our table
[table]
seats = 2   # two
neighbours = [
  ["bet:1", "bet:2"],
]

[[device]]
id = "a"    # the left one
antennas = { 1 = "bet:1" }
options = { x = [1, 2] }

[[device]]
antennas = { 1 = "bet:2" } # right
id = 'b'
"""
WHOLE = {("a", 1): "bet:2", ("b", 1): "bet:1"}


def test_the_lines_are_replaced_where_they_stand_and_comments_stay() -> None:
    found = patched(TEXT, WHOLE, [("bet:2", "tray")])
    assert found.count("#") == TEXT.count("#")
    tree = tomllib.loads(found)
    assert [d["antennas"] for d in tree["device"]] == [{"1": "bet:2"}, {"1": "bet:1"}]
    assert tree["table"] == {"seats": 2, "neighbours": [["bet:2", "tray"]]}
    assert tree["device"][0]["options"] == {"x": [1, 2]}


def test_what_is_not_there_is_added_and_none_leaves_the_neighbours() -> None:
    bare = '[[device]]\nid = "a"\nantennas = { 1 = "bet:1" }\n'
    tree = tomllib.loads(patched(bare, {("a", 1): "bet:2"}, []))
    assert (tree["table"]["neighbours"], tree["device"][0]["antennas"]) == ([], {"1": "bet:2"})
    assert tomllib.loads(patched(TEXT, WHOLE, None))["table"] == tomllib.loads(TEXT)["table"]


@pytest.mark.parametrize(
    "text",
    [
        '[[device]]\nid = "a"\n[device.antennas]\n1 = "bet:1"\n',
        'device = [{ id = "a", antennas = { 1 = "bet:1" } }]\n',
        '[[device]]\nid = "a"\nantennas.1 = "bet:1"\n',
    ],
)
def test_a_file_that_is_written_otherwise_is_refused_and_not_spoilt(text: str) -> None:
    with pytest.raises(Unpatchable):
        patched(text, {("a", 1): "bet:2"}, None)


@given(st.dictionaries(st.integers(1, 16), st.integers(1, 9).map(lambda n: f"bet:{n}"), min_size=1))
def test_the_line_says_what_it_was_given(antennas: dict[int, str]) -> None:
    assert tomllib.loads(antennas_line(antennas))["antennas"] == {str(n): p for n, p in antennas.items()}
    tree = tomllib.loads(patched(TEXT, {("a", n): p for n, p in antennas.items()}, [("bet:1", "bet:2")]))
    assert tree["device"][0]["antennas"] == {str(n): p for n, p in antennas.items()}


def test_lines_to_paste() -> None:
    said = to_paste(WHOLE, [("bet:1", "bet:2")])
    assert neighbours_line([("bet:1", "bet:2")]) in said
    assert said.count("[[device]]") == 2
