"""Notebook cells for a random op or rule: many samples, their mean and deviation, and the exact gradient."""

from collections.abc import Iterable, Mapping
from string import Template

from explorer.catalogue import Loss, Op
from explorer.formula import Formula
from explorer.formula.operands import find_reductions
from explorer.snippets.helpers import TORCH, add_helpers
from explorer.snippets.layout import find_names
from explorer.snippets.pair import Pair

RANDOM_POINTS = 121
NO_MEANS = "A notebook draws each x separately, but this op takes a mean over all x: choose PyTorch."

_LOSS = Template("""\
${imports}start, stop, points, g = $start, $stop, $points, $g


def loss($arguments):$like
    return $loss


def f(y):
    return g * loss(y)
""")

_DRAWS = Template("""\
draws = 1000  # at each x
generator = torch.Generator().manual_seed(0)
x = torch.linspace(start, stop, points, dtype=torch.float64)
u = torch.rand(draws, points, generator=generator, dtype=torch.float64).clamp(min=1e-16)

x_drawn = x.expand(draws, points).clone().requires_grad_()
$tensors
y = $call
$gradients = torch.autograd.grad($back, [$leaves])
""")

_EXACT = Template("""\
# The exact gradient is the slope of the mean loss over evenly spaced random numbers u.
$kinks
step = (stop - start) / 200
u_even = (torch.arange(100_000, dtype=torch.float64) + 0.5) / 100_000
$tensors


def mean_loss(at):
    return f($call).mean()


def slope(at):
    low = max([start, at - step / 2, *kinks[kinks <= at]])
    high = min([stop, at + step / 2, *kinks[kinks > at]])
    low, high = low + 0.01 * (high - low), high - 0.01 * (high - low)
    return (mean_loss(high) - mean_loss(low)) / (high - low)


exact = torch.stack([slope(at) for at in x]).detach()
""")

_PICTURE = Template("""\
from plotly.subplots import make_subplots

curves = $curves
colours = ["gray", "royalblue", "darkorange", "seagreen"]
figure = make_subplots(rows=$rows, cols=1, shared_xaxes=True, vertical_spacing=0.06)
around = torch.cat([x, x.flip(0)]).tolist()
for row, (title, values) in enumerate(curves.items(), start=1):
    colour = colours[(row - 1) % len(colours)]
    sd, mean = torch.std_mean(values.detach(), dim=0)
    band = torch.cat([mean + sd, (mean - sd).flip(0)]).tolist()
    figure.add_scatter(
        x=around,
        y=band,
        name=f"{title} ± sd",
        fill="toself",
        line={"width": 0, "color": colour},
        opacity=0.3,
        hoverinfo="skip",
        showlegend=False,
        row=row,
        col=1,
    )
    figure.add_scatter(
        x=x.tolist(), y=mean.tolist(), name=title, line={"color": colour}, row=row, col=1
    )
    figure.update_yaxes(title_text=title, row=row, col=1)
figure.add_scatter(
    x=x.tolist(),
    y=exact.tolist(),
    name="exact",
    line={"color": "black", "dash": "dot"},
    row=2,
    col=1,
)
figure.update_xaxes(title_text="x", row=$rows, col=1)
figure.update_layout(title_text=f"$name: mean ± sd of {draws:,} draws")
figure.show()
""")


def has_mean(op: Op) -> bool:
    """Return whether an op has a mean over all x, which notebooks do not support for stochastic ops."""
    return bool(find_reductions(op.parsed.tree))


def make_random_cells(
    pair: Pair, loss: Loss, values: Mapping[str, float], settings: Mapping[str, str]
) -> dict[str, str]:
    """Return the source of the notebook's cells after the function's, by id, before formatting.

    Args:
        pair: a stochastic pair.
        loss: the loss of one element.
        values: values of the loss's parameters by name; the defaults for all others.
        settings: code as text: ``start``, ``stop``, ``points`` and ``g`` as numbers, ``imports`` as lines,
            ``kinks`` as the line that assigns the tensor ``kinks``.

    Raises:
        ValueError: if the op has a mean over all x.
    """
    if has_mean(pair.op):
        raise ValueError(NO_MEANS)
    numbers = {p.name: float(values.get(p.name, p.default)) for p in loss.parameters}
    arguments = ", ".join(["y", *(f"{name}={value!r}" for name, value in numbers.items())])
    source = loss.parsed.torch_source
    like = "\n    x = y  # whose shape and dtype constants take" * ("x" in find_names(source))
    text = _LOSS.substitute(settings, arguments=arguments, like=like, loss=source)
    loss_code = add_helpers(text, TORCH)
    parts = {name: f"part_{name}" for name in pair.learns}
    curves = {"forward y": "y", "gradient": "gradient"}
    curves |= {f"part for {name}": part for name, part in parts.items()}
    fixed = [f"fixed_{name}" for name in pair.learns]
    pairs = ", ".join(f'"{title}": {tensor}' for title, tensor in curves.items())
    return {
        "loss": "import math\n\n" * ("math" in find_names(loss_code)) + loss_code,
        "draws": _write_draws(pair, loss.parsed, parts),
        "exact": _EXACT.substitute(
            kinks=settings["kinks"],
            tensors="\n".join(f"fixed_{name} = {_name_learned(name)}.detach()[0, 0]" for name in pair.learns),
            call=_write_call(pair, "at.expand_as(u_even)", "u_even", fixed),
        ),
        "curve": _PICTURE.substitute(name=pair.name, rows=len(curves), curves=f"{{{pairs}}}"),
    }


def _write_draws(pair: Pair, loss: Formula, parts: Mapping[str, str]) -> str:
    """Return code that computes y and gradients for many random u; a loss without a slope gives 0."""
    learned = {name: _name_learned(name) for name in parts}
    tensors = [
        f"{variable} = torch.full_like(x_drawn, {pair.parameters[name]!r}).requires_grad_()"
        for name, variable in learned.items()
    ]
    return _DRAWS.substitute(
        tensors="\n".join(tensors),
        call=_write_call(pair, "x_drawn", "u", learned.values()),
        gradients=", ".join(["gradient", *parts.values()]) + "," * (not parts),
        leaves=", ".join(["x_drawn", *learned.values()]),
        back="f(y).sum()" if loss.carries_gradient else "0 * y.sum()",
    )


def _write_call(pair: Pair, x: str, u: str, learned: Iterable[str]) -> str:
    named = {"u": f"u={u}", "f": "f=f"}
    return f"{pair.name}({', '.join([x, *learned, *(named[name] for name in pair.extras)])})"


def _name_learned(name: str) -> str:
    return f"learned_{name}"
