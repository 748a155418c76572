"""Entry point of the embedded broker's child process: ``python -P -m tabled.outlets.child KIND PARENT_PID ARG…``.

It ties its own life to the parent's before it becomes the broker, so that a daemon that was killed
with SIGKILL leaves no broker behind.  ``prctl(PR_SET_PDEATHSIG)`` survives ``execv`` (prctl(2): it is
cleared only for set-user-ID programs); doing it here rather than in ``preexec_fn`` is safe in a
process with threads.
"""

from __future__ import annotations

import ctypes
import logging
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def die_with_parent(parent: int) -> None:
    """Ask the kernel for SIGKILL when the parent's starting thread ends; leave now if it is already gone."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def main(argv: list[str]) -> None:
    """Become ``mosquitto`` (by exec) or run rumqttd in this process."""
    kind, parent, *rest = argv
    die_with_parent(int(parent))
    if kind == "mosquitto":
        os.execv(rest[0], rest)  # noqa: S606  no shell: the path came from shutil.which
    from iotcore.iotcore import IotCoreBroker  # noqa: PLC0415  a 14 MB library that only this branch needs

    # rumqttd wraps every routed packet in an error span: its log says ERROR for each message.
    logging.basicConfig(level=logging.WARNING)
    logging.getLogger("rumqttd").setLevel(logging.CRITICAL)
    IotCoreBroker(config_path=rest[0]).run_forever()


if __name__ == "__main__":
    main(sys.argv[1:])
