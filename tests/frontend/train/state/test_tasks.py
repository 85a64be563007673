"""Tasks and settings of a choice, as the browser keeps them."""

from contextlib import nullcontext
from typing import Any

import pytest

from explorer.catalogue import OPS, RULES, describe_evaluation, find_rule
from explorer.instrument import make_entry
from explorer.training import TASKS, Settings
from explorer.training import Run as Training
from explorer.training.tasks import Task
from explorer.ui.links.choice import Choice, format_training_settings
from explorer.ui.links.link import from_query
from tests.frontend.train.conftest import Run, choice, rules_of
from tests.selection import loop_over


def test_an_empty_link_opens_the_first_task(tell: Run, document: dict[str, Any]):
    entered = tell("state/tasks", "enterTraining", choice("round", "default", "straight_through"), "nothing")
    task = next(task for task in document["tasks"] if task["key"] == document["firstTask"])
    assert entered["training"] == {"task": task["key"], "seeds": "5"}
    assert (entered["op"], rules_of(entered)) == (task["begins"]["op"], task["begins"]["rules"])


def test_an_op_and_rules_from_another_page_train_on_the_first_task(tell: Run, document: dict[str, Any]):
    entered = tell("state/tasks", "enterTraining", choice("clamp", "masked", "zero"), "page")
    assert entered["training"]["task"] == document["firstTask"]
    assert (entered["op"], rules_of(entered)) == ("clamp", ["masked", "zero"])


@pytest.mark.parametrize(
    ("by", "training"), [("link", {}), ("link", {"lr": "1e-7"}), ("page", {"steps": "3"})]
)
def test_settings_without_a_task_are_those_of_the_documents_net(tell: Run, by: str, training: dict[str, str]):
    entered = tell("state/tasks", "enterTraining", choice("relu", "default", **training), by)
    assert entered["training"] == {"task": "documents", **training}


@pytest.mark.parametrize("by", ["nothing", "link", "page"])
def test_a_task_that_is_named_stays(tell: Run, by: str):
    named = choice("sign", "clipped", task="circles", lr="0.1")
    assert tell("state/tasks", "enterTraining", named, by) == named


def test_a_setting_at_the_tasks_own_value_is_not_kept(tell: Run):
    start = choice("sign", "clipped", task="digits", lr="0.5")
    usual = TASKS["digits"].lr
    found = tell("state/tasks", "withSetting", start, "lr", "0.25")["training"]
    assert found == {"task": "digits", "lr": "0.25"}
    for text in (str(usual), f"{usual:e}"):
        assert tell("state/tasks", "withSetting", start, "lr", text)["training"] == {"task": "digits"}


def test_another_task_brings_its_own_settings_and_rules(tell: Run, document: dict[str, Any]):
    tasks = {task["key"]: task for task in document["tasks"]}
    first = tasks["digits"]["begins"]
    start = choice(first["op"], *first["rules"], "zero", task="digits", lr="0.5", seeds="3", pace="full")
    changed = tell("state/tasks", "withTask", start, "binary weights")
    begins = tasks["binary weights"]["begins"]
    assert changed["op"] == begins["op"]
    assert rules_of(changed) == list(dict.fromkeys([*begins["rules"], "zero"]))  # a control stays
    assert changed["training"] == {"task": "binary weights", "seeds": "3", "pace": "full"}
    for other in ("data", "circles"):
        wide = start | {"training": {"task": "digits", "hidden": "32"}}
        kept = tell("state/tasks", "withTask", wide, other)
        assert (kept["op"], rules_of(kept)) == (start["op"], rules_of(start))
        assert kept["training"] == {"task": other, "hidden": "32"}


def test_chosen_op_and_rules_are_kept_by_a_task_with_the_op_in_the_same_place(tell: Run):
    start = choice("clamp", "masked", "published_clamp", task="digits")
    changed = tell("state/tasks", "withTask", start, "circles")
    assert (changed["op"], rules_of(changed)) == ("clamp", ["masked", "published_clamp"])
    assert rules_of(tell("state/tasks", "withTask", start, "binary weights")) != ["masked", "published_clamp"]


@pytest.mark.parametrize("task", ["circles", "moons", "spiral", "xor", "documents", "data"])
def test_a_choice_for_weights_is_kept_for_hidden_units(tell: Run, task: str):
    own = {"task": "ternary weights", "learn": "s", "learn_rate": "2"}
    changed = tell("state/tasks", "withTask", choice("quantize", "lsq", parameters={"qmax": 1}, **own), task)
    assert (changed["op"], rules_of(changed), changed["parameters"]) == ("quantize", ["lsq"], {"qmax": 1})
    assert changed["training"] == own | {"task": task}


@pytest.mark.parametrize("task", TASKS)
def test_weights_and_spikes_ask_before_they_take_what_was_chosen(tell: Run, task: str):
    own = choice("clamp", "masked", task="digits")
    asks = not TASKS[task].net.site.per_example or TASKS[task].net.site.fires
    assert tell("state/tasks", "willReplaceEntries", own, task) is asks
    kept = tell("state/tasks", "withTaskAlone", own, task)
    assert (kept["op"], rules_of(kept), kept["training"]["task"]) == ("clamp", ["masked"], task)
    untouched = choice("round", "default", "straight_through", task="digits")
    assert tell("state/tasks", "willReplaceEntries", untouched, task) is False


@pytest.mark.parametrize("task", TASKS)
def test_the_initial_settings_of_every_task_can_be_trained_and_linked(tell: Run, task: str):
    start = tell("state/tasks", "withTask", choice("clamp", "masked", task="documents"), task)
    if task == "data":
        return
    choice_, notices = from_query({"op": [start["op"]], "rule": rules_of(start), "task": [task]})
    assert not notices
    assert format_training_settings(choice_) == format_training_settings(Choice(task=task))
    Training(Settings(task=task, op=start["op"], rules=tuple(rules_of(start)))).advance(1)


def test_another_table_is_another_run_only_where_it_is_learnt(tell: Run):
    own, other = choice("sign", "clipped", task="data"), choice("sign", "clipped", task="digits")
    first = {"text": "a,b\n1,2\n", "target": "b", "without": []}
    others = [first | {"text": "a,b\n1,3\n"}, first | {"target": "a"}, first | {"without": ["a"]}]
    assert len({tell("state/tasks", "toSettingsKey", own, table) for table in (first, *others)}) == 4
    assert len({tell("state/tasks", "toSettingsKey", other, table) for table in (first, *others)}) == 1


def test_a_live_setting_is_no_other_run(tell: Run):
    def key_of(**changed: str) -> str:
        return tell("state/tasks", "toSettingsKey", choice("sign", "clipped", task="digits", **changed), "")

    others = {"pace": "full", "lr": "0.5", "steps": "7", "hidden": "3,3", "seeds": "2"}
    assert {name for name in others if key_of(**{name: others[name]}) == key_of()} == {"pace", "lr"}
    live = tell("state/tasks", "getLiveSettings", choice("sign", "clipped", task="digits", lr="0.5"))
    assert live["lr"] == "0.5"


@pytest.mark.parametrize(
    ("before", "task", "lost"),
    [
        (choice("round", "default", "straight_through", task="digits", seeds="5"), "circles", False),
        (choice("round", "default", "straight_through", task="digits"), "spikes", True),
        (choice("clamp", "masked", parameters={"hi": 2}, task="digits"), "circles", False),
        (choice("clamp", "masked", task="digits", lr="0.5"), "circles", True),
    ],
)
def test_tasks_that_discard_a_choice_differ_from_those_that_keep_it(tell, before, task, lost):
    after = tell("state/tasks", "withTask", before, task)
    if not lost:  # circles begin with the op and the rules of digits, or none of them was touched
        after = after | {"op": before["op"], "rules": before["rules"]}
    assert tell("state/tasks", "hasMore", before, after) is lost
    assert tell("state/tasks", "hasMore", after, before) is (lost and task == "spikes")


@pytest.mark.parametrize("task", ["digits", "spikes"])
@loop_over("rule", RULES)
def test_the_page_refuses_exactly_what_the_settings_refuse(tell: Run, task: str, rule: str):
    said = tell("state/tasks", "explainUntrained", choice("bernoulli", "sigmoid_st", rule, task=task))
    refusal = pytest.raises(ValueError, match="asks for") if said else nullcontext()
    with refusal as refused:
        Settings(op="bernoulli", rules=("sigmoid_st", rule), task=task)
    assert not said or said == f"{refused.value}.".replace(rule, RULES[rule].label, 1)


@pytest.mark.parametrize(
    ("branch", "refused"),
    [("3,op:bernoulli", False), ("3,rule:flip", True), ("3,clipped:flip", True), ("3,lr:0.1", False)],
)
def test_settings_of_a_branch_are_refused_too(tell: Run, branch: str, refused: bool):
    chosen = choice("sign", "clipped", task="digits", branch=branch)
    assert ("asks for f(1)" in tell("state/tasks", "explainUntrained", chosen)) is refused


def test_an_own_formula_brings_its_refusal_along():
    assert "asks for f(0)" in make_entry(find_rule("formula: g * f(0)"))["untrained"]
    assert "untrained" not in make_entry(find_rule("formula: g * f()"))


@pytest.mark.parametrize("op", ["bernoulli", "gumbel_sigmoid", "dropout", "round"])
def test_the_words_on_the_task_end_with_how_the_net_is_judged(tell: Run, op: str):
    said = tell("state/tasks", "describeTask", choice(op, "default", task="digits"))
    parts = [TASKS["digits"].purpose, TASKS["digits"].note, describe_evaluation(OPS[op])]
    assert said == " ".join(filter(None, parts))


@loop_over("task", [each for each in TASKS.values() if each.of_own_op])
def test_advice_for_a_tasks_op_is_not_given_for_other_ops(tell: Run, task: Task):
    def said(op: str = task.op, **changed: str) -> str:
        chosen = choice(op, *task.rules, parameters=dict(task.parameters), task=task.key, **changed)
        return tell("state/tasks", "describeTask", chosen)

    assert said() == f"{task.purpose} {task.of_own_op}"
    for other in (said("stochastic_round"), said(branch="3,op:round")):
        assert other.startswith(task.purpose)
        assert "−1" not in other


@pytest.mark.parametrize(
    ("parameters", "training", "holds"),
    [({}, {}, True), ({"a": 3.0}, {}, True), ({"qmin": -2.0}, {}, False), ({}, {"learn": "s"}, False)],
)
def test_nor_where_the_ops_parameters_are_others_or_learn(tell, parameters, training, *, holds):
    task = TASKS["ternary weights"]
    now = {**task.parameters, **parameters}
    chosen = choice(task.op, "lsq", "soft_round", parameters=now, task=task.key, **training)
    assert (task.of_own_op in tell("state/tasks", "describeTask", chosen)) is holds


def test_the_description_states_how_the_op_of_a_branch_is_judged(tell: Run):
    chosen = choice("sign", "clipped", task="moons", branch="3,op:dropout\n5,op:relu\n7,op:dropout")
    said = tell("state/tasks", "describeTask", chosen)
    assert said == f"{TASKS['moons'].purpose} Dropout: judged without noise."


def test_a_task_without_held_out_data_judges_no_net(tell: Run):
    for task, judged in {"documents": False, "data": True, "digits": True}.items():
        chosen = choice("bernoulli", "default", task=task, branch="3,op:dropout")
        assert ("udged" in tell("state/tasks", "describeTask", chosen)) is judged, task
