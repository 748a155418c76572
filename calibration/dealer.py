"""What the step "dealer" does: words at random times on the screen, and how long each takes to its key."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from random import Random, SystemRandom

from calibration import clock_charts
from calibration.bench import Bench, config_from
from calibration.files import save
from calibration.given import number
from calibration.reaction import LATEST_MS, LEAST, Reaction, TooLittle, Try, span
from calibration.steps import Figure, Given, Outcome, Picture, StepError, Talk
from firmware_bridge.wire import Press
from tabled.model.calibration import Dealer, Dealers
from tabled.sensing import sections
from tabled.shell.clock import monotonic_ns

MS = 1_000_000
WORDS = {"call": "CALL", "raise": "RAISE", "fold": "FOLD", "check": "CHECK", "bet": "BET"}
"""Keys of the exercise and what the screen says."""
MAX_DEALERS = 500


def run(talk: Talk, folder: Path, given: Given) -> Outcome:
    """Do the exercise and write dealers.json; see `calibration.step_dealer`."""
    name = given["dealer"].strip()
    if not name or len(name) > 64:
        raise StepError("whose exercise is it? give the name with --dealer, 64 characters at most", code="option")
    words, pace = number(given, "words", LEAST, 200), number(given, "pace", 500, 10_000)
    before = _before(folder, talk)
    if len(before) >= MAX_DEALERS and name not in {d.name for d in before}:
        raise StepError(f"dealers.json has {MAX_DEALERS} dealers; take out those who left", code="too-many")
    seed = number(given, "seed", 0, 10**9)
    config = config_from(given["config"])
    with Bench(config, readers=False, panels=True) as bench:
        talk.ask(f"{name}: a word comes, press its key as in play. {words} words. Begin?", ["done"], "done")
        tries = _exercise(bench, talk, words, pace, _chance(seed))
    try:
        found = span(tries)
    except TooLittle as problem:
        raise StepError(f"{name}: {problem}. Nothing was written", code=problem.code) from problem
    dealer = Dealer(name=name, reaction_min_ms=found.min_ms, reaction_max_ms=found.max_ms, presses=len(found.times_ms))
    others = tuple(d for d in before if d.name != name)
    save(folder, Dealers(dealers=tuple(sorted((*others, dealer), key=lambda d: d.name))))
    return _outcome(dealer, found)


def _chance(seed: int) -> Random:
    return Random(seed) if seed else SystemRandom()  # noqa: S311  it is no secret, only not to be foreseen


def _before(folder: Path, talk: Talk) -> tuple[Dealer, ...]:
    """The dealers who did it before; of a file that is damaged, those of the one that was kept."""
    path = sections.path_of(folder, "dealers")
    for one in (path, path.with_name(f"{path.name}.bak")):
        try:
            raw = sections.read(one, "dealers")
            value = sections.decode(raw, "dealers") if raw is not None else None
        except sections.CalibrationError as problem:
            talk.say(f"{one.name} cannot be used: whoever is not in dealers.json after this does it again ({problem})")
            continue
        if isinstance(value, Dealers):
            return value.dealers
        if one is path:
            break
    return ()


def _exercise(bench: Bench, talk: Talk, words: int, pace_ms: int, chance: Random) -> list[Try]:
    """Each word after an uncertain wait, so that nobody can press ahead; the next comes after the press."""
    tries: list[Try] = []
    for n in range(words):
        bench.until(lambda: False, chance.uniform(0.4, 1.6) * pace_ms / 1000 / 2, talk)
        key = chance.choice(list(WORDS))
        done = len(bench.presses)
        said_ns = monotonic_ns()
        talk.say(f">>> {WORDS[key]}")
        shown_ns = monotonic_ns()
        bench.until(partial(_pressed, bench, done), LATEST_MS / 1000 + 0.5, talk)
        tries.append(_tried(key, bench.presses[done:], said_ns, shown_ns))
        talk.progress(n + 1, words, "words")
    return tries


def _pressed(bench: Bench, before: int) -> bool:
    return len(bench.presses) > before


def _tried(key: str, presses: Sequence[Press], said_ns: int, shown_ns: int) -> Try:
    """The first press after the word; the word came between ``said_ns`` and ``shown_ns``."""
    if not presses:
        return Try(key)
    first = presses[0]
    soonest, latest = first.span.earliest_ns - shown_ns, first.span.latest_ns - said_ns
    return Try(key, first.key, soonest // MS, -(-latest // MS))


def _outcome(dealer: Dealer, found: Reaction) -> Outcome:
    low, high = dealer.reaction_min_ms, dealer.reaction_max_ms
    lost = found.missed + found.early + found.wrong
    return Outcome(
        summary=f"{dealer.name} presses {low} to {high} ms after a word",
        figures=(
            Figure(label=f"{dealer.name}: 95 % of presses, 95 % sure", value=f"{low} to {high} ms"),
            Figure(label="Presses that count", value=str(dealer.presses)),
            Figure(label="Fastest and slowest", value=f"{min(found.times_ms)} and {max(found.times_ms)} ms"),
            Figure(
                label="Missed, too early, wrong key",
                value=f"{found.missed}, {found.early}, {found.wrong}",
                good=lost * 5 <= dealer.presses,
            ),
        ),
        pictures=(
            Picture(
                name="reaction",
                caption="Every press, and the span",
                png=clock_charts.reactions(found.times_ms, low, high),
            ),
        ),
    )
