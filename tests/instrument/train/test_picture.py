"""What the page of trainings shows of a state: plain data, so that no page is needed."""

from __future__ import annotations

from typing import Any

import pytest

from tests.instrument.modules import Node
from tests.instrument.train.conftest import choice

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
        const {{ stateOf, withBegun, withOther, withReset }} = await import("./train/state.js");
        const {{ pictureOf }} = await import("./train/picture.js");
        setDocument(given.document);
        const view = (status, more = {{}}) => ({{ status, notice: "", lost: false, id: "a", ...more }});
        let state = stateOf(given.choice, given.colours, "");
        {body}
        return pictureOf(state);
    """
    common = {"document": document, "colours": COLOURS, "choice": choice(*ROUND, task="digits")}
    found: dict[str, Any] = node.run(script, common | given)
    return found


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


def test_held_out_accuracy_comes_first_and_the_rest_by_a_switch(node: Node, document: dict[str, Any]):
    seen = status("running", "default", "straight_through")
    first = picture(node, document, SEEN, status=seen)
    assert [option["measure"] for option in first["measures"]["options"]] == ["score", "loss", "norms"]
    assert first["measures"]["chosen"] == "score"
    assert first["chart"]["scale"]["kind"] == "share"
    assert [(s["meta"], s["x"], s["y"]) for s in first["chart"]["series"]] == [
        ("default", [0, 2], [0.1, 0.5]), ("straight_through", [0, 2], [0.1, 0.6]),
    ]  # fmt: skip
    loss = picture(node, document, SEEN + "state.measure = 'loss';", status=seen)
    assert [s["y"] for s in loss["chart"]["series"]] == [[3, 1], [3, 2]]
    norms = picture(node, document, SEEN + "state.measure = 'norms';", status=seen)
    assert [s.get("meta") for s in norms["chart"]["series"]] == [None] * 4  # two a rule: neither is its curve


def test_a_task_on_which_nothing_is_held_out_shows_the_loss(node: Node, document: dict[str, Any]):
    shown = picture(node, document, "", choice=choice("relu", "default", task="documents"))
    assert shown["measures"]["chosen"] == "loss"
    assert shown["rows"]["judged"] is None
    assert shown["chart"]["scale"]["kind"] == "decades"


def test_what_is_concluded_is_said_when_the_run_is_over(node: Node, document: dict[str, Any]):
    words = ("One.", "Both end at the same accuracy.")
    both = ("default", "straight_through")
    assert picture(node, document, SEEN, status=status("running", *both, words=words))["verdict"] == ""
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
    assert [ghost["name"] for ghost in ghosts] == ["Default autograd", "Straight-through"]
    assert not any("meta" in ghost for ghost in ghosts)
    assert "the run has begun anew" in shown["status"]["next"]
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
        const { bandOf } = await import("./train/series.js");
        return bandOf(given);
    """
    band = node.run(body, {"x": [0, 5, 9], "y": [1, 2, None], "spread": [0.25, 0.5, 0.5]})
    assert band["x"].tolist() == [0, 5, 5, 0]
    assert band["y"].tolist() == [1.25, 2.5, 1.5, 0.75]
    assert node.run(body, {"x": [0, 1], "y": [1, 2]})["x"].size == 0
