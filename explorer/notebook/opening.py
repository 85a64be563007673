"""The function ``instrument``, which shows the interactive chart with or without anywidget."""

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from explorer.curves.user_functions.entries import OpLike, RuleLike
from explorer.questions.standalone import make_page

_HINT = (
    "This is a page in a frame. A widget is lighter and can be read and set in Python: "
    "pip install anywidget pillow."
)


def instrument(
    op: OpLike,
    rules: RuleLike | Sequence[RuleLike],
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
) -> Any:
    """Show an op and its backward rules as an interactive chart in a notebook.

    Return the chart at the end of a cell to show it, or save it with ``.html()``. With anywidget, the chart
    is a widget. Its traits have the names of the arguments, with ``range`` for both ends, ``parameters`` and
    the loss ``f``. Set a trait to move the curves, or ``observe`` it to follow the user. An invalid value
    raises TraitError. ``.choice`` holds keyword arguments for ``explorer.sample``, and ``.frame`` its table.
    Without anywidget, the chart is a page in a frame, which Python cannot read.

    Args:
        op: as for ``explorer.sample``, like the arguments below. A user's own function is drawn as points and
            has no sliders; its card gives their number and range.
        rules: one to six.
        start: the left end of the range of x.
        stop: the right end of the range of x.
        g: the upstream gradient.
        learns: a parameter that learns, whose gradient is drawn as contributions of the elements, or "".
        layer: one of ``explorer.instrument.view.LAYERS``, "implied" or "lens", or "".
        noise: the noise of the lens, as for ``explorer.lens``.
        noise_width: the width of the noise.
        section: the section that is open below the chart, one of ``explorer.instrument.view.SECTIONS``,
            "paste" for a field that takes pasted code, or "". A page in a frame has only ``SAVED_SECTIONS``.
            "compare" first measures all rules that suit the op, which takes seconds.
        **parameters: the values of parameters. ``rule.name`` is the parameter of one rule only.

    Raises:
        ValueError: if a key, layer, noise, section or parameter is unknown, or a number is out of bounds.
    """
    lens = {"layer": layer, "noise": noise, "noise_width": noise_width}
    view: dict[str, Any] = {"g": g, "learns": learns, "section": section, **lens}
    if find_spec("anywidget"):
        from explorer.notebook.instrument_widget import Instrument

        return Instrument(op, rules, range=[start, stop], parameters=parameters, **view)
    page = make_page(op, rules, start=start, stop=stop, **view | parameters)
    page.note = _HINT
    return page
