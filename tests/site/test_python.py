"""Formulas, pasted code and solutions read in the browser by Python alone, as the app does."""

import json
import re
from pathlib import Path
from typing import Any

from explorer.catalogue import FORMULA_PREFIX, make_custom_key
from explorer.formula.measured import at_bounds, is_elsewhere
from explorer.site import python
from tests.catalogue.fixed import OPS, RULES
from tests.catalogue.test_custom_learned import LSQ
from tests.formula.hostile import HOSTILE
from tests.formula.test_derivative import CALLS, OPERATIONS, WRITTEN_OUT
from tests.formula.test_parsing import WRONG
from tests.formula.test_spellings import FORGIVEN
from tests.reading.constructs import CONSTRUCTS
from tests.reading.documents import DOCUMENTS_CLAMP, DOCUMENTS_RELU
from tests.reading.exercises.detours import DETOURS
from tests.reading.exercises.solutions import RIGHT
from tests.reading.exercises.solutions import WRONG as WRONG_SOLUTIONS
from tests.reading.learned import PUBLISHED
from tests.reading.plain import PLAIN
from tests.reading.samples import FUNCTIONS as SAMPLES
from tests.selection import take_part
from tests.site.alone import Ask, answer_alike

# Constants that Python alone cannot compute, names that look like a function's, and Python's own words.
ODD = (
    "where(1 / 0 > 2, x, -x)", "where(relu(2) > 1, x, 0)", "celu(x, 1 / 0)", "celu(x, relu(2))", "celu(x, 0)",
    "clamp(x, 1, 0)", "hardtanh(x, 2, 1)", "softshrink(x, -1)", "rond(x)", "rrelu(x)", "median(x)",
    "sigmod(x)", "x * match", "x * type", "x * lazy", "Cube = x**3", "9**9**9**9 * x", "x * mean(x)",
    "x / std(x)",
)  # fmt: skip


def corpus() -> list[tuple[str, str]]:
    """The formulas of other tests: right, wrong, of the catalogue, and learned ones."""
    rules = [rule for rule in RULES.values() if rule.formula]
    keys = [*(make_custom_key(rule.formula, rule.label, rule.learned) for rule in rules), LSQ]
    texts = [*(case[0] for case in WRONG), *(case[0] for case in FORGIVEN), *CALLS, *OPERATIONS, *WRITTEN_OUT]
    rules = [*(key.removeprefix(FORMULA_PREFIX) for key in keys), *texts, *HOSTILE]
    ops = [*(op.formula for op in OPS.values()), *texts, *ODD]
    every = [*(("rule", text) for text in rules), *(("op", text) for text in ops)]
    return list(dict.fromkeys(every))


def test_python_alone_reads_every_formula_as_the_app_does(ask: Ask) -> None:
    questions = [("entry", {"kind": kind, "text": text}) for kind, text in corpus()]
    kinds = [("entry" in answer) for answer in answer_alike(ask, questions)]
    assert min(kinds.count(True), kinds.count(False)) > 200


# Constants at which Python raises, and what is no code or no text.
BOUNDS = "1 / 0", "torch.log(torch.tensor(0.0))", "math.exp(1e9)", "(-8) ** 0.5", "2 ** 9999"
NO_CODE = (
    *(f"def f(x):\n    return torch.where(x > {bound}, x, 0)" for bound in BOUNDS),
    DOCUMENTS_RELU.replace("x.clamp(min=0)", "sort_it(x)"), "", "x = 3",
    "class F(torch.autograd.Function:\n  pass", "\ud800", "\0", "x" * 20_001,
)  # fmt: skip


def test_the_browser_reads_pasted_code_as_the_app_does(ask: Ask) -> None:
    samples = [sample.source for sample in (*SAMPLES, *PLAIN, *CONSTRUCTS, *PUBLISHED)]
    texts = [*samples, DOCUMENTS_CLAMP, DOCUMENTS_RELU, *NO_CODE]
    answers = answer_alike(ask, [("read", {"code": text}) for text in texts])
    choices = [reading.get("choice") for one in answers for reading in one.get("readings", ())]
    assert len([choice for choice in choices if choice]) > 40
    assert None in choices


def test_the_browser_judges_exercises_as_the_app_does(ask: Ask) -> None:
    texts = [(key, text) for some in (RIGHT, WRONG_SOLUTIONS) for key, each in some.items() for text in each]
    texts = take_part([*texts, *DETOURS])
    texts += [("clamp", ""), ("clamp", "class F("), ("clamp", "\ud800")]
    answers = answer_alike(ask, [("judge", {"exercise": key, "code": text}) for key, text in texts])
    assert {answer["kind"] for answer in answers} == {"right", "wrong", "unread"}


def test_answers_of_the_installed_torch_are_included() -> None:
    scope: dict[str, Any] = {}
    exec(python.pack_program()["modules"]["explorer/formula/measured.py"], scope)
    for name in ("rond", "sigmod", "median", "rrelu", "abss", "tanhh", "clmp"):
        assert scope["is_elsewhere"](name) == is_elsewhere(name), name
    assert scope["at_bounds"]() == at_bounds()


def test_the_modules_are_those_that_are_needed() -> None:
    packed = python.pack_program()
    program, script = packed["modules"], packed["browser"]
    assert not re.search("^import ", script, re.MULTILINE)
    for name in ("export function computed", "OPERATORS = {", "FUNCTIONS = {"):
        assert name in script
    assert {"explorer/formula/parsing.py", "explorer/catalogue/custom.py"} < set(program)
    left_out = {"explorer/__init__.py", "explorer/instrument/__init__.py", "explorer/formula/evaluation.py"}
    left_out |= {"explorer/curves/sampled.py", "explorer/gradient/bound.py", "explorer/description/words.py"}
    assert not left_out & set(program)
    texts = [text for path, text in program.items() if path != "explorer/formula/measured.py"]
    assert not [text for text in texts if re.search("^(import|from) torch", text, re.MULTILINE)]


def test_pyodide_is_the_version_that_npm_is_asked_for(tmp_path: Path) -> None:
    assert python.read_version(tmp_path) == ""
    package = json.loads((python.ROOT / "package.json").read_text(encoding="utf-8"))
    assert python.read_version() in ("", package["dependencies"]["pyodide"])
