"""Prompts, fences, prose and odd indentation around the code."""

import pytest

from explorer.reading import MAX_CHARACTERS, ReadingError, read_source, read_sources
from tests.reading.documents import DOCUMENTS_CLAMP, DOCUMENTS_RELU

WANTED = ("formula: MyReLU = clamp_min(x, 0)", "formula: MyReLU = where(x < 0, 0, g)")


def _each(prefix: str, text: str = DOCUMENTS_RELU) -> str:
    return "".join(f"{prefix}{line}\n" for line in text.splitlines())


DRESSED = {
    "indented": _each("    "),
    "tabs": DOCUMENTS_RELU.replace("    ", "\t"),
    "tabs and spaces mixed": DOCUMENTS_RELU.replace("        x, =", "\tx, ="),
    "windows line ends": DOCUMENTS_RELU.replace("\n", "\r\n"),
    "no-break spaces": DOCUMENTS_RELU.replace(" ", "\u00a0"),
    "byte order mark": "\ufeff" + DOCUMENTS_RELU,
    "notebook prompt": f"In [5]:\n{DOCUMENTS_RELU}\nOut[5]:\n",
    "prompt in the line": "In [12]: " + DOCUMENTS_RELU.replace("\n", "\n   ...: "),
    "doctest": _each("... ").replace("... ", ">>> ", 1) + "tensor([1., 2.])\n",
    "markdown": f"Here it *is*:\n\n```python\n{DOCUMENTS_RELU}```\n\nThat's all.\n",
    "shell lines": f"!pip install torch\n%matplotlib inline\n{DOCUMENTS_RELU}",
    "prose around": f"Step 1: subclass, then write\n\n{DOCUMENTS_RELU}\n\nIsn't it easy?\n0 28410422.0\n",
    "prose and constants": f"We use\nLR = 0.1\n\n{DOCUMENTS_RELU}\nand so on, as we've seen\n",
    "class indented under an import": "import torch\n" + _each("    "),
    "an old print": f"{DOCUMENTS_RELU}\nprint 'done'\n",
    "backslashes": DOCUMENTS_RELU.replace("forward(ctx, x):\n", 'forward(ctx, x):\n        "\\frac\\d"\n'),
}


@pytest.mark.parametrize("text", DRESSED.values(), ids=DRESSED)
def test_text_around_the_code_is_ignored(text: str) -> None:
    assert read_source(text) == WANTED


def test_lines_are_counted_in_the_text_as_it_was_pasted() -> None:
    text = f"Some prose isn't code\n\n```python\n{DOCUMENTS_CLAMP}```\n"
    found = [(reading.name, reading.line) for reading in read_sources(text)]
    assert found == [("RoundGradient", 5), ("ClampGradient", 13)]


def test_an_error_in_the_class_itself_is_not_passed_over() -> None:
    with pytest.raises(ReadingError, match=r"^line 4: this is not valid Python") as caught:
        read_source("Prose isn't code\n" + DOCUMENTS_RELU.replace("(ctx, x):", "(ctx, x:"))
    assert caught.value.line == 4


@pytest.mark.parametrize(
    ("text", "words", "line"),
    [
        ("", "the text is empty", 1), (" \n\t\n", "the text is empty", 1),
        ("x" * (MAX_CHARACTERS + 1), "20,001 characters, but at most 20,000 are allowed", 1),
        ("class A(:\n", "line 1: this is not valid Python", 1),
        ("def f(x):\n    return (x\n", "line 2: this is not valid Python", 2),
        ("just words, no code\n", "line 1: this is not valid Python", 1),
        ("9" * 19_000, "line 1: a number has 19,000 digits, but at most 4,300 are allowed", 1),
        (f"x = 1\ny = {'1' * 4_301}\n", "line 2: a number has 4,301 digits, but at most 4,300 are allowed",
         2),
    ],
)  # fmt: skip
def test_text_that_is_not_code_is_refused_in_a_sentence(text: str, words: str, line: int) -> None:
    with pytest.raises(ReadingError) as caught:
        read_source(text)
    assert words in caught.value.message
    assert caught.value.line == line
