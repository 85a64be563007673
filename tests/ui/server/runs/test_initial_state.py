"""Step 0 of a run: a pure answer to settings, which begins nothing."""

from explorer.training import Run
from explorer.training.runs.lines import BASIS, make_lines
from explorer.ui.server.admission.compute_slots import ComputeSlots
from explorer.ui.server.runs import initial_state
from explorer.ui.server.runs.jobs import read_run_settings
from tests.training.tables import mixed_table
from tests.ui.server.runs.test_jobs import told

QUERY = "task=digits&op=sign&rule=default&rule=clipped&seeds=2&hidden=4&batch=8"


def test_the_initial_state_is_that_of_a_run_before_its_first_step(client, engine):
    answer = client.post("/first", {"query": QUERY}).data
    run = Run(read_run_settings({"query": QUERY}), recorded=())
    expected = {rule: line.text for rule, line in make_lines(run.snapshot(BASIS)).items()}
    assert {rule: line["text"] for rule, line in answer["lines"].items()} == expected
    assert answer["snapshot"]["step"] == 0
    assert set(answer["snapshot"]["measured"]) == {"way", "causes", "inputs", "net", "reads"}
    assert not engine.list()


def test_the_same_settings_are_computed_once_in_a_seat(client, monkeypatch):
    initial_state._compute_start.cache_clear()
    later = "range=-5&range=5&lr=0.5&steps=7&pace=3&sigma=0.3"  # which changes nothing before a step
    for query in (QUERY, f"{QUERY}&{later}"):
        assert client.post("/first", {"query": query}).status == 200
    known = initial_state._compute_start.cache_info()
    assert (known.misses, known.hits) == (1, 1)
    monkeypatch.setattr(initial_state._SLOTS, "__dict__", vars(ComputeSlots(0, 0)))
    told(client.post("/first", {"query": QUERY}), 429)


def test_a_branch_is_of_the_steps_that_it_names(client):
    answer = client.post("/first", {"query": f"{QUERY}&steps=5000", "branch": ["4000,lr:0.1"]}).data
    assert set(answer["lines"]) == {"default", "clipped"}


def test_a_table_is_drawn_as_well(client):
    table = {"text": mixed_table(), "target": "Ecke", "without": ["Nr", "Notiz"]}
    answer = client.post("/first", {"query": "task=data", "table": table}).data
    assert answer["snapshot"]["measured"]["net"]
    assert {each["width"] for each in answer["snapshot"]["measured"]["reads"].values()} == {2}


def test_invalid_settings_get_a_message_and_an_invalid_link_is_refused(client):
    answer = client.post("/first", {"query": "task=data"})
    assert answer.status == 200
    assert answer.data["message"].startswith("This cannot be trained: the task")
    told(client.post("/first", {"query": "op=nonsense"}), 400)
