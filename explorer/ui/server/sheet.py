"""The course on paper: a page a lesson with axes to draw on, and a key; printed by the browser itself."""

import html
import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import groupby
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import numpy as np

from explorer.catalogue import find_op, find_rule
from explorer.curves import Curves, sample_curves
from explorer.figures import CLOSED, Spec, curve_spec
from explorer.formula import number_text, with_minus
from explorer.lessons import LESSONS
from explorer.sampled import Floats
from explorer.ui.links.choice import Choice
from explorer.ui.links.link import from_text
from explorer.ui.server import answers

_MARKED = re.compile(r"`([^`]+)`|\*\*([^*]+)\*\*|\*([^*]+)\*|\[([^\]]+)\]\(\w+\)")
_ELEMENTS = ("", "code", "strong", "em", "span")  # by the groups of that
_WIDTH, _HEIGHT, _EDGE = 300.0, 105.0, 20.0  # of a panel in its own units, and what its numbers take
_LINES = 14  # for a reason; those that find no room are cut off
_GRADIENTS = (-1.2, 2.2)  # of the gradients' axis at least: neither 0 nor 1 stands out
_HIGHEST = 20.0  # of an axis: what lies beyond, near a pole, is not drawn

Span = tuple[float, float]
Point = tuple[float, float]
Place = Callable[[float, float], str]


@cache
def sheet(keys: Sequence[str] = tuple(LESSONS)) -> str:
    """Lessons as one HTML page that needs nothing else, the whole course where no ``keys`` are given.

    All numbers are computed now, which takes some seconds.
    """
    lessons = [answers.lesson(key) for key in keys]
    drawn = [(number, lesson, *_sampled(lesson)) for number, lesson in enumerate(lessons, 1)]
    pages = "\n".join(_page(*each, count=len(lessons)) for each in drawn)
    key = "\n".join(_solved(*each) for each in drawn)
    frame = Path(__file__).with_suffix(".html").read_text(encoding="utf-8")
    return frame.replace("<!-- pages -->", pages).replace("<!-- key -->", key)


def _page(number: int, lesson: Mapping[str, Any], choice: Choice, curves: Curves, *, count: int) -> str:
    prediction = lesson["prediction"]
    blank, above = _panel(choice.range, _GRADIENTS, []), _traces(curves, "y")
    return f"""<article class="page">
<header><span>Lesson {number} of {count}</span><span>Name <i></i></span></header>
<h2>{html.escape(lesson["title"])}</h2>
<p class="question">{_inline(lesson["question"])}</p>
<p>{_inline(prediction["ask"])}</p>
{_code(lesson["excerpt"])}
{_answers(prediction)}
<div class="reason"><p>My reason:</p>{"<hr>" * _LINES}</div>
<figure>{_panel(choice.range, _span(*_values(above)), above)}{blank}
<figcaption>{_caption(choice, curves)}</figcaption></figure>
<footer>What to remember: {_inline(lesson["remember"])}</footer>
</article>"""


def _caption(choice: Choice, curves: Curves) -> str:
    op = html.escape(curves.op.label)
    if curves.loss:
        loss = html.escape(curves.loss)
        return f"""Above: {op}, its mean in a band of one standard deviation.
Below: draw the gradient of the mean of {loss}."""
    return f"Above: {op}. Below: draw the gradient\nfor g = {with_minus(number_text(choice.g))}."


def _solved(number: int, lesson: Mapping[str, Any], choice: Choice, curves: Curves) -> str:
    """A lesson in the key: the right answer, why, and the curve that was to be drawn."""
    prediction = lesson["prediction"]
    right = prediction["right"]
    letter = "" if "rule" in prediction else f"{ascii_uppercase[right]}: "
    text, why = (_inline(prediction["answers"][right][name]) for name in ("text", "why"))
    drawn = _traces(curves, "y2") if _right_rule(prediction) else []
    curve = _panel(choice.range, _span(_GRADIENTS, *_values(drawn)), drawn) if drawn else ""
    return f"""<li value="{number}"><div><b>{html.escape(lesson["title"])}</b>
<p>{letter}{text or "the curve beside this"}</p><p>{why}</p></div>{curve}</li>"""


def _answers(prediction: Mapping[str, Any]) -> str:
    """The answers to pick from, by letters; none where the answer is a drawing."""
    if "rule" in prediction:
        return ""
    texts = (_inline(answer["text"]) for answer in prediction["answers"])
    return f"<ol>{''.join(f'<li>{text}</li>' for text in texts)}</ol>"


def _code(excerpt: Mapping[str, Any] | None) -> str:
    if excerpt is None:
        return ""
    lines = ("".join(text for _, text in line) for line in excerpt["lines"])
    return f"<pre>{html.escape(chr(10).join(lines))}</pre>"


def _inline(text: str) -> str:
    """A lesson's Markdown as HTML; terms are plain words."""

    def element(match: re.Match[str]) -> str:
        kind = match.lastindex or 0  # the one group that is there
        name = _ELEMENTS[kind]
        return f"<{name}>{match[kind]}</{name}>"

    return _MARKED.sub(element, html.escape(text))


# --- panels ----------------------------------------------------------------------------------------------


def _sampled(lesson: Mapping[str, Any]) -> tuple[Choice, Curves]:
    """The first curves of a lesson: its op, and the gradient that the right answer is, else the default."""
    choice, _ = from_text(lesson["scenes"][0]["query"])
    prediction = lesson["prediction"]
    rule = _right_rule(prediction)
    records = (find_op(choice.op), *([find_rule(rule)] if rule else []))
    names = {parameter.name for record in records for parameter in record.parameters}
    names |= {"start", "stop", "g"}
    sampling = {name: value for name, value in choice.sampling.items() if name in names}
    return choice, sample_curves(choice.op, rule or "default", **sampling)


def _right_rule(prediction: Mapping[str, Any]) -> str | None:
    """The rule whose gradient the right answer is; None where it is no gradient."""
    rule: str | None = prediction.get("rule") or prediction["answers"][prediction["right"]]["picture"]
    return rule


def _traces(curves: Curves, axis: str) -> list[Spec]:
    """What the figure of a notebook draws on one axis: bands, lines, and circles where a curve jumps."""
    traces = curve_spec(curves)["data"]
    return [each for each in traces if each.get("yaxis", "y") == axis and np.isfinite(each["x"]).any()]


def _values(traces: Sequence[Spec]) -> list[Floats]:
    return [trace["y"] for trace in traces]


def _span(*several: Sequence[float] | Floats) -> Span:
    """The range of an axis that holds these values, 0 among them, as far as they are no poles."""
    values = np.concatenate(several)
    usual = np.clip(values[np.isfinite(values)], -_HIGHEST, _HIGHEST)
    low, high = min(0.0, *usual), max(0.0, *usual)
    room = 0.1 * (high - low or 1.0)
    return float(low - room), float(high + room)


def _panel(across: Span, up: Span, traces: Sequence[Spec]) -> str:
    """Axes with a grid and numbers, and curves on them, as SVG."""

    def place(x: float, y: float) -> str:
        right = _WIDTH * (x - across[0]) / (across[1] - across[0])
        down = _HEIGHT * (up[1] - y) / (up[1] - up[0])
        return f"{right:.1f},{down:.1f}"

    grid = "".join(_grid_line(place, (x, up[0]), (x, up[1]), x) for x in _ticks(across))
    grid += "".join(_grid_line(place, (across[0], y), (across[1], y), y) for y in _ticks(up))
    drawn = "".join(_drawn(trace, place, up) for trace in traces)
    box = f"{-_EDGE} -4 {_WIDTH + _EDGE + 8} {_HEIGHT + _EDGE}"
    return f'<svg viewBox="{box}" aria-hidden="true">{grid}{drawn}</svg>'


def _grid_line(place: Place, start: Point, stop: Point, value: float) -> str:
    """A line of the grid, with its number at its start."""
    (x1, y1), (x2, y2) = (place(*end).split(",") for end in (start, stop))
    number = with_minus(number_text(value))
    level = y1 == y2
    at = f'x="-3" y="{float(y1) + 3}" text-anchor="end"' if level else f'x="{x1}" y="{_HEIGHT + 10}"'
    zero = ' class="zero"' if value == 0 else ""
    return f'<line{zero} x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/><text {at}>{number}</text>'


def _ticks(span: Span) -> list[float]:
    """Round numbers within a range, four to ten of them."""
    rough = (span[1] - span[0]) / 8
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(step * power for step in (1, 2, 5, 10) if step * power >= rough)
    first, last = math.ceil(span[0] / step), math.floor(span[1] / step)
    return [float(f"{number * step:.6g}") for number in range(first, last + 1)]


def _drawn(trace: Spec, place: Place, up: Span) -> str:
    """A curve, broken where it has no value or leaves the panel; the circles at its jumps; or a band."""
    points = [*zip(trace["x"].tolist(), trace["y"].tolist(), strict=True)]
    if "marker" in trace:
        places = [place(*point).split(",") for point in points]
        kinds = ["closed" if symbol == CLOSED else "open" for symbol in trace["marker"]["symbol"]]
        both = zip(places, kinds, strict=True)
        return "".join(f'<circle class="{kind}" cx="{x}" cy="{y}" r="2.5"/>' for (x, y), kind in both)
    if "fill" in trace:
        rings = groupby(points, key=lambda point: math.isfinite(point[1]))
        held = [[place(x, min(max(y, up[0]), up[1])) for x, y in ring] for there, ring in rings if there]
        return "".join(f'<polygon points="{" ".join(ring)}"/>' for ring in held)
    pieces = groupby(points, key=lambda point: up[0] <= point[1] <= up[1])
    lines = [" ".join(place(*point) for point in piece) for inside, piece in pieces if inside]
    return "".join(f'<polyline points="{line}"/>' for line in lines)
