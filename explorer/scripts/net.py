"""The net of a script, written out."""

from itertools import pairwise
from math import prod
from textwrap import indent

from torch import Generator

from explorer.training import TASKS, Data, Draw, Settings, Task
from explorer.training.layers.spiking import TIMES
from explorer.training.lockstep import spares

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
_TINY = 400  # multiplications, below which torch.bmm has a loop of its own
_BATCHED = """
# The run's way to multiply: of so few numbers torch adds up in another order without the [None].
"""


def net_code(settings: Settings, task: Task) -> str:
    """The function ``net``."""
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
    return f"\n{note}def net({seen(settings)}):" + indent(body, "    ")


def seen(settings: Settings) -> str:
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
    example = example_of(settings)
    inputs, outputs = example.widths
    rows = min(settings.batch, len(example.train.x))
    times = TIMES if TASKS[settings.task].place == "spikes" else 1
    *hidden, (last, _) = pairwise((inputs, *settings.widths, outputs))
    products = [(rows * times, a, b) for a, b in hidden] + [(rows, last, outputs)]
    return any(prod(each) < _TINY or each[0] * each[2] == 1 for each in products)


def example_of(settings: Settings) -> Data:
    """Data like those of the run: as many, and of the same kind."""
    return TASKS[settings.task].data(Draw(Generator(), settings.batch, settings.table))
