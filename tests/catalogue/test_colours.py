"""The colours of the charts stand out from their ground, and from each other in every kind of sight."""

import re
import tomllib
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from explorer.catalogue import colours

FRONTEND = Path(colours.__file__).parents[1] / "frontend"
TOKENS = (FRONTEND / "elements" / "tokens.css").read_text(encoding="utf-8")
Colour = NDArray[np.float64]
CONFIG = tomllib.loads((Path(__file__).parents[2] / ".streamlit/config.toml").read_text(encoding="utf-8"))
SETS = {"light": colours.RULE_COLOURS_LIGHT, "dark": colours.RULE_COLOURS_DARK}
# Which part of linear red, green and blue is seen (Machado, Oliveira and Fernandes 2009, severity 1).
SIGHTS = {
    "normal": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039],
    ],
}  # fmt: skip
LMS = [
    [0.4122214708, 0.5363325363, 0.0514459929],
    [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005],
]
LAB = [
    [0.2104542553, 0.793617785, -0.0040720468],
    [1.9779984951, -2.428592205, 0.4505937099],
    [0.0259040371, 0.7827717662, -0.808675766],
]
# Distances in OKLab, where black and white are 1 apart and 0.02 is just noticed.
APART = {"normal": 0.15, "protanopia": 0.09, "deuteranopia": 0.09, "tritanopia": 0.09}


def linear(colour: str) -> Colour:
    """Linear red, green and blue of a colour such as "#0995fd"."""
    sent = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    return np.where(sent <= 0.04045, sent / 12.92, ((sent + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    """Contrast ratio of WCAG 2.2, 1 to 21."""
    dark, light = sorted(float(linear(colour) @ [0.2126, 0.7152, 0.0722]) for colour in (one, other))
    return (light + 0.05) / (dark + 0.05)


def distance(one: str, other: str, sight: str) -> float:
    """How far apart two colours are in OKLab, seen through a simulated eye."""
    first, second = (
        np.array(LAB) @ np.cbrt(np.array(LMS) @ np.clip(np.array(SIGHTS[sight]) @ linear(colour), 0, 1))
        for colour in (one, other)
    )
    return float(np.linalg.norm(first - second))


@pytest.mark.parametrize("theme", SETS)
def test_every_colour_has_enough_contrast_with_the_background(theme: str) -> None:
    ground = CONFIG["theme"][theme]["backgroundColor"]
    assert len(SETS[theme]) == 6
    assert min(contrast(colour, ground) for colour in (*SETS[theme], colours.NEUTRAL)) >= 3


@pytest.mark.parametrize("theme", SETS)
@pytest.mark.parametrize("sight", SIGHTS)
def test_colours_are_distinguishable_for_every_kind_of_vision(theme: str, sight: str) -> None:
    pairs = combinations((*SETS[theme], colours.NEUTRAL), 2)
    assert min(distance(*pair, sight) for pair in pairs) >= APART[sight]


@pytest.mark.parametrize("theme", SETS)
def test_positive_and_negative_have_hues_of_no_rule_and_every_kind_of_vision_tells_them_apart(theme: str):
    ground = CONFIG["theme"][theme]["backgroundColor"]
    assert min(contrast(colour, ground) for colour in (colours.NEGATIVE, colours.POSITIVE)) >= 3
    for end in (colours.NEGATIVE, colours.POSITIVE):
        turns = [abs(hue(end) - hue(rule)) for rule in SETS[theme]]
        assert min(min(turn, 360 - turn) for turn in turns) >= 25
    for sight, least in APART.items():
        assert distance(colours.NEGATIVE, colours.POSITIVE, sight) >= least


def hue(colour: str) -> float:
    """The hue in OKLab, in degrees."""
    _, a, b = np.array(LAB) @ np.cbrt(np.array(LMS) @ linear(colour))
    return float(np.degrees(np.arctan2(b, a))) % 360


@pytest.mark.parametrize(
    "name", ["negative", "positive", "neutral", "ink", "ground", "accent", "right", "wrong"]
)
def test_a_colour_has_one_value_in_python_and_in_the_style_sheets(name: str):
    declared = re.search(rf"--{name}: [^;]*?(#[0-9a-f]{{6}})", TOKENS)
    assert declared is not None
    assert declared[1] == getattr(colours, name.upper())


def test_a_colour_is_blended_with_the_ground_or_faded():
    assert [colours.blend("#204060", 0), colours.blend("#204060", 0.5), colours.blend("#204060", 1)] == [
        colours.GROUND,
        "#90a0b0",
        "#204060",
    ]
    assert colours.fade("#204060", 0.5) == "rgba(32, 64, 96, 0.5)"


def test_charts_have_the_grey_and_the_paper_that_tokens_have():
    names = ("chart/plotly/plotly.js", "learn/pictures/paper.js")
    plotly, paper = ((FRONTEND / name).read_text() for name in names)
    assert f"`{colours.fade(colours.NEUTRAL, 7).replace('7)', '${opacity})')}`" in plotly
    for colour in (colours.INK, colours.GROUND):
        assert colours.fade(colour, 1).replace("rgba", "rgb").replace(", 1)", ")") in paper
