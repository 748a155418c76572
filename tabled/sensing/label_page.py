"""Serves the page on which a person marks what a recording shows, on loopback, from files of the package.

| | |
|---|---|
| ``GET /recording.json`` | name, frames, stamps in ms, the zones' outlines in pixels, seats, denominations |
| ``GET /frame/<n>.jpg`` | a picture, as it was recorded |
| ``GET``, ``PUT /labels.json`` | `tabled.sensing.label.Labels`; 409 with those on the disk where a PUT is stale |
| ``GET /truth.json`` | `tabled.sensing.label_export.export` |

A PUT must be ``application/json``: no page of another origin can send one without asking first.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
from aiohttp import web
from aiohttp.typedefs import Handler

from tabled.model.calibration import Zone
from tabled.sensing.label import MAX_BYTES, LabelBook, LabelError, Stale, decode
from tabled.sensing.label_export import calibration_in, export, view_of
from tabled.sensing.recording import Recording, RecordingError

HOST = "127.0.0.1"
_WEB = Path(__file__).parent / "label_web"
_FILES = {
    "/": ("index.html", "text/html"),
    "/label.css": ("label.css", "text/css"),
    "/label.js": ("label.js", "text/javascript"),
    "/marks.js": ("marks.js", "text/javascript"),
}
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
SEATS = tuple(str(n) for n in range(1, 11))


class LabelPage:
    """The page's web server for one recording.  ``port`` 0 takes a free one; after `start`, `url` is its address."""

    def __init__(self, recording: Recording, *, port: int = 0) -> None:
        self._recording = recording
        self._book = LabelBook(recording)
        self._book.load()  # a file that cannot be used is said now, not in the browser
        self._about = about(recording)
        self._want = port
        self._runner: web.AppRunner | None = None
        self._lock = asyncio.Lock()
        self.port = 0

    @property
    def url(self) -> str:
        """Address of the page."""
        return f"http://{HOST}:{self.port}/"

    async def start(self) -> None:
        """Listen.  Raises `LabelError` when the port is taken."""
        app = web.Application(client_max_size=MAX_BYTES + 1024, middlewares=[_guard])
        for path in _FILES:
            app.router.add_get(path, _file)
        app.router.add_get("/recording.json", self._get_about)
        app.router.add_get(r"/frame/{index:\d{1,7}}.jpg", self._get_frame)
        app.router.add_get("/labels.json", self._get_labels)
        app.router.add_put("/labels.json", self._put_labels)
        app.router.add_get("/truth.json", self._get_truth)
        self._runner = web.AppRunner(app, access_log=None, handle_signals=False, shutdown_timeout=1.0)
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, HOST, self._want).start()
        except OSError as error:
            await self.stop()
            raise LabelError(
                f"the page cannot be served on {HOST}:{self._want} ({error.strerror}); give another --port"
            ) from None
        self.port = int(self._runner.addresses[0][1])

    async def stop(self) -> None:
        """Stop listening.  Safe to call twice."""
        runner, self._runner = self._runner, None
        if runner is not None:
            await runner.cleanup()

    async def _get_about(self, request: web.Request) -> web.Response:  # noqa: ARG002  aiohttp's signature
        return _json(self._about)

    async def _get_frame(self, request: web.Request) -> web.Response:
        index = int(request.match_info["index"])
        if index >= len(self._recording.stamps_ns):
            raise web.HTTPNotFound(text="there is no such frame\n")
        still = await asyncio.get_running_loop().run_in_executor(None, self._recording.frame, index)
        return web.Response(body=still.jpeg, content_type="image/jpeg", headers={"Cache-Control": "max-age=3600"})

    async def _get_labels(self, request: web.Request) -> web.Response:  # noqa: ARG002  aiohttp's signature
        return _json(self._book.load())

    async def _put_labels(self, request: web.Request) -> web.Response:
        if request.content_type != "application/json":
            raise web.HTTPUnsupportedMediaType(text="send application/json\n")
        labels = decode(await request.read(), frames=self._book.frames)
        async with self._lock:
            try:
                kept = await asyncio.get_running_loop().run_in_executor(None, self._book.store, labels)
            except Stale as stale:
                return _json({"problem": str(stale), "labels": stale.present}, status=409)
        return _json(kept)

    async def _get_truth(self, request: web.Request) -> web.Response:  # noqa: ARG002  aiohttp's signature
        return web.Response(body=export(self._book.load(), self._recording), content_type="application/json")


def about(recording: Recording) -> dict[str, Any]:
    """What the page needs to know of a recording.  Raises `LabelError`."""
    calibration = calibration_in(recording)
    view = view_of(calibration)
    zones = () if calibration.zones is None or view is None else calibration.zones.zones

    def drawn(zone: Zone) -> dict[str, Any]:
        assert view is not None

        def pixels(points: Any) -> list[list[float]]:
            return view.pixels([[p.x_um / 1000, p.y_um / 1000] for p in points]).round(1).tolist() if points else []

        return {"kind": zone.kind, "seat": zone.seat, "outline": pixels(zone.outline), "line": pixels(zone.line)}

    first = recording.stamps_ns[0] if recording.stamps_ns else 0
    seats = tuple(z.seat for z in zones if z.kind == "bet") or SEATS
    return {
        "name": recording.path.name,
        "table": f"{recording.facts.site}/{recording.facts.table}",
        "reason": recording.facts.reason,
        "frames": len(recording.stamps_ns),
        "stamps_ms": [round((t - first) / 1e6, 1) for t in recording.stamps_ns],
        "zones": [drawn(z) for z in zones],
        "seats": seats,
        "denominations": [c.denomination for c in calibration.palette.colours] if calibration.palette else [],
    }


@web.middleware
async def _guard(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Only by this machine's own names, as for the dealer's page; an error is its one line."""
    response: web.StreamResponse
    if (urlsplit(f"//{request.host}").hostname or "") not in (HOST, "localhost"):
        response = web.Response(status=403, text=f"Open this page by the address {HOST}.\n")
    else:
        try:
            response = await handler(request)
        except web.HTTPException as error:
            response = web.Response(status=error.status, text=error.text)
        except (LabelError, RecordingError) as error:
            response = _json({"problem": str(error)}, status=400)
    for name, value in _HEADERS.items():
        response.headers.setdefault(name, value)
    return response


async def _file(request: web.Request) -> web.Response:
    name, kind = _FILES[request.path]
    return web.Response(body=(_WEB / name).read_bytes(), content_type=kind, charset="utf-8")


def _json(value: Any, *, status: int = 200) -> web.Response:
    return web.Response(status=status, body=msgspec.json.encode(value), content_type="application/json")
