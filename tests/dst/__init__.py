"""Deterministic simulation of the whole: production objects on a virtual clock, with seeded faults.

`mix` draws what goes wrong, `host` is one life of the daemon's process, `disk`, `broker`, `lines` and `outlet` are what
is swapped around the production objects, `witness` looks on from outside, `invariants` say what must hold,
`simulation` runs one seed.  ``python -m tests.dst SEED --trace`` shows a run.
"""
