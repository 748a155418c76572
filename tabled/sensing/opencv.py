"""OpenCV without its type stubs (4.14), which know no arrays of floats; in one place."""

from __future__ import annotations

from typing import Any

import cv2 as _cv2

cv2: Any = _cv2
