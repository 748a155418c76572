"""Stream Decks by the ``streamdeck`` package: keys in as records, faces out as pictures.

The package reads in a thread of its own, which ends without a word when the deck is unplugged; so its pulse is
felt four times a second.  Drawing and writing block for some milliseconds a key: one worker thread does them,
newest faces only, changed keys only.  Needs the ``panels`` extra and the system's hidapi library.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import msgspec

from firmware_bridge.ports.port import MAX_QUEUED, OnData, OnGone
from firmware_bridge.session.contract import DeckPort
from firmware_bridge.session.deck import MAX_KEYS, Face
from firmware_bridge.session.keyinput import hello_record, key_record
from firmware_bridge.session.problems import PortProblem

PULSE_S = 0.25
OPEN_S = 5.0
POLL_HZ = 100
COLOURS = {
    "verb": ("#e8e8e8", "#16324a"),
    "dim": ("#7d8790", "#10202c"),
    "digit": ("#ffffff", "#333333"),
    "page": ("#ffe08a", "#3a3012"),
    "entry": ("#7dff9a", "#000000"),
    "lit": ("#101010", "#f2b632"),
    "blank": ("#000000", "#000000"),
}
"""Letters and ground by style; one is far lighter than the other, for rooms that are dim."""


class DeckLine:
    """One open deck.  Made by `open_deck`."""

    def __init__(self, deck: Any, name: str, on_data: OnData, on_gone: OnGone, worker: ThreadPoolExecutor) -> None:
        self._deck = deck
        self._on_data = on_data
        self._on_gone = on_gone
        self._worker = worker
        self._loop = asyncio.get_running_loop()
        self._open = True
        self._drawing = False
        self._wanted: list[Face] | None = None
        self._drawn: dict[int, Face] = {}
        self.dropped = 0
        deck.set_key_callback(self._pressed)
        self._loop.call_soon(self._tell, hello_record(name, deck.key_count()))
        self._pulse = self._loop.call_later(PULSE_S, self._feel)

    def write(self, data: bytes) -> None:
        """Faces of all keys, one JSON line (see `firmware_bridge.session.deck.Face`)."""
        if not self._open or not data:
            return
        try:
            faces = msgspec.json.decode(data, type=list[Face]) if len(data) <= MAX_QUEUED else []
        except msgspec.DecodeError:
            faces = []
        if not 0 < len(faces) <= MAX_KEYS:
            self.dropped += 1
            return
        self._wanted = faces
        self._draw_next()

    def close(self) -> None:
        """Lets the deck go; its reading thread ends by itself."""
        if not self._open:
            return
        self._open = False
        self._pulse.cancel()
        self._worker.submit(_shut, self._deck)
        self._worker.shutdown(wait=False)

    def _pressed(self, _deck: Any, key: int, down: bool) -> None:
        """The package's call, on its thread."""
        record = key_record(key, int(down), time.monotonic_ns())
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._tell, record)

    def _tell(self, record: bytes) -> None:
        if self._open:
            self._on_data(record)

    def _feel(self) -> None:
        thread = self._deck.read_thread
        if thread is None or not thread.is_alive() or not self._deck.is_open():
            self._gone("unplugged")
            return
        self._pulse = self._loop.call_later(PULSE_S, self._feel)

    def _gone(self, reason: str) -> None:
        if self._open:
            self.close()
            self._on_gone(reason)

    def _draw_next(self) -> None:
        if self._drawing or self._wanted is None or not self._open:
            return
        faces, self._wanted = self._wanted, None
        changed = {key: face for key, face in enumerate(faces) if self._drawn.get(key) != face}
        if not changed:
            return
        self._drawing = True
        job = self._loop.run_in_executor(self._worker, _draw, self._deck, changed)
        job.add_done_callback(lambda done: self._drew(done, changed))

    def _drew(self, done: asyncio.Future[None], changed: dict[int, Face]) -> None:
        self._drawing = False
        error = None if done.cancelled() else done.exception()
        if error is not None:
            self._gone(f"cannot be drawn on: {error}")
            return
        self._drawn |= changed
        self._draw_next()


def picture(deck: Any, face: Face) -> bytes:
    """A key's picture in the deck's own format: its words, as large as they fit."""
    from PIL import ImageDraw, ImageFont  # noqa: PLC0415 - an optional package, needed only where there is a deck
    from StreamDeck.ImageHelpers import PILHelper  # noqa: PLC0415 - as above

    letters, ground = COLOURS.get(face.style, COLOURS["verb"])
    image = PILHelper.create_key_image(deck, background=ground)
    draw = ImageDraw.Draw(image)
    text = "\n".join(face.label.split(" ")) if len(face.label) > 5 else face.label
    if text:
        for size in range(image.height * 2 // 3, 7, -1):
            font = ImageFont.load_default(size)
            left, top, right, bottom = draw.multiline_textbbox((0, 0), text, font=font, align="center", spacing=2)
            if right - left <= image.width - 6 and bottom - top <= image.height - 6:
                break
        at = ((image.width - right - left) / 2, (image.height - bottom - top) / 2)
        draw.multiline_text(at, text, font=font, fill=letters, align="center", spacing=2)
    native: bytes = PILHelper.to_native_key_format(deck, image)
    return native


def _draw(deck: Any, faces: dict[int, Face]) -> None:
    for key, face in faces.items():
        with deck:
            deck.set_key_image(key, picture(deck, face))


def _shut(deck: Any) -> None:
    """Leaves the deck dark, so that nobody takes a dead key for a live one."""
    with contextlib.suppress(Exception):
        deck.reset()
    _release(deck)


def _release(deck: Any) -> None:
    deck.run_read_thread = False
    with contextlib.suppress(Exception):
        deck.close()


def _shut_late(job: Future[tuple[Any, str]]) -> None:
    """A deck that was found after nobody waited for it any more."""
    if not job.cancelled() and job.exception() is None:
        _shut(job.result()[0])


def _find(settings: DeckPort) -> tuple[Any, str]:
    """The deck that is meant, open, and its name.  Raises LookupError with what was found instead."""
    import PIL  # noqa: F401, PLC0415 - an optional package: told when the deck is opened, not when it is drawn on
    from StreamDeck.DeviceManager import DeviceManager  # noqa: PLC0415 - an optional package

    found = []
    for deck in DeviceManager(transport=settings.transport).enumerate():
        if not deck.is_visual():
            continue  # a pedal has no words on it
        deck.open()
        try:
            serial = deck.get_serial_number()
            if not settings.serial or serial == settings.serial:
                deck.set_poll_frequency(POLL_HZ)
                deck.reset()
                deck.set_brightness(settings.brightness)
                return deck, f"{deck.deck_type()} {serial}".rstrip()
        except BaseException:
            _shut(deck)
            raise
        _release(deck)
        found.append(serial)
    raise LookupError(f"found {', '.join(found)}" if found else "none is plugged in")


async def open_deck(device: str, settings: DeckPort, on_data: OnData, on_gone: OnGone) -> DeckLine:
    """Opens the deck within `OPEN_S` seconds.  Raises `PortProblem`."""
    worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"deck {device}")
    job = worker.submit(_find, settings)
    worker_done = False
    try:
        async with asyncio.timeout(OPEN_S):
            deck, name = await asyncio.shield(asyncio.wrap_future(job))
        worker_done = True
    except ImportError as error:
        advice = f"'{device}': a Stream Deck needs the packages streamdeck and Pillow: pip install 'tabled[panels]'."
        raise PortProblem(device, str(settings), f"{error.name} is not installed", advice) from error
    except LookupError as error:
        advice = f"'{device}': no Stream Deck that fits {settings}. Plug it in; tabled opens it by itself."
        raise PortProblem(device, str(settings), str(error), advice, absent=True) from error
    except Exception as error:  # the package's errors have no common root
        advice = (
            f"'{device}': the Stream Deck cannot be opened. Install libhidapi-libusb0, close other programs that use "
            "it, and let this user open it (udev rule: 'tabled-bridge doctor' prints it)."
        )
        reason = str(error.args[0] if error.args else "") or type(error).__name__
        raise PortProblem(device, str(settings), reason, advice) from error
    finally:
        if not worker_done:
            job.add_done_callback(_shut_late)
            worker.shutdown(wait=False)
    return DeckLine(deck, name, on_data, on_gone, worker)
