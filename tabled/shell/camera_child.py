"""Entry point of the sensing process: ``python -P -m tabled.shell.camera_child PARENT_PID``.

Standard input and output are the pipes of `tabled.sensing.process_wire`; what any library prints goes to standard
error instead, whose last lines the daemon shows when the process ends.
"""

from __future__ import annotations

import faulthandler
import os
import resource
import sys
import traceback
from pathlib import Path

from tabled.outlets.child import die_with_parent
from tabled.sensing.capture_sources import source_of
from tabled.sensing.process_child import Pipe, run
from tabled.sensing.process_wire import Begin
from tabled.shell.clock import monotonic_ns

_PAGE = os.sysconf("SC_PAGE_SIZE")


def resident() -> int:
    """Bytes of this process that are in memory; 0 where the system does not tell."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * _PAGE
    except (OSError, ValueError, IndexError):
        return 0


def main(argv: list[str]) -> int:
    """Tie this process to its parent, take the first order, watch."""
    die_with_parent(int(argv[0]))
    faulthandler.enable()
    outgoing = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    pipe = Pipe(sys.stdin.buffer, outgoing)
    begin = pipe.receive()
    if not isinstance(begin, Begin):
        return 2
    if begin.address_space:
        # A leak ends here as a MemoryError with a name, and not as whatever else the kernel picks.
        resource.setrlimit(resource.RLIMIT_DATA, (begin.address_space, begin.address_space))
    run(pipe, begin, source_of, monotonic_ns, resident)
    return 0


if __name__ == "__main__":
    code = 1
    try:
        code = main(sys.argv[1:])
    except BaseException:  # its last line goes to the daemon
        traceback.print_exc()
    finally:
        # Not by the interpreter's own end: a thread that waits in a driver, a socket or on standard input would hold
        # it up, or abort it with a message about itself in place of what went wrong.
        sys.stderr.flush()
        os._exit(code)
