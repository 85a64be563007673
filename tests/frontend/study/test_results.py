"""Results of a study in the view model: scores, distances, shares and orders are those of Python."""

import re

import pytest

from explorer.study import Plan, Result, Row
from explorer.study.figure.judgement import draw_judgement
from explorer.study.outcomes import judge_rules
from explorer.study.words import make_headline
from explorer.ui.links.link import from_text
from tests.frontend.study.conftest import RATES, SEEN, event, rows_of
from tests.frontend.train.conftest import Run, choice


def test_scores_have_as_many_decimals_as_the_sentence_on_them(picture: Run, study: tuple[Plan, list[Row]]):
    """Scores that hardly scatter need more than the usual one; then all have them."""
    plan, rows = study
    near = [row._replace(held_out=0.9464 + 0.00002 * number) for number, row in enumerate(rows)]
    shown = picture(SEEN, event=event(plan, near, "finished"))
    cells = [cell["text"] for row in shown["heat"]["rows"] for cell in row["cells"]]
    said = [trace["hovertext"][0] for trace in shown["judgement"]["figure"]["data"]]
    numbers = re.findall(r"\d+\.\d+(?= ±| ?%| to)", " ".join([*said, *Result(plan, near).sentences]))
    assert len(numbers) > len(said)
    assert {len(number.partition(".")[2]) for number in [*cells, *numbers]} == {3}


def test_the_judgement_is_pythons_figure_in_the_pages_colours(picture: Run, study: tuple[Plan, list[Row]]):
    plan, rows = study
    assert picture()["judgement"] is None
    first = [row for row in rows if row.trial.stage == "choose"]
    assert picture(SEEN, event=event(plan, first))["judgement"] is None, "no seed has judged a rule"
    shown = picture(SEEN, event=event(plan, rows, "finished"))["judgement"]
    outcomes = judge_rules(plan, rows)
    spec, _ = draw_judgement(plan, outcomes)
    assert shown["figure"] == spec
    assert shown["headline"] == make_headline(plan, outcomes)
    colours = ["#000001", "#000002", "#777777", "#777777"]
    assert shown["colours"] == dict(zip(plan.keys, colours, strict=True))


def test_each_line_has_the_share_of_its_rule(picture: Run, study: tuple[Plan, list[Row]]):
    plan, rows = study
    assert {row["share"] for row in picture()["heat"]["rows"]} == {"–"}
    shown = picture(SEEN, event=event(plan, rows[:1]))
    wanted = {rule: f"{100 * share:.0f} %" for rule, share in plan.shares.items()}
    assert {row["line"]["key"]: row["share"] for row in shown["heat"]["rows"]} == wanted
    assert "Share: how large the rule's gradient is" in shown["heat"]["legend"]


def test_cells_are_what_python_found(picture: Run, study: tuple[Plan, list[Row]]):
    plan, rows = study
    shown = picture(SEEN, event=event(plan, rows, "finished"))
    result = Result(plan, rows)
    texts = [[cell["text"] for cell in row["cells"]] for row in shown["heat"]["rows"]]
    means = result.cells.set_index(["rule", "lr"])["validation"]
    assert texts == [[f"{100 * means[rule, lr]:.1f}" for lr in plan.lrs] for rule in plan.keys]
    chosen = [[cell["chosen"] for cell in row["cells"]].index(True) for row in shown["heat"]["rows"]]
    assert [plan.lrs[place] for place in chosen] == result.best["lr"].tolist()
    assert shown["heat"]["heading"] == "Validation accuracy, %: mean of 2 seeds; chance is 50"
    assert shown["verdict"] == result.sentences
    assert shown["metrics"][0] == f"{plan.runs} / {plan.runs}"


EQUAL = {"lrs": [0.003, 0.03], "seeds": 2, "steps": 5, "hidden": 4, "batch": 8, "optimiser": "sgd"}
RULES = ["default", "clipped", "approx_sign"]


def test_on_an_equal_footing_a_cell_opens_with_its_divided_rate_and_says_it(picture: Run):
    plan = Plan.create("circles", "sign", RULES, equal=True, **EQUAL)
    words = {"task": "circles", "rates": RATES, "seeds": "2", "optimiser": "sgd", "equal": "yes"}
    chosen = choice("sign", *RULES, **words)
    seen = picture(SEEN, chosen=chosen, event=event(plan, rows_of(plan), "finished"))
    for row in seen["heat"]["rows"]:
        for cell, lr in zip(row["cells"], plan.lrs, strict=True):
            trial = plan.list_trials("choose")[0]._replace(rule=row["line"]["key"], lr=lr)
            opened, notices = from_text(cell["query"])
            assert (notices, opened.lr, opened.equal) == ([], plan.rate_of(trial), False)
            assert ("÷ its share" in cell["words"]) == (plan.rate_of(trial) != lr)
    assert "divided by its share" in seen["heat"]["legend"]
    assert seen["order"] == "", "the other study was not run"


def test_pairs_that_change_order_are_counted_as_python_counts_them(picture: Run):
    """Both studies on one page, in scores that turn one pair for sure and another one within its noise."""
    plans = [Plan.create("circles", "sign", RULES, equal=is_equal, **EQUAL) for is_equal in (False, True)]
    before = {"default": (0.5, 0.5), "clipped": (0.9, 0.91), "approx_sign": (0.8, 0.81)}
    after = {"default": (0.4, 0.61), "clipped": (0.7, 0.71), "approx_sign": (0.8, 0.81)}
    told = []
    for plan, scores in zip(plans, (before, after), strict=True):
        shown = {**scores, "zero": (0.5, 0.5), "reversal": (0.5, 0.5)}
        rows = [Row(trial, 5, 0.1, 0.9, 0.9, False, 1.0) for trial in plan.list_trials("choose")]
        for trial in plan.list_trials("judge", rows):
            score = shown[trial.rule][plan.judge_seeds.index(trial.seed)]
            rows.append(Row(trial, 5, 0.1, 0.9, score, False, 1.0))
        told.append((event(plan, rows, "finished"), Result(plan, rows)))
    body = f"""
        const {{ withFinished }} = await import("./study/order.js");
        {SEEN}
        state.finished = withFinished(state);
        const training = {{ ...state.choice.training, equal: "yes" }};
        state = {{ ...state, choice: {{ ...state.choice, training }} }};
        given.event = given.other;
        {SEEN}
        state.finished = withFinished(state);
    """
    words = {"task": "circles", "rates": RATES, "seeds": "2", "optimiser": "sgd"}
    (first, one), (second, two) = told
    chosen = choice("sign", *RULES, **words)
    seen = picture(body, chosen=chosen, event=first, other=second)
    order = two.order(one)
    assert len(order.changed) == 1
    assert seen["order"] == f"With equal footing and without: {order.sentence}"


def test_a_rule_that_diverged_is_shown_as_such(picture: Run):
    few = EQUAL | {"lrs": [0.1], "steps": 3, "controls": False}
    plan = Plan.create("circles", "sign", ["formula: g / 0"], **few)
    body = f"""
        const {{ addCustomEntry }} = await import("./choice/entries.js");
        addCustomEntry("rule", {{ ...given.document.rules.zero, key: "formula: g / 0", label: "g / 0" }});
        state = createState(given.own, given.colours, {{ text: "", target: null, without: null }});
        {SEEN}
    """
    own = choice("sign", "formula: g / 0", task="circles", rates="0.1", seeds="2", controls="no")
    shown = picture(body, own=own, event=event(plan, rows_of(plan), "finished"))
    (cell,) = shown["heat"]["rows"][0]["cells"]
    assert (cell["text"], cell["diverged"], cell["shade"]) == ("diverged", True, None)
    assert "every seed diverged" in cell["words"]
    assert shown["judgement"] is None


@pytest.mark.parametrize(("ended", "so_far"), [(2, True), (3, False)])
def test_a_cell_of_which_a_seed_diverged_says_how_many_have_ended(picture: Run, ended: int, so_far: bool):
    plan = Plan.create("circles", "sign", ["default"], **EQUAL | {"seeds": 3, "lrs": [0.003]})
    trials = [trial for trial in plan.list_trials("choose") if trial.rule == "default"][:ended]
    rows = [Row(trial, 5, 0.1, 0.9, 0.9, trial == trials[0], 1.0) for trial in trials]
    shown = picture(SEEN, event=event(plan, rows))
    words = [cell["words"] for row in shown["heat"]["rows"] for cell in row["cells"]]
    (told,) = (each for each in words if "diverged" in each)
    assert "1 of 3 seeds diverged" in told
    assert ("2 of 3 seeds so far" in told) == so_far


def test_scores_that_hardly_differ_have_hardly_different_colours(picture: Run, study: tuple[Plan, list[Row]]):
    """Five points apart are half of the way from the lightest to the darkest, not all of it."""
    body = f"""{SEEN}
        const {{ results }} = state.view.status;
        results.cells = results.cells.map((cell, index) => ({{ ...cell, mean: index ? 0.95 : 0.9 }}));
    """
    rows = picture(body, event=event(*study, "finished"))["heat"]["rows"]
    shades = [cell["shade"] for row in rows for cell in row["cells"]]
    assert sorted(shades)[0] == pytest.approx(0.5)
    assert sorted(shades)[1:] == pytest.approx([1] * (len(shades) - 1))
