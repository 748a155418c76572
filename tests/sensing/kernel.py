"""The kernel's side of V4L2, as far as a camera needs it, under the real linuxpy.

linuxpy's own classes, structures and constants run unchanged; only its ``ioctl`` and its memory map end here.  So
a wrong attribute, constant or order of calls in the code under test fails as it would on a camera.
"""

from __future__ import annotations

import errno
import os
from collections import deque
from collections.abc import Callable
from typing import Any

import pytest
from linuxpy.video import device as v4l2
from linuxpy.video import raw

MONOTONIC_START = 0x2000 | 0x10000
SLOT = 1 << 16


class FakeIO:
    """What linuxpy opens the device by: a pipe, which is readable while a frame waits."""

    def __init__(self, camera: Camera) -> None:
        self._camera = camera
        self.os = os
        import select  # noqa: PLC0415  the module is what linuxpy wants here

        self.select = select

    def open(self, path: Any, *_: Any, **__: Any) -> Any:
        self._camera.path = str(path)
        if self._camera.refuses:
            raise OSError(self._camera.refuses, os.strerror(self._camera.refuses), str(path))
        return os.fdopen(os.dup(self._camera.reader), "rb", buffering=0)


class Control:
    """A number that the camera keeps."""

    def __init__(self, name: str, kind: int, lowest: int, highest: int, value: int, flags: int = 0) -> None:
        self.name, self.kind, self.lowest, self.highest = name, kind, lowest, highest
        self.value, self.flags = value, flags


class Camera:
    """One device node and the driver behind it."""

    def __init__(self) -> None:
        self.reader, self._writer = os.pipe()
        self.path = ""
        self.refuses = 0
        self.formats = [raw.PixelFormat.YUYV, raw.PixelFormat.MJPEG]
        self.size = (640, 480)
        self.largest = (1280, 720)
        self.rate = 30
        self.fastest = 60
        self.flags = MONOTONIC_START
        self.streaming = self.gone = False
        self.log: list[str] = []
        ids, kinds = raw.ControlID, raw.CtrlType
        self.controls = {
            ids.GAIN: Control("Gain", kinds.INTEGER, 0, 255, 10),
            ids.AUTO_WHITE_BALANCE: Control("White Balance, Automatic", kinds.BOOLEAN, 0, 1, 1),
            ids.WHITE_BALANCE_TEMPERATURE: Control("White Balance Temperature", kinds.INTEGER, 2800, 6500, 4000),
            ids.EXPOSURE_AUTO: Control("Auto Exposure", kinds.MENU, 0, 3, 3),
            ids.EXPOSURE_ABSOLUTE: Control("Exposure Time, Absolute", kinds.INTEGER, 3, 2047, 250),
            ids.EXPOSURE_AUTO_PRIORITY: Control("Exposure, Dynamic Framerate", kinds.BOOLEAN, 0, 1, 1),
            ids.FOCUS_AUTO: Control("Focus, Automatic Continuous", kinds.BOOLEAN, 0, 1, 1),
            ids.FOCUS_ABSOLUTE: Control("Focus, Absolute", kinds.INTEGER, 0, 250, 0),
        }
        self._maps: list[bytearray] = []
        self._queued: deque[int] = deque()
        self._done: deque[tuple[int, int, int, int, int]] = deque()
        self.sequence = 0

    def frame(self, jpeg: bytes, stamp_ns: int, *, skip: int = 0, flags: int | None = None) -> None:
        """The sensor made a picture: into the oldest free buffer, or lost where there is none."""
        self.sequence += skip
        if self._queued:
            index = self._queued.popleft()
            self._maps[index][: len(jpeg)] = jpeg
            self._done.append((index, len(jpeg), stamp_ns, self.sequence, self.flags if flags is None else flags))
            os.write(self._writer, b".")
        self.sequence += 1

    def unplug(self) -> None:
        """The cable is out: the node is readable and every call fails."""
        self.gone = True
        os.write(self._writer, b".")

    # -- ioctl -----------------------------------------------------------------------------------

    def ioctl(self, _fd: Any, request: Any, arg: Any = None) -> Any:
        if self.gone:
            raise OSError(errno.ENODEV, "No such device")
        name = str(request.name)
        self.log.append(name)
        call: Callable[[Any], None] | None = getattr(self, f"_{name.lower()}", None)
        if call is None:
            raise OSError(errno.ENOTTY, f"this driver has no {name}")
        call(arg)
        return arg

    def _querycap(self, caps: Any) -> None:
        caps.driver, caps.card, caps.bus_info = b"uvcvideo", b"Table Camera", b"usb-1"
        caps.capabilities = caps.device_caps = raw.Capability.VIDEO_CAPTURE | raw.Capability.STREAMING

    def _enum_fmt(self, form: Any) -> None:
        if form.type != raw.BufType.VIDEO_CAPTURE or form.index >= len(self.formats):
            raise OSError(errno.EINVAL, "no more")
        form.pixelformat, form.description = self.formats[form.index], b"a format"

    def _s_fmt(self, form: Any) -> None:
        pix = form.fmt.pix
        fits = pix.width <= self.largest[0] and pix.height <= self.largest[1]
        self.size = (pix.width, pix.height) if fits else self.largest
        self._g_fmt(form)

    def _g_fmt(self, form: Any) -> None:
        pix = form.fmt.pix
        pix.width, pix.height = self.size
        pix.pixelformat, pix.sizeimage = raw.PixelFormat.MJPEG, SLOT

    def _s_parm(self, parm: Any) -> None:
        per = parm.parm.capture.timeperframe
        self.rate = min(round(per.denominator / per.numerator), self.fastest)

    def _g_parm(self, parm: Any) -> None:
        per = parm.parm.capture.timeperframe
        per.numerator, per.denominator = 1, self.rate

    def _query_ext_ctrl(self, query: Any) -> None:
        wanted = query.id & 0x0FFFFFFF
        later = sorted(i for i in self.controls if i > wanted)
        if not later:
            raise OSError(errno.EINVAL, "no more")
        control = self.controls[later[0]]
        query.id, query.type, query.name = int(later[0]), int(control.kind), control.name.encode()
        query.minimum, query.maximum, query.step, query.flags = control.lowest, control.highest, 1, control.flags

    def _querymenu(self, menu: Any) -> None:
        if menu.index not in (1, 3):  # uvcvideo: manual and aperture priority
            raise OSError(errno.EINVAL, "no such item")
        menu.name = b"Manual Mode" if menu.index == 1 else b"Aperture Priority Mode"

    def _g_ext_ctrls(self, several: Any) -> None:
        for n in range(several.count):
            several.controls[n].value = self.controls[several.controls[n].id].value

    def _s_ext_ctrls(self, several: Any) -> None:
        for n in range(several.count):
            control = self.controls[several.controls[n].id]
            value = several.controls[n].value
            if not control.lowest <= value <= control.highest:
                raise OSError(errno.ERANGE, "Numerical result out of range")
            control.value = value

    def _reqbufs(self, request: Any) -> None:
        self._maps = [bytearray(SLOT) for _ in range(request.count)]
        self._queued.clear()

    def _querybuf(self, buff: Any) -> None:
        buff.length, buff.m.offset = SLOT, buff.index * SLOT

    def _qbuf(self, buff: Any) -> None:
        self._queued.append(buff.index)

    def _dqbuf(self, buff: Any) -> None:
        if not self._done:
            raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")
        os.read(self.reader, 1)
        index, size, stamp_ns, sequence, flags = self._done.popleft()
        buff.index, buff.bytesused, buff.sequence, buff.flags = index, size, sequence, flags
        buff.timestamp.secs, buff.timestamp.usecs = stamp_ns // 10**9, stamp_ns % 10**9 // 1000

    def _streamon(self, _: Any) -> None:
        self.streaming = True

    def _streamoff(self, _: Any) -> None:
        self.streaming = False
        self._queued.clear()

    def map(self, _fd: Any, length: int, offset: int) -> Any:
        assert length == SLOT
        return _Map(self._maps[offset // SLOT])


class _Map:
    """As `mmap.mmap`: slices are bytes, copied out."""

    def __init__(self, memory: bytearray) -> None:
        self._memory = memory

    def __getitem__(self, part: slice) -> bytes:
        return bytes(self._memory[part])

    def close(self) -> None:
        pass


class Api:
    """`linuxpy.video.device` with this camera behind its calls."""

    def __init__(self, camera: Camera, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(v4l2, "ioctl", camera.ioctl)
        monkeypatch.setattr(v4l2, "mem_map", camera.map)
        self._io = FakeIO(camera)

    def Device(self, path: str) -> Any:
        return v4l2.Device(path, io=self._io)

    def __getattr__(self, name: str) -> Any:
        return getattr(v4l2, name)
