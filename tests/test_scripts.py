"""Each task's script, run on its own: its losses, its score and what it learns are the run's."""

import re
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import black
import numpy as np
import pytest

from explorer.scripts import script
from explorer.snippets import layout
from explorer.training import TASKS, Run, Settings, Table
from explorer.training.numerics.optimisers import OPTIMISERS
from tests.selection import take_part
from tests.training.tables import CHOSEN, POINTS

STEPS = 30
TEXT = "text of the script"
NUMBERS = "\ufeff" + "\n".join(f"{n % 7};  {n * n % 11} ;{n % 7 + 0.5 * (n * n % 11)}" for n in range(60))
DENSE = [key for key, task in TASKS.items() if not task.net.site.fires and task.kind != "own"]
LOOP = "\nfor op"  # with which a script ends: it trains all that it defines

Given = dict[str, Any]
BOTH: Given = {"op": "sign", "rules": ("default", "clipped")}
PAIR: Given = {"rules": ("default", "straight_through"), "steps": 50}
TINY: Given = {"op": "tanh", "rules": ("default",)}
LATER = [(7, "lr", 0.002), (19, "default", "straight_through"), (30, "op", "sign"), (40, "rule", "clipped")]
FIRING = [(7, "lr", 0.002), (19, "boxcar", "triangle"), (40, "rule", "sigmoid_surrogate")]
LEAKY = [(7, "lr", 5e-7), (19, "default", "leaky_backward"), (30, "op", "tanh"), (40, "lr", 1e-6)]
OTHER_NETS: dict[str, Given] = {
    "spikes": {"task": "spikes", "rules": ("boxcar", "triangle"), "branch": FIRING},
    "ternary weights, sgd": {"task": "ternary weights", "optimiser": "sgd", "branch": LATER},
    "ternary weights, adam": {"task": "ternary weights", "optimiser": "adam", "branch": LATER},
    "a table": {"table": POINTS, "batch": 16, "branch": LATER},
    "digits convolution": {"task": "digits convolution", "branch": LATER},
    "ternary kernels": {"task": "ternary kernels", "hidden": (5, 3), "branch": LATER},
    "documents, adam": {"optimiser": "adam", "lr": 1e-4, "branch": LEAKY},
    "documents, momentum": {"optimiser": "momentum", "branch": LEAKY},
    "documents": {"branch": LEAKY},
}
ESTIMATORS = ("sigmoid_st", "reinmax", "st_gumbel", "reinforce", "arm", "disarm")
DRAWN: dict[str, Given] = {
    "every estimator": {"task": "digits", "rules": ESTIMATORS, "seeds": 2, "seed": 1},
    "two layers": {"task": "digits", "rules": ("disarm",), "hidden": (8, 8)},
    "a table": {"table": POINTS, "batch": 16, "rules": ("arm",)},
    "spikes": {"task": "spikes", "rules": ("sigmoid_st", "reinforce")},
    "maps": {"task": "digits convolution", "rules": ("sigmoid_st", "disarm")},
    "weights": {"task": "ternary weights", "op": "stochastic_round", "rules": ("straight_through", "arm")},
    "kernels": {"task": "binary kernels", "op": "stochastic_round", "rules": ("straight_through", "disarm")},
    "documents": {"rules": ("sigmoid_st", "st_gumbel", "disarm")},
    "soft, judged hard": {"task": "digits", "op": "gumbel_sigmoid", "rules": ("default", "disarm")},
    "judged without": {"task": "moons", "op": "dropout", "rules": ("default",), "hidden": (8, 8)},
    "judged rounded": {"task": "ternary kernels", "op": "noisy_round", "rules": ("straight_through",)},
    "a rule alone": {"task": "digits", "op": "round", "rules": ("formula: 2 * g * u()", "straight_through")},
    "from a step on": {
        "task": "digits", "op": "relu", "rules": ("default", "sigmoid_st"),
        "branch": [(3, "op", "gumbel_sigmoid"), (7, "op", "round"), (9, "default", "straight_through")],
    },
    "until a step": {
        "task": "xor", "rules": ("disarm",), "branch": [(5, "op", "tanh"), (5, "rule", "default")],
    },
}  # fmt: skip
LEVELS: dict[str, float] = {"s": 0.5, "qmin": -1.0, "qmax": 1.0}
SPIKE: Given = {
    "op": "formula: where(x - t > 0, 1, 0)",
    "rules": ("formula: g / (1 + abs(x - t))**2; t: sum(-1 * g / (1 + abs(x - t))**2)",),
    "learn": ("t",), "parameters": {"t": 0.2}, "hidden": 6,
}  # fmt: skip
QUANTISED: Given = {
    "op": "quantize", "rules": ("lsq", "quantize_masked", "default"), "learn": ("s",), "parameters": LEVELS,
}  # fmt: skip
BOUNDS: Given = {
    "op": "clamp", "rules": ("pact", "learned_clamp", "default"), "learn": ("lo", "pact.hi"),
    "parameters": {"hi": 0.5},
}  # fmt: skip
# The places of the op, by a task; two layers of units too.
LEARNING: dict[str, Given] = {
    "binary weights": QUANTISED | {"learn_rate": 0.3},
    "ternary weights": QUANTISED | {"learn": ("lsq.s",), "seeds": 2},
    "digits": BOUNDS,
    "moons": BOUNDS | {"hidden": (8, 6), "learn_rate": 3.0},
    "circles": {"op": "quantize_offset", "rules": ("lsq_plus",), "learn": ("s", "beta")},
    "spiral": {"op": "ttq", "rules": ("ttq",), "learn": ("wp", "wn"), "bias": False},
    "xor": {"op": "quantize_power_of_two", "rules": ("tqt",), "learn": ("log2_s",)},
    "spikes": SPIKE,
    "documents": {"op": "quantize", "rules": ("lsq",), "learn": ("s",), "learn_rate": 0.1},
}
LEARNING |= {
    f"{task}, by channel": {**LEARNING[task], "task": task, "learn_each": "channel"}
    for task in ("digits", "ternary weights", "spikes", "documents")
} | {
    f"{task}, by {each}": QUANTISED
    | {"task": task, "learn": ("lsq.s",), "hidden": (4, 3), "learn_each": each}
    for task in ("digits convolution", "ternary kernels")
    for each in ("layer", "channel")
}
# A parameter that no step uses for a while, or only later, goes as in the run too.
RESTING: dict[str, Given] = {
    "rests": {"branch": [(9, "lsq", "quantize_masked"), (20, "lsq", "lsq"), (12, "lr", 0.02)]},
    "an op without it": {"branch": [(9, "op", "sign"), (9, "rule", "clipped"),
                                    (20, "op", "quantize"), (20, "rule", "lsq")]},
    "another op learns another": {"learn": ("lsq.s", "hi"),
                                  "branch": [(9, "op", "clamp"), (9, "rule", "pact")]},
}  # fmt: skip
CASES: dict[str, Given] = {
    **{f"{task}, {optimiser}": {"task": task, "steps": 12, "optimiser": optimiser, "seeds": 2, "seed": 3}
       for task, optimiser in take_part(product(DENSE, OPTIMISERS))},
    **{f"spikes, {rule}": {"task": "spikes", "rules": (rule,)}
       for rule in ("straight_through", "triangle", "sigmoid_surrogate")},
    # A little move of a weight moves every loss: spikes would hide it.
    "leaky": {"task": "spikes", "op": "relu", "rules": ("default",), "steps": 20},
    "leaky from a step on": {"task": "spikes", "op": "step", "rules": ("triangle",), "steps": 20,
                             "branch": [(9, "op", "relu"), (9, "rule", "default")]},
    # Of few numbers torch adds up in another order where several products go in one call.
    "few examples": TINY | {"task": "moons", "batch": 3, "seeds": 2},
    "few units": TINY | {"task": "circles", "batch": 12, "hidden": 7, "bias": False},
    "two layers of few": TINY | {"task": "xor", "hidden": (2, 3), "optimiser": "sgd"},
    "one weight": {"task": "binary weights", "batch": 1, "hidden": 1, "op": "sign", "rules": ("clipped",)},
    "one example of spikes": TINY | {"task": "spikes", "batch": 1, "hidden": 2, "op": "relu", "bias": False},
    # The run spares most of the first product there, and so does the script.
    **{f"documents, {rule}, {given}": {"rules": (rule,), "steps": 50, "seeds": 2, **given}
       for rule in ("default", "leaky_backward")
       for given in ({}, {"hidden": (7, 5)}, {"batch": 3, "hidden": 2})},
    "three layers": {"task": "moons", "rules": ("clipped",), "hidden": (8, 4, 6), "bias": False,
                     "init_scale": 2.0, "batch": 16},
    "a branch, digits": BOTH | {"task": "digits", "branch": [(7, "lr", 0.001), (19, "lr", 0.05)]},
    "a branch, moons": BOTH | {"task": "moons",
                               "branch": [(9, "clipped", "reste"), (20, "clipped", "clipped")]},
    "a branch, circles": BOTH | {"task": "circles", "seeds": 2, "branch": [
        (9, "op", "round"), (15, "rule", "straight_through"), (15, "lr", 0.002)]},
    "a branch, spiral": BOTH | {"task": "spiral", "branch": [(0, "clipped", "zero")],
                                "optimiser": "momentum"},
    "a branch, xor": BOTH | {"task": "xor", "branch": [
        (5, "op", "formula: tanh(3*x)"), (9, "clipped", "formula: g * (abs(x) <= 2)")]},
    **{f"a branch, {net}": PAIR | OTHER_NETS[net] for net in take_part(OTHER_NETS)},
    **{f"draws, {name}": {"op": "bernoulli", "steps": 12} | DRAWN[name] for name in take_part(DRAWN)},
    "draws and learns b": {"task": "digits", "op": "bernoulli", "rules": ("reinforce_baseline",),
                           "learn": ("b",), "learn_rate": 5.0},
    "draws and learns tau": {"task": "digits", "op": "gumbel_sigmoid", "rules": ("default",),
                             "learn": ("tau",), "learn_rate": 5.0},
    **{f"learns, {task}, {optimiser}": {"task": task, "steps": 15, "optimiser": optimiser, "seed": 3}
       | LEARNING[task] for task, optimiser in take_part(product(LEARNING, OPTIMISERS))},
    **{f"learned {name}, {optimiser}": {"task": "ternary weights", "optimiser": optimiser}
       | LEARNING["ternary weights"] | {"rules": ("lsq",), "learn_rate": 0.3} | given
       for name, given in RESTING.items() for optimiser in OPTIMISERS},
}  # fmt: skip


@pytest.fixture
def executed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Runs the script of some settings where its table lies, and returns its names and its text.

    What its own loop has trained is not trained once more. It is not laid out, which takes longer than most
    of them train.
    """
    monkeypatch.setattr(layout, "format_code", lambda code: code)
    monkeypatch.chdir(tmp_path)

    def execute(settings: Settings) -> dict[str, Any]:
        if settings.table is not None:
            Path("table.csv").write_text(Table.create(settings.table).text, encoding="utf-8", newline="")
        text = script(settings)
        assert "explorer" not in text
        names: dict[str, Any] = {TEXT: text}
        definitions, begins, loop = text.rpartition(LOOP)
        exec(compile(definitions, "script.py", "exec"), names)
        names["train"] = remembered(names["train"])
        exec(compile(begins + loop, "script.py", "exec"), names)
        return names

    return execute


def remembered(train: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, which trains but once for the same arguments."""
    known: dict[str, Any] = {}

    def trained(*arguments: Any) -> Any:
        if (key := repr(arguments)) not in known:
            known[key] = train(*arguments)
        return known[key]

    return trained


def settings_of(given: Given) -> Settings:
    return Settings(**{"steps": STEPS, "device": "cpu"} | given)


def lines_of(names: dict[str, Any]) -> list[tuple[Any, ...]]:
    """The functions of each line, with what follows them, as the script's last loop lists them."""
    loop = r"^for op(, starts)?(, later)? in (\(.*\)):\n    for seed"
    listed = re.search(loop, names[TEXT], re.DOTALL | re.MULTILINE)
    result = eval(listed[3], names)
    return list(result) if listed[1] or listed[2] else [(function,) for function in result]


def assert_the_same(names: dict[str, Any], settings: Settings) -> None:
    """Losses and learned values of every rule and seed to the last bit, and the score."""
    run = Run(settings, recorded=())
    run.advance(settings.steps)
    snapshot, weights = run.snapshot(), run.weights()
    for at, (rule, (function, *given)) in enumerate(zip(snapshot.losses, lines_of(names), strict=True), 1):
        key = rule if rule.isidentifier() else f"rule_{at}"
        for index in range(settings.seeds):
            result = names["train"](function, settings.seed + index, *given)
            losses, *rest = result if isinstance(result, tuple) else (result,)
            np.testing.assert_array_equal(np.float32(losses), snapshot.seed_losses[rule][index], rule)
            learned = rest.pop() if settings.learn else {}
            if rest:
                assert rest[0] == pytest.approx(snapshot.score[rule][index], rel=1e-5), (rule, index)
            assert not settings.learn or learned.keys() == given[0].keys()
            for name in learned.keys() & snapshot.learned[rule].keys():
                for layer, values in enumerate(learned[name]):
                    ends = weights[f"{key}.{settings.seed + index}.op.{layer}.{name}"]
                    np.testing.assert_array_equal(np.float32(values), ends.numpy(), rule)
                    assert not np.isclose(values, given[0][name], rtol=1e-6).all(), "it has moved"


@pytest.mark.parametrize("case", CASES)
def test_a_script_gives_the_runs_bits(case, executed, capsys):
    settings = settings_of(CASES[case])
    assert_the_same(executed(settings), settings)
    said = capsys.readouterr().out.splitlines()
    assert len(said) == settings.seeds * len(settings.rules)
    assert all(re.search(r"seed \d: loss [\d.e+-]+", line) for line in said)


def test_custom_formulas_get_distinct_names(executed):
    rules = ("formula: g * (abs(x) <= w)", "formula: g / (1 + abs(x))")
    own = {"op": "formula: tanh(k * x)", "rules": rules, "parameters": {"w": 2.0, "k": 3.0}}
    names = executed(settings_of({"task": "circles"} | own))
    assert names.keys() >= {"custom_rule_1", "custom_rule_2"}
    assert_the_same(names, settings_of({"task": "circles"} | own))


def test_pasted_classes_keep_their_names(executed):
    rules = ("formula: RoundSTE = g", "formula: RoundSte = g * (abs(x) <= 2)")
    names = executed(settings_of({"task": "circles", "op": "round", "rules": rules}))
    assert names.keys() >= {"RoundSTE", "round_ste", "round_rule_2"}


def test_a_script_trains_in_about_thirty_lines():
    """The rest are the functions of ops with rules, and the data."""
    assert len(training_lines(Settings(device="cpu"))) <= 33
    for task in DENSE:
        most = 50 if "convolution" in task or "kernels" in task else 40  # maps are cut into patches
        assert len(training_lines(settings_of({"task": task}))) <= most, task


def training_lines(settings: Settings) -> list[str]:
    """The lines with code of what trains: the net, the loop, and what calls it."""
    text = script(settings)
    lines = text[text.index("\ndef net(") :].splitlines()
    return [line for line in lines if line.strip() and not line.lstrip().startswith("#")]


@pytest.mark.parametrize("table", [POINTS, NUMBERS, CHOSEN, Table(CHOSEN.text, "links", ("Notiz",))])
def test_a_table_is_read_from_a_file_as_the_run_reads_it(table, executed):
    settings = settings_of({"table": table, "batch": 8, "op": "tanh", "rules": ("default",)})
    names, data = executed(settings), Run(settings, recorded=()).tensors()
    assert names["train_x"].tolist() == data.x.tolist()
    assert names["train_y"].tolist() == data.y.tolist()
    assert_the_same(names, settings)


def test_a_script_holds_nothing_of_a_visitors_table():
    cells = [f"{1234.5 + n};{['good', 'bad'][n % 3 // 2]};{'ill' if n % 2 else 'well'}" for n in range(40)]
    secret = "\n".join(["amount;diet;kind", *cells])
    text = script(Settings(table=secret, steps=STEPS))
    assert not re.search(
        "amount|diet|kind|123|good|bad|ill|well", text.partition('"""\n\n')[2].replace("fill", "")
    )


@pytest.mark.parametrize("task", take_part(LEARNING))
def test_how_a_script_is_laid_out_changes_nothing(task, monkeypatch):
    settings = settings_of({"task": task} | LEARNING[task])
    laid_out = script(settings)
    monkeypatch.setattr(layout, "format_code", lambda code: code)
    plain = script(settings)
    assert plain != laid_out
    black.assert_equivalent(plain, laid_out)


def test_a_script_ends_where_a_value_falls_to_0(executed):
    settings = settings_of(LEARNING["documents"] | {"optimiser": "momentum", "lr": 1e-3})
    run = Run(settings, recorded=())
    run.advance(STEPS)
    assert run.snapshot().fallen["lsq"]
    names = executed(settings)
    ((op, starts),) = lines_of(names)
    losses, learned = names["train"](op, 0, starts)
    assert len(losses) - 1 == run.snapshot().diverged["lsq"]
    assert learned["s"][0] <= 0
