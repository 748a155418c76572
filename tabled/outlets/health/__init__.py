"""What is said of the readers and panels: one catalogue a language, one sentence a code.

As `tabled.outlets.wording` does; that one speaks of the law and the table, this one of what the table is seen by.
"""

from __future__ import annotations

import tomllib
from functools import lru_cache
from importlib import resources

from tabled.model.ruling import Reason
from tabled.outlets.wording import LANGUAGES, UnknownCode
from tabled.outlets.wording import say as say_of_the_table


@lru_cache(maxsize=len(LANGUAGES))
def sentences(lang: str) -> dict[str, str]:
    """All sentences of one language by their code; ``{name}`` is a parameter."""
    if lang not in LANGUAGES:
        raise UnknownCode(f"no catalogue for language {lang!r}; there are {', '.join(LANGUAGES)}")
    return tomllib.loads((resources.files("tabled.outlets.health") / f"{lang}.toml").read_text("utf-8"))


def say(reason: Reason, lang: str) -> str:
    """The sentence for a reason of either catalogue.  Raises `UnknownCode` where the code or a parameter is missing."""
    sentence = sentences(lang).get(reason.code)
    if sentence is None:
        return say_of_the_table(reason, lang)
    try:
        return sentence.format_map(reason.params)
    except KeyError as missing:
        raise UnknownCode(
            f"code {reason.code!r} ({lang}) needs the parameter {missing.args[0]!r}; it has {sorted(reason.params)}"
        ) from None
