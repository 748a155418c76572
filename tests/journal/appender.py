"""Child of the kill test: appends batches for ever and says so only once they are acknowledged.

Each body is ``batch number / index in the batch / size of the batch``, so that half a batch shows.
"""

from __future__ import annotations

import os
import random
import sys

from tabled.journal import Draft, Journal


def main(path: str, seed: int) -> None:
    """Append until killed."""
    chance = random.Random(seed)
    with Journal.open(path) as journal:
        while True:
            first, size = journal.next_pos, chance.choice((1, 2, 7, 40))
            batch = []
            for i in range(size):
                padding = bytes(chance.choice((0, 50, 5000)))
                out = chance.random() < 0.2
                body = f"{first}/{i}/{size}/".encode() + padding
                batch.append(Draft("ruling", body, i, body if out else None, "ruling" if out else None))
            done = journal.append(batch)
            journal.advance(done[0])
            os.write(1, f"{done[-1]}\n".encode())


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
