"""An Eccel Pepper C1 MUX: eight antennas behind one reader, binary frames at 115200 baud.

Sources: Eccel C1 protocol page (frame, acknowledgement, errors), the maker's Arduino library C1_Interface (ICODE
inventory: UID in inverted order, DSFID, more flag; error numbers as layer and error byte; halt switches the field
off), the published frames.  Frame: F5, length of payload + 2 (low, high), its complement, payload, CRC-16/CCITT-FALSE
over the payload, low byte first.  A frame in error gets no answer.

Not documented and chosen here: an empty field is error 01 ("no reply received") with layer 00; a polling event
carries type, parameter and UID as the answer to GET_UID does.
"""

from __future__ import annotations

from hw_sim.devices.codec import crc16_ccitt_false
from hw_sim.devices.physics import MS
from hw_sim.devices.quirks import RARE
from hw_sim.devices.reader import Job, Reader

STX = 0xF5
MAX_LENGTH = 1024
ACK, ERROR, ASYNC = 0x00, 0xFF, 0xFE
DUMMY, TAG_COUNT, GET_UID, HALT, POLLING, REBOOT, VERSION, ANTENNA = 0x01, 0x02, 0x03, 0x05, 0x06, 0x0A, 0x0B, 0x0F
INVENTORY, NEXT, STAY_QUIET = 0x90, 0x91, 0x92
NO_REPLY, WRONG_CRC, RF, INVALID, NOT_SUPPORTED, NOT_SATISFIED = 0x01, 0x02, 0x0A, 0x21, 0x24, 0x25
ICODE_SLIX = 0x24
POLL_NS = 200 * MS
FIRMWARE = b"C1-MUX 1.30\x00"


def pepper_frame(payload: bytes) -> bytes:
    """One frame around a payload."""
    length = (len(payload) + 2).to_bytes(2, "little")
    crc = crc16_ccitt_false(payload).to_bytes(2, "little")
    return bytes((STX,)) + length + bytes(b ^ 0xFF for b in length) + payload + crc


class PepperReader(Reader):
    """The reader's core."""

    MAX_BUFFER = 2 * MAX_LENGTH
    MAX_ANTENNAS = 8

    def _reset_state(self) -> None:
        self._antenna = 1
        self._field_on = False
        self._round: list[str] = []
        self._broken = False
        self._current: str | None = None
        self._listed: list[str] = []
        self._polling = self.quirks.polling
        self._poll_ns = self._silent_until_ns + POLL_NS
        self._polled: set[str] = set()
        self._last_code = VERSION

    # -- the wire ---------------------------------------------------------------------------------

    def _take(self, now_ns: int) -> bool:
        b = self._buffer
        start = b.find(STX)
        if start:
            if b and start != 0:
                self._count("garbage")
            del b[: start if start > 0 else len(b)]
        if len(b) < 5:
            return False
        length = int.from_bytes(b[1:3], "little")
        if b[1] ^ 0xFF != b[3] or b[2] ^ 0xFF != b[4] or not 3 <= length <= MAX_LENGTH:
            self._count("length")
            del b[0]
            return True
        if len(b) < 5 + length:
            return False
        payload, crc = bytes(b[5 : 3 + length]), bytes(b[3 + length : 5 + length])
        if crc16_ccitt_false(payload).to_bytes(2, "little") != crc:
            self._count("crc")
            del b[0]
            return True
        del b[: 5 + length]
        self._accept(payload, now_ns)
        return True

    def _accept(self, payload: bytes, now_ns: int) -> None:
        t = self._timing
        code = payload[0]
        if code in (INVENTORY, TAG_COUNT):
            self._field_on = True
            self.radio.power((self._antenna,), max(now_ns, self._free_ns))
            # The round is run whole; what NEXT delivers is known by then.
            self._begin(payload, now_ns, t.inventory_ns(self.radio.willing()), asks=True)
        else:
            self._begin(payload, now_ns, t.ns(t.switch_ms if code == ANTENNA else t.command_ms))

    def _say(self, job: Job) -> bytes:
        payload, answer = job.command, job.seen
        assert isinstance(payload, bytes)
        assert isinstance(answer, bytes | int)
        code = payload[0]
        if job.asks and self.radio.spoilt(job.start_ns, job.due_ns):
            answer, self._round, self._current = RF, [], None
        echoed = code
        if self.quirks.wrong_echo and self._rng.random() < RARE:
            self._count("wrong echo")
            echoed = self._last_code
        self._last_code = code
        if isinstance(answer, int):
            error = bytes((answer, 0)) if self.quirks.error_low_first else bytes((0, answer))
            return pepper_frame(bytes((ERROR, echoed)) + error)
        said = pepper_frame(bytes((ACK, echoed)) + answer)
        if code == REBOOT:
            self.restart(job.due_ns)
        return said

    def _unasked(self, now_ns: int) -> bytes:
        if not self._polling or now_ns < self._poll_ns:
            return b""
        self._poll_ns = now_ns + POLL_NS
        self._field_on = True
        self.radio.power((self._antenna,), now_ns)
        seen = self.radio.answering()
        fresh = [u for u in seen if u not in self._polled]
        self._polled = set(seen)
        return b"".join(pepper_frame(bytes((ASYNC,)) + self._described(u)) for u in fresh)

    def _unasked_due_ns(self) -> int | None:
        return self._poll_ns if self._polling else None

    # -- commands ---------------------------------------------------------------------------------

    def _look(self, job: Job) -> bytes | int:
        """Data of the acknowledgement, or an error's number."""
        payload = job.command
        assert isinstance(payload, bytes)
        code, data = payload[0], payload[1:]
        match code:
            case 0x01:
                return b""
            case 0x0B:
                return FIRMWARE
            case 0x0F:
                return self._select(data, job.sample_ns)
            case 0x90 | 0x91:
                if len(data) > 1 or (self.quirks.afi_required and not data):
                    return INVALID
                return self._first() if code == INVENTORY else self._next()
            case 0x92:
                return self._stay_quiet()
            case 0x02 | 0x03:
                return self._list(code, data)
            case 0x05:
                self._field_on, self._current = False, None
                self.radio.power((), job.sample_ns)
                return b""
            case 0x06:
                if len(data) != 1 or data[0] > 1:
                    return INVALID
                self._polling = bool(data[0])
                self._poll_ns = job.due_ns + POLL_NS
                return b""
            case 0x0A:
                return b""
            case _:
                self._count("unknown command")
                return NOT_SUPPORTED

    def _select(self, data: bytes, now_ns: int) -> bytes | int:
        if len(data) != 1 or not 1 <= data[0] <= self.antennas:
            return INVALID
        self._antenna = data[0]
        self._round, self._current = [], None
        self.radio.power((self._antenna,) if self._field_on else (), now_ns)
        return b""

    def _first(self) -> bytes | int:
        noise, rng = self.noise, self._rng
        self._round, self._current, self._broken = [], None, False
        if rng.random() < noise.rf_error:
            self._count("rf error")
            return RF
        self._round = self.radio.answering()
        if rng.random() < noise.rf_warning:
            self._count("rf warning")
            self._round, self._broken = self._round[: len(self._round) // 2], True
        return self._next()

    def _next(self) -> bytes | int:
        if not self._round:
            self._current = None
            broken, self._broken = self._broken, False
            return WRONG_CRC if broken else NO_REPLY
        self._current = uid = self._round.pop(0)
        return self._uid(uid) + bytes((0, int(bool(self._round) or self._broken)))

    def _stay_quiet(self) -> bytes | int:
        if self._current is None:
            return NOT_SATISFIED
        self.radio.hush([self._current])
        return b""

    def _list(self, code: int, data: bytes) -> bytes | int:
        if code == TAG_COUNT:
            self._listed = self.radio.answering()[:5]
            return bytes((len(self._listed),))
        if len(data) != 1 or data[0] >= len(self._listed):
            return INVALID
        return self._described(self._listed[data[0]])

    def _uid(self, uid: str) -> bytes:
        raw = bytes.fromhex(uid)
        return raw if self.quirks.uid_msb_first else raw[::-1]

    def _described(self, uid: str) -> bytes:
        return bytes((ICODE_SLIX, 0)) + self._uid(uid)
