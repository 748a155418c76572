"""An independent witness: a table with chips, people and devices that knows what really happened.

It shares no encoder, threshold or type with the product and imports none of it.  `world` is the truth,
`devices` speak the wires, `people` play hands (`hands`, `generate`), `sloppy` people play them badly (`styles`,
`acts`), `mishaps` pull cables, `memory` runs it all in virtual time,
`live` on pseudo-terminals; ``python -m hw_sim`` is the live one.
"""
