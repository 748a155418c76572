"""A numeric keypad as a panel: which keys a dealer presses, and what they become.

Digits make a number, the key behind them says what it is for: ``8 0 0 +`` raises to 800.  The whole table
stands in ``firmware_bridge/PANELS.md``.  A key that means nothing where it is pressed throws the entry away,
and so do 20 s without a key: an old "80" must not become "80800".  Num Lock is not looked at: many keypads
press it by themselves.
"""

from __future__ import annotations

import msgspec

from firmware_bridge.session.entry import NEEDS_AMOUNT, TAKES_AMOUNT, Act, Entry, known_verb

MS = 1_000_000

KEY_CODES: dict[str, int] = {
    "KP0": 82, "KP1": 79, "KP2": 80, "KP3": 81, "KP4": 75, "KP5": 76, "KP6": 77, "KP7": 71, "KP8": 72, "KP9": 73,
    "KPASTERISK": 55, "KPMINUS": 74, "KPPLUS": 78, "KPDOT": 83, "KPENTER": 96, "KPSLASH": 98, "KPEQUAL": 117,
    "KPCOMMA": 121, "KPLEFTPAREN": 179, "KPRIGHTPAREN": 180, "KPPLUSMINUS": 118,
    "1": 2, "2": 3, "3": 4, "4": 5, "5": 6, "6": 7, "7": 8, "8": 9, "9": 10, "0": 11,
    "ENTER": 28, "BACKSPACE": 14, "TAB": 15, "ESC": 1, "SPACE": 57, "MINUS": 12, "EQUAL": 13, "DOT": 52, "SLASH": 53,
    "COMMA": 51, "NUMLOCK": 69, "DELETE": 111, "INSERT": 110, "HOME": 102, "END": 107, "PAGEUP": 104,
    "PAGEDOWN": 109, "UP": 103, "DOWN": 108, "LEFT": 105, "RIGHT": 106, "CALC": 140, "HOMEPAGE": 172, "MAIL": 155,
    "F1": 59, "F2": 60, "F3": 61, "F4": 62, "F5": 63, "F6": 64, "F7": 65, "F8": 66, "F9": 67, "F10": 68, "F11": 87,
    "F12": 88, "F13": 183, "F14": 184, "F15": 185, "F16": 186, "F17": 187, "F18": 188, "F19": 189, "F20": 190,
    "F21": 191, "F22": 192, "F23": 193, "F24": 194,
}  # fmt: skip
"""Names and codes of the keys that keypads have (Linux ``input-event-codes.h``, without ``KEY_``)."""

DIGITS: dict[str, str] = {f"KP{n}": str(n) for n in range(10)} | {str(n): str(n) for n in range(10)}
PLAIN = {
    "KPSLASH": "fold", "KPASTERISK": "check", "KPMINUS": "call", "KPPLUS": "raise",
    "KPENTER": "key_a", "BACKSPACE": "key_b", "KPDOT": "function", "ESC": "clear",
    "ENTER": "key_a", "SLASH": "fold", "MINUS": "call", "DOT": "function",
}  # fmt: skip
AMOUNT = {
    "KPSLASH": "seat", "KPASTERISK": "bet", "KPMINUS": "raise_by", "KPPLUS": "raise_to",
    "KPENTER": "number", "BACKSPACE": "clear", "KPDOT": "clear", "ESC": "clear",
    "ENTER": "number", "SLASH": "seat", "MINUS": "raise_by", "DOT": "clear",
}  # fmt: skip
FUNCTION = {
    "KP0": "undo", "KP2": "pot", "KP3": "complete", "KP4": "hand_withdraws", "KP5": "next_street",
    "KP6": "new_hand", "KP9": "floor", "KPPLUS": "all_in", "KPASTERISK": "said_first", "KPENTER": "key_b",
    "KPDOT": "clear", "BACKSPACE": "clear", "ESC": "clear", "ENTER": "key_b", "DOT": "clear",
    "0": "undo", "2": "pot", "3": "complete", "4": "hand_withdraws", "5": "next_street", "6": "new_hand", "9": "floor",
}  # fmt: skip
NOTHING = "nothing"
"""In a map of the configuration: this key does nothing."""
_OTHERS = ("said_first", "clear", NOTHING)


class KeypadOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Options of the driver.

    What the three maps do not name stays as it is, ``"nothing"`` takes a key away.
    """

    plain: dict[str, str] = {}
    """Key names to acts where no digits stand before the key."""
    amount: dict[str, str] = {}
    """Key names to acts where digits stand before the key."""
    function: dict[str, str] = {}
    """Key names to acts behind the function key."""
    entry_ms: int = 20_000
    """How long an unfinished entry is kept, in milliseconds; 1000 to 120000."""
    scan_ms: int = 25
    """Longest way from key to kernel in milliseconds: the keypad's own debouncing and the USB interval; 1 to 1000."""

    def problem(self) -> str | None:
        """What is wrong with these options, None if nothing."""
        if not 1000 <= self.entry_ms <= 120_000 or not 1 <= self.scan_ms <= 1000:
            return "'entry_ms' must be from 1000 to 120000 and 'scan_ms' from 1 to 1000"
        for option, extra in (("plain", ("function",)), ("amount", ("seat",)), ("function", ())):
            chosen: dict[str, str] = getattr(self, option)
            for key, act in chosen.items():
                if key not in KEY_CODES:
                    return f"'{option}' names a key '{key}' that there is not; keys are {', '.join(KEY_CODES)}"
                if option != "function" and key in DIGITS:
                    return f"'{option}' names the digit '{key}'; digits are for numbers"
                if not (known_verb(act) or act in (*_OTHERS, *extra)):
                    return f"'{option}' gives '{key}' the act '{act}' that there is not"
                if option == "amount" and known_verb(act) and act not in TAKES_AMOUNT:
                    return f"'amount' gives '{key}' the act '{act}', which takes no amount"
                if option != "amount" and act in NEEDS_AMOUNT:
                    return f"'{option}' gives '{key}' the act '{act}', which needs an amount before it"
        return None


class KeypadComposer:
    """Key codes to acts.  Pure: time is an argument."""

    def __init__(self, options: KeypadOptions | None = None) -> None:
        options = options or KeypadOptions()
        problem = options.problem()
        if problem is not None:
            raise ValueError(problem)
        self._names = {code: name for name, code in KEY_CODES.items()}
        self._plain = PLAIN | options.plain
        self._amount = AMOUNT | options.amount
        self._function = FUNCTION | options.function
        self._entry = Entry(options.entry_ms * MS)
        self._shifted = False
        self._shift_until_ns = 0
        self._idle_ns = options.entry_ms * MS

    @property
    def refused(self) -> int:
        """Keys and entries that came to nothing."""
        return self._entry.refused

    @property
    def next_wake_ns(self) -> int | None:
        """When an unfinished entry is thrown away."""
        return self._entry.until_ns

    def fits(self, keys: int) -> str | None:  # noqa: ARG002 - the shape is `local.Composer`'s
        """Any keypad will do: a key that it has not is never pressed."""
        return None

    def upset(self) -> None:
        """Keys may have been missed."""
        self._shifted = False
        if not self._entry.empty:
            self._entry.spoil()

    def wake(self, now_ns: int) -> None:
        """Time has passed."""
        self._entry.expire(now_ns)

    def faces(self) -> bytes:
        """A keypad shows nothing."""
        return b""

    def redraw(self) -> None:
        """A keypad shows nothing."""

    def key(self, code: int, now_ns: int) -> Act | None:
        """One key pressed."""
        self._entry.expire(now_ns)
        name = self._names.get(code, "")
        shifted = self._shifted and now_ns < self._shift_until_ns
        self._shifted = False
        act = self._shifted_key(name) if shifted else self._unshifted_key(name, now_ns)
        self._entry.touch(now_ns)
        return act

    def _shifted_key(self, name: str) -> Act | None:
        word = self._function.get(name, "")
        if name == "NUMLOCK" and not word:
            self._shifted = True  # pressed by the keypad itself
            return None
        return self._do(word)

    def _unshifted_key(self, name: str, now_ns: int) -> Act | None:
        entry = self._entry
        if name in DIGITS:
            entry.add(DIGITS[name])
            return None
        word = (self._amount if entry.digits else self._plain).get(name, "")
        if name == "NUMLOCK" and not word:
            return None
        if word == "function":
            entry.broken = False
            self._shifted = True
            self._shift_until_ns = now_ns + self._idle_ns
            return None
        return self._do(word)

    def _do(self, word: str) -> Act | None:
        entry = self._entry
        if word == "clear":
            entry.clear()
        elif word == "seat":
            entry.pick_seat()
        elif word == "said_first":
            entry.mark_said_first()
        elif known_verb(word):
            return entry.act(word)
        elif word != NOTHING:
            # A key without a meaning here: whatever was meant, it was not what was keyed in.
            if entry.empty:
                entry.refused += 1
            else:
                entry.spoil()
        return None
