"""The widget that shows a training while its notebook cell runs."""

from typing import Any

import numpy as np
import traitlets as t

from explorer.catalogue.colours import RULE_COLOURS_LIGHT
from explorer.notebook.cell import Cell
from explorer.notebook.image import draw_png
from explorer.notebook.training_picture import Picture
from explorer.questions.curves import encode


class Training(Cell):
    """A widget that shows held-out curves and the state of each rule while a net trains."""

    _kind = t.Unicode("training").tag(sync=True)
    picture = t.Dict().tag(sync=True, to_json=lambda picture, _: encode(picture))

    def draw_image(self) -> tuple[bytes, str]:
        """Return the curves as a PNG image, and the state of each rule as text."""
        picture = self.picture
        lanes = (f"{lane['label']}: {lane['score'] or '–'}. {lane['said']}" for lane in picture["lanes"])
        lines = (picture["status"], *lanes, picture["words"])
        return draw_png(_make_figure(picture)), "\n".join(line.strip() for line in lines if line)


def _make_figure(picture: Picture) -> dict[str, Any]:
    """Return the chart data of a training as a figure for ``draw_png``."""
    is_share = picture["scale"]["kind"] == "share"
    data = [
        {
            **{"x": lane["x"], "y": np.asarray(lane["y"]) * (100 if is_share else 1), "name": lane["label"]},
            **{"mode": "lines", "line": {"color": colour, "width": 3}},
        }
        for lane, colour in zip(picture["lanes"], RULE_COLOURS_LIGHT, strict=False)
    ]
    axis = {"title": {"text": picture["scale"]["title"]}, "range": (0, 100) if is_share else None}
    x_axis = {"range": (0, picture["steps"]), "title": {"text": "step"}}
    return {"data": data, "layout": {"xaxis": x_axis, "yaxis": axis}}
