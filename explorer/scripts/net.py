"""The net of a script, written out as code."""

from math import prod
from textwrap import indent

from torch import Generator

from explorer.training import TASKS, Data, Draw, Settings, Task
from explorer.training.nets import OpSite
from explorer.training.nets.layers import Convolution, spiking
from explorer.training.runs import is_input_fixed

NETS = {
    "activations": """
for number, {layer} in enumerate(layers):
    x = op(x{before}) if number else x
    x = {x}
return x
""",
    "weights": """
for number, {latent} in enumerate(layers):
    unit = len(latent) ** 0.5  # gives the op's inputs about unit scale
    weights = op(latent * unit{here}) / unit
    x = x.relu() if number else x
    x = {x}
return x
""",
    "maps": """
{maps}
for number, (stride, {layer}) in enumerate(zip({strides}, layers)):
    {patches}
    maps = op({product}{here}).view(-1, side, side, maps.shape[-1])
    {pooled}
{layer}, x = layers[-1], maps.flatten(0, 2).T
return {x}
""",
    "kernels": """
{maps}
for number, (stride, {latent}) in enumerate(zip({strides}, layers)):
    {patches}
    unit = len(latent) ** 0.5  # gives the op's inputs about unit scale
    weights = op(latent * unit{here}) / unit
    maps = {product}.view(-1, side, side, maps.shape[-1]).relu()
    {pooled}
{layer}, x = layers[-1], maps.flatten(0, 2).T
return {x}
""",
    "spikes": """
# Bright pixels fire early, faint ones never.
due = ((1 - x) * {last}).round().where(x > {faintest:g}, {times})
spikes = [(due == time).to(x.dtype) for time in range({times})]
for {each} in {hidden}:
    charge, fired = 0.0, []
    for current in {currents}.chunk({times}):
        potential = charge + current
        fired.append(op(potential - {threshold:g}{here}))
        # A unit that fired restarts from 0.
        charge = potential * ({leak:g} * (1 - fired[-1].detach()))
    spikes = fired
# The last units leak and never fire: each input fades from their potential; they return its mean.
{layer} = layers[-1]
stays = [sum({leak:g}**age for age in range({times} - time)) / {times} for time in range({times})]
faded = sum(spike * share for spike, share in zip(spikes, stays))
return {faded}
""",
}
_MAPS = """
side = int(x.shape[1] ** 0.5)
maps = x.T.reshape(1, side, side, -1)  # (channels, rows, columns, examples)
"""
# A column of patches holds the inputs under the kernels at one place of one example.
_PATCHES = """
framed = torch.nn.functional.pad(maps, (0, 0, 1, 1, 1, 1))
squares = framed.unfold(1, 3, stride).unfold(2, 3, stride)
side = squares.shape[1]
patches = squares.permute(0, 4, 5, 1, 2, 3).reshape(9 * len(maps), -1)
"""
_POOLED = """
if number == 0:  # the mean of each four
    four = maps.view(len(maps), side // 2, 2, side // 2, 2, -1)
    rows = four[:, :, 0] + four[:, :, 1]
    maps = (rows[:, :, :, 0] + rows[:, :, :, 1]) * 0.25
"""
# The net after its first product, for runs that compute this product once.
_SPARED_BODY = """
x, *rest = layers
for {each} in {rest}:
    x = {x}
return x
"""
_OP_ARGUMENTS = ", *(learned[name][{layer}] for name in learns[op.__name__])"
_TINY = 400  # number of multiplications below which torch.bmm uses another loop, which rounds differently
_BATCHED = """
# As in the run: without the [None], torch sums this few numbers in a different order.
"""


def write_net_code(settings: Settings, task: Task) -> str:
    """Return the code of the function ``net``, which computes the output of a net."""
    note = _BATCHED if _is_tiny(settings) else ""
    body = _write_spared_body(settings) if is_input_fixed(settings) else _write_body(settings, task)
    return f"\n{note}def net({write_net_arguments(settings)}):" + indent(body, "    ")


def _write_body(settings: Settings, task: Task) -> str:
    arguments = _write_op_arguments(settings, here="number", before="number - 1")
    layer = "(weights, bias)" if settings.bias else "weights"
    return _body_of(task.net.site).format(
        x=_write_product("x", settings), product=_write_patch_product(settings),
        currents=_write_product("torch.cat(spikes)", settings),
        faded=_write_product("faded", settings, "bias * sum(stays)"),
        layer=layer, latent=layer.replace("weights", "latent"),
        each=f"number, {layer}" if settings.learn else layer,
        times=spiking.TIMES, last=spiking.TIMES - 1, leak=spiking.LEAK, threshold=spiking.THRESHOLD,
        maps=_MAPS.strip(), patches=indent(_PATCHES.strip(), "    ").lstrip(),
        pooled=indent(_POOLED.strip(), "    ").lstrip(),
        strides=tuple(layer.stride for layer in settings.layers if isinstance(layer, Convolution)),
        faintest=spiking.MIN_BRIGHTNESS, hidden="enumerate(layers[:-1])" if settings.learn else "layers[:-1]",
        **arguments,
    )  # fmt: skip


def _body_of(site: OpSite) -> str:
    """Return a template for the body of ``net``. Raises LookupError if ``NETS`` has no entry for the site."""
    if site.key not in NETS:
        raise LookupError(f"scripts have no net for an op at {site.key!r}: add an entry to NETS")
    return NETS[site.key]


def _write_spared_body(settings: Settings) -> str:
    target, rest = ("number, weights", "enumerate(rest)") if settings.learn else ("weights", "rest")
    op_input = "x{before}".format(**_write_op_arguments(settings, before="number"))
    return _SPARED_BODY.format(each=target, rest=rest, x=_write_product(f"op({op_input})", settings))


def _write_op_arguments(settings: Settings, **layers: str) -> dict[str, str]:
    """Return a dict from placeholders to code for the op's further arguments, "" if no parameter learns.

    ``layers`` is a dict from the placeholders to code for the number of the layer.
    """
    return {at: _OP_ARGUMENTS.format(layer=layer) if settings.learn else "" for at, layer in layers.items()}


def write_net_arguments(settings: Settings, op: str = "op") -> str:
    """Return the arguments of the function ``net`` as code.

    If all steps use the same inputs (see ``FixedInput``), their product with the first weights replaces x.
    """
    return ", ".join(
        ["x"] * (not is_input_fixed(settings)) + ["layers", op] + ["learned"] * bool(settings.learn)
    )


def _write_product(x: str, settings: Settings, bias: str = "bias") -> str:
    if not _is_tiny(settings):
        return f"torch.addmm({bias}, {x}, weights)" if settings.bias else f"({x} @ weights)"
    of_one = f"{x}[None], weights[None]"
    return f"torch.baddbmm({bias}, {of_one})[0]" if settings.bias else f"torch.bmm({of_one})[0]"


def _write_patch_product(settings: Settings) -> str:
    """Return code for the product of kernels and patches. Its shape is (channels, places · examples)."""
    if not _is_tiny(settings):
        return "torch.addmm(bias.T, weights.T, patches)" if settings.bias else "(weights.T @ patches)"
    of_one = "weights.T[None], patches[None]"
    return f"torch.baddbmm(bias.T, {of_one})[0]" if settings.bias else f"torch.bmm({of_one})[0]"


def _is_tiny(settings: Settings) -> bool:
    """Return whether a matrix product of the net is so small that torch sums it differently if batched."""
    if is_input_fixed(settings):  # runs with fixed inputs never batch products
        return False
    rows = min(settings.batch, len(example_of(settings).train.x))
    times = TASKS[settings.task].net.site.times
    *hidden, last = [(rows * layer.uses, *layer.shapes[0]) for layer in settings.layers if layer.shapes]
    products = [(count * times, a, b) for count, a, b in hidden] + [last]
    return any(prod(product) < _TINY or product[0] * product[2] == 1 for product in products)


def example_of(settings: Settings) -> Data:
    """Return a sample of data of the same size and kind as the run's."""
    return TASKS[settings.task].data(Draw(Generator(), settings.batch, settings.table))
