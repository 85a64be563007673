"""The scrubber looks alike in browsers that style its track by names of their own."""

import re

from explorer.instrument.modules import MODULES


def declarations(css: str, part: str) -> list[str]:
    (body,) = re.findall(rf"\.training \.scrubber input::{part} \{{(.*?)\}}", css, re.DOTALL)
    return body.split()


def test_the_part_that_is_trained_is_filled_in_every_engine():
    css = (MODULES / "train" / "history" / "history.css").read_text(encoding="utf-8")
    track = declarations(css, "-webkit-slider-runnable-track")
    assert "var(--share," in track
    assert track == declarations(css, "-moz-range-track")
