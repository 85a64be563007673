"""Figures of what draws: bands, the exact gradient, and tables read back."""

import numpy as np
import pandas as pd
import pytest

from explorer.curves import sample
from explorer.description.figures import make_curve_spec
from tests.description.test_figures import shown, steepest_jump


def _without_meta(spec: dict, axis: str, **look: str) -> list[dict]:
    others = [trace for trace in spec["data"] if "meta" not in trace and trace.get("yaxis", "y") == axis]
    return [trace for trace in others if all(trace.get(name) == value for name, value in look.items())]


def _ends(band: dict) -> dict[float, tuple[float, float]]:
    """The lowest and the highest value of a band at each x."""
    there = np.isfinite(band["y"])
    points = pd.DataFrame({"x": band["x"][there], "y": band["y"][there]}).groupby("x")["y"]
    return {x: (values.min(), values.max()) for x, values in points}


@pytest.mark.parametrize("axis", ["y", "y2"])
def test_a_mean_lies_in_a_band_of_one_standard_deviation(axis: str):
    rules = ["sigmoid_st", "reinforce"]
    frame = sample("bernoulli", rules, points=41, g=-2.0)
    bands = _without_meta(make_curve_spec(frame), axis, fill="toself")
    mean, spread, keys = ("y", "y_sd", rules[:1]) if axis == "y" else ("gradient", "gradient_sd", rules)
    for band, key in zip(bands, keys, strict=True):
        block = frame[frame["rule"] == key]
        low, high = block[mean] - block[spread], block[mean] + block[spread]
        assert list(_ends(band)) == block["x"].tolist()
        np.testing.assert_allclose([*_ends(band).values()], np.stack([low, high], axis=1), rtol=1e-6)
        assert (band["showlegend"], band["hoverinfo"]) == (False, "skip")


def test_the_exact_gradient_is_dotted_and_breaks_where_it_jumps():
    frame = sample("stochastic_round", "straight_through", points=61)
    spec = make_curve_spec(frame)
    (exact,) = _without_meta(spec, "y2", name="exact")
    assert exact["line"]["dash"] != "solid"
    there = np.isfinite(exact["y"])
    found = dict(zip(exact["x"][there].tolist(), exact["y"][there].tolist(), strict=True))
    assert found == dict(zip(frame["x"], frame["unbiased"], strict=True))
    kinks = frame.attrs["curves"].kinks["forward"]
    assert 1.0 in kinks
    assert steepest_jump(exact, list(kinks), shown(spec, "yaxis2")) < 0.002


def test_bands_break_where_their_mean_jumps():
    spec = make_curve_spec(sample("formula: round(x) + u()", "straight_through", points=61))
    (band,) = _without_meta(spec, "y", fill="toself")
    rings = np.split(np.arange(len(band["x"])), np.flatnonzero(np.isnan(band["y"])))
    widths = [np.ptp(band["x"][ring[1:]]) for ring in rings if len(ring) > 1]
    assert widths == pytest.approx([0.5, *[1.0] * 5, 0.5], abs=0.01)


def test_a_random_table_read_from_csv_gives_the_same_figure(tmp_path):
    frame = sample("bernoulli", ["sigmoid_st", "reinmax"], points=21)
    frame.to_csv(tmp_path / "frame.csv", index=False)
    whole, read = make_curve_spec(frame), make_curve_spec(pd.read_csv(tmp_path / "frame.csv"))
    for axis, count in (("y", 1), ("y2", 2)):
        both = [_without_meta(spec, axis, fill="toself") for spec in (whole, read)]
        assert [len(bands) for bands in both] == [count, count]
        for one, other in zip(*both, strict=True):
            np.testing.assert_allclose([*_ends(one).values()], [*_ends(other).values()], atol=1e-6)
    (one,), (other,) = (_without_meta(spec, "y2", name="exact") for spec in (whole, read))
    np.testing.assert_allclose(one["y"], other["y"], atol=1e-6)


def test_two_random_ops_have_separate_bands_and_exact_gradients():
    frames = [sample(op, "straight_through", points=9) for op in ("stochastic_round", "gaussian_noise")]
    spec = make_curve_spec(pd.concat(frames))
    assert len(_without_meta(spec, "y", fill="toself")) == 2
    bands = _without_meta(spec, "y2", fill="toself")
    assert len({band["fillcolor"] for band in bands}) == 2
    exact = [trace for trace in spec["data"] if str(trace.get("name")).startswith("exact, ")]
    assert [len(trace["x"]) >= 9 for trace in exact] == [True, True]
