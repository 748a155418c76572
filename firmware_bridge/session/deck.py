"""A Stream Deck as a panel: pages of keys with words on them, and what a press of each becomes.

A cell of a page is one word:

| cell | meaning |
|---|---|
| ``fold``, ``raise_to``, … (`firmware_bridge.wire.KEYS`) | that press, with the digits keyed in before it |
| ``0`` … ``9``, ``00``, ``000`` | digits |
| ``seat`` | the digits keyed in are the seat that is meant |
| ``seat:3`` | seat 3 is meant |
| ``said_first`` | the player spoke before any chip moved (lit until used) |
| ``clear`` | never mind |
| ``entry`` | shows what is keyed in; pressing it does nothing |
| ``page:NAME`` | turns to that page |
| empty | nothing |

A press leads back to the first page.  Cells count from the top left, row by row.
"""

from __future__ import annotations

import msgspec

from firmware_bridge.session.entry import MAX_SEAT, NEEDS_AMOUNT, Act, Entry, known_verb

MS = 1_000_000
MAX_PAGES = 16
MAX_KEYS = 64

_DIGITS = frozenset((*"0123456789", "00", "000"))
_WORDS = {
    "all_in": "ALL-IN",
    "hand_withdraws": "HAND OFF",
    "next_street": "NEXT STREET",
    "new_hand": "NEW HAND",
    "key_a": "A",
    "key_b": "B",
    "said_first": "SAID FIRST",
    "page:amount": "123",
    "page:seats": "SEAT",
    "page:more": "MORE",
    "page:main": "BACK",
}

PAGES_15: dict[str, tuple[str, ...]] = {
    "main": (
        "fold", "check", "call", "key_a", "key_b",
        "raise", "all_in", "page:amount", "page:seats", "said_first",
        "undo", "floor", "pot", "next_street", "page:more",
    ),
    "amount": (
        "1", "2", "3", "entry", "clear",
        "4", "5", "6", "raise_to", "raise_by",
        "7", "8", "9", "0", "page:bets",
    ),
    "bets": (
        "bet", "number", "raise_to", "entry", "clear",
        "00", "000", "0", "raise_by", "",
        "", "", "", "", "page:amount",
    ),
    "seats": (
        "seat:1", "seat:2", "seat:3", "seat:4", "seat:5",
        "seat:6", "seat:7", "seat:8", "seat:9", "seat:10",
        "", "", "", "clear", "page:main",
    ),
    "more": ("complete", "hand_withdraws", "new_hand", "", "", "", "", "", "", "", "", "", "", "", "page:main"),
}  # fmt: skip
"""For the decks of 15 keys."""
PAGES_32: dict[str, tuple[str, ...]] = {
    "main": (
        "fold", "check", "call", "all_in", "7", "8", "9", "entry",
        "raise", "bet", "raise_to", "raise_by", "4", "5", "6", "number",
        "seat", "said_first", "pot", "page:more", "1", "2", "3", "clear",
        "undo", "floor", "next_street", "new_hand", "0", "00", "key_a", "key_b",
    ),
    "more": ("complete", "hand_withdraws", "page:main"),
}  # fmt: skip
"""For the decks of 32 keys."""
PAGES_6: dict[str, tuple[str, ...]] = {
    "main": ("fold", "check", "call", "key_a", "key_b", "page:more"),
    "more": ("raise", "all_in", "undo", "floor", "next_street", "page:main"),
}
"""For the decks of 6 keys: words only, no amounts."""


class Face(msgspec.Struct, frozen=True, array_like=True):
    """What one key shows.  ``style`` is verb, dim (needs digits first), digit, page, entry, lit or blank."""

    label: str
    style: str


class DeckOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Options of the driver."""

    pages: dict[str, list[str]] = {}
    """Cells by page name, the first page is the one that shows; a deck of 6, 15 or 32 keys has pages of its own."""
    labels: dict[str, str] = {}
    """Other words on cells, by cell."""
    brightness: int = 60
    """Of the key lamps, per cent; 0 to 100."""
    entry_ms: int = 20_000
    """How long an unfinished entry is kept, in milliseconds; 1000 to 120000."""
    scan_ms: int = 25
    """Longest way from key to kernel in milliseconds; 1 to 1000."""
    transport: str | None = None
    """Back end of the streamdeck package: None is USB, "dummy" is for tests."""

    def problem(self) -> str | None:
        """What is wrong with these options, None if nothing."""
        if not 1000 <= self.entry_ms <= 120_000 or not 1 <= self.scan_ms <= 1000 or not 0 <= self.brightness <= 100:
            return "'entry_ms' must be from 1000 to 120000, 'scan_ms' from 1 to 1000, 'brightness' from 0 to 100"
        if len(self.pages) > MAX_PAGES:
            return f"{len(self.pages)} pages; a deck has at most {MAX_PAGES}"
        for name, cells in self.pages.items():
            if len(cells) > MAX_KEYS:
                return f"page '{name}' has {len(cells)} keys; a page has at most {MAX_KEYS}"
            for cell in cells:
                problem = self._cell_problem(cell)
                if problem is not None:
                    return f"page '{name}': {problem}"
        if any(len(text) > 24 for text in self.labels.values()):
            return "a label is longer than 24 characters"
        return None

    def _cell_problem(self, cell: str) -> str | None:
        kind, _, rest = cell.partition(":")
        if kind == "page" and rest:
            return None if rest in self.pages else f"'{cell}' leads to a page that there is not"
        if kind == "seat" and rest:
            good = rest.isascii() and rest.isdecimal() and 1 <= int(rest[:3]) <= MAX_SEAT
            return None if good else f"'{cell}' is no seat; seats are 1 to {MAX_SEAT}"
        if cell in _DIGITS or known_verb(cell) or cell in ("", "seat", "said_first", "clear", "entry"):
            return None
        return f"'{cell}' is no cell (see the Stream Deck's table of cells)"


class DeckComposer:
    """Key numbers to acts, and the keys' faces.  Pure: time is an argument."""

    def __init__(self, options: DeckOptions | None = None) -> None:
        self._options = options or DeckOptions()
        problem = self._options.problem()
        if problem is not None:
            raise ValueError(problem)
        self._pages: dict[str, tuple[str, ...]] = {name: tuple(cells) for name, cells in self._options.pages.items()}
        self._page = next(iter(self._pages), "")
        self._entry = Entry(self._options.entry_ms * MS)
        self._keys = 0
        self._shown: bytes = b""

    @property
    def refused(self) -> int:
        """Keys and entries that came to nothing."""
        return self._entry.refused

    @property
    def next_wake_ns(self) -> int | None:
        """When an unfinished entry is thrown away."""
        return self._entry.until_ns

    @property
    def page(self) -> str:
        """Name of the page that shows."""
        return self._page

    def fits(self, keys: int) -> str | None:
        """Whether a deck of so many keys can show the pages; chooses the built-in ones where none are configured."""
        if not self._options.pages:
            built_in = next((p for n, p in ((32, PAGES_32), (15, PAGES_15), (6, PAGES_6)) if keys >= n), None)
            if built_in is None:
                return f"a deck of {keys} keys needs 'pages' of its own"
            self._pages = dict(built_in)
            self._page = next(iter(self._pages))
        for name, cells in self._pages.items():
            if len(cells) > keys:
                return f"page '{name}' has {len(cells)} keys and the deck has {keys}"
        self._keys = min(keys, MAX_KEYS)
        return None

    def upset(self) -> None:
        """Keys may have been missed."""
        if not self._entry.empty:
            self._entry.spoil()
        self._page = next(iter(self._pages), "")

    def wake(self, now_ns: int) -> None:
        """Time has passed."""
        if self._entry.expire(now_ns):
            self._page = next(iter(self._pages), "")

    def key(self, code: int, now_ns: int) -> Act | None:
        """Key number ``code`` pressed."""
        entry = self._entry
        entry.expire(now_ns)
        act = self._do(self._cell(code))
        entry.touch(now_ns)
        return act

    def _cell(self, code: int) -> str:
        cells = self._pages.get(self._page, ())
        return cells[code] if 0 <= code < len(cells) else ""

    def _do(self, cell: str) -> Act | None:
        entry = self._entry
        first = next(iter(self._pages), "")
        kind, _, rest = cell.partition(":")
        if kind == "page":
            self._page = rest
        elif cell in _DIGITS:
            entry.add(cell)
        elif kind == "seat":
            entry.pick_seat(int(rest) if rest else None)
            self._page = first
        elif cell == "said_first":
            entry.mark_said_first()
        elif cell == "clear":
            entry.clear()
            self._page = first
        elif known_verb(cell):
            self._page = first
            return entry.act(cell)
        return None

    def faces(self) -> bytes:
        """All keys as JSON, one line; b"" if it is what was shown last."""
        cells = self._pages.get(self._page, ())
        shown = msgspec.json.encode([self._face(c) for c in (*cells, *[""] * (self._keys - len(cells)))]) + b"\n"
        if shown == self._shown:
            return b""
        self._shown = shown
        return shown

    def redraw(self) -> None:
        """The device lost what it showed."""
        self._shown = b""

    def _face(self, cell: str) -> Face:
        label = self._options.labels.get(cell) or _WORDS.get(cell) or cell.replace("_", " ").replace(":", " ").upper()
        entry = self._entry
        if cell == "":
            return Face("", "blank")
        if cell == "entry":
            seat = f"S{entry.seat} " if entry.seat else ""
            return Face(seat + (entry.digits or ("?" if entry.broken else "-")), "entry")
        if cell.startswith("page:"):
            return Face(self._options.labels.get(cell) or _WORDS.get(cell) or cell[5:].upper(), "page")
        lit = (cell == "said_first" and entry.said_first) or (cell == f"seat:{entry.seat}")
        if lit:
            return Face(label, "lit")
        if cell in NEEDS_AMOUNT and not entry.digits:
            return Face(label, "dim")
        return Face(label, "digit" if cell in _DIGITS else "verb")
