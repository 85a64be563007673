"""States of the page of trainings, and their pictures as plain data."""

from typing import Any

import pytest

from tests.frontend.modules import Node
from tests.frontend.train.conftest import Run, choice

COLOURS = ["#000001", "#000002", "#000003", "#000004", "#000005", "#000006"]
ROUND = ("round", "default", "straight_through")
IDLE = {
    "state": "idle", "sentence": "Ready: press Start.", "step": 0, "steps": 0, "steps_per_second": 0,
    "snapshot": None, "conclusion": "", "device": None, "judged": {},
}  # fmt: skip


def snapshot(*rules: str, finished: bool = False, step: int = 2) -> dict[str, Any]:
    """A snapshot whose rules differ by their number."""
    numbers = dict(enumerate(rules))
    return {
        "step": step, "finished": finished, "metric": "accuracy",
        "loss": {rule: 1.0 + number for number, rule in numbers.items()},
        "losses": {rule: [3.0, 1.0 + number] for number, rule in numbers.items()},
        "loss_low": {rule: [2.0, 0.25] for rule in rules}, "loss_high": {rule: [4.0, 3.0] for rule in rules},
        "loss_steps": {rule: [0, 1] for rule in rules},
        "scores": {rule: [0.1, 0.5 + number / 10] for number, rule in numbers.items()},
        "score_sd": {rule: [0.0, 0.02] for rule in rules}, "score_steps": [0, 2],
        "w1_norms": {rule: [1.0, 2.0] for rule in rules}, "w2_norms": {rule: [1.0, 2.0] for rule in rules},
        "diverged": dict.fromkeys(rules), "gradients": dict.fromkeys(rules), "seeds": 1,
        "seed": dict.fromkeys(rules, 0), "measured": {}, "measured_steps": [], "measured_sigmas": [],
        "sigma": 0.5, "most": {}, "unmeasured": {},
    }  # fmt: skip


def status(state: str, *rules: str, **more: Any) -> dict[str, Any]:
    shown = snapshot(*rules, finished=state == "finished")
    sentence = f"{state.capitalize()}."
    return IDLE | {
        "state": state, "sentence": sentence, "step": 2, "steps": 2, "snapshot": shown,
    } | more  # fmt: skip


SEEN = "state = { ...withBegun(state), view: view(given.status) };"


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


@pytest.fixture
def picture(node: Node, document: dict[str, Any]) -> Run:
    """Gives the picture of the state that ``body`` leaves in ``state``; what it needs stands in ``given``."""

    def drawn(body: str, **given: Any) -> Any:
        script = f"""
            const states = await import("./train/state/state.js");
            const {{ createState, withBegun, withOtherSettings, withReset }} = states;
            const {{ buildPicture }} = await import("./train/page/view-model.js");
            const view = (status, more = {{}}) => ({{ status, notice: "", lost: false, id: "a", ...more }});
            let state = createState(given.choice,
                {{ colours: given.colours, ink: 0 }},
                {{ table: {{ text: "", target: null, without: null }}, panels: {{}}, numbers: {{}} }});
            {body}
            return JSON.parse(JSON.stringify(buildPicture(state)));
        """
        common = {"document": document, "colours": COLOURS, "choice": choice(*ROUND, task="digits")}
        return node.run(script, common | given)

    return drawn
