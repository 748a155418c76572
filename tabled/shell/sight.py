"""Everything of the daemon that is the camera's: its process, its recordings, its part of the health message.

Without ``[camera]`` all of it is empty and costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from calibration.check import CameraNow
from firmware_bridge.supervisor import DeviceHealth
from firmware_bridge.wire import DeviceLost, DeviceUp, RawBytes
from tabled.model.camera import AnyCameraObservation
from tabled.model.ruling import Reason
from tabled.sensing.process_wire import Written
from tabled.sensing.recorder import Shelf
from tabled.shell.camera import MIB, Camera, Sink, begin_of, memory_of
from tabled.shell.clock import monotonic_ns, wall_ns
from tabled.shell.config import CameraSection, Config
from tabled.shell.disputes import Disputes, Origin
from tabled.shell.engine import Committed
from tabled.shell.intake import MAX_WAITING

NO_CAMERA = "this table has no recorder: set [camera] record to a folder in its configuration"


class Sight:
    """The camera of one table, or none.  ``on_news`` is called when health has something new.

    ``waiting`` tells how many inputs wait for the journal.  Event loop's thread only.
    """

    def __init__(
        self,
        config: Config,
        digest: str,
        sink: Sink,
        on_news: Callable[[], None],
        waiting: Callable[[], int] = lambda: 0,
    ) -> None:
        self._config, self._digest, self._sink, self._on_news = config, digest, sink, on_news
        self._waiting = waiting
        self.camera: Camera | None = None
        self.disputes: Disputes | None = None

    def open(self, epoch: str, version: str) -> None:
        """Make the camera and the recorder that the configuration asks for."""
        section = self._config.camera
        if section is None:
            return
        self.camera = Camera(
            begin_of(section, self._digest),
            self._take,
            monotonic_ns,
            memory=memory_of(section),
            on_written=self._on_written,
        )
        if section.record:
            self.disputes = self._disputes(section, epoch, version)

    def _take(self, observation: DeviceUp | DeviceLost | AnyCameraObservation) -> None:
        """Half of the room on the way to the journal is for presses, orders and readers.  Raises OverflowError."""
        if self._waiting() >= MAX_WAITING // 2:
            raise OverflowError(
                f"{MAX_WAITING // 2} inputs wait for the journal; what is left is for presses and orders"
            )
        self._sink(observation)

    def _disputes(self, section: CameraSection, epoch: str, version: str) -> Disputes:
        origin = Origin(
            site=self._config.table.site,
            table=self._config.table.name,
            version=version,
            journal=epoch,
            calibration=self._digest,
        )
        shelf = Shelf(Path(section.record), section.record_quota_mb * MIB)
        span_ns = section.record_seconds * 1_000_000_000
        return Disputes(self.camera, shelf, origin, monotonic_ns, wall_ns, span_ns=span_ns, on_news=self._on_news)

    def start(self) -> None:
        """Start the process."""
        if self.camera is not None:
            self.camera.start()

    async def stop(self) -> None:
        """Write what was asked for, then end the process."""
        if self.disputes is not None:
            await self.disputes.stop()
        if self.camera is not None:
            await self.camera.stop()

    def overhear(self, raw: RawBytes, from_host: bool) -> None:
        """Bytes on the wire of a reader or panel."""
        if self.disputes is not None:
            self.disputes.overhear(raw, from_host)

    def follow(self, committed: Committed) -> None:
        """A durable input and what came of it."""
        if self.disputes is not None:
            self.disputes.follow(committed)

    def record(self, reason: str) -> tuple[bool, str]:
        """Somebody wants a recording: whether there will be one, and what they are told."""
        if self.disputes is None:
            return False, NO_CAMERA
        self.disputes.ask(reason or "asked")
        return True, f"the last half minute is being written to {self._config.camera.record}"  # type: ignore[union-attr]  # disputes come with a camera

    def _on_written(self, written: Written) -> None:
        if self.disputes is not None:
            self.disputes.written(written)

    # -- health ----------------------------------------------------------------------------------

    def devices(self) -> tuple[DeviceHealth, ...]:
        """The camera among the devices."""
        return () if self.camera is None else (self.camera.health().device(),)

    def landmarks(self) -> CameraNow | None:
        """What its process last said of the plane's markers."""
        if self.camera is None:
            return None
        health = self.camera.health()
        return CameraNow(markers_seen=health.markers_seen, moved_upx=health.shift_upx)

    def faults(self) -> list[Reason]:
        """For the dealer's screen too."""
        camera = [] if self.camera is None else self.camera.health().faults()
        return camera + ([] if self.disputes is None else self.disputes.faults())

    def notes(self) -> list[Reason]:
        """For the technician."""
        return [] if self.camera is None else self.camera.health().notes()

    def figures(self, device: str) -> dict[str, Any]:
        """What the health message says of the camera besides what it says of any device."""
        if self.camera is None or self._config.camera is None or device != self._config.camera.id:
            return {}
        recorder = {} if self.disputes is None else {"recorder": self.disputes.figures()}
        return {"camera": {**self.camera.health().figures(), **recorder}}
