"""What goes wrong with a device is said with what to do, to whom it concerns, and stops being said when it is past."""

from __future__ import annotations

import string
from typing import Any

import msgspec
import pytest

from firmware_bridge.session.contract import Counters, Figures
from firmware_bridge.supervisor import DeviceHealth
from tabled.core import blind, looks
from tabled.model.ruling import Reason
from tabled.outlets.health import say, sentences
from tabled.outlets.messages import MAX_PAYLOAD, MAX_TOLD, render_health
from tabled.outlets.topics import Origin
from tabled.outlets.wording import LANGUAGES, UnknownCode, codes
from tabled.shell import health as health_module
from tabled.shell.health import RECENT_NS, HealthWatch, Report, figures
from tabled.shell.rendering import WORDING

S = 1_000_000_000
ORIGIN = Origin("test", "t1", "e")
FOR_DEALER = {"presses_dropped", "observations_undelivered", "inventories_dropped", "device_lost"}
FOR_TECHNICIAN = {"sweeps_over_bound", "writes_dropped", "clock_jumps", "device_note", "device_reboots"}


def device(**changes: Any) -> DeviceHealth:
    counted = {name: changes.pop(name) for name in ("over_bound", "dropped", "restarts") if name in changes}
    counters = Counters(**counted)
    measured = Figures(clock_jumps=changes.pop("clock_jumps", 0), sweep_ns=1_500_001)
    return DeviceHealth("reader", changes.pop("state", "up"), 0, counters, measured, **changes)


def told(reasons: tuple[Reason, ...]) -> list[tuple[str, object]]:
    return [(r.code, r.params.get("count")) for r in reasons]


@pytest.mark.parametrize(
    ("changes", "code", "for_dealer"),
    [
        ({"dropped": 3}, "presses_dropped", True),
        ({"undelivered": 3}, "observations_undelivered", True),
        ({"over_bound": 3}, "sweeps_over_bound", False),
        ({"write_dropped": 3}, "writes_dropped", False),
        ({"clock_jumps": 3}, "clock_jumps", False),
        ({"restarts": 3}, "device_reboots", False),
    ],
)
def test_a_counter_is_told_while_its_rise_is_recent(changes: dict[str, Any], code: str, for_dealer: bool) -> None:
    watch = HealthWatch()
    assert watch.report([device()], 0, 0) == Report()
    for now_ns in (1 * S, 30 * S, S + RECENT_NS - 1):
        report = watch.report([device(**changes)], 0, now_ns)
        assert told(report.faults if for_dealer else report.notes) == [(code, 3)]
        assert not (report.notes if for_dealer else report.faults)
    assert watch.report([device(**changes)], 0, S + RECENT_NS) == Report()
    more = dict.fromkeys(changes, 4)
    report = watch.report([device(**more)], 0, 2 * RECENT_NS)
    assert told(report.faults + report.notes) == [(code, 4)]


def test_thinned_inventories_are_told_and_then_past() -> None:
    watch = HealthWatch()
    assert told(watch.report([], 5, S).faults) == [("inventories_dropped", 5)]
    assert watch.report([], 5, S + RECENT_NS) == Report()


def test_a_lost_device_and_every_note_are_told_at_once_and_as_long_as_they_last() -> None:
    watch = HealthWatch()
    lost = device(state="lost", error="no answer", advice="Check its cable.", notes=("'reader': a name that moves.",))
    for now_ns in (0, 10 * RECENT_NS):
        report = watch.report([lost], 0, now_ns)
        (fault,) = report.faults
        assert fault.params == {"device": "reader", "why": "no answer", "advice": "Check its cable."}
        (note,) = report.notes
        assert note.params["note"] == "'reader': a name that moves."
    assert watch.report([device()], 0, 20 * RECENT_NS) == Report()


def test_the_figures_name_what_is_counted() -> None:
    made = figures(device(over_bound=2, write_dropped=1, undelivered=4, clock_jumps=5), 3 * S)
    assert made["counters"] == {"over_bound": 2, "write_dropped": 1, "undelivered": 4, "clock_jumps": 5}
    assert (made["for_ms"], made["sweep_ms"], made["worst_sweep_ms"]) == (3000, 2, None)


# -- sentences ---------------------------------------------------------------------------------------


def gaps(sentence: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(sentence) if name}


def test_the_catalogues_have_the_same_codes_and_gaps_and_none_of_the_tables_own() -> None:
    english = sentences("en")
    for lang in LANGUAGES:
        assert {k: gaps(v) for k, v in sentences(lang).items()} == {k: gaps(v) for k, v in english.items()}
        assert not set(sentences(lang)) & codes(lang)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_reason_about_a_device_has_its_sentence(lang: str) -> None:
    named = {v for k, v in vars(health_module).items() if k.isupper() and isinstance(v, str)}
    assert named == FOR_DEALER | FOR_TECHNICIAN
    params: dict[str, int | str] = {"device": "r", "count": 2, "note": "n", "seat": "3", "antenna": 4, "why": "w"}
    params |= {"antennas": "1, 2"}
    for code in named | {*looks.CODES, *blind.CODES}:
        assert say(Reason(code, params), lang)
    assert say(Reason("post_missing", {"seat": "3", "amount": 50}), lang)
    with pytest.raises(UnknownCode, match="needs the parameter"):
        say(Reason("look_overdue", {}), lang)
    with pytest.raises(UnknownCode):
        say(Reason("no_such_code"), lang)


# -- the message -------------------------------------------------------------------------------------


def rendered(**what: Any) -> dict[str, Any]:
    payload = render_health("online", 1, origin=ORIGIN, wording=WORDING, **what)
    assert len(payload) <= MAX_PAYLOAD
    data: dict[str, Any] = msgspec.json.decode(payload)["data"]
    return data


def test_notes_and_figures_stand_beside_the_faults_and_not_among_them() -> None:
    data = rendered(
        faults=[Reason("presses_dropped", {"device": "panel", "count": 2})],
        notes=[Reason("device_note", {"device": "reader", "note": "slow adapter"})],
        devices=[figures(device(), S)],
    )
    assert [f["code"] for f in data["faults"]] == ["presses_dropped"]
    assert data["notes"][0]["texts"]["sv"] == "För teknikern: slow adapter"
    assert data["devices"][0]["id"] == "reader"
    assert "untranslated" not in data


def test_a_health_message_too_long_to_send_keeps_its_faults() -> None:
    faults = [Reason("device_lost", {"device": f"d{n}", "why": "w" * 200, "advice": "a" * 200}) for n in range(40)]
    notes = [Reason("device_note", {"device": f"d{n}", "note": "n" * 200}) for n in range(40)]
    many = [{**figures(device(error="e" * 240, advice="a" * 240), S), "id": f"d{n}"} for n in range(64)]
    data = rendered(faults=faults, notes=notes, devices=many)
    assert len(data["faults"]) == MAX_TOLD
    assert data["untold"] == 2 * (40 - MAX_TOLD)
    assert data["cut"][0] == "devices"
