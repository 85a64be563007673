"""A link in words."""

import re

from explorer.ui.links.link import from_text
from explorer.ui.links.presets import PRESETS
from explorer.ui.links.preview import describe_purpose, make_head_elements, make_title


def test_the_link_of_an_example_says_what_to_try():
    said = [describe_purpose(preset.choice) for preset in PRESETS]
    assert said == [f"{preset.name}. {preset.hint}" for preset in PRESETS]


def test_any_other_link_names_op_and_rules():
    choice = from_text("op=round&rule=clipped&rule=masked&rule=zero")[0]
    assert make_title(choice) == "Round: Clipped straight-through, Masked, Zero · Gradient explorer"
    named = "Clipped straight-through, Masked and Zero"
    assert describe_purpose(choice) == f"The gradient that {named} return for Round, drawn below it."


def test_user_text_is_escaped_in_the_head():
    head = make_head_elements('</title><script>"', "<img src=x onerror='a'>")
    assert re.findall("<(?!/?title|meta)", head) == []
    assert head.count('"') == 2 * (head.count("<meta") * 2)
