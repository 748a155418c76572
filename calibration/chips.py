"""What the step "chips" does: a rack on an antenna becomes rows of the registry, if as many answer as were counted.

A chip that answers once may be a ghost, and a chip that is missed may be there: chips are counted once they have
answered `ANSWERS` times, and the looks go on until the count stands still.
"""

from __future__ import annotations

import getpass
from collections import Counter
from pathlib import Path

from calibration import registry
from calibration.bench import Bench, config_from
from calibration.given import number
from calibration.looks import Looks, Spot
from calibration.steps import Figure, Given, Outcome, StepError, Talk
from calibration.survey import LIT, place_name, spot_name
from tabled.shell.clock import wall_ns
from tabled.shell.registry import Chip, Registry

ANSWERS = 3
"""A ghost in a thousand looks does not come three times under one UID."""
LOOKS = 60
MOST_LOOKS = 300
MAX_SHOWN = 6


def run(talk: Talk, folder: Path, given: Given) -> Outcome:
    """Enrol racks; see `calibration.step_chips`."""
    del folder  # the registry is the room's, not this table's
    config = config_from(given["config"])
    book = Path(given["registry"] or config.chips.registry)
    if not given["registry"] and not config.chips.registry:
        raise StepError(
            "which registry? give it with --registry, or set [chips] registry in table.toml", code="registry"
        )
    worth = number(given, "denomination", 1, 10**9)
    count, racks = number(given, "count", 1, 250), number(given, "racks", 1, 1000)
    now = registry.known(book)
    if worth not in now.denominations:
        listed = ", ".join(str(d) for d in now.denominations)
        raise StepError(f"{worth} is no denomination of this room ({listed}); read the chip again", code="denomination")
    enrolled: list[str] = []
    place = given["place"]
    spots = [(d.id, int(n)) for d in config.device for n, p in d.antennas.items() if p == place]
    if not spots:
        raise StepError(f"--place {place}: table.toml has no such antenna; take one that it has", code="place")
    with Bench(config, only=spots[0]) as bench:
        for rack in range(1, racks + 1):
            uids = _rack(bench, talk, spots[0], place, count, f"rack {rack} of {racks}")
            now = _enrol(book, uids, Chip(worth, "issued", given["series"]))
            enrolled += uids
            talk.say(f"  {count} chips of {worth} enrolled; the registry has {len(now.chips)}.")
    return Outcome(
        summary=f"{len(enrolled)} chips of {worth} enrolled in {book.name}, edition {now.edition}",
        figures=(
            Figure(label="Chips in the registry", value=str(len(now.chips))),
            Figure(label="In play", value=str(sum(c.status == "issued" for c in now.chips.values()))),
            Figure(label="Sum over all chips", value=now.digest[:16]),
        ),
    )


def _rack(  # noqa: PLR0917 - each is another thing
    bench: Bench, talk: Talk, spot: Spot, place: str, count: int, name: str
) -> list[str]:
    """The UIDs of one rack, exactly ``count``; raises `StepError` if another number answers."""
    talk.ask(f"Clear the felt: no chip may lie on {spot_name(spot)}.", ["done"], "done")
    left = bench.gather(ANSWERS * 2, talk).homes()
    if any(share > LIT for _, share in left.values()):
        says = f"a chip lies on {place_name(place)} already ({min(left)})"
        raise StepError(f"{says}; take it away and repeat the step", code="not-clear")
    talk.ask(f"Put {count} chips on the middle of {place_name(place)} ({place}): {name}.", ["done"], "done")
    found = bench.gather(LOOKS, talk, "looks at the rack")
    taken, before = LOOKS, -1
    while len(uids := _surely(found, spot)) < count and taken < MOST_LOOKS:
        taken += LOOKS
        found = bench.more(taken, talk, "looks at the rack")
    while len(uids) != before and len(uids) >= count:  # one more may come late
        before, taken = len(uids), taken + LOOKS
        found = bench.more(taken, talk, "looks at the rack")
        uids = _surely(found, spot)
    if len(uids) == count:
        return uids
    if len(uids) > count:
        why = "count the rack again, and keep other chips a hand's breadth away"
    else:
        why = (
            "count the rack again and spread it; a chip that never answers is broken, and two copies with one number "
            "answer as one: put them on one by one to find it"
        )
    says = f"{len(uids)} chips answer on {place}, {count} were stated: nothing was enrolled of {name}"
    raise StepError(f"{says}. {why}", code="chip-count")


def _surely(looks: Looks, spot: Spot) -> list[str]:
    answers = Counter(uid for look in looks.at(spot) for uid in look.uids)
    return sorted(uid for uid, times in answers.items() if times >= ANSWERS)


def _enrol(book: Path, uids: list[str], chip: Chip) -> Registry:
    known = registry.known(book)
    there = [uid for uid in uids if uid in known.chips]
    if there:
        first = ", ".join(f"{u} ({known.chips[u].denomination} {known.chips[u].status})" for u in there[:MAX_SHOWN])
        says = (
            f"{len(there)} of the rack's {len(uids)} chips are in the registry already: {first}. Nothing was enrolled"
        )
        raise StepError(f"{says} of this rack; sort them out, or use 'registry status'", code="known-chips")
    return registry.change(book, dict.fromkeys(uids, chip), who=f"enrol {getpass.getuser()}", wall_ns=wall_ns())
