"""The view model of the page of trainings: plain data, so that no page is needed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.frontend.modules import Node
from tests.frontend.train.conftest import choice

COLOURS = ["#000001", "#000002", "#000003", "#000004", "#000005", "#000006"]
ROUND = ("round", "default", "straight_through")
IDLE = {
    "state": "idle", "sentence": "Ready: press Start.", "step": 0, "steps": 0, "steps_per_second": 0,
    "snapshot": None, "words": [], "device": None, "judged": {},
}  # fmt: skip


def snapshot(*rules: str, finished: bool = False, step: int = 2) -> dict[str, Any]:
    """A snapshot whose rules differ by their number."""
    numbers = dict(enumerate(rules))
    return {
        "step": step,
        "finished": finished,
        "metric": "accuracy",
        "loss": {rule: 1.0 + number for number, rule in numbers.items()},
        "losses": {rule: [3.0, 1.0 + number] for number, rule in numbers.items()},
        "loss_sd": {rule: [0.5, 0.5] for rule in rules},
        "loss_steps": {rule: [0, 1] for rule in rules},
        "scores": {rule: [0.1, 0.5 + number / 10] for number, rule in numbers.items()},
        "score_sd": {rule: [0.0, 0.02] for rule in rules},
        "score_steps": [0, 2],
        "w1_norms": {rule: [1.0, 2.0] for rule in rules},
        "w2_norms": {rule: [1.0, 2.0] for rule in rules},
        "diverged": dict.fromkeys(rules),
        "gradients": dict.fromkeys(rules),
        "seeds": 1,
        "seed": dict.fromkeys(rules, 0),
        "measured": {},
        "measured_steps": [],
        "measured_sigmas": [],
        "sigma": 0.5,
        "most": {},
        "unmeasured": {},
    }


def status(state: str, *rules: str, words: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    shown = snapshot(*rules, finished=state == "finished")
    sentence = f"{state.capitalize()}."
    return IDLE | {
        "state": state, "sentence": sentence, "step": 2, "steps": 2, "snapshot": shown, "words": list(words),
    } | more  # fmt: skip


def picture(node: Node, document: dict[str, Any], body: str, **given: Any) -> dict[str, Any]:
    """The picture of the state that ``body`` leaves in ``state``; what it needs stands in ``given``."""
    script = f"""
        const {{ setDocument }} = await import("./choice/entries.js");
        const {{ stateOf, withBegun, withOther, withReset }} = await import("./train/state/state.js");
        const {{ pictureOf }} = await import("./train/page/view-model.js");
        const {{ loadPanels }} = await import("./train/panels/panels.js");
        setDocument(given.document);
        await loadPanels();
        const view = (status, more = {{}}) => ({{ status, notice: "", lost: false, id: "a", ...more }});
        let state = stateOf(given.choice,
            {{ colours: given.colours, ink: 0 }},
            {{ table: {{ text: "", target: null, without: null }}, panels: {{}}, numbers: {{}} }});
        {body}
        return JSON.parse(JSON.stringify(pictureOf(state)));
    """
    common = {"document": document, "colours": COLOURS, "choice": choice(*ROUND, task="digits")}
    result: dict[str, Any] = node.run(script, common | given)
    return result


SEEN = "state = { ...withBegun(state), view: view(given.status) };"


@pytest.mark.parametrize(
    ("state", "offered"),
    [
        ("idle", {"start", "step"}),
        ("ready", {"start", "step", "reset"}),
        ("waiting", {"pause", "step", "reset"}),
        ("running", {"pause", "step", "reset"}),
        ("paused", {"pause", "resume", "step", "reset"}),
        ("finished", {"start", "reset"}),
        ("diverged", {"start", "reset"}),
        ("failed", {"start", "step", "reset"}),
        ("stopped", {"start", "step", "reset"}),
        ("gone", {"start", "step", "reset"}),
    ],
)
def test_what_is_offered_in_each_state(node: Node, document: dict[str, Any], state: str, offered: set[str]):
    shown = picture(node, document, SEEN, status=IDLE | {"state": state})["offered"]
    assert {name for name, is_offered in shown.items() if is_offered} == offered


def test_who_diverges_at_step_0_is_offered_the_tasks_own_op(node: Node, document: dict[str, Any]):
    spikes = choice("round", "default", task="spikes")
    lost = status("diverged", "default") | {"step": 0}
    assert picture(node, document, SEEN, status=lost, choice=spikes)["offersOwnOp"]
    assert not picture(node, document, SEEN, status=lost | {"step": 7}, choice=spikes)["offersOwnOp"]
    assert not picture(node, document, SEEN, status=lost | {"state": "paused"}, choice=spikes)["offersOwnOp"]


@pytest.mark.parametrize(
    ("rules", "task", "remedy", "removal", "own"),
    [
        (("flip", "reinmax"), "digits", "Remove Flip to train the other.", "Remove Flip", False),
        (("flip", "arm", "reinmax"), "moons", "Remove Flip to train the others.", "Remove Flip", False),
        (("arm", "disarm", "reinmax"), "spikes", "Remove ARM and DisARM to train the other.",
         "Remove ARM and DisARM", False),
        (("flip",), "digits", "Choose another rule to train.", "", True),
        (("reinmax",), "moons", "", "", False),
    ],
)  # fmt: skip
def test_where_no_net_trains_a_rule_the_page_says_what_to_do(
    node: Node,
    document: dict[str, Any],
    rules: tuple[str, ...],
    task: str,
    remedy: str,
    removal: str,
    own: bool,
):
    shown = picture(node, document, "state.drawn = true;", choice=choice("bernoulli", *rules, task=task))
    assert (shown["removal"], shown["offersOwnOp"]) == (removal, own)
    assert shown["status"]["state"] == ("refused" if remedy else "idle")
    assert (shown["chart"]["empty"] == remedy) is (remedy != "")
    asked = shown["object"]["reads"]
    if asked:
        assert asked["question"] == (remedy or "Will this rule tell the two kinds apart?")


@pytest.mark.parametrize(("step", "begins"), [(1, "Goes on with ReinMax. "), (2, "")])
def test_a_lane_names_the_rule_that_it_goes_on_with(
    node: Node, document: dict[str, Any], step: int, begins: str
):
    """Its card is that of the rule which it began with."""
    seen = status("paused", "sigmoid_st", recorded={"branch": f"{step},sigmoid_st:reinmax"}, headline="")
    seen["lines"] = {"sigmoid_st": {"text": "The whole gradient passes."}}
    seen["snapshot"]["measured"] = {"way": {"sigmoid_st": None}}
    chosen = choice("bernoulli", "sigmoid_st", task="digits")
    (lane,) = picture(node, document, f"{SEEN} state.drawn = true;", status=seen, choice=chosen)["object"][
        "lanes"
    ]
    assert lane["said"] == f"{begins}The whole gradient passes."


def test_a_branch_to_a_rule_that_no_net_trains_is_to_be_removed(node: Node, document: dict[str, Any]):
    chosen = choice("bernoulli", "reinmax", task="digits", branch="3,rule:flip")
    shown = picture(node, document, "", choice=chosen)
    assert (shown["chart"]["empty"], shown["removal"]) == ("Remove the branch (×) to train.", "")


def test_held_out_accuracy_comes_first_and_the_rest_by_a_switch(node: Node, document: dict[str, Any]):
    seen = status("running", "default", "straight_through")
    first = picture(node, document, SEEN, status=seen)
    assert [option["value"] for option in first["measures"]["options"]] == ["score", "loss", "norms"]
    assert first["measures"]["chosen"] == "score"
    assert first["chart"]["scale"]["kind"] == "share"
    judged = {"default": "50.00 ± 0.02 %", "straight_through": "60.00 ± 1.20 %"}
    known = picture(node, document, SEEN, status=seen | {"judged": judged})
    assert known["chart"]["scale"]["decimals"] == 2, "as in the table"
    assert [(s["meta"], s["x"], s["y"]) for s in first["chart"]["series"]] == [
        ("default", [0, 2], [0.1, 0.5]), ("straight_through", [0, 2], [0.1, 0.6]),
    ]  # fmt: skip
    loss = picture(node, document, SEEN + "state.measure = 'loss';", status=seen)
    assert [s["y"] for s in loss["chart"]["series"]] == [[3, 1], [3, 2]]
    assert loss["metrics"][1].endswith(" of Default autograd"), "the header's loss is the first rule's"
    norms = picture(node, document, SEEN + "state.measure = 'norms';", status=seen)
    assert [s.get("meta") for s in norms["chart"]["series"]] == [None] * 4  # two a rule: neither is its curve


def test_a_task_on_which_nothing_is_held_out_shows_the_loss(node: Node, document: dict[str, Any]):
    shown = picture(node, document, "", choice=choice("relu", "default", task="documents"))
    assert shown["measures"]["chosen"] == "loss"
    assert shown["rows"]["judged"] is None
    assert shown["chart"]["scale"]["kind"] == "decades"


def test_how_the_rules_stand_is_said_from_the_first_step_to_the_end(node: Node, document: dict[str, Any]):
    words = ("One.", "Both end at the same accuracy.")
    both = ("default", "straight_through")
    assert picture(node, document, SEEN, status=status("running", *both, words=words))["verdict"] == words[-1]
    over = picture(node, document, SEEN, status=status("finished", *both, words=words))
    assert over["verdict"] == words[-1]
    assert over["status"]["next"] == "Change something and press Start to compare."


def test_other_settings_leave_every_curve_of_the_run_before(node: Node, document: dict[str, Any]):
    body = f"""
        {SEEN}
        state = withOther({{ ...state, choice: {{ ...given.choice, rules: given.choice.rules.slice(1) }} }});
    """
    shown = picture(node, document, body, status=status("running", "default", "straight_through"))
    ghosts = [series for series in shown["chart"]["series"] if series.get("faint")]
    assert [ghost["name"] for ghost in ghosts] == ["Default autograd A", "Straight-through A"]
    assert not any("meta" in ghost for ghost in ghosts)
    assert "the run has started again" in shown["status"]["next"]
    reset = picture(node, document, f"{body} state = withReset(state);",
                    status=status("running", "default", "straight_through"))  # fmt: skip
    assert not any(series.get("faint") for series in reset["chart"]["series"])


def test_the_run_before_is_no_ghost_of_another_task(node: Node, document: dict[str, Any]):
    body = f"{SEEN} state = withOther({{ ...state, choice: given.other }});"
    other = choice("sign", "default", task="circles")
    shown = picture(node, document, body, status=status("finished", *ROUND[1:]), other=other)
    assert shown["chart"]["series"] == []
    assert shown["status"]["next"].startswith("Other settings: press Start.")


def test_a_lost_connection_and_a_refusal_come_before_all_else(node: Node, document: dict[str, Any]):
    seen = status("running", *ROUND[1:])
    lost = picture(node, document, "state.view = view(given.status, { lost: true });", status=seen)
    assert lost["status"]["main"].startswith("Connection lost")
    assert lost["status"]["state"] == "lost"
    refused = picture(node, document, "state.view = view(given.status, { notice: 'No.' });", status=seen)
    assert (refused["status"]["main"], refused["status"]["next"]) == ("No.", "")


def test_several_seeds_are_said_beside_the_chart(node: Node, document: dict[str, Any]):
    one = picture(node, document, "")["heading"]
    five = picture(node, document, "", choice=choice(*ROUND, task="digits", seeds="5"))["heading"]
    assert one == "Held-out accuracy, %"
    assert five == "Held-out accuracy, %: mean ± SD of 5 seeds"


def test_the_band_is_the_outline_of_mean_and_deviation(node: Node):
    body = """
        const { bandOf } = await import("./train/state/series.js");
        return bandOf(given);
    """
    band = node.run(body, {"x": [0, 5, 9], "y": [1, 2, None], "spread": [0.25, 0.5, 0.5]})
    assert band["x"].tolist() == [0, 5, 5, 0]
    assert band["y"].tolist() == [1.25, 2.5, 1.5, 0.75]
    assert node.run(body, {"x": [0, 1], "y": [1, 2]})["x"].size == 0


def measured(*rules: str, **more: Any) -> dict[str, Any]:
    """A status with an alignment in two layers, and no gradient of the default rule."""
    none, some = [None, None], [0.25, 0.5]
    series = {rule: [none, none] if rule == "default" else [some, [0.75, 1.0]] for rule in rules}
    alignment = {rule: {"cosines": each, "agreements": each} for rule, each in series.items()}
    seen = status("running", *rules, **more)
    seen["snapshot"] |= {
        "measured": {"alignment": alignment}, "measured_steps": [0, 2], "measured_sigmas": [0.5, 0.5],
        "most": {"unit": {"layer": 1, "cause": 3}},
    }  # fmt: skip
    return seen


def test_the_alignment_is_of_the_last_hidden_layer_or_the_one_chosen(node: Node, document: dict[str, Any]):
    seen = measured("default", "straight_through")
    first = picture(node, document, SEEN, status=seen)["alignment"]
    assert [(s["name"], s["y"]) for s in first["chart"]["series"]][1] == ("Straight-through", [0.75, 0.875])
    assert first["title"].endswith("layer 2")
    assert first["note"] == "Mean of the last 5 measures. No gradient: Default autograd"
    other = picture(node, document, SEEN + "state.layer = 0;", status=seen)["alignment"]
    assert other["chart"]["series"][1]["y"] == [0.25, 0.375]
    assert not any("meta" in series for series in first["chart"]["series"])  # a rule has one curve of its own


def test_a_point_of_the_alignment_is_the_mean_of_those_before_it_and_of_one_sigma(node: Node):
    body = 'const { trailing } = await import("./train/state/series.js"); return trailing(...given);'
    assert node.run(body, [[1, 2, 3, 4, 5, 6], [0.5] * 6, 5]) == [1, 1.5, 2, 2.5, 3, 4]
    assert node.run(body, [[1, 2, 3, 4], [0.5, 0.5, 2, 2], 5]) == [1, 1.5, 3, 3.5]
    gap = node.run(body.replace("(...given)", "(...given).map(String)"), [[1, None, 3], [0.5] * 3, 5])
    assert gap == ["1", "NaN", "2"]


def test_chart_and_table_say_one_number_for_an_alignment(node: Node, document: dict[str, Any]):
    seen = measured("default", "straight_through")
    shown = picture(node, document, SEEN, status=seen)
    assert shown["rows"]["aligned"] == {"straight_through": "0.88"}
    assert "Straight-through: 0.88. " in shown["alignment"]["chart"]["words"] + " "
    signs = picture(node, document, f"{SEEN} state.aligned = 'agreements';", status=seen)
    assert signs["rows"]["aligned"] == {"straight_through": "87.5"}


def test_what_came_after_the_step_that_is_looked_at_stays_thin(node: Node, document: dict[str, Any]):
    rules = ("default", "straight_through")
    latest, then = measured(*rules), measured(*rules)
    for known in then["snapshot"]["measured"]["alignment"].values():
        known["cosines"] = [each[:1] for each in known["cosines"]]
    then["snapshot"] |= {"measured_steps": [0], "measured_sigmas": [0.5]}
    back = SEEN + "state = { ...state, at: 0, displayed: given.seen };"
    shown = picture(node, document, back, status=latest, seen=then | {"step": 0})
    later, now = (
        [s for s in shown["alignment"]["chart"]["series"] if s.get("faint") is f] for f in (True, None)
    )
    assert [(s["x"], s["ends"]) for s in later] == [([0, 2], False)] * 2
    assert [s["x"] for s in now] == [[0]] * 2
    assert shown["rows"]["aligned"] == {"straight_through": "0.75"}
    assert not any(
        s.get("faint") for s in picture(node, document, SEEN, status=latest)["alignment"]["chart"]["series"]
    )


def test_a_link_with_branches_says_how_the_line_is_had_that_it_leaves(node: Node, document: dict[str, Any]):
    branches = choice(*ROUND, task="digits", branch="3,lr:0.1")
    assert "This run branches" in picture(node, document, "", choice=branches)["status"]["next"]
    assert picture(node, document, "")["status"]["next"] == ""


def test_with_another_sigma_the_curve_ends_in_what_is_measured_now(node: Node, document: dict[str, Any]):
    """At rest no further point is taken: what the slider does is seen at the end of each curve."""
    seen = measured("default", "straight_through")
    records = seen["snapshot"]["measured"]["alignment"]
    records["straight_through"] |= {"cosine": [0.1, 0.2], "agreement": [0.3, 0.4]}
    records["default"] |= {"cosine": [None, None], "agreement": [None, None]}
    seen["snapshot"] |= {"sigma": 2.0, "step": 3}
    (_, curve) = picture(node, document, SEEN, status=seen)["alignment"]["chart"]["series"]
    assert (curve["x"], curve["y"]) == ([0, 2, 3], [0.75, 0.875, 0.2])
    seen["snapshot"]["measured_sigmas"] = [0.5, 2.0]
    (_, curve) = picture(node, document, SEEN, status=seen)["alignment"]["chart"]["series"]
    assert (curve["x"], curve["y"]) == ([0, 2], [0.75, 1.0])


def test_what_is_not_measured_on_a_task_says_so(node: Node, document: dict[str, Any]):
    seen = status("running", "default", "straight_through")
    why = "Not measured here: the op stands at the weights."
    seen["snapshot"] |= {"unmeasured": {"alignment": why, "inputs": why}}
    shown = picture(node, document, SEEN, status=seen)
    assert (shown["alignment"]["missing"], shown["alignment"]["note"]) == (why, "")
    assert {row["panel"]["key"]: row["missing"] for row in shown["why"]["rows"]}["inputs"] == why


def test_after_a_branch_the_rule_in_force_is_named_and_drawn(node: Node, document: dict[str, Any]):
    seen = status("running", "default", "straight_through")
    at = {
        "edges": [-1.0, 0.0, 1.0],
        "counts": [[1, 1]],
        "means": [[-0.5, 0.5]],
        "beyond": [0.0],
        "words": [""],
    }
    seen["snapshot"] |= {"step": 3, "learned": {}}
    seen["snapshot"]["measured"] = {"inputs": {"default": at, "straight_through": at}}

    def shown(branch: str) -> tuple[list[str], list[list[float]]]:
        recorded = seen | {"recorded": {"lr": "0.1", "branch": branch}}
        body = f"{SEEN} state.panels = {{ inputs: true }}; state.choice.slow = 'input';"
        result = picture(node, document, body, status=recorded)
        row = next(row for row in result["why"]["rows"] if row["panel"]["key"] == "inputs")
        names = [line["label"] for line in result["rows"]["lines"]]
        assert [cell["line"]["label"] for cell in row["cells"]] == names
        assert [rule["label"] for rule in result["slow"]["rules"]] == names
        return names, [[point["y"] for point in cell["picture"]["curve"]] for cell in row["cells"]]

    names, (zero, straight) = shown("")
    assert names == ["Default autograd", "Straight-through"]
    assert (zero != straight, len(zero)) == (True, len(straight))
    names, curves = shown("2,default:straight_through")
    assert names == ["Default autograd → Straight-through", "Straight-through"]
    assert curves == [straight, straight]
    assert shown("3,default:straight_through") == shown("")  # no step was taken with it yet
    _, (relu, _) = shown("1,op:relu")
    assert relu not in (zero, straight)


def test_a_panel_that_is_closed_is_not_asked_for_until_the_run_is_over(node: Node, document: dict[str, Any]):
    body = """
        const { wantedOf } = await import("./train/panels/panels.js");
        state.panels = { inputs: false };
        return [wantedOf(state), wantedOf({ ...state, view: view({ ...given.status, state: "finished" }) })];
    """
    open_, over = picture(node, document, f"{SEEN} {body}", status=status("running", *ROUND[1:]))
    assert "inputs" not in open_
    assert {"alignment", "causes"} <= set(open_) < set(over)
    assert {"inputs", "norms"} <= set(over)


def test_a_number_that_is_chosen_for_an_instrument_is_asked_for_and_shown(
    node: Node, document: dict[str, Any]
):
    seen = status("running", "fast_sigmoid")
    seen["snapshot"] |= {"most": {"raster": {"example": 359}}}
    body = 'const { wantedOf } = await import("./train/panels/panels.js");'
    of = {"status": seen, "choice": choice("step", "fast_sigmoid", task="spikes")}
    chosen = f"{SEEN} {body} state = {{ ...state, numbers: {{ raster: {{ example: 7 }} }} }};"
    assert "raster" in picture(node, document, f"{SEEN} {body} return wantedOf(state);", **of)
    assert "raster?example=7" in picture(node, document, f"{chosen} return wantedOf(state);", **of)
    rows = {row["panel"]["key"]: row for row in picture(node, document, chosen, **of)["why"]["rows"]}
    assert rows["raster"]["numbers"] == [{"value": 7, "most": 359}]
    assert rows["causes"]["numbers"] == []


def test_the_page_says_of_which_seed_its_pictures_are(node: Node, document: dict[str, Any]):
    seen = status("running", "default", "straight_through")
    seen["snapshot"] |= {"seeds": 5, "seed": {"default": 3, "straight_through": 3}}
    assert picture(node, document, SEEN, status=seen)["why"]["of"] == "Pictures of seed 3"
    seen["snapshot"]["seed"]["straight_through"] = 4
    other = picture(node, document, SEEN, status=seen)
    assert other["why"]["of"] == "Pictures of seed 3; Straight-through of seed 4: the first that is finite"
    assert other["rows"]["several"], "the numbers of the table are means of all seeds"
    seen["snapshot"]["seeds"] = 1
    assert picture(node, document, SEEN, status=seen)["why"]["of"] == ""


def test_a_layer_that_a_smaller_net_has_not_is_not_shown(node: Node, document: dict[str, Any]):
    three = choice(*ROUND, task="digits", hidden="8,8,8")
    assert picture(node, document, "state.layer = 2;", choice=three)["why"]["layers"] == {
        "count": 3,
        "chosen": 2,
    }
    assert picture(node, document, "state.layer = 2;")["why"]["layers"] == {"count": 1, "chosen": 0}


def test_the_answer_to_a_request_is_of_its_step_and_run(node: Node, document: dict[str, Any]):
    seen = status("running", "default", "straight_through")
    answer = {"default": None, "straight_through": {"unit": 2, "example": 0, "words": "g = 0.2: g * 0 = 0"}}
    body = f"""{SEEN}
        const made = {{ numbers: {{ layer: 0, cause: 2 }}, step: 7, run: given.run, answer: given.answer }};
        state = {{ ...state, requests: {{ unit: made }} }};
    """
    of = {"status": seen, "run": "a", "answer": answer}
    row = next(r for r in picture(node, document, body, **of)["why"]["rows"] if r["panel"]["key"] == "causes")
    assert row["pressed"] == 2
    assert [cell["answer"]["words"] for cell in row["cells"]] == [
        "Step 7: no unit of this layer.", "Step 7, unit 3, example 1:",
    ]  # fmt: skip
    assert row["cells"][1]["answer"]["formula"] == "g = 0.2: g * 0 = 0"
    gone = next(r for r in picture(node, document, body, **of | {"run": "b"})["why"]["rows"])
    assert [cell["answer"] for cell in gone["cells"]] == [None, None]


def test_the_layers_are_those_in_which_the_op_stands(node: Node, document: dict[str, Any]):
    """Of weights it is one more than there are hidden layers, and the last is shown first."""
    seen = status("running", "default")
    seen["snapshot"] |= {"most": {"raster": {"example": 9}, "unit": {"layer": 1, "cause": 3}}}
    of = {"status": seen, "choice": choice("sign", "default", task="binary weights")}
    assert picture(node, document, SEEN, **of)["why"]["layers"] == {"count": 2, "chosen": 1}


def test_the_line_search_can_be_measured_and_measured_anew(node: Node, document: dict[str, Any]):
    body = f"""{SEEN}
        const of = (step, answer) => ({{ numbers: {{}}, step, run: "a", answer }});
        const shown = (each) => {{
            const open = {{ ...each, panels: {{ line_search: true }} }};
            const {{ measured, offer, chart }} = pictureOf(open).why.search;
            return [measured, offer, chart.empty];
        }};
        const now = state.view.status.step;
        const found = [null, of(now, null), of(now, {{}}), of(now - 1, {{}}), of(now, {{ message: "No." }})];
        return found.map((made) => shown(made ? {{ ...state, requests: {{ line_search: made }} }} : state));
    """
    assert picture(node, document, body, status=status("running", "default")) == [
        [False, "Measure", "Asking …"],
        [True, "", "Asking …"],
        [True, "", "Asking …"],
        [True, "Measure again", "Asking …"],
        [True, "Measure again", "No."],
    ]


def test_who_has_no_table_yet_is_asked_for_one(node: Node, document: dict[str, Any]):
    own = choice(*ROUND, task="data")
    for table, told in (
        ("", "Paste a table first, or take an example that has one."),
        ("1,2", IDLE["sentence"]),
    ):
        body = f"state = {{ ...state, table: {{ ...state.table, text: {json.dumps(table)} }} }};"
        assert picture(node, document, body, choice=own)["status"]["main"] == told


def test_a_table_is_trained_once_it_was_read_or_refused(node: Node, document: dict[str, Any]):
    body = "state = { ...state, table: { ...state.table, text: given.text }, reading: given.reading };"
    for task, text, reading, offered in (
        ("data", "1,2", None, False),
        ("data", "1,2", {"message": "No."}, True),  # the server says why when it is pressed
        ("data", "", None, True),
        ("digits", "1,2", None, True),
    ):
        given = {"choice": choice(*ROUND, task=task), "text": text, "reading": reading}
        shown = picture(node, document, body, **given)
        assert (shown["offered"]["start"], shown["offered"]["step"]) == (offered, offered)


def test_where_every_rule_has_diverged_one_line_stands_in_place_of_empty_cells(
    node: Node, document: dict[str, Any]
):
    seen = status("diverged", *ROUND[1:])
    for lost, told in ((1, ""), (2, "No net is left to look at: every rule has diverged.")):
        seen["snapshot"]["diverged"] |= dict.fromkeys(ROUND[1 : 1 + lost], 7)
        shown = picture(node, document, SEEN, status=seen)
        rows = shown["why"]["rows"]
        assert {row["missing"] for row in rows} == {told}
        assert rows[0]["cells"][0]["empty"] == "Diverged at step 7"
        empty = shown["alignment"]["chart"]["empty"]
        assert empty == ("Every rule has diverged" if told else "Nothing before the first step")


@pytest.mark.parametrize(
    ("names", "told"),
    [
        ([], "class 0 is light, the last class dark"),
        (["setosa", "virginica"], "light to dark: setosa, virginica"),
        (list("abcdef"), "light to dark: a, …, f"),
    ],
)
def test_classes_that_have_names_are_named_in_the_legend_of_their_regions(
    node: Node, document: dict[str, Any], names: list[str], told: str
):
    seen = status("running", *ROUND[1:])
    seen["snapshot"]["measured"] = {"regions": {ROUND[2]: {"names": names, "score": 0.5}}}
    chosen = {"choice": choice(*ROUND, task="moons")}
    rows = picture(node, document, SEEN, status=seen, **chosen)["why"]["rows"]
    (legend,) = [row["legend"] for row in rows if row["panel"]["key"] == "regions"]
    assert legend == [told, "held out", "trained on"]


def test_beside_its_slider_stands_what_a_parameter_has_learned(node: Node, document: dict[str, Any]):
    """Of each rule that lets it learn one a layer, on the op's card their ends, and before a run nothing."""
    seen = status("running", "lsq", "quantize_masked")
    chosen = choice("quantize", "lsq", "quantize_masked", task="ternary weights", learn="s")
    for learned, told, all_told in (
        ([5.274, 0.25], "now 5.274, 0.25", "now 0.25 to 9"),
        ([2.0, 1.0, 3.0], "now 1 to 3", "now 1 to 9"),
        ([None, 7.0, 6.0, 9.0], "now 6, 8", "now 6 to 9"),  # the mean of two seeds, where both are left
    ):
        seen["snapshot"] |= {"seeds": 2 if None in learned else 1}
        seen["snapshot"]["learned"] = {"lsq": {"s": learned}, "quantize_masked": {"s": [9.0] * len(learned)}}
        assert picture(node, document, SEEN, status=seen, choice=chosen)["present"] == {
            "op": {"s": all_told},
            "rules": {"lsq": {"s": told}, "quantize_masked": {"s": "now 9"}},
        }
    rests = chosen | {"training": {"task": "ternary weights", "learn": "lsq.s"}}
    present = picture(node, document, SEEN, status=seen, choice=rests)["present"]
    assert present == {"op": {"s": told}, "rules": {"lsq": {"s": told}}}
    assert picture(node, document, "", choice=chosen)["present"] == {"op": {}, "rules": {}}


def test_where_each_channel_has_its_own_value_the_ends_stand_beside_the_slider(
    node: Node, document: dict[str, Any]
):
    seen = status("running", "lsq", "quantize_masked")
    chosen = choice("quantize", "lsq", task="ternary kernels", learn="s", learn_each="channel")
    seen["snapshot"] |= {"seeds": 1, "learned": {"lsq": {"s": [1.0, 2.0]}}}
    ends = {"least": [0.5, 2.0], "most": [1.5, 2.0]}  # the channels of the second layer are alike
    series = {key: [[1.0], [2.0]] for key in ("values", "gradients", "leasts", "mosts")}
    seen["snapshot"]["measured"] = {"parameters": {"lsq": ends | series}}
    present = picture(node, document, SEEN, status=seen, choice=chosen)["present"]
    assert present == {"op": {"s": "now 0.5 to 2"}, "rules": {"lsq": {"s": "now 0.5 to 2"}}}
    body = f'{SEEN} state = {{ ...state, measure: "learned" }};'
    heading = picture(node, document, body, status=seen, choice=chosen)["heading"]
    assert heading.startswith("Mean over channels of what learns")


@pytest.mark.parametrize(("run", "known"), [("a", True), ("b", False)])
def test_an_answer_belongs_to_the_run_it_was_asked_of(
    node: Node, document: dict[str, Any], run: str, known: bool
):
    answer = {rule: {"unit": 0, "example": 0, "words": "g"} for rule in ROUND[1:]}
    asked = {"unit": {"run": run, "step": 2, "numbers": {"cause": 2}, "answer": answer}}
    body = f"{SEEN} state = {{ ...state, requests: given.asked, panels: {{ causes: true }} }};"
    rows = picture(node, document, body, status=status("running", *ROUND[1:]), asked=asked)["why"]["rows"]
    (row,) = [each for each in rows if each["panel"].get("request") == "unit"]
    assert row["pressed"] == (2 if known else None)
    assert all((cell["answer"] is not None) == known for cell in row["cells"])


def test_what_a_task_has_changed_can_be_undone_until_something_else_is_chosen(
    node: Node, document: dict[str, Any]
):
    after = choice("step", "default", task="spikes")
    body = 'state.changing = { key: "spikes", before: given.choice, after: given.after };'
    now = f"{body} state.choice = {{ ...given.after, ...given.more }};"
    done = picture(node, document, now, after=after, more={})["asks"]
    assert done == {"text": "Spikes with step (1 at 0).", "own": "", "keep": ""}
    assert picture(node, document, now, after=after, more={"parameters": {"k": 2}})["asks"] is None
    assert picture(node, document, body, after=after)["asks"] is None
