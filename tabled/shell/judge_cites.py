"""The paragraphs that a case expects, against those that a ruling cites.

A case names its paragraphs in a sentence: ``§7.2.1 a / §7.2.2``, ``TDA 43-A, 45-B1``, ``TDA 46-A/C2``,
``RRP 3 rule 12``, ``half-bet rule``.  Each named paragraph must be among the ruling's own, or hold one of them
(``§7.8`` holds ``SE 7.8 a``).  What is named in no known law is counted as not compared, never passed over.
"""

from __future__ import annotations

import re

_NUMBER = r"#?\d+(?:\.\d+)*(?:\.[a-z](?:\.\d+)?)?(?:-[A-Z]\d?)?(?: [a-c]\b(?!-))?"
_LAW = re.compile(r"§|\bTDA\b|\bWSOP LA 2024\b|\bWSOP LA\b|\bWSOP\b|\bRRP\b|\bRule\b")
_FIRST = re.compile(rf"\s*({_NUMBER})")
_MORE = re.compile(rf"(, ?| / |/)({_NUMBER}|[A-Z]\d?\b)")
_RULE = re.compile(r" rule (\d+)")
_PHRASES = ("full-bet", "half-bet", "all-in call", "cap", "completion")  # the Dutch text has names, no numbers
_ELSEWHERE = re.compile(r"\brule \d+|\bRP-\d+|\brule\b")


def paragraphs(cite: str) -> tuple[list[tuple[str, ...]], bool]:
    """The paragraphs that a case names, each with its alternatives, and whether it names something else besides."""
    found: list[tuple[str, ...]] = []
    rest, at, law = "", 0, ""
    while (start := _LAW.search(cite, at)) is not None:
        rest += cite[at : start.start()] + " "
        if start[0] != "Rule":  # "TDA 40-A, Rule 1" is rule 1 of the same law
            law = "SE" if start[0] == "§" else start[0]
        at = start.end()
        first = _FIRST.match(cite, at)
        if first is None or not law:
            continue
        number, at = first[1], first.end()
        if rule := _RULE.match(cite, at):
            number, at = f"{number}.{rule[1]}", rule.end()
        found.append((f"{law} {number}",))
        while (more := _MORE.match(cite, at)) is not None:
            text, at = more[2], more.end()
            if text[0].isalpha():  # "46-A/C2"
                text = f"{number.partition('-')[0]}-{text}"
            number = text
            if more[1] == " / ":
                found[-1] = (*found[-1], f"{law} {number}")
            else:
                found.append((f"{law} {number}",))
    rest += cite[at:]
    named = [p for p in _PHRASES if re.search(rf"(?<![\w-]){p}(?![\w-])", rest)] if not found else []
    found += [(f"NL {p}",) for p in named]
    return found, not found or bool(_ELSEWHERE.search(rest) and not named)


def uncited(cite: str, ours: list[str]) -> list[str]:
    """The paragraphs named by the case that none of ``ours`` is, or lies in."""
    groups, _ = paragraphs(cite)
    return [" or ".join(g) for g in groups if not any(_holds(p, c) for p in g for c in ours)]


def _holds(paragraph: str, clause: str) -> bool:
    """Whether the clause is the paragraph or a part of it: 7.8 holds 7.8 a, 43 holds 43-A, 4 does not hold 43."""
    if not clause.startswith(paragraph):
        return False
    after = clause[len(paragraph) :][:1]
    return not after or (not after.isdigit() if paragraph[-1].isdigit() else not after.isalpha())
