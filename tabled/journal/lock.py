"""One writer a journal: a POSIX record lock on ``<journal>.lock``.

The kernel frees it when the process dies, however it dies.  A record lock belongs to the process, so a
child made by fork does not hold it on after the daemon's death; but it does not keep two openings within
one process apart, and closing the second would free the first: a list of what this process holds does.
The file stays when the lock is freed, since deleting it would let two processes lock two files.
"""

from __future__ import annotations

import fcntl
import os
import threading

from tabled.journal.errors import JournalBusy, JournalUnwritable

_held: set[str] = set()
_guard = threading.Lock()


class WriterLock:
    """Held from construction to `release`.  Raises `JournalBusy` or `JournalUnwritable`."""

    def __init__(self, path: str) -> None:
        self._name = path + ".lock"
        with _guard:
            if self._name in _held:
                raise _busy(path, "this very process")
            try:
                self._fd = os.open(self._name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            except OSError as error:
                raise JournalUnwritable(
                    f"cannot make the lock file {self._name}: {error.strerror}",
                    "Check that the folder exists and that this user may write in it",
                ) from error
            try:
                fcntl.lockf(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                holder = os.pread(self._fd, 20, 0).decode("ascii", "replace").strip()
                os.close(self._fd)
                raise _busy(path, f"process {holder}" if holder else "another process") from error
            _held.add(self._name)
        self._sign()

    def _sign(self) -> None:
        """Write our process id for whoever finds the lock taken.  Only a courtesy: a full disk does not matter."""
        try:
            os.ftruncate(self._fd, 0)
            os.pwrite(self._fd, f"{os.getpid()}\n".encode("ascii"), 0)
        except OSError:
            return

    def release(self) -> None:
        """Free the lock; a second call does nothing."""
        with _guard:
            if self._fd >= 0:
                _held.discard(self._name)
                os.close(self._fd)
                self._fd = -1


def _busy(path: str, holder: str) -> JournalBusy:
    return JournalBusy(
        f"journal {path} is being written by {holder}",
        "Only one daemon may run at a table: stop the other one, or give this one a journal of its own",
    )
