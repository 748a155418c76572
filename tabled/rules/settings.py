"""What each setting of a profile means, and the paragraphs where laws differ.  Shown by ``tabled profile show``."""

from __future__ import annotations

import msgspec


class Setting(msgspec.Struct, frozen=True):
    """``about`` in one sentence, ``values`` what each word means, ``topics`` whose clauses the profile cites for it.

    A ruling that rests on the setting cites its ``topics``, so a house that changes it speaks for them itself.
    ``by_value`` gives the paragraphs of a value where another value's law is none of its own.  ``of_room`` marks what
    no law speaks of, ``outside`` says of a setting that is in no ruling at the table where it is used.
    """

    about: str
    values: dict[str, str] = {}
    topics: tuple[str, ...] = ()
    by_value: dict[str, tuple[str, ...]] = {}
    of_room: bool = False
    outside: str = ""

    def paragraphs(self, value: str) -> tuple[str, ...]:
        """The topics that speak for one value."""
        return self.by_value.get(value, self.topics)


_WINDOW = {
    "street": "until the next card",
    "all_acted": "until everybody has acted on it",
    "substantial_action": "until substantial action",
    "none": "not at all",
}

SETTINGS_EXPLAINED: dict[str, Setting] = {
    "speech_vs_chips": Setting(
        "Mouth against hands when both came, one after the other.",
        {
            "first_act": "the first completed act, word or chip, binds",
            "mouth_always": "the word holds, even after the chips",
        },
        ("words_first", "chips_first"),
    ),
    "simultaneous": Setting(
        "A word in the same instant as the first touch.",
        {
            "mouth": "the word counts as first",
            "word_must_precede": "a word must come before the chip, so the chip counts",
        },
        ("words_first",),
    ),
    "simultaneity_ms": Setting(
        "How close, in milliseconds, a word and a touch must be to count as the same instant.",
        of_room=True,
        outside="Used for written cases.  At a live table the sensors' own time spans decide, and the dealer is asked "
        "where they overlap.",
    ),
    "one_chip_facing": Setting(
        "One silent chip when there is a bet or blind to call.",
        {"call": "a call, whatever the chip is worth", "full_value": "judged as any other chips"},
        ("one_chip_facing", "one_chip_preflop"),
    ),
    "one_chip_bb_option": Setting(
        "One silent chip by a seat that may check over its own blind.",
        {"check": "a call of nothing: a check, chip back", "raise": "not facing a bet: the chip raises"},
        ("one_chip_option",),
    ),
    "one_chip_bring_in": Setting(
        "Stud: one silent chip that is exactly the completion, facing the bring-in.",
        {"complete_if_exact": "it completes", "call": "it calls the bring-in"},
        ("bring_in", "one_chip_facing"),
        {"complete_if_exact": ("bring_in",), "call": ("one_chip_facing",)},
    ),
    "last_chip_silent": Setting(
        "A silent single chip that is the player's last.",
        {"call": "a call, like any single chip", "all_in": "all-in"},
        ("one_chip_facing", "last_chips"),
    ),
    "stack_pushed": Setting(
        "The whole stack pushed to the pot in silence, over a bet.",
        {"all_in": "all-in, whatever its chips are", "chip_rules": "judged as one chip or several"},
        ("last_chips",),
    ),
    "multi_chip_test": Setting(
        "Several silent chips over a bet.",
        {
            "none": "only the half-way threshold decides",
            "every_chip_needed": "a call if the smallest new chip is needed for the call",
        },
        ("multi_chip_call",),
        {"none": ("multi_chip_threshold",)},
    ),
    "prior_chips": Setting(
        "Chips left from an earlier bet on this street.",
        {"counted": "they count with the new ones", "covering_raises": "if they alone cover the call, new chips raise"},
        ("prior_chips", "prior_cover"),
    ),
    "prior_pull_back": Setting(
        "Taking back chips of an earlier bet while facing a raise.",
        {"binds": "binds to a call or raise", "free": "binds to nothing"},
        ("prior_pull_back",),
    ),
    "string_first_motion": Setting(
        "Silent chips in several motions, facing a bet.",
        {"call": "a call and nothing else", "first_motion": "the first motion is judged alone"},
        ("string",),
    ),
    "string_acted_before": Setting(
        'What "someone acted before" means for an opening string bet.',
        {"bet_faced": "there is a bet to call", "anyone_acted": "anyone acted, so the string is a call of nothing"},
        ("string",),
    ),
    "raise_word_extra_motions": Setting(
        'Further trips to the stack after a spoken "raise".',
        {
            "none": "none counts; the smallest raise is owed",
            "once_after_exact_call": "one, if the first placed exactly the call",
            "once": "one, whatever the first placed",
            "free": "all, until the hand rests",
        },
        ("string_exception",),
    ),
    "bind": Setting(
        "When chips bind.",
        {
            "release": "when released on the felt of the betting area",
            "push": "also when pushed toward the pot, hand still on them",
            "line": "when they cross the line",
        },
        ("pushed",),
    ),
    "push_short_of_line": Setting(
        "A push that stopped before the line and went back.",
        {"floor": "the floor decides", "binds": "it binds", "free": "no act"},
        ("pushed", "unclear"),
    ),
    "underraise_threshold": Setting(
        "A raise, not all-in, of less than the minimum.",
        {
            "half": "lifted from half of a full raise up, else a call",
            "lift": "always lifted",
            "call": "always a call",
            "floor": "the floor decides (no-limit, pot-limit, spread)",
        },
        ("under_raise", "under_raise_call", "under_raise_lifted", "multi_chip_threshold"),
    ),
    "underraise_half_of": Setting(
        "What the half is half of.",
        {"raise": "the raise that was due", "bet": "the bet that is faced"},
        ("under_raise",),
        {"raise": ("under_raise", "under_raise_call")},
    ),
    "underraise_spoken": Setting(
        'Too little after "raise" was said first.',
        {"lift": "lifted to the smallest raise", "threshold": "treated as silent chips"},
        ("under_raise_spoken",),
    ),
    "underbet_threshold": Setting(
        "An opening bet, not all-in, of less than the minimum.",
        {"none": "always lifted to the minimum", "half": "lifted from half of it up, else a check"},
        ("min_bet",),
    ),
    "min_bet": Setting(
        "The smallest opening bet at big-bet poker.", {"bb": "the big blind", "sb": "the small blind"}, ("min_bet",)
    ),
    "min_bet_games": Setting("Games whose smallest opening bet differs from min_bet.", {}, ("min_bet",)),
    "min_raise": Setting(
        "The smallest raise at no-limit and pot-limit.",
        {"last_raise": "the last full bet or raise", "small_blind": "one small blind, in games whose bet is that"},
        ("min_raise",),
    ),
    "allin_reopen": Setting(
        "How much of a raise an all-in must be to reopen the betting, by structure.",
        {"full": "a full raise", "half": "half of one"},
        ("reopen", "reopen_limit"),
    ),
    "allin_half_of": Setting(
        "Half-bet games: what the half is half of.",
        {"raise": "the raise that was due", "min_bet": "the smallest bet of the round"},
        ("reopen_limit",),
    ),
    "allin_cumulative": Setting(
        "Whether several short all-ins together reopen the betting for a seat that faces a full raise in all.",
        {"true": "yes", "false": "no, one of them must do it"},
        ("reopen",),
    ),
    "completion": Setting(
        "Half-bet games at fixed limit: an all-in that does not count may be completed to the whole bet.",
        {
            "never": "no, a whole bet is added on top",
            "under_half": "yes, when it was less than half",
            "at_half_too": "yes, also at half or more (beside the whole raise)",
        },
        ("completion",),
    ),
    "raise_cap": Setting(
        "Fixed limit: raises allowed on a street after the bet, where the game names none.", {}, ("cap",)
    ),
    "cap_heads_up": Setting(
        "When two players lift the cap.",
        {
            "kept": "never",
            "street": "when the street began with two",
            "before_cap": "when two who are not all-in are left before it is reached",
            "event": "only when the event is down to two (two dealt in)",
        },
        ("cap_heads_up",),
    ),
    "out_of_turn": Setting(
        "An act out of turn, when the turn comes.",
        {
            "tda": "binds if the action did not change, else it is released",
            "binds_no_raise": "binds if unchanged, else the seat may only call or fold",
            "strict": "the right to raise is lost either way",
            "checker_no_raise": "as tda, but who checked may not raise",
        },
        ("out_of_turn",),
    ),
    "out_of_turn_penalty": Setting(
        "What an act out of turn brings.",
        {"": "nothing", "possible": "a penalty is possible", "warning": "a warning"},
        by_value={"possible": ("out_of_turn",), "warning": ("out_of_turn",)},
    ),
    "undercall": Setting(
        "Fewer chips than the call, with more behind.",
        {
            "call": "the full call is owed",
            "opening_only": "owed against the opening bet or heads-up; else the floor decides",
            "floor": "the floor decides",
        },
        ("undercall",),
    ),
    "undercall_claim": Setting(
        "The player says that he did not see the raise.",
        {"ignored": "the undercall rule holds", "floor": "the floor may let him choose again"},
        ("undercall",),
    ),
    "tiny_chips": Setting(
        "Silent chips of no more than a tenth of the call.",
        {"undercall": "the undercall rule holds", "floor": "the floor decides; it may be a full call"},
        ("tiny_chips",),
    ),
    "accepted_action": Setting(
        "Just the wrong amount that the dealer named for the bet, put in or said by the caller.",
        {"full": "the caller has accepted the whole bet", "undercall": "judged as any other amount"},
        ("accepted",),
    ),
    "tap_facing": Setting(
        "A tap on the table while facing a bet.",
        {
            "as_check": "an invalid check: call or fold",
            "ask": "an invalid check: call or fold, and it is shown to the floor",
        },
        ("invalid_tap",),
    ),
    "number_meaning": Setting(
        'An amount said with "raise", without "to" or "by".',
        {
            "to": "the total",
            "by": "the size of the raise",
            "chips_clarify": "the size, unless the chips show the total",
        },
        ("raise_unstated",),
    ),
    "short_number": Setting(
        'A number that cannot be meant as it is ("five" at 200/400).',
        {
            "literal": "taken as it is",
            "pot_test": "hundreds or thousands: the largest not over the pot, else the floor",
        },
        ("short_number",),
        {"literal": ("number",)},
    ),
    "late_short_number": Setting(
        "Such a number said after one chip was put in as an opening bet.",
        {"ignored": "the chip came first and counts", "pot_test": "it says how much of the chip is bet"},
        ("short_number",),
    ),
    "low_voice": Setting(
        "A number that was not clearly heard, with other chips.",
        {"word": "the word holds", "floor": "the floor decides"},
        ("low_voice",),
    ),
    "amount_rounding": Setting(
        "An amount said that the chips in play cannot make.",
        {"none": "taken as it is", "nearest": "to the nearest chip, half up"},
        ("rounding",),
    ),
    "straddle_min_raise": Setting(
        "The smallest raise over a straddle.",
        {"double": "twice the straddle", "increment": "the straddle and what it was over the big blind"},
        ("straddle",),
    ),
    "short_blind_price": Setting(
        "A big blind posted short.",
        {"nominal": "the whole blind is to be called", "actual": "what was posted is"},
        ("short_blind",),
    ),
    "pot_preflop": Setting(
        "Pot limit before the flop, a blind short or missing.",
        {"nominal": "the pot counts as if both blinds were whole", "actual": "what lies there"},
        ("pot_blinds",),
    ),
    "pot_rounding": Setting(
        "Pot limit: the pot in chips in play.",
        {"none": "exact", "up": "up", "down": "down", "nearest": "to the nearest, half up"},
        ("rounding",),
    ),
    "correction_window": Setting(
        "How long too small a bet or raise can be put right.",
        _WINDOW,
        ("correct",),
    ),
    "pot_overbet_window": Setting(
        "How long a pot-limit bet over the pot can be cut to it.",
        _WINDOW,
        ("correct_pot",),
    ),
    "pot_underbet_window": Setting(
        "How long a pot-limit bet that was to be the pot, and was counted too low, can be lifted to it.",
        _WINDOW,
        ("correct_pot",),
    ),
    "third_party": Setting("Who may point out a wrong amount.", {}, ("third_party", "correct")),
    "third_party_unheard": Setting(
        "After a word from somebody who may not speak.",
        {"dealer_counts": "the act stands; the dealer counts on his own duty", "ignored": "the act stands"},
        ("third_party",),
    ),
    "missed_blind": Setting(
        "A newcomer between button and blinds who wants to be dealt in now.",
        {"post_big_blind": "posts the big blind, live", "wait": "waits for the big blind"},
        outside="No ruling rests on it: tabled deals in the seats that the floor's seating system names.  "
        "That system can ask tabled.rules.opening.newcomer_posts.",
    ),
    "chip_unit": Setting("The smallest chip in play; 0 takes it from the hand.", of_room=True),
    "ask_floor": Setting(
        "Settings where the text leaves room: a ruling that rests on one is shown to the floor.", of_room=True
    ),
    "cite": Setting("Clause ids by topic."),
}
