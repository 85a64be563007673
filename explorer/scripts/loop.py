"""The training of a script: one function that trains, and the loop over lines and seeds that calls it."""

from collections.abc import Sequence
from textwrap import indent

from explorer.scripts.functions import Line, has_turns
from explorer.scripts.net import example_of, seen
from explorer.training import Settings, Task
from explorer.training.instruments.instrument import op_layers
from explorer.training.losses import squared_error

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
_RATED_APART = 'optimiser.param_groups[1]["lr"] = optimiser.param_groups[0]["lr"] * {times}'
_NUMBERS = "{name: [each.item() for each in own] for name, own in learned.items()}"
_BELOW = " or any(each <= 0 for name in {names} for each in learned.get(name, ()))"


def train_code(settings: Settings, task: Task, data: str) -> str:
    """The function ``train``; ``data``: the code that makes them, for where each seed draws its own."""
    example = example_of(settings)
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
        given=seen(settings),
        fallen=_fallen(settings),
        zeroed="set_to_none=False" if settings.learn and has_turns(settings) else "",
        rates=f"    rates = {rates}  # by the step from which on they hold" if rates else "",
        step="step" if changes else "_",
        changes=indent("\n".join(changes), 8 * " "),
        optimiser=_OPTIMISERS[settings.optimiser].format(what=what, lr=settings.lr),
        steps=settings.steps,
        batch=indent(batch.format(rows=rows, batch=settings.batch), 8 * " "),
        loss=_SQUARES if task.loss is squared_error else _LOSSES[are_numbers],
        score=_JUDGED.format(given=seen(settings)) if task.metric else "",
        returned=", ".join(returned),
    )


def _changes(settings: Settings) -> list[str]:
    """What is done before a step because of branches."""
    rated = any(name == "lr" for _, name, _ in settings.branch)
    rates = [_RATED, *([_RATED_APART.format(times=settings.learn_rate)] if settings.learn else [])]
    return [_LATER] * has_turns(settings) + rates * rated


def _apart(settings: Settings) -> str:
    """What makes the parameters that learn."""
    if not settings.learn:
        return ""
    made = _LEARNED.format(layers=op_layers(settings), lr=settings.lr, times=settings.learn_rate)
    return made + _UNUSED if has_turns(settings) else made


def _fallen(settings: Settings) -> str:
    """The condition that something has learned a value at which its formulas break."""
    positive = tuple(each.name for each in settings.learned if each.positive)
    return _BELOW.format(names=positive) if positive else ""


def _arguments(settings: Settings) -> list[str]:
    """Those of ``train``."""
    return ["op", "seed", *["starts"] * bool(settings.learn), *["later"] * has_turns(settings)]


def main_code(settings: Settings, task: Task, lines: Sequence[Line]) -> str:
    """The loop over lines and seeds, which prints how each ends."""
    turns, arguments = has_turns(settings), _arguments(settings)
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
    if has_turns(settings):
        parts.append(_turned(line))
    return f"({', '.join(parts)})" if len(parts) > 1 else line.function


def _turned(line: Line) -> str:
    """The functions that take the place of another, where they are others."""
    before = [line.function, *line.later.values()]
    pairs = zip(line.later.items(), before, strict=False)
    return f"{{{', '.join(f'{step}: {each}' for (step, each), last in pairs if each != last)}}}"
