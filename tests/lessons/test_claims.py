"""What the words of the lessons claim beside their numbers: no story outlives its facts."""

from __future__ import annotations

from typing import Any

import pytest

from explorer.lessons import LESSONS

Results = dict[str, Any]


@pytest.fixture
def r(request: pytest.FixtureRequest) -> Results:
    """The numbers of the lesson that a test is named after."""
    return LESSONS[request.function.__name__.removeprefix("test_").replace("_", "-")].results()


def test_autograd(r: Results) -> None:
    assert r["gradient"] == [2, 2, 2]
    assert r["learned"] == ["mytensor"]
    assert not r["plain_tensor_asks"]
    assert "2 were given" in r["tensor_slip"]
    assert "deprecated" in r["uniform_slip"]
    assert "before Module.__init__() call" in r["init_slip"]


def test_vanishing(r: Results) -> None:
    assert r["gradient_of_round"] == [0, 0, 0]
    assert r["net"]["moved"] == 0
    assert r["net"]["last"] < r["net"]["first"]


def test_straight_through(r: Results) -> None:
    assert r["gradient"] == [1]
    assert "mismatch" in r["gradcheck_says"]
    before = LESSONS["vanishing"].results()["net"]
    assert r["net"]["moved"] > 1
    assert r["net"]["first"] == before["first"]
    assert r["net"]["last"] < before["last"] / 10


def test_clamp(r: Results) -> None:
    published = r["published"]
    assert published["one"][1:] == [1, 1], "above the bound it looks like straight-through"
    assert published["two"][2] not in (0, 2)
    assert published["minus"][2] > 0 > published["minus"][1], "the wrong sign"
    assert r["torch_own"] == [0, 1, 0]
    assert r["fixed"] == [0, 2, 0]


def test_leaves(r: Results) -> None:
    assert r["of_leaf"] == [2, 6]
    assert r["of_non_leaf"]["grad"] is None
    assert "not a leaf" in r["of_non_leaf"]["warning"]
    assert r["retained"] == r["hooked"] == [1, 1]
    assert r["kind_of_variable"] == "Tensor"
    assert r["registered"] == {"Variable": 0, "Parameter": 1}


def test_relu(r: Results) -> None:
    assert r["slopes"]["torch"] == {"left": 0, "at_zero": 0, "right": 1}
    assert r["slopes"]["MyReLU"] == {"left": 0, "at_zero": 1, "right": 1}
    assert r["nets"]["MyReLU"]["values"] == 500 * 64 * 100
    assert (r["nets"]["MyReLU"]["inputs"], r["nets"]["MyReLU"]["hidden"]) == (1000, 100)
    assert 0 < r["nets"]["MyReLU"]["zeros"] < r["nets"]["MyReLU"]["values"] / 1000
    assert r["nets"]["MyReLU"]["last"] == pytest.approx(r["nets"]["torch"]["last"], rel=0.1), (
        "it hardly matters"
    )
    assert r["nets"]["MyReLU"]["last"] < 1e-4


def test_linear(r: Results) -> None:
    assert r["said"]["LinearFunction"] is True
    assert "input 2" in r["said"]["WrongBiasFunction"]
    assert r["asked"] == (False, True)
    assert r["by_hand"].endswith(f"= {r['small']['gradient'][1][0]:g}")


def test_constants(r: Results) -> None:
    assert r["gradient"] == [3, 3]
    assert r["values_back"] == 2
    assert (r["given"], r["behind_a_block"]) == ({"usual": [0, 0], "spared": None}, None)


def test_context(r: Results) -> None:
    assert r["leak"] == {"SavedExp": False, "StoredExp": True}
    assert r["changed"]["StoredExp"] != r["true_slope"] == 1
    assert "modified by an inplace operation" in r["changed"]["SavedExp"]
    assert r["dirty"] == {"Doubled": 2, "SecretlyDoubled": 1}
    assert r["mask"]["UnmarkedMask"] == [0, 0]
    assert "does not require grad" in r["mask"]["ReluWithMask"]


def test_twice(r: Results) -> None:
    assert r["twice"]["Cube"] == 30
    assert "once_differentiable" in r["twice"]["OnceCube"]
    assert r["twice"]["FrozenCube"] not in (30, None)
    assert r["once"] is True
    assert r["gradgradcheck_says"]["Cube"] is True
    assert "mismatch" in r["gradgradcheck_says"]["FrozenCube"]


def test_gradcheck(r: Results) -> None:
    single, double = r["valley"]["float32"], r["valley"]["float64"]
    assert 1e-12 < double["eps"] < single["eps"] < 1e-1, (
        "a valley in both, deeper and further left in float64"
    )
    assert double["error"] < single["error"] / 1000
    assert r["tiny_step"] > 100 * single["error"]
    assert r["at_a_kink"] == {"numerical": 0.5, "analytical": 0}
    assert r["beside_the_kink"] is True


def test_surrogates(r: Results) -> None:
    blocked = r["race"]["blocked"]
    assert r["race"]["best"] == "Straight-through"
    assert blocked["straight_through"] == 0
    assert min(blocked["clipped"], blocked["approx_sign"]) > 0.9
