"""The instrument as a widget, read and set in Python without a browser."""

import base64
import io
import math
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
import torch
from ipywidgets.widgets.widget import _instances
from PIL import Image, ImageColor
from traitlets import TraitError

import explorer
from explorer.catalogue.colours import NEUTRAL, RULE_COLOURS_LIGHT
from explorer.notebook.cell import Library, pack_library
from explorer.questions import QUESTIONS


def square(x: torch.Tensor) -> torch.Tensor:
    return x * x


@pytest.fixture
def shown() -> Any:
    return explorer.instrument("clamp", ["default", "masked"], start=-2, stop=2, lo=-0.5)


def test_assigned_traits_change_the_picture(shown: Any) -> None:
    shown.g, shown.range = 2, (-1, 1)
    shown.parameters = {"lo": 0, "hi": 0.5}
    looked = {"start": -1, "stop": 1, "g": 2, "lo": 0, "hi": 0.5}
    assert shown.choice == {"op": "clamp", "rules": ["default", "masked"], "learns": ""} | looked
    expected = explorer.sample("clamp", ["default", "masked"], **looked)
    assert shown.frame.equals(expected)
    shown.start = -3
    assert shown.range == [-3, 1]
    shown.stop = 3
    assert (shown.start, shown.stop, shown.range) == (-3, 3, [-3, 3])
    assert "masked" in shown.html()
    seen = {}  # a hand is observed
    shown.observe(lambda change: seen.update({change["name"]: change["new"]}))
    shown.set_state({"rules": ["masked", "default"], "parameters": {"hi": 0.25}, "g": -1.0})
    assert (seen["parameters"], seen["g"]) == ({"hi": 0.25}, -1.0)
    assert shown.choice["rules"] == ["masked", "default"]


def test_another_op_keeps_what_it_knows(shown: Any) -> None:
    shown.learns = "lo"
    shown.rules = ["default"]
    assert (shown.parameters, shown.learns) == ({"lo": -0.5}, "lo")
    shown.op = "round"
    assert (shown.parameters, shown.learns) == ({}, "")
    assert set(shown.frame["rule"]) == {"default"}
    with pytest.raises(ValueError, match="unknown op"):
        explorer.instrument("rond", "default")


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("op", "rond", "unknown op 'rond': did you mean 'round'"), ("rules", [], "choose 1 to 6 rules"),
        ("rules", ["default", "nope"], "unknown rule 'nope'"), ("g", "x", "g must be a number, not 'x'"),
        ("range", [0, math.nan], "stop must be a finite number"), ("range", 3, "range must be two numbers"),
        ("parameters", {"c": 1}, "unknown parameter 'c'"), ("learns", "q", "unknown parameter 'q'"),
        ("f", "y +", "a value is missing at the end"), ("layer", "none", "layer must be one of implied"),
        ("noise", "pink", "noise must be one of uniform"), ("noise_width", 0, "width must be a number from"),
        ("section", "chart", "section must be one of code, checks, formula"),
    ],
)  # fmt: skip
def test_a_wrong_value_is_refused_in_a_sentence(shown: Any, name: str, value: Any, sentence: str) -> None:
    before = shown.choice
    with pytest.raises(TraitError, match=sentence):
        setattr(shown, name, value)
    assert shown.choice == before


def test_a_function_stays_an_object() -> None:
    same = lambda x: x * x  # noqa: E731
    shown = explorer.instrument("round", [square, same])
    assert shown.rules[0] is square
    keys = shown.get_state("rules")["rules"]
    assert len({*keys}) == 2
    assert {entry["key"] for entry in shown.get_state("_custom")["_custom"]["rule"]} == {*keys}
    shown.set_state({"rules": [keys[1], "default"]})  # as a browser does
    assert shown.rules == [same, "default"]
    shown.rules, shown.range = [square], [-1, 1]
    np.testing.assert_allclose(shown.frame["gradient"], 2 * shown.frame["x"])


def ask(shown: Any, question: str, arguments: dict[str, Any]) -> Any:
    """The answer to a message of the browser."""
    shown.send = Mock()
    shown._receive(shown, {"id": "1", "question": question, "arguments": arguments}, [])
    shown.send.assert_called_once()
    content, *more = [*shown.send.call_args.args, *shown.send.call_args.kwargs.values()]
    assert content["id"] == "1"
    return content["answer"] if "answer" in content else more[0]


def test_the_kernel_answers_as_the_registry_does(shown: Any) -> None:
    arguments = {"op": "clamp", "rule": "masked", "parameters": {"lo": -0.5}}
    for question, more in {
        "checks": {}, "row": {}, "formulas": {"learns": ""}, "code": {"learns": "", "language": "PyTorch"},
        "neighbours": {"start": -3.0, "stop": 3.0},
    }.items():  # fmt: skip
        assert ask(shown, question, arguments | more) == QUESTIONS[question].answer(arguments | more)
    assert {*ask(shown, "template", {})} == {"gzip", "names", "limits"}
    assert ask(shown, "library", {}) == [pack_library()[0]]
    assert "error is ours" not in str(ask(shown, "checks", {"op": "clamp"}))


def test_the_kernel_answers_about_a_function() -> None:
    shown = explorer.instrument("round", [square])
    (rule,) = shown.get_state("rules")["rules"]
    arguments = {"op": "round", "rule": rule, "parameters": {}}
    lines = ask(shown, "checks", arguments)["lines"]
    found = {line["name"]: line["verdict"] for line in lines}
    checked = {result.name: result.verdict for result in explorer.check("round", shown.find_rule(square))}
    assert found
    assert found.items() <= checked.items()
    curves = {"op": "round", "rules": [rule], "parameters": {}, "start": -1.0, "stop": 1.0, "g": 1.0}
    assert rule in ask(shown, "curves", curves)["gradients"]
    assert ask(shown, "row", arguments)["row"]["rule"] == rule
    assert "not a formula" in ask(shown, "code", arguments | {"learns": "", "language": "PyTorch"})["message"]


def test_code_comes_once_and_a_view_that_goes_leaves_nothing() -> None:
    first = explorer.instrument("sign", "clipped")
    library, before = Library.shared, len(_instances)
    assert library is not None
    for _ in range(3):
        shown = explorer.instrument("sign", ["clipped", "approx_sign"], section="paste")
        assert shown._library == first._library == library.model_id
        shown.set_state({"_view_count": 1})
        shown.set_state({"_view_count": 0})
    assert len(_instances) == before
    shown.g = 3.0  # it still works, and comes back where it is shown again
    assert shown.frame["gradient"].max() > 1
    data, _ = shown._repr_mimebundle_()
    assert data["application/vnd.jupyter.widget-view+json"]["model_id"] == shown.model_id
    assert (len(_instances), shown.section) == (before + 1, "paste")


@pytest.mark.parametrize(
    ("op", "rules"), [("clamp", ["masked"]), ("formula: 1/x", ["default"]), ("bernoulli", ["sigmoid_st"])]
)
def test_an_image_has_every_curve(op: str, rules: list[str]) -> None:
    png, _ = explorer.instrument(op, rules).draw_image()
    image = Image.open(io.BytesIO(png))
    assert image.size == (720, 400)
    assert len(png) < 15_000
    colors = [color for _, color in image.convert("RGB").getcolors()]
    for wanted in (NEUTRAL, RULE_COLOURS_LIGHT[0]):
        assert any(np.abs(np.subtract(ImageColor.getrgb(wanted), color)).max() < 24 for color in colors)


def test_a_cell_is_never_blank(shown: Any) -> None:
    data, _ = shown._repr_mimebundle_()
    assert base64.b64decode(data["image/png"]) == shown.draw_image()[0]
    assert "Clamp with Default autograd, Masked, x from -2 to 2" in data["text/plain"]
    assert explorer.describe(shown.frame)[:40] in data["text/plain"]
    assert len(str(data)) < 15_000


def test_without_anywidget_it_is_a_page_that_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("explorer.notebook.opening.find_spec", lambda _: None)
    page = explorer.instrument("sign", "clipped", g=2)
    assert "<iframe" in page._repr_html_()
    assert "pip install anywidget" in page._repr_html_()
    assert "clipped" in page.html()
    with pytest.raises(ValueError, match="section must be one of format, compare, map"):
        explorer.instrument("sign", "clipped", section="checks")
