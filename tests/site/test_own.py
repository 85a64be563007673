"""Code and maths of own formulas: written by Python alone, they are the app's to the letter."""

import random
from typing import Any

from explorer.catalogue import FORMULA_PREFIX, OPS, RULES, Op, find_op, find_rule, list_learnable
from explorer.formula import FormulaError
from explorer.questions.code import LANGUAGES
from explorer.questions.formulas import format_forward, format_gradient
from explorer.questions.mathml import to_mathml
from explorer.site.packages import CONVERTER, FORMATTER, pack_package
from explorer.ui.links.choice import Choice
from tests.catalogue.test_custom_learned import LSQ
from tests.questions.test_formulas import letters, plain
from tests.selection import take_part
from tests.site.alone import Ask, answer_alike
from tests.site.test_python import corpus
from tests.ui.choices import random_choice

Json = dict[str, Any]

OWN_OP = f"{FORMULA_PREFIX}Bend = a * tanh(x / a) - lo * floor(x)"
LONG = " + ".join(f"w{n} * g * x**{n}" for n in range(9))
WRITTEN = (
    Choice(op=OWN_OP, rules=("clipped",), parameters={"c": 0.3, "lo": -0.0}, learns="a"),
    Choice(op=OWN_OP, rules=("default",), parameters={"a": 1e-7}, range=(-7.5, 9.25), g=-0.3),
    Choice(op="quantize", rules=(LSQ,), range=(-2.0, 2.5)),
    Choice(op="clamp", rules=(f"{FORMULA_PREFIX}y * g * (g > x)",), parameters={"hi": 2.0}, learns="hi"),
    Choice(op="round", rules=(FORMULA_PREFIX + LONG,), parameters={"w3": 1e22, "w4": 1 / 3}),
    Choice(op=f"{FORMULA_PREFIX}1", rules=(f"{FORMULA_PREFIX}0",)),
    Choice(
        op="stochastic_round", rules=("straight_through",), range=(-1.0, 2.0), f="abs(y - middle)",
        parameters={"middle": 0.2},
    ),
    Choice(op="gaussian_noise", rules=("default",), learns="s", parameters={"target": 0.3}),
    Choice(op=f"{FORMULA_PREFIX}x - mean(x) + normal()", rules=("default",)),
)  # fmt: skip


def choices() -> list[Choice]:
    """Those above, and random ones with own formulas, each with the parameters that its two entries have."""
    rng = random.Random(22)
    result: list[Choice] = []
    while len(result) < 6:
        choice = random_choice(rng)
        op, rule = find_op(choice.op), find_rule(choice.rules[0])
        if FORMULA_PREFIX in (op.key[: len(FORMULA_PREFIX)], rule.key[: len(FORMULA_PREFIX)]):
            names = {parameter.name for entry in (op, rule) for parameter in entry.parameters}
            own = {name: value for name, value in choice.parameters.items() if name in names}
            learns = choice.learns if choice.learns in list_learnable(op, rule) else ""
            result.append(Choice(op=op.key, rules=(rule.key,), parameters=own, learns=learns, g=choice.g))
    return [*WRITTEN, *result]


def test_code_and_formulas_of_own_formulas_are_the_apps(ask: Ask) -> None:
    questions: list[tuple[str, Json]] = []
    for choice in take_part(choices()):
        (start, stop), (rule,) = choice.range, choice.rules
        pair = {"op": choice.op, "rule": rule, "parameters": dict(choice.parameters), "learns": choice.learns}
        view = {"start": start, "stop": stop, "g": choice.g, "f": choice.f, "kinks": [0.5]}
        questions += [("formulas", pair), *(("code", pair | view | {"language": name}) for name in LANGUAGES)]
    answer_alike(ask, questions)


def test_every_readable_formula_can_be_typeset() -> None:
    count = 0
    for kind, text in corpus():
        try:
            entry = (find_op if kind == "op" else find_rule)(FORMULA_PREFIX + text)
        except FormulaError:
            continue
        latex = format_forward(entry) if isinstance(entry, Op) else format_gradient(OPS["identity"], entry)
        assert letters(to_mathml(latex)) == plain(latex), text
        count += 1
    assert count > len(RULES)


def test_packages_come_along_with_what_they_need_and_their_licences() -> None:
    result = pack_package(FORMATTER)
    some = {"black/__init__.py", "black/linegen.py", "blib2to3/Grammar.txt", "pytokens/__init__.py"}
    assert some <= set(result)
    assert not {path.partition("/")[0] for path in result} & {"blackd", "vim"}
    licences = {path.partition("-")[0] for path in result if "LICENSE" in path}
    packages = {"black", "click", "mypy_extensions", "packaging", "pathspec", "platformdirs", "pytokens"}
    assert licences == {*packages, "blib2to3/LICENSE"}
    assert sum(map(len, result.values())) < 2_200_000
    converter = pack_package(CONVERTER)
    assert {"latex2mathml/converter.py", "latex2mathml/unimathsymbols.txt"} < set(converter)
    assert ["License: MIT" in text for path, text in converter.items() if "METADATA" in path] == [True]
    assert sum(map(len, converter.values())) < 320_000
