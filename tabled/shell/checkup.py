"""The daemon's own look at its calibration, at the start and once a minute: what it notes, and what it says.

It keeps for each antenna when a clean look was last there and which piles of the camera nothing was read of, which
together with the devices' health is all that `calibration.check` wants to know.  Event loop's thread only.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from calibration.check import AntennaNow, CameraNow, FilesNow, Finding, Snapshot, check
from firmware_bridge.supervisor import DeviceHealth
from firmware_bridge.wire import AnyObservation, CleanEmpty, Present
from tabled.model.calibration import Calibration
from tabled.model.camera import AnyCameraObservation, CameraTrust, ChipsLanded
from tabled.model.layout import Layout
from tabled.model.ruling import Reason
from tabled.sensing import sections

PERIOD_NS = 60_000_000_000
MS = 1_000_000
CLEAN_WITHIN_MS = 150_000
"""Of an antenna on which nothing changes the bridge lets one look a minute through (`session.settle`); without two of
them something is wrong."""
READ_WITHIN_NS = 3_000_000_000
"""A pile that landed has its tags read by then."""
STEADY_NS = 15_000_000_000
"""A reader that is up for less is only beginning."""
MAX_WAITING = 64

Spot = tuple[str, int]


class Checkup:
    """Notes observations as they come; `due` looks at everything now and then."""

    def __init__(self, layout: Layout, calibration: Calibration | None, camera: str, folder: str = "") -> None:
        """``folder``: where the calibration's files are, "" where the table takes none."""
        self._folder, self._files = folder, None if calibration is None else FilesNow(digest=calibration.digest)
        self._calibration = calibration or Calibration()
        self._places = {
            (a.device, a.antenna): f"{a.place.kind}:{a.place.seat}" if a.place.seat else a.place.kind
            for a in layout.antennas
        }
        self._camera = camera
        self._clean_ns: dict[Spot, int] = {}
        self._tags: dict[Spot, frozenset[str]] = {}
        self._waiting: list[tuple[int, str]] = []
        """Landings that nothing was read of yet: when it must have been, and the place."""
        self._unread: dict[str, int] = {}
        self._distrusted: dict[str, str] = {}
        self._landmarks = CameraNow()
        self._began_ns = 0
        self._next_ns: int | None = None
        self.findings: tuple[Finding, ...] = ()

    def notice(self, seen: AnyObservation | AnyCameraObservation) -> None:
        """An observation came."""
        match seen:
            case Present() | CleanEmpty():
                self._look(seen)
            case ChipsLanded():
                if len(self._waiting) < MAX_WAITING:
                    self._waiting.append((seen.span.latest_ns + READ_WITHIN_NS, f"bet:{seen.seat}"))
            case CameraTrust(trusted=True):
                self._distrusted.pop(seen.seat, None)
            case CameraTrust():
                self._distrusted[seen.seat] = seen.reason

    def due(self, devices: Sequence[DeviceHealth], now_ns: int, landmarks: CameraNow | None = None) -> bool:
        """Look at everything if a minute is over (and at the start); whether the findings are others than before.

        ``landmarks`` is what the camera says of the plane's markers; where it says nothing, what it said last stands.
        """
        self._settle(now_ns)
        if landmarks is not None and self._sight(landmarks) and self._next_ns is not None:
            self._next_ns = now_ns
        if self._next_ns is not None and now_ns < self._next_ns:
            return False
        if self._next_ns is None:
            self._began_ns = now_ns
        self._next_ns = now_ns + PERIOD_NS
        before, self.findings = self.findings, check(self._calibration, self._snapshot(devices, now_ns))
        return before != self.findings

    async def mind(self) -> None:
        """Once a minute, for good: are the calibration's files still those that were read?"""
        while self._folder:
            await asyncio.sleep(PERIOD_NS / 1e9)
            self._files = await asyncio.to_thread(files_now, Path(self._folder))

    def faults(self) -> list[Reason]:
        """For the dealer's screen too."""
        return [f.reason for f in self.findings if f.fault]

    def notes(self) -> list[Reason]:
        """For the technician."""
        return [f.reason for f in self.findings if not f.fault]

    def _sight(self, now: CameraNow) -> bool:
        """Take what is known of the markers; whether that is worth a look before the minute is over.

        A camera's first word comes some seconds after the start, to which it belongs.
        """
        was = self._landmarks
        seen = was.markers_seen if now.markers_seen is None else now.markers_seen
        moved = was.moved_upx if now.moved_upx is None else now.moved_upx
        self._landmarks = CameraNow(markers_seen=seen, moved_upx=moved)
        return seen != was.markers_seen or (moved is None) != (was.moved_upx is None)

    def _look(self, seen: Present | CleanEmpty) -> None:
        spot = (str(seen.device), seen.antenna)
        self._clean_ns[spot] = max(self._clean_ns.get(spot, 0), seen.span.latest_ns)
        uids = frozenset(t.uid for t in seen.tags) if isinstance(seen, Present) else frozenset[str]()
        if uids - self._tags.get(spot, frozenset()):
            place = self._places.get(spot, "")
            self._unread.pop(place, None)
            self._waiting = [one for one in self._waiting if one[1] != place]
        self._tags[spot] = uids

    def _settle(self, now_ns: int) -> None:
        for by_ns, place in self._waiting:
            if by_ns <= now_ns:
                self._unread[place] = self._unread.get(place, 0) + 1
        self._waiting = [one for one in self._waiting if one[0] > now_ns]

    def _snapshot(self, devices: Sequence[DeviceHealth], now_ns: int) -> Snapshot:
        steady = {d.id: d for d in devices if d.state == "up" and now_ns - d.since_ns >= STEADY_NS}
        antennas = []
        for (device, antenna), place in self._places.items():
            clean_ms = None
            if device in steady:
                last_ns = max(self._clean_ns.get((device, antenna), 0), steady[device].since_ns, self._began_ns)
                clean_ms = max(0, now_ns - last_ns) // MS
            unread = self._unread.get(place, 0)
            antennas.append(
                AntennaNow(
                    device=device,
                    antenna=antenna,
                    place=place,
                    clean_ms=clean_ms,
                    within_ms=CLEAN_WITHIN_MS,
                    unread=unread,
                )
            )
        panels = {d.id: -(-d.figures.clock_ns // MS) for d in steady.values() if d.figures.clock_ns is not None}
        camera = replace(self._landmarks, distrusted=dict(self._distrusted)) if self._camera else None
        return Snapshot(antennas=tuple(antennas), panels=panels, camera=camera, files=self._files)


def files_now(folder: Path) -> FilesNow:
    """The calibration's files as they are on the disk."""
    try:
        return FilesNow(digest=sections.load(folder).digest)
    except sections.CalibrationError as problem:
        step = next((step for name, step in sections.STEPS.items() if name == problem.section), "")
        return FilesNow(why=str(problem), step=step)
