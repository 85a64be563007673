"""When a run goes on, starts again or is dropped after a change of settings."""

from typing import Any

import pytest

from tests.frontend.modules import Node
from tests.frontend.train.conftest import choice

RECONCILE = """
    const { createLifecycle } = await import("./train/page/lifecycle.js");
    const { getRunSettings } = await import("./train/client/request.js");
    const { asRead, makeTable } = await import("./train/state/own-table.js");
    const unread = makeTable("a,b,kind");
    const reading = { target: "kind", without: ["b"] };
    const table = { ...asRead(unread, reading), ...given.chosen };
    let state = { choice: given.choice, table, reading, view: { status: { state: "running", step: 3 } } };
    const done = [];
    const run = {
        ...getRunSettings(given.choice, unread), status: state.view.status,
        begin: async () => done.push("begin"), drop: () => done.push("drop"), clearNotice: () => undefined,
        findFinished: ({ lr }) => given.finished ? () => done.push("take up", lr, state.trained.op) : null,
    };
    const lifecycle = createLifecycle({
        now: () => state.choice, state: () => state, run,
        become: (change) => (state = { ...state, ...change }),
        isMine: () => run.settingsKey === getRunSettings(state.choice, state.table).settingsKey,
        rename: () => Object.assign(run, getRunSettings(state.choice, state.table)),
    });
    lifecycle.reconcile();
    lifecycle.reconcile();
    return done;
"""


@pytest.mark.parametrize(("chosen", "done"), [({}, []), ({"target": "a"}, ["begin", "begin"])])
def test_a_run_goes_on_when_its_table_is_read(
    node: Node, document: dict[str, Any], chosen: dict[str, Any], done: list[str]
):
    """It has the target that the server suggests. With another one it starts again."""
    given = {"document": document, "choice": choice("sign", "default", task="data"), "chosen": chosen}
    assert node.run(RECONCILE, given) == done


def test_a_return_to_the_settings_of_a_finished_run_shows_it_beside_the_run_just_left(
    node: Node, document: dict[str, Any]
):
    known = choice("sign", "default", task="moons", lr="0.5")
    given = {"document": document, "choice": known, "chosen": {}, "finished": True}
    assert node.run(RECONCILE, given) == ["take up", "0.5", "sign"] * 2
