"""The view model of the page of studies: what is offered, said, opened and planned."""

from typing import Any

import pytest

from explorer.study import Plan, Row
from explorer.training import Settings
from explorer.ui.links.link import from_text
from tests.frontend.modules import Node
from tests.frontend.study.conftest import RATES, SEEN, event
from tests.frontend.train.conftest import Run, choice

LABELS = ["Default autograd", "Clipped straight-through", "Zero", "Gradient reversal"]


def test_before_a_study_starts_cells_are_empty_and_controls_come_last(picture: Run):
    shown = picture()
    rows = shown["heat"]["rows"]
    assert [row["line"]["label"] for row in rows] == LABELS
    assert [row["line"]["control"] for row in rows] == [False, False, True, True]
    assert [row["line"]["colour"] for row in rows] == ["#000001", "#000002", "#777777", "#777777"]
    assert shown["heat"]["rates"] == ["0.003", "0.03"]
    assert {cell["text"] for row in rows for cell in row["cells"]} == {"–"}
    assert [name for name, offered in shown["offered"].items() if offered] == ["start"]


def test_a_study_lost_with_its_server_is_seen_but_not_exported(picture: Run, study: tuple[Plan, list[Row]]):
    fields = event(*study, "finished")
    assert picture(SEEN, event=fields)["csv"] == "a"
    shown = picture(SEEN, event=fields | {"state": "gone", "sentence": "It is gone."})
    assert (shown["csv"], shown["status"]["main"], shown["offered"]["start"]) == (None, "It is gone.", True)
    assert shown["heat"]["rows"][0]["cells"][0]["shade"] is not None


def test_a_cell_opens_on_train_with_its_very_nets(picture: Run, study: tuple[Plan, list[Row]]):
    plan, _ = study
    for row in picture()["heat"]["rows"]:
        for cell, lr in zip(row["cells"], plan.lrs, strict=True):
            opened, notices = from_text(cell["query"])
            assert (notices, opened.rules, opened.lr) == ([], (row["line"]["key"],), lr)
            assert (opened.task, opened.op, opened.seeds, opened.rates) == ("circles", "sign", 2, ())


def test_other_settings_keep_what_is_seen_and_offer_a_new_study(picture: Run, study: tuple[Plan, list[Row]]):
    body = SEEN + 'state.choice = { ...state.choice, training: { ...state.choice.training, rates: "1" } };'
    shown = picture(body, event=event(*study))
    assert shown["heat"]["rates"] == ["0.003", "0.03"]
    assert "These results belong to other settings" in shown["status"]["next"]
    assert (shown["offered"]["start"], shown["offered"]["restore"]) == (True, True)
    current = picture(SEEN, event=event(*study))["offered"]
    assert (current["start"], current["restore"]) == (False, False)
    other = SEEN + 'state.studiedKey = "of another table";'  # settings alone do not bring it back
    assert not picture(other, event=event(*study))["offered"]["restore"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("state.wrong = 'Rates lr';", "Change “Rates lr” first"),
        ('state.cost = { sentence: "Too many.", refused: true };', "Too many."),
        ('state.choice.training.task = "documents";', "no data to judge by"),
    ],
)
def test_an_invalid_study_cannot_be_started(picture: Run, body: str, said: str):
    shown = picture(body)
    assert not shown["offered"]["start"]
    assert said in shown["status"]["main"], "and not that it is ready"
    assert (shown["status"]["next"], shown["status"]["state"]) == ("", "refused")


def test_the_page_states_that_one_seed_has_no_interval(picture: Run):
    shown = picture(chosen=choice("sign", "default", task="digits"))
    assert "With one seed there is no interval" in shown["status"]["next"]
    assert Settings(task="digits").seeds == 1


@pytest.mark.parametrize(
    ("state", "offered"),
    [
        ("waiting", {"stop", "reset"}), ("running", {"stop", "reset"}), ("paused", {"resume", "reset"}),
        ("finished", {"start", "reset"}), ("failed", {"start", "reset"}), ("gone", {"start", "reset"}),
    ],
)  # fmt: skip
def test_each_state_offers_its_buttons(picture: Run, state: str, offered: set[str]):
    shown = picture(SEEN, event={"state": state, "sentence": "So it is."})
    assert {name for name, is_offered in shown["offered"].items() if is_offered} == offered
    assert shown["again"] is (state == "finished")


def test_a_link_without_a_task_is_studied_on_one_that_can_be_judged(node: Node, document: dict[str, Any]):
    body = 'return (await import("./study/settings.js")).enterStudy(given.choice, "link");'
    entered = node.run(body, {"document": document, "choice": choice("sign", "clipped", rates="0.1")})
    assert entered["training"] == {"task": "digits", "seeds": "5", "rates": "0.1"}
    assert [rule["key"] for rule in entered["rules"]] == ["clipped"]


def test_a_study_is_asked_for_neither_the_rate_nor_how_a_run_is_watched(node: Node, document: dict[str, Any]):
    body = 'return (await import("./study/settings.js")).getSharedSettings().map(({ name }) => name);'
    names = node.run(body, {"document": document})
    assert {"steps", "seeds", "hidden", "optimiser"} <= set(names)
    assert not {"lr", "pace", "sigma"} & set(names)


def test_before_the_first_run_the_plan_has_lines_and_rings(picture: Run, study: tuple[Plan, list[Row]]):
    plan = picture()["plan"]
    assert plan["rates"] == RATES.split(",")
    assert [row["label"] for row in plan["rows"]] == LABELS
    assert (plan["rings"], plan["others"]) == (2, "")
    many = ["default", "clipped", "approx_sign", "swish_sign", "reste", "straight_through", "masked"]
    plan = picture(chosen=choice("sign", *many, task="circles", seeds="3"))["plan"]
    assert (len(plan["rows"]), plan["rings"]) == (8, 3)
    assert plan["others"] == "and 1 more"
    assert picture(chosen=choice("relu", "default", task="documents"))["plan"] is None
    assert picture(SEEN, event=event(*study))["plan"] is None
