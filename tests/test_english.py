"""Names and sentences of the code are plain English, as far as a program can tell."""

from collections import Counter
from pathlib import Path

import pytest

from tests.english import find_suspects, iterate_sources

SOURCE = Path(__file__).parents[1] / "explorer"
MAX_PER_1000_LINES = 25

# Names that stay although they are participles or prepositions, by file and name, with the reason.
_PUBLIC, _CLASS = "documented", "a class, which is a noun here"
_LESSON = "a Function that a lesson shows, named by what it does"
ODD_NAMES = {
    "catalogue/records.py: Learned": _PUBLIC,
    "curves/expectation/expected.py: expected": _PUBLIC,
    "formula/measured.py: at_bounds": "written by name into the site's modules",
    "frontend/formula/curves.js: scopeAt": "a property of the data that the stage reads",
    "frontend/learn/prediction.js: picked": "declared twice in one scope: a method and its data",
    "frontend/pages/mount.js: ended": "called by name from Python",
    "frontend/train/charts/axes.js: plain": "a key of the kinds of axes",
    "frontend/train/client/watcher.js: inTurn": "a property of the watcher's data",
    "lessons/stories/constants.py: Blocked": _LESSON,
    "lessons/stories/constants.py: Recording": _LESSON,
    "lessons/stories/constants.py: Returning": _LESSON,
    "lessons/stories/context.py: Doubled": _LESSON,
    "lessons/stories/find_the_bug.py: First": _LESSON,
    "lessons/stories/find_the_bug.py: Meant": _LESSON,
    "lessons/lesson.py: Drawing": _CLASS,
    "lessons/stories/outputs.py: Recording": _LESSON,
    "lessons/stories/outputs.py: Scaled": _LESSON,
    "lessons/stories/outputs.py: Weighted": _LESSON,
    "lessons/pictures.py: Asked": _CLASS,
    "model/observing/log.py: lightning_callback": _PUBLIC,
    "model/swapping/inplace.py: Replaced": _CLASS,
    "model/swapping/learning.py: Learning": _CLASS,
    "model/swapping/parts.py: Swapped": _CLASS,
    "notebook/training_widget.py: Training": _CLASS,
    "reading/__init__.py: Reading": _PUBLIC,
    "reading/functions.py: to": "torch's own name, looked up in pasted code",
    "site/arithmetic.js: computed": "called by name from Python",
    "training/engine/host.py: shared_engine": _PUBLIC,
    "training/instruments/base/instrument.py: Recorded": _PUBLIC,
    "training/instruments/base/instrument.py: Requested": _PUBLIC,
    "training/ranking/ranking.py: Ranking": _CLASS,
    "training/runs/stepper.py: back": _PUBLIC,
    "training/settings/setting.py: Setting": _CLASS,
    "ui/server/runs/stream.py: Recorded": "its fields are JSON",
    "ui/server/runs/study_results.py: Standing": "its fields are JSON",
}


@pytest.fixture(scope="module")
def suspects() -> dict[str, list[tuple[str, str]]]:
    """The kind and text of every finding, by file below ``explorer``."""
    return {
        str(path.relative_to(SOURCE)): [(finding.kind, finding.text) for finding in find_suspects(path)]
        for path in iterate_sources(SOURCE)
    }


def test_no_function_or_class_is_named_by_a_participle_pronoun_or_preposition(suspects):
    odd = {f"{file}: {text}" for file, found in suspects.items() for kind, text in found if kind == "odd"}
    assert odd == ODD_NAMES.keys()


def test_every_docstring_of_a_function_begins_with_an_imperative_verb(suspects):
    assert not [(file, text) for file, found in suspects.items() for kind, text in found if kind == "mood"]


def test_no_package_has_more_than_a_few_findings(suspects):
    lines, findings = Counter(), Counter()
    for file, found in suspects.items():
        package = file.split("/")[0]
        lines[package] += (SOURCE / file).read_text(encoding="utf-8").count("\n")
        findings[package] += len(found)
    shares = {package: 1000 * findings[package] / lines[package] for package in lines if lines[package] > 300}
    assert not {package: share for package, share in shares.items() if share > MAX_PER_1000_LINES}


@pytest.mark.parametrize(
    ("file", "code", "findings"),
    [
        ("a.py", 'def find_x():\n    """Return x."""\n', []),
        ("a.py", 'def find_x():\n    """The x that is known."""\n', ["mood"]),
        ("a.py", "class Drawn:\n    pass\n", ["odd"]),
        ("a.py", "def _halved(): ...\ndef of(): ...\ndef look_at(): ...\ndef latex_of(): ...\n", ["odd"] * 2),
        ("a.js", "function passedOn() {}\nfunction isX() {}\nfunction feedback() {}\n", ["odd", "verbless"]),
        ("a.py", "class A:\n    @property\n    def drawn(self): ...\n", []),
        ("a.py", "most = 3  # what hangs on x\n", ["phrase", "phrase", "variable"]),
        ("a.py", "# ``what is`` in code is not prose\n", []),
        ("a.js", "/** Return the x. */\nexport function findX() {}\n", []),
        ("a.js", "/**\n * The x beside y.\n * @param {X} x\n */\nconst xOf = (x) => x", ["mood", "phrase"]),
        ("a.js", "const known = 1;\n", ["variable"]),
    ],
)
def test_unidiomatic_english_is_found(tmp_path, file, code, findings):
    (tmp_path / file).write_text(code, encoding="utf-8")
    assert sorted(finding.kind for finding in find_suspects(tmp_path / file)) == findings
