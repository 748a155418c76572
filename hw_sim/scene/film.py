"""What a person looks at: an MJPEG AVI with the very bytes of the shots, the truth as JSON, and a contact sheet."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

import cv2
import msgspec
import numpy as np

from hw_sim.scene.paint import Bytes8
from hw_sim.scene.scene import Scene, Shot
from hw_sim.scene.truth import HandStep, Landing

S = 1_000_000_000


def _chunk(name: bytes, body: bytes) -> bytes:
    return name + struct.pack("<I", len(body)) + body + b"\0" * (len(body) % 2)


def _list(name: bytes, *chunks: bytes) -> bytes:
    return _chunk(b"LIST", name + b"".join(chunks))


class Avi:
    """Writes one MJPEG stream (AVI 1.0, at most 1 GiB); use as a context manager."""

    def __init__(self, path: Path, width: int, height: int, fps: float) -> None:
        self._file = path.open("wb")
        self._size, self._fps = (width, height), fps
        self._index: list[tuple[int, int]] = []
        self._at = 4
        self._file.write(self._head(0, 0))

    def _head(self, frames: int, movie: int) -> bytes:
        w, h = self._size
        rate = round(self._fps * 1000)
        main = struct.pack("<14I", round(1e9 / rate), 0, 0, 0x10, frames, 0, 1, 1 << 20, w, h, 0, 0, 0, 0)
        stream = struct.pack("<4s4sIHHIIIIIIII4H", b"vids", b"MJPG", 0, 0, 0, 0, 1000, rate, 0, frames, 1 << 20,
                             0xFFFFFFFF, 0, 0, 0, w, h)  # fmt: skip
        picture = struct.pack("<IiiHH4sIiiII", 40, w, h, 1, 24, b"MJPG", w * h * 3, 0, 0, 0, 0)
        lists = _list(b"hdrl", _chunk(b"avih", main), _list(b"strl", _chunk(b"strh", stream), _chunk(b"strf", picture)))
        whole = 4 + len(lists) + 8 + movie + 8 + 16 * frames
        return b"RIFF" + struct.pack("<I", whole) + b"AVI " + lists + b"LIST" + struct.pack("<I", movie) + b"movi"

    def add(self, jpeg: bytes) -> None:
        """Append a frame.  ValueError beyond 1 GiB."""
        if self._at + len(jpeg) > 1 << 30:
            raise ValueError("the film is longer than 1 GiB; write fewer seconds")
        body = _chunk(b"00dc", jpeg)
        self._file.write(body)
        self._index.append((self._at, len(jpeg)))
        self._at += len(body)

    def __enter__(self) -> Avi:
        return self

    def __exit__(self, *_: object) -> None:
        entries = b"".join(struct.pack("<4sIII", b"00dc", 0x10, at, size) for at, size in self._index)
        self._file.write(_chunk(b"idx1", entries))
        self._file.seek(0)
        self._file.write(self._head(len(self._index), self._at))
        self._file.close()


def truth_json(scene: Scene) -> bytes:
    """Truth, layout and camera of a scene as JSON."""
    whole = {"seed": scene.seed, "conditions": scene.conditions, "eye": scene.eye, "layout": scene.layout,
             "truth": scene.truth}  # fmt: skip
    return msgspec.json.format(msgspec.json.encode(whole), indent=1)


def moments(scene: Scene, most: int = 24) -> list[tuple[int, str, str]]:
    """(ns, seat, caption) of steps and landings, evenly chosen."""
    events: list[HandStep | Landing] = sorted([*scene.truth.steps, *scene.truth.landings], key=lambda e: e.at_ns)
    chosen = [events[round(i)] for i in np.linspace(0, len(events) - 1, min(most, len(events)))] if events else []
    out = []
    for e in chosen:
        if isinstance(e, HandStep):
            more = f" -{e.retreat_mm} mm {e.pause_ms} ms" if e.pause_ms else ""
            out.append((e.at_ns, e.seat, f"{e.by} {e.step}{more}"))
        else:
            out.append((e.at_ns, e.seat, f"{e.count} x {e.value} land{'' if e.tagged else ', no tag'}"))
    return out


class Sheet:
    """Collects the crop of a seat at each moment, with its line, and its true landings, drawn in."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._waiting = moments(scene)
        self._tiles: list[Bytes8] = []

    def see(self, shot: Shot) -> None:
        """Look at a shot; the first one that begins after a moment is its tile."""
        while self._waiting and self._waiting[0][0] <= shot.stamp_ns:
            at, seat, caption = self._waiting.pop(0)
            picture = cv2.imdecode(np.frombuffer(shot.jpeg, np.uint8), cv2.IMREAD_COLOR)
            if picture is not None:
                self._tiles.append(self._tile(np.asarray(picture, np.uint8), at, seat, caption))

    def _tile(self, picture: Bytes8, at: int, seat: str, caption: str) -> Bytes8:
        scene = self._scene
        zone = scene.layout.zone("bet", seat)
        line = scene.eye.pixels(np.array([(*p, 0.0) for p in zone.line]))
        outline = scene.eye.pixels(np.array([(*p, 0.0) for p in zone.outline]))
        middle = outline.mean(axis=0)
        half_w, half_h = 130, 100
        w, h = scene.eye.lens.width, scene.eye.lens.height
        x0 = int(np.clip(middle[0] - half_w, 0, max(0, w - 2 * half_w)))
        y0 = int(np.clip(middle[1] - half_h, 0, max(0, h - 2 * half_h)))
        crop = cv2.resize(picture[y0 : y0 + 2 * half_h, x0 : x0 + 2 * half_w], None, fx=1.5, fy=1.5)
        for points, colour in ((outline, (150, 150, 150)), (line, (0, 220, 255))):
            scaled = np.rint((points - (x0, y0)) * 1.5).astype(np.int32)
            cv2.polylines(crop, [scaled], points is outline, colour, 1, cv2.LINE_AA)
        for landing in scene.truth.landings:
            if landing.seat == seat and landing.at_ns <= at < landing.at_ns + 20 * S:
                spot = scene.eye.pixels(np.array([(landing.x_mm, landing.y_mm, 3.3 * landing.count)]))[0]
                x, y = np.rint((spot - (x0, y0)) * 1.5).astype(int)
                cv2.circle(crop, (int(x), int(y)), 15, (255, 255, 255), 1, cv2.LINE_AA)
        for text, y in ((f"{at / S:.3f} s  seat {seat}", 16), (caption, 34)):
            cv2.putText(crop, text, (6, y), cv2.FONT_HERSHEY_SIMPLEX, 0.48, (0, 0, 0), 3, cv2.LINE_AA)
            cv2.putText(crop, text, (6, y), cv2.FONT_HERSHEY_SIMPLEX, 0.48, (255, 255, 255), 1, cv2.LINE_AA)
        return np.asarray(crop, np.uint8)

    def picture(self, columns: int = 4) -> Bytes8 | None:
        """All tiles; None if there was nothing to see."""
        if not self._tiles:
            return None
        tiles = self._tiles + [np.zeros_like(self._tiles[0])] * (-len(self._tiles) % columns)
        rows = [np.hstack(tiles[i : i + columns]) for i in range(0, len(tiles), columns)]
        return np.asarray(np.vstack(rows), np.uint8)


def write(scene: Scene, shots: Sequence[Shot] | None, folder: Path) -> list[Path]:
    """Write film.avi, truth.json, sheet.png and first.jpg; the paths written."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / "film.avi", folder / "truth.json", folder / "first.jpg", folder / "sheet.png"]
    paths[1].write_bytes(truth_json(scene))
    sheet, first = Sheet(scene), True
    lens = scene.eye.lens
    with Avi(paths[0], lens.width, lens.height, scene.fps) as film:
        for shot in scene.frames() if shots is None else shots:
            film.add(shot.jpeg)
            sheet.see(shot)
            if first:
                paths[2].write_bytes(shot.jpeg)
                first = False
    picture = sheet.picture()
    if picture is None:
        return paths[:3]
    done, raw = cv2.imencode(".png", picture)
    if done:
        paths[3].write_bytes(raw.tobytes())
    return paths
