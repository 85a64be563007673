"""Draws in the language: leaves of their own, spelled as calls without arguments."""

import pytest
import torch
from hypothesis import assume, given

from explorer.formula import OP_NAMES, RANDOM_NAMES, Formula, FormulaError, parse
from explorer.formula.tree import Binary, LossAt, Name, measure
from tests.formula.strategies import few, formulas
from tests.selection import loop_over


@pytest.mark.parametrize("draw", RANDOM_NAMES)
def test_a_draw_is_a_leaf_and_its_bare_name_a_parameter(draw: str) -> None:
    formula = parse(f"g * {draw} + 2 * {draw}", parameters=None)
    assert formula.random_names == (draw,)
    assert formula.parameters == ()
    assert parse(formula.text) == formula
    assert formula.data == ["+", ["*", ["name", "g"], ["name", draw]], ["*", 2, ["name", draw]]]
    bare = parse(f"g * {draw[:-2]}", parameters=None)
    assert bare.random_names == ()
    assert bare.parameters == (draw[:-2],)


@loop_over(
    ("text", "message"),
    [
        ("u(x)", "u() is random and takes no argument at column 2: close the parenthesis"),
        ("u(", "u() is random and takes no argument at column 2: close the parenthesis"),
        ("u * u()", '"u" at column 1 is a parameter, but u() is random: give the parameter another name'),
        ("mean(x * u())", "mean of random draws at column 6 has no single value: use it element by element"),
        ("mean(f(1))", "mean of random draws at column 6 has no single value: use it element by element"),
        ("f(1, 2)", "f at column 1 takes 1 argument, but got 2"),
        ("f(", "a value is missing at the end, column 3"),
        ("x + f(1", 'the "(" at column 6 is never closed: add a ")"'),
        ("f(v=1)", '"v=" at column 3: leave it out, the arguments of f have no names here'),
        ("f(x > 0)",
         "an argument of f needs a number, but has a condition at column 3: use where(condition, 1, 0)"),
        ("f(g)", "g in the brackets of f at column 3: write an output, such as 1 or 1 - y"),
        ("x * f(1 + f())", "a loss in the brackets of f at column 7: write an output, such as 1 or 1 - y"),
        ("f(fa())", "a loss in the brackets of f at column 3: write an output, such as 1 or 1 - y"),
        ("f(-f(1))", "a loss in the brackets of f at column 3: write an output, such as 1 or 1 - y"),
        ("fa(1)", "fa() is random and takes no argument at column 3: the loss at an output is f(…)"),
        ("f(1) * f", '"f" at column 8 is a parameter, but f() is random: give the parameter another name'),
        ("elu(x, f(1))", "the argument of elu at column 8 must be a number or a parameter"),
    ],
)  # fmt: skip
def test_invalid_random_functions_are_explained(text: str, message: str) -> None:
    with pytest.raises(FormulaError) as raised:
        parse(text, parameters=None)
    assert raised.value.message == message


def test_an_op_knows_no_loss() -> None:
    with pytest.raises(FormulaError, match=r"^f\(\) at column 5 is not known here: use u\(\) and normal\(\)"):
        parse("x + f()", variables=OP_NAMES)
    with pytest.raises(FormulaError, match=r"^f\(…\) at column 5 is not known here: use u\(\) and normal"):
        parse("x + f(1)", variables=OP_NAMES)
    with pytest.raises(FormulaError, match=r"^u\(\) at column 5 is not known here$"):
        parse("y + u()", variables=("y",))


def test_the_loss_at_an_output_nests_and_its_bare_name_is_a_parameter() -> None:
    formula = parse("g * f(1 - b * y) - f(0)", parameters=None)
    assert formula.data == [
        "-", ["*", ["name", "g"], ["f", ["-", 1, ["*", ["name", "b"], ["name", "y"]]]]], ["f", 0],
    ]  # fmt: skip
    assert parse(formula.text, parameters=None) == formula
    assert formula.parameters == ("b",)
    assert formula.random_names == ("f()",)
    assert formula.other_outputs == ("f(1 - b * y)", "f(0)")
    assert parse("f * (1 - y)", parameters=None).other_outputs == ()
    assert parse("f * (1 - y)", parameters=None).parameters == ("f",)


def test_the_loss_at_what_is_drawn_has_the_name_it_always_had() -> None:
    assert parse("f(y)") == parse("f()")
    assert parse("f((ya())) - f( )") == parse("fa() - f()")
    assert parse("f(y) + fa()").other_outputs == ()


@few
@given(formulas)
def test_the_loss_at_any_output_is_read_and_written(formula: Formula) -> None:
    whole = Formula(Binary("*", Name("g"), LossAt(formula.tree)))
    assume(not {"g", "y"} & {*formula.variables} and measure(whole.tree)[1] <= 16 and len(whole.text) <= 300)
    assert parse(whole.text, parameters=None) == whole
    assert whole.latex == rf"g \,f\left({formula.latex}\right)"
    assert set(whole.parameters) == set(formula.parameters)


def test_the_loss_has_no_value_before_it_is_known() -> None:
    with pytest.raises(ValueError, match="cannot be evaluated before expand_losses"):
        parse("f(1) - f(0)").bind()(torch.zeros(2))


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
            "normal()", r"\mathrm{normal}\left(u\right)", "torch.special.ndtri(u)",
            "jax.scipy.special.ndtri(u)",
        ),
        ("f()", r"f\left(y\right)", "f(y)", "f(y)"),
        ("ya()", r"\mathrm{ya}", "ya", "ya"),
        ("fa()", r"f\left(\mathrm{ya}\right)", "f(ya)", "f(ya)"),
        ("f(1 - y)", r"f\left(1 - y\right)", "f(1 - y)", "f(1 - y)"),
    ],
)  # fmt: skip
def test_a_draw_is_written_in_every_language(draw: str, latex: str, torchs: str, jaxs: str) -> None:
    formula = parse(draw)
    assert (formula.latex, formula.torch_source, formula.jax_source) == (latex, torchs, jaxs)


def test_code_asks_the_loss_at_a_tensor() -> None:
    formula = parse("f(1)")
    assert formula.torch_source == "f(torch.full_like(x, 1.0))"
    assert formula.jax_source == "f(jnp.full_like(x, 1.0))"
