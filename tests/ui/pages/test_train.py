"""The Train page as its script makes it: a place, and what it is given."""

import json

from explorer.training import SETTINGS, TASKS, Settings
from explorer.ui.links.choice import format_training_settings
from explorer.ui.links.link import from_query
from explorer.ui.server import answers
from tests.ui.opening import mounted, opened


def test_a_link_restores_the_settings_and_starts_nothing(engine):
    task = list(TASKS)[-1]
    texts = {"steps": "20", "lr": "0.25", "hidden": "4,4", "batch": "8", "seed": "7", "bias": "no"}
    texts |= {"seeds": "3", "optimiser": "momentum", "init_scale": "2", "pace": "full"}
    query = f"op=relu&task={task}&" + "&".join(f"{name}={text}" for name, text in texts.items())
    given = mounted(opened(query, "train"), "training")["choice"]["training"]
    assert given == texts | {"task": task}
    assert engine.list() == ()


def test_controls_are_drawn_from_the_declared_settings():
    document = answers.describe_training()
    given = {setting["name"]: setting for setting in document["settings"]}
    drawn = {name: setting for name, setting in SETTINGS.items() if setting.visible}
    assert list(given) == list(drawn)
    for name, setting in drawn.items():
        assert list(given[name]["words"]) == list(setting.words)
    assert given["task"]["words"] == {key: task.label for key, task in TASKS.items()}
    assert {document["firstTask"], document["usualTask"]} <= set(TASKS)


def test_a_task_is_drawn_with_all_it_begins_with():
    """Choosing it gives the very settings that Python has for it, through a link as well."""
    for told in json.loads(json.dumps(answers.describe_training()["tasks"])):
        task = TASKS[told["key"]]
        assert told["purpose"] == task.purpose
        begins = told["begins"]
        query = {"op": [begins["op"]], "rule": begins["rules"], "task": [told["key"]]}
        query |= {name: [str(value)] for name, value in begins["parameters"].items()}
        choice, notices = from_query(query | {name: [text] for name, text in told["defaults"].items()})
        assert notices == []
        assert format_training_settings(choice) == {"task": told["key"]} or told["key"] == "documents"
        if told["key"] != "data":
            asked = {name: getattr(choice, name) for name in SETTINGS if name != "device"}
            settings = Settings(op=choice.op, rules=choice.rules, parameters=choice.parameters, **asked)
            assert settings == Settings(task=told["key"])
