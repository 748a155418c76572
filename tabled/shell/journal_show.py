"""The evidence behind one ruling, in words: what was seen, heard and asked, when, and what became of the ruling."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from firmware_bridge.wire import CleanEmpty, Corrupt, Present, Press, TimeSpan
from tabled.core.entries import KINDS, Known, Ordered, Seen, Started, TableConfig, decode
from tabled.journal import Entry, JournalReader
from tabled.model.camera import ChipsLanded, HandMoved
from tabled.model.layout import Place
from tabled.model.outcome import AnyOutcome, QuestionAsked, QuestionClosed, RulingIssued
from tabled.shell.clock import utc_text
from tabled.shell.console import Console
from tabled.shell.rendering import WORDING


class NoRuling(ValueError):
    """There is no ruling at that place; the message says what is."""


class _Story:
    """What one pass over the journal collects."""

    def __init__(self, issued: RulingIssued) -> None:
        self.wanted = frozenset(issued.evidence)
        self.question = issued.question
        self.config: TableConfig | None = None
        self.inputs: list[tuple[Entry, Seen | Ordered]] = []
        self.asked: list[tuple[Entry, QuestionAsked | QuestionClosed]] = []
        self.later: list[tuple[int, RulingIssued]] = []
        self.offset_ns = 0
        """From the host's clock to wall time, by the newest input before the ruling."""

    def take(self, entry: Entry, position: int) -> None:
        if entry.kind in KINDS:
            self._input(entry, position)
        elif entry.kind in ("question", "question_closed", "ruling"):
            self._outcome(entry, msgspec.json.decode(entry.body, type=AnyOutcome), position)

    def _input(self, entry: Entry, position: int) -> None:
        if entry.pos > position and entry.pos not in self.wanted:
            return
        value = decode(entry.body)
        if entry.pos < position:
            self.offset_ns = entry.wall_ns - value.at_ns
        if isinstance(value, Started):
            self.config = value.config
        elif isinstance(value, Known) and self.config is not None:
            self.config = msgspec.structs.replace(self.config, chips={**self.config.chips, **value.chips})
        elif entry.pos in self.wanted and isinstance(value, Seen | Ordered):
            self.inputs.append((entry, value))

    def _outcome(self, entry: Entry, outcome: AnyOutcome, position: int) -> None:
        match outcome:
            case QuestionAsked() if entry.pos == self.question:
                self.asked.append((entry, outcome))
            case QuestionClosed() if outcome.question == self.question:
                self.asked.append((entry, outcome))
            case RulingIssued() if position in (outcome.corrects, outcome.replaces):
                self.later.append((entry.pos, outcome))


def position_of(name: str, epoch: str) -> int:
    """The position in ``"412"`` or ``"<epoch>/412"``.  Raises `NoRuling`."""
    before, _, number = name.rpartition("/")
    if not number.isdecimal() or len(number) > 18 or int(number) < 1:
        raise NoRuling(f"{name!r} is no ruling's id: give the number behind the slash of its message's id")
    if before and before != epoch:
        raise NoRuling(f"{name} is of another journal; this one's ids begin with {epoch}/")
    return int(number)


def show(path: Path, name: str, language: str) -> Iterator[str]:
    """Lines for a person.  All entries are checked against the chain on the way.

    Raises `NoRuling`, or `JournalError` for a file that cannot be read or is damaged.
    """
    with JournalReader.open(path) as book:
        position = position_of(name, book.epoch)
        entry = next(book.read(position - 1, position), None)
        if entry is None:
            raise NoRuling(f"the journal ends at entry {book.head().pos}; there is no ruling {position}")
        if entry.kind != "ruling":
            raise NoRuling(f"entry {position} is no ruling but of kind {entry.kind!r}")
        issued = msgspec.json.decode(entry.body, type=RulingIssued)
        story = _Story(issued)
        count = 0
        for one in book.read():
            count = one.pos
            story.take(one, position)
        yield from _lines(entry, issued, story, Console(lambda _: None, WORDING.say, WORDING.announce, language))
        yield f"entries 1 to {count} are as they were written; ruling {position} has hash {entry.hash.hex()}"


def _lines(entry: Entry, issued: RulingIssued, story: _Story, console: Console) -> Iterator[str]:
    ruling = issued.ruling
    said = console.line(entry.pos, msgspec.structs.replace(issued, status="final")).strip()
    yield f"ruling {entry.pos}, {issued.status}, hand {issued.hand_id}, street {issued.street + 1}, act {issued.act}"
    yield f"  {said}"
    yield f"  because: {console.words(ruling.reason)}"
    yield f"  law: profile {ruling.profile}{': ' + ', '.join(ruling.cite) if ruling.cite else ''}"
    if issued.touched_from_ns is not None and issued.touched_to_ns is not None:
        span = TimeSpan(issued.touched_from_ns, issued.touched_to_ns)
        yield f"  first chip touched (or first word): {_span(span, story.offset_ns)}"
    yield f"  ruled: {utc_text(issued.ruled_ns + story.offset_ns)}, sure to {issued.confidence / 10:.1f} %"
    for what, other in (("corrects", issued.corrects), ("in place of", issued.replaces)):
        if other is not None:
            yield f"  {what} ruling {other}"
    yield f"evidence: {len(issued.evidence)} entries"
    for one, value in story.inputs:
        yield f"  #{one.pos}  {_told(value, story)}"
    missing = len(issued.evidence) - len(story.inputs)
    if missing:
        yield f"  {missing} of them are no observations"
    for one, outcome in story.asked:
        yield f"question  {console.line(one.pos, outcome).strip()}"
    for position, later in story.later:
        how = "corrected by" if later.corrects == entry.pos else "replaced by"
        yield f"{how} ruling {position} ({later.status})"


def _told(value: Seen | Ordered, story: _Story) -> str:
    if isinstance(value, Ordered):
        return (
            f"{utc_text(value.at_ns + story.offset_ns)}  order {type(value.act).__name__} of {value.act.who or 'floor'}"
        )
    seen = value.observation
    when = _span(seen.span, story.offset_ns)
    match seen:
        case Present():
            chips = story.config.chips if story.config is not None else {}
            tags = ", ".join(f"{chips.get(t.uid, '?')} ({t.uid})" for t in seen.tags)
            return f"{when}  {_place(seen.device, seen.antenna, story)}: {len(seen.tags)} chip(s): {tags}"
        case CleanEmpty():
            return f"{when}  {_place(seen.device, seen.antenna, story)}: empty"
        case Corrupt():
            return f"{when}  {_place(seen.device, seen.antenna, story)}: no answer to use ({seen.reason})"
        case Press():
            amount = f" {seen.amount}" if seen.amount else ""
            seat = f" for seat {seen.seat}" if seen.seat else ""
            first = ", said first" if seen.said_first else ""
            return f"{when}  {seen.device}: key {seen.key}{amount}{seat}{first}"
        case HandMoved():
            back = f", {seen.retreat_mm} mm back and {seen.pause_ms} ms at rest before" if seen.retreat_mm else ""
            return f"{when}  {seen.device}: hand ({seen.by}) {seen.step} at seat {seen.seat}{back}"
        case ChipsLanded():
            return f"{when}  {seen.device}: chips landed at seat {seen.seat}, {seen.area_mm2} mm²"
        case _:
            return f"{when}  {seen.device}: {type(seen).__name__}"


def _place(device: str, antenna: int, story: _Story) -> str:
    place: Place | None = story.config.layout.place_of(device, antenna) if story.config is not None else None
    name = (
        "no place of the table" if place is None else f"{place.kind} of seat {place.seat}" if place.seat else place.kind
    )
    return f"{device} antenna {antenna} ({name})"


def _span(span: TimeSpan, offset_ns: int) -> str:
    wide_ms = (span.latest_ns - span.earliest_ns) // 1_000_000
    return f"{utc_text(span.earliest_ns + offset_ns)} + {wide_ms} ms"
