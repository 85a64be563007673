"""The sections below the chart: each shows what the core computes, and hands it over unchanged."""

from __future__ import annotations

import io

import pandas as pd
import pytest
import streamlit as st

from explorer.catalogue import OPS, OWN, RULES
from explorer.curves import readings, sample
from explorer.reading import MAX_CHARACTERS, read_source
from explorer.snippets import detach_snippet, jax_snippet, notebook, snippet
from explorer.ui import sections
from tests.reading.documents import DOCUMENTS_CLAMP, DOCUMENTS_RELU
from tests.ui.pages import address_of, curves_of, labelled, opened, section, sound, words_of

OWN_RULE = "formula: g * k"
CODED = ["default", "straight_through", "published_clamp", OWN_RULE]  # published_clamp is not linear in g
VALUES = {"lo": -0.5, "hi": 1.25, "k": 3.5}
START, STOP, G = -2.0, 2.5, -1.5
QUERY = (
    "op=clamp&rule=default&rule=straight_through&rule=published_clamp&rule=formula:+g*k"
    "&lo=-0.5&hi=1.25&k=3.5&range=-2&range=2.5&g=-1.5"
)
ONE_LINE = "f = lambda x: x.round(); h = lambda x: 2 * x"


@pytest.fixture
def offered(monkeypatch):
    """What the page's download buttons hand out: the contents by file name."""
    files: dict[str, str] = {}
    button = st.download_button

    def recorded(label, data, file_name, *rest, **named):
        files[file_name] = data
        return button(label, data, file_name, *rest, **named)

    monkeypatch.setattr(st, "download_button", recorded)
    return files


def _frame(rules=CODED) -> pd.DataFrame:
    return sample("clamp", rules, start=START, stop=STOP, g=G, **VALUES)


def _latex(test) -> list[str]:
    return [latex.value.removeprefix("$$\n").removesuffix("\n$$") for latex in test.latex]


def test_only_the_chosen_section_is_drawn():
    test = opened()
    assert labelled(test.button_group, "Section").options == ["Formula", "Code", "Paste code", "Data"]
    kinds = {"Formula": "latex", "Code": "code", "Paste code": "text_area"}
    for name in kinds:
        section(test, name)
        assert [other for other, kind in kinds.items() if test.get(kind)] == [name]


def test_formula_shows_forward_and_every_rule_with_the_present_values():
    assert _latex(section(opened(QUERY), "Formula")) == [
        f"y = {OPS['clamp'].parsed.latex}",
        r"\mathrm{lo} = -0.5,\quad \mathrm{hi} = 1.25",
        r"\text{gradient} = g\,\frac{\mathrm{d}y}{\mathrm{d}x}",
        r"\text{gradient} = g",
        rf"\text{{gradient}} = {RULES['published_clamp'].parsed.latex}",
        r"\mathrm{lo} = -0.5,\quad \mathrm{hi} = 1.25",
        r"\text{gradient} = g \,k",
        "k = 3.5",
    ]


def test_formula_names_every_entry_with_its_purpose_and_source():
    words = words_of(section(opened("op=sign&rule=clipped&rule=published_clamp"), "Formula"))
    for entry in (OPS["sign"], RULES["clipped"], RULES["published_clamp"]):
        assert entry.label in words
        assert entry.purpose in words
        assert entry.note in words
        assert entry.source in words


def test_formula_puts_what_torch_computes_beside_the_rules():
    shown = section(opened(QUERY), "Formula").dataframe[0].value
    assert list(shown) == ["x", "y", "torch", *(RULES[key].label for key in CODED[1:3]), "g * k"]
    x = shown["x"].astype(float)
    kinks = [place for place in (-0.5, 1.25) if place in set(x)]
    assert kinks == [-0.5, 1.25]
    inside = (x > -0.5) & (x < 1.25)
    assert set(shown["torch"][inside]) == {G}
    assert set(shown["torch"][(x < -0.5) | (x > 1.25)]) == {0}
    assert set(shown["g * k"]) == {G * 3.5}
    expected = readings("clamp", CODED, start=START, stop=STOP, g=G, parameters=VALUES)
    pd.testing.assert_frame_equal(shown.drop(columns="x"), expected.drop(columns="x"), check_dtype=False)


def test_a_long_table_of_readings_says_what_is_left_out():
    test = section(opened("range=-20&range=20"), "Formula")
    whole = readings("round", ["default", "straight_through"], start=-20, stop=20, g=1, parameters={})
    assert len(test.dataframe[0].value) == sections._MOST_READINGS < len(whole)
    assert f"The first {sections._MOST_READINGS} of {len(whole)} rows" in words_of(test)


CODE = {
    "PyTorch": lambda rule: snippet("clamp", rule, VALUES),
    "Detach trick": lambda rule: detach_snippet("clamp", rule, VALUES),
    "JAX": lambda rule: jax_snippet("clamp", rule, VALUES),
    "Notebook": lambda rule: notebook(
        "clamp", rule, VALUES, start=START, stop=STOP, g=G, kinks=_frame().attrs["kinks"][rule]
    ),
}
NO_TRICK = {
    "default": "torch's own gradient needs no trick: call the op.",
    "published_clamp": "it cannot express this rule. Take the Function instead.",
}


@pytest.mark.parametrize("language", CODE)
def test_code_is_the_snippet_of_the_chosen_rule(language: str, offered: dict[str, str]):
    test = section(opened(QUERY), "Code")
    assert labelled(test.button_group, "As").options == list(CODE)
    labelled(test.button_group, "As").set_value(language)
    for rule in CODED:
        offered.clear()
        labelled(test.selectbox, "Code for").select(rule)
        sound(test.run())
        source = CODE[language](rule)
        if source is None:
            assert NO_TRICK[rule] in words_of(test)
            assert [*test.code, *offered] == []
        else:
            assert test.code[0].value == source.removesuffix("\n")
            assert list(offered.values()) == [source]
            suffix = ".ipynb" if language == "Notebook" else ".py"
            assert list(offered) == [f"backward_rule{suffix}"]
            assert [button.label for button in test.get("download_button")] == [f"Download {suffix}"]


def test_the_detach_trick_is_refused_where_it_cannot_be_only():
    assert [rule for rule in CODED if CODE["Detach trick"](rule) is None] == list(NO_TRICK)


def test_code_begins_with_a_rule_that_has_a_formula():
    test = section(opened(), "Code")
    assert labelled(test.selectbox, "Code for").value == "straight_through"
    assert test.code[0].value == snippet("round", "straight_through").removesuffix("\n")


def test_rules_of_one_label_can_both_be_chosen():
    """An own rule that is a parameter called Masked is labelled like the catalogue's."""
    own = f"{OWN}Masked"
    test = section(opened("op=clamp&rule=masked&rule=formula:+Masked"), "Code")
    picker = labelled(test.selectbox, "Code for")
    assert len(set(picker.options)) == len(picker.options) == 2
    for rule in (own, "masked", own):
        labelled(test.selectbox, "Code for").select(rule)
        sound(test.run())
        assert test.code[0].value == snippet("clamp", rule).removesuffix("\n")


def _pasted(text: str, query: str = ""):
    test = section(opened(query), "Paste code")
    labelled(test.text_area, "Paste a torch.autograd.Function").input(text)
    return sound(test.run())


PUBLISHED = {
    "RoundGradient": (DOCUMENTS_CLAMP, 0, "round", "straight_through"),
    "ClampGradient": (DOCUMENTS_CLAMP, 1, "clamp", "published_clamp"),
    "MyReLU": (DOCUMENTS_RELU, 0, "relu", "seed_relu"),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_pasted_function_of_the_documents_shows_its_curve(name: str):
    text, place, op, rule = PUBLISHED[name]
    test = _pasted(text, "op=tanh&rule=zero&g=2&range=-2&range=3")
    first_line = text[: text.index(f"class {name}")].count("\n") + 1
    assert f"{name}, line {first_line}" in words_of(test)
    forward, gradient = (line.partition("= ")[2] for line in test.code[place].value.splitlines())
    buttons = [button for button in test.button if button.label == "Show its curve"]
    assert len(buttons) == text.count("class ") == len(test.code)
    buttons[place].click()
    sound(test.run())
    curves, expected = curves_of(test), sample(op, rule, start=-2, stop=3, g=2)
    assert list(curves) == ["forward", "default", OWN + gradient]
    for key, column in (("forward", "y"), (OWN + gradient, "gradient")):
        assert curves[key] == dict(zip(expected["x"].tolist(), expected[column].tolist(), strict=True))
    assert address_of(test) == {
        "op": [OWN + forward], "rule": ["default", OWN + gradient], "range": ["-2", "3"], "g": ["2"],
    }  # fmt: skip
    assert test.text_area[0].value == text


def test_what_is_pasted_first_is_what_read_source_gives():
    for text in (DOCUMENTS_CLAMP, DOCUMENTS_RELU):
        op, rule = (key.removeprefix(OWN) for key in read_source(text))
        assert _pasted(text).code[0].value == f"y = {op}\ngradient = {rule}"


def test_pasted_code_without_a_rule_of_its_own_shows_torchs():
    test = _pasted("def f(x):\n    return x.clamp(0, 1)")
    assert test.code[0].value == "y = clamp(x, 0, 1)\ngradient = torch's own"
    test.button[0].click()
    sound(test.run())
    assert list(curves_of(test)) == ["forward", "default"]


def test_two_definitions_on_one_line():
    test = _pasted(ONE_LINE)
    assert [code.value.splitlines()[0] for code in test.code] == ["y = round(x)", "y = 2 * x"]
    test.button[1].click()
    sound(test.run())
    assert address_of(test)["op"] == ["formula: 2 * x"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("class F(torch.autograd.Function:\n  pass", "line 1"),
        (DOCUMENTS_RELU.replace("x.clamp(min=0)", "sort_it(x)"), "line 5"),
        ("x = 3", "there is no Function here"),
    ],
)
def test_code_that_cannot_be_read_is_named_with_its_line(text: str, words: str):
    before = curves_of(opened())
    test = _pasted(text)
    assert words in words_of(test)
    assert not test.code
    assert not test.button
    assert curves_of(test) == before


def test_nothing_pasted_says_nothing():
    test = section(opened(), "Paste code")
    assert words_of(_pasted("  \n ")) == words_of(test)
    assert test.text_area[0].max_chars == MAX_CHARACTERS


def test_data_is_the_frame_of_the_chart(offered: dict[str, str]):
    test = section(opened(QUERY), "Data")
    frame = _frame()
    pd.testing.assert_frame_equal(test.dataframe[0].value, frame, check_dtype=False)
    assert offered == {"curve.csv": frame.to_csv(index=False)}
    assert [button.label for button in test.get("download_button")] == ["Download CSV"]
    read = pd.read_csv(io.StringIO(offered["curve.csv"]), dtype={"x": "float32", "gradient": "float32"})
    assert read["gradient"].tolist() == frame["gradient"].tolist()


def test_the_section_stays_while_the_chart_changes():
    test = section(opened(), "Data")
    labelled(test.selectbox, "Op").select("sign")
    sound(test.run())
    assert labelled(test.button_group, "Section").value == "Data"
    assert set(test.dataframe[0].value["y"]) == {-1, 0, 1}
