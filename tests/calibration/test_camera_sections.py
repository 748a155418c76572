"""Calibration files: read back as written; damaged, foreign, newer and hand-edited ones refused by field."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration import files
from tabled.model.calibration import (
    AntennaRead,
    Antennas,
    CameraTime,
    Colour,
    Dealer,
    Dealers,
    Lens,
    Marker,
    Palette,
    Plane,
    Point,
    Zone,
    Zones,
)
from tabled.sensing import sections
from tabled.sensing.sections import CalibrationError

LENS = Lens(
    width_px=1280,
    height_px=720,
    fx_upx=900_000_000,
    fy_upx=901_000_000,
    cx_upx=640_000_000,
    cy_upx=360_000_000,
    distortion_e9=(-300_000_000, 100_000_000, 0, 0, 0),
    rms_upx=150_000,
    views=20,
)
PLANE = Plane(
    rotation_nrad=(3_141_592_654, 0, 0),
    translation_um=(0, 0, 1_500_000),
    markers=(Marker(id=1, corners=(Point(0, 0),), seen_upx=((1, 2),)),),
    residual_um=400,
)
BET = Zone(
    kind="bet",
    seat="1",
    outline=(Point(0, 0), Point(1000, 0), Point(0, 1000)),
    line=(Point(0, 0), Point(1000, 0)),
)
ZONES = Zones(zones=(BET,), dealer=Point(0, 900_000))
PALETTE = Palette(colours=(Colour(denomination=100, lab_e3=(1, 2, 3), spread_e3=900),), felt_lab_e3=(4, 5, 6))
TIME = CameraTime(offset_ns=-5, spread_ns=1, readout_ns=2, exposure_ns=3)
READ = AntennaRead(device="r", antenna=1, place="bet:1", lone_miss_ppm=1, stack_miss_ppm=2, sweep_ns=3)
ANTENNAS = Antennas(antennas=(READ,))
DEALERS = Dealers(dealers=(Dealer(name="Åsa", reaction_min_ms=1, reaction_max_ms=2, presses=3),))
ALL: tuple[sections.Section, ...] = (LENS, PLANE, ZONES, PALETTE, TIME, ANTENNAS, DEALERS)


@pytest.mark.parametrize("value", ALL, ids=lambda v: type(v).__name__)
def test_what_is_written_is_read_back(value: sections.Section) -> None:
    name = sections.section_of(value)
    raw = sections.encode(value)
    assert sections.decode(raw, name) == value
    envelope = json.loads(raw)
    body = json.dumps(envelope["body"], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert envelope["sha256"] == hashlib.sha256(body.encode()).hexdigest()
    assert (envelope["tabled"], envelope["schema"]) == (name, 1)


def test_a_folder_is_loaded_with_a_digest_that_every_section_moves(tmp_path: Path) -> None:
    digests = [sections.load(tmp_path).digest]
    assert digests == [""]
    for value in ALL:
        files.save(tmp_path, value)
        digests.append(sections.load(tmp_path).digest)
    assert len(set(digests)) == len(digests)
    loaded = sections.load(tmp_path)
    assert (loaded.lens, loaded.plane, loaded.dealers) == (LENS, PLANE, DEALERS)
    indented_otherwise = json.dumps(json.loads((tmp_path / "lens.json").read_text()))
    (tmp_path / "lens.json").write_text(indented_otherwise)
    assert sections.load(tmp_path).digest == loaded.digest


def _sealed(section: str, body: Any, **over: Any) -> bytes:
    canonical = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    whole = {
        "tabled": section,
        "schema": 1,
        "body": body,
        "sha256": hashlib.sha256(canonical.encode()).hexdigest(),
        **over,
    }
    return json.dumps(whole).encode()


def _lens_body(**over: Any) -> dict[str, Any]:
    return {**msgspec.to_builtins(LENS), **over}


@pytest.mark.parametrize(
    ("raw", "section", "field", "reason"),
    [
        (sections.encode(LENS)[:-40], "lens", "", "not whole"),
        (b"", "lens", "", "not whole"),
        (b"[" * 100_000, "lens", "", "not whole"),
        (b"[]", "lens", "", "no object"),
        (sections.encode(LENS), "plane", "tabled", "another section"),
        (sections.encode(LENS).replace(b"900000000", b"900000001"), "lens", "sha256", "not as it was written"),
        (_sealed("lens", _lens_body(), schema=2), "lens", "schema", "newer"),
        (_sealed("lens", _lens_body(), schema=0), "lens", "schema", "no version"),
        (_sealed("lens", _lens_body(), schema=True), "lens", "schema", "no version"),
        (_sealed("lens", _lens_body(), sha256="x"), "lens", "sha256", "no checksum"),
        (_sealed("lens", []), "lens", "body", "no object"),
        (_sealed("lens", _lens_body(fx_upx="wide")), "lens", "fx_upx", "expected `int`"),
        (_sealed("lens", _lens_body(fx_upx=-1)), "lens", "fx_upx", "more than 0"),
        (_sealed("lens", _lens_body(cx_upx=-1)), "lens", "cx_upx", "outside the picture"),
        (_sealed("lens", _lens_body(rms_upx=0.25)), "lens", "rms_upx", "whole numbers"),
        (_sealed("lens", _lens_body(views=None)), "lens", "views", "whole numbers"),
        (_sealed("lens", _lens_body(zoom=3)), "lens", "zoom", "no field"),
        (_sealed("lens", _lens_body(distortion_e9=[1, 2])), "lens", "distortion_e9", "has 2 numbers"),
        (_sealed("lens", _lens_body(views=1 << 60)), "lens", "views", "out of range"),
        (_sealed("time", {"offset_ns": 1}), "time", "", "missing required field `spread_ns`"),
        (b"x" * (sections.MAX_BYTES + 1), "lens", "", "larger"),
    ],
)
def test_a_damaged_file_is_refused_with_field_reason_and_what_to_do(
    raw: bytes, section: sections.SectionName, field: str, reason: str
) -> None:
    with pytest.raises(CalibrationError) as refusal:
        sections.decode(raw, section)
    said = str(refusal.value)
    assert refusal.value.field == field
    assert refusal.value.section == section
    assert reason in said
    assert said.startswith(f"{section}.json: ")
    assert f"tabled calibrate {section}" in said or "upgrade tabled" in said
    assert "\n" not in said


@pytest.mark.parametrize(
    ("value", "field"),
    [
        (Zones(zones=(BET, BET), dealer=Point(0, 0)), "zones[1]"),
        (Zones(zones=(msgspec.structs.replace(BET, seat=""),), dealer=Point(0, 0)), "zones[0].seat"),
        (Zones(zones=(msgspec.structs.replace(BET, line=()),), dealer=Point(0, 0)), "zones[0].line"),
        (
            Zones(zones=(msgspec.structs.replace(BET, outline=(Point(0, 0),) * 3),), dealer=Point(0, 0)),
            "zones[0].outli",
        ),
        (Zones(zones=(), dealer=Point(10_000_001, 0)), "dealer"),
        (msgspec.structs.replace(PLANE, markers=PLANE.markers * 2), "markers[1].id"),
        (msgspec.structs.replace(PLANE, translation_um=(0, 0, -1)), "translation_um[2]"),
        (Palette(colours=PALETTE.colours * 2, felt_lab_e3=(1, 2, 3)), "colours[1].denomination"),
        (Antennas(antennas=(READ, READ)), "antennas[1]"),
        (Antennas(antennas=(msgspec.structs.replace(READ, lone_miss_ppm=1_000_001),)), "antennas[0].lone_miss_ppm"),
        (Dealers(dealers=(Dealer(name="x" * 65, reaction_min_ms=1, reaction_max_ms=2, presses=3),)), "dealers[0].name"),
        (
            Dealers(dealers=(Dealer(name="x", reaction_min_ms=3, reaction_max_ms=2, presses=3),)),
            "dealers[0].reaction_m",
        ),
        (msgspec.structs.replace(TIME, spread_ns=-1), "spread_ns"),
    ],
)
def test_parts_that_do_not_fit_together_are_neither_written_nor_read(
    value: sections.Section, field: str, tmp_path: Path
) -> None:
    with pytest.raises(CalibrationError) as refusal:
        files.save(tmp_path, value)
    assert refusal.value.field.startswith(field)
    assert list(tmp_path.iterdir()) == []
    name = sections.section_of(value)
    with pytest.raises(CalibrationError) as refusal:
        sections.decode(_sealed(name, msgspec.to_builtins(value)), name)
    assert refusal.value.field.startswith(field)


@given(st.integers(0, 10_000), st.binary(min_size=1, max_size=3))
def test_no_damage_gives_another_value(at: int, bytes_: bytes) -> None:
    raw = sections.encode(ZONES)
    at %= len(raw)
    damaged = raw[:at] + bytes_ + raw[at + len(bytes_) :]
    try:
        assert sections.decode(damaged, "zones") == ZONES
    except CalibrationError:
        assert damaged != raw


def test_an_old_schema_is_raised_step_by_step_and_a_gap_refused() -> None:
    body = _lens_body()
    body["focal"] = body.pop("fx_upx") // 1000
    del body["fy_upx"]
    raw = _sealed("lens", body)

    def second(old: dict[str, Any]) -> dict[str, Any]:
        return {**old, "fx_upx": old["focal"] * 1000}

    def third(old: dict[str, Any]) -> dict[str, Any]:
        new = {**old, "fy_upx": old["fx_upx"]}
        del new["focal"]
        return new

    found = sections.decode(raw, "lens", schema=3, upgrades={("lens", 1): second, ("lens", 2): third})
    assert found == msgspec.structs.replace(LENS, fy_upx=LENS.fx_upx)
    with pytest.raises(CalibrationError, match="schema 2 is too old"):
        sections.decode(raw, "lens", schema=3, upgrades={("lens", 1): second})


def test_a_missing_folder_and_an_unreadable_file_say_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(CalibrationError, match="tabled calibrate --folder"):
        sections.load(tmp_path / "none")
    (tmp_path / "plane.json").mkdir()
    with pytest.raises(CalibrationError, match=r"plane\.json: cannot be read .*readable"):
        sections.load(tmp_path)


def test_the_file_before_is_kept_and_equal_bytes_change_nothing(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "a.json"
    files.write(path, b"one")
    files.write(path, b"two")
    files.write(path, b"two")
    assert path.read_bytes() == b"two"
    assert path.with_name("a.json.bak").read_bytes() == b"one"
    assert sorted(p.name for p in path.parent.iterdir()) == ["a.json", "a.json.bak"]


@pytest.mark.parametrize("call", ["fsync", "replace", "link"])
def test_a_write_that_fails_anywhere_leaves_the_old_file(
    call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.json"
    files.write(path, b"one")

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, call, full)
        if call == "link":  # a disk without hard links: the old file is copied instead
            files.write(path, b"two")
            assert path.with_name("a.json.bak").read_bytes() == b"one"
            return
        with pytest.raises(files.FilesError, match=r"untouched.*repeat the step"):
            files.write(path, b"two")
    assert path.read_bytes() == b"one"
    assert not [p for p in tmp_path.iterdir() if p.name.startswith(".")]
