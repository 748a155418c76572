"""One seat's acts, sorted: which words came before the touch, what each trip brought, what was taken back."""

from __future__ import annotations

import pytest

from tabled.model import acts as a
from tabled.rules.gesture import MAX_ACTS, MAX_CHIPS, Gesture, read
from tests.rules.table import act, profile, rule, short, situation


def made(*acts: str, line: tuple[int, ...] = (), bind: str = "push") -> Gesture:
    return read([act(t) for t in acts], line, bind)


def words(gesture: Gesture) -> tuple[list[str], list[str]]:
    return [w.word for w in gesture.words], [w.word for w in gesture.late]


# ---- words and the first touch --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("acts", "sorted_"),
    [
        (("B say raise", "B put 500"), (["raise"], [])),
        (("B put 500", "B say raise"), ([], ["raise"])),
        (("B put 500", "B say raise simultaneous"), (["raise"], [])),
        (("B say raise after", "B put 500"), ([], ["raise"])),
        (("B put 500", "B again", "B say raise"), ([], ["raise"])),  # the first trip was the touch
        (("B say call", "B put 500", "B say raise"), (["call"], ["raise"])),
        (("B stage 500", "B say raise", "B put 500"), (["raise"], [])),  # counted beside the stack: no touch
        (("B tap",), (["check"], [])),
        (("B cards",), (["fold"], [])),
        (("B say number", "B put 500"), (["other"], [])),
    ],
)
def test_words_are_before_or_with_the_first_touch_or_too_late(acts, sorted_):
    assert words(made(*acts)) == sorted_


# ---- trips ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("acts", "motions"),
    [
        (("B put 500", "B put 100"), ((500, 100),)),
        (("B put 500", "B again", "B put 100"), ((500,), (100,))),
        (("B put 500", "B away", "B put 100"), ((500,), (100,))),
        (("B again", "B put 500", "B again", "B again", "B put 100", "B away"), ((500,), (100,))),
        (("B push 500", "B put 100"), ((500, 100),)),
        (("B stage 500", "B hold 500"), ()),
    ],
)
def test_chips_of_one_trip_are_one_motion(acts, motions):
    gesture = made(*acts)
    assert gesture.motions == motions
    assert gesture.new == tuple(c for m in motions for c in m)


@pytest.mark.parametrize(
    ("acts", "bind", "motions", "short_"),
    [
        (("B push 500",), "push", ((500,),), ()),
        (("B push 500 held",), "push", ((500,),), ()),  # §7.7: pushed toward the pot binds in the hand
        (("B push 500 held",), "release", (), (500,)),
        (("B push 500 held",), "line", ((500,),), ()),
        (("B push 500 held", "B away"), "release", ((500,),), ()),  # the hand went and the chips stayed
        (("B push 500 held", "B again", "B put 100"), "release", ((500,), (100,)), ()),
        (("B push 500 held", "B pull 500", "B away"), "release", (), (500,)),
        (("B push 500 held", "B put 500"), "release", ((500,),), ()),  # let go
        (("B push 500 held", "B push 500"), "release", ((500,),), ()),
        (("B push 500 short",), "push", ((500,),), ()),  # on its way
        (("B push 500 short",), "line", (), (500,)),
        (("B push 500 short",), "release", (), (500,)),
        (("B push 500 short", "B away"), "release", (), (500,)),  # it never crossed
        (("B push 500 short", "B pull 500"), "push", (), (500,)),
        (("B push 500 short", "B pull 500", "B put 100"), "push", ((100,),), (500,)),
        (("B push 500 short", "B push 500"), "push", ((500,),), ()),
    ],
)
def test_a_push_binds_on_its_way_over_the_line_or_when_it_is_let_go(acts, bind, motions, short_):
    gesture = made(*acts, bind=bind)
    assert (gesture.motions, gesture.short) == (motions, short_)


def test_chips_are_pushed_when_none_was_placed():
    assert made("B push 500", "B push 100").pushed
    assert not made("B push 500", "B put 100").pushed
    assert not made("B put 500").pushed
    assert not made("B tap").pushed


# ---- taking back ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("acts", "line", "lifted", "retracted", "mixed"),
    [
        (("B put 500 100", "B pull 100"), (), (), (100,), False),
        (("B put 500", "B pull 500", "B pull 500"), (500,), (500,), (500,), False),  # the second is an old one
        (("B put 100", "B pull 100 100"), (100,), (100,), (100,), False),
        (("B put 100 100", "B pull 100 100"), (100,), (), (100, 100), False),
        (("B pull 25 25",), (25, 25), (25, 25), (), False),
        (("B pull 25 25", "B put 500 25 25"), (25, 25), (25, 25), (), True),
        (("B pull 25 25", "B put 500 25"), (25, 25), (25, 25), (), False),
        (("B pull 25", "B put 25"), (25, 25), (25,), (), True),
        (("B put 500",), (25,), (), (), False),
    ],
)
def test_what_is_taken_back_is_a_new_chip_first(acts, line, lifted, retracted, mixed):
    gesture = made(*acts, line=line)
    assert (gesture.lifted, gesture.retracted, gesture.mixed) == (lifted, retracted, mixed)


# ---- what is said of chips ------------------------------------------------------------------------------------------


def test_one_dropped_chip_among_others_is_one_by_accident():
    assert made("B put 500 dropped").accidental
    assert made("B put 500 dropped", "B put 100").accidental
    assert made("B put 100", "B put 500 dropped").accidental
    assert not made("B put 500").accidental


def test_one_chip_for_change_among_others_is_one_for_change():
    assert made("B put 500 change").forced_change
    assert made("B put 500 change", "B put 100").forced_change
    assert made("B put 100", "B put 500 change").forced_change
    assert not made("B put 500").forced_change


@pytest.mark.parametrize(
    ("acts", "asked", "motions"),
    [
        (("B asks", "B put 1000"), True, ((1000,),)),
        (("B put 1000", "B asks"), False, ((1000,),)),  # the chip was first
        (("B put 1000", "B again", "B asks"), False, ((1000,),)),
        (("B asks", "B put 1000", "B asks"), True, ((1000,),)),
        (("B asks", "B put 1000", "B change"), False, ()),
        (("B asks", "B put 1000", "B change", "B put 100"), False, ((100,),)),
        (("B put 1000", "B change"), False, ((1000,),)),
    ],
)
def test_tda_61_chips_for_which_change_was_asked_are_no_bet(acts, asked, motions):
    gesture = made(*acts)
    assert (gesture.change_asked, gesture.motions) == (asked, motions)


def test_a_claim_and_a_ruled_act_are_kept_as_they_are():
    gesture = made("B did call 500", "B claims unseen")
    assert gesture.decided == a.Decided("B", "call", 500)
    assert gesture.claim == "unseen"
    assert made("B tap").decided is None
    assert made("B tap").claim is None


# ---- bounds ---------------------------------------------------------------------------------------------------------


def test_the_acts_of_one_motion_are_bounded():
    tap = a.TapTable("B")
    assert len(read([tap] * 256).words) == MAX_ACTS == 256
    for acts in ([tap] * 257, []):
        with pytest.raises(ValueError, match=f"{len(acts)} acts cannot be judged as one: 1 to 256 are possible"):
            read(acts)
    with pytest.raises(ValueError, match="one seat are judged at a time, not of B, C"):
        read([a.TapTable("C"), tap])


def test_the_chips_of_one_bet_are_bounded():
    chips = (1,) * 1000
    assert len(read([a.Place("B", chips), a.HandWithdraws("B"), a.Place("B", chips)]).new) == MAX_CHIPS == 2000
    with pytest.raises(ValueError, match="more than 2000 chips in one bet"):
        read([a.Place("B", chips), a.HandWithdraws("B"), a.Place("B", (*chips, 1))])


def test_a_gesture_cannot_be_changed():
    with pytest.raises(AttributeError):
        made("B tap").seat = "C"  # type: ignore[misc]  # what it must refuse
    with pytest.raises(TypeError):
        Gesture("B", ())  # type: ignore[misc]  # its parts are named, there are too many to count


def test_a_hand_that_did_nothing_is_an_empty_gesture():
    assert made("B away") == Gesture(seat="B")


def test_se_7_7_chips_let_go_over_the_line_bind_where_only_release_does():
    where = situation("A 4500/500* B 5000", "B", 500, prior="A bet 500")
    release = profile("swedish", bind="release", push_short_of_line="free")
    assert rule(release, where, "B push 500 held").action == "pending"
    assert short(rule(release, where, "B push 500 held", "B away")) == ("call", 500, 0, 0)
