"""The widget that shows a training run while its notebook cell works."""

from typing import Any

import numpy as np
import traitlets as t

from explorer.catalogue.colours import RULE_COLOURS_LIGHT
from explorer.notebook.cell import Cell
from explorer.notebook.image import draw_png
from explorer.questions.curves import encode


class Training(Cell):
    """A widget that shows held-out curves and the state of each rule while a net trains."""

    _kind = t.Unicode("training").tag(sync=True)
    picture = t.Dict().tag(sync=True, to_json=lambda picture, _: encode(picture))

    def draw_image(self) -> tuple[bytes, str]:
        """Return the curves as a PNG image, and the state of each rule as text."""
        picture: Any = self.picture
        lanes, is_share = picture["lanes"], picture["scale"]["kind"] == "share"
        texts = (f"{lane['label']}: {lane['score'] or '–'}. {lane['said']}" for lane in lanes)
        y_axis = {
            "title": {"text": picture["heading"].partition(":")[0]},
            "range": (0, 100) if is_share else None,
        }
        x_axis = {"range": (0, picture["steps"]), "title": {"text": "step"}}
        data = []
        for lane, colour in zip(lanes, RULE_COLOURS_LIGHT, strict=False):
            y, line = np.multiply(lane["y"], 100 if is_share else 1), {"color": colour, "width": 3}
            data.append({"x": lane["x"], "y": y, "name": lane["label"], "mode": "lines", "line": line})
        lines = (picture["status"], *texts, picture["words"])
        png = draw_png({"data": data, "layout": {"xaxis": x_axis, "yaxis": y_axis}})
        return png, "\n".join(line.strip() for line in lines if line)
