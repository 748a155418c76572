"""Which version of the product this is."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def product_version() -> str:
    """Version of the installed package."""
    try:
        return version("tabled")
    except PackageNotFoundError:
        return "unknown"
