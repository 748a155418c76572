"""A PDF of filled rectangles and short texts at exact millimetres: all that a printed target needs.

Source: ISO 32000-1 (PDF 1.4 parts): 7.5 file structure, 8.5 path operators, 9.4 text, 14.11.2 page boxes.
"""

from __future__ import annotations

from collections.abc import Sequence

POINTS_PER_MM = 72 / 25.4


class Page:
    """One page of ``width`` x ``height`` mm; places are in mm from the *top left*, y downwards."""

    def __init__(self, width: float, height: float) -> None:
        self.width, self.height = width, height
        self.rectangles: list[tuple[float, float, float, float, float]] = []
        """x, y, width, height, grey (0 black)."""
        self._texts: list[tuple[float, float, float, str]] = []

    def fill(self, x: float, y: float, width: float, height: float, grey: float = 0.0) -> None:
        """A filled rectangle."""
        self.rectangles.append((x, y, width, height, grey))

    def write(self, x: float, y: float, words: str, size_mm: float = 3.0) -> None:
        """Text in Helvetica with the left end of its base line at (x, y); characters of Latin-1."""
        self._texts.append((x, y, size_mm, words))

    def content(self) -> bytes:
        """The page's operators."""
        lines = []
        for x, y, w, h, grey in self.rectangles:
            low = self.height - y - h
            lines.append(f"{grey:g} g {_pt(x)} {_pt(low)} {_pt(w)} {_pt(h)} re f".encode())
        for x, y, size, words in self._texts:
            place = f"{_pt(x)} {_pt(self.height - y)} Td".encode()
            lines.append(b"0 g BT /F1 %s Tf %s (%s) Tj ET" % (_pt(size).encode(), place, _escaped(words)))
        return b"\n".join(lines)


def document(pages: Sequence[Page], title: str) -> bytes:
    """The file.  It asks the viewer not to scale (``/PrintScaling /None``); printers' own dialogues may still."""
    first = 4
    kids = b" ".join(b"%d 0 R" % (first + 2 * i) for i in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R /ViewerPreferences << /PrintScaling /None >> >>",
        b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, len(pages)),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for index, page in enumerate(pages):
        content = page.content()
        box = f"[0 0 {_pt(page.width)} {_pt(page.height)}]".encode()
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox %s /Resources << /Font << /F1 3 0 R >> >> /Contents %d 0 R >>"
            % (box, first + 2 * index + 1)
        )
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content))
    objects.append(b"<< /Title (%s) >>" % _escaped(title))
    return _file(objects)


def _file(objects: Sequence[bytes]) -> bytes:
    out = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
    starts = []
    for number, body in enumerate(objects, 1):
        starts.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    for start in starts:
        out += b"%010d 00000 n \n" % start
    out += b"trailer\n<< /Size %d /%s 1 0 R /Info %d 0 R >>\n" % (len(objects) + 1, b"Root", len(objects))
    return bytes(out + b"startxref\n%d\n%%%%EOF\n" % table)


def _pt(mm: float) -> str:
    return f"{mm * POINTS_PER_MM:.4f}".rstrip("0").rstrip(".")


def _escaped(words: str) -> bytes:
    raw = words.encode("cp1252", "replace")
    return raw.replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")
