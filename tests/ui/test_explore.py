"""The Explore page: links, controls and own formulas end up in the chart, never in a traceback."""

from __future__ import annotations

import random
from urllib.parse import urlencode

import numpy as np
import pytest

from explorer.catalogue import OPS, OWN, RULES
from explorer.curves import LARGEST_RANGE, MOST_RULES, sample
from explorer.description import describe
from explorer.ui import state
from explorer.ui.controls import OWN_SLOTS
from explorer.ui.presets import PRESETS
from tests.ui.pages import address_of, chart_of, curves_of, labelled, opened, press, section, sound, words_of

FAULTS = "**Not everything in the link could be used**"
SIX = [list(RULES)[start : start + MOST_RULES] for start in range(0, len(RULES), MOST_RULES)]


def _drawn_values(test, key: str) -> set[float]:
    return set(curves_of(test)[key].values())


def _faults(test) -> bool:
    return FAULTS in [markdown.value for markdown in test.markdown]


def test_the_first_visit():
    test = opened()
    assert labelled(test.selectbox, "Op").value == "round"
    assert labelled(test.multiselect, "Backward rules").value == ["default", "straight_through"]
    assert [labelled(test.number_input, name).value for name in ("Range", "to", "Upstream gradient g")] == [
        -3,
        3,
        1,
    ]
    spec = chart_of(test)
    names = [OPS["round"].label, RULES["default"].label, RULES["straight_through"].label]
    assert [trace["name"] for trace in spec["data"] if "meta" in trace] == names
    assert [_drawn_values(test, key) for key in ("default", "straight_through")] == [{0}, {1}]
    frame = sample("round", ["default", "straight_through"])
    assert curves_of(test)["forward"] == dict(
        zip(frame["x"].tolist()[: len(frame) // 2], frame["y"], strict=False)
    )
    assert spec["words"] == test.text[0].value == describe(frame)
    assert not _faults(test)
    assert address_of(test) == {}


def test_a_link_restores_what_was_seen():
    query = (
        "op=clamp&rule=published_clamp&rule=clipped&rule=formula:+g*k&lo=-0.5&hi=1.25&c=0.75&k=3.5"
        "&range=-2&range=2.5&g=-1.5"
    )
    test = opened(query)
    assert labelled(test.selectbox, "Op").value == "clamp"
    assert [labelled(test.slider, name).value for name in ("lo", "hi", "c", "k")] == [-0.5, 1.25, 0.75, 3.5]
    assert labelled(test.number_input, "to").value == 2.5
    rules = ["published_clamp", "clipped", "formula: g * k"]
    frame = sample("clamp", rules, start=-2, stop=2.5, g=-1.5, lo=-0.5, hi=1.25, c=0.75, k=3.5)
    curves = curves_of(test)
    for key, block in frame.groupby("rule"):
        assert curves[key] == dict(zip(block["x"].tolist(), block["gradient"].tolist(), strict=True))
    assert not _faults(test)
    assert address_of(test) == {
        "op": ["clamp"], "rule": rules, "lo": ["-0.5"], "hi": ["1.25"], "c": ["0.75"], "k": ["3.5"],
        "range": ["-2", "2.5"], "g": ["-1.5"],
    }  # fmt: skip


@pytest.mark.parametrize("op", OPS)
def test_every_op_opens_by_a_link(op: str):
    rules = SIX[list(OPS).index(op) % len(SIX)]
    test = opened(urlencode({"op": op, "rule": rules}, doseq=True))
    assert not _faults(test)
    assert list(curves_of(test)) == ["forward", *rules]


HOSTILE = [
    "op=rund&rule=strait&range=nan&range=1e999&g=inf&steps=-1&colour=red",
    "op=%3Cscript%3Ealert(1)%3C/script%3E&rule=![](http://x)",
    "op=formula:+x.__class__&rule=formula:+__import__('os').system('ls')",
    "op=formula:+9**9**9**9**9**9&rule=formula:+" + "(" * 200,
    "range=1e6&range=1e6&g=1e-320",
    "range=0&range=1e-300",
    "rule=formula:+x*embed&op=formula:+start*x&points=7",
    "op=formula:+1/x&rule=formula:+log(x)/0&rule=formula:+tan(x)**99&range=-1e6&range=1e6&g=1e6",
    "lr=1e-300&steps=1e300&seed=-1&batch=nan&hidden=0x10&task=%00",
    "%00=%00&=&rule=&op=&g=",
    "op=" + "a" * 3000,
]


@pytest.mark.parametrize("query", HOSTILE)
def test_a_hostile_link_shows_a_picture_and_says_what_is_wrong(query: str):
    test = opened(query)
    assert {"forward"} < set(curves_of(test))
    assert _faults(test) or "tan(x)" in query
    assert chart_of(test)["words"]


def test_a_hostile_link_falls_back_to_the_default():
    test = opened(HOSTILE[0])
    assert list(curves_of(test)) == ["forward", "default", "straight_through"]
    words = words_of(test)
    for part in ('unknown op "rund"', 'unknown rule "strait"', '"nan"', '"1e999"', '"inf"', '"colour"'):
        assert part in words
    test = sound(test.run())
    assert not _faults(test)


def test_controls_change_the_chart():
    test = opened()
    labelled(test.selectbox, "Op").select("sign")
    sound(test.run())
    assert _drawn_values(test, "forward") == {-1, 0, 1}
    labelled(test.multiselect, "Backward rules").select("clipped")
    sound(test.run())
    assert list(curves_of(test)) == ["forward", "default", "straight_through", "clipped"]
    labelled(test.number_input, "Upstream gradient g").set_value(-4.0)
    sound(test.run())
    assert [_drawn_values(test, key) for key in ("straight_through", "clipped")] == [{-4}, {0, -4}]
    labelled(test.slider, "c").set_value(2.0)
    sound(test.run())
    assert max(x for x, y in curves_of(test)["clipped"].items() if y) == 2
    labelled(test.number_input, "Range").set_value(-1.0)
    sound(test.run())
    assert chart_of(test)["layout"]["xaxis"]["range"] == [-1, 3]
    assert address_of(test) == {
        "op": ["sign"], "rule": ["default", "straight_through", "clipped"], "c": ["2"], "range": ["-1", "3"],
        "g": ["-4"],
    }  # fmt: skip


def test_a_reversed_and_an_empty_range():
    test = opened("range=1&range=2")
    labelled(test.number_input, "Range").set_value(4.0)
    sound(test.run())
    assert chart_of(test)["layout"]["xaxis"]["range"] == [2, 4]
    assert "The range 4 to 2 is reversed: its ends were swapped." in words_of(test)
    labelled(test.number_input, "to").set_value(4.0)
    sound(test.run())
    assert chart_of(test)["layout"]["xaxis"]["range"] == [3, 5]
    assert "is empty" in words_of(test)
    assert labelled(test.number_input, "to").max == LARGEST_RANGE


def test_without_rules_the_last_ones_stay():
    test = opened("rule=zero&rule=scale")
    labelled(test.multiselect, "Backward rules").set_value([])
    sound(test.run())
    assert list(curves_of(test)) == ["forward", "zero", "scale"]
    assert "No rule is chosen: the last ones stay." in words_of(test)
    assert address_of(test)["rule"] == ["zero", "scale"]


def test_bounds_that_cross_are_swapped_with_a_notice():
    test = opened("op=clamp&rule=masked")
    labelled(test.slider, "lo").set_value(2.5)
    sound(test.run())
    assert "lo = 2.5 lies above hi = 1: the two were swapped." in words_of(test)
    inside = [x for x, y in curves_of(test)["masked"].items() if y]
    assert (min(inside), max(inside)) == (1, 2.5)
    sound(test.run())
    assert [labelled(test.slider, name).value for name in ("lo", "hi")] == [2.5, 1]
    assert not _faults(test)


def test_an_own_op_as_it_is_typed():
    test = opened()
    labelled(test.selectbox, "Op").select("formula: ")
    sound(test.run())
    labelled(test.text_input, "Own op: y =").input("2 * abs(x) - k")
    sound(test.run())
    assert curves_of(test)["forward"][0.0] == -1
    labelled(test.slider, "k").set_value(2.0)
    sound(test.run())
    assert curves_of(test)["forward"][0.0] == -2
    assert curves_of(test)["default"][3.0] == 2
    assert address_of(test)["op"] == ["formula: 2 * abs(x) - k"]


def test_an_own_rule_as_it_is_typed():
    test = opened("rule=default")
    labelled(test.multiselect, "Backward rules").select(OWN_SLOTS[0])
    sound(test.run())
    labelled(test.text_input, "Own rule 1: gradient =").input("g * (x<1)")
    sound(test.run())
    assert list(curves_of(test)) == ["forward", "default", "formula: g * (x < 1)"]
    assert [trace["name"] for trace in chart_of(test)["data"] if "meta" in trace][2] == "g * (x &lt; 1)"
    assert _drawn_values(test, "formula: g * (x < 1)") == {0, 1}
    assert address_of(test)["rule"] == ["default", "formula: g * (x < 1)"]


def test_a_formula_that_cannot_be_read_leaves_the_last_good_one():
    test = opened("op=formula:+3*x&rule=formula:+g*x")
    before = curves_of(test)
    for text, place, words in (
        ("g * zz + (", 10, "a value is missing at the end"),
        ("g *", 3, "a value is missing at the end"),
        ("g * ff(x)", 4, 'unknown function "ff" at column 5'),
        ("", 0, "The last good formula stays."),
        ("g.real", 1, "no attributes"),
        ("g * seed", 4, '"seed" at column 5 is the name of a setting'),
    ):
        labelled(test.text_input, "Own rule 1: gradient =").input(text)
        sound(test.run())
        assert curves_of(test) == before
        assert words in words_of(test)
        assert test.code[0].value == f"{text}\n{' ' * place}^".strip()
    labelled(test.text_input, "Own op: y =").input("3 * y")
    labelled(test.text_input, "Own rule 1: gradient =").input("2*g")
    sound(test.run())
    assert curves_of(test)["forward"] == before["forward"]
    assert _drawn_values(test, "formula: 2 * g") == {2}
    assert '"y" at column 5 is not known here: use x' in words_of(test)


def test_three_own_rules_by_a_link_and_no_more():
    rules = [f"formula: {number} * g" for number in range(2, 6)]
    test = opened(urlencode({"rule": rules}, doseq=True))
    assert [_drawn_values(test, rule) for rule in rules[:3]] == [{2}, {3}, {4}]
    assert rules[3] not in curves_of(test)
    assert "The link holds 4 own rules: the first 3 are shown." in words_of(test)


def test_own_rules_keep_their_places():
    test = opened("rule=default")
    pick = labelled(test.multiselect, "Backward rules")
    pick.set_value(["default", OWN_SLOTS[1]])
    sound(test.run())
    labelled(test.text_input, "Own rule 2: gradient =").input("7 * g")
    sound(test.run())
    labelled(test.multiselect, "Backward rules").set_value(["default", OWN_SLOTS[1], OWN_SLOTS[0]])
    sound(test.run())
    assert labelled(test.text_input, "Own rule 1: gradient =").value != "7 * g"
    labelled(test.text_input, "Own rule 1: gradient =").input("5 * g")
    sound(test.run())
    assert list(curves_of(test)) == ["forward", "default", "formula: 7 * g", "formula: 5 * g"]


def test_parameters_with_two_meanings_are_set_one_by_one():
    test = opened("op=identity&rule=boxcar&rule=formula:+g*w")
    labelled(test.slider, f"w of {RULES['boxcar'].label}").set_value(2.0)
    sound(test.run())
    assert _drawn_values(test, "boxcar") == {0, 0.25}
    assert _drawn_values(test, "formula: g * w") == {1}


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.name)
def test_a_preset_loads_its_choice(preset):
    test = opened("op=tanh&g=3&range=5&range=6")
    labelled(test.selectbox, "Preset").select(preset.name)
    sound(test.run())
    choice = preset.choice
    assert list(curves_of(test)) == ["forward", *choice.rules]
    assert labelled(test.selectbox, "Op").value == choice.op
    assert labelled(test.number_input, "Upstream gradient g").value == choice.g
    assert preset.hint in words_of(test)
    assert labelled(test.selectbox, "Preset").value == preset.name
    labelled(test.number_input, "Upstream gradient g").set_value(2.0)
    sound(test.run())
    assert labelled(test.selectbox, "Preset").value is None


def test_the_published_bug_shows_at_g_2():
    test = opened()
    labelled(test.selectbox, "Preset").select("ClampGradient's bug")
    sound(test.run())
    assert "show no difference here at g = 1" in words_of(test)
    assert curves_of(test)["published_clamp"] == curves_of(test)["straight_through"]
    labelled(test.number_input, "Upstream gradient g").set_value(2.0)
    sound(test.run())
    assert "no difference" not in words_of(test)
    assert {y for x, y in curves_of(test)["published_clamp"].items() if x > 1} == {1}
    assert _drawn_values(test, "straight_through") == {2}


def test_a_choice_that_is_too_long_for_a_link_is_still_shown(monkeypatch):
    monkeypatch.setattr(state, "LONGEST_QUERY", 100)
    test = opened("rule=default")
    for slot in (1, 2, 3):
        labelled(test.multiselect, "Backward rules").set_value(OWN_SLOTS[:slot])
        sound(test.run())
    assert len(curves_of(test)) == 4
    assert "This choice is too long for a link: 100 characters are the most." in words_of(test)
    assert address_of(test) == {}
    assert len(curves_of(sound(test.run()))) == 4


@pytest.mark.parametrize(("on_the_way_s", "op"), [(0, "round"), (60, "relu")], ids=["Back", "late"])
def test_an_older_address(on_the_way_s: float, op: str, monkeypatch):
    """The browser's Back brings it; so may a message that crossed with our own change, for a moment."""
    monkeypatch.setattr(state, "_ON_THE_WAY_S", on_the_way_s)
    test = opened()
    labelled(test.selectbox, "Op").select("relu")
    sound(test.run())
    test.query_params.clear()
    sound(test.run())
    assert labelled(test.selectbox, "Op").value == op
    assert address_of(test) == (
        {} if op == "round" else {"op": ["relu"], "rule": ["default", "straight_through"]}
    )


@pytest.mark.parametrize("op", ["sign", "quantize", OWN])
@pytest.mark.parametrize("name", ["Formula", "Code", "Paste code", "Data"])
def test_back_after_widgets_have_come_and_gone(op: str, name: str, monkeypatch):
    """With another op or section sliders and fields come and go; that is no touch of a control."""
    monkeypatch.setattr(state, "_ON_THE_WAY_S", 0)
    test = opened("op=clamp&rule=masked&hi=2&g=2")
    before, curves = address_of(test), curves_of(test)
    labelled(test.selectbox, "Op").select(op)
    sound(test.run())
    section(test, name)
    test.query_params.clear()
    for key, values in before.items():
        test.query_params[key] = values
    sound(test.run())
    assert address_of(test) == before
    assert curves_of(test) == curves


@pytest.mark.parametrize("touched", ["section", "button"])
def test_an_older_address_that_comes_with_a_click_undoes_nothing(touched: str, monkeypatch):
    """The browser sends the address it still shows, however late, along with what was pressed."""
    monkeypatch.setattr(state, "_ON_THE_WAY_S", 0)
    test = section(opened(), "Paste code")
    test.text_area[0].input("def f(x):\n    return x.abs()")
    labelled(test.selectbox, "Op").select("relu")
    sound(test.run())
    test.query_params.clear()
    if touched == "section":
        section(test, "Data")
        op = "relu"
    else:
        press(test, "Show its curve")
        op = OWN + "abs(x)"
    assert address_of(test)["op"] == [op]
    assert labelled(test.selectbox, "Op").value == ("relu" if touched == "section" else OWN)
    test.query_params.clear()
    sound(test.run())  # nothing was touched: this is Back
    assert labelled(test.selectbox, "Op").value == "round"
    assert address_of(test) == {}


def test_clicking_about_at_random_never_fails():
    rng = random.Random(5)
    test = opened()
    for _ in range(60):
        widget = rng.choice(
            [*test.selectbox, *test.multiselect, *test.number_input, *test.slider, *test.text_input]
        )
        if widget.type == "selectbox" and widget.options:
            widget.select_index(rng.randrange(len(widget.options)))
        elif widget.type == "multiselect":
            widget.set_value(rng.sample([*RULES, *OWN_SLOTS], rng.randint(0, MOST_RULES)))
        elif widget.type in ("number_input", "slider"):
            widget.set_value(float(rng.choice([widget.min, widget.max, 0.5 * (widget.min + widget.max)])))
        elif widget.type == "text_input":
            widget.input(rng.choice(["x", "g*x", "1/x", "g +", "where(x>0,g,0)", "g*k*lo", ""]))
        sound(test.run())
        finite = [np.isfinite(list(points)).all() for points in curves_of(test).values()]
        assert all(finite)
        assert len(finite) >= 2
