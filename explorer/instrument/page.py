"""The instrument as one file that needs no server: for slides, blogs and a class without network."""

import base64
import html
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from explorer.catalogue import qualified
from explorer.curves import sample_curves
from explorer.curves.pointed import pointed
from explorer.description import described
from explorer.foreign import GivenOp, GivenRule
from explorer.formula import quoted
from explorer.instrument.assets import json_text, skeleton, skeleton_css
from explorer.instrument.choice import choice_data
from explorer.instrument.document import document
from explorer.instrument.drawing import plotly_js
from explorer.instrument.modules import MODULES, beside, sources, with_imports
from explorer.instrument.policy import policy
from explorer.instrument.view import LAYERS, SAVED_SECTIONS, View
from explorer.lens import noise_of
from explorer.measures import row_of, suiting

_IMPORT = re.compile(r'(from\s+|import\()"(\.[\w./-]+\.js)"')
_HEIGHT_PX = 640
_START = "\0"  # in no text of a page


# Modules that are data, and pictures to save; nothing from elsewhere.
_ALLOWED = {
    "default-src": "'none'",
    "script-src": "data:",
    "style-src": "'unsafe-inline'",
    "img-src": "data: blob:",
    "base-uri": "'none'",
    "form-action": "'none'",
}


class Page:
    """An instrument that shows a choice; in a notebook it is live in the output cell."""

    def __init__(
        self, choice: Mapping[str, Any], words: Mapping[str, str], rows: Mapping[str, Any] | None = None
    ) -> None:
        self._start = {"choice": choice, "words": words} | ({"rows": rows} if rows else {})

    def html(self) -> str:
        """One self-contained file of about 5 MB: it fetches nothing, and all of its sliders work."""
        before, after = standalone()
        return before + json_text({"document": document(), **self._start}) + after

    def _repr_html_(self) -> str:
        style = f"width:100%;height:{_HEIGHT_PX}px;border:0"
        return f'<iframe srcdoc="{html.escape(self.html())}" style="{style}"></iframe>'


def instrument(
    op: GivenOp,
    rules: GivenRule | Sequence[GivenRule],
    *,
    start: float = -3.0,
    stop: float = 3.0,
    g: float = 1.0,
    learns: str = "",
    layer: str = "",
    noise: str = "uniform",
    noise_width: float = 1.0,
    section: str = "",
    **parameters: float,
) -> Page:
    """The live instrument: shown at the end of a notebook's cell, or as a file by ``.html()``.

    Args:
        op: as for ``explorer.sample``, like all that follows. Somebody's own function is drawn by points, so
            that it has no sliders; its card says at how many, and from where to where.
        rules: one to six.
        start, stop: the range of x at first.
        g: the upstream gradient at first.
        learns: a parameter that learns, or "": then what each element contributes to its gradient is drawn.
        layer: one of ``explorer.instrument.view.LAYERS``, "implied" or "lens", or "".
        noise, noise_width: of the lens, as for ``explorer.lens``.
        section: the section that is open below the chart, one of ``explorer.instrument.view.SAVED_SECTIONS``,
            or "". For "compare" all rules that suit the op are measured first, which takes seconds.
        **parameters: values by name, or ``rule.name`` for one rule only.

    Raises:
        ValueError: an unknown key, layer, noise, section or parameter, or a number out of bounds, in a plain
            sentence.
    """
    chosen: dict[str, Any] = {"start": start, "stop": stop, "g": g, "learns": learns}
    curves = sample_curves(op, rules, **(chosen | parameters))
    for name, value, known in (("layer", layer, LAYERS), ("section", section, SAVED_SECTIONS)):
        if value and value not in known:
            raise ValueError(f"{name} must be one of {', '.join(known)}, not {quoted(value)}")
    law, width = noise_of(noise, noise_width).key, float(noise_width)
    span = curves.start, curves.stop
    view = View(range=span, g=curves.g, layer=layer, noise=law, noise_width=width, section=section)
    shown, lines = pointed(curves)
    apart = [(rule, p) for rule in lines for p in rule.parameters if p.plain and p.name in parameters]
    values = {qualified(rule, p): parameters[p.name] for rule, p in apart} | parameters
    choice = choice_data(shown, lines, parameters=values, learns=learns, view=view)
    compared = suiting(shown) if section == "compare" else []
    rows = {rule.key: row_of(shown, rule, values).plain for rule in compared}
    return Page(choice, described(curves).texts, rows or None)


@cache
def standalone() -> tuple[str, str]:
    """A saved file before and after its data, which are document, choice and words."""
    parts = {
        "policy": "",
        "style": style(),
        "skeleton": skeleton("instrument"),
        # JavaScript that cannot end the element it stands in.
        "plotly": plotly_js().decode().replace("</script", "<\\/script").replace("<!--", "<\\!--"),
        "modules": import_map("pages/standalone.js"),
        "start": _START,
    }
    parts["policy"] = policy(filled("page", parts), _ALLOWED)
    before, after = filled("page", parts).split(_START)
    return before, after


def filled(page: str, parts: Mapping[str, str]) -> str:
    """A page by the name of its file, with each part in the place that names it."""
    return re.sub(r"<!-- (\w+) -->", lambda match: parts[match[1]], skeleton(page))


@cache
def style() -> str:
    """All style sheets as one text."""
    return "\n".join([skeleton_css(), *(sheet.read_text(encoding="utf-8") for sheet in sources("css"))])


@cache
def import_map(module: str) -> str:
    """A module and all it imports as an import map: a page from the disk may load no module by its address.

    Each is an address that holds its text, and they import one another by bare names such as
    ``#chart/scene/view.js``.
    """
    return json_text({"imports": {f"#{name}": _address(name) for name in with_imports(module)}})


def _address(module: str) -> str:
    text = _renamed(module, (MODULES / module).read_text(encoding="utf-8"))
    return f"data:text/javascript;base64,{base64.b64encode(text.encode()).decode()}"


def _renamed(module: str, text: str) -> str:
    return _IMPORT.sub(lambda match: f'{match[1]}"#{beside(module, match[2])}"', text)
