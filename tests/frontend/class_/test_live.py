"""The class of a tab: a student's page sends at a moment of its own."""

from explorer.ui.server.classes.classroom import SPREAD_MS
from tests.frontend.modules import Node

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


def test_an_answer_rests_a_part_of_the_time_that_the_class_is_told(node: Node):
    """A class answers all at once: nothing is sent before the rest."""
    rests, posted = node.run(SEND, SPREAD_MS)
    assert rests == [[0.4 * SPREAD_MS, 0]]
    assert posted == [{"guest": "mine", "round": 2, "picked": 1, "drawn": None}]
