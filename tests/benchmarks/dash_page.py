"""The page a reader would write with Dash: the same curves, ``python dash_page.py PORT OP``."""

import sys
from typing import Any

from dash import Dash, Input, Output, dcc, html

import explorer
from tests.benchmarks.drags import DRAGGED as DRAGGED_OF

OPS = {op.key: op.label for op in explorer.OPS.values()}
RULES = {rule.key: rule.label for rule in explorer.RULES.values()}

OP = sys.argv[2]
DRAGGED = DRAGGED_OF[OP]

app = Dash(__name__)
app.layout = html.Div(
    [
        dcc.Dropdown(OPS, OP, id="op", clearable=False),
        dcc.Dropdown(RULES, ["default"], id="rules", multi=True),
        html.Div(
            dcc.Slider(*DRAGGED.dash, 0.01, value=DRAGGED.start, id="value", marks=None, updatemode="drag"),
            id="dragged",
        ),
        dcc.Graph(id="curves", style={"height": 520}),
    ]
)


@app.callback(
    Output("curves", "figure"), Input("op", "value"), Input("rules", "value"), Input("value", "value")
)
def draw(op: str, rules: list[str], value: float) -> Any:
    """The curves of what is chosen."""
    shown = rules or ["default"]
    entries = (explorer.OPS[op], *(explorer.RULES[rule] for rule in shown))
    known = {parameter.name for entry in entries for parameter in entry.parameters}
    chosen: dict[str, Any] = {DRAGGED.name: value} if DRAGGED.name in known else {}
    return explorer.figure(explorer.sample(op, shown, **chosen))


if __name__ == "__main__":
    explorer.sample(OP, ["default"])
    app.run(port=int(sys.argv[1]))
