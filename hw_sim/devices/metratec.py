"""A metraTec HF reader (QuasarMX with a 16-way multiplexer) and its ASCII protocol.

Sources: the maker's own Python SDK (metratec-rfid 1.4.5: commands, replies, checksum, inventory reports), metraTec
"ISO 15693 Protocol Guide" 2.x/3.x (names of commands and errors).  Lines end with CR; after ``EOF`` every complete
answer ends with LF too.  Antenna ports count from 0 (the SDK's default port).
"""

from __future__ import annotations

import re

import msgspec

from hw_sim.devices.codec import air_crc, crc16_mcrf4xx
from hw_sim.devices.physics import MS
from hw_sim.devices.quirks import RARE
from hw_sim.devices.reader import Job, Reader

CR = b"\r"
PORTS = 16
LEAST_REPEAT_NS = 10 * MS
"""A continuous inventory lasts at least so long, also for a reader without timing of its own."""
BLOCK = bytes.fromhex("11112222")
"""What every simulated tag holds in each block (the SDK's example)."""
NEUTRAL_MW = 1000
POWERS = frozenset((100, 200, *range(500, 4001, 250)))
_PLAIN = {
    "REV": "QUASARMX       03000305",
    "HWR": "QUASARMX       0300",
    "RFW": "QUASARMX       0305",
    "RSN": "2014010100000001",
    "WAK": "DNS",
    "CON": "OK!",
    "COF": "OK!",
}


class _Line(msgspec.Struct, frozen=True):
    words: tuple[str, ...]
    answer: str = ""
    """What to answer, where that was clear when the line came."""


class MetratecReader(Reader):
    """The reader's core.  Antenna n of the table is port n-1."""

    MAX_BUFFER = 512

    def _reset_state(self) -> None:
        self._crc = self.quirks.crc_mode
        self._lf = False
        self._report = False
        self._port, self._multiplexed = 0, 0
        self._field_on = False
        self._repeat: tuple[str, ...] | None = None
        self._beat_ns: int | None = None
        self._beat_s = 0
        self.radio.strength = 1.0
        if self.quirks.field_on:
            self._field_on = True

    # -- the wire ---------------------------------------------------------------------------------

    def _take(self, now_ns: int) -> bool:
        end = self._buffer.find(CR)
        if end < 0:
            return False
        raw = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        text = raw.decode("ascii", errors="replace").strip("\n")
        if self._crc:
            body, _, given = text.rpartition(" ")
            if f"{crc16_mcrf4xx((body + ' ').encode()):04X}" != given:
                self._begin(_Line((), "CCE"), now_ns, 0)
                return True
            text = body
        elif re.fullmatch(r"(COF|WAK) [0-9A-F]{4}", text):
            text = text[:3]  # sent with its checksum to be understood either way
        words = tuple(text.split(" "))
        repeating = self._repeat is not None
        if words == ("BRK",):
            self._repeat = None
            self._begin(_Line(words, "BRA" if repeating else "NCM"), now_ns, self._timing.ns(self._timing.command_ms))
        elif repeating:
            self._count("busy")
        else:
            self._start(words, now_ns)
        return True

    def _start(self, words: tuple[str, ...], now_ns: int) -> None:
        t = self._timing
        if words[:2] == ("CNR", "INV"):
            problem = self._options(words[2:])
            self._repeat = None if problem else words[1:]
            if problem:
                self._begin(_Line(words, problem), now_ns, 0)
            else:
                self._round(words[1:], now_ns)
        elif words[0] == "INV" and not self._options(words[1:]):
            self._round(words, now_ns)
        else:
            self._begin(_Line(words), now_ns, t.ns(t.command_ms))

    def _round(self, words: tuple[str, ...], now_ns: int) -> None:
        """One inventory; in multiplex mode on the port whose turn it is."""
        t = self._timing
        begin = max(now_ns, self._free_ns)
        if self._field_on:
            self.radio.power((self._port + 1,), begin)
        willing = self.radio.willing() if "ONT" in words else self.radio.present()
        busy = t.inventory_ns(willing) + (t.ns(t.switch_ms) if self._multiplexed else 0)
        if self._repeat is not None:
            busy = max(busy, LEAST_REPEAT_NS)
        self._begin(_Line(words), now_ns, busy, asks=self._field_on)

    def _options(self, words: tuple[str, ...]) -> str:
        """The error in an inventory's options, "" if there is none."""
        rest = list(words)
        while rest:
            word = rest.pop(0)
            if word == "AFI":
                if not rest or not re.fullmatch(r"[0-9A-F]{2}", rest.pop(0)):
                    return "EHX"
            elif word not in ("SSL", "ONT"):
                return "UPA"
        return ""

    def _say(self, job: Job) -> bytes:
        line, lines = job.command, job.seen
        assert isinstance(line, _Line)
        assert isinstance(lines, list)
        if job.asks and self.radio.spoilt(job.start_ns, job.due_ns):
            lines = ["CER"]
        if line.words[:1] == ("INV",):
            if self._multiplexed:
                self._port = (self._port + 1) % self._multiplexed
            if self.quirks.brown_out and self._rng.random() < 0.01:
                self.restart(job.due_ns)
                return b""
            if self._repeat is not None:
                self._round(self._repeat, job.due_ns)
        if line.words == ("RST",):
            said = self._lines(lines)
            self.restart(job.due_ns)
            return said
        return self._lines(lines)

    def _lines(self, lines: list[str]) -> bytes:
        return b"".join(x.encode("ascii") + CR for x in lines) + (b"\n" if self._lf and lines else b"")

    def _booted(self) -> bytes:
        return self._lines(["SRT"])

    def _unasked(self, now_ns: int) -> bytes:
        if self._beat_ns is None or now_ns < self._beat_ns:
            return b""
        period = self._beat_s * 1000 * MS
        self._beat_ns += period * (1 + (now_ns - self._beat_ns) // period)
        return self._lines(["HBT"])

    def _unasked_due_ns(self) -> int | None:
        return self._beat_ns

    # -- commands ---------------------------------------------------------------------------------

    def _look(self, job: Job) -> list[str]:
        line = job.command
        assert isinstance(line, _Line)
        if line.answer:
            return [line.answer]
        match line.words:
            case ("INV", *options):
                return (
                    self._inventory(options) if not self._options(tuple(options)) else [self._options(tuple(options))]
                )
            case ("SAP", what, *values):
                said = self._antenna_port(what, values)
                if self._field_on:
                    self.radio.power((self._port + 1,), job.sample_ns)
                return [said]
            case ("SET", "PWR", value):
                return [self._power(value)]
            case ("SRI", *values):
                return [self._interface(values, job.sample_ns)]
            case ("HBT", value):
                return [self._heartbeat(value, job.sample_ns)]
            case ("REQ", flags, "CRC"):
                return self._request(flags)
            case ("MOD", mode):
                return ["OK!" if mode == "156" else "NOS"]
            case ("RST",):
                return ["OK!"]
            case ("EOF" | "NEF" as word,):
                self._lf = word == "EOF"
                return ["OK!"]
            case (word,) if word in _PLAIN:
                self._crc = {"CON": True, "COF": False}.get(word, self._crc)
                return [_PLAIN[word]]
            case ("SAP" | "SET" | "SRI" | "HBT" | "REQ" | "MOD", *_):
                return ["UPA"]
            case _:
                self._count("unknown command")
                return ["UCO"]

    def _number(self, text: str, low: int, high: int) -> int | str:
        """A decimal number in its bounds, or the error's name."""
        if not text.isdecimal():
            return "EDX"
        return int(text) if low <= int(text) <= high else "NOR"

    def _antenna_port(self, what: str, values: list[str]) -> str:
        base = int(self.quirks.ports_from_one)
        if what == "ARP" and values in (["ON"], ["OFF"]):
            self._report = values == ["ON"]
            return "OK!"
        if what not in ("MAN", "AUT", "PIN") or not values:
            return "UPA"
        low, high = (base, base + PORTS - 1) if what == "MAN" else (1, PORTS)
        number = self._number(values[0], low, high)
        if isinstance(number, str):
            return number
        if what == "MAN":
            self._port, self._multiplexed = number - base, 0
        elif what == "AUT":
            self._port, self._multiplexed = 0, number
        return "OK!"

    def _power(self, value: str) -> str:
        number = self._number(value, 0, 100_000)
        if isinstance(number, str):
            return number
        if number not in POWERS:
            return "NOR"
        self.radio.strength = (number / NEUTRAL_MW) ** 0.5
        return "OK!"

    def _interface(self, values: list[str], now_ns: int) -> str:
        match values:
            case ["OFF"]:
                self._field_on = False
                self.radio.power((), now_ns)
            case ["SS" | "DS", "10" | "100"]:
                self._field_on = True
                self.radio.power((self._port + 1,), now_ns)
            case ["TIM", time]:
                if isinstance(number := self._number(time, 1, 10_000), str):
                    return number
                self.radio.reset_field(now_ns)
            case _:
                return "UPA"
        return "OK!"

    def _heartbeat(self, value: str, now_ns: int) -> str:
        number = self._number(value, 0, 60)
        if isinstance(number, str):
            return number
        self._beat_s = number
        self._beat_ns = now_ns + number * 1000 * MS if number else None
        return "OK!"

    def _inventory(self, options: list[str]) -> list[str]:
        if not self._field_on:
            return ["RNW"]
        noise, rng = self.noise, self._rng
        if rng.random() < noise.rf_error:
            self._count("rf error")
            return ["CER"]
        if "ONT" not in options:
            self.radio.wake()
        uids = self.radio.answering()
        if "SSL" in options and len(uids) > 1:
            return ["CDT"]
        errors: list[str] = []
        if rng.random() < noise.rf_warning:
            self._count("rf warning")
            uids, errors = uids[: len(uids) // 2], ["CER"]
        if "ONT" in options:
            self.radio.hush(uids)
        port = self._port + int(self.quirks.ports_from_one)
        report = [f"ARP {port:02d}"] if self._report else []
        return [*uids, *errors, *report, f"IVF {len(uids):02d}"]

    def _request(self, flags: str) -> list[str]:
        """Stay quiet (02), read a block (20), reset to ready (26); flag 2 addresses one tag."""
        if not re.fullmatch(r"(?:[0-9A-F]{2}){2,40}", flags):
            return ["EHX"]
        if not self._field_on:
            return ["RNW"]
        raw = bytes.fromhex(flags)
        addressed = raw[0] & 0x20
        uid = raw[2:10].hex().upper() if addressed else None
        if raw[1] == 0x02:
            self.radio.hush([uid] if uid else [])
            return ["TNR"]  # no tag answers this one
        present = self.radio.present()
        if (uid and not self.radio.has(uid)) or not present:
            return ["TNR"]
        if uid is None and present > 1:
            return ["CDT"]
        if raw[1] == 0x26:
            self.radio.wake(uid)
        data = bytes(1) + (BLOCK if raw[1] == 0x20 else b"")
        if self._rng.random() < RARE * bool(self.noise.rf_error):
            return ["RDL"]
        return ["TDT", (data + air_crc(data)).hex().upper(), "COK", "NCL"]
