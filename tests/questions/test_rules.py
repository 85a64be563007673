"""Questions about one rule: its checks, near rules, and its row of the table."""

import math
import re
from unittest.mock import Mock
from urllib.parse import urlencode

import pytest

from explorer.checks import VERDICTS, check_pair
from explorer.measures import compare
from explorer.measures.nearest import nearest
from explorer.questions import QUESTIONS, rules
from explorer.ui.links.link import from_text
from tests.questions.asking import ask, ask_about_rule, ask_curves
from tests.ui.pages.test_explore import HOSTILE

CLAMP = "op=clamp&rule=published_clamp"


@pytest.fixture(autouse=True)
def _clear_caches():
    for question in ("checks", "neighbours", "row"):
        QUESTIONS[question]._compute.cache_clear()


def test_each_check_is_a_line_and_the_worst_comes_first():
    lines = ask_about_rule("checks", f"{CLAMP}&lo=-1")["lines"]
    result = check_pair("clamp", "published_clamp", {"lo": -1.0})
    assert {line["name"]: line["sentence"] for line in lines} == {one.name: one.sentence for one in result}
    order = [VERDICTS.index(line["verdict"]) for line in lines]
    assert order == sorted(order)
    assert all(line["mark"] for line in lines)


def test_the_bug_of_the_published_clamp_is_named_however_the_rule_is_given():
    pasted = {"op": "formula: clamp(x, 0, 1)", "rule": "formula: where(x < 0, 0, where(x > 1, 1, g))"}
    for query in (CLAMP, urlencode(pasted)):
        failing = [line for line in ask_about_rule("checks", query)["lines"] if line["verdict"] == "fails"]
        (fault,) = [line for line in failing if line["name"] == "linear in g"]
        assert "the gradient is 1 whatever g is" in fault["sentence"]
        assert fault["where"] == pytest.approx(1, abs=0.5)


def test_neighbours_are_the_nearest_but_the_rule_itself_over_the_range_of_the_link():
    query = urlencode({"op": "step", "rule": "gaussian", "range": [-2, 2]}, doseq=True)
    lines = ask_about_rule("neighbours", query)["lines"]
    result = [one for one in nearest("step", "gaussian", start=-2, stop=2) if one.rule != "gaussian"]
    assert [line["rule"] for line in lines] == [one.rule for one in result[: len(lines)]]
    assert lines[0]["sentence"] == "On −2 to 2 this is Erf surrogate with a = 1.414."
    assert ask_about_rule("neighbours", query)["close"] == lines[0]["sentence"]
    assert 1 < len(lines) <= 4
    assert lines[0]["parameters"] == {"a": pytest.approx(2**0.5, rel=1e-6)}
    lines = ask_about_rule("neighbours", "op=round&rule=straight_through")["lines"]
    assert "fake_quantize_strict" not in {line["rule"] for line in lines}


def test_the_row_of_a_rule_is_that_of_the_table_with_the_links_parameters():
    row = ask_about_rule("row", "op=sign&rule=clipped&c=2.5")["row"]
    table = compare("sign", c=2.5).drop(columns="lens")  # which is a question of its own
    (wanted,) = table.query("rule == 'clipped'").to_dict("records")
    assert row == wanted
    row = ask_about_rule("row", "op=round&rule=straight_through")["row"]
    assert (row["area"], row["support"]) == ("inf", "inf")


def test_rules_that_cannot_be_compared_are_explained():
    words = " depends on a random draw or a loss, so it has no single curve to compare with other rules."
    alone = urlencode({"op": "log", "rule": "formula: g * log(x)", "range": [-3, -1]}, doseq=True)
    for query, said in (
        ("op=bernoulli&rule=default", f"Bernoulli unit{words}"),
        ("op=sign&rule=reinforce", f"REINFORCE{words}"),
        (alone, "is finite almost nowhere"),
    ):
        assert said in ask_about_rule("neighbours", query)["message"]


def test_the_closest_rule_is_named_only_where_the_curves_hardly_differ():
    drawn = "formula: Drawn = g * through(x, -2, 0.1, 0, 1, 0.3, 0.7, 2, {})"
    queries = [urlencode({"op": "sign", "rule": drawn.format(end)}) for end in (0.1, 0.9)]
    close, apart = (ask_about_rule("neighbours", query) for query in queries)
    alone = urlencode({"op": "identity", "rule": "formula: g * sin(40 * x)"})
    assert ask_about_rule("neighbours", alone) == {"lines": [], "close": ""}
    assert close["close"] == f"Close to {close['lines'][0]['sentence']}"
    assert apart["lines"]
    assert apart["close"] == ""


def test_rules_that_are_similar_only_at_extreme_numbers_are_left_out():
    hump = "formula: g * through(x, -2.5, 0.02, -1.2, 0.3, 0, 1, 1.1, 0.4, 2.4, 0.03)"
    answer = ask_about_rule("neighbours", urlencode({"op": "round", "rule": hump}))
    first = nearest("round", hump)[0].sentence
    assert first.startswith("Differentiable soft quantisation with alpha = 0.0122")
    assert answer["close"] == ""
    assert answer["lines"]
    for line in answer["lines"]:
        assert not re.search("alpha|times −|times as wide", line["sentence"]), line


def test_a_hostile_query_gets_curves_and_lines_or_a_sentence(subtests: pytest.Subtests):
    for query in HOSTILE:
        with subtests.test(query):
            answer = ask_about_rule("checks", query)
            assert "lines" in answer or answer["message"].endswith(".")
            assert from_text(query)[1] or "tan(x)" in query
            assert {"x", "y", "marks", "gradients", "kinks", "main", "rest"} <= set(ask_curves(query))


def test_a_fault_of_ours_is_a_sentence_and_in_the_log(monkeypatch, caplog):
    monkeypatch.setattr(rules, "check_pair", Mock(side_effect=KeyError("a fault of ours")))
    assert "error is ours" in ask_about_rule("checks", CLAMP)["message"]
    assert "a fault of ours" in caplog.text


def test_an_answer_is_kept_until_other_arguments_come(monkeypatch):
    first = ask_about_rule("checks", CLAMP)
    monkeypatch.setattr(rules, "check_pair", None)
    assert ask_about_rule("checks", CLAMP) == first
    assert "message" in ask_about_rule("checks", f"{CLAMP}&lo=-1")


def test_the_distances_are_the_column_of_the_table_and_parameters_of_other_rules_do_not_count():
    table = compare("step", noise="laplace", width=0.5).set_index("rule")["lens"]
    distances = ask("distances", op="step", parameters={"mine": 3.0}, noise="laplace", width=0.5)["distances"]
    assert distances == {key: value for key, value in table.items() if math.isfinite(value)}
    assert "clipped" in distances
