"""From linear light to a JPEG: row gains, shot and read noise, Bayer mosaic, demosaic, tone curve.

Pixels are kept as square roots of electrons, ``sqrt(e + read noise squared)``: there, shot and read noise together
have the same spread of 0.5 everywhere, so that one table of normal numbers serves all brightnesses and gains.
"""

from __future__ import annotations

import math

import cv2
import numpy as np

from hw_sim.scene.conditions import Conditions
from hw_sim.scene.paint import F32, Bytes8

_TOP = 235.0
"""Value of white before the tone curve; above it the curve bends over."""


def mosaic(light: F32, conditions: Conditions) -> F32:
    """(h, w) roots of electrons behind red, green, green, blue filters, from (3, h, w) light; h and w even."""
    out = np.empty(light.shape[1:], np.float32)
    out[0::2, 0::2] = light[0, 0::2, 0::2]
    out[0::2, 1::2] = light[1, 0::2, 1::2]
    out[1::2, 0::2] = light[1, 1::2, 0::2]
    out[1::2, 1::2] = light[2, 1::2, 1::2]
    out *= conditions.white_e
    out += conditions.read_e**2
    return np.asarray(cv2.sqrt(out), np.float32)


def row_gains(conditions: Conditions, stamp_ns: int, rows: int, phase: float) -> F32:
    """(rows,) light of flickering lamps, averaged over each row's exposure; 1 on average."""
    if not conditions.flicker:
        return np.ones(rows, np.float32)
    exposure = conditions.exposure_ms / 1000
    start = stamp_ns / 1e9 + np.arange(rows) * (conditions.readout_ms / 1000 / max(1, rows - 1))
    w = 2 * math.pi * conditions.flicker_hz
    swing = (np.sin(w * (start + exposure) + phase) - np.sin(w * start + phase)) / (w * exposure)
    return np.asarray(1 + conditions.flicker * swing, np.float32)


class Sensor:
    """Noise table and tone curve for one size of picture."""

    def __init__(self, conditions: Conditions, width: int, height: int, seed: int) -> None:
        self._conditions = conditions
        self._seed = seed
        self._rng = np.random.default_rng([seed, 77])
        self._size = width * height
        self._shape = (height, width)
        self._noise = (0.5 * self._rng.standard_normal(self._size * 2)).astype(np.float32)
        self._scale = _TOP / math.sqrt(conditions.white_e)
        read = conditions.read_e**2
        level = np.arange(256) / self._scale
        light = np.clip((level**2 - read - 0.25) / conditions.white_e, 0, None)
        light = np.where(light > 0.8, 0.8 + 0.2 * np.tanh((light - 0.8) / 0.2), light)
        srgb = np.where(light <= 0.0031308, 12.92 * light, 1.055 * np.maximum(light, 1e-9) ** (1 / 2.4) - 0.055)
        self._curve = np.clip(np.rint(srgb * 255), 0, 255).astype(np.uint8)
        self._work = np.empty(self._shape, np.float32)

    def reseed(self, number: int) -> None:
        """Make the noise of the next picture that of its number, whatever was drawn before."""
        self._rng = np.random.default_rng([self._seed, number])

    def develop(self, roots: F32, gains: F32) -> Bytes8:
        """(h, w, 3) BGR picture of the mosaic ``roots`` with each row's light multiplied by ``gains``."""
        start = int(self._rng.integers(0, self._size))
        noise = self._noise[start : start + self._size].reshape(self._shape)
        np.multiply(roots, np.sqrt(gains)[:, None], out=self._work)
        cv2.add(self._work, noise, dst=self._work)
        # Below zero is so rare that its absolute value does no harm.
        raw = cv2.LUT(cv2.convertScaleAbs(self._work, alpha=self._scale), self._curve)
        return np.asarray(cv2.cvtColor(raw, cv2.COLOR_BayerRGGB2BGR), np.uint8)

    def jpeg(self, picture: Bytes8) -> bytes:
        """The picture as a webcam would send it."""
        options = [
            cv2.IMWRITE_JPEG_QUALITY, self._conditions.jpeg,
            cv2.IMWRITE_JPEG_SAMPLING_FACTOR, cv2.IMWRITE_JPEG_SAMPLING_FACTOR_422,
        ]  # fmt: skip
        done, raw = cv2.imencode(".jpg", picture, options)
        if not done:
            raise RuntimeError("the picture could not be written as JPEG; check the OpenCV installation")
        return raw.tobytes()
