"""The calibration as a web page of this machine: the same steps as at the terminal, one after the other.

It listens on loopback only, under an address with a random part, so that another user or page of this machine cannot
drive it.  Pages of other origins are refused by the address, the host's name and the content type of every order.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import secrets
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
from aiohttp import web
from aiohttp.typedefs import Handler

from calibration.outcomes import FOLDER, kept
from calibration.page_zones import ZonesApi, answer, body
from calibration.plan import standing, steps
from calibration.runner import Busy, Runner
from calibration.steps import Option, Step, StepError

HOST = "127.0.0.1"
MAX_BODY = 1 << 20
MAX_OPTIONS = 64
WAIT_S = 20.0
"""How long a request for events is held when there is none."""
LOOK_S = 0.05
"""How often such a request looks whether there is one."""
_WEB = Path(__file__).parent / "web"
_FILES = {
    "": ("index.html", "text/html"),
    "style.css": ("style.css", "text/css"),
    "icon.svg": ("icon.svg", "image/svg+xml"),
    **{f"{name}.js": (f"{name}.js", "text/javascript") for name in ("app", "dom", "editor", "shapes")},
}
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class PageError(StepError):
    """The page cannot be served; the message is one line that says what to do."""


class Page:
    """The page of one folder.  After `start`, `url` is the address to open."""

    def __init__(self, folder: Path, port: int = 0) -> None:
        self.folder, self._want = folder, port
        self.token = secrets.token_urlsafe(18)
        self.runner = Runner(folder)
        self.port = 0
        self._zones = ZonesApi(folder)
        self._web: web.AppRunner | None = None

    @property
    def url(self) -> str:
        """The address, with the random part that opens it."""
        return f"http://{HOST}:{self.port}/{self.token}/"

    async def start(self) -> None:
        """Listen; raises `PageError` when the port is taken."""
        app = web.Application(client_max_size=MAX_BODY, middlewares=[self._guard])
        base = f"/{self.token}/"
        for name in _FILES:
            app.router.add_get(base + name, self._file)
        app.router.add_get(base + "state", self._state)
        app.router.add_get(base + "events", self._events)
        app.router.add_get(base + "look", self._look)
        app.router.add_get(base + "plots/{file}", self._plot)
        app.router.add_get(base + "{print:board-a[34]|markers}.pdf", self._print)
        app.router.add_post(base + "run", self._run)
        app.router.add_post(base + "answer", self._answer)
        app.router.add_post(base + "stop", self._stop)
        self._zones.add_routes(app, base)
        self._web = web.AppRunner(app, access_log=None, handle_signals=False, shutdown_timeout=1.0)
        await self._web.setup()
        try:
            await web.TCPSite(self._web, HOST, self._want).start()
        except OSError as problem:
            await self.stop()
            raise PageError(
                f"the page cannot be served on {HOST}:{self._want} ({problem.strerror}): stop what uses that port, or "
                "leave --port away to take a free one",
                code="port",
            ) from None
        self.port = int(self._web.addresses[0][1])

    async def stop(self) -> None:
        """Stop the running step and listening.  Safe to call twice."""
        self.runner.stop()
        runner, self._web = self._web, None
        if runner is not None:
            await runner.cleanup()

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Only by this machine's names, with the token, and orders only as JSON (which no foreign form can send)."""
        first = request.path.split("/")[1] if request.path.count("/") else ""
        response: web.StreamResponse
        if _host(request.host) not in ("127.0.0.1", "localhost", "::1"):
            response = web.Response(status=403, text="Open this page by the address 127.0.0.1.\n")
        elif not hmac.compare_digest(first.encode(), self.token.encode()):
            response = web.Response(status=404, text="Open the page by the whole address in the terminal.\n")
        elif request.method == "POST" and request.content_type != "application/json":
            response = web.Response(status=415, text="Orders are JSON.\n")
        else:
            try:
                response = await handler(request)
            except web.HTTPException as error:
                response = web.Response(status=error.status, text=f"{error.reason}\n")
        response.headers.update(_HEADERS)
        return response

    async def _file(self, request: web.Request) -> web.Response:
        name, kind = _FILES[request.path.rsplit("/", 1)[1]]
        return web.Response(body=(_WEB / name).read_bytes(), content_type=kind, charset="utf-8")

    async def _state(self, request: web.Request) -> web.Response:  # noqa: ARG002  aiohttp's signature
        """Where everything stands."""
        listed = await asyncio.to_thread(lambda: [_listed(step, self.folder) for step in steps()])
        runner = self.runner
        return answer(
            {
                "folder": str(self.folder),
                "steps": listed,
                "running": runner.running,
                "question": runner.question,
                "last": runner.last,
            }
        )

    async def _events(self, request: web.Request) -> web.Response:
        """``?after=N``: the events since, at once or when there is one."""
        try:
            after = int(request.query.get("after", "0"))
        except ValueError:
            raise web.HTTPBadRequest(reason="after is a number") from None
        found = await self._news(after)
        return answer({"events": found, "running": self.runner.running, "question": self.runner.question})

    async def _news(self, after: int) -> list[dict[str, Any]]:
        """Events since ``after``.  It waits here and not in a thread: a page that was closed while it waited would hold
        its thread for so long, and a handful of them would hold up every other request."""
        loop = asyncio.get_running_loop()
        until = loop.time() + WAIT_S
        while not (found := self.runner.events(after)) and loop.time() < until and self._web is not None:
            await asyncio.sleep(LOOK_S)
        return found

    async def _look(self, request: web.Request) -> web.Response:  # noqa: ARG002  aiohttp's signature
        picture = self.runner.picture
        if not picture:
            raise web.HTTPNotFound(reason="no picture yet")
        kind = "image/png" if picture.startswith(b"\x89PNG") else "image/jpeg"
        return web.Response(body=picture, content_type=kind)

    async def _plot(self, request: web.Request) -> web.Response:
        """A picture of an outcome; only names that an outcome in the folder has."""
        wanted = request.match_info["file"]
        for step in steps():
            found = kept(self.folder, step.name)
            if found and any(p.file == wanted for p in found.pictures):
                path = self.folder / FOLDER / wanted
                with contextlib.suppress(OSError):
                    return web.Response(body=path.read_bytes(), content_type="image/png")
        raise web.HTTPNotFound(reason="no such picture")

    async def _print(self, request: web.Request) -> web.Response:
        """The board or the markers, to be printed."""
        from calibration.printing import board_pdf, markers_pdf  # noqa: PLC0415  OpenCV

        wanted = request.match_info["print"]
        if wanted == "markers":
            made = await asyncio.to_thread(markers_pdf, range(6), 90.0)
        else:
            made = await asyncio.to_thread(board_pdf, wanted.removeprefix("board-"))
        return web.Response(body=made, content_type="application/pdf")

    async def _run(self, request: web.Request) -> web.Response:
        """``{"step": name, "given": {option: text}}``."""
        order = await body(request)
        given = order.get("given", {})
        good = isinstance(given, dict) and len(given) <= MAX_OPTIONS and all(isinstance(v, str) for v in given.values())
        if not good or not isinstance(order.get("step"), str):
            raise web.HTTPBadRequest(reason="an order has a step and its options as texts")
        try:
            self.runner.start(order["step"], {str(k): v for k, v in given.items()})
        except Busy as busy:
            return answer({"error": str(busy)}, status=409)
        except StepError as problem:
            return answer({"error": str(problem)}, status=400)
        return answer({"started": order["step"]})

    async def _answer(self, request: web.Request) -> web.Response:
        """``{"n": number of the question, "text": answer}``."""
        order = await body(request)
        number, text = order.get("n"), order.get("text")
        if not isinstance(number, int) or not isinstance(text, str) or len(text) > 2000:
            raise web.HTTPBadRequest(reason="an answer has the question's number and a text")
        if not self.runner.answer(number, text):
            return answer({"error": "that question is over, or this is none of its answers"}, status=409)
        return answer({"answered": number})

    async def _stop(self, request: web.Request) -> web.Response:  # noqa: ARG002  aiohttp's signature
        self.runner.stop()
        return answer({"stopping": self.runner.running})


def _host(named: str) -> str:
    """The name in a request's Host, "" for one that is none."""
    try:
        return urlsplit(f"//{named}").hostname or ""
    except ValueError:
        return ""


def _listed(step: Step, folder: Path) -> dict[str, Any]:
    state = standing(step, folder)
    last = kept(folder, step.name)
    return {
        "name": step.name,
        "title": step.title,
        "about": step.about,
        "minutes": step.minutes,
        "required": step.required,
        "needs": step.needs,
        "options": [_option(option) for option in step.options],
        "state": state.state,
        "text": state.text,
        "outcome": msgspec.to_builtins(last) if last is not None else None,
    }


def _option(option: Option) -> dict[str, Any]:
    return {
        "name": option.name,
        "label": option.label,
        "kind": option.kind,
        "default": option.default,
        "choices": option.choices,
    }


def serve(folder: Path, port: int, say: Callable[[str], object]) -> None:
    """Serve the page until Ctrl-C; raises `PageError` when the port is taken."""

    async def work() -> None:
        page = Page(folder, port)
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop.set)
        await page.start()
        say(f"calibration of {folder}/: open {page.url}")
        try:
            await stop.wait()
        finally:
            await page.stop()

    asyncio.run(work())
