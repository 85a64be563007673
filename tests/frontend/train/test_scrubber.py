"""Sliders look alike in browsers that style their thumb by names of their own."""

import re

import pytest

from explorer.instrument.modules import list_sources
from tests.test_styles import text_of

SHEETS = [sheet for sheet in list_sources("css") if "slider-thumb" in text_of(sheet)]


def declarations(css: str, part: str) -> list[set[str]]:
    bodies = re.findall(rf"::{part} \{{(.*?)\}}", css, re.DOTALL)
    usual = {"appearance: none", "box-sizing: border-box"}
    return [{line.strip() for line in body.split(";")} - usual for body in bodies]


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: sheet.stem)
def test_a_thumb_looks_alike_in_every_engine(sheet):
    thumbs = declarations(text_of(sheet), "-webkit-slider-thumb")
    assert thumbs
    assert thumbs == declarations(text_of(sheet), "-moz-range-thumb")
