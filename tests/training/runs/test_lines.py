"""One line a rule: every word of it is compared with what the run itself holds, over all tasks."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest

from explorer.training import TASKS
from explorer.training.ranking import rank
from explorer.training.runs.headline import make_headline
from explorer.training.runs.lines import BASIS, make_lines
from tests.selection import take_part
from tests.training.driving import build

JUDGED = take_part(key for key, task in TASKS.items() if task.metric and task.kind != "own")


@pytest.fixture(scope="module", params=JUDGED)
def ended(request):
    """A short race of a task's own rules, before its first step and at its end."""
    task = TASKS[request.param]
    own = {"op": task.op, "rules": task.rules, "parameters": dict(task.parameters)}
    steps = 40 if task.key == "spikes" else 120
    run = build(recorded=("alignment",), task=task.key, **own, seeds=3, steps=steps)
    before = run.snapshot(BASIS)
    run.advance(run.settings.steps)
    return before, run.snapshot(BASIS)


def rank_scores(snapshot):
    scores = {rule: each.tolist() for rule, each in snapshot.score.items()}
    return rank(scores, 1 / snapshot.held_out, unit="%")


def test_a_line_names_the_weights_that_no_gradient_reaches(ended):
    for snapshot in ended:
        for rule, line in make_lines(snapshot).items():
            way = snapshot.measured["way"][rule]
            dead = {f"w{at}" for at, norm in enumerate(way["reached"], 1) if norm == 0}
            assert ("No gradient reaches" in line.text) == bool(dead)
            assert (" so only" in line.text) <= bool(dead)
            if "any weight" in line.text:
                assert len(dead) == len(way["reached"])
            elif dead:
                named = set(re.findall(r"w\d", re.split(r", so|\. ", line.text)[0]))
                assert named == dead
                assert (way["moved"][: len(dead)] == 0).all()


def test_stated_shares_match_the_measured_ones(ended):
    _, snapshot = ended
    records = snapshot.measured["causes"]
    stops = {
        rule: [zero / max(1 - above, 1e-9) for *_, zero, above in record["shares"]]
        for rule, record in records.items()
        if record
    }
    for rule, line in make_lines(snapshot).items():
        if found := re.match(
            r"It zeroes (\d+) % of the gradients that arrive.*?(?:, .* (\d+) %)?(:|\.)", line.why
        ):
            assert abs(int(found[1]) - 100 * stops[rule][line.layer]) <= 0.51
            if found[2]:
                assert abs(int(found[2]) - 100 * stops[line.other][line.layer]) <= 0.51
                assert int(found[2]) < int(found[1])


def test_each_line_ends_as_the_ranking_says(ended):
    _, snapshot = ended
    ranking = rank_scores(snapshot)
    for rule, line in make_lines(snapshot).items():
        lower = re.search(r"([\d.]+) points below .* interval ([\d.]+) to ([\d.]+)[,)]", line.text)
        assert bool(lower) == (rule in ranking.lower), line.text
        assert bool(re.search(r"\bBest\b", line.text)) == (ranking.best == (rule,))
        if lower:
            wanted = max(ranking.means.values()) - ranking.means[rule], *ranking.lower[rule]
            assert [float(each) / 100 for each in lower.groups()] == pytest.approx(wanted, abs=1.1e-3)
        if near := re.search(r"Perhaps .* interval −([\d.]+) to ([\d.]+)[,)]", line.text):
            (least, most), best = ranking.differences[rule], max(ranking.means.values())
            reach = 100 * min(-least, 1 - best), 100 * min(most, best)
            assert [float(each) for each in near.groups()] == pytest.approx(reach, abs=0.06)
            assert ("cut at 100 %" in line.text) == (-least > 1 - best)


@pytest.mark.parametrize(
    ("apart", "said"),
    [
        ([0, 0.01, 0, 0.01, 0], "Perhaps 0.4 points below the best (95 % interval −0.3 to 1.1)."),
        ([0, 0.03, 0, 0.018, 0], "Perhaps 1.0 points below the best (95 % interval −0.8 to 2.7)."),
        ([0.0, 0.01, 0.0, -0.01, 0.0], "The same mean (95 % interval −0.9 to 0.9)."),
        ([0.02, 0.021, 0.02, 0.019, 0.02], "1.7 to 2.3). No measure explains the difference."),
    ],
)
def test_a_line_states_the_difference_of_the_means_and_its_bound(apart, said):
    """Both rules pass the whole gradient, so that nothing else is said of them."""
    own = {"op": "identity", "rules": ("default", "straight_through"), "hidden": 4, "batch": 8}
    run = build(2, task="digits", **own, steps=2, seeds=5)
    highest = np.array([0.8, 0.81, 0.79, 0.8, 0.8])
    scores = {"default": highest, "straight_through": highest - np.array(apart)}
    snapshot = replace(run.snapshot(BASIS), score=scores)
    found = {rule: line.text for rule, line in make_lines(snapshot).items()}
    assert found["straight_through"].endswith(said)
    assert found["default"].endswith("Best." if "to 2.3" in said else "Highest mean.")


def test_the_stated_gradient_and_movement_match_the_measured_ones(ended):
    for snapshot in ended:
        along = TASKS[snapshot.task].net.site.per_example
        for rule, line in make_lines(snapshot).items():
            passed = snapshot.measured["way"][rule]["passed"]
            left = math.prod(float(each) for each in (passed if along else passed[:1]))
            if found := re.match(r"(?:Under )?([\d.]+) % of the gradient", line.text):
                assert float(found[1]) / 100 == pytest.approx(left, abs=0.0051)
            if line.text.startswith("The whole"):
                assert left == 1
            if moved := re.search(r"w1 moved by ([\d.]+\d)", line.why):
                far = snapshot.measured["way"][rule]["moved"][0]
                assert moved[1] == f"{far:.{2 if far < 1 else 3}g}"  # as a lane shows it


def test_a_line_blames_the_direction_only_if_the_cosine_is_lower(ended):
    _, snapshot = ended
    records = snapshot.measured.get("alignment", {})  # none with the op on weights
    cosines = {
        rule: np.mean(records[rule]["cosines"][0][-5:]) if records.get(rule) else math.nan
        for rule in snapshot.score
    }
    means = {rule: float(np.nanmean(each)) for rule, each in snapshot.score.items()}
    for rule, line in make_lines(snapshot).items():
        highest = cosines[max(means, key=means.__getitem__)]
        if "direction is worse" in line.text:
            assert line.panel == "alignment"
            assert cosines[rule] < highest - 0.05


_DEAD = {"task": "binary weights", "op": "binarize", "rules": ("default",)}


@pytest.mark.parametrize(("settings", "steps", "text"), [
    ({"task": "circles", "op": "sign", "rules": ("default",), "hidden": (8, 8, 8)}, 3,
     "No gradient reaches w1, w2 and w3, so only the last layer learns."),
    (_DEAD, 1, "No gradient reaches any weight, so only biases learn."),
    (_DEAD | {"bias": False}, 1, "No gradient reaches any weight, so nothing learns."),
    ({"task": "spikes", "op": "round", "rules": ("straight_through",)}, 0,
     "A gradient of the first step is infinite or NaN."),
    ({"task": "digits", "op": "identity", "rules": ("formula: g/5000",)}, 0,
     "0.02 % of the gradient reaches w1 now."),
    ({"task": "digits", "op": "log", "rules": ("default",)}, 1, "Diverged at step 0."),
])  # fmt: skip
def test_a_line_names_dead_layers_and_infinite_and_small_gradients(settings, steps, text):
    (line,) = make_lines(build(steps, **settings).snapshot(BASIS)).values()
    assert line.text == text


def test_a_rule_that_was_not_measured_has_no_line():
    assert not make_lines(build(task="documents", op="relu", rules=("default",)).snapshot())


def test_each_reason_is_a_sentence_of_at_most_120_characters(ended):
    before, snapshot = ended
    for line in make_lines(before).values():
        assert (line.why, re.search("moved|Best|lower|Within|Highest|learns", line.text)) == ("", None)
    for line in make_lines(snapshot).values():
        assert re.fullmatch(r"[A-Z\d].{20,118}\.", line.why), line.why


_TANH = {"op": "tanh", "task": "moons", "optimiser": "sgd", "lr": 0.2, "seeds": 5}
_FAST = {"optimiser": "sgd", "lr": 20.0, "seeds": 5}
_SMALL = {"task": "digits", "op": "identity", "seeds": 3, "steps": 60}


@pytest.mark.parametrize(("settings", "panel", "why"), [
    ({"op": "round", "rules": ("default",)}, "norms",
     r"Round's slope is 0, and anything times 0 is 0: w1 keeps its random start; only .+ learns from that\."),
    ({"op": "sign", "rules": ("formula: g*(abs(x)<=.001)",)}, "inputs",
     "It zeroes more than 99 % of the gradients that arrive: their inputs lie outside its window, .+"),
    ({"op": "relu", "rules": ("default",), "hidden": (8, 8)}, "causes",
     r"It zeroes \d+ % of the gradients that arrive after w\d: the op's slope is 0 there\."),
    ({**_TANH, "rules": ("formula: g", "formula: 200*g")}, "norms",
     r"Its steps are larger: at rate 0\.2 w1 moved by [\d,]+, with the other rule by [\d.]+\."),
    ({"rules": ("formula: -g", "default")}, "inputs",
     "With the other rule the gradient is reversed for 100 % of the op's inputs."),
    ({"op": "sign", "rules": ("formula: x*0+1", "straight_through")}, "",
     "With the other rule the gradient does not depend on g."),
    ({"op": "relu", "rules": ("straight_through", "default"), "seeds": 5}, "alignment",
     r"Its gradient of w1 follows the smoothed op's true one more closely: cosine [\d.]+, the other .+"),
    ({"op": "relu", "rules": ("default", "straight_through"), "seeds": 5}, "alignment",
     r"Its gradient of w1 follows the smoothed op's true one less closely: cosine [\d.]+, the other .+"),
    ({"op": "round", "rules": ("default", "straight_through")}, "norms",
     r"A gradient reaches w1, which moved by [\d.]+; with the other rule it did not\."),
    ({"op": "round", "rules": ("formula: g*(abs(x)<.1)", "straight_through"), "init_scale": 3}, "inputs",
     r"The other rule zeroes \d+ % of the gradients that arrive, this rule 0 %: their inputs lie outside .+"),
    ({"op": "round", "rules": ("straight_through", "formula: g*(abs(x)<.1)"), "init_scale": 3}, "inputs",
     r"It zeroes \d+ % of the gradients that arrive, the other rule 0 %: their inputs lie .+"),
    ({"rules": ("formula: g/1000", "default"), "optimiser": "sgd", "lr": 0.1}, "norms",
     r"Its steps are larger: at rate 0\.1 w1 moved by [\d.]+, with the other rule by 0\.0\d+\."),
    ({"rules": ("formula: 20*g", "zero"), "optimiser": "sgd", "lr": 1.0, "seeds": 1}, "score",
     "Only this rule can be compared: the others diverged."),
    ({"rules": ("formula: 20*g",), "optimiser": "sgd", "lr": 1.0}, "loss",
     r"Diverged at step \d+, at rate 1: w1's gradient grew from [\d.]+ to .+e\d+\."),
    ({"rules": ("default", "formula: 300*g"), "optimiser": "sgd", "lr": 0.1}, "loss",
     r"Diverged at step \d+, at rate 0\.1: its first gradient of w1 was 300 times that of the other rule\."),
    ({"task": "documents", "op": "relu", "rules": ("straight_through", "formula: -g"), "hidden": 100}, "loss",
     r"Diverged at step \d+, at rate 1e−6: its gradient has the opposite sign to that of each other rule\."),
    ({"op": "sign", "rules": ("straight_through",), "lr": 50.0}, "norms",
     r"The whole gradient passes, so each layer learns: w1 moved by [\d,]+ and w2 by [\d,]+\."),
    ({"rules": ("default", "formula: g/4"), "optimiser": "sgd", "lr": 0.1}, "score",
     r"It is slower: the other rule was there at step \d+, and it still rose by .+ points in .+"),
    ({"rules": ("formula: g/4", "default"), "optimiser": "sgd", "lr": 0.1}, "score",
     r"It is faster: at step \d+ it had the other rule's final score, which rose by .+ points in .+"),
    ({"rules": ("default", "straight_through")}, "inputs", "Its gradient equals that of the other rule .+"),
    ({"rules": ("default", "formula: 300*g"), "hidden": (8, 8)}, "inputs",
     "Its gradient is 300 times that of the other rule per layer; Adam evens that out: .+"),
    ({"rules": ("formula: 300*g",)}, "norms",
     r"The rule makes the gradient 300 times as large, but Adam divides by its size: w1 moved by [\d.]+ .+"),
    ({"task": "moons", "op": "sign", "rules": ("clipped",), "lr": 20.0, "steps": 100}, "norms",
     r"After step 2 no gradient reached its w1, which moved by 6\d\d: it is stuck with what it learned .+"),
    ({"task": "moons", "op": "sign", "rules": ("straight_through", "clipped"), "seeds": 5}, "seeds",
     r"On each seed it ended [\d.]+ to [\d.]+ points above the other rule, but 5 seeds are too few .+"),
    ({"op": "sign", "rules": ("straight_through", "clipped"), "task": "circles", "seeds": 1}, "seeds",
     r"No measure here explains the [\d.]+ points of one seed: run five seeds to tell\."),
    ({"op": "round", "rules": ("formula: g*.7", "straight_through"), "seeds": 1}, "inputs",
     r"Its gradient is 1\.4 times that of the other rule; Adam evens that out: .+"),
    ({"op": "round", "rules": ("formula: g*exp(-x**2/9)", "straight_through"), "seeds": 1}, "score",
     r"The [\d.]+ points between it and the other rule come from one seed: run five to tell\."),
    ({"op": "sign", "rules": ("straight_through", "clipped"), "optimiser": "sgd", "lr": 1e-4}, "loss",
     r"At rate 1e−4 its loss hardly fell, from 2\.\d+ to 2\.\d+: too little to compare rules\."),
    ({"task": "circles", "op": "sign", "rules": ("default", "straight_through"), **_FAST}, "norms",
     r"Learning w1 did not help: at rate 20 w1 moved by [\d,]+, with the other rule by 0\."),
    ({"op": "round", "rules": ("default", "zero")}, "norms",
     "The rule returns 0 for every input: w1 keeps its random start; only the last layer learns from that."),
    ({"op": "sign", "rules": ("straight_through", "formula: max(0, 2 - 2 * abs(x))")}, "",
     r"At x = \S+ the gradient is [\d.]+ whatever g is, so the loss does not steer its steps\."),
    ({"op": "formula: Q = sign(x)", "rules": ("formula: Q = g", "default")}, "norms",
     r"The op Q's slope is 0, and anything times 0 is 0: w1 keeps its random start; only .+ from that\."),
    ({"op": "sign", "rules": ("straight_through", "formula: g*tanh(x)")}, "inputs",
     r"It has the opposite sign of g for \d\d % of inputs, if neither is 0: steps go .+"),
    ({"rules": ("straight_through",), "hidden": (8, 8)}, "norms",
     r"The whole gradient passes, so each layer learns: w1 moved by [\d.]+, w2 by [\d.]+ and w3 by [\d.]+\."),
])  # fmt: skip
def test_each_ending_has_its_reason_and_its_panel(settings, panel, why):
    run = build(60, ("alignment",), **_SMALL | settings)
    line = list(make_lines(run.snapshot(BASIS)).values())[-1]
    assert re.fullmatch(why, line.why), line
    assert line.panel == panel
    assert (line.layer is not None) == (panel in ("alignment", "causes", "inputs"))
    assert len(line.why) <= 120


@pytest.mark.parametrize(
    ("narrower", "ends"),
    [(0.68, "best rule 0 %. The same holds for n, at 68.1 %."), (0.55, "where it is 0.")],
)
def test_a_rule_with_the_same_cause_and_a_higher_score_is_a_remark(narrower, ends):
    rules = "straight_through", "formula: g*(abs(x)<.2)", "formula: n=g*(abs(x)<.1)"
    run = build(2, task="digits", op="round", rules=rules, init_scale=3, steps=2, seeds=3)
    noise = np.array([0, 0.001, 0.002])
    scores = {rule: mean + noise for rule, mean in zip(rules, (0.8, 0.6, narrower), strict=True)}
    why = make_lines(replace(run.snapshot(BASIS), score=scores))[rules[1]].why
    assert re.fullmatch(f"It zeroes 95 % .*{ends}", why)


def test_a_loss_that_stays_high_is_told_with_its_last_quarter():
    run = build(2, **_SMALL | {"task": "documents", "rules": ("default", "straight_through"), "steps": 2})
    losses = {"default": np.float32([900, 3]), "straight_through": np.float32([900] * 9 + [100, 90, 150])}
    seen = replace(run.snapshot(BASIS), losses=losses, loss={"default": 3.0, "straight_through": 150.0})
    why = "Its loss of 150 is 50 times the lowest; in the last quarter it was 90 to 150."
    assert make_lines(seen)["straight_through"].why == why


def test_the_headline_names_the_best_rules_only_at_the_end(ended):
    before, snapshot = ended
    labels = {rule: f"R{number}" for number, rule in enumerate(snapshot.losses)}
    assert make_headline(before, labels) == ""
    ranking = rank_scores(snapshot)
    said = make_headline(snapshot, labels)
    if not ranking.lower:
        assert "do not show which is best" in said
    elif "rules may be best" in said:
        assert said.startswith(f"{len(ranking.best)} of {len(labels)} rules")
    else:
        named = [rule for rule in labels if re.search(rf"{labels[rule]}\b", said)]
        assert named == [rule for rule in labels if rule in ranking.best]
        assert (f"{100 * ranking.means[named[0]]:.1f} %" in said) == (len(named) == 1)
        assert ("may each be best" in said) == (len(ranking.best) > 1)


@pytest.mark.parametrize(
    ("rule", "of_losses"),
    [("reinforce", True), ("sigmoid_st", False), ("formula: g * (f() >= 0) * x", False)],
)
def test_a_gradient_made_of_losses_is_not_described_as_passed_on(rule, of_losses):
    run = build(task="digits", op="bernoulli", rules=(rule,), steps=2, init_scale=0.1)
    for more in (0, 1):
        run.advance(more)
        said = make_lines(run.snapshot(BASIS))[rule].text
        assert ("comes from losses, not from g" in said) is of_losses
        assert ("reaches w1" in said or "as large" in said) is not of_losses
