"""The session's run in the browser: which events it asks for, and what it keeps of a run that is over."""

from typing import Any

import pytest

from tests.frontend.modules import Node

RUN = """
    const opened = [];
    const views = [];
    const streams = [];
    globalThis.addEventListener = () => {};
    globalThis.EventSource = class {
        constructor(address) { opened.push(address); streams.push(this); }
        close() {}
    };
    const posted = [];
    globalThis.fetch = async (address) => { posted.push(address); return { json: async () => ({}) }; };
    const { saveInSession } = await import("./choice/session.js");
    const { createRun } = await import("./train/client/run.js");
    saveInSession("run", { id: "r", key: "k", settingsKey: "s", lr: "0.1" });
    const run = createRun({ server: (path) => path, live: () => ({}), onChange: (view) => views.push(view) });
    const tell = (state) => streams.at(-1).onmessage(
        { data: JSON.stringify({ state, sentence: state, step: 9, steps: 9, snapshot: null }) });
    const rest = () => new Promise((done) => setTimeout(done));
    run.watch();
    await rest();
    tell("running");
"""


def test_the_events_are_asked_for_what_is_shown(node: Node):
    body = f"{RUN} run.show(['alignment', 'causes']); run.show(['alignment', 'causes']); return opened;"
    assert node.run(body) == ["runs/r/events?", "runs/r/events?show=alignment&show=causes"]


def test_a_finished_run_is_asked_again_and_stays_visible_when_it_is_gone(node: Node):
    body = f"""{RUN}
        tell("finished");
        opened.length = 0;
        run.change();
        await rest();
        const asked = [...opened];
        tell("gone");
        return [asked, posted.at(-1), views.at(-1).status.state];
    """
    assert node.run(body) == [["runs/r/events?"], "runs/r/change", "finished"]


@pytest.mark.parametrize(
    ("state", "settings", "shown"),
    [
        ("finished", ["s", "1e-1"], ["finished", "r"]), ("diverged", ["s", "0.1"], ["diverged", "r"]),
        ("finished", ["s", "0.2"], ["idle", None]), ("finished", ["t", "0.1"], ["idle", None]),
        ("running", ["s", "0.1"], ["idle", None]),
    ],
)  # fmt: skip
def test_a_finished_run_comes_back_with_its_settings(
    node: Node, state: str, settings: list[str], shown: list[str | None]
):
    """The server may have deleted it since."""
    body = f"""{RUN}
        const settings = {{ settingsKey: given[1][0], lr: given[1][1] }};
        tell(given[0]);
        const early = run.findFinished({{ settingsKey: "s", lr: "0.1" }});
        run.drop();
        await rest();
        const streamed = streams.length;
        await run.findFinished(settings)?.();
        if (streams.length > streamed) tell("gone");
        return [early, views.at(-1).status.state, views.at(-1).id];
    """
    assert node.run(body, [state, settings]) == [None, *shown]


@pytest.mark.parametrize("state", ["gone", "silent", "failed", "crowded"])
def test_a_lost_run_keeps_its_display(node: Node, state: str):
    """Its last event comes without a snapshot."""
    body = f"""{RUN}
        const snapshot = {{ step: 7, losses: {{}}, measured: {{}} }};
        const event = {{ state: "running", sentence: "", step: 7, steps: 9, snapshot }};
        streams.at(-1).onmessage({{ data: JSON.stringify(event) }});
        tell(given);
        const {{ status }} = views.at(-1);
        return [status.state, status.snapshot?.step ?? null];
    """
    assert node.run(body, state) == [state, 7]


def test_the_last_measurement_keeps_the_steps_it_was_taken_at(node: Node):
    """The answer to a command comes without what instruments show: the next event has it again."""
    body = """
        const { withMeasured } = await import("./train/state/status.js");
        const of = (steps, measured) =>
            ({ step: steps.at(-1), measured_steps: steps, measured_sigmas: steps, measured });
        const seen = { snapshot: of([0, 1], { alignment: {} }) };
        return [{ snapshot: of([0, 1, 2], {}) }, { snapshot: of([0, 1, 2], { alignment: {} }) }]
            .map((status) => withMeasured(status, seen).snapshot)
            .map(({ step, measured, measured_steps: steps }) => [step, Object.keys(measured), steps]);
    """
    assert node.run(body) == [[2, ["alignment"], [0, 1]], [2, ["alignment"], [0, 1, 2]]]


def test_regions_that_were_not_measured_again_stay_unless_their_rule_diverged(node: Node):
    body = """
        const { withMeasured } = await import("./train/state/status.js");
        const of = (regions, diverged) => ({ measured: { regions }, diverged });
        const seen = { snapshot: of({ a: 1, b: 1, c: 1 }, {}) };
        return withMeasured({ snapshot: of({ a: 2, b: null, c: null }, { a: null, b: null, c: 9 }) }, seen)
            .snapshot.measured.regions;
    """
    assert node.run(body) == {"a": 2, "b": 1, "c": None}


def test_an_answer_is_shown_once_nothing_else_is_pressed(node: Node, document: dict[str, Any]):
    """Between two presses the first one's answer is of a state that is already over."""
    body = f"""{RUN}
        const answers = ["paused", "running"];
        globalThis.fetch = async () => ({{ json: async () => {{
            const state = answers.shift();
            return {{ state, sentence: `answered ${{state}}`, step: 9, steps: 9, snapshot: null }};
        }} }});
        views.length = 0;
        run.pause();
        run.resumeTraining();
        await rest();
        await rest();
        return views.map(({{ status }}) => status.sentence);
    """
    shown = node.run(body, {"document": document})
    assert "answered paused" not in shown
    assert shown[-1] == "answered running"
