"""Draws in the language: leaves of their own, spelled as calls without arguments."""

from __future__ import annotations

import pytest
import torch

from explorer.formula import DRAWS, OP_NAMES, Formula, FormulaError, parse


@pytest.mark.parametrize("draw", DRAWS)
def test_a_draw_is_a_leaf_and_its_bare_name_a_parameter(draw: str) -> None:
    formula = parse(f"g * {draw} + 2 * {draw}", parameters=None)
    assert formula.draws == (draw,)
    assert formula.parameters == ()
    assert parse(formula.text) == formula
    assert formula.data == ["+", ["*", ["name", "g"], ["name", draw]], ["*", 2, ["name", draw]]]
    bare = parse(f"g * {draw[:-2]}", parameters=None)
    assert bare.draws == ()
    assert bare.parameters == (draw[:-2],)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("u(x)", "u() is drawn and takes no argument at column 2: close the parenthesis"),
        ("u(", "u() is drawn and takes no argument at column 2: close the parenthesis"),
        ("u * u()", '"u" at column 1 is a parameter, and u() is drawn: give the parameter another name'),
        ("mean(x * u())", "mean of what is drawn at column 6 has no one value: take it element by element"),
    ],
)
def test_what_cannot_be_drawn_is_said(text: str, message: str) -> None:
    with pytest.raises(FormulaError) as raised:
        parse(text, parameters=None)
    assert raised.value.message == message


def test_an_op_knows_no_loss() -> None:
    with pytest.raises(FormulaError, match=r"^f\(\) at column 5 is not known here: use u\(\) and normal\(\)"):
        parse("x + f()", variables=OP_NAMES)
    with pytest.raises(FormulaError, match=r"^u\(\) at column 5 is not known here$"):
        parse("y + u()", variables=("y",))


def test_a_draw_is_no_constant_and_carries_no_gradient() -> None:
    formula = parse("where(u() < x, x * normal(), 0)", variables=OP_NAMES)
    x, u = torch.tensor([0.2, 0.8]), torch.tensor([0.5, 0.5])
    given = {"u()": u, "normal()": torch.tensor([2.0, 3.0])}
    assert formula.bind()(x, tensors=given).tolist() == pytest.approx([0.0, 2.4])
    assert formula.gradient == parse("where(u() < x, g, 0) * normal()")
    # A number beside a draw is filled out where torch wants a tensor.
    assert parse("max(u(), 0.7)").bind()(x, tensors=given).tolist() == pytest.approx([0.7, 0.7])


@pytest.mark.parametrize(
    ("draw", "latex", "torchs", "jaxs"),
    [
        ("u()", "u", "u", "u"),
        (
            "normal()",
            r"\mathrm{normal}\left(u\right)",
            "torch.special.ndtri(u)",
            "jax.scipy.special.ndtri(u)",
        ),
        ("f()", r"f\left(y\right)", "f(y)", "f(y)"),
        ("ya()", r"\mathrm{ya}", "ya", "ya"),
        ("fa()", r"f\left(\mathrm{ya}\right)", "f(ya)", "f(ya)"),
    ],
)
def test_a_draw_is_written_in_every_language(draw: str, latex: str, torchs: str, jaxs: str) -> None:
    formula = parse(draw)
    assert (formula.latex, formula.torch_source, formula.jax_source) == (latex, torchs, jaxs)
    if draw == "normal()":
        with pytest.raises(ValueError, match="MLX has no quantile of the normal distribution"):
            Formula(formula.tree).mlx_source  # noqa: B018  # it is computed when it is asked for
    else:
        assert formula.mlx_source == torchs
