"""Exports of a run, read back by those they are for."""

import csv
import dataclasses
import io
import json
import math
from itertools import starmap

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load

from explorer import takeaway
from explorer.takeaway import history_csv, read_settings, settings_json, weights_file
from explorer.training import TASKS, Run, Settings
from explorer.training.settings import branches
from explorer.training.settings import settings as settings_module
from tests.training.tables import POINTS

OWN = "formula: g * (abs(x) <= 2)"


@pytest.fixture(scope="module")
def run():
    given = {"steps": 30, "seeds": 2, "seed": 3, "hidden": (8, 6), "device": "cpu"}
    settings = Settings(task="digits", op="sign", rules=("clipped", OWN), **given)
    trained = Run(settings)
    trained.advance(25)
    return trained


def test_a_history_has_a_row_a_rule_seed_and_step(run):
    frame = pd.read_csv(io.StringIO(history_csv(run.history())))
    assert len(frame) == 2 * 2 * 26
    snapshot = run.snapshot()
    for (rule, seed), rows in frame.groupby(["rule", "seed"], sort=False):
        assert rows.step.tolist() == list(range(26))
        losses = rows.loss.to_numpy(np.float32)
        assert losses[:25].tolist() == snapshot.seed_losses[rule][seed - 3].tolist()
        assert math.isnan(losses[25])
        assert rows.held_out.to_numpy(np.float32).tolist() == snapshot.seed_scores[rule][seed - 3].tolist()
    last = frame[(frame.step == 25) & (frame.rule == "clipped")]
    means = [last[f"alignment_cosine_{layer}"].mean() for layer in (1, 2)]
    assert means == pytest.approx(snapshot.alignment["clipped"].tolist(), rel=1e-5)


def test_the_history_has_no_columns_for_data_that_is_not_held_out():
    documents = Run(Settings(rules=("default",), steps=500, device="cpu"))
    documents.advance(4)
    rows = list(csv.DictReader(io.StringIO(history_csv(documents.history()))))
    assert "held_out" not in rows[0]
    assert [row["alignment_cosine_1"] != "" for row in rows] == [True, False, False, True, False]


@given(
    task=st.sampled_from([task for task in TASKS if task != "data"]),
    hidden=st.one_of(st.integers(1, 9), st.lists(st.integers(1, 9), min_size=2, max_size=4).map(tuple)),
    rules=st.lists(st.sampled_from(["default", "clipped", OWN]), min_size=1, unique=True),
    lr=st.floats(1e-12, 1e3),
    pace=st.one_of(st.just("full"), st.floats(1, 1000)),
    branch=st.lists(st.tuples(st.integers(0, 90), st.just("lr"), st.floats(1e-12, 1e3)), max_size=2),
)
def test_settings_come_back(**fields):
    settings = Settings(steps=100, **fields)
    text = settings_json(settings)
    assert read_settings(text) == Settings(**json.loads(text)) == settings


def test_settings_with_a_table_come_back():
    settings = Settings(table=POINTS, device="cpu")
    assert read_settings(settings_json(settings)) == settings


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not JSON"), ("[" * 100_000, "not JSON"), ("[]", "contains no settings"),
        ("{}", "contains no settings"), ('{"rule": "zero"}', "sets 'rule', which is not a setting"),
        ('{"steps": -1}', "steps must be a whole number"), ('{"rules": {"a": 1}}', "rules must be a list"),
        ('{"parameters": 3}', "parameters must be a dict of numbers"),
        ('{"branch": [[1, "lr"]]}', "a branch point is"), ('{"op": 5}', "op must be a key"),
        ('{"op": ["relu"]}', "op must be a key"), ('{"hidden": [1, [2]]}', "hidden must be a whole number"),
        ('{"lr": NaN}', "lr must be"), ('{"task": {}}', "unknown task"),
        ('{"bias": "yes"}', "bias must be True or False"), ('{"device": 3}', "unknown device"),
    ],
)  # fmt: skip
def test_text_without_settings_is_explained(text, said):
    with pytest.raises(ValueError, match=said):
        read_settings(text)


LONG = "x*" * 40_000 + "x"
GIVEN = {
    "a key": LONG, "a formula": f"formula: {LONG}",
    "a formula whose mistake is at its end": f"formula: {'x + ' * 70}?", "keys": ["a" * 20] * 9_000,
    "formulas": [f"formula: g*{number}" for number in range(9_000)],
    "values": {f"{LONG}{number}": number for number in range(3)}, "numbers": 10**4_000,
    "lists": [[[["x" * 100] * 100] * 100]],
    "branch points": [[number % 5, "lr", number + 1] for number in range(9_000)],
    "a branch point": [[LONG, LONG, LONG]], "a name": [LONG],
}  # fmt: skip


@pytest.mark.parametrize("given", GIVEN)
def test_a_message_repeats_little_of_what_was_given(given):
    """A quotation has 80 characters; two of them and the words around are the most."""
    for name in (field.name for field in dataclasses.fields(Settings)):
        with pytest.raises(ValueError, match=r"\w") as caught:
            read_settings(json.dumps({name: GIVEN[given]}))
        assert len(str(caught.value)) < 500, name


def test_more_rules_or_branch_points_than_may_be_are_counted_before_one_is_read(monkeypatch):
    def read(_key):
        raise AssertionError("it was read")

    monkeypatch.setattr(settings_module, "find_rule", read)
    monkeypatch.setattr(branches, "find_rule", read)
    with pytest.raises(ValueError, match="choose 1 to 6 rules, not 9000"):
        read_settings(json.dumps({"rules": GIVEN["formulas"]}))
    with pytest.raises(ValueError, match="at most 64 times, not 9000"):
        branches.check_branches(GIVEN["branch points"], ("default",), 10)


def test_settings_have_a_limit(monkeypatch):
    monkeypatch.setattr(takeaway, "MAX_SETTINGS_CHARS", 2)
    with pytest.raises(ValueError, match="has 3 characters, but at most 2"):
        read_settings("{ }")


def test_weights_are_taken_by_linear_layers_and_give_the_score(run):
    file = weights_file(run.weights(), run.settings)
    weights = load(file)
    sizes = [(64, 8), (8, 6), (6, 10)]
    nets = torch.nn.ModuleDict(
        {
            rule: torch.nn.ModuleDict(
                {seed: torch.nn.ModuleList(starmap(torch.nn.Linear, sizes)) for seed in "34"}
            )
            for rule in ("clipped", "rule_2")
        }
    )
    nets.load_state_dict(weights)
    x, y = run.nets.data[0].held_out
    for rule, scores in zip(nets.values(), run.snapshot().seed_scores.values(), strict=True):
        for net, score in zip(rule.values(), scores[:, -1], strict=True):
            h = x
            for number, layer in enumerate(net):
                h = layer(h.sign() if number else h)
            assert (h.argmax(1) == y).float().mean().item() == pytest.approx(score, abs=0.003)
    length = int.from_bytes(file[:8], "little")
    words = json.loads(file[8 : 8 + length])["__metadata__"]
    assert read_settings(words["settings"]) == run.settings


@pytest.mark.parametrize("settings", [{}, {"optimiser": "adam"}, {"bias": True}])
def test_the_documents_weights(settings):
    one = Run(Settings(rules=("default",), steps=40, device="cpu", **settings))
    one.advance(40)
    x, y, _ = one.tensors()
    weights = load(weights_file(one.weights(), one.settings))
    linear = torch.nn.functional.linear
    (first, last), biases = (
        [weights.get(f"default.0.{layer}.{name}") for layer in (0, 1)] for name in ("weight", "bias")
    )
    output = linear(linear(x, first, biases[0]).relu(), last, biases[1])
    ahead = one.nets.run_pass().numbers[0, 0]
    assert (output - y).square().sum().item() == pytest.approx(ahead, rel=1e-4)


def test_of_nets_that_diverged_there_are_no_weights():
    one = Run(Settings(rules=("default",), lr=1.0, steps=40, device="cpu"))
    one.advance(40)
    assert one.diverged
    assert load(weights_file(one.weights(), one.settings)) == {}


def test_weights_hold_no_table():
    one = Run(Settings(table=POINTS, steps=2, device="cpu"))
    assert POINTS.splitlines()[1].encode() not in weights_file(one.weights(), one.settings)
