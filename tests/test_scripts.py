"""Each task's script, run on its own: its losses and its score are the run's."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
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


@pytest.fixture
def unformatted(monkeypatch: pytest.MonkeyPatch):
    """A script before it is laid out, which takes longer than most of them train."""
    monkeypatch.setattr(layout, "formatted", lambda code: code)


@pytest.fixture
def executed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unformatted: None):
    """Runs the script of some settings where its table lies, and returns its names and its text.

    What its own loop has trained is not trained once more.
    """
    monkeypatch.chdir(tmp_path)

    def execute(settings: Settings) -> dict[str, Any]:
        if settings.table is not None:
            Path("table.csv").write_text(Table.of(settings.table).text, encoding="utf-8", newline="")
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


def settings_of(task: str, steps: int = STEPS, **given: Any) -> Settings:
    return Settings(task=task, steps=steps, device="cpu", **given)


def assert_the_same(names: dict[str, Any], settings: Settings, functions: list[str]) -> None:
    """Losses and score of every rule and seed, to the last bit."""
    run = Run(settings, recorded=())
    run.advance(settings.steps)
    snapshot = run.snapshot()
    for rule, function in zip(snapshot.losses, functions, strict=True):
        for index in range(settings.seeds):
            result = names["train"](names[function], settings.seed + index)
            losses, *score = result if isinstance(result, tuple) else (result,)
            assert np.float32(losses).tolist() == snapshot.seed_losses[rule][index].tolist(), (rule, index)
            if score:
                assert score[0] == pytest.approx(snapshot.score[rule][index], rel=1e-5), (rule, index)


@pytest.mark.parametrize(("task", "optimiser"), take_part(product(DENSE, OPTIMISERS)))
def test_a_dense_nets_script_gives_the_runs_bits(task, optimiser, executed, capsys):
    settings = settings_of(task, steps=12, optimiser=optimiser, seeds=2, seed=3)
    op = settings.op
    names = executed(settings)
    assert_the_same(names, settings, [f"{op}_{rule}" for rule in settings.rules])
    said = capsys.readouterr().out.splitlines()
    assert len(said) == 2 * len(settings.rules)
    assert all(re.search(r"seed [34]: loss [\d.e+-]+", line) for line in said)


@pytest.mark.parametrize("rule", ["straight_through", "triangle", "sigmoid_surrogate"])
def test_a_spiking_nets_script_gives_the_runs_bits(rule, executed):
    settings = settings_of("spikes", rules=(rule,))
    assert_the_same(executed(settings), settings, [f"step_{rule}"])


@pytest.mark.parametrize(
    "branch", [[], [(9, "op", "relu"), (9, "rule", "default")]], ids=["all the way", "from a step on"]
)
def test_units_that_leak_and_do_not_fire_go_in_the_script_as_in_the_run(branch, executed):
    """A little move of a weight moves every loss: spikes would hide it."""
    op, rule = ("step", "triangle") if branch else ("relu", "default")
    settings = Settings(task="spikes", op=op, rules=(rule,), branch=branch, steps=20, device="cpu")
    assert_it_branches(executed(settings), settings)


TINY = [
    {"task": "moons", "batch": 3, "seeds": 2},
    {"task": "circles", "batch": 12, "hidden": 7, "bias": False},
    {"task": "xor", "hidden": (2, 3), "optimiser": "sgd"},
    {"task": "binary weights", "batch": 1, "hidden": 1, "op": "sign", "rules": ("clipped",)},
    {"task": "spikes", "batch": 1, "hidden": 2, "op": "relu", "bias": False},
]


@pytest.mark.parametrize("given", TINY, ids=[each["task"] for each in TINY])
def test_a_tiny_nets_script_gives_the_runs_bits(given, executed):
    """Of few numbers torch adds up in another order where several products go in one call."""
    settings = settings_of(**{"op": "tanh", "rules": ("default",)} | given)
    assert "bmm(" in script(settings)
    assert_it_branches(executed(settings), settings)


@pytest.mark.parametrize("given", [{}, {"hidden": (7, 5)}, {"batch": 3, "hidden": 2}], ids=str)
@pytest.mark.parametrize("rule", ["default", "leaky_backward"])
def test_the_documents_loop_is_the_runs_for_fifty_steps(rule, given, executed):
    """The run spares most of the first product there, and so does the script."""
    settings = Settings(rules=(rule,), steps=50, device="cpu", seeds=2, **given)
    assert_it_branches(executed(settings), settings)


def test_a_script_trains_in_about_thirty_lines():
    """The rest are the functions of ops with rules, and the data."""
    assert len(training_lines(Settings(device="cpu"))) <= 33
    for task in DENSE:
        most = 50 if "convolution" in task or "kernels" in task else 40  # maps are cut into patches
        assert len(training_lines(settings_of(task))) <= most, task


def training_lines(settings: Settings) -> list[str]:
    """The lines with code of what trains: the net, the loop, and what calls it."""
    text = script(settings)
    lines = text[text.index("\ndef net(") :].splitlines()
    return [line for line in lines if line.strip() and not line.lstrip().startswith("#")]


@pytest.mark.parametrize("table", [POINTS, NUMBERS, CHOSEN, Table(CHOSEN.text, "links", ("Ecke", "Notiz"))])
def test_a_table_is_read_from_a_file_as_the_run_reads_it(table, executed):
    settings = Settings(table=table, steps=STEPS, batch=8, op="tanh", rules=("default",), device="cpu")
    names = executed(settings)
    run = Run(settings, recorded=())
    data = run.tensors()
    assert names["train_x"].tolist() == data.x.tolist()
    assert names["train_y"].tolist() == data.y.tolist()
    run.advance(STEPS)
    losses, score = names["train"](names["tanh_default"], 0)
    assert np.float32(losses).tolist() == run.snapshot().losses["default"].tolist()
    assert score == pytest.approx(run.snapshot().score["default"][0], abs=1e-5)


def test_nets_of_any_shape(executed):
    settings = settings_of(
        "moons", rules=("clipped",), hidden=(8, 4, 6), bias=False, init_scale=2.0, batch=16
    )
    assert_the_same(executed(settings), settings, ["sign_clipped"])


def test_own_formulas_are_told_apart(executed):
    rules = ("formula: g * (abs(x) <= w)", "formula: g / (1 + abs(x))")
    settings = settings_of("circles", op="formula: tanh(k * x)", rules=rules, parameters={"w": 2.0, "k": 3.0})
    assert_the_same(executed(settings), settings, ["custom_rule_1", "custom_rule_2"])


BRANCHES = [
    ("digits", [(7, "lr", 0.001), (19, "lr", 0.05)], {}),
    ("moons", [(9, "clipped", "reste"), (20, "clipped", "clipped")], {}),
    ("circles", [(9, "op", "round"), (15, "rule", "straight_through"), (15, "lr", 0.002)], {"seeds": 2}),
    ("spiral", [(0, "clipped", "zero")], {"optimiser": "momentum"}),
    ("binary weights", [(11, "clipped", "straight_through")], {"optimiser": "sgd"}),
    ("xor", [(5, "op", "formula: tanh(3*x)"), (9, "clipped", "formula: g * (abs(x) <= 2)")], {}),
]


@pytest.mark.parametrize(("task", "branch", "more"), BRANCHES, ids=[each[0] for each in BRANCHES])
def test_a_script_branches_where_the_run_does(task, branch, more, executed):
    settings = settings_of(task, op="sign", rules=("default", "clipped"), branch=branch, **more)
    assert_it_branches(executed(settings), settings)


LATER = [(7, "lr", 0.002), (19, "default", "straight_through"), (30, "op", "sign"), (40, "rule", "clipped")]
FIRING = [(7, "lr", 0.002), (19, "boxcar", "triangle"), (40, "rule", "sigmoid_surrogate")]
LEAKY = [(7, "lr", 5e-7), (19, "default", "leaky_backward"), (30, "op", "tanh"), (40, "lr", 1e-6)]
OTHER_NETS = {
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


@pytest.mark.parametrize("net", take_part(OTHER_NETS))
def test_a_script_of_any_net_branches_for_fifty_steps(net, executed):
    given = {"rules": ("default", "straight_through")} | OTHER_NETS[net]
    settings = Settings(**given, steps=50, device="cpu")
    straight = Run(replace(settings, branch=()), recorded=())
    straight.advance(50)
    losses = assert_it_branches(executed(settings), settings)
    assert repr(losses) != repr(straight.snapshot().losses)


def assert_it_branches(names: dict[str, Any], settings: Settings) -> Mapping[str, Any]:
    """Losses of every line, to the last bit, and its score; the run's losses."""
    run = Run(settings, recorded=())
    run.advance(settings.steps)
    snapshot = run.snapshot()
    for rule, (function, later) in zip(snapshot.losses, lines_of(names), strict=True):
        for index in range(settings.seeds):
            given = [later] if later is not None else []
            result = names["train"](function, settings.seed + index, *given)
            losses, *score = result if isinstance(result, tuple) else (result,)
            np.testing.assert_array_equal(np.float32(losses), snapshot.seed_losses[rule][index])
            if score:
                assert score[0] == pytest.approx(snapshot.score[rule][index], rel=1e-5), rule
    return snapshot.losses


def lines_of(names: dict[str, Any]) -> list[tuple[Any, Any]]:
    """The functions of each line, with what follows them, as the script's last loop lists them."""
    loop = r"^for op(, starts)?(, later)? in (\(.*\)):\n    for seed"
    listed = re.search(loop, names[TEXT], re.DOTALL | re.MULTILINE)
    result = eval(listed[3], names)
    return list(result) if listed[1] or listed[2] else [(function, None) for function in result]


DRAWN = {
    "every estimator": {
        "task": "digits",
        "rules": ("sigmoid_st", "reinmax", "st_gumbel", "reinforce", "arm", "disarm"),
        "seeds": 2,
        "seed": 1,
    },
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
        "task": "digits",
        "op": "relu",
        "rules": ("default", "sigmoid_st"),
        "branch": [(3, "op", "gumbel_sigmoid"), (7, "op", "round"), (9, "default", "straight_through")],
    },
    "until a step": {
        "task": "xor",
        "rules": ("disarm",),
        "branch": [(5, "op", "tanh"), (5, "rule", "default")],
    },
}


@pytest.mark.parametrize("case", take_part(DRAWN))
def test_a_script_draws_what_the_run_draws(case, executed):
    settings = Settings(**{"op": "bernoulli"} | DRAWN[case], steps=12, device="cpu")
    assert_it_branches(executed(settings), settings)


@pytest.mark.parametrize(
    ("op", "rule", "name"), [("bernoulli", "reinforce_baseline", "b"), ("gumbel_sigmoid", "default", "tau")]
)
def test_what_learns_and_what_is_drawn_stand_in_one_script(op, rule, name, executed):
    settings = settings_of("digits", op=op, rules=(rule,), learn=(name,), learn_rate=5.0)
    run = Run(settings, recorded=())
    run.advance(STEPS)
    names = executed(settings)
    ((function, starts),) = lines_of(names)
    losses, _, learned = names["train"](function, 0, starts)
    snapshot = run.snapshot()
    assert np.float32(losses).tolist() == snapshot.seed_losses[rule][0].tolist()
    assert np.float32(learned[name]).tolist() == snapshot.learned[rule][name][0].tolist()
    assert learned[name] != [starts[name]]


def test_a_learning_rate_changed_on_the_way_stands_in_the_script(executed):
    run = Run(settings_of("moons", rules=("clipped",)), recorded=())
    run.advance(10)
    run.change(lr=0.1)
    run.advance(STEPS)
    assert_the_same(executed(run.settings), run.settings, [f"{run.settings.op}_clipped"])


def test_a_script_holds_nothing_of_a_visitors_table():
    secret = "amount;kind\n" + "\n".join(f"{1234.5 + n};{'ill' if n % 2 else 'well'}" for n in range(40))
    text = script(Settings(table=secret, steps=STEPS))
    assert not re.search("amount|kind|123|ill|well", text.partition('"""\n\n')[2].replace("fill", ""))


LEVELS: dict[str, float] = {"s": 0.5, "qmin": -1.0, "qmax": 1.0}
SPIKE: dict[str, Any] = {
    "op": "formula: where(x - t > 0, 1, 0)",
    "rules": ("formula: g / (1 + abs(x - t))**2; t: sum(-1 * g / (1 + abs(x - t))**2)",),
    "learn": ("t",), "parameters": {"t": 0.2}, "hidden": 6,
}  # fmt: skip
QUANTISED: dict[str, Any] = {
    "op": "quantize", "rules": ("lsq", "quantize_masked", "default"), "learn": ("s",), "parameters": LEVELS,
}  # fmt: skip
BOUNDS: dict[str, Any] = {
    "op": "clamp", "rules": ("pact", "learned_clamp", "default"), "learn": ("lo", "pact.hi"),
    "parameters": {"hi": 0.5},
}  # fmt: skip
# The places of the op, by a task; two layers of units too.
LEARNING: dict[str, dict[str, Any]] = {
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


def learning_settings(case: str, **given: Any) -> Settings:
    return settings_of(**{"task": case, **given, **LEARNING[case]})


@pytest.mark.parametrize("task", take_part(LEARNING))
def test_how_a_script_is_laid_out_changes_nothing(task, monkeypatch):
    settings = learning_settings(task)
    laid_out = script(settings)
    monkeypatch.setattr(layout, "formatted", lambda code: code)
    plain = script(settings)
    assert plain != laid_out
    black.assert_equivalent(plain, laid_out)


def assert_the_same_is_learned(names: dict[str, Any], settings: Settings) -> None:
    """Losses of every rule and seed, and the values at the end, to the last bit."""
    run = Run(settings, recorded=())
    run.advance(settings.steps)
    snapshot, weights = run.snapshot(), run.weights()
    for number, (rule, (op, starts, *later)) in enumerate(
        zip(snapshot.losses, lines_of(names), strict=True), 1
    ):
        key = rule if rule.isidentifier() else f"rule_{number}"
        for index in range(settings.seeds):
            losses, *_, learned = names["train"](op, settings.seed + index, starts, *later)
            np.testing.assert_array_equal(np.float32(losses), snapshot.seed_losses[rule][index], rule)
            assert learned.keys() == starts.keys()
            for name, by_layer in learned.items():
                if name not in snapshot.learned[rule]:
                    continue
                for layer, values in enumerate(by_layer):
                    ends = weights[f"{key}.{settings.seed + index}.op.{layer}.{name}"]
                    np.testing.assert_array_equal(np.float32(values), ends.numpy(), rule)
                    assert not np.isclose(values, starts[name], rtol=1e-6).all(), "it has moved"


@pytest.mark.parametrize(("task", "optimiser"), take_part(product(LEARNING, OPTIMISERS)))
def test_what_learns_goes_in_the_script_as_in_the_run(task, optimiser, executed):
    settings = learning_settings(task, steps=15, optimiser=optimiser, seed=3)
    assert_the_same_is_learned(executed(settings), settings)


@pytest.mark.parametrize("optimiser", OPTIMISERS)
@pytest.mark.parametrize(
    "branch",
    [
        [(9, "lsq", "quantize_masked"), (20, "lsq", "lsq"), (12, "lr", 0.02)],
        [(9, "op", "sign"), (9, "rule", "clipped"), (20, "op", "quantize"), (20, "rule", "lsq")],
        [(9, "op", "clamp"), (9, "rule", "pact")],
    ],
    ids=["rests", "op without it", "another op learns another"],
)
def test_a_script_branches_with_what_was_learned(branch, optimiser, executed):
    """A parameter that no step uses for a while, or only later, goes as in the run too."""
    learned: dict[str, Any] = (
        {"learn": ("lsq.s", "hi")} if ("op", "clamp") in [each[1:] for each in branch] else {}
    )
    given = LEARNING["ternary weights"] | {"rules": ("lsq",), "learn_rate": 0.3} | learned
    settings = settings_of("ternary weights", optimiser=optimiser, branch=branch, **given)
    assert_the_same_is_learned(executed(settings), settings)


def test_a_script_ends_where_a_value_falls_to_0(executed):
    settings = settings_of("documents", **LEARNING["documents"] | {"optimiser": "momentum", "lr": 1e-3})
    run = Run(settings, recorded=())
    run.advance(STEPS)
    assert run.snapshot().fallen["lsq"]
    names = executed(settings)
    ((op, starts),) = lines_of(names)
    losses, learned = names["train"](op, 0, starts)
    assert len(losses) - 1 == run.snapshot().diverged["lsq"]
    assert learned["s"][0] <= 0
