"""Rules compared with a control, all at once."""

import numpy as np

from explorer.training.ranking import find_higher, rank

NAN = float("nan")


def test_find_higher_agrees_with_the_ranking_of_two_rules():
    random = np.random.default_rng(0)
    for _ in range(200):
        scores = dict(zip("AB", 0.9 + 0.01 * random.standard_normal((2, 5)), strict=True))
        result = rank(scores, 1 / 360)
        for low in result.lower:
            assert find_higher(scores, low, 1 / 360) == (result.best[0],)


def test_rules_equal_to_a_control_are_rarely_found_higher():
    random, claims = np.random.default_rng(1), 0
    for _ in range(300):
        draws = 0.9 + 0.01 * random.standard_normal((7, 5))
        claims += bool(find_higher(dict(zip("CABDEFG", draws, strict=True)), "C", 1 / 360))
    assert claims <= 0.06 * 300


def test_rules_without_enough_common_seeds_are_not_found_higher():
    assert not find_higher({"A": [0.9, 0.8], "C": [NAN, NAN]}, "C")
    assert not find_higher({"A": [0.9], "C": [0.1]}, "C")
