"""The instrument without a server, in a notebook or as one file, with Python's answers to its questions."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from explorer.catalogue import Op, Rule, qualified
from explorer.catalogue.noises import LENS_WORDS
from explorer.curves import sample_curves
from explorer.curves.foreign import ForeignOp, GivenOp, GivenRule
from explorer.curves.pointed import pointed
from explorer.description import described
from explorer.formula import quoted
from explorer.instrument import Page, choice_data
from explorer.instrument.page import SavedAnswer
from explorer.instrument.view import LAYERS, SAVED_SECTIONS, View
from explorer.measures import row_of, rule_map, suiting
from explorer.measures.implied import implied_forwards
from explorer.measures.lens import lens, noise_of
from explorer.questions import Answer, as_sentence
from explorer.questions.implied import encode_implied
from explorer.questions.learning import answer_pull, answer_rest
from explorer.questions.lens import encode_distances, encode_lens
from explorer.questions.map import encode_map


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
    return Page(
        choice, described(curves).texts, collect_answers(curves.op, curves.rules, values, view, learns)
    )


def collect_answers(
    op: Op, rules: Sequence[Rule], parameters: Mapping[str, float], view: View, learns: str
) -> list[SavedAnswer]:
    """Return the answers to the questions that a choice asks: about its layer, section and what learns."""
    asked = _ask(op, rules, parameters, view, learns)
    return [(question, of, _answer(compute)) for question, of, compute in asked]


def _ask(
    op: Op, rules: Sequence[Rule], parameters: Mapping[str, float], view: View, learns: str
) -> Iterator[tuple[str, str, Callable[[], Answer]]]:
    """Yield each question, what its arguments are made of, and what computes the answer."""
    start, stop = view.range
    noise: dict[str, Any] = {"noise": view.noise, "width": view.noise_width}
    over: dict[str, Any] = {"start": start, "stop": stop, **parameters}
    looked = {**noise, **over, "g": view.g}
    if view.layer == "lens":
        yield (
            "lens",
            "",
            lambda: (
                {"words": LENS_WORDS["points"].format(op=op.label)}
                if isinstance(op, ForeignOp)
                else encode_lens(lens(op, rules, **looked))
            ),
        )
    if view.layer == "implied":
        yield "implied", "", lambda: encode_implied(implied_forwards(op, rules, **over))
    if view.section == "map":
        top = _largest_g(view.g)
        yield "map", "", lambda: encode_map(rule_map(op, rules, top=top, **over))
    if learns and not any(each.draws for each in (op, *rules)):
        keys = [rule.key for rule in rules]
        yield "pull", "", lambda: answer_pull(op.key, keys, dict(parameters), learns, [], [])
        yield "rest", "", lambda: answer_rest(op.key, keys, dict(parameters), learns, [], [])
    if view.section == "compare":
        if not isinstance(op, ForeignOp):
            yield "distances", "", lambda: encode_distances(op, parameters, **noise)
        for rule in suiting(op):
            yield "row", rule.key, partial(_row, op, rule, parameters)


def _largest_g(g: float) -> float:
    """Return the largest g of a map: the next of 1, 2, 5, 10, … times a power of ten, at least 2."""
    power = 10.0 ** math.floor(math.log10(abs(g) or 1))
    return max(2.0, next(power * factor for factor in (1, 2, 5, 10) if power * factor >= abs(g) * (1 - 1e-9)))


def _row(op: Op, rule: Rule, parameters: Mapping[str, float]) -> Answer:
    return {"row": row_of(op, rule, parameters).plain}


def _answer(compute: Callable[[], Answer]) -> Answer:
    try:
        return compute()
    except ValueError as error:
        return {"message": as_sentence(str(error))}
