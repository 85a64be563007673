"""Any table with the columns of ``sample`` is drawn and described; what it cannot say is left out."""

import io

import numpy as np
import pandas as pd
import pytest

import explorer
from explorer.curves.tables import to_curves
from explorer.description import describe
from explorer.description.figures import curve_figure


def read_back(frame: pd.DataFrame) -> pd.DataFrame:
    return pd.read_csv(io.StringIO(frame.to_csv(index=False)))


CHANGES = {
    "read back": read_back,
    "shuffled": lambda frame: frame.sample(frac=1, random_state=0),
    "another index": lambda frame: frame.set_index(frame.index[::-1]),
    "a column more": lambda frame: frame.assign(batch=1),
    "in other units of storage": lambda frame: frame.astype({"x": "float64", "gradient": "object"}),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_changed_table_holds_the_same_curves(change, dtype):
    frame = explorer.sample("clamp", ["masked", "zero"], g=2, dtype=dtype)
    sampled = frame.attrs["curves"]
    (curves,) = to_curves(change(frame))
    assert set(curves.labels.items()) == set(sampled.labels.items())
    np.testing.assert_allclose(curves.x, sampled.x, rtol=1e-6, atol=1e-44)
    np.testing.assert_allclose(curves.gradients["masked"], sampled.gradients["masked"], rtol=1e-6)
    assert list(curves.marks) == list(sampled.marks)
    assert curves.kinks["forward"] == sampled.kinks["forward"]
    words = describe(change(frame))
    assert "Masked: the gradient is between 0 and 2 in this picture" in words
    assert "Zero: the gradient is 0 at every point of this picture." in words
    assert "y is flat on 83 % of this picture." in words
    assert "Clamp" not in words  # the op is not known
    assert "g" not in words.replace("gradient", "").replace("strongest", "").replace("Straight", "").split()


def test_an_unmodified_table_restores_its_curves():
    frame = explorer.sample("clamp", ["masked", "zero"], g=2)
    assert describe(frame) == describe(frame.copy()) == describe(frame.attrs["curves"])
    assert "Clamp is flat on 83 % of the range." in describe(frame)


def test_filtered_rows_are_described_alone():
    frame = explorer.sample("sign", ["clipped", "zero", "straight_through"])
    words = describe(frame[(frame["rule"] != "zero") & (frame["x"] > 0.25)])
    assert "Zero" not in words
    assert "Straight-through: the gradient is 1 at every point of this picture." in words
    assert "y is flat everywhere in this picture." in words


def test_equal_rules_of_a_table_are_described_together_without_g():
    frame = read_back(explorer.sample("identity", ["default", "straight_through"]))
    assert "Default autograd and Straight-through give x the same gradient here." in describe(frame)


def test_joined_samples_are_described_one_after_another():
    one, other = explorer.sample("sign", "clipped"), explorer.sample("round", "zero", stop=2)
    words = describe(pd.concat([one, other]))
    assert "y with Clipped straight-through is flat" in words
    assert "y with Zero is flat" in words
    drawn = [trace.name for trace in curve_figure(pd.concat([one, other])).data if trace.meta]
    assert drawn == ["y with Clipped straight-through", "y with Zero", "Clipped straight-through", "Zero"]


def test_curves_of_one_rule_at_several_g_get_different_names():
    frames = [explorer.sample("clamp", "published_clamp", g=g) for g in (1, 2)]
    (curves,) = to_curves(pd.concat(frames))
    assert list(curves.labels) == ["published_clamp", "published_clamp 2"]
    label = explorer.RULES["published_clamp"].label
    assert list(curves.labels.values()) == [label, f"{label} 2"]
    assert [values.max() for values in curves.gradients.values()] == [1, 2]
    assert f"{label} 2: the gradient is between 0 and 2" in describe(pd.concat(frames))


def test_a_parameter_that_learned_keeps_its_panel():
    frame = explorer.sample("quantize", ["lsq", "default"], learns="s", s=0.6)
    figure = curve_figure(read_back(frame))
    assert figure.layout.yaxis3.title.text == "part"
    parts = [trace.name for trace in figure.data if trace.yaxis == "y3" and trace.mode == "lines"]
    assert parts == ["LSQ (learned step size)", "Default autograd"]


FRAME = explorer.sample("relu", ["default", "zero"])


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (FRAME.drop(columns="y"), "with the columns rule, x, y, gradient, but this one has no y"),
        (FRAME[FRAME["x"] > 9], "this one is empty"),
        (FRAME.assign(gradient="much"), "the columns y, x, gradient must be numbers|must be numbers"),
        (FRAME.assign(x=np.nan), "the column x must be finite"),
        ([1, 2], "this one has no rule"),
    ],
)
def test_a_table_that_says_nothing_is_refused_with_a_sentence(table, words):
    for show in (describe, curve_figure):
        with pytest.raises(ValueError, match=words):
            show(table)


def test_a_single_point_is_drawn_but_not_described():
    single = FRAME[(FRAME["rule"] == "zero") & (FRAME["x"] == 1.5)]
    assert len(single) == 1
    assert curve_figure(single).data[0].y[0] == 1.5
    with pytest.raises(ValueError, match="at least two values of x"):
        describe(single)


def test_an_x_that_comes_twice_with_other_values_begins_another_curve():
    columns = {"rule": "default", "x": [0.0, 1.0, 1.0, 2.0], "y": 0.0, "gradient": [0.0, 1.0, 5.0, 6.0]}
    curves = to_curves(pd.DataFrame(columns))
    assert [each.x.tolist() for each in curves] == [[0, 1], [1, 2]]
