"""The sums of many acts, as a table for the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import median

import msgspec

from tests.eval.tally import Result, TableResult


class Sums(msgspec.Struct, kw_only=True):
    """Sums over a run.  Shares are of ``acts``; times in ms of virtual time."""

    acts: int
    wrong: int
    decided: int
    unruled: int
    extra: int
    refused: int
    corrected: int
    honest: int
    called_string: int
    strings: int
    missed: int
    asked: int
    questions: dict[str, int]
    in_span: int
    spans: int
    provisional_median: float | None
    provisional_p99: float | None
    final_median: float | None
    final_p99: float | None
    final_late: int
    finals_timed: int
    sweep_ms: float
    favoured_ms: float
    entries: int
    virtual_s: float

    @property
    def question_share(self) -> float:
        """Acts with a question, of all."""
        return self.asked / max(1, self.acts)


def quantile(values: Sequence[float], share: float) -> float | None:
    """The value below which so large a share lies; None of none."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))] if values else None


def sums(tables: Iterable[TableResult]) -> Sums:
    """Add up tables."""
    tables = list(tables)
    acts = [a for t in tables for a in t.acts]
    verdicts = Counter(a.verdict for a in acts)
    provisional = [a.to_provisional for a in acts if a.to_provisional is not None]
    final = [a.to_final for a in acts if a.to_final is not None]
    spans = [a.in_span for a in acts if a.in_span is not None]
    judged = [a for a in acts if a.verdict in ("right", "wrong", "unruled")]
    return Sums(
        acts=len(judged), wrong=verdicts["wrong"], decided=sum(a.decided for a in acts),
        unruled=verdicts["unruled"], extra=verdicts["extra"],
        refused=verdicts["refused"], corrected=sum(a.corrected for a in acts),
        honest=sum(not a.string for a in judged), called_string=sum(a.called_string for a in acts),
        strings=sum(a.string for a in acts), missed=sum(a.missed for a in acts),
        asked=sum(bool(a.questions) for a in judged), questions=dict(Counter(q for a in acts for q in a.questions)),
        in_span=sum(spans), spans=len(spans),
        provisional_median=median(provisional) if provisional else None, provisional_p99=quantile(provisional, 0.99),
        final_median=median(final) if final else None, final_p99=quantile(final, 0.99),
        final_late=sum(f > 1000 for f in final), finals_timed=len(final),
        sweep_ms=_mean([t.sweep_ms for t in tables]), favoured_ms=_mean([t.favoured_ms for t in tables]),
        entries=sum(t.entries for t in tables), virtual_s=sum(t.virtual_s for t in tables),
    )  # fmt: skip


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _ms(value: float | None) -> str:
    return "-" if value is None else f"{value:.0f}"


def _share(n: int, of: int) -> str:
    return f"{100 * n / of:.2f} %" if of else "-"


def table(tables: Sequence[TableResult], *, title: str) -> str:
    """The whole report."""
    s = sums(tables)
    acts = [a for t in tables for a in t.acts]
    out = [title, "", *_by_style(acts), "", *_totals(s), "", *_by_kind(tables, s), *_faults(acts)]
    return "\n".join(out)


def _by_style(acts: Sequence[Result]) -> list[str]:
    names = ("style", "acts", "wrong", "unruled", "extra", "corr.", "as string", "missed", "asked", "span", "final ms")
    rows = [names]
    for style in sorted({a.style for a in acts}, key=lambda n: (-sum(a.style == n for a in acts), n)):
        own = [a for a in acts if a.style == style]
        judged = [a for a in own if a.verdict in ("right", "wrong", "unruled")]
        count = Counter(a.verdict for a in own)
        spans = [a.in_span for a in own if a.in_span is not None]
        rows.append(
            (
                style, str(len(judged)), str(count["wrong"]), str(count["unruled"]),
                str(count["extra"] + count["refused"]), str(sum(a.corrected for a in own)),
                str(sum(a.called_string for a in own)), f"{sum(a.missed for a in own)}/{sum(a.string for a in own)}",
                _share(sum(bool(a.questions) for a in judged), len(judged)), _share(sum(spans), len(spans)),
                _ms(quantile([a.to_final for a in own if a.to_final is not None], 0.5)),
            )
        )  # fmt: skip
    widths = [max(len(row[i]) for row in rows) for i in range(len(names))]
    return ["  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True)))
            for row in rows]  # fmt: skip


def _totals(s: Sums) -> list[str]:
    return [
        f"acts {s.acts} in {s.virtual_s / 3600:.1f} h of play, {s.entries} journal entries",
        f"wrong final rulings         {s.wrong}   (goal 0), {s.decided} of them in what was decided, others only in "
        f"what is owed, goes back, or who may raise; wrong at first, then corrected {s.corrected}",
        f"no final ruling             {s.unruled}; rulings nobody called for {s.extra}; hand stuck {s.refused}",
        f"honest bets called string   {s.called_string} of {s.honest}   (goal 1 in 10,000)",
        f"string bets missed          {s.missed} of {s.strings} that mattered   (goal 1 in 1,000)",
        f"acts with a question        {s.asked} = {_share(s.asked, s.acts)}   (goal 1 %)",
        f"true time in its span       {_share(s.in_span, s.spans)} of {s.spans}   (goal 99 %)",
        f"touch to provisional        median {_ms(s.provisional_median)} ms, p99 {_ms(s.provisional_p99)} ms; "
        f"a sweep takes {s.sweep_ms:.0f} ms, the favoured antenna comes every {s.favoured_ms:.0f} ms"
        f"   (goal: a sweep + 60 ms)",
        f"hand gone to final          median {_ms(s.final_median)} ms, p99 {_ms(s.final_p99)} ms; "
        f"{_share(s.final_late, s.finals_timed)} later than 1 s   (goal: within 1 s)",
    ]


def _by_kind(tables: Sequence[TableResult], s: Sums) -> list[str]:
    alerts: Counter[str] = Counter()
    for t in tables:
        alerts.update(t.alerts)
    out = ["questions by kind: " + (", ".join(f"{k} {n}" for k, n in sorted(s.questions.items())) or "none")]
    told = ", ".join(f"{k} {n}" for k, n in alerts.most_common(12))
    return [*out, "alerts and notices: " + (told or "none"), ""]


def _faults(acts: Sequence[Result]) -> list[str]:
    bad = [a for a in acts if a.verdict != "right" or a.corrected]
    shown = [f"  {a.where} act {a.act} {a.style}: {a.verdict}{' (corrected)' if a.corrected else ''} {a.note}"
             for a in bad[:40]]  # fmt: skip
    if len(bad) > len(shown):
        shown.append(f"  … and {len(bad) - len(shown)} more")
    return ["to see one: the same options with --only SEED:INDEX --trace", *shown] if bad else []
