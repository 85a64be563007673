"""Notebooks that define an op with a rule and plot its curves."""

import json
import textwrap
from collections.abc import Mapping, Sequence
from string import Template
from typing import Any

from explorer.catalogue import SQUARE, Loss, Op, Rule, find_loss
from explorer.snippets.layout import WIDTH, format_code
from explorer.snippets.pair import Pair, Values, make_pair
from explorer.snippets.random_cells import RANDOM_POINTS, make_random_cells
from explorer.snippets.torch_code import make_torch_code

Json = dict[str, Any]

_POINTS = 601
_IMPORT = "import torch\n\n"
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

$computed
""")

_PLAIN = """\
y = {name}(x)
(gradient,) = torch.autograd.grad(y, x, torch.full_like(y, g))"""
_LEARNING = """\
# One parameter value per x, so that its gradient is that x's contribution (N = 1).
{tensors}
y = {name}(x, {learned})
gradient, {parts} = torch.autograd.grad(y, [x, {learned}], torch.full_like(y, g))"""

_NUMBERS = """\
# One value for all numbers, standard normal ones. For half the squared error, g is y - numbers.
numbers = torch.special.ndtri((torch.arange(1000, dtype=torch.float64) + 0.5) / 1000).float()
{tensors}
y = {name}(numbers, {learned})
gradients = torch.autograd.grad(y, [{learned}], (y - numbers).detach())
for learned, total in zip([{names}], gradients):
    print(f"gradient of {{learned}}: {{total:.4g}}, so a step against it makes {{learned}}", end=" ")
    print("grow" if total < 0 else "shrink" if total > 0 else "stay")"""

_DRAW = Template("""\
from plotly.subplots import make_subplots

x = x.detach()
at_kink = torch.isin(x, kinks)
curves = $curves
figure = make_subplots(rows=$rows, cols=1, shared_xaxes=True, vertical_spacing=0.06)
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
figure.update_xaxes(title_text="x", row=$rows, col=1)
figure.update_layout(showlegend=False)
figure.update_layout(title_text="$name")
figure.show()
""")


def notebook(
    op: str | Op,
    rule: str | Rule,
    parameters: Values = None,
    learns: Sequence[str] = (),
    *,
    start: float = -3.0,
    stop: float = 3.0,
    points: int | None = None,
    g: float = 1.0,
    kinks: Sequence[float] = (),
    f: str = SQUARE,
) -> str:
    """Return a Jupyter notebook, as JSON text, that defines an op with a rule and plots its curves.

    If parameters learn, it also plots the contribution of one element to the gradient of each, and prints the
    gradients for standard normal numbers. For a stochastic pair it plots mean and standard deviation of many
    draws from a seeded generator, and the exact gradient of the mean loss.

    Args:
        op: a key of ``OPS``, or ``"formula: …"`` in x.
        rule: a key of ``RULES``, or ``"formula: …"`` in x, y, g.
        parameters: values by name, as for ``snippet``; for a stochastic pair they may include the loss's.
        learns: the names of the parameters that learn.
        start: lower end of the range of x.
        stop: upper end of the range of x.
        points: the number of evenly spaced x; None for 601, or 121 for a stochastic pair.
        g: the upstream gradient; for a stochastic pair a factor on the loss.
        kinks: the x to sample exactly, at which lines break: ``sample_curves(...).kinks[key]`` for the key of
            the rule and, if a parameter learns, of its contribution. For a stochastic pair, the kinks of the
            mean loss.
        f: the loss of a stochastic pair, as a formula of y; ignored for other pairs.

    Raises:
        ValueError: as for ``snippet``, and if a stochastic op has a mean over all x. The subclass
            FormulaError if the loss cannot be parsed.
    """
    pair = make_pair(op, rule, parameters, learns)
    code = make_torch_code(pair)
    settings = {name: repr(float(value)) for name, value in (("start", start), ("stop", stop), ("g", g))}
    imports = "import torch\n" not in code
    loss = find_loss(f) if pair.random_names else None
    settings["points"] = str(int(points or (RANDOM_POINTS if loss else _POINTS)))
    settings["kinks"] = _write_kinks(kinks)
    if loss:
        settings["imports"] = _IMPORT * imports
        cells = _format_cells(make_random_cells(pair, loss, parameters or {}, settings))
    else:
        learned = {name: pair.parameters[name] for name in pair.learns}
        cells = make_cells(pair.name, learned, settings, imports=imports)
    introduction = write_introduction(pair, loss)
    return assemble_notebook({"introduction": introduction, "function": code.rstrip()} | cells)


def make_cells(
    name: str, learned: Mapping[str, float], settings: Mapping[str, str], *, imports: bool
) -> dict[str, str]:
    """Return the source of the notebook's cells after the function's, by id.

    Args:
        name: the name of the function.
        learned: values of the learned parameters by name, in the order of the function's arguments.
        settings: code as text: ``start``, ``stop``, ``points`` and ``g`` as numbers, ``kinks`` as the line
            that assigns the tensor ``kinks``.
        imports: whether the cells must import torch.
    """
    computed = _write_gradients(name, learned)
    sample = _SAMPLE.substitute(settings, imports=_IMPORT * imports, computed=computed)
    cells = {"sample": sample, "curve": _write_chart(name, list(learned))}
    cells |= {"numbers": _write_number_gradients(name, learned)} if learned else {}
    return _format_cells(cells)


def _format_cells(cells: Mapping[str, str]) -> dict[str, str]:
    return {key: format_code(text).rstrip() for key, text in cells.items()}


def assemble_notebook(cells: Mapping[str, str]) -> str:
    """Return the text of a notebook file with these cells, of which the first is in Markdown."""
    (first, introduction), *code_cells = cells.items()
    outputs: Json = {"execution_count": None, "outputs": []}
    content = {
        "cells": [
            _make_cell("markdown", first, introduction),
            *(_make_cell("code", name, code) | outputs for name, code in code_cells),
        ],
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(content, ensure_ascii=False, indent=1, sort_keys=True)


def _make_cell(kind: str, name: str, text: str) -> Json:
    return {"cell_type": kind, "id": name, "metadata": {}, "source": text.splitlines(keepends=True)}


def _write_chart(name: str, learned: Sequence[str]) -> str:
    parts = "".join(f', "part for {parameter}": part_{parameter}' for parameter in learned)
    curves = f'{{"forward y": y, "gradient": gradient{parts}}}'
    return _DRAW.substitute(name=name, rows=2 + len(learned), curves=curves)


def _write_gradients(name: str, learned: Mapping[str, float]) -> str:
    if not learned:
        return _PLAIN.format(name=name)
    lines = [
        f"{_name_variable(parameter)} = torch.full_like(x, {learned[parameter]!r}).requires_grad_()"
        for parameter in learned
    ]
    parts = ", ".join(f"part_{each}" for each in learned)
    return _LEARNING.format(
        name=name, tensors="\n".join(lines), learned=_join_variables(learned), parts=parts
    )


def _write_number_gradients(name: str, learned: Mapping[str, float]) -> str:
    lines = [
        f"{_name_variable(parameter)} = torch.tensor({learned[parameter]!r}, requires_grad=True)"
        for parameter in learned
    ]
    names = ", ".join(f'"{each}"' for each in learned)
    return _NUMBERS.format(name=name, tensors="\n".join(lines), learned=_join_variables(learned), names=names)


def _name_variable(name: str) -> str:
    """Return a variable name for a learned parameter that no other name in the notebook's cells equals."""
    return f"learned_{name}"


def _join_variables(learned: Mapping[str, float]) -> str:
    return ", ".join(map(_name_variable, learned))


def _write_kinks(values: Sequence[float]) -> str:
    text = ", ".join(repr(float(value)) for value in values)
    line = f"kinks = torch.tensor([{text}])"
    if len(line) <= WIDTH:
        return line
    rows = textwrap.wrap(text, WIDTH, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(["kinks = torch.tensor([", *rows, "])  # fmt: skip"])


def write_introduction(pair: Pair, loss: Loss | None = None) -> str:
    """Return a notebook's first cell, Markdown on the op and the rule; None is for a pair without a loss."""
    y, gradient = pair.formulas
    extra = "".join(f"- `{pair.describe_gradient(name)}`\n" for name in pair.learns)
    extra += f"- loss: `{loss.parsed.text}`\n" if loss else ""
    return (
        f"# {pair.title}\n\n- forward: `y = {y}`\n- backward: `gradient = {gradient}`\n{extra}\n"
        "Needs torch and plotly. Change the parameters, the range or `g` and run the cells again."
    )
