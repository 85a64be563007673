"""The sections below the chart: each shows what the core computes, and hands it over unchanged."""

from __future__ import annotations

import io
from functools import partial
from urllib.parse import urlencode

import pandas as pd
import pytest
import streamlit as st

from explorer.catalogue import AT_BOUND, OPS, OWN, RULES
from explorer.curves import readings, sample
from explorer.formula.measured import at_bounds
from explorer.instrument.limits import MOST_READINGS
from explorer.snippets import custom_op_snippet, jax_snippet, notebook, snippet
from tests.ui.opening import labelled, opened, sound, words_of

OWN_RULE = "formula: g * k"
CODED = ["default", "straight_through", "published_clamp", OWN_RULE]  # published_clamp is not linear in g
VALUES = {"lo": -0.5, "hi": 1.25, "k": 3.5}
START, STOP, G = -2.0, 2.5, -1.5
QUERY = (
    "op=clamp&rule=default&rule=straight_through&rule=published_clamp&rule=formula:+g*k"
    "&lo=-0.5&hi=1.25&k=3.5&range=-2&range=2.5&g=-1.5"
)


@pytest.fixture
def offered(monkeypatch):
    """The files of the page's download buttons: contents by file name."""
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


def test_only_the_open_section_is_drawn():
    kinds = {"formula": "latex", "code": "code", "data": "dataframe"}
    for name in kinds:
        test = opened(f"section={name}")
        drawn = [other for other, kind in kinds.items() if test.get(kind)]
        assert name in drawn
        assert set(drawn) <= {name, "data"}  # the formulas' table of readings is one too
    assert not any(opened().get(kind) for kind in kinds.values())


WITHIN = {1.0: r"\mathrm{lo} \le x \le \mathrm{hi}", 0.0: r"\mathrm{lo} < x < \mathrm{hi}"}[
    at_bounds().numbers
]
INSIDE = rf"\begin{{cases}}g & \text{{if }} {WITHIN}\\ 0 & \text{{otherwise}}\end{{cases}}"


@pytest.mark.parametrize(
    ("op", "gradient"), [("cube", r"g \,\left(3 \cdot {x}^{2}\right)"), ("formula: x*k", r"g \,k")]
)
def test_torchs_own_derivative_is_written_out(op: str, gradient: str):
    formulas = _latex(opened(f"op={op}&rule=default&section=formula"))
    assert formulas[-1].endswith(rf"\frac{{\mathrm{{d}}y}}{{\mathrm{{d}}x}} = {gradient}")


def test_formula_shows_forward_and_every_rule_with_the_present_values():
    assert _latex(opened(f"{QUERY}&section=formula")) == [
        f"y = {OPS['clamp'].parsed.latex}",
        r"\mathrm{lo} = -0.5,\quad \mathrm{hi} = 1.25",
        rf"\text{{gradient}} = g\,\frac{{\mathrm{{d}}y}}{{\mathrm{{d}}x}} = {INSIDE}",
        r"\text{gradient} = g",
        rf"\text{{gradient}} = {RULES['published_clamp'].parsed.latex}",
        r"\mathrm{lo} = -0.5,\quad \mathrm{hi} = 1.25",
        r"\text{gradient} = g \,k",
        "k = 3.5",
    ]


def test_what_a_rule_learns_is_written_below_its_gradient():
    test = opened("op=clamp&rule=pact&section=formula")
    part = r"g \,\mathbf{1}\left[x \ge \mathrm{hi}\right]"
    learned = rf"\text{{gradient of }}\mathrm{{hi}} = \sum\nolimits_N \left({part}\right)"
    assert learned in _latex(test)
    assert AT_BOUND["published"] in words_of(test)
    scaled = r"\text{gradient of }s = \frac{1}{\sqrt{N \,\mathrm{qmax}}}\,\sum\nolimits_N"
    assert any(latex.startswith(scaled) for latex in _latex(opened("op=quantize&rule=lsq&section=formula")))


@pytest.mark.parametrize("own", ["lsq", "formula: g * (x < s); s: sum(g * x)"])
def test_the_code_of_a_rule_that_learns_holds_its_parameter(own: str, offered: dict[str, str]):
    opened(urlencode({"op": "quantize", "rule": own, "section": "code"}))
    assert offered["backward_rule.py"] == snippet("quantize", own, learns=["s"])
    assert "nn.Parameter" in offered["backward_rule.py"]


def test_the_formula_of_what_learns_by_any_rule_is_written_below_its_gradient():
    test = opened("op=quantize&rule=quantize_masked&rule=default&learns=s&section=formula")
    learned = [latex for latex in _latex(test) if latex.startswith(r"\text{gradient of }s = \sum\nolimits_N")]
    assert len(learned) == 2
    assert "s: follows from the rule." in words_of(test)
    assert "s: torch's derivative of the op." in words_of(test)


WRITERS = {"PyTorch": snippet, "Custom op": custom_op_snippet, "JAX": jax_snippet}


def test_the_code_follows_what_learns(offered: dict[str, str]):
    """Also by a rule that does not say how itself; where it cannot, that is said."""
    test = opened("op=clamp&rule=masked&rule=zero&hi=0.5&learns=hi&section=code")
    for language, write in WRITERS.items():
        labelled(test.segmented_control, "As").set_value(language)
        sound(test.run())
        expected = write("clamp", "masked", {"hi": 0.5}, learns=["hi"])
        assert offered["backward_rule.py"] == expected != write("clamp", "masked", {"hi": 0.5})
    labelled(test.segmented_control, "As").set_value("Notebook")
    sound(test.run())
    result = sample("clamp", ["masked"], learns="hi", hi=0.5).attrs["curves"].kinks
    assert offered["backward_rule.ipynb"] == notebook(
        "clamp", "masked", {"hi": 0.5}, ["hi"], kinks=sorted({*result["masked"], *result["part masked"]})
    )


def test_the_code_says_where_a_parameter_cannot_learn():
    test = opened("op=round&rule=formula:+g*k&rule=formula:+g*k;+k:+sum(g*x)&learns=k&section=code")
    assert "k cannot learn by this rule: in its code it is a number." in words_of(test)


def test_a_gradient_that_would_fill_pages_is_not_written_out():
    """Torch's own stands beside the others as far as it can be read."""
    nested = "x"
    for _ in range(13):
        nested = f"softsign({nested})"
    query = urlencode({"section": "formula", "op": f"formula: {nested}", "rule": "default"})
    assert _latex(opened(query))[-1] == r"\text{gradient} = g\,\frac{\mathrm{d}y}{\mathrm{d}x}"


def test_formula_names_every_entry_with_its_purpose_and_source():
    words = words_of(opened("op=sign&rule=clipped&rule=published_clamp&section=formula"))
    for entry in (OPS["sign"], RULES["clipped"], RULES["published_clamp"]):
        assert entry.label in words
        assert entry.purpose in words
        assert entry.note in words
        assert entry.source in words


def test_formula_puts_what_torch_computes_beside_the_rules():
    table = opened(f"{QUERY}&section=formula").dataframe[0].value
    assert list(table) == ["x", "y", "torch", *(RULES[key].label for key in CODED[1:3]), "g * k"]
    x = table["x"].astype(float)
    kinks = [kink for kink in (-0.5, 1.25) if kink in set(x)]
    assert kinks == [-0.5, 1.25]
    inside = (x > -0.5) & (x < 1.25)
    assert set(table["torch"][inside]) == {G}
    assert set(table["torch"][(x < -0.5) | (x > 1.25)]) == {0}
    assert set(table["g * k"]) == {G * 3.5}
    expected = readings("clamp", CODED, start=START, stop=STOP, g=G, **VALUES)
    pd.testing.assert_frame_equal(table.drop(columns="x"), expected.drop(columns="x"), check_dtype=False)


def test_a_long_table_of_readings_says_what_is_left_out():
    test = opened("range=-20&range=20&section=formula")
    whole = readings("round", ["default", "straight_through"], start=-20, stop=20, g=1)
    assert len(test.dataframe[0].value) == MOST_READINGS < len(whole)
    assert f"The first {MOST_READINGS} of {len(whole)} rows" in words_of(test)


CODE = {
    language: partial(lambda write, rule: write("clamp", rule, VALUES), write)
    for language, write in WRITERS.items()
} | {
    "Notebook": lambda rule: notebook(
        "clamp", rule, VALUES, start=START, stop=STOP, g=G, kinks=_frame().attrs["curves"].kinks[rule]
    )
}


def test_code_is_the_snippet_of_the_chosen_rule(offered: dict[str, str], subtests: pytest.Subtests):
    test = opened(f"{QUERY}&section=code")
    assert labelled(test.button_group, "As").options == list(CODE)
    for language, rule in ((language, rule) for language in CODE for rule in CODED):
        with subtests.test(f"{language} {rule}"):
            offered.clear()
            labelled(test.button_group, "As").set_value(language)
            labelled(test.selectbox, "Code for").select(rule)
            sound(test.run())
            source = CODE[language](rule)
            suffix = ".ipynb" if language == "Notebook" else ".py"
            assert test.code[0].value == source.removesuffix("\n")
            assert offered == {f"backward_rule{suffix}": source}
            assert [button.label for button in test.get("download_button")] == [f"Download {suffix}"]


def test_rules_of_one_label_can_both_be_chosen():
    """An own rule that is a parameter called Masked is labelled like the catalogue's."""
    own = f"{OWN}Masked"
    first = opened("section=code")
    assert labelled(first.selectbox, "Code for").value == "straight_through"  # which has a formula
    test = opened("op=clamp&rule=masked&rule=formula:+Masked&section=code")
    picker = labelled(test.selectbox, "Code for")
    assert len(set(picker.options)) == len(picker.options) == 2
    for rule in (own, "masked", own):
        labelled(test.selectbox, "Code for").select(rule)
        sound(test.run())
        assert test.code[0].value == snippet("clamp", rule).removesuffix("\n")


def test_data_is_the_frame_of_the_chart(offered: dict[str, str]):
    test = opened(f"{QUERY}&section=data")
    frame = _frame()
    pd.testing.assert_frame_equal(test.dataframe[0].value, frame, check_dtype=False)
    assert offered == {"curve.csv": frame.to_csv(index=False)}
    assert [button.label for button in test.get("download_button")] == ["Download CSV"]
    read = pd.read_csv(io.StringIO(offered["curve.csv"]), dtype={"x": "float32", "gradient": "float32"})
    assert read["gradient"].tolist() == frame["gradient"].tolist()


COIN = "formula: where(u() < sigmoid(x), 1, 0)"
REFUSED = {
    "Custom op": "An operator takes tensors and numbers, and this rule a function, the loss f: take PyTorch.",
}


def test_code_of_a_pair_that_draws_is_there_or_refused(offered: dict[str, str]):
    rule = "formula: (fa() - f()) * (u() - 0.5)"
    write = {"PyTorch": snippet, "JAX": jax_snippet, "Notebook": notebook}
    test = opened(urlencode({"op": COIN, "rule": rule, "section": "code"}))
    for language in CODE:
        labelled(test.button_group, "As").set_value(language)
        offered.clear()
        sound(test.run())
        if words := REFUSED.get(language):
            assert words in words_of(test)
            assert [*test.code, *offered] == []
        else:
            assert test.code[0].value == write[language](COIN, rule).removesuffix("\n")


def test_a_notebook_of_what_draws_has_the_loss_and_the_kinks_of_its_mean(offered: dict[str, str]):
    words = {"op": "stochastic_round", "rule": "straight_through", "f": "abs(y - middle)", "middle": 0.25}
    test = opened(urlencode({**words, "range": [-1, 1], "section": "code"}, doseq=True))
    labelled(test.button_group, "As").set_value("Notebook")
    sound(test.run())
    expected = notebook(
        *(words[key] for key in ("op", "rule")), {"middle": 0.25}, f="abs(y - middle)", kinks=[-1, 0, 1],
        start=-1, stop=1,
    )  # fmt: skip
    assert test.code[0].value == expected


def test_a_notebook_of_an_op_with_a_mean_over_all_x_is_refused(offered: dict[str, str]):
    test = opened(urlencode({"op": "formula: x - mean(x) + u()", "section": "code"}))
    labelled(test.button_group, "As").set_value("Notebook")
    sound(test.run())
    assert "A notebook draws at each x alone, and this op has a mean over all x: take PyTorch." in words_of(
        test
    )


def test_code_whose_parameter_is_called_as_the_draw_is_refused(offered: dict[str, str]):
    test = opened(urlencode({"op": COIN, "rule": "formula: g * u", "section": "code"}))
    for language in CODE:
        labelled(test.button_group, "As").set_value(language)
        offered.clear()
        sound(test.run())
        assert "A parameter is called u, as the draw is in code: give it another name." in words_of(test)
        assert [*test.code, *offered] == []
