"""What all simulated readers have in common: a queue of commands under way, restarts, silence, spontaneous bytes."""

from __future__ import annotations

from collections import deque
from random import Random

import msgspec

from hw_sim.devices.physics import MS, QUIET, Air, Field, Noise, Radio, Timing
from hw_sim.devices.quirks import LATE_MS, NO_QUIRKS, RARE, Quirks

MAX_JOBS = 64
"""Commands under way at once; a reader has no room for more and loses them (counted)."""


class Job(msgspec.Struct):
    """A command under way: look at the field at ``sample_ns``, answer at ``due_ns``.

    ``seen`` is None until it has looked; then it holds what the answer will be made of.
    """

    command: object
    start_ns: int
    sample_ns: int
    due_ns: int
    asks: bool = False
    seen: object = None


class Reader:
    """Base of the readers' cores (`hw_sim.devices.Device`).

    ``field`` tells which tags lie over a place at the moment of asking; ``places`` maps the reader's antennas to
    places, by default antenna n to place n.  A subclass takes commands out of ``_buffer`` (`_take`), says how long
    they last, looks (`_look`) and encodes (`_say`).
    """

    GAP_NS = 0
    """Silence after which an unfinished command is forgotten; 0 for never."""
    MAX_BUFFER = 4096
    MAX_ANTENNAS = 16

    def __init__(
        self,
        field: Field,
        *,
        antennas: int = 10,
        places: dict[int, int] | None = None,
        seed: int = 0,
        timing: Timing | None = None,
        noise: Noise = QUIET,
        quirks: Quirks = NO_QUIRKS,
        air: Air | None = None,
    ) -> None:
        if antennas > self.MAX_ANTENNAS:
            raise ValueError(
                f"a {type(self).__name__} has {self.MAX_ANTENNAS} antennas, not {antennas}: use two readers"
            )
        self._rng = Random(seed)
        self._timing = timing or Timing()
        self.quirks = quirks
        self.antennas = antennas
        where = places if places is not None else {n: n for n in range(1, antennas + 1)}
        self.radio = Radio(field, where, rng=self._rng, noise=noise, timing=self._timing, air=air)
        self._buffer = bytearray()
        self._last_byte_ns = 0
        self._jobs: deque[Job] = deque()
        self._silent_until_ns = 0
        self._boot_ns: int | None = None
        self._free_ns = 0
        self.counts = self.radio.counts
        self._reset_state()

    @property
    def noise(self) -> Noise:
        """What goes wrong in the air."""
        return self.radio.noise

    @noise.setter
    def noise(self, noise: Noise) -> None:
        self.radio.noise = noise

    def _count(self, what: str) -> None:
        self.counts[what] = self.counts.get(what, 0) + 1

    # -- for subclasses ---------------------------------------------------------------------------

    def _take(self, now_ns: int) -> bool:
        """Handle one whole command from the buffer; False when there is none."""
        raise NotImplementedError

    def _look(self, job: Job) -> object:
        """Carry the command out; what the answer is made of.  None: look again at ``job.sample_ns``, moved on."""
        raise NotImplementedError

    def _say(self, job: Job) -> bytes:
        """The answer's bytes."""
        raise NotImplementedError

    def _reset_state(self) -> None:
        """As after power-up."""

    def _booted(self) -> bytes:
        """What the reader says of itself when it has started again."""
        return b""

    def _unasked(self, now_ns: int) -> bytes:  # noqa: ARG002 - subclasses use it
        """What it says without being asked, by now."""
        return b""

    def _unasked_due_ns(self) -> int | None:
        """When it next does something by itself."""
        return None

    # -- the wire ---------------------------------------------------------------------------------

    def feed(self, data: bytes, now_ns: int) -> None:
        """Take the host's bytes; what comes while the reader starts up is lost."""
        if self.GAP_NS and self._buffer and now_ns - self._last_byte_ns > self.GAP_NS:
            self._count("gap")
            self._buffer.clear()
        self._last_byte_ns = now_ns
        if now_ns < self._silent_until_ns:
            self._count("deaf")
            return
        self._buffer += data
        while self._take(now_ns):
            pass
        if len(self._buffer) > self.MAX_BUFFER:
            self._count("oversize")
            self._buffer.clear()

    def _begin(self, command: object, now_ns: int, busy_ns: int, *, asks: bool = False) -> Job | None:
        """Queue a command that takes ``busy_ns`` once those before it are done."""
        if len(self._jobs) >= MAX_JOBS:
            self._count("queue full")
            return None
        start = max(now_ns, self._free_ns)
        sample = start + (self._rng.randrange(busy_ns + 1) if busy_ns else 0)
        self._free_ns = start + busy_ns
        job = Job(command, start, sample, start + busy_ns, asks)
        if asks:
            self.radio.ask(start, start + busy_ns)
        self._jobs.append(job)
        return job

    def poll(self, now_ns: int) -> bytes:
        """Answers that are due, and what the reader says by itself."""
        out = bytearray()
        if self._boot_ns is not None and now_ns >= self._boot_ns:
            self._boot_ns = None
            if self.quirks.boot_noise:
                out += self._rng.randbytes(20)
            out += self._booted()
        if now_ns >= self._silent_until_ns:
            out += self._unasked(now_ns)
        while self._jobs and self._jobs[0].sample_ns <= now_ns:
            job = self._jobs[0]
            if job.seen is None:
                job.seen = self._look(job)
                if job.seen is None:  # it looks again later
                    continue
                if self.quirks.late and self._rng.random() < RARE:
                    self._count("late")
                    job.due_ns += round(LATE_MS * MS)
            if job.due_ns > now_ns:
                break
            self._jobs.popleft()
            if self.noise.silent and self._rng.random() < self.noise.silent:
                self._count("silent")
                continue
            said = self._say(job)
            out += said
            if self.quirks.twice and self._rng.random() < RARE:
                self._count("twice")
                out += said
        return bytes(out)

    def next_due_ns(self) -> int | None:
        """Time of the next sample, answer or spontaneous act."""
        times = [t for t in (self._boot_ns, self._unasked_due_ns()) if t is not None]
        if self._jobs:
            job = self._jobs[0]
            times.append(job.sample_ns if job.seen is None else job.due_ns)
        return min(times, default=None)

    def restart(self, now_ns: int) -> None:
        """The reader reboots: it forgets what it was doing and was told, and is deaf for a while."""
        self._count("restart")
        self._buffer.clear()
        self._jobs.clear()
        self.radio.power((), now_ns)
        self._silent_until_ns = now_ns + round(self._timing.restart_ms * MS)
        self._boot_ns = self._silent_until_ns
        self._free_ns = self._silent_until_ns
        self._reset_state()
