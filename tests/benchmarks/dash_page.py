"""The page a reader would write with Dash: the same curves, ``python dash_page.py PORT``."""

import sys
from typing import Any

from dash import Dash, Input, Output, dcc, html

import explorer

OPS = {op.key: op.label for op in explorer.OPS.values()}
RULES = {rule.key: rule.label for rule in explorer.RULES.values()}

app = Dash(__name__)
app.layout = html.Div(
    [
        dcc.Dropdown(OPS, "clamp", id="op", clearable=False),
        dcc.Dropdown(RULES, ["default"], id="rules", multi=True),
        html.Div(dcc.Slider(-3, 1, 0.01, value=-1, id="value", marks=None, updatemode="drag"), id="dragged"),
        dcc.Graph(id="curves", style={"height": 520}),
    ]
)


@app.callback(
    Output("curves", "figure"), Input("op", "value"), Input("rules", "value"), Input("value", "value")
)
def draw(op: str, rules: list[str], value: float) -> Any:
    shown = rules or ["default"]
    entries = (explorer.OPS[op], *(explorer.RULES[rule] for rule in shown))
    known = {parameter.name for entry in entries for parameter in entry.parameters}
    chosen: dict[str, Any] = {"lo": value} if "lo" in known else {}
    return explorer.figure(explorer.sample(op, shown, **chosen))


if __name__ == "__main__":
    explorer.sample("clamp", ["default"])
    app.run(port=int(sys.argv[1]))
