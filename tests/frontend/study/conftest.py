"""Studies that were trained, and the picture of the page of studies as plain data."""

import json
from typing import Any

import pytest

from explorer.study import Plan, Row, Stepper
from explorer.training import StudyStatus
from explorer.ui.server.runs import stream
from tests.frontend.modules import Node
from tests.frontend.train.conftest import Run, choice, document

__all__ = ["document"]

COLOURS = {"rules": ["#000001", "#000002", "#000003"], "neutral": "#777777"}
RATES = "0.003,0.03"
SEEN = """
    state = withBegun(state);
    state.view = { status: { ...IDLE, ...given.event }, notice: "", lost: false, id: "a" };
"""


@pytest.fixture
def picture(node: Node, document: dict[str, Any]) -> Run:
    """Gives the picture of the state that ``body`` leaves in ``state``; what it needs stands in ``given``."""

    def drawn(body: str = "", *, chosen: dict[str, Any] | None = None, **given: Any) -> Any:
        script = f"""
            const {{ createState, withBegun, IDLE }} = await import("./study/state.js");
            const {{ buildPicture }} = await import("./study/picture.js");
            let state = createState(given.choice, given.colours, {{ text: "", target: null, without: null }});
            {body}
            return buildPicture(state);
        """
        usual = choice("sign", "default", "clipped", task="circles", rates=RATES, seeds="2")
        common = {"document": document, "colours": COLOURS, "choice": chosen or usual}
        return node.run(script, common | given)

    return drawn


def event(plan: Plan, rows: list[Row], state: str = "running") -> dict[str, Any]:
    status = StudyStatus("a", state, f"{state}.", None, len(rows), plan.runs, 1.0, None, tuple(rows), plan)  # type: ignore[arg-type]
    return json.loads(stream.format_event(status))


def rows_of(plan: Plan) -> list[Row]:
    stepper = Stepper(plan)
    while not stepper.finished:
        stepper.advance()
    return stepper.rows


@pytest.fixture(scope="package")
def study() -> tuple[Plan, list[Row]]:
    small: dict[str, Any] = {"steps": 5, "hidden": 4, "batch": 8}
    plan = Plan.create("circles", "sign", ["default", "clipped"], lrs=[0.003, 0.03], seeds=2, **small)
    return plan, rows_of(plan)
