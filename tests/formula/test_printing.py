import math

import numpy as np
import pytest
from hypothesis import assume, given

from explorer.formula import FUNCTIONS, Formula, format_number, parse
from explorer.formula.tree import Call, Name, Number
from explorer.snippets import helpers
from tests.formula import oracle
from tests.formula.strategies import PARAMETERS, few, formulas, many
from tests.formula.test_evaluation import VALUES, reliable
from tests.selection import loop_over, take_part

ARGUMENTS = {"x": VALUES["x"], "lo": 0.5, "hi": 1.5, "top": 20.0}


def run_jax(text, values):
    import jax  # half a second for every process that collects this file
    import jax.numpy as jnp

    with jax.enable_x64(True):
        arrays = {name: jnp.asarray(v) if isinstance(v, np.ndarray) else v for name, v in values.items()}
        names = {"jax": jax, "jnp": jnp, "np": np, "math": math}
        exec("\n".join(helpers.JAX.values()), names)
        value = eval(text, {**names, **arrays})
        return np.broadcast_to(np.asarray(value, np.float64), values["x"].shape)


def assert_close(got, expected, where):
    np.testing.assert_allclose(got[where], expected[where], rtol=1e-6, atol=1e-9)


@many
@given(formulas)
def test_canonical_text_parses_back_to_an_equal_tree(formula):
    again = parse(formula.text, parameters=PARAMETERS)
    assert again == formula
    assert again.text == formula.text


@loop_over(
    ("text", "canonical"),
    [
        ("+x", "x"), ("-(x**2)", "-x ** 2"), ("2**(-x)", "2 ** -x"), ("(x**y)**g", "(x ** y) ** g"),
        ("x**(y**g)", "x ** y ** g"), ("x-(y-g)", "x - (y - g)"), ("-(x*y)", "-(x * y)"),
        ("1e3+x", "1000 + x"), (".5e-7*x", "5e-08 * x"), ("g*(lo<=x<=hi)", "g * (lo <= x <= hi)"),
        ("g*~(x>0)", "g * ~(x > 0)"), ("1*((x>0)&((y>0)|(g>0)))", "1 * ((x > 0) & ((y > 0) | (g > 0)))"),
        ("where(x>0,x>1,-x)", "where(x > 0, x > 1, -x)"),
    ],
)  # fmt: skip
def test_canonical_text_has_no_more_parentheses_than_it_needs(text, canonical):
    assert parse(text, parameters=PARAMETERS).text == canonical


@loop_over(
    ("text", "torch_source"),
    [
        ("clamp(x, lo, hi)", "torch.clamp(x, lo, hi)"), ("g * (abs(x) <= c)", "g * (torch.abs(x) <= c)"),
        ("1 * (lo < x < hi)", "1 * ((lo < x) & (x < hi)).to(x.dtype)"),
        ("x * (lo <= x <= hi)", "x * ((lo <= x) & (x <= hi))"),
        ("(x > 0) * (x < 1)", "(x > 0).to(x.dtype) * (x < 1).to(x.dtype)"),
        ("max(x, 0)", "torch.maximum(x, torch.full_like(x, 0))"),
        ("where(x >= 0, 1, -1)", "torch.where(x >= 0, torch.full_like(x, 1), -1)"),
        ("-1 / 2 * x", "-1 / 2 * x"), ("x / sqrt(2 * pi)", "x / math.sqrt(2 * math.pi)"),
        ("x * 3**40 / 7", "x * 3.0 ** 40.0 / 7"), ("x * 9**9**9**9", "x * math.inf"),
        ("x * round(-0.4)", "x * -0.0"), ("x * c**lo", "x * _ieee(math.pow, c, lo)"),
        ("x * c**2 * 2**c", "x * _ieee(math.pow, c, 2) * _ieee(math.pow, 2, c)"),
        ("x * where(c > 1, lo, hi)", "x * (lo if c > 1 else hi)"),
        ("where(c > 1, x, lo)", "torch.where(torch.tensor(c > 1), x, lo)"),
        ("x * ~(c > 1)", "x * (not c > 1)"),
        ("x * sigmoid(c)", "x * torch.sigmoid(torch.tensor(c, dtype=torch.float64)).item()"),
        ("clamp(x, c, 1e5)",
         "torch.clamp(x, c, torch.tensor(100000, dtype=torch.float64).to(x.dtype).item())"),
    ],
)  # fmt: skip
def test_torch_source_reads_as_a_person_would_write_it(text, torch_source):
    assert parse(text, parameters=PARAMETERS).torch_source == torch_source


@loop_over("row", take_part(FUNCTIONS.values()))
def test_each_function_is_the_same_in_jax(row):
    names = [Name(name) for name in ("x", "lo", "hi", "top")[: row.arity]]
    if row.name == "where":
        names[0] = parse("1 * (x >= lo)", parameters=("lo",)).tree.right
    formula = Formula(Call(row.name, tuple(names)))
    expected, sound = reliable(formula.tree, ARGUMENTS)
    assert_close(run_jax(formula.jax_source, ARGUMENTS), expected, sound)


@few
@given(formulas)
def test_jax_source_agrees_with_an_independent_evaluator(formula):
    expected, sound = reliable(formula.tree, VALUES)
    assume(sound.any())
    assert_close(run_jax(formula.jax_source, VALUES), expected, sound)


@loop_over(
    "text",
    [
        "x * 9**9**9**9", "x + 1 / 0", "x * where(c > 1, 2, 3)", "x / where(x > 0, 2, 3) ** -1",
        "(x > 0) ** -1", "where(x > 0, 1, 2) ** -2", "x + 99999999999 * 99999999999 * 3", "x * (0 < 1 < x)",
        "erf(2) * x", "-0 * x",
    ],
)  # fmt: skip
def test_jax_source_never_calculates_with_integers(text):
    formula = parse(text, parameters=("c",))
    values = {"x": np.array([-1.5, 0.25, 2.0]), "c": 1.25}
    np.testing.assert_allclose(
        run_jax(formula.jax_source, values), oracle.evaluate(formula.tree, values), rtol=1e-12
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [(2.0, "2"), (0.1, "0.1"), (1e15, "1000000000000000.0"), (1e22, "1e+22"), (0.0, "0"), (5e-324, "5e-324")],
)
def test_numbers_read_back_as_themselves(value, text):
    formula = Formula(Number(value))
    assert formula.text == text
    assert parse(text) == formula


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (-0.0, "0"), (0.1 + 0.2, "0.3"), (1e5, "100000"), (123456.7, "123457"), (1.5e7, "1.5e7"),
        (-2e-5, "−2e−5"), (math.inf, "inf"),
    ],
)  # fmt: skip
def test_numbers_for_people_have_four_digits_and_few_exponents(value, text):
    assert format_number(value) == text
