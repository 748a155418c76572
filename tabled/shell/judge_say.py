"""A ruling as one paragraph for a floor manager: sentence, chips to move, who is next, who may not raise, paragraph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tabled.model.ruling import Option, Reason, Ruling
from tabled.outlets.wording import announce, spoken


def paragraph(label: str, ruling: Ruling, lang: str) -> str:
    """The ruling in ``lang`` ("en", "sv", "nl"), headed by ``label``."""
    return f"{label}: " + " ".join(part for part in _parts(ruling, lang) if part)


def _parts(r: Ruling, lang: str) -> Iterator[str]:
    def say(code: str, **params: int | str) -> str:
        return spoken(Reason(code, params), lang)

    yield say("say_seat", seat=r.seat)
    yield announce(r)[lang]
    if r.back_chips:
        yield say("say_back", chips=" + ".join(_counted(r.back_chips)))
    if r.change is not None:
        yield say("say_change", amount=r.change.amount, out_of=r.change.out_of)
    if r.hold:
        yield say("say_hold", chips=" + ".join(_counted(r.hold)))
    if r.candidates:
        yield say("say_choices", choices="; ".join(spoken(c.reason, lang) for c in r.candidates))
    if r.penalty:
        yield say("say_penalty_warning" if r.penalty == "warning" else "say_penalty_possible")
    option = next((o for o in r.options if o.seat == r.next_seat), None)
    if option is not None:
        yield say("say_next", seat=option.seat, what=", ".join(_may(option, lang)))
    elif r.round_over:
        yield say("say_round_over")
    for lock in r.may_not_raise:
        yield say("say_lock", seat=lock.seat, why=spoken(lock.reason, lang))
    yield say("say_cite", cite=", ".join(r.cite)) if r.cite else say("say_no_cite")


def _counted(chips: tuple[int, ...]) -> list[str]:
    """``2 × 500``: how many of each chip, large ones first."""
    return [f"{n} × {value}" for value, n in sorted(Counter(chips).items(), reverse=True)]


def _may(option: Option, lang: str) -> Iterator[str]:
    """What a seat may do, in words."""
    if option.check:
        yield spoken(Reason("choice_check"), lang)
    if option.call_to is not None:
        yield spoken(Reason("choice_call", {"to": option.call_to}), lang)
    if option.complete_to is not None:
        yield spoken(Reason("choice_complete", {"to": option.complete_to}), lang)
    if option.raise_min_to is not None:
        yield spoken(_raise(option.raise_min_to, option.raise_max_to), lang)
    if option.fold and option.call_to is not None:
        yield spoken(Reason("choice_fold"), lang)


def _raise(low: int, high: int | None) -> Reason:
    """From the smallest raise up; to the largest where the structure has one."""
    if high is None:
        return Reason("say_raise_from", {"low": low})
    if high > low:
        return Reason("say_raise_between", {"low": low, "high": high})
    return Reason("say_raise_to", {"to": high})
