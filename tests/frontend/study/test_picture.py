"""The view model of the page of studies: plain data, so that no page is needed."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import parse_qs

import pytest

from explorer.formula import percent
from explorer.study import Plan, Result, Row, Stepper
from explorer.study.differences import differences
from explorer.study.words import headline
from explorer.training import Settings
from explorer.training.scheduling.study import StudyStatus
from explorer.ui.links.link import from_text
from explorer.ui.server.runs import studies
from tests.frontend.modules import Node
from tests.frontend.train.conftest import choice

COLOURS = {"rules": ["#000001", "#000002", "#000003"], "neutral": "#777777"}
RATES = "0.003,0.03"


def picture(
    node: Node,
    document: dict[str, Any],
    body: str = "",
    *,
    chosen: dict[str, Any] | None = None,
    **given: Any,
) -> dict[str, Any]:
    """The picture of the state that ``body`` leaves in ``state``; what it needs stands in ``given``."""
    script = f"""
        const {{ setDocument }} = await import("./choice/entries.js");
        const {{ stateOf, withBegun, withReset, IDLE }} = await import("./study/state.js");
        const {{ pictureOf }} = await import("./study/picture.js");
        setDocument(given.document);
        let state = stateOf(given.choice, given.colours, {{ text: "", target: null, without: null }});
        {body}
        return pictureOf(state);
    """
    usual = choice("sign", "default", "clipped", task="circles", rates=RATES, seeds="2")
    common = {"document": document, "colours": COLOURS, "choice": chosen or usual}
    result: dict[str, Any] = node.run(script, common | given)
    return result


SEEN = """
    state = withBegun(state);
    state.view = { status: { ...IDLE, ...given.event }, notice: "", lost: false, id: "a" };
"""


def event(plan: Plan, rows: list[Row], state: str = "running") -> dict[str, Any]:
    status = StudyStatus("a", state, f"{state}.", len(rows), plan.runs, 3.0, tuple(rows), plan)  # type: ignore[arg-type]
    fields: dict[str, Any] = json.loads(studies.event(status))
    return fields


@pytest.fixture(scope="module")
def study() -> tuple[Plan, list[Row]]:
    small: dict[str, Any] = {"steps": 5, "hidden": 4, "batch": 8}
    plan = Plan.of("circles", "sign", ["default", "clipped"], lrs=[0.003, 0.03], seeds=2, **small)
    stepper = Stepper(plan)
    while not stepper.finished:
        stepper.advance()
    return plan, stepper.rows


def test_all_scores_have_as_many_decimals_as_the_sentence_on_them(
    node: Node, document: dict[str, Any], study: tuple[Plan, list[Row]]
):
    """Scores that hardly scatter need more than the usual one; then all have them."""
    plan, rows = study
    near = [row._replace(held_out=0.9464 + 0.00002 * number) for number, row in enumerate(rows)]
    shown = picture(node, document, SEEN, event=event(plan, near, "finished"))
    cells = [cell["text"] for row in shown["heat"]["rows"] for cell in row["cells"]]
    said = [point["words"] for series in shown["accuracy"]["series"] for point in series["points"]]
    numbers = re.findall(r"\d+\.\d+(?= ±| ?%)", " ".join([*said, *Result(plan, near).sentences]))
    assert len(numbers) > len(said)
    assert {len(number.partition(".")[2]) for number in [*cells, *numbers]} == {3}


def test_distances_are_those_of_python_on_axes_that_hold_them(
    node: Node, document: dict[str, Any], study: tuple[Plan, list[Row]]
):
    """The controls, and a default that is shown to be lower, stand on an axis of their own."""
    plan, rows = study
    scores = {"default": 0.6, "clipped": 0.9, "zero": 0.6, "reversal": 0.2}
    apart = [
        row._replace(held_out=scores[row.trial.rule] + 0.01 * (row.trial.seed % 2 if at % 2 else 0))
        for at, row in enumerate(rows)
    ]
    assert picture(node, document)["differences"] is None
    shown = picture(node, document, SEEN, event=event(plan, apart, "finished"))["differences"]
    result = Result(plan, apart)
    best, *others = differences(plan, result._judged)
    assert best.rule == "clipped"
    assert shown["headline"] == headline(plan, result._judged)
    drawn = {row["key"]: row for panel in (shown["near"], shown["far"]) if panel for row in panel["rows"]}
    assert list(drawn) == [each.rule for each in others]
    assert {row["key"] for row in shown["far"]["rows"]} >= {"zero", "reversal"}
    for each in others:
        row = drawn[each.rule]
        assert row["words"] == each.words
        assert len(row["seeds"]) == len(each.seeds)
        for share in [*row["seeds"], *(row["ends"] or [])]:
            assert 0 < share < 1
    ticks = shown["far"]["ticks"]
    assert [tick["at"] for tick in ticks] == sorted(tick["at"] for tick in ticks)
    assert any(tick["text"] == "0" and tick["at"] == pytest.approx(shown["far"]["zero"]) for tick in ticks)


def test_each_line_has_the_share_of_its_rule(
    node: Node, document: dict[str, Any], study: tuple[Plan, list[Row]]
):
    plan, rows = study
    assert {row["share"] for row in picture(node, document)["heat"]["rows"]} == {"–"}
    shown = picture(node, document, SEEN, event=event(plan, rows[:1]))
    wanted = {rule: f"{100 * share:.0f} %" for (rule, _), share in plan.shares.items()}
    assert {row["line"]["key"]: row["share"] for row in shown["heat"]["rows"]} == wanted
    assert "Share: how large the rule's gradient is" in shown["heat"]["legend"]


def test_before_it_starts_every_cell_is_empty_and_controls_stand_below(node: Node, document: dict[str, Any]):
    shown = picture(node, document)
    rows = shown["heat"]["rows"]
    assert [row["name"] for row in rows] == [
        "Default autograd",
        "Clipped straight-through",
        "Zero",
        "Gradient reversal",
    ]
    assert [row["line"]["control"] for row in rows] == [False, False, True, True]
    assert [row["line"]["colour"] for row in rows] == ["#000001", "#000002", "#777777", "#777777"]
    assert shown["heat"]["rates"] == ["0.003", "0.03"]
    assert {cell["text"] for row in rows for cell in row["cells"]} == {"–"}
    assert [name for name, offered in shown["offered"].items() if offered] == ["start"]


def test_cells_and_points_are_what_python_found(
    node: Node, document: dict[str, Any], study: tuple[Plan, list[Row]]
):
    plan, rows = study
    shown = picture(node, document, SEEN, event=event(plan, rows, "finished"))
    result = Result(plan, rows)
    texts = [[cell["text"] for cell in row["cells"]] for row in shown["heat"]["rows"]]
    means = result.cells.set_index(["rule", "lr"])["validation"]
    assert texts == [[f"{100 * means[rule, lr]:.1f}" for lr in plan.lrs] for rule in plan.keys]
    chosen = [[cell["chosen"] for cell in row["cells"]].index(True) for row in shown["heat"]["rows"]]
    assert [plan.lrs[place] for place in chosen] == result.best["lr"].tolist()
    points = [series["points"][0] for series in shown["accuracy"]["series"]]
    assert [point["score"] for point in points] == pytest.approx(result.best["held_out"].tolist())
    assert all(point["sure"] for point in points)
    assert shown["accuracy"]["firstControl"] == 2
    assert shown["verdict"] == result.sentences
    assert shown["metrics"][0] == f"{plan.runs} / {plan.runs}"


def test_what_was_lost_with_its_server_stays_seen_but_cannot_be_taken_away(
    node: Node, document: dict[str, Any], study: tuple[Plan, list[Row]]
):
    fields = event(*study, "finished")
    assert picture(node, document, SEEN, event=fields)["csv"] == "a"
    shown = picture(node, document, SEEN, event=fields | {"state": "gone", "sentence": "It is gone."})
    assert (shown["csv"], shown["status"]["main"], shown["offered"]["start"]) == (None, "It is gone.", True)
    assert shown["heat"]["rows"][0]["cells"][0]["shade"] is not None


def test_what_is_not_yet_judged_is_drawn_as_such(
    node: Node, document: dict[str, Any], study: tuple[Plan, list[Row]]
):
    plan, rows = study
    first = [row for row in rows if row.trial.stage == "choose"]
    shown = picture(node, document, SEEN, event=event(plan, first))
    points = [series["points"][0] for series in shown["accuracy"]["series"]]
    assert [(point["sure"], point["half"]) for point in points] == [(False, None)] * 4
    assert all("not yet judged" in point["words"] for point in points)


def test_a_cell_opens_on_train_with_its_very_nets(
    node: Node, document: dict[str, Any], study: tuple[Plan, list[Row]]
):
    plan, _ = study
    for row in picture(node, document)["heat"]["rows"]:
        for cell, lr in zip(row["cells"], plan.lrs, strict=True):
            opened, notices = from_text(cell["query"])
            assert (notices, opened.rules, opened.lr) == ([], (row["line"]["key"],), lr)
            assert (opened.task, opened.op, opened.seeds, opened.rates) == ("circles", "sign", 2, ())


EQUAL = {"lrs": [0.003, 0.03], "seeds": 2, "steps": 5, "hidden": 4, "batch": 8, "optimiser": "sgd"}
RULES = ["default", "clipped", "approx_sign"]


def rows_of(plan: Plan) -> list[Row]:
    stepper = Stepper(plan)
    while not stepper.finished:
        stepper.advance()
    return stepper.rows


def test_on_an_equal_footing_a_cell_opens_with_its_divided_rate_and_says_it(
    node: Node, document: dict[str, Any]
):
    plan = Plan.of("circles", "sign", RULES, equal=True, **EQUAL)
    words = {"task": "circles", "rates": RATES, "seeds": "2", "optimiser": "sgd", "equal": "yes"}
    chosen = choice("sign", *RULES, **words)
    seen = picture(node, document, SEEN, chosen=chosen, event=event(plan, rows_of(plan), "finished"))
    for row in seen["heat"]["rows"]:
        for cell, lr in zip(row["cells"], plan.lrs, strict=True):
            trial = plan.trials("choose")[0]._replace(rule=row["line"]["key"], lr=lr)
            opened, notices = from_text(cell["query"])
            assert (notices, opened.lr, opened.equal) == ([], plan.rate(trial), False)
            assert ("÷ its share" in cell["words"]) == (plan.rate(trial) != lr)
    assert "divided by its share" in seen["heat"]["legend"]
    assert seen["order"] == "", "the other study was not run"


def test_pairs_that_change_order_are_counted_as_python_counts_them(node: Node, document: dict[str, Any]):
    """Both studies on one page, in scores that turn one pair for sure and another one within its noise."""
    plans = [Plan.of("circles", "sign", RULES, equal=is_equal, **EQUAL) for is_equal in (False, True)]
    before = {"default": (0.5, 0.5), "clipped": (0.9, 0.91), "approx_sign": (0.8, 0.81)}
    after = {"default": (0.4, 0.61), "clipped": (0.7, 0.71), "approx_sign": (0.8, 0.81)}
    told = []
    for plan, scores in zip(plans, (before, after), strict=True):
        shown = {**scores, "zero": (0.5, 0.5), "reversal": (0.5, 0.5)}
        trials = [*plan.trials("choose")]
        rows = [Row(trial, 5, 0.1, 0.9, 0.9, False, 1.0) for trial in trials]
        judge = plan.trials("judge", rows)
        rows += [
            Row(trial, 5, 0.1, 0.9, shown[trial.rule][plan.judge_seeds.index(trial.seed)], False, 1.0)
            for trial in judge
        ]
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
    seen = picture(node, document, body, chosen=chosen, event=first, other=second)
    order = two.order(one)
    assert len(order.changed) == 1
    assert seen["order"] == f"With equal footing and without: {order.sentence}"


def test_how_many_quantised_weights_equal_straight_throughs_stands_in_a_map_of_its_own(
    node: Node, document: dict[str, Any], study: tuple[Plan, list[Row]]
):
    rules = ["straight_through", "dsq"]
    small: dict[str, Any] = {"lrs": [0.003, 0.03], "seeds": 2, "steps": 5, "hidden": 8, "batch": 16}
    plan = Plan.of("ternary weights", None, rules, **small)
    rows = rows_of(plan)
    chosen = choice("quantize", *rules, task="ternary weights", rates=RATES, seeds="2")
    seen = picture(node, document, SEEN, chosen=chosen, event=event(plan, rows, "finished"))["agreement"]
    cells = Result(plan, rows).cells.set_index(["rule", "lr"])
    assert seen["rates"] == ["0.003", "0.03"]
    for row in seen["rows"]:
        for drawn, lr in zip(row["cells"], plan.lrs, strict=True):
            cell = cells.loc[(row["line"]["key"], lr)]
            assert drawn["shade"] == pytest.approx(cell.agree)
            assert drawn["text"] == percent(cell.agree)
            assert drawn["mark"] == f"({percent(cell.agree_changed)})"
            assert f"{drawn['text']} of all weights" in drawn["words"]
    on_units, units = study
    assert picture(node, document, SEEN, event=event(on_units, units, "finished"))["agreement"] is None


def test_a_cell_of_a_sweep_opens_with_its_value(node: Node, document: dict[str, Any]):
    swept = {"task": "digits", "sweep": "c", "values": "0.5,2", "rates": "0.1", "controls": "no"}
    chosen = choice("sign", "clipped", "default", parameters={"c": 3.0}, **swept)
    shown = picture(node, document, chosen=chosen)
    queries = {row["name"]: parse_qs(row["cells"][0]["query"]) for row in shown["heat"]["rows"]}
    assert list(queries) == [
        "Clipped straight-through, c = 0.5",
        "Clipped straight-through, c = 2",
        "Default autograd",
    ]
    assert [query.get("c") for query in queries.values()] == [["0.5"], ["2"], None]
    assert shown["accuracy"]["sweep"] == "c"


def test_a_rule_that_diverged_is_shown_as_such(node: Node, document: dict[str, Any]):
    plan = Plan.of(
        "circles", "sign", ["formula: g / 0"], lrs=[0.1], seeds=2, steps=3, controls=False, hidden=4, batch=8
    )
    stepper = Stepper(plan)
    while not stepper.finished:
        stepper.advance()
    body = f"""
        const {{ learn }} = await import("./choice/entries.js");
        learn("rule", {{ ...given.document.rules.zero, key: "formula: g / 0", label: "g / 0" }});
        state = stateOf(given.own, given.colours, {{ text: "", target: null, without: null }});
        {SEEN}
    """
    own = choice("sign", "formula: g / 0", task="circles", rates="0.1", seeds="2", controls="no")
    shown = picture(node, document, body, own=own, event=event(plan, stepper.rows, "finished"))
    (cell,) = shown["heat"]["rows"][0]["cells"]
    assert (cell["text"], cell["diverged"], cell["shade"]) == ("diverged", True, None)
    assert "every seed diverged" in cell["words"]
    assert shown["accuracy"]["series"][0]["points"] == []


def test_other_settings_leave_what_is_seen_and_offer_another_study(
    node: Node, document: dict[str, Any], study: tuple[Plan, list[Row]]
):
    plan, rows = study
    body = SEEN + 'state.choice = { ...state.choice, training: { ...state.choice.training, rates: "1" } };'
    shown = picture(node, document, body, event=event(plan, rows))
    assert shown["heat"]["rates"] == ["0.003", "0.03"]
    assert "These results belong to other settings" in shown["status"]["next"]
    assert shown["offered"]["start"]
    assert not picture(node, document, SEEN, event=event(plan, rows))["offered"]["start"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("state.wrong = 1;", "A field holds an impossible value"),
        ('state.cost = { sentence: "Too many.", refused: true };', "Too many."),
        ('state.choice.training.task = "documents";', "no data to judge by"),
    ],
)
def test_what_cannot_be_studied_cannot_be_started(node: Node, document: dict[str, Any], body: str, said: str):
    shown = picture(node, document, body)
    assert not shown["offered"]["start"]
    assert said in shown["status"]["main"], "and not that it is ready"
    assert (shown["status"]["next"], shown["status"]["state"]) == ("", "refused")


def test_one_seed_has_no_interval_and_that_is_said(node: Node, document: dict[str, Any]):
    shown = picture(node, document, chosen=choice("sign", "default", task="digits"))
    assert "With one seed there is no interval" in shown["status"]["next"]
    assert Settings(task="digits").seeds == 1


@pytest.mark.parametrize(
    ("state", "offered"),
    [
        ("waiting", {"stop", "reset"}),
        ("running", {"stop", "reset"}),
        ("paused", {"resume", "reset"}),
        ("finished", {"start", "reset"}),
        ("failed", {"start", "reset"}),
        ("gone", {"start", "reset"}),
    ],
)
def test_what_is_offered_in_each_state(node: Node, document: dict[str, Any], state: str, offered: set[str]):
    shown = picture(node, document, SEEN, event={"state": state, "sentence": "So it is."})["offered"]
    assert {name for name, is_offered in shown.items() if is_offered} == offered


def test_a_link_without_a_task_is_studied_on_one_that_can_be_judged(node: Node, document: dict[str, Any]):
    body = """
        const { setDocument } = await import("./choice/entries.js");
        const { enteredStudy } = await import("./study/settings.js");
        setDocument(given.document);
        return enteredStudy(given.choice, "link");
    """
    entered = node.run(body, {"document": document, "choice": choice("sign", "clipped", rates="0.1")})
    assert entered["training"] == {"task": "digits", "seeds": "5", "rates": "0.1"}
    assert [rule["key"] for rule in entered["rules"]] == ["clipped"]


def test_a_study_is_asked_for_neither_the_rate_nor_how_a_run_is_watched(node: Node, document: dict[str, Any]):
    body = """
        const { setDocument } = await import("./choice/entries.js");
        const { sharedSettings } = await import("./study/settings.js");
        setDocument(given);
        return sharedSettings().map(({ name }) => name);
    """
    names = node.run(body, document)
    assert {"steps", "seeds", "hidden", "optimiser"} <= set(names)
    assert not {"lr", "pace", "sigma"} & set(names)


def test_what_is_swept_goes_with_its_rule(node: Node, document: dict[str, Any]):
    body = """
        const { setDocument } = await import("./choice/entries.js");
        const { withoutRule } = await import("./choice/choice.js");
        setDocument(given.document);
        return [0, 1].map((slot) => withoutRule(given.choice, slot).training);
    """
    swept = {"task": "digits", "sweep": "c", "values": "0.5,2"}
    given = choice("sign", "default", "clipped", **swept)
    assert node.run(body, {"document": document, "choice": given}) == [swept, {"task": "digits"}]


def test_scores_that_hardly_differ_have_hardly_different_colours(
    node: Node, document: dict[str, Any], study: tuple[Plan, list[Row]]
):
    """Five points apart are half of the way from the lightest to the darkest, not all of it."""
    body = f"""{SEEN}
        const {{ results }} = state.view.status;
        results.cells = results.cells.map((cell, index) => ({{ ...cell, mean: index ? 0.95 : 0.9 }}));
    """
    rows = picture(node, document, body, event=event(*study, "finished"))["heat"]["rows"]
    shades = [cell["shade"] for row in rows for cell in row["cells"]]
    assert sorted(shades)[0] == pytest.approx(0.5)
    assert sorted(shades)[1:] == pytest.approx([1] * (len(shades) - 1))


def test_before_the_first_run_the_plan_has_a_line_a_rule_and_a_ring_a_seed(
    node: Node, document: dict[str, Any], study: tuple[Plan, list[Row]]
):
    plan = picture(node, document)["plan"]
    assert plan["rates"] == RATES.split(",")
    assert [row["name"] for row in plan["rows"]] == [
        "Default autograd", "Clipped straight-through", "Zero", "Gradient reversal",
    ]  # fmt: skip
    assert (plan["rings"], plan["others"]) == (2, "")
    swept = choice(
        "sign", "clipped", task="circles", seeds="3", sweep="c",
        values="0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8",
    )  # fmt: skip
    plan = picture(node, document, chosen=swept)["plan"]
    assert (len(plan["rows"]), plan["rings"]) == (8, 3)
    assert plan["others"].startswith("and ")
    assert picture(node, document, chosen=choice("relu", "default", task="documents"))["plan"] is None
    assert picture(node, document, SEEN, event=event(*study))["plan"] is None
