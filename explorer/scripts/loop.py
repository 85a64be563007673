"""The training code of a script: the function ``train``, and the loop that calls it."""

from collections.abc import Sequence
from textwrap import indent
from typing import NamedTuple

from explorer.scripts.drawing import write_judged_op, write_training_op
from explorer.scripts.functions import Functions, Line, has_rule_changes
from explorer.scripts.net import example_of, write_net_arguments
from explorer.training import Settings, Task
from explorer.training.nets import list_channel_shapes
from explorer.training.numerics import squared_error
from explorer.training.runs import is_input_fixed

_OPTIMISERS = {
    "sgd": "torch.optim.SGD({what}, lr={lr})",
    "momentum": "torch.optim.SGD({what}, lr={lr}, momentum=0.9)",
    "adam": "torch.optim.Adam({what}, lr={lr})",
}
_SQUARES = "(output - y).square().sum()"
# Code by whether the targets are numbers rather than classes.
_LOSSES = {
    True: "(output - y).square().sum() / output.numel()",
    False: "output.log_softmax(1).gather(1, y[:, None]).sum() / -len(y)",
}
_SCORES = {
    True: "(1 - (held - held_y).square().sum() / (held_y - held_y.mean(0)).square().sum()).item()",
    False: "(held.argmax(1) == held_y).float().mean().item()",
}
_TRAIN = """
generator = torch.Generator().manual_seed(seed)
{data}
{layers}
{biases}
{spared}
parameters = [each.requires_grad_() for {each}]
{learned}
{optimiser}
losses = []
{rates}
for {step} in range({steps}):
    {loop}
{judged}
return {returned}
"""
_LOOP = """
{changes}
{batch}
output = net({arguments})
loss = {loss}
losses.append(loss.item())
if not loss.isfinite(){fallen}:
    break
{descent}
"""
_LAYERS = """
layers = [
    {layer}
    for a, b in {shapes}
]
"""
_BIASES = """
for _, bias in layers[:-1]:
    bias.copy_(torch.randn(bias.shape, generator=generator) * {deviation})
"""
_DESCENT = """
optimiser.zero_grad({zeroed})
loss.backward()
optimiser.step()
"""
# The code that spares the first layer's backward for fixed inputs, as in
# explorer.training.nets.layers.FixedInput.
_SPARED = """
# x stays the same: a step moves x @ weights by its gradient through x @ x.T, a small product.
gram, layers[0] = x @ x.T, x @ layers[0]
"""
_SPARED_DESCENT = """
loss.backward()
with torch.no_grad():
    layers[0].grad = gram @ layers[0].grad
    {moved}
"""
_MOVED = """
for each in {those}:
    each -= {rate} * each.grad
    each.grad.zero_()
"""
_JUDGED = """
with torch.no_grad():
    held = net(held_{arguments})
"""
_LEARNED = """
# Each gets {words} in every layer with the op, and learns at a separate rate.
learned = {{name: [{made}] for name, start in starts.items()}}
apart = [each.requires_grad_() for own in learned.values() for each in own]
"""
_GROUPS = """
groups = [{{"params": parameters}}, {{"params": apart, "lr": {lr} * {times}}}]
"""
_UNUSED = """
for each in apart:  # in case the op does not use it
    each.grad = torch.zeros_like(each)
"""
_BATCH = """
chosen = torch.randint({rows}, ({batch},), generator=generator)
x, y = train_x[chosen], train_y[chosen]
"""
_MAIN = """
for {each} in ({lines}):
    for seed in range({seeds}):
        {results} = train({arguments})
        print(f"{{op.__name__}}{then}, seed {{seed}}: loss {{losses[-1]:.6g}}{fields}")
"""
_LATER_TEXT = "{''.join(f' until {step}, then {each.__name__}' for step, each in later.items())}"
_LATER = "op = later.get(step, op)"
_RATED = 'optimiser.param_groups[0]["lr"] = rates.get(step, optimiser.param_groups[0]["lr"])'
_RATED_APART = 'optimiser.param_groups[1]["lr"] = optimiser.param_groups[0]["lr"] * {times}'
_BELOW = " or any({below} for name in {names} for each in learned.get(name, ()))"


class _Values(NamedTuple):
    """Code templates for learned values: how they are created, returned, printed and compared with 0."""

    description: str
    created: str
    returned: str
    printed: str
    below: str


# Code by ``Settings.learn_each``.
_VALUES = {
    "layer": _Values(
        "its own value",
        "torch.tensor(start) for _ in range({layers})",
        "each.item()",
        "{name} {each:.4g}",
        "each <= 0",
    ),
    "channel": _Values(
        "its own values",
        "torch.full(shape, start) for shape in {shapes}",
        "each.flatten().tolist()",
        "mean {name} {sum(each) / len(each):.4g}",
        "(each <= 0).any()",
    ),
}
_RETURNED = "{{name: [{returned} for each in own] for name, own in learned.items()}}"
_PRINTED = "{{''.join(f', {printed}' for name, own in learned.items() for each in own)}}"


def write_train_code(settings: Settings, task: Task, data: str, functions: Functions) -> str:
    """Return the code of the function ``train``, in which each seed runs the code ``data``."""
    example = example_of(settings)
    rows, are_numbers = len(example.train.x), example.train.y.is_floating_point()
    scored, draws = bool(task.metric), rows > settings.batch
    rates = _find_rates(settings)
    start = f"\nlr = {settings.lr}" if is_input_fixed(settings) else ""
    returned = [
        "losses",
        *[_SCORES[are_numbers]] * scored,
        *[_RETURNED.format(returned=_choose_values(settings).returned)] * bool(settings.learn),
    ]
    loop = _fill_template(
        _LOOP,
        changes="\n".join(_write_changes(settings)),
        batch=_BATCH.format(rows=rows, batch=settings.batch) if draws else "",
        arguments=write_net_arguments(settings, write_training_op(settings, functions)),
        loss=_SQUARES if task.loss is squared_error else _LOSSES[are_numbers],
        fallen=_write_domain_condition(settings),
        descent=_write_descent(settings),
    )
    body = _fill_template(
        _TRAIN,
        data=_write_data(settings, task, data, draws),
        layers=_write_layers(settings, task),
        biases=_BIASES.format(deviation=task.start_bias) if settings.bias and task.start_bias else "",
        spared=_SPARED if is_input_fixed(settings) else "",
        each="layer in layers for each in layer" if settings.bias else "each in layers",
        learned=_write_learned(settings),
        optimiser=_write_optimiser(settings),
        rates=f"rates = {rates}  # by the step at which they start{start}" if rates else "",
        step="step" if _write_changes(settings) or functions.is_random else "_",
        steps=settings.steps,
        loop=loop,
        judged=_JUDGED.format(arguments=write_net_arguments(settings, write_judged_op(functions)))
        if scored
        else "",
        returned=", ".join(returned),
    )
    return f"\ndef train({', '.join(_list_arguments(settings))}):\n" + indent(body, "    ")


def _fill_template(template: str, **parts: object) -> str:
    """Return a filled template of code. Each part gets the indent of its line; empty lines are dropped."""
    lines = []
    for line in template.strip("\n").splitlines():
        margin = line[: len(line) - len(line.lstrip())]
        filled = indent(line.strip().format(**parts), margin)
        lines += [piece for piece in filled.splitlines() if piece.strip()]
    return "\n".join(lines) + "\n"


def _write_data(settings: Settings, task: Task, data: str, draws: bool) -> str:
    seed_data = "" if task.metric else data.format(batch=settings.batch)
    return seed_data if draws or not task.metric else seed_data + "x, y = train_x, train_y"


def _write_layers(settings: Settings, task: Task) -> str:
    scale = settings.init_scale if task.unit_weights else f"({settings.init_scale} / a**0.5)"
    weights = f"torch.randn(a, b, generator=generator) * {scale}"
    layer = f"[{weights}, torch.zeros(1, b)]" if settings.bias else weights
    return _LAYERS.format(
        layer=layer,
        shapes=[layer_settings.shapes[0] for layer_settings in settings.layers if layer_settings.shapes],
    )


def _write_optimiser(settings: Settings) -> str:
    if is_input_fixed(settings):
        return ""
    learns = bool(settings.learn)
    groups = _GROUPS.format(lr=settings.lr, times=settings.learn_rate) if learns else ""
    argument = "groups" if learns else "parameters"
    return f"{groups}optimiser = {_OPTIMISERS[settings.optimiser].format(what=argument, lr=settings.lr)}"


def _write_descent(settings: Settings) -> str:
    if not is_input_fixed(settings):
        return _DESCENT.format(
            zeroed="set_to_none=False" if settings.learn and has_rule_changes(settings) else ""
        )
    rate = "lr" if _find_rates(settings) else settings.lr
    rates = {"parameters": rate} | ({"apart": f"{rate} * {settings.learn_rate}"} if settings.learn else {})
    moved = [_MOVED.format(those=tensors, rate=factor) for tensors, factor in rates.items()]
    return _fill_template(_SPARED_DESCENT, moved="".join(moved))


def _find_rates(settings: Settings) -> dict[int, float | str]:
    return {step: value for step, name, value in settings.branch if name == "lr"}


def _write_changes(settings: Settings) -> list[str]:
    rates = [_RATED, *[_RATED_APART.format(times=settings.learn_rate)] * bool(settings.learn)]
    rate_changes = ["lr = rates.get(step, lr)"] if is_input_fixed(settings) else rates
    return [_LATER] * has_rule_changes(settings) + rate_changes * bool(_find_rates(settings))


def _write_learned(settings: Settings) -> str:
    if not settings.learn:
        return ""
    templates = _choose_values(settings)
    pairs = zip(settings.layers, list_channel_shapes(settings.layers), strict=True)
    shapes = [shape for layer, shape in pairs if layer.site]
    code = _LEARNED.format(
        words=templates.description, made=templates.created.format(layers=len(shapes), shapes=shapes)
    )
    return code + _UNUSED if has_rule_changes(settings) else code


def _choose_values(settings: Settings) -> _Values:
    return _VALUES[settings.learn_each]


def _write_domain_condition(settings: Settings) -> str:
    """Return code of a condition that is true once a learned value has left its domain; "" if none can."""
    positive = tuple(parameter.name for parameter in settings.learned if parameter.positive)
    return _BELOW.format(names=positive, below=_choose_values(settings).below) if positive else ""


def _list_arguments(settings: Settings) -> list[str]:
    return ["op", "seed", *["starts"] * bool(settings.learn), *["later"] * has_rule_changes(settings)]


def write_main_code(settings: Settings, task: Task, lines: Sequence[Line]) -> str:
    """Return the code of the loop over rules and seeds, which prints loss, score and learned values."""
    turns, arguments = has_rule_changes(settings), _list_arguments(settings)
    printed = _PRINTED.format(printed=_choose_values(settings).printed)
    fields = [", score {score:.4f}"] * bool(task.metric) + [printed] * bool(settings.learn)
    results = ["losses", *["score"] * bool(task.metric), *["learned"] * bool(settings.learn)]
    return _MAIN.format(
        each=", ".join(name for name in arguments if name != "seed"),
        lines=", ".join(_write_line(line, settings) for line in lines) + "," * (len(lines) == 1),
        arguments=", ".join(arguments),
        seeds=", ".join(map(str, [settings.seed] * bool(settings.seed) + [settings.seed + settings.seeds])),
        results=", ".join(results),
        then=_LATER_TEXT if turns else "",
        fields="".join(fields),
    )


def _write_line(line: Line, settings: Settings) -> str:
    parts = [line.function, *[repr(line.starts)] * bool(settings.learn)]
    if has_rule_changes(settings):  # a dict from steps to functions, without repetitions of the previous one
        before = [line.function, *line.later.values()]
        pairs = zip(line.later.items(), before, strict=False)
        later = [f"{step}: {function}" for (step, function), last in pairs if function != last]
        parts.append(f"{{{', '.join(later)}}}")
    return f"({', '.join(parts)})" if len(parts) > 1 else line.function
