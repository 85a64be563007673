"""A class without a page or a network: who sees what, who may do what, and that nothing is left."""

import gc
import weakref
from unittest.mock import Mock

import numpy as np
import pytest

from explorer.ui.server.admission.admission import RefusedError
from explorer.ui.server.admission.visitors import Visitor, VisitorQuota
from explorer.ui.server.classes import classroom
from explorer.ui.server.classes.classes import MAX_AGE_S, Classes
from explorer.ui.server.classes.classroom import Classroom
from tests.ui.server.classes.rooms import ROUND, TEACHER, WORDS, Clock, drawing, joined, picked


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def classes(clock: Clock) -> Classes:
    return Classes(clock)


@pytest.fixture
def room(classes: Classes) -> Classroom:
    return classes.open(TEACHER, ROUND)


def test_the_teacher_sees_how_many_and_no_answer_before_they_are_revealed(classes: Classes, room: Classroom):
    first, second, third = (joined(classes, room, name) for name in "abc")
    with room.subscribe(first, print), room.subscribe(second, print):
        assert room.answer(first, 1, picked(2))
        assert room.answer(second, 1, drawing())
        view = room.get_teacher_view()
        assert (view["here"], view["answered"], view["revealed"]) == (2, 2, False)
        assert (view["counts"], view["drawn"], room.list_drawings()) == (None, None, [])
        assert room.answer(third, 1, picked(2))
        room.reveal()
        view = room.get_teacher_view()
        assert (view["counts"], view["drawn"], view["answered"]) == ([0, 0, 2], 1, 3)
        np.testing.assert_array_equal(room.list_drawings()[0], np.ones(300))
    assert room.get_teacher_view()["here"] == 0
    assert room.get_teacher_view()["answered"] == 3  # who has gone has answered all the same


def test_a_student_sees_nothing_of_the_others(classes: Classes, room: Classroom):
    mine, others = joined(classes, room, "me"), joined(classes, room, "other")
    before = room.get_student_view(mine)
    room.answer(others, 1, drawing(0.5))
    assert room.get_student_view(mine) == before
    room.reveal()
    seen = room.get_student_view(mine)
    assert seen == {**before, "revealed": True}
    assert seen.keys() == {"state", "lesson", "round", "revealed", "answered", "link", "links", "spread_ms"}


def test_the_last_prediction_counts_until_they_are_revealed(classes: Classes, room: Classroom):
    token = joined(classes, room, "a")
    room.answer(token, 1, picked(0))
    room.answer(token, 1, drawing())
    room.answer(token, 1, picked(1))
    room.reveal()
    assert not room.answer(token, 1, picked(2))
    assert room.get_teacher_view()["counts"] == [0, 1, 0]
    assert room.get_teacher_view()["drawn"] == 0


def test_each_question_keeps_its_answers_until_it_is_asked_anew(classes: Classes, room: Classroom):
    token = joined(classes, room, "a")
    room.answer(token, 1, picked(2))
    room.reveal()
    first = room.get_teacher_view()
    room.ask(WORDS)
    view = room.get_teacher_view()
    assert (view["lesson"], view["round"], view["revealed"], view["answered"]) == ("leaves", 2, False, 0)
    assert not room.answer(token, 1, picked(0))  # of the question before
    assert room.answer(token, 2, picked(0))
    room.ask(ROUND)
    assert room.get_teacher_view() == first
    assert first["counts"] == [0, 0, 1]
    assert room.get_student_view(token)["answered"]
    room.ask(WORDS)
    assert room.get_teacher_view() == {**view, "answered": 1}
    room.ask(ROUND, again=True)
    assert room.get_teacher_view() == {**view, "lesson": ROUND.lesson, "round": 3}


def test_a_late_or_returning_student_gets_the_current_state(classes: Classes, room: Classroom):
    token = joined(classes, room, "a")
    room.answer(token, 1, picked(0))
    room.ask(WORDS)
    room.answer(token, 2, picked(0))
    room.reveal()
    late = joined(classes, room, "late")
    assert room.get_student_view(late) | {"answered": True} == room.get_student_view(token)
    assert joined(classes, room, "a") == token  # a reload, or a second tab
    assert room.get_teacher_view() == room.get_teacher_view()  # the same for each tab of the teacher's


def test_a_named_visitor_has_one_seat_and_others_as_many_as_their_share():
    classes = Classes(Clock(), seats_quota=VisitorQuota(visitor=2, anonymous=2, address=4))
    room = classes.open(TEACHER, ROUND)
    assert joined(classes, room, "a") == joined(classes, room, "a")
    nameless = joined(classes, room, "")
    assert classes.join(Visitor("", "10.0.0.2"), room.identity, nameless) == nameless
    joined(classes, room, "")
    with pytest.raises(RefusedError, match="Your network has already taken 2 seats: let your browser keep"):
        joined(classes, room, "")
    joined(classes, room, "b")
    with pytest.raises(RefusedError, match="Your network has already taken 4 seats: try again in about"):
        joined(classes, room, "c")
    joined(classes, room, "c", "10.0.0.3")  # elsewhere there is room


def test_classes_and_seats_are_bounded_for_all_and_for_each_and_free_again_at_the_end():
    quota = VisitorQuota(visitor=2, anonymous=2, address=9)
    classes = Classes(Clock(), max_classes=3, quota=quota, max_seats=2)
    room, other = (classes.open(TEACHER, ROUND) for _ in range(2))
    with pytest.raises(RefusedError, match="Your network already has 2 classes open: end one of them"):
        classes.open(TEACHER, ROUND)
    classes.open(Visitor("other", "10.0.0.5"), ROUND)
    with pytest.raises(RefusedError, match="3 classes are open on this server already"):
        classes.open(Visitor("third", "10.0.0.6"), ROUND)
    joined(classes, room, "a")
    joined(classes, other, "b")
    with pytest.raises(RefusedError, match="have 2 seats, and all are taken"):
        joined(classes, other, "c")
    classes.end(room)
    joined(classes, other, "c")
    classes.open(TEACHER, ROUND)
    assert len(classes) == 3


def test_it_ends_after_three_hours_and_nothing_is_left(clock: Clock, classes: Classes):
    room = classes.open(TEACHER, ROUND)
    identity, token = room.identity, joined(classes, room, "a")
    room.answer(token, 1, drawing())
    with room.subscribe(token, woken := Mock()):
        clock.now += MAX_AGE_S - 1
        assert classes.find(identity) is room
        clock.now += 1
        classes.end_expired()
        woken.assert_called_once_with()
        assert room.get_student_view(token)["state"] == room.get_teacher_view()["state"] == "ended"
    assert classes.find(identity) is None
    with pytest.raises(RefusedError, match="No class has this code"):
        joined(classes, room, "b")
    forgotten = weakref.ref(room)
    del room
    gc.collect()
    assert forgotten() is None


def test_the_secret_leads_the_key_only_watches_and_the_code_does_neither(room: Classroom):
    assert room.is_led_by(room.secret)
    assert room.may_watch(room.watch_key)
    for wrong in ("", room.identity, room.watch_key):
        assert not room.is_led_by(wrong)
    for wrong in ("", room.identity, room.secret):
        assert not room.may_watch(wrong)
    assert room.secret not in room.watch_key


def test_students_are_led_once_and_who_joins_later_is_not(classes: Classes, room: Classroom):
    token = joined(classes, room, "a")
    with room.subscribe(token, print):
        assert room.lead_to("/train", "task=moons") == 1
    seen = room.get_student_view(token)
    assert seen["link"] == {"number": 1, "path": "/train", "query": "task=moons"}
    assert room.get_student_view(joined(classes, room, "late"))["links"] == 1  # from where it counts
    room.lead_to("/", "op=sign")
    assert room.get_student_view(token)["link"]["number"] == 2
    room.ask(WORDS)
    assert room.get_student_view(token)["link"] is None


def test_an_answer_wakes_the_teacher_and_no_student(classes: Classes, room: Classroom):
    teacher, student = Mock(), Mock()
    token, other = joined(classes, room, "a"), joined(classes, room, "b")
    with room.subscribe(None, teacher), room.subscribe(other, student):
        teacher.reset_mock()
        student.reset_mock()
        room.answer(token, 1, picked(0))
        assert (teacher.call_count, student.call_count) == (1, 0)
        room.reveal()
        assert (teacher.call_count, student.call_count) == (2, 1)


def test_the_number_of_watching_tabs_is_limited(classes: Classes, room: Classroom):
    most = {joined(classes, room, "a"): classroom.MAX_STUDENT_STREAMS, None: classroom.MAX_TEACHER_STREAMS}
    for token in most:
        watching = [room.subscribe(token, print) for _ in range(most[token])]
        for each in watching:
            each.__enter__()
        with pytest.raises(classroom.TooManyStreamsError), room.subscribe(token, print):
            pass
        watching[0].__exit__(None, None, None)
        with room.subscribe(token, print):
            pass
