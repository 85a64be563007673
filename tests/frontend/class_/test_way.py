"""Where a student's page goes: to the teacher's link once, and back to the lesson when the class goes on."""

from typing import Any

import pytest

from tests.frontend.modules import Node

WAY = """
    const { wayOf, followed } = await import("./class/way.js");
    return [wayOf(given.seen, given.attended, given.atLesson), followed(given.seen, given.attended)];
"""
LINK = {"number": 2, "path": "/train", "query": "task=moons&op=sign"}
ATTENDED = {"id": "first~k7mx2pwrq", "guest": "g", "round": 3, "links": 1}


def way(node: Node, seen: dict[str, Any], *, at_lesson: bool = False) -> tuple[Any, Any]:
    known = {"round": 3, "links": 1, "link": None}
    return tuple(node.run(WAY, {"seen": {**known, **seen}, "attended": ATTENDED, "atLesson": at_lesson}))


@pytest.mark.parametrize("at_lesson", [True, False])
def test_a_link_is_followed_once_from_wherever_the_page_is(node: Node, at_lesson: bool):
    seen = {"links": 2, "link": LINK}
    to, then = way(node, seen, at_lesson=at_lesson)
    assert to == "train?task=moons&op=sign"
    assert then == {**ATTENDED, "links": 2}
    again = node.run(WAY, {"seen": {"round": 3, **seen}, "attended": then, "atLesson": at_lesson})
    assert again[0] is None


def test_a_class_that_goes_on_brings_back_who_is_elsewhere(node: Node):
    assert way(node, {"round": 4})[0] == "learn?class=first%7Ek7mx2pwrq"
    assert way(node, {"round": 4}, at_lesson=True)[0] is None
    assert way(node, {})[0] is None


@pytest.mark.parametrize("path", ["/", "//example.org/", "/train"])
def test_every_way_stays_below_the_address_of_the_explorer(node: Node, path: str):
    to = way(node, {"links": 2, "link": {**LINK, "path": path}})[0]
    body = "return new URL(given, 'https://explorer.example/tools/').href;"
    assert node.run(body, to).startswith("https://explorer.example/tools/")
