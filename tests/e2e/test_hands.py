"""Real hands through simulated serial hardware: bytes on pseudo-terminals in, rulings out of a real broker."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.house import HANDS, QUICK, House, tabled

pytestmark = pytest.mark.e2e


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    if not HANDS.is_file():
        pytest.skip(f"{HANDS} is not here: the real hands are not part of this repository")
    made = House(tmp_path, "--structure", "no-limit", "--speed", "12", "--hands-file", str(HANDS), fusion=QUICK)
    yield made
    made.close()


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_every_no_limit_hand_gets_the_rulings_and_pots_that_it_should(house: House) -> None:
    daemon = house.start_daemon()
    house.deal()
    house.sim.wait_for(r'"done"', timeout=800)
    results = house.results()
    assert len(results) >= 17
    wrong = [(r["hand"], r["discrepancies"]) for r in results if r["discrepancies"]]
    assert wrong == []
    assert all(len(r["observed"]) == len(r["expected"]) for r in results)
    assert daemon.end() == 0
    replayed = tabled("replay", str(house.journal), "--verify", timeout=300)
    assert replayed.returncode == 0, replayed.stderr
    assert "the same byte for byte" in replayed.stdout
