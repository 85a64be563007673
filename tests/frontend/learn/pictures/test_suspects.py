"""What is said to whoever names a line of a hidden Function."""

from dataclasses import asdict

import pytest

from explorer.lessons.find_the_bug import first, second, third
from tests.frontend.modules import Node

SAID = 'const { verdictOf } = await import("./learn/pictures/suspects.js"); return verdictOf(...given);'


@pytest.mark.parametrize("hidden", [first(), second(), third()], ids=lambda hidden: hidden.title)
def test_the_hidden_line_is_shown_to_whoever_names_it_and_to_nobody_else(node: Node, hidden):
    for index, (_, trace) in enumerate(hidden.lines):
        said = node.run(SAID, [asdict(hidden), index])
        if index == hidden.faulty:
            assert said == f"Yes: there stands {hidden.hidden_line}."
        else:
            assert said == f"It is not this one. {trace}"
    assert node.run(SAID, [asdict(hidden), None]) == "Pick a line first."
