"""How the camera is, in the same words as a reader or a panel, and in figures of its own."""

from __future__ import annotations

from typing import Any

from firmware_bridge.session.contract import Counters, Figures
from firmware_bridge.supervisor import DeviceHealth, State
from tabled.model.ruling import Reason
from tabled.sensing.process_wire import Beat

CAMERA_LOOP = "camera_loop"
CAMERA_UNDEAD = "camera_undead"
CAMERA_UNMEASURED = "camera_unmeasured"
CAMERA_SLOW = "camera_slow"
CAMERA_LOSES = "camera_loses"
SLOW_PERMILLE = 100
"""So many frames of a thousand that came too soon for the eye are worth a word."""
NS_MS = 1_000_000


class CameraState:
    """What the daemon knows of its camera; `tabled.shell.camera.Camera` alone writes it."""

    def __init__(self, device: str, since_ns: int, digest: str) -> None:
        self.device, self.digest = device, digest
        self.state: State = "opening"
        self.since_ns = since_ns
        self.model = self.error = self.advice = ""
        self.watching = self.over = False
        self.starts = self.undelivered = self.undead = self.loop = 0
        self.beat = Beat(at_ns=since_ns)
        self.lost_permille = self.overtaken_permille = 0

    def enter(self, state: State, now_ns: int) -> None:
        """Come into a state; up means that the last trouble is past."""
        self.state, self.since_ns = state, now_ns
        if state == "up":
            self.error = self.advice = ""
        elif state == "opening":
            self.beat = Beat(at_ns=now_ns)
            self.lost_permille = self.overtaken_permille = 0

    def take(self, beat: Beat) -> None:
        """A heartbeat: counts now, and what part was lost since the one before, smoothed over some ten beats."""
        before, self.beat = self.beat, beat
        made = beat.captured - before.captured
        lost = beat.lost - before.lost + beat.damaged - before.damaged + beat.failed - before.failed
        if made + lost > 0:
            self.lost_permille += (1000 * lost // (made + lost) - self.lost_permille) // 10
            overtaken = 1000 * (beat.overtaken - before.overtaken) // max(1, made)
            self.overtaken_permille += (overtaken - self.overtaken_permille) // 10


class CameraHealth:
    """One look at the state."""

    def __init__(self, state: CameraState, now_ns: int) -> None:
        self._state, self._now_ns = state, now_ns

    def device(self) -> DeviceHealth:
        """As of a reader: what `tabled.shell.health` reports on."""
        s = self._state
        return DeviceHealth(
            s.device,
            s.state,
            s.since_ns,
            Counters(),
            Figures(),
            opened=s.starts,
            undelivered=s.undelivered,
            error=s.error,
            advice=s.advice,
            notes=tuple(f"'{s.device}': {note}" for note in s.beat.notes),
        )

    @property
    def markers_seen(self) -> int | None:
        """How many of the plane's markers are not hidden, as far as that is known."""
        return self._state.beat.markers_seen

    @property
    def shift_upx(self) -> int | None:
        """How far they are from where they were, in millionths of a pixel, as far as that is known."""
        return self._state.beat.shift_upx

    def faults(self) -> list[Reason]:
        """For the dealer's screen too."""
        s = self._state
        if s.loop and s.state != "up":
            return [Reason(CAMERA_LOOP, {"device": s.device, "count": s.loop, "why": s.error[:240]})]
        return []

    def notes(self) -> list[Reason]:
        """For the technician."""
        s = self._state
        found = []
        if s.undead:
            found.append(Reason(CAMERA_UNDEAD, {"device": s.device, "count": s.undead}))
        if s.state != "up":
            return found
        if not s.watching:
            found.append(Reason(CAMERA_UNMEASURED, {"device": s.device}))
        if s.overtaken_permille >= SLOW_PERMILLE:
            found.append(Reason(CAMERA_SLOW, {"device": s.device, "count": s.overtaken_permille // 10}))
        if s.lost_permille >= SLOW_PERMILLE:
            found.append(Reason(CAMERA_LOSES, {"device": s.device, "count": s.lost_permille // 10}))
        return found

    def figures(self) -> dict[str, Any]:
        """In figures; counts since its process was started, times in ms."""
        s, beat = self._state, self._state.beat
        return {
            "model": s.model,
            "watching": s.watching,
            "calibration": s.digest,
            "stamps": beat.stamps,
            "frames": {
                "captured": beat.captured,
                "seen": beat.seen,
                "overtaken": beat.overtaken,
                "lost": beat.lost,
                "damaged": beat.damaged,
                "failed": beat.failed,
            },
            "stalled": beat.stalled,
            "age_ms": beat.age_ns // NS_MS,
            "slowest_ms": beat.worst_ns // NS_MS,
            "memory_mb": beat.memory >> 20,
            "recorder_mb": beat.ring >> 20,
        }
