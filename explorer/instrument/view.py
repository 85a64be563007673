"""The query parameters of a link to Explore, except those for op, rules and parameters.

``ui/links`` uses them to read links. The browser gets them with its document, and uses them to read and write
links and to check the data from Python.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any, Literal

from explorer.catalogue.losses import RANDOM_MESSAGE, SQUARE
from explorer.catalogue.noises import NARROWEST, NOISES, WIDEST
from explorer.catalogue.records import MAX_ABS_X
from explorer.instrument.limits import MAX_G

SECTIONS = {
    "code": "Code",
    "checks": "Checks",
    "formula": "Formula",
    "rest": "Where it settles",
    "format": "Format",
    "compare": "Compare",
    "map": "Rule map",
    "data": "Data",
}
SAVED_SECTIONS = ("format", "compare", "map")  # the sections that a saved file contains


@dataclass(frozen=True)
class Layer:
    """A layer of the chart: further curves that the user can show with a switch.

    The curves are Python's answer to the question with the layer's key.

    Attributes:
        label: the label of the switch.
        meaning: the meaning of the switch, one sentence.
        controls: the query parameters with a control next to the layer's sentences, and their labels.
    """

    label: str
    meaning: str
    controls: Mapping[str, str] = field(default_factory=dict)


LAYERS: Mapping[str, Layer] = {
    "implied": Layer("Implied forward", "Draw the function that each rule descends, dashed over the op."),
    "lens": Layer(
        "Noise lens",
        "Draw the op's gradient under noise added to x, dashed next to those of the rules.",
        controls={"noise": "Noise on x", "noise_width": "Width of the noise"},
    ),
}


# Texts on the chart of a stochastic op and rule: its legend, and additions to the numbers at one x.
STOCHASTIC_TEXTS = {
    "legend": "mean   band: ± sd   dots: draws   {ink}: exact",
    "short": "± sd   {ink}: exact",
    "means": "mean   band: ± sd   dots: draws",
    "shortMeans": "± sd",
    "lost": "Curves without a mean: {count}",
    "black": "black",
    "white": "white",
    "spread": "± {sd}",
    "bias": "bias {bias}",
    "sd": "sd {sd}",
    "missing": "No mean here, or none that can be computed: {what}.",
    "loss": "the mean loss",
    "readings": "Means over random draws.",
    "fixed": RANDOM_MESSAGE + ".",
}


@dataclass(frozen=True)
class QueryParameter:
    """A query parameter in the links of a page.

    Attributes:
        name: its name in the link, in ``View`` and in the browser's choice.
        kind: a "number" from ``low`` to ``high``, a "range" of two such numbers, a "choice" of ``words``, or
            a "loss", a formula of y.
        default: the value of a link without the parameter; for a choice it may be "", for no choice.
        meaning: a noun phrase, with the unit.
        low: the lower bound.
        high: the upper bound.
        words: the texts to choose from, with their labels.
        refusal: the sentence for any other text, with {name}, {text}, {words} and {default}.
    """

    name: str
    kind: Literal["number", "range", "choice", "loss"]
    default: Any
    meaning: str
    low: float = 0.0
    high: float = 0.0
    words: Mapping[str, str] = field(default_factory=dict)
    refusal: str = "The link asks for {name} = {text}: it must be one of {words} and is left at {default}."


def _make_field(kind: str, default: object, meaning: str, **options: Any) -> Any:
    return field(default=default, metadata={"kind": kind, "default": default, "meaning": meaning, **options})


@dataclass(frozen=True)
class View:
    """The values of a link's query parameters, such as the range of x; ``VIEW`` describes each of them."""

    range: tuple[float, float] = _make_field(
        "range", (-3.0, 3.0), "The range of x.", low=-MAX_ABS_X, high=MAX_ABS_X
    )
    g: float = _make_field("number", 1.0, "The upstream gradient.", low=-MAX_G, high=MAX_G)
    f: str = _make_field(
        "loss", SQUARE, "The loss of the op's output, a formula of y; its derivative times g reaches the "
        "op.",
        refusal="The link's loss {text} cannot be read: {why}.",
    )  # fmt: skip
    layer: str = _make_field(
        "choice", "", "The layer that is drawn over the op.",
        words={key: layer.label for key, layer in LAYERS.items()},
        refusal="The link asks for layer = {text}: it must be one of {words}.",
    )  # fmt: skip
    noise: str = _make_field(
        "choice", "uniform", "The noise of the lens.",
        words={key: noise.label.capitalize() for key, noise in NOISES.items()},
    )  # fmt: skip
    noise_width: float = _make_field("number", 1.0, "The width of that noise.", low=NARROWEST, high=WIDEST)
    section: str = _make_field(
        "choice", "", "The section that is open below the chart; paste opens a field for code.",
        words=SECTIONS | {"paste": "Paste code"},
        refusal="The link opens {text}: the sections are {words}.",
    )  # fmt: skip
    tools: str = _make_field(
        "choice", "", "The tools that are open; settings and evidence are those of Train.",
        words={"all": "All tools", "settings": "Settings", "evidence": "Evidence"},
        refusal="The link asks for tools = {text}: it must be one of {words}.",
    )  # fmt: skip


VIEW: Mapping[str, QueryParameter] = MappingProxyType(
    {each.name: QueryParameter(each.name, **each.metadata) for each in fields(View)}
)


def to_view_data(view: View) -> dict[str, Any]:
    """Return a dict of a link's query parameters and their values, for JSON."""
    values = {name: getattr(view, name) for name in VIEW}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
