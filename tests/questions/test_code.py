"""The question "code": the texts of the library, or a sentence in their place."""

import pytest

from explorer.curves import sample
from explorer.questions.code import LANGUAGES, NOTEBOOK, WRITERS
from explorer.snippets import custom_op_snippet, jax_snippet, notebook, snippet
from explorer.snippets.pair import make_pair
from explorer.snippets.short_code import make_short_code
from tests.questions.asking import Json, ask

SNIPPETS = dict(zip(WRITERS, (snippet, custom_op_snippet, jax_snippet), strict=True))
VALUES = {"lo": -0.5, "hi": 1.25}
COIN = "formula: where(u() < sigmoid(x), 1, 0)"


def ask_code(language: str, op: str, rule: str, values=(), learns: str = "", **view: object) -> Json:
    pair = {"op": op, "rule": rule, "parameters": dict(values), "learns": learns}
    return ask("code", language=language, **pair, **view)


def test_code_is_the_librarys_or_a_sentence(subtests: pytest.Subtests) -> None:
    for language, write in SNIPPETS.items():
        for rule in ("default", "straight_through", "published_clamp", "formula: g * k"):
            with subtests.test(f"{language} {rule}"):
                answer = ask_code(language, "clamp", rule, VALUES)
                try:
                    assert answer["text"] == (write("clamp", rule, VALUES) or "")
                except ValueError:
                    assert (answer["text"], answer["note"].endswith(".")) == ("", True)


def test_pytorch_alone_has_a_short_form() -> None:
    answer = ask_code("PyTorch", "clamp", "published_clamp", VALUES)
    assert answer["short"] == make_short_code(make_pair("clamp", "published_clamp", VALUES))
    assert "return ClampPublishedClamp.apply(x, lo, hi)" in answer["short"]
    learning = ask_code("PyTorch", "clamp", "masked", {"hi": 0.5}, "hi")["short"]
    assert learning == make_short_code(make_pair("clamp", "masked", {"hi": 0.5}, ["hi"]))
    assert {ask_code(language, "clamp", "masked")["short"] for language in LANGUAGES[1:]} == {""}


def test_a_parameter_that_learns_is_a_tensor_in_every_language(subtests: pytest.Subtests) -> None:
    for language, write in SNIPPETS.items():
        with subtests.test(language):
            expected = write("clamp", "masked", {"hi": 0.5}, learns=["hi"])
            assert expected != write("clamp", "masked", {"hi": 0.5})
            assert ask_code(language, "clamp", "masked", {"hi": 0.5}, "hi")["text"] == expected
    assert "nn.Parameter" in ask_code("PyTorch", "quantize", "lsq")["text"]


def test_parameters_that_cannot_learn_are_exported_as_numbers() -> None:
    answer = ask_code("PyTorch", "clamp", "straight_through", learns="k")
    assert answer["note"] == "k cannot learn by this rule: in its code it is a number."
    assert set(LANGUAGES) == {*WRITERS, NOTEBOOK}


def test_a_notebook_draws_what_the_chart_draws() -> None:
    view = {"start": -2, "stop": 2.5, "g": -1.5, "f": "", "kinks": [1.25, -0.5, -0.5]}
    answer = ask_code(NOTEBOOK, "clamp", "straight_through", VALUES, **view)
    of = {"start": -2.0, "stop": 2.5, "g": -1.5, "kinks": [-0.5, 1.25]}
    assert answer["text"] == notebook("clamp", "straight_through", VALUES, **of)
    # Of a random op it contains the loss and the kinks of the mean.
    pair, parameters = ("stochastic_round", "straight_through"), {"middle": 0.25}
    view = {"start": -1, "stop": 1, "f": "abs(y - middle)"}
    kinks = sample(*pair, **view, **parameters).attrs["curves"].kinks["straight_through"]
    answer = ask_code(NOTEBOOK, *pair, parameters, **view, kinks=list(kinks))
    assert answer["text"] == notebook(*pair, parameters, **view, kinks=[-1, 0, 1])


def test_what_a_language_cannot_express_is_refused_with_a_reason() -> None:
    name = "A parameter is called u, as the draw is in code: give it another name."
    mean = "A notebook draws each x separately, but this op takes a mean over all x: choose PyTorch."
    loss = "this rule takes a function, the loss f: choose PyTorch."
    for language, op, rule, why in (
        *((language, COIN, "formula: g * u", name) for language in LANGUAGES),
        (NOTEBOOK, "formula: x - mean(x) + u()", "default", mean),
        ("Custom op", COIN, "formula: (fa() - f()) * (u() - 0.5)", loss),
    ):
        answer = ask_code(language, op, rule)
        assert (answer["text"], answer["short"], answer["note"].endswith(why)) == ("", "", True), language
    said = ask_code("COBOL", "round", "zero")["message"]
    assert said.startswith("Unknown language 'COBOL': choose one of ")
