"""Requests of the page of trainings to single instruments, without a server."""

from tests.frontend.modules import Node

ASKING = """
    const { createRequests } = await import("./train/page/requests.js");
    const waiting = [];
    let state = { at: null, displayed: null, layer: null, panels: {}, numbers: {}, requests: {},
        view: { id: "r", status: { step: 7 } } };
    const asking = createRequests({
        state: () => state,
        become: (change) => (state = { ...state, ...change }),
        run: { measure: (key, numbers) => new Promise((done) => waiting.push({ key, numbers, done })) },
    });
    const rest = () => new Promise((done) => setTimeout(done));
    const { SEARCH: key } = await import("./train/evidence/line-search-data.js");
    const shown = () => state.requests[key].answer;
"""


def test_an_answer_to_an_earlier_question_is_not_shown(node: Node) -> None:
    body = f"""{ASKING}
        asking.onSearch();
        asking.onSearch();
        waiting[1].done({{ mine: 2 }});
        await rest();
        waiting[0].done({{ mine: 1 }});
        await rest();
        return [shown(), state.requests[key].step, state.requests[key].run];
    """
    assert node.run(body) == [{"mine": 2}, 7, "r"]


def test_a_panel_that_searches_asks_when_opened_and_reports_a_missing_run(node: Node) -> None:
    body = f"""{ASKING}
        asking.onPanel("causes", true);
        asking.onPanel(key, false);
        const before = waiting.length;
        asking.onPanel(key, true);
        const pending = shown();
        waiting[0].done(null);
        await rest();
        return [before, pending, shown().message, state.panels];
    """
    before, pending, message, panels = node.run(body)
    assert (before, pending, message) == (0, None, "Press Start first: there is no run yet.")
    assert sorted(panels.values()) == [True, True]
