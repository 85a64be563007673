"""A run as a plain PyTorch script: the rules, the net and the loop written out, with torch alone."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from math import prod
from textwrap import fill, indent
from typing import NamedTuple

from torch import Generator

from explorer.catalogue import Op, Rule, find_op, find_rule, values
from explorer.snippets import function_code
from explorer.snippets.layout import WIDTH, module
from explorer.training import TASKS, Data, Draw, Settings, Task
from explorer.training.boundary import joined, learned_with
from explorer.training.instruments.instrument import op_layers
from explorer.training.layers.spiking import TIMES
from explorer.training.lockstep import spares
from explorer.training.losses import squared_error

_IMPORTS = (
    {"csv": "import csv", "itertools": "import itertools", "math": "import math"},
    {
        "np": "import numpy as np",
        "load_digits": "from sklearn.datasets import load_digits",
        "torch": "import torch",
        "Generator": "from torch import Generator",
        "Tensor": "from torch import Tensor",
    },
)
_NETS = {
    "activations": """
for number, (weights, *bias) in enumerate(layers):
    x = op(x{before}) if number else x
    x = {x}
return x
""",
    "weights": """
for number, (latent, *bias) in enumerate(layers):
    unit = len(latent) ** 0.5  # what the op sees has about unit scale
    weights = op(latent * unit{here}) / unit
    x = x.relu() if number else x
    x = {x}
return x
""",
    "spikes": """
due = ((1 - x) * 7).round().where(x > 0.1, 8)  # bright pixels fire early, faint ones never
spikes = [(due == time).to(x.dtype) for time in range(8)]
for {each} in {hidden}:
    charge, fired = 0.0, []
    for current in {currents}.chunk(8):
        potential = charge + current
        fired.append(op(potential - 1{here}))
        charge = potential * (0.9 * (1 - fired[-1].detach()))  # who fired starts from 0
    spikes = fired
# The last units leak and never fire: what they get at a time stays in their mean potential for so long.
weights, *bias = layers[-1]
stays = [sum(0.9**age for age in range(8 - time)) / 8 for time in range(8)]
faded = sum(spike * share for spike, share in zip(spikes, stays))
return {faded}
""",
}
_GIVEN = ", *(learned[name][{layer}] for name in learns[op])"
_OPTIMISERS = {
    "sgd": "torch.optim.SGD({what}, lr={lr})",
    "momentum": "torch.optim.SGD({what}, lr={lr}, momentum=0.9)",
    "adam": "torch.optim.Adam({what}, lr={lr})",
}
_SQUARES = "(output - y).square().sum()"
# By whether the answers are numbers rather than classes.
_LOSSES = {
    True: "(output - y).square().sum() / output.numel()",
    False: "output.log_softmax(1).gather(1, y[:, None]).sum() / -len(y)  # cross-entropy",
}
_SCORES = {
    True: "(1 - (held - held_y).square().sum() / (held_y - held_y.mean(0)).square().sum()).item()",
    False: "(held.argmax(1) == held_y).float().mean().item()",
}
_SPLIT = """
# Shuffled and split always alike; what stands between is for choosing rates.
order = torch.randperm(len(x), generator=torch.Generator().manual_seed(0))
x, y = x[order], y[order]
train_x, train_y = x[: -2 * judged], y[: -2 * judged]
held_x, held_y = x[-judged:], y[-judged:]
"""
_TINY = 400  # multiplications, below which torch.bmm has a loop of its own
_BATCHED = """
# The run's way to multiply: of so few numbers torch adds up in another order without the [None].
"""
_PROMISES = {
    False: "Trains with each rule, and prints how it ends. Its losses are those of the run on the same "
    "machine's CPU, bit for bit.",
    True: "Trains with each rule, and prints how it ends. Its losses are those of the run up to rounding, by "
    "which they differ from exact ones as well: the run takes a shorter way through the first layer.",
}
_HEAD = """
torch.set_num_threads(1)  # with another number the last bits differ
"""
_TRAIN = """
def train({arguments}):
    generator = torch.Generator().manual_seed(seed)
{data}
    weights = [torch.randn(a, b, generator=generator) * {scale} for a, b in itertools.pairwise({ends})]
    layers = [[each{zeros}] for each in weights]
{biases}
    parameters = [each.requires_grad_() for layer in layers for each in layer]{learned}
    optimiser = {optimiser}
    losses = []
{rates}
    for {step} in range({steps}):
{changes}
{batch}
        output = net({given})
        loss = {loss}
        losses.append(loss.item())
        if not math.isfinite(losses[-1]){fallen}:
            break
        optimiser.zero_grad({zeroed})
        loss.backward()
        optimiser.step(){score}
    return {returned}
"""
_JUDGED = """

    with torch.no_grad():
        held = net(held_{given})"""
_LEARNED = """
    # Each gets a value of its own in every layer with the op, and what moves it a rate of its own.
    learned = {{name: [torch.tensor(start) for _ in range({layers})] for name, start in starts.items()}}
    apart = [each.requires_grad_() for own in learned.values() for each in own]
    groups = [{{"params": parameters}}, {{"params": apart, "lr": {lr} * {times}}}]"""
_UNUSED = """
    for each in apart:  # for where the op does not use it
        each.grad = torch.zeros(())"""
_DRAWN = """
chosen = torch.randint({rows}, ({batch},), generator=generator)
x, y = train_x[chosen], train_y[chosen]
"""
_BIASES = """
    for _, bias in layers[:-1]:
        bias.copy_(torch.randn(bias.shape, generator=generator) * {deviation})
"""
_MAIN = """
for {each} in ({lines}):
    for seed in range({first}, {end}):
        {found} = train({arguments})
        print(f"{{op.__name__}}{then}, seed {{seed}}: loss {{losses[-1]:.6g}}{told}")
"""
_THEN = "{''.join(f' until {step}, then {each.__name__}' for step, each in later.items())}"
_VALUES = "{''.join(f', {name} {each:.4g}' for name, own in learned.items() for each in own)}"
_LATER = "op = later.get(step, op)"
_RATED = 'optimiser.param_groups[0]["lr"] = rates.get(step, optimiser.param_groups[0]["lr"])'
_RATED_APART = 'optimiser.param_groups[1]["lr"] = optimiser.param_groups[0]["lr"] * {times}'
_NUMBERS = "{name: [each.item() for each in own] for name, own in learned.items()}"
_BELOW = " or any(each <= 0 for name in {names} for each in learned.get(name, ()))"


class Line(NamedTuple):
    """A rule of a run as a script has it.

    Attributes:
        function: the name of the one it begins with.
        later: the names of all that follow, by the step from which on they do.
        starts: what learns in one of them, with the value before the first step.
    """

    function: str
    later: dict[int, str]
    starts: dict[str, float]


class Functions(NamedTuple):
    """The functions of a script: the code of each by name, and the parameters that learn in it."""

    code: dict[str, str]
    learns: dict[str, tuple[str, ...]]


def script(settings: Settings) -> str:
    """Python source that trains what a run of these settings trains, with torch alone.

    Digits come from scikit-learn; a table is read from ``table.csv`` with NumPy. Its ``train(op, seed)``
    returns the loss of every step and, where something is held out, the score on it. The losses are those
    of a run on this machine's CPU, bit for bit, but for the documents' task under plain descent: there the
    run spares most of the first product, and rounding parts them by up to 2e-6 of the loss over 50 steps.
    (Either is as far from a run in float64.) Where the settings branch, the script does so too:
    ``train(op, seed, later)`` goes on with another function from the steps in ``later`` on.

    Where parameters learn, ``train(op, seed, starts)`` takes their first values by name, and returns their
    last ones too, by name and layer. They are the run's as its losses are.

    Args:
        settings: as for ``Run``.
    """
    task = TASKS[settings.task]
    functions, lines = _lines(settings)
    data = task.source(settings.table)
    parts = [
        _learns(functions) if settings.learn else "",
        _HEAD,
        data + _SPLIT if task.metric else "",
        _net(settings, task),
        _train(settings, task, data),
        _main(settings, task, lines),
    ]
    code = module("".join([*functions.code.values(), *parts]), *_IMPORTS)
    told = (f"{task.label}. {task.purpose}", _PROMISES[spares(settings)])
    what, promise = (fill(each, WIDTH) for each in told)
    return f'"""{what}\n\n{promise}\n"""\n\n{code}'


def _lines(settings: Settings) -> tuple[Functions, list[Line]]:
    """All functions, and the lines that they stand in."""
    steps = sorted({step for step, name, _ in settings.branch if name != "lr"})
    functions = Functions({}, {})
    places: dict[str, dict[str, int]] = {"op": {}, "rule": {}}
    starts = _starts(settings)
    found: list[Line] = []
    for line, _ in enumerate(settings.rules):
        names: dict[int, str] = {}
        for step in (-1, *steps):
            course = settings.course(step)
            op, rule = find_op(course.op), find_rule(course.rules[line])
            names[step] = _add(functions, op, rule, places, settings)
        own = {each for name in names.values() for each in functions.learns[name]}
        begins = {name: value for name, value in starts[line].items() if name in own}
        found.append(Line(names[-1], {step: names[step] for step in steps}, begins))
    return functions, found


def _starts(settings: Settings) -> list[dict[str, float]]:
    """By line the values with which all begins that learns in the run."""
    op, rules, _ = settings.course(-1)
    both = joined(op, rules, settings.parameters, settings.learn, settings.learned)
    names = [each.name for each in both.learned]
    return [dict(zip(names, values, strict=True)) for values in both.starts] or [{} for _ in rules]


def _add(
    functions: Functions, op: Op, rule: Rule, places: dict[str, dict[str, int]], settings: Settings
) -> str:
    """The name of an op with a rule; own formulas are told apart by the order in which they come."""
    its, learns = values(op, rule, settings.parameters), learned_with(op, rule, settings.learn)
    op_place, place = (
        known.setdefault(key, len(known) + 1)
        for known, key in ((places["op"], op.key), (places["rule"], rule.key))
    )
    named = rule if rule.key.isidentifier() else replace(rule, key=f"rule_{place}")
    own = op.key.isidentifier() or op_place == 1
    name, code = function_code(op if own else replace(op, key=f"op_{op_place}"), named, its, learns)
    functions.code[name], functions.learns[name] = code, learns
    return name


def _learns(functions: Functions) -> str:
    each = ", ".join(f"{name}: {names!r}" for name, names in functions.learns.items())
    return f"\n# The arguments behind x, which get a gradient.\nlearns = {{{each}}}\n"


def _net(settings: Settings, task: Task) -> str:
    faded = "bias[0] * sum(stays)"
    given = {"here": "number", "before": "number - 1"} if settings.learn else {}
    body = _NETS[task.place].format(
        x=_product("x", settings), currents=_product("torch.cat(spikes)", settings),
        faded=_product("faded", settings, faded),
        each="number, (weights, *bias)" if settings.learn else "weights, *bias",
        hidden="enumerate(layers[:-1])" if settings.learn else "layers[:-1]",
        **{at: _GIVEN.format(layer=given[at]) if given else "" for at in ("here", "before")},
    )  # fmt: skip
    note = _BATCHED if _is_tiny(settings) else ""
    return f"\n{note}def net({_seen(settings)}):" + indent(body, "    ")


def _seen(settings: Settings) -> str:
    """What the net takes."""
    return "x, layers, op, learned" if settings.learn else "x, layers, op"


def _product(x: str, settings: Settings, bias: str = "bias[0]") -> str:
    if not _is_tiny(settings):
        return f"torch.addmm({bias}, {x}, weights)" if settings.bias else f"({x} @ weights)"
    of_one = f"{x}[None], weights[None]"
    return f"torch.baddbmm({bias}, {of_one})[0]" if settings.bias else f"torch.bmm({of_one})[0]"


def _is_tiny(settings: Settings) -> bool:
    """Whether torch adds up in another order where a product of the net stands among others of its size."""
    if spares(settings):
        return False
    example = _example(settings)
    inputs, outputs = example.widths
    rows = min(settings.batch, len(example.train.x))
    times = TIMES if TASKS[settings.task].place == "spikes" else 1
    *hidden, (last, _) = pairwise((inputs, *settings.widths, outputs))
    products = [(rows * times, a, b) for a, b in hidden] + [(rows, last, outputs)]
    return any(prod(each) < _TINY or each[0] * each[2] == 1 for each in products)


def _example(settings: Settings) -> Data:
    """Data like those of the run: as many, and of the same kind."""
    return TASKS[settings.task].data(Draw(Generator(), settings.batch, settings.table))


def _train(settings: Settings, task: Task, data: str) -> str:
    example = _example(settings)
    inputs, outputs = example.widths
    rows, are_numbers = len(example.train.x), example.train.y.is_floating_point()
    rates = {step: value for step, name, value in settings.branch if name == "lr"}
    changes = _changes(settings)
    batch = _DRAWN if rows > settings.batch else "x, y = train_x, train_y"
    what = "groups" if settings.learn else "parameters"
    returned = [
        "losses",
        *([_SCORES[are_numbers]] if task.metric else []),
        *([_NUMBERS] * bool(settings.learn)),
    ]
    return _TRAIN.format(
        data="" if task.metric else indent(data.format(batch=settings.batch), "    "),
        scale=settings.init_scale if task.unit_weights else f"({settings.init_scale} / a**0.5)",
        ends=(inputs, *settings.widths, outputs),
        zeros=", torch.zeros(1, each.shape[1])" if settings.bias else "",
        biases=_BIASES.format(deviation=task.start_bias) if settings.bias and task.start_bias else "",
        arguments=", ".join(_arguments(settings)),
        learned=_apart(settings),
        given=_seen(settings),
        fallen=_fallen(settings),
        zeroed="set_to_none=False" if settings.learn and _turns(settings) else "",
        rates=f"    rates = {rates}  # by the step from which on they hold" if rates else "",
        step="step" if changes else "_",
        changes=indent("\n".join(changes), 8 * " "),
        optimiser=_OPTIMISERS[settings.optimiser].format(what=what, lr=settings.lr),
        steps=settings.steps,
        batch=indent(batch.format(rows=rows, batch=settings.batch), 8 * " "),
        loss=_SQUARES if task.loss is squared_error else _LOSSES[are_numbers],
        score=_JUDGED.format(given=_seen(settings)) if task.metric else "",
        returned=", ".join(returned),
    )


def _changes(settings: Settings) -> list[str]:
    """What is done before a step because of branches."""
    rated = any(name == "lr" for _, name, _ in settings.branch)
    rates = [_RATED, *([_RATED_APART.format(times=settings.learn_rate)] if settings.learn else [])]
    return [_LATER] * _turns(settings) + rates * rated


def _apart(settings: Settings) -> str:
    """What makes the parameters that learn."""
    if not settings.learn:
        return ""
    made = _LEARNED.format(layers=op_layers(settings), lr=settings.lr, times=settings.learn_rate)
    return made + _UNUSED if _turns(settings) else made


def _fallen(settings: Settings) -> str:
    """The condition that something has learned a value at which its formulas break."""
    positive = tuple(each.name for each in settings.learned if each.positive)
    return _BELOW.format(names=positive) if positive else ""


def _arguments(settings: Settings) -> list[str]:
    """Those of ``train``."""
    return ["op", "seed", *["starts"] * bool(settings.learn), *["later"] * _turns(settings)]


def _main(settings: Settings, task: Task, lines: Sequence[Line]) -> str:
    turns, arguments = _turns(settings), _arguments(settings)
    told = [", held-out score {score:.4f}"] * bool(task.metric) + [_VALUES] * bool(settings.learn)
    found = ["losses", *["score"] * bool(task.metric), *["learned"] * bool(settings.learn)]
    return _MAIN.format(
        each=", ".join(name for name in arguments if name != "seed"),
        lines=", ".join(_line(each, settings) for each in lines) + ",",
        arguments=", ".join(arguments),
        first=settings.seed,
        end=settings.seed + settings.seeds,
        found=", ".join(found),
        then=_THEN if turns else "",
        told="".join(told),
    )


def _line(line: Line, settings: Settings) -> str:
    """What the last loop has of a line: a function, what learns, and the functions that take its place."""
    parts = [line.function, *[repr(line.starts)] * bool(settings.learn)]
    if _turns(settings):
        parts.append(_turned(line))
    return f"({', '.join(parts)})" if len(parts) > 1 else line.function


def _turned(line: Line) -> str:
    """The functions that take the place of another, where they are others."""
    before = [line.function, *line.later.values()]
    pairs = zip(line.later.items(), before, strict=False)
    return f"{{{', '.join(f'{step}: {each}' for (step, each), last in pairs if each != last)}}}"


def _turns(settings: Settings) -> bool:
    """Whether any line goes on with another op or rule."""
    return any(name != "lr" for _, name, _ in settings.branch)
