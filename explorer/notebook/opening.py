"""The door of the instrument, which works without anywidget as well."""

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from explorer.curves.foreign import OpLike, RuleLike
from explorer.questions.standalone import make_page

_WITHOUT = "This is a page in a frame. A widget is lighter and follows Python: pip install anywidget pillow."


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
    """Return the live instrument: show it at the end of a notebook's cell, or save it by ``.html()``.

    Where anywidget is installed this is a widget. Its traits have the names of the arguments, with ``range``
    for both ends, ``parameters`` and ``f``, the loss: set one and the curves move, ``observe`` one to follow
    the hand. A wrong value raises TraitError. ``.choice`` holds keywords for ``explorer.sample``, ``.frame``
    its table. Without anywidget it is a page in a frame, which Python cannot read.

    Args:
        op: as for ``explorer.sample``, like all that follows. Somebody's own function is drawn by points, so
            that it has no sliders; its card says at how many, and from where to where.
        rules: one to six.
        start, stop: the range of x at first.
        g: the upstream gradient at first.
        learns: a parameter that learns, or "": then what each element contributes to its gradient is drawn.
        layer: one of ``explorer.instrument.view.LAYERS``, "implied" or "lens", or "".
        noise, noise_width: of the lens, as for ``explorer.lens``.
        section: the section that is open below the chart, one of ``explorer.instrument.view.SECTIONS``, or
            "". A page in a frame has only ``SAVED_SECTIONS``. For "compare" all rules that suit the op are
            measured first, which takes seconds.
        **parameters: values by name, or ``rule.name`` for one rule only.

    Raises:
        ValueError: an unknown key, layer, noise, section or parameter, or a number out of bounds, in a plain
            sentence.
    """
    lens = {"layer": layer, "noise": noise, "noise_width": noise_width}
    view: dict[str, Any] = {"g": g, "learns": learns, "section": section, **lens}
    if find_spec("anywidget"):
        from explorer.notebook.widget import Instrument

        return Instrument(op, rules, range=[start, stop], parameters=parameters, **view)
    page = make_page(op, rules, start=start, stop=stop, **view | parameters)
    page.note = _WITHOUT
    return page
