"""Step 0 of a run: a pure answer to settings, which begins nothing."""

import pytest

from explorer.training import Run
from explorer.training.runs.lines import BASIS, make_lines
from explorer.ui.server.admission.compute_slots import ComputeSlots
from explorer.ui.server.runs import initial_state
from explorer.ui.server.runs.jobs import read_run_settings
from tests.training.tables import mixed_table
from tests.ui.server.runs.test_jobs import Client, told

QUERY = "task=digits&op=sign&rule=default&rule=clipped&seeds=2&hidden=4&batch=8"


def test_the_initial_state_is_that_of_a_run_before_its_first_step(client, engine):
    answer = client.post("/first", json={"query": QUERY}).json()
    run = Run(read_run_settings({"query": QUERY}), recorded=())
    expected = make_lines(run.snapshot(BASIS))
    assert {rule: line["text"] for rule, line in answer["lines"].items()} == {
        rule: line.text for rule, line in expected.items()
    }
    assert answer["snapshot"]["step"] == 0
    assert set(answer["snapshot"]["measured"]) == {"way", "causes", "inputs", "net", "reads"}
    assert not engine.list()


def test_the_same_settings_are_computed_once(client):
    initial_state._compute_start.cache_clear()
    later = "range=-5&range=5&lr=0.5&steps=7&pace=3&sigma=0.3"  # which changes nothing before a step
    for query in (QUERY, f"{QUERY}&{later}"):
        assert client.post("/first", json={"query": query}).status_code == 200
    known = initial_state._compute_start.cache_info()
    assert (known.misses, known.hits) == (1, 1)


def test_it_is_computed_in_a_seat(client: Client, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(initial_state._SLOTS, "__dict__", vars(ComputeSlots(0, 0)))
    told(client.post("/first", json={"query": QUERY}), 429)


def test_a_branch_is_of_the_steps_that_it_names(client):
    answer = client.post("/first", json={"query": f"{QUERY}&steps=5000", "branch": ["4000,lr:0.1"]}).json()
    assert set(answer["lines"]) == {"default", "clipped"}


def test_a_table_is_drawn_as_well(client):
    table = {"text": mixed_table(), "target": "Ecke", "without": ["Nr", "Notiz"]}
    answer = client.post("/first", json={"query": "task=data", "table": table}).json()
    assert answer["snapshot"]["measured"]["net"]
    assert {each["width"] for each in answer["snapshot"]["measured"]["reads"].values()} == {2}


def test_invalid_settings_give_a_message_instead_of_an_error(client):
    answer = client.post("/first", json={"query": "task=data"})
    assert answer.status_code == 200
    assert answer.json()["message"].startswith("This cannot be trained: the task")


def test_an_invalid_link_is_refused(client):
    assert told(client.post("/first", json={"query": "op=nonsense"}), 400)
