"""One HTML file with everything inside, under the hash that the rulings carry."""

from __future__ import annotations

import base64
import re
from pathlib import Path

import cv2
import numpy as np
from click.testing import CliRunner

from calibration import report
from calibration.cli import calibrate
from calibration.files import save
from calibration.outcomes import keep
from calibration.pictures import png
from calibration.steps import Figure, Outcome, Picture
from tabled.model.calibration import CameraTime, Dealer, Dealers
from tabled.sensing import sections

WALL = 1_800_000_000 * 10**9


def fill(folder: Path, offset_ns: int = 5) -> str:
    """Two sections and the outcome of one; the hash."""
    save(folder, CameraTime(offset_ns=offset_ns, spread_ns=1, readout_ns=1, exposure_ns=1))
    save(folder, Dealers(dealers=(Dealer(name="Anna", reaction_min_ms=1, reaction_max_ms=2, presses=20),)))
    image = np.full((20, 30, 3), 200, np.uint8)
    outcome = Outcome(
        summary="put right by <5> ms",
        figures=(
            Figure(label="Known to", value="± 9 ms", good=False),
            Figure(label="Placements", value="30", good=True),
        ),
        pictures=(Picture(name="offset", caption="What each placement allows", png=png(image)),),
        warnings=("more placements & less hands",),
    )
    keep(folder, "time", outcome)
    return sections.load(folder).digest


def test_everything_is_in_one_file_and_nothing_outside(tmp_path: Path) -> None:
    digest = fill(tmp_path)
    path = report.save(tmp_path, WALL)
    assert path.name == f"report-{digest[:12]}.html"
    text = path.read_text()
    assert digest in text
    assert "2027-01-15" in text
    assert "put right by &lt;5&gt; ms" in text
    assert "more placements &amp; less hands" in text
    assert not re.findall(r'(?:src|href)="(?!data:image/png;base64,|#)', text)
    assert "<script" not in text
    (data,) = re.findall(r"data:image/png;base64,([A-Za-z0-9+/=]+)", text)
    assert cv2.imdecode(np.frombuffer(base64.b64decode(data), np.uint8), cv2.IMREAD_COLOR).shape == (20, 30, 3)


def marks(folder: Path) -> dict[str, str]:
    text = report.page(folder, sections.load(folder), WALL)
    return dict(re.findall(r'<section id="(\w+)">.*?<span class="mark \w+">([^<]+)</span>', text, re.DOTALL))


def test_what_is_not_done_or_not_good_is_marked(tmp_path: Path) -> None:
    fill(tmp_path)
    found = marks(tmp_path)
    assert (found["lens"], found["time"], found["dealer"], found["chips"]) == (
        "not done",
        "look",
        "no figures",
        "not done",
    )
    keep(tmp_path, "time", Outcome(summary="good", figures=(Figure(label="a", value="b", good=True),)))
    assert marks(tmp_path)["time"] == "measured"


def test_a_new_calibration_has_a_new_report_and_the_old_one_stays(tmp_path: Path) -> None:
    fill(tmp_path)
    first = report.save(tmp_path, WALL)
    fill(tmp_path, offset_ns=6)
    second = report.save(tmp_path, WALL)
    assert first != second
    assert first.exists()
    assert second.exists()


def test_a_picture_that_is_gone_is_said(tmp_path: Path) -> None:
    fill(tmp_path)
    (tmp_path / "plots" / "time-offset.png").unlink()
    assert "its picture is gone" in report.page(tmp_path, sections.load(tmp_path), WALL)


def test_nothing_measured_is_nothing_to_report(tmp_path: Path) -> None:
    result = CliRunner().invoke(calibrate, ["report", "--folder", str(tmp_path)])
    assert (result.exit_code, "nothing was measured yet" in result.output) == (2, True)


def test_the_command_writes_it(tmp_path: Path) -> None:
    digest = fill(tmp_path)
    result = CliRunner().invoke(calibrate, ["report", "--folder", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert result.output.strip() == str(tmp_path / f"report-{digest[:12]}.html")
    (tmp_path / "time.json").write_text("broken")
    result = CliRunner().invoke(calibrate, ["report", "--folder", str(tmp_path)])
    assert (result.exit_code, "time.json" in result.output) == (2, True)
