"""The view model of the page of trainings: what is offered, said and asked, and the chart."""

import pytest

from tests.frontend.modules import Node
from tests.frontend.train.conftest import Run, choice
from tests.frontend.train.page.conftest import IDLE, ROUND, SEEN, measured, status


@pytest.mark.parametrize(
    ("state", "offered"),
    [
        ("idle", {"start", "step"}), ("ready", {"start", "step", "reset"}),
        ("waiting", {"pause", "step", "reset"}), ("running", {"pause", "step", "reset"}),
        ("paused", {"pause", "resume", "step", "reset"}), ("finished", {"start", "reset"}),
        ("diverged", {"start", "reset"}), ("failed", {"start", "step", "reset"}),
        ("stopped", {"start", "step", "reset"}), ("gone", {"start", "step", "reset"}),
    ],
)  # fmt: skip
def test_each_state_offers_its_buttons(picture: Run, state: str, offered: set[str]):
    shown = picture(SEEN, status=IDLE | {"state": state})["offered"]
    assert {name for name, is_offered in shown.items() if is_offered} == offered


def test_states_that_are_rare_say_what_to_do(picture: Run):
    failed = "Change a setting, or press Start to try again."
    for state, then in (("waiting", "It goes on by itself."), ("failed", failed), ("crowded", "")):
        shown = picture(SEEN, status=IDLE | {"state": state, "sentence": "So it is."})["status"]
        assert (shown["state"], shown["main"], shown["next"]) == (state, "So it is.", then)


@pytest.mark.parametrize(
    ("passed", "text"), [(None, "0 %"), (0.00021, "0.021 %"), (0.456, "46 %"), (123.4, "12,300 %")]
)
def test_a_band_says_what_is_left_of_the_gradient_where_each_is_a_number(picture, passed, text):
    seen = status("running", "default", lines={})
    way = {"reached": [0.5, 0.5], "moved": [0.0, 0.0], "passed": [passed]}
    seen["snapshot"]["measured"] = {"way": {"default": way}}
    one = {"status": seen, "choice": choice("round", "default", task="digits")}
    (lane,) = picture(SEEN, **one)["object"]["lanes"]
    assert lane["bands"][0] == {"left": passed, "known": True, "text": text.replace(" ", "\xa0")}
    assert [each["text"] for each in lane["bands"][1:]] == ["", ""]
    way["reached"] = [None, 0.5]
    (lane,) = picture(SEEN, **one)["object"]["lanes"]
    assert {(each["known"], each["text"]) for each in lane["bands"]} == {(False, "")}
    assert not any(plate["still"] for plate in lane["plates"])
    way |= {"reached": [1] * 3, "moved": [1, 2.34567, 3], "passed": [1, 1]}
    assert picture(SEEN, **one)["object"]["lanes"][0]["plates"][2]["words"] == ["w2 + op", "by 2.35"]


@pytest.mark.parametrize(("panel", "where"), [
    ("score", "Look at its curve under “Held-out accuracy, %”."),
    ("alignment", "Look at its curve under “Why: alignment, after w2”."),
    ("seeds", "Each dot is the held-out score of a seed, from 50.0 % to 100.0 %; a larger dot of several."),
])  # fmt: skip
def test_why_points_to_the_picture_that_supports_it(picture: Run, panel: str, where: str):
    line = {"text": "", "panel": panel, "why": "So.", "layer": None, "other": None}
    seen = measured("default", "straight_through", lines={"default": line})
    seen["snapshot"]["score"] = {"default": [0.75, 1.0], "straight_through": [0.5, None]}
    shown = picture(SEEN + "state.why = 'default';", status=seen)["one"]
    assert (shown["chart"], shown["row"]) == (where, None)
    dots = [[round(dot["left"], 2) for dot in rule["dots"]] for rule in shown["seeds"]]
    assert dots == ([[0.5, 1.0], [0.0]] if panel == "seeds" else [])
    seen["snapshot"]["score"] = {"default": [1.0, 1.0], "straight_through": [1.0, 1.0]}
    alike = picture(SEEN + "state.why = 'default';", status=seen)["one"]
    assert {dot["left"] for rule in alike["seeds"] for dot in rule["dots"]} <= {0.5}
    assert panel != "seeds" or "a seed, 100.0 % for all; a larger" in alike["chart"]


def test_divergence_at_step_0_offers_the_tasks_op(picture: Run):
    spikes = choice("round", "default", task="spikes")
    lost = status("diverged", "default") | {"step": 0}
    assert picture(SEEN, status=lost, choice=spikes)["offersOwnOp"]
    assert not picture(SEEN, status=lost | {"step": 7}, choice=spikes)["offersOwnOp"]
    assert not picture(SEEN, status=lost | {"state": "paused"}, choice=spikes)["offersOwnOp"]


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
def test_a_rule_that_no_net_can_train_gets_advice(picture, rules, task, remedy, removal, own):
    shown = picture("", choice=choice("bernoulli", *rules, task=task))
    assert (shown["removal"], shown["offersOwnOp"]) == (removal, own)
    assert shown["status"]["state"] == ("refused" if remedy else "idle")
    assert (shown["chart"]["empty"] == remedy) is (remedy != "")
    asked = shown["object"]["reads"]
    if asked:
        assert asked["question"] == (remedy or "Will this rule tell the two kinds apart?")


@pytest.mark.parametrize(("step", "begins"), [(1, "Goes on with ReinMax. "), (2, "")])
def test_a_lane_names_the_rule_that_it_goes_on_with(picture: Run, step: int, begins: str):
    """Its card is that of the rule which it began with."""
    seen = status("paused", "sigmoid_st", recorded={"branch": f"{step},sigmoid_st:reinmax"}, headline="")
    seen["lines"] = {"sigmoid_st": {"text": "The whole gradient passes."}}
    seen["snapshot"]["measured"] = {"way": {"sigmoid_st": None}}
    chosen = choice("bernoulli", "sigmoid_st", task="digits")
    (lane,) = picture(SEEN, status=seen, choice=chosen)["object"]["lanes"]
    assert lane["said"] == f"{begins}The whole gradient passes."


def test_without_a_headline_a_result_begins_with_the_first_sentence_of_its_verdict(picture: Run):
    words = "Masked ended lower, at 113.6; the other at 1,250. With it w1 moved. One seed."
    shown = picture(SEEN, status=status("finished", "default", conclusion=words, headline=""))
    assert (shown["headline"], shown["verdict"]) == (words[:49], words)


def test_a_branch_to_a_rule_that_no_net_trains_is_to_be_removed(picture: Run):
    shown = picture("", choice=choice("bernoulli", "reinmax", task="digits", branch="3,rule:flip"))
    assert (shown["chart"]["empty"], shown["removal"]) == ("Remove the branch (×) to train.", "")


def test_held_out_accuracy_comes_first_and_the_rest_by_a_switch(picture: Run):
    seen = status("running", "default", "straight_through")
    first = picture(SEEN, status=seen)
    assert [option["value"] for option in first["measures"]["options"]] == ["score", "loss", "norms"]
    assert first["measures"]["chosen"] == "score"
    assert first["chart"]["scale"]["kind"] == "share"
    seen["snapshot"]["chance"] = 0.4  # a table of classes has its own
    own = picture(SEEN, choice=choice(*ROUND, task="data"), status=seen)
    assert [each["chart"]["scale"]["chance"] for each in (first, own)] == [0.1, 0.4]
    judged = {"default": "50.00 ± 0.02 %", "straight_through": "60.00 ± 1.20 %"}
    known = picture(SEEN, status=seen | {"judged": judged})
    assert known["chart"]["scale"]["decimals"] == 2, "as in the table"
    assert [(s["meta"], s["x"], s["y"]) for s in first["chart"]["series"]] == [
        ("default", [0, 2], [0.1, 0.5]), ("straight_through", [0, 2], [0.1, 0.6]),
    ]  # fmt: skip
    loss = picture(SEEN + "state.measure = 'loss';", status=seen)
    assert [s["y"] for s in loss["chart"]["series"]] == [[3, 1], [3, 2]]
    assert loss["metrics"][1].endswith(" of Default autograd"), "the header's loss is the first rule's"
    norms = picture(SEEN + "state.measure = 'norms';", status=seen)
    assert [s.get("meta") for s in norms["chart"]["series"]] == [None] * 4  # two a rule: neither is its curve


def test_a_task_on_which_nothing_is_held_out_shows_the_loss(picture: Run):
    shown = picture("", choice=choice("relu", "default", task="documents"))
    assert shown["measures"]["chosen"] == "loss"
    assert shown["rows"]["judged"] is None
    assert shown["chart"]["scale"]["kind"] == "decades"


def test_the_verdict_is_the_last_sentence_during_and_after_a_run(picture: Run):
    words = "Both end at the same accuracy."
    both = ("default", "straight_through")
    assert picture(SEEN, status=status("running", *both, conclusion=words))["verdict"] == words
    over = picture(SEEN, status=status("finished", *both, conclusion=words))
    assert over["verdict"] == words


def test_a_result_of_another_learning_rate_says_so(picture: Run):
    over = f'{SEEN} state.trained = {{ ...given.choice, training: {{ lr: "0.5" }} }};'
    shown = picture(over, status=status("finished", "default"))
    said = "lr 0.01 is not trained yet: press Again."
    assert [shown["status"]["next"], shown["headline"]] == [said] * 2


def test_a_lost_connection_and_a_refusal_come_before_all_else(picture: Run):
    seen = status("running", *ROUND[1:])
    lost = picture("state.view = view(given.status, { lost: true });", status=seen)["status"]
    assert (lost["main"].partition(":")[0], lost["state"]) == ("Connection lost", "lost")
    refused = picture("state.view = view(given.status, { notice: 'No.' });", status=seen)
    assert (refused["status"]["main"], refused["status"]["next"]) == ("No.", "")


def test_heading_and_band_of_the_chart_state_several_seeds(picture: Run, node: Node):
    seeds = choice(*ROUND, task="digits", seeds="5", steps="90", pace="30")
    start = "90 steps, 5 seeds, about 3 s; both begin with the same weights."
    empty = picture("", choice=seeds)
    assert (empty["heading"], empty["status"]["next"]) == ("Held-out accuracy, %", start)
    over = status("finished", *ROUND[1:])
    assert picture(SEEN, status=over)["offersSeeds"]
    over["snapshot"]["losses"] = {rule: [4.0, 2.0] for rule in ROUND[1:]}
    assert not picture(SEEN, status=over)["offersSeeds"]
    seen = status("running", *ROUND[1:])
    seen["snapshot"]["seeds"] = 5
    assert picture("state.view = view(given.status);", status=seen)["heading"] == "Held-out accuracy, %"
    for measure, heading, (low, high) in (
        ("score", "Held-out accuracy, %: mean ± SD of 5 seeds", ([0.1, 0.48], [0.1, 0.52])),
        ("loss", "Loss: mean and range of 5 seeds", ([2, 0.25], [4, 3])),
    ):
        shown = picture(f"{SEEN} state.measure = '{measure}';", choice=seeds, status=seen)
        curve = shown["chart"]["series"][0]
        assert shown["heading"] == heading
        assert (curve["low"], curve["high"]) == (pytest.approx(low), pytest.approx(high))
    trace = "train/state/series.js traceBand"
    band = node.call(trace, {"x": [0, 5, 9], "low": [0.75, 1.5, None], "high": [1.25, 2.5, None]})
    assert band["x"].tolist() == [0, 5, 5, 0]
    assert band["y"].tolist() == [1.25, 2.5, 1.5, 0.75]
    assert node.call(trace, {"x": [0, 1], "y": [1, 2]})["x"].size == 0


def test_a_link_with_branches_says_how_the_line_is_had_that_it_leaves(picture: Run):
    branches = choice(*ROUND, task="digits", branch="3,lr:0.1")
    assert "This run branches" in picture("", choice=branches)["status"]["next"]
    assert "This run branches" not in picture("")["status"]["next"]


def test_a_table_is_requested_that_is_missing_or_was_refused_and_trained_once_it_was_read(picture: Run):
    missing = "Paste a table first, or take the example below it."
    refused = "Change the table first: the note below it says why it cannot be trained."
    body = """
        const table = { ...state.table, text: given.text };
        state = { ...state, table, reading: given.reading, remark: "The run has started again." };
    """
    for text, reading, task, told, offered in (
        ("", None, "data", missing, False),
        ("1,2", {"refused": ""}, "data", IDLE["sentence"], True),
        ("1,2", {"refused": "No."}, "data", refused, False),
        ("1,2", {"refused": "No."}, "digits", IDLE["sentence"], True),
        ("1,2", None, "digits", IDLE["sentence"], True),
        ("1,2", None, "data", None, False),
    ):
        shown = picture(body, choice=choice(*ROUND, task=task), text=text, reading=reading)
        assert (shown["offered"]["start"], shown["offered"]["step"]) == (offered, offered)
        main, then = shown["status"]["main"], shown["status"]["next"]
        remark = "These settings are not trained yet: press Start." if told == IDLE["sentence"] else ""
        assert told is None or (main, then) == (told, remark)
    numbers = {"refused": "", "chance": None}
    shown = picture(body, choice=choice(*ROUND, task="data"), text="1,2", reading=numbers)
    assert shown["heading"] == "Held-out R²"


def test_changes_by_a_task_can_be_undone_until_the_next_choice(picture: Run):
    after = choice("step", "default", task="spikes")
    body = 'state.changing = { key: "spikes", before: given.choice, after: given.after };'
    now = f"{body} state.choice = {{ ...given.after, ...given.more }};"
    done = picture(now, after=after, more={})["asks"]
    assert done["text"] == "Spikes with step (1 at 0), not round; 1 rule, not 2."
    change = 'state.changing = { key: "digits", before: given.before, after: given.choice };'
    told = picture(change, before=choice("round", "default", "zero", task="moons", lr="0.5"))["asks"]
    assert told["text"] == "Digits with round; 2 rules instead; lr 0.01, not 0.5."
    assert picture(now, after=after, more={"parameters": {"k": 2}})["asks"] is None
    assert picture(body, after=after)["asks"] is None


def test_another_task_closes_the_evidence_of_the_last_one(node: Node, document):
    body = """
        const { createTaskChange } = await import("./train/page/task-change.js");
        const found = [];
        const become = (more) => found.push(more);
        createTaskChange({ now: () => given.choice, become, choose: become }).onTask("moons");
        return found[0].why === null;
    """
    assert node.run(body, {"document": document, "choice": choice(*ROUND, task="digits")})
