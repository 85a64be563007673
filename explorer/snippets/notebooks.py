"""A notebook that defines an op with a rule and draws its curve."""

import json
import textwrap
from collections.abc import Mapping, Sequence
from string import Template
from typing import Any

from explorer.catalogue import SQUARE, Loss, Op, Rule, find_loss
from explorer.snippets.drawn_cells import DRAWN_POINTS, drawn_cells
from explorer.snippets.layout import WIDTH, formatted
from explorer.snippets.pair import Pair, Values, paired
from explorer.snippets.torch_code import torch_code

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
# One value for each x: its gradient is the part of that x, as of a parameter for N = 1 elements.
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
    """A notebook (nbformat 4, as JSON text) that defines the function and draws its curve.

    Where parameters learn it also draws the part of one element in the gradient for each, and prints the
    gradients for standard normal numbers. Of a pair that draws it shows mean and spread over many draws,
    from a seeded generator, and the exact gradient of the mean loss.

    Args:
        op, rule, parameters, learns: as for ``snippet``; of a pair that draws the parameters may hold those
            of the loss.
        start, stop: ends of the range of x, start below stop.
        points: number of evenly spaced x; None for 601, and for fewer of a pair that draws.
        g: the upstream gradient; of a pair that draws a factor on the loss.
        f: of a pair that draws the loss, a formula of y; others pass it over.
        kinks: x to be sampled exactly, where the lines break; ``sample_curves(...).kinks[rule]``, with those
            of ``part_key(rule)`` where a parameter learns. The mean loss of a pair that draws may bend
            there.

    Raises:
        ValueError: as ``snippet``; FormulaError for a loss that cannot be read; ValueError for an op that
            draws and has a mean over all x.
    """
    pair = paired(op, rule, parameters, learns)
    code = torch_code(pair)
    settings = {name: repr(float(value)) for name, value in (("start", start), ("stop", stop), ("g", g))}
    imports = "import torch\n" not in code
    loss = find_loss(f) if pair.drawn else None
    settings |= {"points": str(int(points or (DRAWN_POINTS if loss else _POINTS))), "kinks": _tensor(kinks)}
    if loss:
        settings |= {"imports": _IMPORT * imports}
        cells = _laid_out(drawn_cells(pair, loss, parameters or {}, settings))
    else:
        learned = {name: pair.parameters[name] for name in pair.learns}
        cells = drawing_cells(pair.name, learned, settings, imports=imports)
    return book({"introduction": introduction(pair, loss), "function": code.rstrip()} | cells)


def drawing_cells(
    name: str, learned: Mapping[str, float], settings: Mapping[str, str], *, imports: bool
) -> dict[str, str]:
    """The text of each cell below that of the function, by its id.

    Args:
        name: the function's.
        learned: the parameters that learn, in the order of its arguments, with their values.
        settings: texts of code: ``start``, ``stop``, ``points`` and ``g`` of numbers, ``kinks`` of the line
            that sets the tensor of this name.
        imports: whether torch has yet to be imported.
    """
    computed = _computed(name, learned)
    sample = _SAMPLE.substitute(settings, imports=_IMPORT * imports, computed=computed)
    cells = {"sample": sample, "curve": _drawn(name, list(learned))}
    cells |= {"numbers": _numbers(name, learned)} if learned else {}
    return _laid_out(cells)


def _laid_out(cells: Mapping[str, str]) -> dict[str, str]:
    return {key: formatted(text).rstrip() for key, text in cells.items()}


def book(cells: Mapping[str, str]) -> str:
    """The notebook of such cells, as the text of its file; the first is the introduction."""
    (first, introduction), *others = cells.items()
    whole = {
        "cells": [_cell("markdown", first, introduction), *(_code(name, code) for name, code in others)],
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(whole, ensure_ascii=False, indent=1, sort_keys=True)


def _cell(kind: str, name: str, text: str) -> Json:
    return {"cell_type": kind, "id": name, "metadata": {}, "source": text.splitlines(keepends=True)}


def _code(name: str, text: str) -> Json:
    return _cell("code", name, text) | {"execution_count": None, "outputs": []}


def _drawn(name: str, learned: Sequence[str]) -> str:
    """Code that draws all curves."""
    parts = "".join(f', "part for {each}": part_{each}' for each in learned)
    curves = f'{{"forward y": y, "gradient": gradient{parts}}}'
    return _DRAW.substitute(name=name, rows=2 + len(learned), curves=curves)


def _computed(name: str, learned: Mapping[str, float]) -> str:
    """Code for y, the gradient and the parts of one element."""
    if not learned:
        return _PLAIN.format(name=name)
    lines = [f"{_learned(each)} = torch.full_like(x, {learned[each]!r}).requires_grad_()" for each in learned]
    parts = ", ".join(f"part_{each}" for each in learned)
    return _LEARNING.format(name=name, tensors="\n".join(lines), learned=_arguments(learned), parts=parts)


def _numbers(name: str, learned: Mapping[str, float]) -> str:
    """Code for the gradient of each learned parameter on given numbers."""
    lines = [f"{_learned(each)} = torch.tensor({learned[each]!r}, requires_grad=True)" for each in learned]
    names = ", ".join(f'"{each}"' for each in learned)
    return _NUMBERS.format(name=name, tensors="\n".join(lines), learned=_arguments(learned), names=names)


def _learned(name: str) -> str:
    """The variable of a learned parameter, distinct from all names of the cells."""
    return f"learned_{name}"


def _arguments(learned: Mapping[str, float]) -> str:
    return ", ".join(map(_learned, learned))


def _tensor(values: Sequence[float]) -> str:
    text = ", ".join(repr(float(value)) for value in values)
    line = f"kinks = torch.tensor([{text}])"
    if len(line) <= WIDTH:
        return line
    rows = textwrap.wrap(text, WIDTH, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(["kinks = torch.tensor([", *rows, "])  # fmt: skip"])


def introduction(pair: Pair, loss: Loss | None = None) -> str:
    """The text above the code, in Markdown."""
    y, gradient = pair.formulas
    further = "".join(f"- `{pair.learning(name)}`\n" for name in pair.learns)
    further += f"- loss: `{loss.parsed.text}`\n" if loss else ""
    return (
        f"# {pair.title}\n\n- forward: `y = {y}`\n- backward: `gradient = {gradient}`\n{further}\n"
        "Needs torch and plotly. Change the parameters, the range or `g` and run the cells again."
    )
