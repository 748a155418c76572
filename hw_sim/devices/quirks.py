"""What real readers do that their manuals do not promise, as named switches (all off unless named).

| switch | readers | what it does |
|---|---|---|
| ``late`` | all | one answer in 50 comes 700 ms late, when the host has given it up |
| ``wrong_echo`` | feig, pepper | one answer in 50 has a good checksum and echoes another command |
| ``twice`` | all | one answer in 50 is sent twice |
| ``boot_noise`` | all | a restart sends 20 random bytes first, as a line does whose driver powers up |
| ``short_info`` | feig | reader info (0x66, mode 0x80) one byte shorter than its length says, as published |
| ``empty_warning`` | feig | one empty field in 20 is answered with status 84 and no data, as published, not with 01 |
| ``error_data`` | feig | status 83 comes with the data sets read until then (CPR manual page 80 allows it) |
| ``hardware_warning`` | feig | one answer in 50 is status F1 without data |
| ``type_b_card`` | feig | an ISO 14443 B card lies over antenna 1: the published TR-TYPE 05 data set |
| ``ont_default`` | feig | starts with "only new transponders" on (CPR manual page 49: default of CFG5.ONT is 05) |
| ``mux_wrapped`` | feig | the multiplexer's 0xDD is known only as first data byte of 0xBF, its status as last one |
| ``stubborn_mux`` | feig | one selection of a channel in 50 is refused with status 11 and changes nothing |
| ``standard_only`` | feig | knows no advanced frames and does not answer them |
| ``crc_mode`` | metratec | starts with checksums on: CCE to every command without one, until ``COF 4F5E`` |
| ``field_on`` | metratec | starts with the field on (otherwise RNW until ``SRI``) |
| ``ports_from_one`` | metratec | antenna ports are 1..n on the wire (otherwise 0..n-1) |
| ``brown_out`` | metratec | one inventory in 100 ends in a restart (SRT) |
| ``afi_required`` | pepper | inventory without the AFI byte is refused (error 21) |
| ``error_low_first`` | pepper | error numbers low byte first (otherwise layer, error: the maker's library) |
| ``uid_msb_first`` | pepper | UIDs most significant byte first (otherwise "inverted": the maker's library) |
| ``polling`` | pepper | starts with polling on: events (FE) that nobody asked for between the answers |
"""

from __future__ import annotations

import msgspec

RARE = 0.02
"""Chance of the quirks that hit "one answer in 50"."""
LATE_MS = 700.0


class UnknownQuirkError(ValueError):
    """A name that is no quirk; the message lists those that are."""


class Quirks(msgspec.Struct, frozen=True, kw_only=True):
    """The switches of the table above."""

    late: bool = False
    wrong_echo: bool = False
    twice: bool = False
    boot_noise: bool = False
    short_info: bool = False
    empty_warning: bool = False
    error_data: bool = False
    hardware_warning: bool = False
    type_b_card: bool = False
    ont_default: bool = False
    mux_wrapped: bool = False
    stubborn_mux: bool = False
    standard_only: bool = False
    crc_mode: bool = False
    field_on: bool = False
    ports_from_one: bool = False
    brown_out: bool = False
    afi_required: bool = False
    error_low_first: bool = False
    uid_msb_first: bool = False
    polling: bool = False


NO_QUIRKS = Quirks()
NAMES = tuple(f.name for f in msgspec.structs.fields(Quirks))


def parse_quirks(text: str) -> Quirks:
    """Quirks from names joined by commas, as on the command line."""
    names = [n for n in text.split(",") if n]
    for name in names:
        if name not in NAMES:
            raise UnknownQuirkError(f"there is no quirk {name!r}; there are {', '.join(NAMES)}")
    return Quirks(**dict.fromkeys(names, True))
