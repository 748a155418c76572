"""What has been judged already: the same case is not judged again at each look that shows nothing new.

Pure: a judgement is a function of its `Case` and of a reading, and is found again only under an equal case.  So the
memo changes no effect, whatever it holds; a state without one, such as a restored one, goes on as any other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tabled.fusion.attempt import Attempt, Doubt, DoubtKind
from tabled.fusion.settings import FusionSettings
from tabled.model.ruling import Ruling
from tabled.rules.hand import Hand
from tabled.rules.profile import Profile
from tabled.rules.settle import Judgement

if TYPE_CHECKING:
    from tabled.core.state import Line

MAX_CASES = 8
"""The seat to act, seats that wait behind it, the newest final act with late evidence; older ones are judged anew."""
MAX_READINGS = 32
"""Readings of one case: each doubt both ways, crossed with few others."""

Reading = dict[DoubtKind, bool]


class Case:
    """All that a judgement rests on.  ``line`` is the seat's, ``hand`` as it is before the act.

    A hand can be moved on, so what it was is kept beside it; its table can not, and is compared by identity: a hand
    that is dealt anew may go by the same name.
    """

    __slots__ = ("_at", "attempt", "fusion", "hand", "line", "profile")

    def __init__(self, attempt: Attempt, hand: Hand, line: Line, profile: Profile, fusion: FusionSettings) -> None:
        self.attempt, self.hand, self.line, self.profile, self.fusion = attempt, hand, line, profile, fusion
        self._at = hand.snapshot()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Case) and (
            self.hand.table is other.hand.table
            and self.attempt == other.attempt
            and self._at == other._at
            and self.line == other.line
            and self.profile == other.profile
            and self.fusion == other.fusion
        )

    __hash__ = None  # type: ignore[assignment]  # found by comparing: there are few, and no hash decides anything


class Judged(NamedTuple):
    """What is known of one case: its doubts, and what the law makes of it under some readings of them."""

    case: Case
    doubts: tuple[Doubt, ...]
    under: tuple[tuple[Reading, Judgement], ...] = ()
    word: tuple[Ruling, bool] | None = None
    """Whether a word that is still to be keyed could change the ruling that was asked about last."""

    def judgement(self, reading: Reading) -> Judgement | None:
        """What was judged under this reading; None: nothing yet."""
        return next((judgement for known, judgement in self.under if known == reading), None)

    def with_judgement(self, reading: Reading, judgement: Judgement) -> Judged:
        """The same with one more judgement; beyond `MAX_READINGS` the oldest goes."""
        return self._replace(under=(*self.under, (dict(reading), judgement))[-MAX_READINGS:])


class Memo:
    """The newest cases, the last one first.  A value: adding gives another memo."""

    __slots__ = ("_known",)

    def __init__(self, known: tuple[Judged, ...] = ()) -> None:
        self._known = known

    def find(self, case: Case) -> Judged | None:
        """What is known of an equal case."""
        return next((judged for judged in self._known if judged.case == case), None)

    def with_case(self, judged: Judged) -> Memo:
        """The memo with this case in front, in the place of what it knew of it; beyond `MAX_CASES` the oldest goes."""
        rest = tuple(known for known in self._known if known.case is not judged.case)
        return Memo((judged, *rest)[:MAX_CASES])

    def __len__(self) -> int:
        return len(self._known)

    def __eq__(self, other: object) -> bool:
        """Two states do not differ by what they need not judge again."""
        return isinstance(other, Memo)

    __hash__ = None  # type: ignore[assignment]  # see `__eq__`
