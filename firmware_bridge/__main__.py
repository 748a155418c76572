"""``python -m firmware_bridge`` is ``bridge``."""

from __future__ import annotations

from firmware_bridge.cli import main

if __name__ == "__main__":
    main(prog_name="bridge")
