"""How far off a seat's betting line may be: what the plane step promises, seat by seat."""

from __future__ import annotations

from calibration.optics import Optics, Pose, mm
from calibration.plane import pose_covariance, spread_mm
from tabled.model.calibration import Plane, Zones


def at_lines(optics: Optics, plane: Plane, zones: Zones) -> list[tuple[str, float]]:
    """(seat, mm) for each bet zone: the worst standard deviation of a place along its line.

    From the pose's covariance, which grows with what the markers leave unexplained (a tape's errors, a bent felt).
    """
    pose, covariance = Pose.of(plane), pose_covariance(optics, plane)
    return [
        (zone.seat, float(spread_mm(optics, pose, covariance, mm(zone.line)).max()))
        for zone in zones.zones
        if zone.kind == "bet"
    ]
