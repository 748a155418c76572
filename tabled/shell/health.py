"""What is wrong with the devices, in reasons for people: what the dealer must know, and what a technician should.

Counters never fall, so a fault would stand for ever: it is told for `RECENT_NS` after the counter last rose,
with the count since the start.  Everything else about the devices goes out in figures (`figures`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from firmware_bridge.supervisor import DeviceHealth
from tabled.model.ruling import Reason

RECENT_NS = 60_000_000_000
MAX_NOTES = 16
"""Notes a device; the bridge keeps a bounded few."""
MAX_TEXT = 240
"""Characters of a text that comes from below."""

DEVICE_LOST = "device_lost"
PRESSES_DROPPED = "presses_dropped"
UNDELIVERED = "observations_undelivered"
INVENTORIES_DROPPED = "inventories_dropped"
SWEEPS_OVER_BOUND = "sweeps_over_bound"
WRITES_DROPPED = "writes_dropped"
CLOCK_JUMPS = "clock_jumps"
REBOOTS = "device_reboots"
DEVICE_NOTE = "device_note"


class Report(msgspec.Struct, frozen=True):
    """``faults`` are for the dealer's screen too, ``notes`` for the technician alone."""

    faults: tuple[Reason, ...] = ()
    notes: tuple[Reason, ...] = ()


class HealthWatch:
    """Remembers when each counter last rose."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, str], int] = {}
        self._rose_ns: dict[tuple[str, str], int] = {}

    def report(self, devices: Iterable[DeviceHealth], thinned: int, now_ns: int) -> Report:
        """What to say now.  ``thinned``: inventories that found no room on the way to the journal, since the start."""
        faults: list[Reason] = []
        notes: list[Reason] = []
        if self._recent("", INVENTORIES_DROPPED, thinned, now_ns):
            faults.append(Reason(INVENTORIES_DROPPED, {"count": thinned}))
        for device in devices:
            if device.state == "lost":
                why = {"device": device.id, "why": device.error[:MAX_TEXT], "advice": device.advice[:MAX_TEXT]}
                faults.append(Reason(DEVICE_LOST, {**why}))
            for_dealer = ((PRESSES_DROPPED, device.counters.dropped), (UNDELIVERED, device.undelivered))
            for_technician = (
                (SWEEPS_OVER_BOUND, device.counters.over_bound),
                (WRITES_DROPPED, device.write_dropped),
                (CLOCK_JUMPS, device.figures.clock_jumps),
                (REBOOTS, device.counters.restarts),
            )
            for found, counts in ((faults, for_dealer), (notes, for_technician)):
                for code, count in counts:
                    if self._recent(device.id, code, count, now_ns):
                        found.append(Reason(code, {"device": device.id, "count": count}))
            notes += [
                Reason(DEVICE_NOTE, {"device": device.id, "note": note[:MAX_TEXT]}) for note in device.notes[:MAX_NOTES]
            ]
        return Report(tuple(faults), tuple(notes))

    def _recent(self, device: str, code: str, count: int, now_ns: int) -> bool:
        key = (device, code)
        if count > self._counts.get(key, 0):
            self._counts[key] = count
            self._rose_ns[key] = now_ns
        return key in self._rose_ns and now_ns - self._rose_ns[key] < RECENT_NS


def figures(device: DeviceHealth, now_ns: int) -> dict[str, Any]:
    """One device in figures, for a technician or a monitor.  Times in ms; counts since the daemon's start."""
    measured = device.figures
    return {
        "id": device.id,
        "state": device.state,
        "for_ms": max(0, now_ns - device.since_ns) // 1_000_000,
        "opened": device.opened,
        "error": device.error[:MAX_TEXT],
        "advice": device.advice[:MAX_TEXT],
        "counters": {
            **{k: v for k, v in msgspec.to_builtins(device.counters).items() if v},
            **({"write_dropped": device.write_dropped} if device.write_dropped else {}),
            **({"undelivered": device.undelivered} if device.undelivered else {}),
            **({"clock_jumps": measured.clock_jumps} if measured.clock_jumps else {}),
        },
        "sweep_ms": _ms(measured.sweep_ns),
        "sweep_max_ms": _ms(measured.sweep_max_ns),
        "worst_sweep_ms": _ms(measured.worst_sweep_ns),
        "clock_ms": _ms(measured.clock_ns),
    }


def _ms(ns: int | None) -> int | None:
    return None if ns is None else -(-ns // 1_000_000)
