"""Codes of classes: what is typed is understood, and nobody guesses one."""

import pytest

from explorer.ui.server.admission import limits
from explorer.ui.server.admission.admission import RefusedError
from explorer.ui.server.admission.visitors import Visitor
from explorer.ui.server.classes.classes import Classes
from explorer.ui.server.classes.codes import ALPHABET, CODE_LENGTH, format_code, identity_of, make_code
from tests.ui.server.classes.rooms import ROUND, Clock

HOUR_S = 3600
BELOW = 1e-4


def test_all_visitors_together_hardly_ever_guess_the_code_of_one_of_100_classes_in_an_hour():
    assert limits.MAX_CLASSES == 100
    assert len(set(ALPHABET)) == len(ALPHABET) == 32
    guesses = limits.TOTAL_CODE_MISSES_PER_S * (HOUR_S + 1)  # as many at once after a rest
    chance = guesses * limits.MAX_CLASSES / len(ALPHABET) ** CODE_LENGTH
    assert 0 < chance < BELOW


def test_guesses_beyond_the_limit_are_not_answered():
    """Whatever names and addresses they come from, and a right code is not told to who has no turn left."""
    clock = Clock()
    classes = Classes(clock)
    room = classes.open(Visitor("teacher", "10.0.0.1"), ROUND)
    many = {classes.join(Visitor("", "10.0.0.9"), room.identity) for _ in range(100)}
    assert len(many) == 100, "these are no guesses"
    answered = 0
    for guess in range(3 * limits.TOTAL_CODE_MISSES_PER_S):
        guesser = Visitor(f"{guess}", f"10.1.{guess % limits.TOTAL_CODE_MISSES_PER_S}")
        with pytest.raises(RefusedError) as refused:
            classes.join(guesser, f"{guess:09}")
        answered += refused.value.status_code == 404
    assert answered == limits.TOTAL_CODE_MISSES_PER_S
    with pytest.raises(RefusedError, match="Too many wrong class codes"):
        classes.join(Visitor("late", "10.9.9.9"), room.identity)
    clock.now += 1.0
    assert classes.join(Visitor("late", "10.9.9.9"), room.identity)


@pytest.mark.parametrize(
    ("visitor", "most"),
    [
        (lambda _: Visitor("one", "10.0.0.9"), limits.CODE_MISSES_PER_S),
        (lambda _: Visitor("", "10.0.0.9"), limits.ADDRESS_CODE_MISSES_PER_S),
        (lambda guess: Visitor(f"{guess}", "10.0.0.9"), limits.ADDRESS_CODE_MISSES_PER_S),
    ],
    ids=["one visitor", "without a name", "many names at one address"],
)
def test_guesses_beyond_the_rate_of_a_visitor_or_address_are_refused(visitor, most: int):
    classes = Classes(Clock())
    codes = []
    for guess in range(most + 5):
        with pytest.raises(RefusedError) as refused:
            classes.find_by_code(visitor(guess), "000000000")
        codes.append(refused.value.status_code)
    assert codes == [404] * most + [429] * 5


def test_a_code_has_its_letters_and_is_never_the_same():
    codes = [make_code() for _ in range(1000)]
    assert {len(code) for code in codes} == {CODE_LENGTH}
    assert set("".join(codes)) == set(ALPHABET)
    assert len(set(codes)) == 1000


def test_spellings_of_a_code_are_read_and_what_is_written_is_read_back():
    for typed, meant in {
        "k7m-x2p-wrq": "k7mx2pwrq", " K7M X2P WRQ ": "k7mx2pwrq", "k7mx2pwrq": "k7mx2pwrq",
        "OIL-000-111": "011000111", "first-k7m-x2p-wrq": "first~k7mx2pwrq",
        "FIRST~k7mx2pwrq": "first~k7mx2pwrq", "olli-k7m-x2p-wrq": "olli~k7mx2pwrq",
        "k7m": "", "": "", "k7m-x2p-wru": "", "ключ-k7m": "", "../../k7m": "",
    }.items():  # fmt: skip
        assert identity_of(typed) == meant
        if meant:
            assert identity_of(format_code(meant)) == identity_of(format_code(meant).upper()) == meant
