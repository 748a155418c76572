"""Errors that a person must act on, each with the line that tells how."""

from __future__ import annotations


class BridgeProblem(Exception):
    """Something about one device that a person must mend.  ``str()`` is one line."""

    def __init__(self, device: str, reason: str, advice: str) -> None:
        super().__init__(f"{reason} {advice}")
        self.device = device
        self.reason = reason
        self.advice = advice


class ConfigProblem(BridgeProblem):
    """The device's configuration cannot be used."""


class PortProblem(BridgeProblem):
    """The device's port cannot be opened.  ``port`` is the configured name; ``absent``: nothing is plugged in there."""

    def __str__(self) -> str:
        # The advice names the device and the port already; the reason is the system's own word.
        return f"{self.advice} ({self.reason})"

    def __init__(self, device: str, port: str, reason: str, advice: str, *, absent: bool = False) -> None:
        super().__init__(device, reason, advice)
        self.port = port
        self.absent = absent
