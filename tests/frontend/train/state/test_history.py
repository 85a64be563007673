"""A run's past as the browser keeps it: branch points and steps that are kept."""

from typing import Any
from urllib.parse import parse_qs

import pytest

from explorer.instrument.limits import MAX_QUERY
from tests.frontend.modules import Node
from tests.frontend.train.conftest import Run, choice

OWN = "formula: where(x: 1, g, 0)"
POINTS = [
    {"step": 3, "name": "lr", "value": "1e-05"}, {"step": 3, "name": "default", "value": OWN},
    {"step": 9, "name": OWN, "value": "clipped"}, {"step": 20, "name": "op", "value": "tanh"},
]  # fmt: skip
KEYS = ["default", OWN, "clipped"]


def test_points_come_back_from_their_text(tell: Run):
    text = tell("state/branches", "formatBranches", POINTS)
    assert text.splitlines()[0] == "3,lr:1e-05"
    assert tell("state/branches", "parseBranches", text, KEYS) == POINTS
    assert tell("state/branches", "parseBranches") == []


def test_a_branch_takes_the_place_of_what_was_to_come(tell: Run):
    point = {"step": 9, "name": "default", "value": "zero"}
    assert tell("state/branches", "branchAt", POINTS, point) == [*POINTS[:3], point]
    same = {"step": 3, "name": "lr", "value": "1"}
    assert tell("state/branches", "branchAt", POINTS, same) == [POINTS[1], same]


@pytest.mark.parametrize(
    ("steps", "wanted", "taken"),
    [([0, 4, 8], 5, 4), ([0, 4, 8], 6, 4), ([0, 4, 8], 7, 8), ([0], 9, 0), ([], 3, None)],
)
def test_the_nearest_kept_step(tell: Run, steps: list[int], wanted: int, taken: int | None):
    assert tell("state/history", "findNearest", steps, wanted) == taken


@pytest.mark.parametrize(
    ("point", "text"),
    [
        (POINTS[0], "3: lr 1e−5"), ({"step": 2, "name": "op", "value": "tanh"}, "2: Tanh"),
        ({"step": 2, "name": "rule", "value": "zero"}, "2: all → Zero"),
        (POINTS[2], "9: where(x: 1, g, 0) → Clipped straight-through"),
    ],
)  # fmt: skip
def test_a_branch_point_in_words(tell: Run, point: dict[str, Any], text: str):
    assert tell("state/branches", "pointText", point) == text


LEGEND = [{"key": key, "label": key.title(), "colour": f"#{key}"} for key in ("default", "clipped")]


def line(rule: str, **more: Any) -> dict[str, Any]:
    values = {"x": [0, 2, 4, 6, 8], "y": [1, 2, 3, 4, 5], "low": [0] * 5, "high": [6] * 5}
    known = {"name": rule.title(), "rule": rule, "meta": rule, "ends": True, "colour": f"#{rule}"}
    return known | values | more


def split(tell: Run, *points: dict[str, Any]) -> Any:
    """Return the lines of both rules, split at branch points."""
    lines = [line("default"), line("clipped")]
    return tell("state/branches", "splitAtBranches", lines, points, LEGEND, "#free")


def test_a_line_goes_on_dashed_in_the_colour_of_its_other_rule(tell: Run):
    whole, later, other, mark = split(tell, {"step": 4, "name": "default", "value": "clipped"})
    assert (whole["x"], whole["ends"], whole["meta"]) == ([0, 2, 4], False, "default")
    assert (later["x"], later["y"]) == ([4, 6, 8], [3, 4, 5])
    assert (later["dash"], later["colour"]) == ("dash", "#clipped")
    assert later["name"] == "Clipped straight-through (was Default)"
    assert later["ends"]
    assert "meta" not in later
    assert (other["x"], other.get("dash")) == ([0, 2, 4, 6, 8], None)
    assert (mark["x"], mark["y"], mark["symbol"], mark["ends"]) == ([4], [3], "diamond-open", False)


CHANGES = [
    {"step": 2, "name": "op", "value": "sign"},
    {"step": 4, "name": "default", "value": "clipped"},
    {"step": 6, "name": "rule", "value": "zero"},
]


@pytest.mark.parametrize(
    ("taken", "rules", "op"),
    [
        (2, ["default", "clipped"], "round"),  # steps 0 and 1 were taken with what was there before
        (3, ["default", "clipped"], "sign"), (5, ["clipped", "clipped"], "sign"),
        (7, ["zero", "zero"], "sign"),
    ],
)  # fmt: skip
def test_the_settings_of_the_last_step_are_found(tell: Run, taken: int, rules: list[str], op: str):
    start = [{"op": "round", "rule": line["key"]} for line in LEGEND]
    result = [tell("state/branches", "findKeysInForce", CHANGES, taken, each) for each in start]
    assert result == [{"op": op, "rule": rule} for rule in rules]


def test_a_line_is_named_by_the_rule_that_it_went_on_with(tell: Run):
    names = [line["label"] for line in tell("state/branches", "labelLines", LEGEND, CHANGES, 5)]
    assert names == ["Clipped straight-through (was Default)", "Clipped"]


def test_a_rate_parts_every_line_and_a_point_to_come_none(tell: Run):
    series = split(tell, {"step": 5, "name": "lr", "value": "1"})
    assert [each["x"] for each in series] == [[0, 2, 4], [4, 6, 8]] * 2 + [[4]] * 2
    assert {each["colour"] for each in series} == {"#default", "#clipped"}
    later = split(tell, {"step": 50, "name": "lr", "value": "1"})
    assert [each["x"] for each in later] == [[0, 2, 4, 6, 8]] * 2


def test_of_branches_that_fit_no_link_the_last_are_in_it(node: Node, document: dict[str, Any]):
    points = [f"{step},op:formula: x + {step}{' + x' * 60}" for step in range(9)]
    chosen = choice("sign", "default", task="moons", branch="\n".join(points))
    body = """
        const { toQuery, countLinkedBranches } = await import("./choice/address.js");
        const { describeLinkLimit } = await import("./train/history/view-model.js");
        return [toQuery, countLinkedBranches, describeLinkLimit].map((find) => find(given.choice));
    """
    query, linked, said = node.run(body, {"document": document, "choice": chosen})
    assert len(query) <= MAX_QUERY
    told = parse_qs(query)["branch"]
    assert 0 < len(told) < 9
    assert told == points[-len(told) :]
    assert linked == len(told)
    assert said.startswith(f"The link is full: only the last {len(told)} of 9 branch points fit.")
    assert parse_qs(query)["task"] == ["moons"]


@pytest.mark.parametrize(("at", "rate"), [(0, "0.1"), (2, "0.1"), (3, "1e-05"), (19, "1e-05"), (50, "2")])
def test_the_rate_in_force(tell: Run, at: int, rate: str):
    rates = [{"step": step, "name": "lr", "value": value} for step, value in ((3, "1e-05"), (20, "2"))]
    points = [rates[0], {"step": 9, "name": "op", "value": "tanh"}, rates[1]]
    assert tell("state/branches", "rateAt", points, at, "0.1") == rate


def test_the_server_alone_makes_the_branch_point_of_a_rate_and_the_choice_follows_it(node: Node):
    """While the hand turns it, it is displayed; at rest the server is told; what it records is chosen."""
    body = """
        const { createLiveSettings } = await import("./train/page/live-settings.js");
        let state = given;
        const told = [];
        const choose = (choice) => { state.choice = choice; told.push(choice.training.branch); };
        const put = (change) => { state = { ...state, ...change }; };
        const run = { isBusy: false, change: () => told.push("told") };
        const turning = createLiveSettings({ now: () => state.choice, state: () => state, put, choose, run,
            become: (change) => { put(change); turning.catchUp(); }, isMine: () => true, rename() {} });
        turning.onSetting("lr", "0.4", "moving");
        turning.onSetting("lr", "0.5", "settled");
        const before = [state.rate, [...told]];
        state.view.status.recorded = { lr: "0.01", branch: "28,lr:0.5" };
        turning.catchUp();
        return [before, state.rate, told];
    """
    before, rate, told = node.run(body, on_its_way(None, "", ""))
    assert before == ["0.5", ["told"]]
    assert (rate, told) == (None, ["told", "28,lr:0.5"])


def on_its_way(rate: str | None, branch: str, recorded: str, **status: Any) -> dict[str, Any]:
    """The state of a run that is at step 30, with what is chosen and what it has recorded."""
    known = choice("sign", "default", task="moons", **({"branch": branch} if branch else {}))
    usual = {"state": "running", "step": 30, "id": "r", "recorded": {"lr": "0.01", "branch": recorded}}
    view = {"status": usual | status, "id": "r", "notice": ""}
    return {"choice": known, "trained": known, "rate": rate, "view": view}


@pytest.mark.parametrize(
    ("state", "branch"),
    [
        (on_its_way("0.5", "27,lr:0.5", "28,lr:0.5"), "28,lr:0.5"),  # the page did not know the step
        (on_its_way("0.5", "27,lr:0.5", "27,lr:0.50"), "27,lr:0.5"),
        (on_its_way("0.5", "27,lr:0.5", ""), None),  # not yet heard
        (on_its_way("0.5", "27,lr:0.5", "", state="finished"), ""),  # too late
        (on_its_way(None, "27,lr:0.5", "27,lr:5e-1"), None),
        (on_its_way(None, "", "", state="finished"), None),
        (on_its_way(None, "", "3,lr:0.5", id="another"), None),  # the run before
        (on_its_way(None, "9,lr:0.5", "", step=0), None),
    ],
)
def test_the_choice_follows_the_runs_records(tell: Run, state: dict[str, Any], branch: str | None):
    known = tell("state/history", "mergeRecorded", state)
    assert (known and known["training"].get("branch", "")) == branch


@pytest.mark.parametrize(
    ("rate", "state", "step", "shown"),
    [
        ("0.5", "paused", 30, "0.5"), (None, "paused", 30, "0.2"), (None, "paused", 20, "0.01"),
        (None, "finished", 30, "0.01"),
    ],
)  # fmt: skip
def test_the_rate_that_is_shown(tell: Run, rate: str | None, state: str, step: int, shown: str):
    seen = on_its_way(rate, "27,lr:0.2", "", state=state, step=step)
    assert tell("state/history", "getShownRate", seen) == shown


def test_spellings_of_one_learning_rate_give_equal_settings(tell: Run):
    branches = ("27,lr:1e-8", "27,lr:1e-08", "27,lr:0.00000001")
    chosen = [choice("sign", "default", task="moons", branch=branch) for branch in branches]
    assert len({tell("state/tasks", "toSettingsKey", each, "") for each in chosen}) == 1


def test_the_nearest_step_replaces_one_that_is_no_longer_kept(node: Node):
    """The page knows the steps that were kept when it was last told, and shows nothing of the run's end."""
    body = """
        const { createHistory } = await import("./train/history/controller.js");
        const { toDisplayedState } = await import("./train/state/history.js");
        const snapshot = { checkpoints: [0, 4, 8, 12, 16, 20] };
        const end = { conclusion: "end", judged: { zero: "9" }, lines: { zero: "end" }, headline: "end" };
        const status = { step: 24, state: "finished", snapshot, ...end };
        let state = { at: null, displayed: null, remark: "before", view: { id: "r", status } };
        const asked = [];
        const seen = { step: given, snapshot, conclusion: "", judged: {}, lines: {}, headline: "" };
        const run = { look: async (step) => (asked.push(step), seen) };
        const become = (change) => { state = { ...state, ...change }; };
        const machine = createHistory({ state: () => state, become, run });
        machine.onScrub(13);
        const first = [state.at, state.remark];
        await new Promise((done) => setTimeout(done));
        const { step, conclusion, judged, lines, headline } = toDisplayedState(state).view.status;
        return [first, asked, state.at, step, state.remark, conclusion, judged, lines, headline];
    """
    own: list[object] = ["", {}, {}, ""]
    end = ["end", {"zero": "9"}, {"zero": "end"}, "end"]
    said = "Step 12 is no longer kept: %s is the nearest."
    assert node.run(body, 12) == [[12, ""], [12], 12, 12, "", *own]
    assert node.run(body, 16) == [[12, ""], [12], 16, 16, said % 16, *own]
    assert node.run(body, 24) == [[12, ""], [12], None, 24, said % 24, *end]
