"""Answers of the server: torch's curves, own formulas, pasted code, the files; never an error."""

import base64
import json
import math
import random
import re
from dataclasses import replace
from unittest.mock import Mock
from urllib.parse import urlencode

import numpy as np
import pytest

from explorer.catalogue import FORMULA_PREFIX
from explorer.curves import sample, sample_curves
from explorer.description import describe
from explorer.instrument.assets import PLOTLY
from explorer.questions import curves
from explorer.reading import read_source
from explorer.training import SETTINGS
from explorer.ui.links.presets import PRESETS
from explorer.ui.server import answers
from explorer.ui.server.admission import limits
from tests.questions.asking import ask, ask_curves
from tests.reading.documents import DOCUMENTS_CLAMP, DOCUMENTS_RELU
from tests.reading.sample import function
from tests.selection import take_part
from tests.ui.choices import query_of, random_choice


def _values(encoded: dict[str, str]) -> np.ndarray:
    return np.frombuffer(base64.b64decode(encoded["bdata"]), encoded["dtype"])


def test_the_curves_are_the_sampled_ones():
    for seed in take_part(range(36)):
        choice = random_choice(random.Random(seed))
        answer = ask_curves(urlencode(query_of(choice), doseq=True))
        (start, stop), dtype = choice.range, {"f4": "float32", "f8": "float64"}[answer["x"]["dtype"]]
        settings = {"start": start, "stop": stop, "g": choice.g, "dtype": dtype, "learns": choice.learns}
        sampled = sample_curves(choice.op, choice.rules, **settings, **choice.parameters)
        for name in ("x", "y", "marks"):
            assert _values(answer[name]).tobytes() == getattr(sampled, name).tobytes()
        assert list(answer["gradients"]) == list(choice.rules)
        for key, values in sampled.gradients.items():
            assert _values(answer["gradients"][key]).tobytes() == values.tobytes()
        some = {key: None if kinks is None else list(kinks) for key, kinks in sampled.kinks.items()}
        assert answer["kinks"] == some
        # The headline of a random op may be a shorter first sentence; then the rest is the whole description.
        assert describe(sampled) in (f"{answer['main']} {answer['rest']}".strip(), answer["rest"])


def test_a_narrow_range_is_in_float64():
    ranges = (-3, 3), (1, 1.01), (1, 1 + 1e-9), (0, 1e-9)
    xs = [ask_curves(urlencode({"op": "sin", "range": ends}, doseq=True))["x"] for ends in ranges]
    assert [x["dtype"] for x in xs] == ["f4", "f4", "f8", "f4"]
    assert len(np.unique(_values(xs[2]))) > 500


@pytest.mark.parametrize(
    ("op", "rule"),
    [
        ("identity", "g/(x-round(x)==0)"), ("identity", "g*((x/1e-300)**2)"), ("round", "g*y/(x==y)"),
        ("formula: log(-1-x*x)", "g/(x==x/2)"), ("formula: 1/(x==1)", "y/(x==1)"),
    ],
)  # fmt: skip
def test_a_gradient_with_values_at_single_x_gets_words(op: str, rule: str):
    answer = ask_curves(urlencode({"op": op, "rule": ["default", f"formula: {rule}"]}, doseq=True))
    assert answer["main"].endswith(".")
    assert "finite" in f"{answer['main']} {answer['rest']}"


def test_curves_come_without_words_rather_than_not_at_all(monkeypatch, caplog):
    monkeypatch.setattr(curves, "make_description", Mock(side_effect=KeyError("a fault of ours")))
    answer = ask_curves("op=sin&rule=zero&g=1.25")
    assert (answer["main"], answer["rest"]) == ("", "")
    assert len(_values(answer["x"])) > 600
    assert "a fault of ours" in caplog.text


def test_an_own_formula_is_an_entry_or_a_mistake_with_its_column():
    assert ask("entry", kind="rule", text="g*w")["entry"]["key"] == "formula: g * w"
    assert ask("entry", kind="op", text="x**2")["entry"]["tree"] == ["**", ["name", "x"], 2]
    wrong = ask("entry", kind="op", text="x + y")
    assert (wrong["column"], "entry" in wrong) == (5, False)
    assert ask("entry", kind="rule", text="g * (")["column"] > 0
    assert "kind must be" in ask("entry", kind="cellar", text="x")["message"]


def test_pasted_code_is_what_read_source_gives():
    for text in (DOCUMENTS_CLAMP, DOCUMENTS_RELU):
        readings = ask("read", code=text)["readings"]
        op, rule = read_source(text)
        assert len(readings) == text.count("class ")
        choice = readings[0]["choice"]
        assert (choice["op"], choice["rules"]) == (op, ["default", rule])
        assert [entry["key"] for entry in choice["own"]["rule"]] == [rule]
        assert len(sample(choice["op"], choice["rules"]))
    (reading,) = ask("read", code="def f(x):\n    return x.clamp(0, 1)")["readings"]
    assert (reading["op"], reading["rule"]) == ("clamp(x, 0, 1)", "torch's own")
    assert reading["choice"]["rules"] == ["default"]
    assert reading["choice"]["op"].startswith(FORMULA_PREFIX)


def test_code_that_cannot_be_read_gets_a_sentence_with_its_line():
    for text, words in (
        ("class F(torch.autograd.Function:\n  pass", "line 1"),
        (DOCUMENTS_RELU.replace("x.clamp(min=0)", "sort_it(x)"), "line 5"),
        ("x = 3", "there is no Function here"),
    ):
        answer = ask("read", code=text)
        assert words in " ".join(each["message"] for each in answer.get("readings", [answer]))
    for code in (None, 7, [], {}, "", "\ud800", "class F:\n  x = '\ud800'", "\0"):
        assert json.dumps(ask("read", code=code), ensure_ascii=False).encode()


def test_a_question_that_is_not_understood_gets_a_sentence(subtests: pytest.Subtests):
    wrong: list[dict[str, object]] = [{}, {"op": 1}, {"op": "round", "rule": None}, {"": ""}, {"key": [1]}]
    for name, question in answers.QUESTIONS.items():
        for arguments in wrong:
            with subtests.test(f"{name} {arguments}"):
                message = question.answer(arguments)["message"]
                assert message.startswith("The question is not understood: ")


def test_a_value_of_a_wrong_type_is_named():
    pair = {"op": "round", "rule": "zero", "parameters": {}}
    values = {"s": "1"}, {"s": math.inf}, {"s": 10**400}, [1]
    for wrong in ({"op": 1}, *({"parameters": each} for each in values)):
        (name,) = wrong
        assert f"not understood: {name} must be" in ask("checks", **pair | wrong)["message"]
    curves = {"op": "round", "rules": ["zero", 1], "parameters": {}, "start": 0, "stop": 1, "g": 1}
    assert "rules must be a list of texts" in ask("curves", **curves)["message"]
    one, other = (ask("checks", **pair | {"op": "clamp", "parameters": {"lo": lo}}) for lo in (-1, -1.0))
    assert one == other


def test_parameter_gradients_of_pasted_code_are_described_and_selected():
    source = function(
        "ctx.save_for_backward(x, s)\nreturn x * s",
        "x, s = ctx.saved_tensors\nreturn grad_output * s, (grad_output * x).mean().view(-1)",
        takes="ctx, x, s",
    )
    (reading,) = ask("read", code=source)["readings"]
    assert (reading["rule"], reading["learned"]) == ("g * s", {"s": "(1 / N) * sum(g * x)"})
    assert reading["choice"]["own"]["rule"][0]["learned"]["s"]["scaleText"] == "1 / N"


def test_a_bound_from_below_begins_below_the_other():
    for y, begins in {
        "(x / s).round().clamp(low, high) * s": {"low": -1.0},
        "torch.max(torch.min(x, high), low) + s": {"low": -1.0},
        "x.clamp(min=low).clamp(max=high) + s": {"low": -1.0},
        "x.clamp(low, 2) + s + high": {}, "x.clamp(low, low) + s + high": {},
    }.items():  # fmt: skip
        source = function(f"return {y}", "return grad_output, None, None, None", takes="ctx, x, s, low, high")
        (reading,) = ask("read", code=source)["readings"]
        assert reading["choice"]["parameters"] == begins
        if begins:
            assert sample(reading["choice"]["op"], "default", **begins)["y"].nunique() > 1


def test_every_file_is_in_one_folder_named_by_its_content():
    names = [name for name in answers.get_files() if "/" in name]
    assert {name.partition("/")[0] for name in names} == {answers.get_folder()}
    for asset in answers.get_files().values():
        assert len(asset.etag) == 16
    document = json.loads(answers.get_files()[f"{answers.get_folder()}/document.json"].content)
    assert set(document["link"]) == {"words", "pages"}
    assert document | json.loads(json.dumps(answers.describe_training())) == document


def test_a_page_fetches_at_once_what_it_needs_and_no_more():
    below = f"assets/{answers.get_folder()}"
    for path, comes in (("/", False), ("/train", True), ("/study", True), ("/learn", True)):
        head = answers.make_head(path)
        assert f'href="{below}/style.css"' in head
        assert f'href="{below}/document.json"' in head
        assert f'<script async fetchpriority="high" src="assets/{PLOTLY}">' in head
        assert f'<script type="module" src="{below}/pages/mount.js">' in head
        assert (f'<link href="{below}/pages/later.js" rel="modulepreload">' in head) == comes
        named = {name for name in answers.get_files() if f'"assets/{name}"' in head}
        assert len(re.findall("<(?:script|link)", head)) == len(named) == 4 + comes


def test_explore_comes_with_its_choice():
    head, page = answers.render_explore("op=sign&rule=formula:+g*(x<0)&c=1e999&embed=true")
    assert "<title>Sign: g * (x &lt; 0) · Gradient explorer</title>" in head
    assert 'content="The gradient that g * (x &lt; 0) returns for Sign, drawn below it."' in head
    published = answers.render_explore(PRESETS[2].query)[0]
    assert "ClampGradient&#x27;s bug. Above hi the published rule" in published
    assert "heading" not in page
    assert page.count("</script>") == 1
    text = page.partition('<script type="application/json">')[2].partition("</script>")[0]
    assert "<" not in text  # a formula cannot end the script
    data = json.loads(text)
    assert (data["choice"]["op"], data["choice"]["rules"]) == ("sign", ["formula: g * (x < 0)"])
    assert {"folder", "plotly", "choice", "sections", "languages", "notebook", "examples"} == set(data)
    assert "heading" in answers.render_explore("")[1]


def test_a_device_is_offered_where_there_is_more_than_one(monkeypatch):
    """And nothing of it is to be seen where there is only the CPU."""

    def offered(*words):
        device = replace(SETTINGS["device"], words=words)
        monkeypatch.setattr(answers, "SETTINGS", dict(SETTINGS) | {"device": device})
        return [setting for setting in answers.describe_training()["settings"] if setting["name"] == "device"]

    assert offered("cpu") == []
    (device,) = offered("cpu", "cuda")
    assert device["words"] == {"cpu": "CPU", "cuda": "NVIDIA GPU"}
    assert (device["live"], device["label"]) == (False, "Device")
    assert {task["defaults"]["device"] for task in answers.describe_training()["tasks"]} == {"cuda"}


def test_checks_do_not_wait_for_near_rules_nor_curves_for_checks():
    """And of near rules, whose seats are fewest, no visitor has all."""
    import app  # a second for every process that collects this file

    seats = {name: app._SLOTS[question.seats] for name, question in answers.QUESTIONS.items()}
    assert seats["checks"] is seats["row"]
    assert len({id(seats[name]) for name in ("curves", "checks", "neighbours")}) == 3
    assert seats["neighbours"]._slots == limits.SEARCH_SLOTS > seats["neighbours"]._slots_per_visitor
