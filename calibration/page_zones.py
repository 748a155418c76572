"""The page's drawing of zones: what is drawn upon, a layout to begin from, checks, mirroring."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from aiohttp import web

from calibration.plan import PROBLEMS
from calibration.steps import StepError
from tabled.model.calibration import Calibration
from tabled.sensing.sections import CalibrationError, load

MAX_TEXT = 64


class ZonesApi:
    """Routes under ``zones/``; all of them answer ``{"error": …}`` with status 400 where something is wrong."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def add_routes(self, app: web.Application, base: str) -> None:
        """Add them to the page's."""
        app.router.add_get(base + "zones/now", self._now)
        app.router.add_get(base + "zones/felt.jpg", self._felt)
        app.router.add_post(base + "zones/draft", self._draft)
        app.router.add_post(base + "zones/check", self._check)
        app.router.add_post(base + "zones/mirror", self._mirror)

    async def _now(self, request: web.Request) -> web.Response:  # noqa: ARG002  aiohttp's signature
        """The zones as they are saved (or none), and the part of the felt that the camera sees."""

        def found() -> dict[str, Any]:
            from calibration.step_zones import felt_picture  # noqa: PLC0415  OpenCV

            whole = Calibration()
            with contextlib.suppress(CalibrationError):  # the step says so; it is drawn anew
                whole = load(self.folder, ("zones",))
            part = self._window()
            zones = msgspec.to_builtins(whole.zones) if whole.zones is not None else None
            there = felt_picture(self.folder, part) is not None
            return {"zones": zones, "window": msgspec.to_builtins(part), "felt": there}

        return await _answered(found)

    async def _felt(self, request: web.Request) -> web.Response:  # noqa: ARG002  aiohttp's signature
        try:
            level = await asyncio.to_thread(self._level)
        except (*PROBLEMS, OSError):
            level = None
        if level is None:
            raise web.HTTPNotFound(reason="no picture of the felt yet")
        return web.Response(body=level, content_type="image/jpeg")

    async def _draft(self, request: web.Request) -> web.Response:
        """``{option: text}`` of the zones step → the default layout."""
        order = await body(request)

        def made() -> dict[str, Any]:
            from calibration.step_zones import STEP, wanted  # noqa: PLC0415  shapely

            known = {option.name: option.default for option in STEP.options}
            given = {k: str(v)[: 1 << 20] for k, v in order.items() if k in known}
            return {"zones": msgspec.to_builtins(wanted({**known, **given}))}

        return await _answered(made)

    async def _check(self, request: web.Request) -> web.Response:
        """``{"zones": drawing}`` → the zones as they would be saved, and what was changed."""
        order = await body(request)

        def checked() -> dict[str, Any]:
            from calibration import zones  # noqa: PLC0415  shapely

            result = zones.partition(zones.from_json(msgspec.json.encode(order.get("zones"))))
            return {"zones": msgspec.to_builtins(result.zones), "changes": result.changes}

        return await _answered(checked)

    async def _mirror(self, request: web.Request) -> web.Response:
        """``{"zones": drawing, "seats": [names], "axis_mm": x, "to_right": bool}`` → the drawing mirrored."""
        order = await body(request)

        def made() -> dict[str, Any]:
            from calibration import zones  # noqa: PLC0415  shapely

            seats, axis = order.get("seats"), order.get("axis_mm")
            if not isinstance(seats, list) or not all(isinstance(s, str) and len(s) <= MAX_TEXT for s in seats):
                raise StepError("mirroring takes the seats' names in order", code="mirror")
            if not isinstance(axis, int | float) or not abs(axis) < 10_000:
                raise StepError("mirroring takes the middle's x in mm", code="mirror")
            drawn = zones.from_json(msgspec.json.encode(order.get("zones")))
            result = zones.mirrored(drawn, seats, float(axis), to_right=order.get("to_right") is not False)
            return {"zones": msgspec.to_builtins(result)}

        return await _answered(made)

    def _window(self) -> Any:
        from calibration import rectify  # noqa: PLC0415  OpenCV
        from calibration.optics import Optics, Pose  # noqa: PLC0415  OpenCV

        whole = load(self.folder, ("lens", "plane"))
        if whole.lens is None or whole.plane is None:
            raise StepError(
                "do the steps lens and plane first: zones are drawn on the felt as they see it", code="needs"
            )
        return rectify.window(Optics.of(whole.lens), Pose.of(whole.plane))

    def _level(self) -> bytes | None:
        from calibration.pictures import jpeg  # noqa: PLC0415  OpenCV
        from calibration.step_zones import felt_picture  # noqa: PLC0415  OpenCV

        found = felt_picture(self.folder, self._window())
        return None if found is None else jpeg(found, 85, 2400)


async def body(request: web.Request) -> dict[str, Any]:
    """The JSON object of an order; a bad request otherwise."""
    try:
        order = msgspec.json.decode(await request.read())
    except (msgspec.DecodeError, RecursionError) as problem:
        raise web.HTTPBadRequest(reason="that is no JSON") from problem
    if not isinstance(order, dict):
        raise web.HTTPBadRequest(reason="an order is an object")
    return order


def answer(value: Any, status: int = 200) -> web.Response:
    """``value`` as JSON."""
    return web.Response(body=msgspec.json.encode(value), status=status, content_type="application/json")


async def _answered(work: Callable[[], dict[str, Any]]) -> web.Response:
    try:
        return answer(await asyncio.to_thread(work))
    except PROBLEMS as problem:
        return answer({"error": str(problem)}, 400)
