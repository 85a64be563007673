"""A run as a plain PyTorch script: the rules, the net and the loop written out, with torch alone."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from textwrap import fill, indent

from torch import Generator

from explorer.catalogue import Op, Rule, find_op, find_rule, values
from explorer.snippets import function_code
from explorer.snippets.layout import WIDTH, module
from explorer.training import TASKS, Draw, Settings, Task
from explorer.training.losses import squared_error

_IMPORTS = (
    {"csv": "import csv", "itertools": "import itertools", "math": "import math"},
    {
        "np": "import numpy as np",
        "load_digits": "from sklearn.datasets import load_digits",
        "torch": "import torch",
        "Generator": "from torch import Generator, Tensor",
        "Tensor": "from torch import Tensor",
    },
)
_NETS = {
    "activations": """
for number, (weights, *bias) in enumerate(layers):
    x = op(x) if number else x
    x = {x}
return x
""",
    "weights": """
for number, (latent, *bias) in enumerate(layers):
    unit = len(latent) ** 0.5  # what the op sees has about unit scale
    weights = op(latent * unit) / unit
    x = x.relu() if number else x
    x = {x}
return x
""",
    "spikes": """
due = ((1 - x) * 7).round().where(x > 0.1, 8)  # bright pixels fire early, faint ones never
spikes = [(due == time).to(x.dtype) for time in range(8)]
for weights, *bias in layers[:-1]:
    charge, fired = 0.0, []
    for current in {currents}.chunk(8):
        potential = charge + current
        fired.append(op(potential - 1))
        charge = 0.9 * potential * (1 - fired[-1].detach())  # who fired starts from 0
    spikes = fired
# The last units leak and never fire: what they get at a time stays in their mean potential for so long.
weights, *bias = layers[-1]
stays = [sum(0.9**age for age in range(8 - time)) / 8 for time in range(8)]
faded = sum(spike * share for spike, share in zip(spikes, stays))
return {faded}
""",
}
_OPTIMISERS = {
    "sgd": "torch.optim.SGD(parameters, lr={lr})",
    "momentum": "torch.optim.SGD(parameters, lr={lr}, momentum=0.9)",
    "adam": "torch.optim.Adam(parameters, lr={lr})",
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
    parameters = [each.requires_grad_() for layer in layers for each in layer]
    optimiser = {optimiser}
    losses = []
{rates}
    for {step} in range({steps}):
{changes}
{batch}
        output = net(x, layers, op)
        loss = {loss}
        losses.append(loss.item())
        if not math.isfinite(losses[-1]):
            break
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
{score}
"""
_JUDGED = """
    with torch.no_grad():
        held = net(held_x, layers, op)
    return losses, {score}
"""
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
_LATER = "op = later.get(step, op)"
_RATED = 'optimiser.param_groups[0]["lr"] = rates.get(step, optimiser.param_groups[0]["lr"])'


def script(settings: Settings) -> str:
    """Python source that trains what a run of these settings trains, with torch alone.

    Digits come from scikit-learn; a table is read from ``table.csv`` with NumPy. Its ``train(op, seed)``
    returns the loss of every step and, where something is held out, the score on it. On the machine of the
    run they are the run's bit for bit where a step has a power of two of examples, 16 or more, and hidden
    layers have 16 units or more. Otherwise, and for the documents' task under plain descent, rounding parts
    them; of spiking units and levels it may move one, and all that follows. Where the settings branch, the
    script does so too: ``train(op, seed, later)`` goes on with another function from the steps in ``later``
    on.

    Args:
        settings: as for ``Run``.

    Raises:
        ValueError: a parameter learns: no script says that.
    """
    if settings.learn:
        raise ValueError(f"{', '.join(settings.learn)} learns, which a script does not say")
    task = TASKS[settings.task]
    functions, lines = _lines(settings)
    data = task.source(settings.table)
    fixed = data + _SPLIT if task.metric else ""
    parts = [
        _HEAD,
        fixed,
        _net(settings, task),
        _train(settings, task, data),
        _main(settings, task, lines),
    ]
    code = module("".join([*functions.values(), *parts]), *_IMPORTS)
    words = fill(f"{task.label}. {task.purpose}", WIDTH)
    return f'"""{words}\n\nTrains with each rule, and prints how it ends.\n"""\n\n{code}'


def _lines(settings: Settings) -> tuple[dict[str, str], list[tuple[str, dict[int, str]]]]:
    """All functions, code by name; and of each line the one it begins with, and those later by their step."""
    steps = sorted({step for step, name, _ in settings.branch if name != "lr"})
    functions: dict[str, str] = {}
    places: dict[str, dict[str, int]] = {"op": {}, "rule": {}}
    found: list[tuple[str, dict[int, str]]] = []
    for line, _ in enumerate(settings.rules):
        names: dict[int, str] = {}
        for step in (-1, *steps):
            course = settings.course(step)
            op, rule = find_op(course.op), find_rule(course.rules[line])
            names[step], code = _function(op, rule, places, settings)
            functions[names[step]] = code
        found.append((names[-1], {step: names[step] for step in steps}))
    return functions, found


def _function(op: Op, rule: Rule, places: dict[str, dict[str, int]], settings: Settings) -> tuple[str, str]:
    """Name and code; own formulas are told apart by the order in which they come."""
    its = values(op, rule, settings.parameters)
    op_place, place = (
        known.setdefault(key, len(known) + 1)
        for known, key in ((places["op"], op.key), (places["rule"], rule.key))
    )
    named = rule if rule.key.isidentifier() else replace(rule, key=f"rule_{place}")
    own = op.key.isidentifier() or op_place == 1
    return function_code(op if own else replace(op, key=f"op_{op_place}"), named, its)


def _net(settings: Settings, task: Task) -> str:
    faded = "bias[0] * sum(stays)"
    body = _NETS[task.place].format(
        x=_product("x", settings), currents=_product("torch.cat(spikes)", settings),
        faded=_product("faded", settings, faded),
    )  # fmt: skip
    return "\ndef net(x, layers, op):" + indent(body, "    ")


def _product(x: str, settings: Settings, bias: str = "bias[0]") -> str:
    return f"torch.addmm({bias}, {x}, weights)" if settings.bias else f"({x} @ weights)"


def _train(settings: Settings, task: Task, data: str) -> str:
    example = task.data(Draw(Generator(), settings.batch, settings.table))
    inputs, outputs = example.widths
    rows, are_numbers = len(example.train.x), example.train.y.is_floating_point()
    rates = {step: value for step, name, value in settings.branch if name == "lr"}
    changes = [_LATER] * _turns(settings) + [_RATED] * bool(rates)
    batch = _DRAWN if rows > settings.batch else "x, y = train_x, train_y"
    return _TRAIN.format(
        data="" if task.metric else indent(data.format(batch=settings.batch), "    "),
        scale=settings.init_scale if task.unit_weights else f"({settings.init_scale} / a**0.5)",
        ends=(inputs, *settings.widths, outputs),
        zeros=", torch.zeros(1, each.shape[1])" if settings.bias else "",
        biases=_BIASES.format(deviation=task.start_bias) if settings.bias and task.start_bias else "",
        arguments="op, seed, later" if _turns(settings) else "op, seed",
        rates=f"    rates = {rates}  # by the step from which on they hold" if rates else "",
        step="step" if changes else "_",
        changes=indent("\n".join(changes), 8 * " "),
        optimiser=_OPTIMISERS[settings.optimiser].format(lr=settings.lr),
        steps=settings.steps,
        batch=indent(batch.format(rows=rows, batch=settings.batch), 8 * " "),
        loss=_SQUARES if task.loss is squared_error else _LOSSES[are_numbers],
        score=_JUDGED.format(score=_SCORES[are_numbers]) if task.metric else "    return losses",
    )


def _main(settings: Settings, task: Task, lines: Iterable[tuple[str, Mapping[int, str]]]) -> str:
    turns = _turns(settings)
    written = (_pair(name, later) if turns else name for name, later in lines)
    return _MAIN.format(
        each="op, later" if turns else "op",
        lines=", ".join(written) + ",",
        arguments="op, seed, later" if turns else "op, seed",
        first=settings.seed,
        end=settings.seed + settings.seeds,
        found="losses, score" if task.metric else "losses",
        then=_THEN if turns else "",
        told=", held-out score {score:.4f}" if task.metric else "",
    )


def _pair(name: str, later: Mapping[int, str]) -> str:
    """A function, and those that take its place, where they are others."""
    before = [name, *later.values()]
    turns = [
        f"{step}: {each}" for (step, each), last in zip(later.items(), before, strict=False) if each != last
    ]
    return f"({name}, {{{', '.join(turns)}}})"


def _turns(settings: Settings) -> bool:
    """Whether any line goes on with another op or rule."""
    return any(name != "lr" for _, name, _ in settings.branch)
