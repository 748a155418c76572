"""Every code that the law can emit exists in all three languages, with the same parameters."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import tabled
from tabled.model.ruling import Adjustment, Reason, Ruling
from tabled.outlets.wording import LANGUAGES, UnknownCode, announce, codes, say
from tabled.outlets.wording.catalogue import gaps

ROOT = Path(tabled.__file__).parent


def emitted(rooms: tuple[str, ...] = ("rules", "core", "fusion")) -> set[str]:
    """Literal codes given to Reason(...) anywhere in the pure code, and the plain parts of composed ones."""
    found: set[str] = set()
    for file in (f for room in rooms for f in (ROOT / room).rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Reason" and node.args:
                found |= _codes(node.args[0])
            elif isinstance(node, ast.Assign) and any(getattr(t, "id", "") == "code" for t in node.targets):
                found |= _codes(node.value)
    return found


def _codes(node: ast.expr) -> set[str]:
    """All string constants of an expression; an f-string gives what its parts can be."""
    if isinstance(node, ast.JoinedStr):
        return set()
    return {
        n.value
        for n in ast.walk(node)
        if isinstance(n, ast.Constant) and isinstance(n.value, str) and not _in_test(node, n)
    }


def _in_test(root: ast.expr, wanted: ast.Constant) -> bool:
    """Whether the constant only decides (in the condition of an if-expression) and is never the code."""
    return any(wanted in ast.walk(n.test) for n in ast.walk(root) if isinstance(n, ast.IfExp))


COMPOSED = (
    {"bet_cut", "raise_cut", "bet_short_number", "raise_short_number"}
    | {f"floor_ruled_{act}" for act in ("fold", "check", "call", "bet", "raise", "complete", "all_in", "bring_in")}
    | {f"departs_{verb}" for verb in ("check", "call", "bet", "raise", "complete")}
)


def test_every_code_is_in_every_language():
    wanted = emitted() | COMPOSED
    assert len(wanted) > 40
    for lang in LANGUAGES:
        assert not wanted - codes(lang), f"{lang}.toml lacks {sorted(wanted - codes(lang))}"


def test_the_three_catalogues_have_the_same_codes_and_gaps():
    for code in codes("en"):
        assert gaps("en", code) == gaps("sv", code) == gaps("nl", code), code
    assert codes("en") == codes("sv") == codes("nl")


@pytest.mark.parametrize(
    ("ruling", "en", "sv", "nl"),
    [
        (
            Ruling(seat="5", action="call", to=100, back=900, reason=Reason("call")),
            "Call. 900 back.", "Syn. 900 tillbaka.", "Call. 900 terug.",
        ),
        (
            Ruling(seat="5", action="raise", to=1000, add=200, reason=Reason("raise_lifted", {"to": 1000})),
            "Raise to 1000. 200 more, please.", "Höjning till 1000. 200 till, tack.",
            "Raise naar 1000. Nog 200 erbij.",
        ),
        (
            Ruling(seat="5", action="call", to=100, reason=Reason("string_call")),
            "String bet. The call stands.", "Stringbet. Det gäller som syn.", "String bet. Het is een call.",
        ),
        (
            Ruling(seat="7", action="held_out_of_turn", reason=Reason("held_out_of_turn", {"turn": "5"})),
            "Out of turn. Action back to seat 5.", "Utom tur. Tillbaka till plats 5.",
            "Voor je beurt. Terug naar stoel 5.",
        ),
    ],
)  # fmt: skip
def test_what_the_dealer_says(ruling, en, sv, nl):
    assert announce(ruling) == {"en": en, "sv": sv, "nl": nl}


def test_corrections_name_every_seat():
    ruling = Ruling(
        seat="2", action="corrected", to=1000, add=200, reason=Reason("corrected", {"to": 1000}),
        adjust=(Adjustment("3", 200), Adjustment("4", -50)),
    )  # fmt: skip
    assert announce(ruling)["en"] == "Corrected to 1000. 200 more, please. Seat 3: 200 more. Seat 4: 50 back."


def test_what_is_missing_is_named():
    with pytest.raises(UnknownCode, match="no_such_code"):
        say(Reason("no_such_code"), "en")
    with pytest.raises(UnknownCode, match="'to'"):
        say(Reason("raise"), "sv")
    with pytest.raises(UnknownCode, match="'fr'"):
        say(Reason("call"), "fr")
