"""After a tie, one sentence says what to try, from what was measured."""

from types import SimpleNamespace

import pytest

from explorer.training.ranking import rank
from explorer.training.runs.summary import advise_after_tie, make_conclusion

CLOSE, FAR = [0.91, 0.93, 0.92], [0.93, 0.90, 0.91]  # the second scatters by more than it is lower


def end(left, right, *, moved=1.0, finished=True):
    """Return the end of a run of two rules with these scores by seed."""
    return SimpleNamespace(
        finished=finished,
        gradients={"wide": SimpleNamespace(w1_moved=1.0), "drawn": SimpleNamespace(w1_moved=moved)},
        scores={"wide": left, "drawn": right},
    )


def advise(snapshot):
    ranking = rank(snapshot.scores, 1 / 360, unit="%")
    return advise_after_tie(snapshot, ranking, ranking.best)


@pytest.mark.parametrize(
    ("snapshot", "words"),
    [
        (end(CLOSE, CLOSE), "These rules act alike here: try another task or op."),
        (end(CLOSE, FAR, moved=0), "The first layer need not learn here: try another task or op."),
        (
            end([0.95, 0.93, 0.94], [0.93, 0.925, 0.92], moved=0),
            "More seeds may tell: about 7, if the means stay 1.5 points apart.",
        ),
        (
            end(CLOSE, FAR),
            "Try a task or op where rules differ more: 10 seeds would hardly tell these apart.",
        ),
        (end(CLOSE, FAR, finished=False), ""),
        (end(CLOSE, [0.5, 0.5, 0.51]), ""),
        (end([0.9], [0.8]), ""),
    ],
)
def test_the_advice_after_a_tie_follows_from_the_measured_facts(snapshot, words):
    assert advise(snapshot) == words


def test_the_conclusion_of_a_tie_ends_with_its_advice():
    snapshot = end(CLOSE, FAR)
    snapshot.metric, snapshot.held_out, snapshot.step = "accuracy", 360, 9
    snapshot.score = {rule: SimpleNamespace(tolist=lambda at=at: at) for rule, at in snapshot.scores.items()}
    words = make_conclusion(snapshot, {"wide": "Wide", "drawn": "Drawn"})
    assert words.endswith(advise(snapshot))
    assert words.startswith("3 seeds do not show which is best")
