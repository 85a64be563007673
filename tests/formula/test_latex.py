import re

import pytest
from hypothesis import given

from explorer.formula import FUNCTIONS, Formula, name_latex, number_latex, parse
from explorer.formula.tree import Call, Name
from tests.formula.strategies import PARAMETERS, formulas, many
from tests.selection import loop_over


def balanced(text, opening, closing):
    depth = 0
    for match in re.finditer(f"{opening}|{closing}", text):
        depth += 1 if re.fullmatch(opening, match.group()) else -1
        if depth < 0:
            return False
    return depth == 0


@many
@given(formulas)
def test_every_pair_is_closed_and_every_name_is_there(formula):
    text = formula.latex
    assert balanced(text, r"(?<!\\)\{", r"(?<!\\)\}")
    assert balanced(text, r"\\left(?![a-z])", r"\\right(?![a-z])")
    assert balanced(text, r"\\begin\{cases\}", r"\\end\{cases\}")
    for name in formula.parameters + formula.variables:
        assert name_latex(name) in text
    assert "#" not in text
    assert not re.search(r"[-+] *-|cdot *-|(?<!,)\\,-", text), "two signs in a row"


@loop_over(
    ("text", "latex"),
    [
        ("x", "x"),
        ("g * (abs(x) <= c)", r"g \,\mathbf{1}\left[\left|x\right| \le c\right]"),
        ("g * (lo <= x <= hi)", r"g \,\mathbf{1}\left[\mathrm{lo} \le x \le \mathrm{hi}\right]"),
        ("g / (1 + abs(x)) ** 2", r"\frac{g}{{\left(1 + \left|x\right|\right)}^{2}}"),
        ("3 * x ** 2 * g", r"3 \cdot {x}^{2} \,g"),
        ("-x * g", r"-x \,g"),
        ("x * -g", r"x \,\left(-g\right)"),
        ("x - -g", r"x - \left(-g\right)"),
        ("x + (-y) * g", r"x + \left(-y \,g\right)"),
        ("-(-x)", r"-\left(-x\right)"),
        ("-(x + y)", r"-\left(x + y\right)"),
        ("x - (y - g)", r"x - \left(y - g\right)"),
        ("(-x) ** 2", r"{\left(-x\right)}^{2}"),
        ("2 ** -x", "{2}^{-x}"),
        ("(x / y) ** 2", r"{\left(\frac{x}{y}\right)}^{2}"),
        ("reciprocal(x) ** 2", r"{\left(\frac{1}{x}\right)}^{2}"),
        ("1e-7 ** x", r"{\left(1\cdot 10^{-7}\right)}^{x}"),
        ("1.5e-7 * x", r"1.5\cdot 10^{-7} \,x"),
        ("log1p(-x)", r"\ln\left(1+\left(-x\right)\right)"),
        ("sqrt(x) + exp(-x)", r"\sqrt{x} + \exp\left(-x\right)"),
        ("2 * pi * alpha", r"2 \,\pi \,\alpha"),
        ("elu(x, alpha)", r"\operatorname{elu}_{\alpha}\left(x\right)"),
        ("x * ~(x > 0)", r"x \,\mathbf{1}\left[\lnot \left(x > 0\right)\right]"),
        ("1 - where(x > 0, x, 0)",
         r"1 - \left(\begin{cases}x & \text{if } x > 0\\ 0 & \text{otherwise}\end{cases}\right)"),
        ("where((x > 0) & (y != 1) | (g == 0), x, 1)",
         r"\begin{cases}x & \text{if } x > 0 \land y \ne 1 \lor g = 0\\ 1 & \text{otherwise}\end{cases}"),
    ],
)  # fmt: skip
def test_formulas_are_set_as_people_write_them(text, latex):
    assert parse(text, parameters=PARAMETERS).latex == latex


def test_nested_where_is_one_table_of_cases():
    latex = parse("where(x > 1, 1, where(x < -1, -1, where(x == 0, 0, x)))").latex
    assert latex == (
        r"\begin{cases}1 & \text{if } x > 1\\ -1 & \text{if } x < -1\\ "
        r"0 & \text{if } x = 0\\ x & \text{otherwise}\end{cases}"
    )


@loop_over("row", FUNCTIONS.values())
def test_each_function_shows_all_its_arguments(row):
    names = ("alpha", "beta", "gamma", "delta")[: row.arity]
    arguments = [Name(name) for name in names]
    if row.name == "where":
        arguments[0] = parse("1 * (alpha > 0)", parameters=names).tree.right
    latex = Formula(Call(row.name, tuple(arguments))).latex
    assert all(name_latex(name) in latex for name in names)


@pytest.mark.parametrize(
    ("name", "latex"),
    [
        ("x", "x"), ("pi", r"\pi"), ("beta", r"\beta"), ("lambd", r"\lambda"), ("lo", r"\mathrm{lo}"),
        ("c_1", r"\mathrm{c\_1}"),
    ],
)  # fmt: skip
def test_names(name, latex):
    assert name_latex(name) == latex


@pytest.mark.parametrize(
    ("value", "latex"), [(1.0, "1"), (0.25, "0.25"), (1e-7, r"1\cdot 10^{-7}"), (2.5e20, r"2.5\cdot 10^{20}")]
)
def test_numbers(value, latex):
    assert number_latex(value) == latex


def test_a_formula_reads_well_in_a_notebook():
    formula = parse("g * (abs(x) <= c)", parameters=("c",))
    assert repr(formula) == "Formula('g * (abs(x) <= c)')"
    assert formula._repr_latex_() == rf"$\displaystyle {formula.latex}$"
