"""The count of each answer of a class."""

import pytest

from tests.frontend.modules import Node

TALLY = """
    const { tallyOf, waysOf, answeredWords } = await import("./class/tally.js");
    const tally = tallyOf(given.counts, given.alike);
    return [tally, tally.rows.map((row) => waysOf(row, given.draws))];
"""


def test_who_picked_and_who_drew_are_counted_together(node: Node):
    tally, ways = node.run(TALLY, {"counts": [3, 0, 1], "alike": [0, 2, 2, -1, 0, -1, -1], "draws": True})
    assert [row["all"] for row in tally["rows"]] == [5, 0, 3]
    assert (tally["others"], tally["all"]) == (3, 11)
    assert ways == ["2 drew it, 3 picked it", "0 drew it, 0 picked it", "2 drew it, 1 picked it"]


def test_of_answers_in_words_none_is_drawn(node: Node):
    tally, ways = node.run(TALLY, {"counts": [3, 0], "alike": [], "draws": False})
    assert [row["all"] for row in tally["rows"]] == [3, 0]
    assert ways == ["", ""]


@pytest.mark.parametrize(
    ("answered", "here", "words"),
    [
        (0, 0, "Nobody is here yet."),
        (0, 12, "12 here, 0 have answered"),
        (1, 12, "12 here, 1 has answered"),
        (12, 0, "0 here, 12 have answered"),
    ],
)
def test_how_many_are_here(node: Node, answered: int, here: int, words: str):
    body = 'return (await import("./class/tally.js")).answeredWords(...given);'
    assert node.run(body, [answered, here]) == words
