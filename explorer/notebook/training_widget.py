"""The widget of a training that goes on while its cell runs."""

from typing import Any

import numpy as np
import traitlets as t

from explorer.catalogue.colours import RULE_COLOURS_LIGHT
from explorer.notebook.cell import Cell
from explorer.notebook.image import draw_png
from explorer.notebook.training_picture import Picture


class Training(Cell):
    """Held-out curves and one lane per rule.

    Attributes:
        picture: the data that the browser draws.
    """

    picture = t.Dict().tag(sync=True)

    def __init__(self, picture: Picture) -> None:
        super().__init__("training", picture=picture)

    def draw_image(self) -> tuple[bytes, str]:
        """Return the curves as a PNG, and the lanes as text."""
        lanes = (f"{lane['label']}: {lane['score'] or '–'}. {lane['said']}" for lane in self.picture["lanes"])
        lines = (self.picture["status"], *lanes, self.picture["words"])
        return draw_png(_make_figure(self.picture)), "\n".join(line.strip() for line in lines if line)

    def answer_question(self, question: str, arguments: dict[str, Any]) -> Any:
        """Raise NotImplementedError, since the browser has no questions about a training."""
        raise NotImplementedError(question)


def _make_figure(picture: Picture) -> dict[str, Any]:
    """Return a picture as a figure for ``draw_png``."""
    is_share, data = picture["scale"]["kind"] == "share", []
    for series in picture["series"]:
        color = RULE_COLOURS_LIGHT[series["slot"] % len(RULE_COLOURS_LIGHT)]
        width, dash = (1.5, "dotted") if series["faint"] else (3, "solid")
        y = np.array(series["y"], float) * (100 if is_share else 1)
        line = {"color": color, "width": width, "dash": dash}
        name = "" if series["faint"] else series["label"]
        data.append({"x": series["x"], "y": y, "mode": "lines", "line": line, "name": name})
    axis = {"title": {"text": picture["scale"]["title"]}, "range": (0, 100) if is_share else None}
    x_axis = {"range": (0, picture["steps"]), "title": {"text": "step"}}
    return {"data": data, "layout": {"xaxis": x_axis, "yaxis": axis}}
