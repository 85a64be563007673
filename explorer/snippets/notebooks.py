"""A notebook that defines an op with a rule and draws its curve."""

import textwrap
from collections.abc import Sequence
from string import Template
from typing import Any

from explorer.catalogue import Op, Rule
from explorer.snippets.layout import WIDTH, formatted
from explorer.snippets.pair import Pair, Values, paired
from explorer.snippets.torch_code import torch_code

_SAMPLE = Template("""\
${imports}start, stop, points, g = $start, $stop, $points, $g
$kinks

# Each kink is sampled exactly, and so are the points four floats to its left and right.
left = right = kinks
for _ in range(4):
    left = torch.nextafter(left, torch.full_like(left, -torch.inf))
    right = torch.nextafter(right, torch.full_like(right, torch.inf))

even = torch.linspace(start, stop, points, dtype=torch.float64)
even[even.abs() < 1e-12 * (stop - start)] = 0.0  # the middle may come out as -6e-17
x = torch.unique(torch.cat([even.float(), left, kinks, right]))
x = x[(x >= start) & (x <= stop)].requires_grad_()

y = $name(x)
(gradient,) = torch.autograd.grad(y, x, torch.full_like(y, g))
""")

_DRAW = Template("""\
from plotly.subplots import make_subplots

x = x.detach()
at_kink = torch.isin(x, kinks)
curves = {"forward y": y, "gradient": gradient}
figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.06)
for row, (title, tensor) in enumerate(curves.items(), start=1):
    values = tensor.detach()
    curve = values.masked_fill(at_kink, torch.nan)  # no line across a jump
    figure.add_scatter(x=x.tolist(), y=curve.tolist(), name=title, row=row, col=1)
    figure.add_scatter(
        x=x[at_kink].tolist(),
        y=values[at_kink].tolist(),
        name=f"{title} at the kinks",
        mode="markers",
        row=row,
        col=1,
    )
    figure.update_yaxes(title_text=title, row=row, col=1)
figure.update_xaxes(title_text="x", row=2, col=1)
figure.update_layout(title_text="$name", showlegend=False)
figure.show()
""")


def notebook(
    op: str | Op,
    rule: str | Rule,
    parameters: Values = None,
    *,
    start: float = -3.0,
    stop: float = 3.0,
    points: int = 601,
    g: float = 1.0,
    kinks: Sequence[float] = (),
) -> str:
    """A notebook (nbformat 4, as JSON text) that defines the function and draws its curve.

    Args:
        op, rule, parameters: as for ``snippet``.
        start, stop: ends of the range of x, start below stop.
        points: number of evenly spaced x.
        g: the upstream gradient.
        kinks: x to be sampled exactly, where the line breaks; ``sample_curves(...).kinks[rule]``.
    """
    pair = paired(op, rule, parameters)
    code = torch_code(pair)
    sample = _SAMPLE.substitute(
        imports="" if "import torch\n" in code else "import torch\n\n",
        start=float(start),
        stop=float(stop),
        points=int(points),
        g=float(g),
        kinks=_tensor(kinks),
        name=pair.name,
    )
    draw = _DRAW.substitute(name=pair.name)
    return _book(_introduction(pair), function=code, sample=formatted(sample), curve=draw)


def _book(introduction: str, **cells: str) -> str:
    import nbformat as untyped  # here, as it takes as long as all of our formulas and few want a notebook

    nbformat: Any = untyped
    v4 = nbformat.v4
    codes = [v4.new_code_cell(code.rstrip(), id=name) for name, code in cells.items()]
    metadata = {
        "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
        "language_info": {"name": "python"},
    }
    first = v4.new_markdown_cell(introduction, id="introduction")
    book = v4.new_notebook(cells=[first, *codes], metadata=metadata)
    text: str = nbformat.writes(book)
    return text


def _tensor(values: Sequence[float]) -> str:
    text = ", ".join(repr(float(value)) for value in values)
    line = f"kinks = torch.tensor([{text}])"
    if len(line) <= WIDTH:
        return line
    rows = textwrap.wrap(text, WIDTH, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(["kinks = torch.tensor([", *rows, "])  # fmt: skip"])


def _introduction(pair: Pair) -> str:
    y, gradient = pair.formulas
    return (
        f"# {pair.title}\n\n- forward: `y = {y}`\n- backward: `gradient = {gradient}`\n\n"
        "Needs torch and plotly. Change the parameters, the range or `g` and run the cells again."
    )
