"""What is said to people: one catalogue a language, one sentence a code.

The rules and the core speak in codes with parameters (:class:`tabled.model.ruling.Reason`); only here
do they become sentences.  A catalogue is a TOML file with one key a code; ``{name}`` is a parameter.
"""

from tabled.outlets.wording.catalogue import LANGUAGES, UnknownCode, announce, codes, say, spoken

__all__ = ["LANGUAGES", "UnknownCode", "announce", "codes", "say", "spoken"]
