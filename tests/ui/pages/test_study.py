"""The Study page as its script makes it: a place, and what it is given."""

from explorer.study import Plan, make_default_rates
from explorer.training import FIRST, TASKS
from explorer.ui.links.choice import format_training_settings
from explorer.ui.links.link import from_text
from explorer.ui.links.presets import STUDIES
from explorer.ui.links.training_words import MAX_RATES
from explorer.ui.server import answers
from explorer.ui.server.runs import jobs
from tests.ui.opening import mounted, opened, sound, words_of


def test_a_link_restores_the_study_and_starts_nothing(engine):
    words = {"task": "digits", "seeds": "3", "rates": "0.001,0.01", "controls": "no", "equal": "yes"}
    query = "op=sign&rule=clipped&" + "&".join(f"{name}={text}" for name, text in words.items())
    assert mounted(opened(query, "study"), "study")["choice"]["training"] == words
    assert not engine.turn()


def test_invalid_values_of_a_link_are_explained_and_ignored():
    sweep = "The link sweeps a parameter, which a study no longer does: add one rule"
    for asked, said in (
        ("rates=0.1,0", 'rates = "0.1,0"'), ("rates=", 'rates = ""'), ("rates=0.1,nan", 'rates = "0.1,nan"'),
        ("rates=" + ",".join(map(str, range(1, MAX_RATES + 2))), f"up to {MAX_RATES} numbers"),
        ("controls=x", 'controls = "x"'), ("equal=1", 'equal = "1"'),
        ("sweep=c&values=0.5,2", sweep), ("values=1,2", sweep),
    ):  # fmt: skip
        test = opened(f"op=sign&rule=clipped&{asked}", "study")
        assert mounted(test, "study")["choice"]["training"] == {}, asked
        assert said in words_of(test)


def test_a_link_to_a_task_without_held_out_data_gets_a_notice():
    test = opened("task=documents&op=relu&rule=seed_relu", "study")
    assert mounted(test, "study")["choice"]["op"] == "relu"
    said = words_of(test)
    assert 'task "documents" has no held-out data' in said
    assert f"{TASKS[FIRST].label} is used instead" in said
    assert "documents" not in words_of(opened("task=circles", "study"))
    assert "documents" not in words_of(opened("task=documents", "train"))


def test_rates_come_in_order_and_once():
    choice, notices = from_text("rates=0.1,0.001,0.1")
    assert (choice.rates, notices) == ((0.001, 0.1), [])
    assert format_training_settings(choice) == {"rates": "0.001,0.1"}
    most = tuple(number / 100 for number in range(1, MAX_RATES + 1))
    assert from_text(f"rates={','.join(map(str, most))}")[0].rates == most


def test_the_choice_stays_from_page_to_page():
    query = "task=digits&op=sign&rule=clipped&rule=formula:+2*g&rates=0.1&c=0.5&g=2&seed=5"
    test = opened(query, "study")
    test.query_params.clear()
    before = mounted(test, "study")["choice"]
    for page, part in (("train", "training"), ("explore", "instrument"), ("study", "study")):
        sound(test.switch_page(f"views/{page}.py").run())
        assert mounted(test, part)["choice"] == before


def test_the_rates_of_a_task_are_those_a_study_tries_unasked():
    for task in answers.describe_training()["tasks"]:
        rates = tuple(float(text) for text in task["defaults"]["rates"].split(","))
        assert rates == make_default_rates(TASKS[task["key"]].lr)
    assert Plan.create("digits", steps=1).lrs == make_default_rates(TASKS["digits"].lr)


def test_an_example_can_be_studied_within_a_strangers_limit():
    for preset in STUDIES:
        plan = jobs._read_plan({"query": preset.query})
        assert (plan.runs <= 3_000, len(plan.seeds) > 1) == (True, True), preset.name
