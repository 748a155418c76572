"""One device's life on the host, after `firmware_bridge.supervisor._Device`: open, session, lost, back off, reopen.

The session is the real one.  What asyncio does there is a call of `turn` here: bytes that came, a deadline that passed.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from firmware_bridge.session.contract import Session
from firmware_bridge.supervisor import BACK_OFF_CAP_S, BACK_OFF_S, STEADY_NS
from firmware_bridge.wire import AnyObservation, DeviceId, DeviceLost, DeviceUp, Press, TimeSpan
from hw_sim.memory import MemoryPort
from tests.dst.clock import Clock
from tests.dst.death import Reaper

Sink = Callable[[AnyObservation], None]


class Line:
    """``sink`` takes observations; ``written`` sees every byte string before it goes to the device."""

    def __init__(
        self,
        device: str,
        session: Session,
        port: MemoryPort,
        sink: Sink,
        clock: Clock,
        reaper: Reaper,
        chance: Random,
        written: Callable[[str, bytes], None],
    ) -> None:
        self.device, self.session, self.port = device, session, port
        self._sink, self._clock, self._reaper, self._chance, self._written = sink, clock, reaper, chance, written
        self.is_open = False
        self.state = "opening"
        self._reported = ""
        self._back_off_s = BACK_OFF_S
        self._reopen_ns = clock.host_ns
        self._alive_ns = self._up_ns = clock.host_ns

    def next_due_ns(self) -> int | None:
        """Host time at which `turn` has something to do by itself."""
        return self.session.next_wake_ns if self.is_open else self._reopen_ns

    def turn(self) -> bool:
        """All that is due now; True when anything happened."""
        now_ns = self._clock.host_ns
        if not self.is_open:
            return now_ns >= self._reopen_ns and self._open(now_ns)
        if not self.port.plugged:
            self._lost(f"{self.device} is gone", f"'{self.device}' is gone. Plug it in again.", subject="gone")
            self._end(now_ns)
            return True
        data = self.port.read(self._clock.virtual_ns)
        moved = bool(data)
        if data:
            self._alive_ns = now_ns
            self._deliver(self.session.receive(data, now_ns))
        wake_ns = self.session.next_wake_ns
        if self.is_open and wake_ns is not None and now_ns >= wake_ns:
            moved = True
            self._deliver(self.session.wake(now_ns))
        self._carry_on()
        return moved

    def acknowledge(self, press: Press) -> None:
        """As `Bridge.acknowledge`."""
        self.session.acknowledge(press)
        self._reaper.point("acknowledged, not written")
        self._carry_on()

    def _open(self, now_ns: int) -> bool:
        if not self.port.plugged:
            self._lost("no such port", f"'{self.device}': nothing is plugged in there.", subject="gone")
            self._end(now_ns)
            return True
        self.port.read(self._clock.virtual_ns)  # what was said while nobody had the port open is lost
        self.is_open = True
        self.session.start(now_ns)
        self._carry_on()
        return True

    def _carry_on(self) -> None:
        if not self.is_open:
            return
        data = self.session.outgoing()
        if data:
            self._written(self.device, data)
            self.port.write(data, self._clock.virtual_ns)

    def _deliver(self, found: list[AnyObservation]) -> None:
        for observation in found:
            if isinstance(observation, DeviceLost):
                self._lost(observation.reason, observation.advice, span=observation.span)
                self._end(self._clock.host_ns)
                return
            if isinstance(observation, DeviceUp):
                self.state = "up"
                self._up_ns = self._clock.host_ns
                self._reported = ""
            self._sink(observation)

    def _lost(self, reason: str, advice: str, *, subject: str = "", span: TimeSpan | None = None) -> None:
        now_ns = self._clock.host_ns
        subject = subject or advice
        told = self.state == "lost" and self._reported == subject
        if self.state == "up" and now_ns - self._up_ns >= STEADY_NS:
            self._back_off_s = BACK_OFF_S
        self.state = "lost"
        if not told:
            self._reported = subject
            since = span or TimeSpan(min(self._alive_ns, now_ns), now_ns)
            self._sink(DeviceLost(DeviceId(self.device), since, reason, advice))

    def _end(self, now_ns: int) -> None:
        self.is_open = False
        pause_s = self._back_off_s * (0.5 + 0.5 * self._chance.random())
        self._reopen_ns = now_ns + round(pause_s * 1e9)
        self._back_off_s = min(2 * self._back_off_s, BACK_OFF_CAP_S)
