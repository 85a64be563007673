"""Which rules may be best: against scipy, against a second reading of the method, and by its laws."""

import math
import re
from functools import cache

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from explorer.training.ranking import describe_lower, differences_from, rank
from explorer.training.ranking.quantiles import MAX_RULES, compute_quantile
from tests.selection import count_examples

NAN = math.nan
TABLE = st.tuples(st.integers(2, 6), st.integers(2, 8)).flatmap(
    lambda size: st.lists(
        st.lists(st.integers(0, 360), min_size=size[1], max_size=size[1]), min_size=size[0], max_size=size[0]
    )
)


def named(rows: list[list[int]]) -> dict[str, list[float]]:
    """Counts of right answers as shares, by a label a row."""
    return {chr(65 + index): [count / 360 for count in row] for index, row in enumerate(rows)}


@cache  # each takes scipy a tenth of a second
def half(rules: int, degrees: float) -> float:
    """Half of a 95 % interval for all pairs of so many rules, in standard errors of a difference."""
    from scipy import stats  # a second for every process that collects this file

    return float(stats.studentized_range.isf(0.05, rules, degrees)) / math.sqrt(2)


@pytest.mark.parametrize(("rules", "degrees"), [(2, 1), (6, 4), (17, 100), (128, 3)])
def test_a_quantile_matches_scipy_and_students_t_for_two_rules(rules: int, degrees: int):
    from scipy import stats

    assert compute_quantile(rules, degrees) == pytest.approx(half(rules, degrees), rel=1e-4)
    assert compute_quantile(2, degrees) == pytest.approx(stats.t.isf(0.025, degrees), rel=1e-4)


@pytest.mark.parametrize(("rules", "degrees"), [(1, 4), (MAX_RULES + 1, 4), (3, 0)])
def test_a_quantile_of_too_many_rules_or_too_few_is_refused(rules: int, degrees: int):
    with pytest.raises(ValueError, match="cannot compute a quantile for"):
        compute_quantile(rules, degrees)


@given(TABLE)
@example([[0, 0], [1, 0], [4, 6], [9, 0]])
@settings(max_examples=count_examples(60))
def test_intervals_match_a_second_implementation(rows: list[list[int]]):
    table = np.array(rows, float) / 360
    table = table[np.argsort(-table.mean(1), kind="stable")]
    rules, seeds = table.shape
    leads = table[0] - table
    left = list(range(rules))
    wide = np.zeros(rules)

    def pool(left: list[int]) -> float:
        among = [np.var(table[i] - table[j], ddof=1) for i in left for j in left if i < j]
        return float(np.sqrt(np.mean(among)))

    while True:
        among = pool(left)
        for index in left[1:]:
            error = max(np.std(leads[index], ddof=1), 1 / 360, among) / math.sqrt(seeds)
            wide[index] = half(rules, (seeds - 1) * (len(left) - 1)) * error
        stay = [index for index in left if index == 0 or leads[index].mean() <= wide[index]]
        *_, wildest = sorted(stay, key=lambda index: np.std(leads[index]))
        others = [index for index in stay if index != wildest]
        if len(stay) > 2 and np.std(leads[wildest], ddof=1) > 5 * max(pool(others), 1 / 360):
            stay = others
        if len(stay) in (1, len(left)):
            break
        left = stay
    result = rank({str(index): row for index, row in enumerate(table)}, 1 / 360)
    if list(result.means) != [str(index) for index in range(rules)]:
        return  # equal means, in another order
    for index in range(1, rules):
        least, most = result.differences[str(index)]
        assert (least + most) / 2 == pytest.approx(leads[index].mean(), abs=1e-9)
        assert (most - least) / 2 == pytest.approx(wide[index], rel=1e-3)


@given(TABLE)
@settings(max_examples=count_examples(60))
def test_a_rule_is_lower_only_if_its_interval_is_above_zero(rows: list[list[int]]):
    result = rank(named(rows), 1 / 360)
    assert {*result.best, *result.lower} == set(named(rows))
    assert result.best[0] == next(iter(result.means))
    assert result.lower == {label: ends for label, ends in result.differences.items() if ends[0] > 0}
    assert not set(result.best) & set(result.lower)


def test_a_difference_of_unknown_sign_states_the_higher_bound_first():
    result = rank({"A": [0.95, 0.97, 0.9], "B": [0.94, 0.98, 0.91]}, 1 / 360, unit="%")
    said = describe_lower(result, (-0.003, 0.012))
    assert re.fullmatch(r"between 0\.3\d* points higher and 1\.2\d* lower", said)
    few = rank({"A": [0.9, 0.5], "B": [0.4, 0.6]}, 1 / 360, unit="%")
    assert describe_lower(few, few.differences["B"]) == "between 30.0 points higher and 70.0 lower"
    assert re.fullmatch(r"higher by 0\.3\d* to 1\.2\d* points", describe_lower(result, (-0.012, -0.003)))


def test_a_dead_rule_does_not_widen_the_intervals_of_good_ones():
    random = np.random.default_rng(0)
    good = 0.95 + 0.004 * random.standard_normal((3, 10)) - np.array([[0], [0.012], [0]])
    dead = 0.2 + 0.05 * random.standard_normal((1, 10))
    with_dead = rank(dict(zip("ABCD", [*good, *dead], strict=True)), 1 / 360)
    assert {"B", "D"} <= set(with_dead.lower)


def test_a_wild_rule_does_not_widen_the_intervals_of_good_ones():
    result = rank({"A": [0.95, 0.96, 0.97], "B": [0.94, 0.96, 0.96], "C": [0.99, 0.95, 0.2]}, 1 / 360)
    assert result.differences["B"][1] < 0.03
    assert result.differences["C"][1] > 1


def test_rules_equal_to_a_control_are_rarely_found_higher():
    random, claims = np.random.default_rng(1), 0
    for _ in range(300):
        scores = dict(zip("CABDEFG", 0.9 + 0.01 * random.standard_normal((7, 5)), strict=True))
        claims += any(upper < 0 for _, upper in differences_from(scores, "C", 1 / 360).values())
    assert claims <= 0.06 * 300


def test_a_reference_without_scores_is_not_compared():
    assert differences_from({"A": [0.9, 0.8], "C": [NAN, NAN]}, "C") == {}


SENTENCES = {
    "one best": (
        {"A": [0.95, 0.96, 0.94, 0.95, 0.96], "B": [0.75, 0.77, 0.74, 0.73, 0.78]},
        r"A is best on the 360 held-out examples, at 95.2 %; B \(75.4 %\) is lower by \d+.\d to \d+.\d "
        r"points \(means of 5 seeds; 95 % interval\).",
    ),
    "two level": (
        {"A": [0.95, 0.96, 0.94], "B": [0.95, 0.95, 0.95], "C": [0.3, 0.2, 0.25]},
        r"A \(95.0 %\) and B \(95.0 %\) may each be best on the 360 held-out examples; C \(25.0 %\) is lower "
        r"by \d+.\d to \d+.\d points than A \(means of 3 seeds; 95 % intervals valid for all at once\).",
    ),
    "a lower mean that scatters more": (
        {"A": [0.95, 0.96, 0.94], "B": [0.9, 0.3, 0.9], "C": [0.85, 0.86, 0.84]},
        r"A .* and B .* C .* by seed, the differences of C from A scatter less than those of B\.",
    ),
    "alike": (
        {"A": [0.95, 0.96], "B": [0.95, 0.96]},
        r"A and B score the same on each seed; mean 95.5 % on the 360 held-out examples.",
    ),
    "some diverged": (
        {
            "A": [0.95, 0.96, 0.94, 0.95], "B": [0.95, NAN, 0.95, 0.94], "C": [0.3, NAN, NAN, 0.2],
            "D": [NAN] * 4,
        },
        r"4 seeds do not show .* 1 of 4 seeds of B diverged and are left out, which flatters the mean. D "
        r"diverged and cannot be compared. C diverged with 2 of 4 seeds and is not compared.",
    ),
    "one left": (
        {"A": [0.95, 0.96], "B": [NAN, NAN]},
        r"A is at 95.5 % on the 360 held-out examples \(mean of 2 seeds\). B diverged "
        r"and cannot be compared.",
    ),
    "an equal lead on two seeds": (
        {"A": [0.95, 0.96], "B": [0.94, 0.95]},
        "2 seeds do not .* a true difference of up to .* Two seeds reveal only large differences.",
    ),
    "one seed": (
        {"A": [0.99], "B": [0.01]},
        r"One seed: A \(99.0 %\) and B \(1.0 %\) on the 360 held-out examples. One seed proves .*",
    ),
    "none left": ({"A": [NAN], "B": [NAN]}, r"A and B diverged and cannot be compared."),
    "none shared": (
        {"A": [0.95, 0.96, NAN], "B": [NAN, 0.9, 0.9]},
        r"Too few seeds are finite with every rule: A .* and B .* on the 360 held-out examples. .*",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SENTENCES)
def test_a_ranking_is_stated_in_a_sentence(name: str):
    scores, expected = SENTENCES[name]
    ranking = rank(scores, 1 / 360, unit="%")
    assert re.fullmatch(expected, ranking.sentence)
    assert bool(ranking.lower) == (" lower by " in ranking.sentence)


def test_scores_other_than_fractions_are_stated_in_their_own_unit():
    said = rank({"A": [0.91, 0.92, 0.93, 0.92], "B": [0.5, 0.52, 0.49, 0.5]}).sentence
    assert re.match(r"A is best on held-out data, at 0.92; B \(0.50\) is lower by 0.\d\d to 0.\d\d ", said)


def test_no_bound_of_a_claimed_difference_is_written_as_zero():
    random = np.random.default_rng(1)
    claimed = 0
    for _ in range(400):
        scores = 0.95 + 0.004 * random.standard_normal((2, 5)) - np.array([[0], [0.006]])
        result = rank({"A": scores[0], "B": scores[1]}, 1 / 36_000, unit="%")
        claimed += bool(result.lower)
        assert "by 0.0 to" not in result.sentence
    assert claimed > 50


@pytest.mark.parametrize(
    ("scores", "counts"), [({}, "[]"), ({"A": []}, "[0]"), ({"A": [1.0], "B": [1.0, 2.0]}, "[1, 2]")]
)
def test_scores_that_cannot_be_paired_are_refused(scores: dict[str, list[float]], counts: str):
    with pytest.raises(ValueError, match=re.escape(f"one per seed, not {counts}: give NaN")):
        rank(scores)


def test_scores_without_labels_and_an_unknown_unit_are_refused():
    with pytest.raises(TypeError, match="rank takes a dict from each label to its scores, not list"):
        rank([0.9, 0.8])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="the unit of scores is one of '%', 'R²', '', not 'percent'"):
        rank({"A": [0.9], "B": [0.8]}, unit="percent")  # type: ignore[arg-type]
