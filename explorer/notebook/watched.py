"""The widget of a training that is watched."""

from typing import Any

import numpy as np
import traitlets as t

from explorer.catalogue.colours import RULE_COLOURS_LIGHT
from explorer.notebook.cell import Cell
from explorer.notebook.still import draw_png

Picture = dict[str, Any]


class Watch(Cell):
    """Held-out curves and a lane a rule; ``picture`` is what the browser draws."""

    picture = t.Dict().tag(sync=True)

    def __init__(self, picture: Picture) -> None:
        super().__init__("training", picture=picture)

    def draw_still(self) -> tuple[bytes, str]:
        """Return the curves as a PNG, and the lanes as text."""
        lanes = (f"{lane['label']}: {lane['score'] or '–'}. {lane['said']}" for lane in self.picture["lanes"])
        words = (self.picture["status"], *lanes, self.picture["words"])
        return draw_png(spec_of(self.picture)), "\n".join(filter(None, map(str.strip, words)))

    def answer_question(self, question: str, arguments: dict[str, Any]) -> Any:
        """Raise, as the browser asks a training nothing."""
        raise NotImplementedError(question)


def spec_of(picture: Picture) -> dict[str, Any]:
    """Return a picture as a figure for ``draw_png``."""
    kind, times = picture["scale"]["kind"], 100 if picture["scale"]["kind"] == "share" else 1
    named: set[str] = set()
    data = []
    for each in picture["series"]:
        colour = RULE_COLOURS_LIGHT[each["slot"] % len(RULE_COLOURS_LIGHT)]
        y = times * np.array([np.nan if value is None else value for value in each["y"]])
        line = {
            "color": colour,
            "width": 1.5 if each["faint"] else 3,
            "dash": "dot" if each["faint"] else "solid",
        }
        name = "" if each["rule"] in named or each["faint"] else each["label"]
        data.append({"x": each["x"], "y": y, "mode": "lines", "line": line, "name": name})
        named.add(each["rule"] if name else "")
    axis = {"title": {"text": picture["scale"]["title"]}, "range": (0, 100) if kind == "share" else None}
    return {
        "data": data,
        "layout": {"xaxis": {"range": (0, picture["steps"]), "title": {"text": "step"}}, "yaxis": axis},
    }
