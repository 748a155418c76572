"""Serves the dealer's page on loopback, from files of the package: no cloud, no other origin.

The server is thin: it hands out the page and, in ``/boot.json``, where the broker's WebSockets are.
All that lives comes over MQTT.
"""

from __future__ import annotations

import mimetypes
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
from aiohttp import web
from aiohttp.typedefs import Handler

from tabled.outlets.messages import LANGUAGES
from tabled.outlets.topics import Origin

HOST = "127.0.0.1"
_WEB = Path(__file__).parent / "web"
_FILES = {
    "/": "index.html",
    "/style.css": "style.css",
    "/icon.svg": "icon.svg",
    **{f"/{name}.js": f"{name}.js" for name in ("app", "card", "dom", "link", "model", "now", "ring", "view", "words")},
    "/mqtt.min.js": "vendor/mqtt.min.js",
}


class DisplayError(Exception):
    """The page cannot be served.  The text is one line that says what to do."""


class Display:
    """The page's web server.  ``port`` 0 takes a free one; after `start`, `url` is the address to open.

    ``ws_url`` is where a browser reaches the broker (``ws://`` or ``wss://``); where it is empty the page says so.
    ``language`` is the page's own until somebody clicks another one (kept by that browser).
    Raises `DisplayError` for a language that the page does not speak and an address that no browser can open.
    """

    def __init__(self, origin: Origin, ws_url: str, *, port: int = 0, language: str = "en") -> None:
        if language not in LANGUAGES:
            raise DisplayError(
                f"The display page does not speak {language!r}: set [table] language to one of {', '.join(LANGUAGES)}."
            )
        self._origin, self._ws_url, self._want, self._language = origin, ws_url, port, language
        self._connect = _connect_source(ws_url)
        self._runner: web.AppRunner | None = None
        self.port = 0
        self._content = {path: (_type_of(name), (_WEB / name).read_bytes()) for path, name in _FILES.items()}

    @property
    def url(self) -> str:
        """Address of the page."""
        return f"http://{HOST}:{self.port}/"

    async def start(self) -> None:
        """Listen.  Raises `DisplayError` when the port is taken."""
        app = web.Application(client_max_size=1024, middlewares=[self._guard])
        for path in self._content:
            app.router.add_get(path, self._file)
        app.router.add_get("/boot.json", self._boot)
        self._runner = web.AppRunner(app, access_log=None, handle_signals=False, shutdown_timeout=1.0)
        await self._runner.setup()
        site = web.TCPSite(self._runner, HOST, self._want)
        try:
            await site.start()
        except OSError as error:
            await self.stop()
            raise DisplayError(
                f"The display page cannot be served on {HOST}:{self._want} ({error.strerror}): stop what uses it, "
                "or set [display] port to another one (0 takes a free one)."
            ) from None
        self.port = int(self._runner.addresses[0][1])

    async def stop(self) -> None:
        """Stop listening.  Safe to call twice."""
        runner, self._runner = self._runner, None
        if runner is not None:
            await runner.cleanup()

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Only this machine's own names (a foreign name that resolves to 127.0.0.1 would be DNS rebinding)."""
        if (urlsplit(f"//{request.host}").hostname or "") not in ("127.0.0.1", "localhost", "::1"):
            response: web.StreamResponse = web.Response(status=403, text="Open this page by the address 127.0.0.1.\n")
        else:
            try:
                response = await handler(request)
            except web.HTTPException as error:
                response = web.Response(status=error.status, text=f"{error.reason}\n")
        response.headers.update(self._headers())
        return response

    def _headers(self) -> dict[str, str]:
        return {
            "Content-Security-Policy": (
                "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
                f"connect-src {self._connect}; "
                "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
            ),
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
            "Cache-Control": "no-store",
        }

    async def _file(self, request: web.Request) -> web.Response:
        kind, body = self._content[request.path]
        return web.Response(body=body, headers={"Content-Type": kind})

    async def _boot(self, request: web.Request) -> web.Response:  # noqa: ARG002  aiohttp's signature
        """``{ws_url, prefix, site, table, epoch, languages, language}``."""
        boot = {
            "ws_url": self._ws_url,
            "prefix": self._origin.prefix,
            "site": self._origin.site,
            "table": self._origin.table,
            "epoch": self._origin.epoch,
            "languages": LANGUAGES,
            "language": self._language,
        }
        return web.Response(body=msgspec.json.encode(boot), headers={"Content-Type": "application/json"})


def _connect_source(ws_url: str) -> str:
    """The policy's ``connect-src``: this server, and the broker if a browser can reach it."""
    if not ws_url:
        return "'self'"
    try:
        ws = urlsplit(ws_url)
        good = ws.scheme in ("ws", "wss") and ws.hostname and (ws.port is None or ws.port > 0) and "@" not in ws.netloc
    except ValueError:
        good = False
    if not good or any(c in ws_url for c in " ;,'\"\r\n"):
        raise DisplayError(
            f"The display page cannot reach the broker at {ws_url!r}: set [mqtt] websocket to an address such as "
            "ws://broker.example:9001."
        )
    return f"'self' {ws.scheme}://{ws.netloc}"


def _type_of(name: str) -> str:
    kind = "text/javascript" if name.endswith(".js") else mimetypes.guess_type(name)[0] or "text/plain"
    return f"{kind}; charset=utf-8"
