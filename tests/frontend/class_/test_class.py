"""The class of a tab: when an answer is sent, how answers are counted, and where a page goes."""

import json
from typing import Any

import pytest

from explorer.ui.server import answers
from explorer.ui.server.classes.classroom import SPREAD_MS
from explorer.ui.server.classes.codes import format_code
from tests.frontend.modules import Node
from tests.frontend.train.conftest import choice

SEND = """
    const streams = [];
    globalThis.addEventListener = globalThis.dispatchEvent = () => {};
    globalThis.location = { pathname: "/", search: "" };
    globalThis.EventSource = class {
        constructor() { streams.push(this); }
        close() {}
    };
    const posted = [];
    globalThis.fetch = async (address, { body }) => {
        posted.push(JSON.parse(body));
        return { json: async () => ({ guest: "mine" }) };
    };
    const { live } = await import("./class/live.js");
    await live.enter("k7mx2pwrq");
    const asked = { state: "open", lesson: "clamp", round: 2, links: 0, link: null };
    streams.at(-1).onmessage({ data: JSON.stringify({ ...asked, spread_ms: given }) });
    posted.length = 0;
    const rests = [];
    const later = globalThis.setTimeout;
    globalThis.setTimeout = (work, rest) => { rests.push([rest, posted.length]); return later(work, 0); };
    Math.random = () => 0.4;
    await live.answer({ picked: 1, drawn: null });
    return [rests, posted];
"""


def test_an_answer_waits_for_a_part_of_the_spread_time_before_it_is_sent(node: Node):
    """A class answers all at once: nothing is sent before the rest."""
    rests, posted = node.run(SEND, SPREAD_MS)
    assert rests == [[0.4 * SPREAD_MS, 0]]
    assert posted == [{"guest": "mine", "round": 2, "picked": 1, "drawn": None}]


TALLY = """
    const { countAnswers, describeWays, describeAnswered } = await import("./class/answer-counts.js");
    const tally = countAnswers(given.counts, given.alike);
    return [tally, tally.rows.map((row, i) => describeWays(row, given.draws, given.labels[i]))];
"""


def test_picked_and_drawn_predictions_are_counted_together_and_no_words_are_drawn(node: Node):
    given = {"counts": [3, 0, 1], "alike": [0, 2, 2, -1, 0, -1, -1], "labels": ["Zero", "", ""]}
    tally, ways = node.run(TALLY, {**given, "draws": True})
    assert [row["all"] for row in tally["rows"]] == [5, 0, 3]
    assert (tally["others"], tally["all"]) == (3, 11)
    assert ways == ["Zero: 2 drew it, 3 picked it", "0 drew it, 0 picked it", "2 drew it, 1 picked it"]
    assert node.run(TALLY, {**given, "draws": False})[1] == ["", "", ""]


@pytest.mark.parametrize(
    ("answered", "here", "words"),
    [
        (0, 0, "Nobody is here yet."), (0, 12, "12 here, 0 have answered"),
        (1, 12, "12 here, 1 has answered"), (12, 0, "0 here, 12 have answered"),
    ],
)  # fmt: skip
def test_the_numbers_of_students_and_answers_are_shown(node: Node, answered: int, here: int, words: str):
    assert node.call("class/answer-counts.js describeAnswered", answered, here) == words


@pytest.mark.parametrize("identity", ["k7mx2pwrq", "first~k7mx2pwrq"])
def test_a_code_is_displayed_as_the_server_formats_it(node: Node, identity: str):
    assert node.call("class/answer-counts.js formatCode", identity) == format_code(identity)


WAY = """
    const { findTarget, markFollowed } = await import("./class/way.js");
    return [findTarget(given.seen, given.attended, given.atLesson), markFollowed(given.seen, given.attended)];
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


LEAVE = """
    const { live } = await import("./class/live.js");
    const { getLeft, takeLeftChoice } = await import("./class/membership.js");
    const streams = [];
    globalThis.addEventListener = globalThis.dispatchEvent = () => {};
    globalThis.document = { baseURI: "http://here/" };
    const opened = [];
    const assign = (address) => opened.push(address);
    globalThis.location = { pathname: "/", search: "", href: "here", assign };
    globalThis.history = { state: { instrument: { choice: given.choice, own: { op: [], rule: [] } } } };
    globalThis.EventSource = class {
        constructor() { streams.push(this); }
        close() {}
    };
    globalThis.fetch = async () => ({ json: async () => ({ guest: "mine" }) });
    const later = globalThis.setTimeout;
    globalThis.setTimeout = (work) => work();
    await live.enter(given.id);
    const ask = (round) => streams.at(-1).onmessage(
        { data: JSON.stringify({ state: "open", lesson: "clamp", round, links: 0, link: null }) });
    ask(1);
    ask(2);
    globalThis.setTimeout = later;
    delete globalThis.document;
    return [opened.length > 0, getLeft(), takeLeftChoice()?.training ?? null, takeLeftChoice()];
"""


@pytest.mark.parametrize("hidden", ["9", "9," * 1500])
def test_settings_too_long_for_an_address_are_kept_when_a_class_calls(node: Node, hidden: str):
    known = next(each.content for name, each in answers.get_files().items() if name.endswith("document.json"))
    chosen = choice("round", "default", task="digits", hidden=hidden)
    given = {"document": json.loads(known), "choice": chosen, "id": f"k7mx2pwr{len(hidden) % 7}"}
    kept = ["here", chosen["training"]] if len(hidden) > 1 else [None, None]
    assert node.run(LEAVE, given) == [True, *kept, None]
