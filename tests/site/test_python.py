"""Own formulas read in the browser: by Python alone, without torch or a server, as the app reads them."""

import json
import re
from pathlib import Path
from typing import Any

from explorer.catalogue import FORMULA_PREFIX, make_custom_key
from explorer.formula import FUNCTIONS
from explorer.formula.measured import at_bounds, is_elsewhere
from explorer.instrument import make_custom_entry
from explorer.site import python
from tests.catalogue.fixed import OPS, RULES
from tests.catalogue.test_custom_learned import LSQ
from tests.formula.hostile import HOSTILE
from tests.formula.test_derivative import CALLS, OPERATIONS, WRITTEN_OUT
from tests.formula.test_parsing import WRONG
from tests.formula.test_spellings import FORGIVEN
from tests.site.alone import Ask

Question = tuple[str, str]

# Constants that Python alone cannot compute, names that look like a function's, and Python's own words.
ODD = (
    "where(1 / 0 > 2, x, -x)", "where(relu(2) > 1, x, 0)", "celu(x, 1 / 0)", "celu(x, relu(2))", "celu(x, 0)",
    "clamp(x, 1, 0)", "hardtanh(x, 2, 1)", "softshrink(x, -1)", "rond(x)", "rrelu(x)", "median(x)",
    "sigmod(x)", "x * match", "x * type", "x * lazy", "Cube = x**3", "9**9**9**9 * x", "x * mean(x)",
    "x / std(x)",
)  # fmt: skip


def corpus() -> list[Question]:
    """The formulas of other tests: right, wrong, of the catalogue, and learned ones."""
    learned = [
        make_custom_key(rule.formula, rule.label, rule.learned).removeprefix(FORMULA_PREFIX)
        for rule in RULES.values()
        if rule.formula
    ]
    texts = [*(case[0] for case in WRONG), *(case[0] for case in FORGIVEN), *CALLS, *OPERATIONS, *WRITTEN_OUT]
    every = [("op", op.formula) for op in OPS.values()] + [
        ("rule", text) for text in (*learned, LSQ.removeprefix(FORMULA_PREFIX))
    ]
    every += [("rule", text) for text in (*texts, *HOSTILE)] + [("op", text) for text in (*texts, *ODD)]
    return list(dict.fromkeys(every))


def expected(questions: list[Question]) -> list[Any]:
    """The app's answers, as JSON carries them."""
    return [json.loads(json.dumps(make_custom_entry(*question))) for question in questions]


def test_python_alone_reads_every_formula_as_the_app_does(ask: Ask) -> None:
    questions = corpus()
    found = ask([("entry", {"kind": kind, "text": text}) for kind, text in questions])
    wrong = [each for each in zip(questions, found, expected(questions), strict=True) if each[1] != each[2]]
    assert wrong == []
    kinds = [("entry" in answer) for answer in found]
    assert min(kinds.count(True), kinds.count(False)) > 200


def test_answers_of_the_installed_torch_are_included() -> None:
    scope: dict[str, Any] = {}
    exec(python.pack_program()["modules"]["explorer/formula/measured.py"], scope)
    names = [*FUNCTIONS, "rond", "sigmod", "median", "rrelu", "abss", "tanhh", "clmp"]
    assert [scope["is_elsewhere"](name) for name in names if name not in FUNCTIONS] == [
        is_elsewhere(name) for name in names if name not in FUNCTIONS
    ]
    assert scope["at_bounds"]() == at_bounds()


def test_the_modules_are_those_that_are_needed() -> None:
    program = python.pack_program()["modules"]
    assert {"explorer/formula/parsing.py", "explorer/catalogue/custom.py"} < set(program)
    left_out = {"explorer/__init__.py", "explorer/instrument/__init__.py", "explorer/formula/evaluation.py"}
    left_out |= {"explorer/curves/sampled.py", "explorer/gradient/bound.py", "explorer/description/words.py"}
    assert not left_out & set(program)
    texts = [text for path, text in program.items() if path != "explorer/formula/measured.py"]
    assert not [text for text in texts if re.search("^(import|from) torch", text, re.MULTILINE)]


def test_the_script_is_that_of_arithmetic_with_its_imports() -> None:
    script = python.pack_program()["browser"]
    assert not re.search("^import ", script, re.MULTILINE)
    for name in ("export function computed", "OPERATORS = {", "FUNCTIONS = {"):
        assert name in script


def test_without_pyodide_there_is_none(tmp_path: Path) -> None:
    assert python.read_version(tmp_path) == ""


def test_pyodide_is_the_version_that_npm_is_asked_for() -> None:
    package = json.loads((python.ROOT / "package.json").read_text(encoding="utf-8"))
    assert python.read_version() in ("", package["dependencies"]["pyodide"])
