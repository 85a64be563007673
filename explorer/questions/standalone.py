"""The instrument as one file without a server, with Python's answers to its questions."""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from explorer.catalogue import SQUARE, Op, Rule, qualified
from explorer.catalogue.noises import LENS_WORDS
from explorer.curves import Curves, sample_curves
from explorer.curves.foreign import ForeignOp, OpLike, RuleLike
from explorer.curves.interpolation import interpolate_functions
from explorer.description import described
from explorer.formula import quoted
from explorer.instrument import Page, choice_data
from explorer.instrument.page import SavedAnswer
from explorer.instrument.view import LAYERS, SAVED_SECTIONS, View
from explorer.measures import list_suitable_rules, row_of, rule_map
from explorer.measures.implied import compute_implied_forwards
from explorer.measures.lens import lens, noise_of
from explorer.questions import Answer, as_sentence
from explorer.questions.implied import encode_implied
from explorer.questions.learning import answer_pull, answer_rest
from explorer.questions.lens import encode_distances, encode_lens
from explorer.questions.map import encode_map


def make_page(
    op: OpLike,
    rules: RuleLike | Sequence[RuleLike],
    *,
    learns: str = "",
    section: str = "",
    **looked: Any,
) -> Page:
    """Return the instrument as a page; arguments and errors are those of ``explorer.instrument``."""
    parameters = {name: value for name, value in looked.items() if name not in _VIEWED}
    curves, view = look_at(op, rules, learns=learns, section=section, **looked)
    shown, lines = interpolate_functions(curves)
    values = spread_parameters(lines, parameters)
    choice = choice_data(shown, lines, parameters=values, learns=learns, view=view)
    answers = collect_answers(curves.op, curves.rules, values, view, learns)
    return Page(choice, described(curves).texts, answers)


_VIEWED = ("start", "stop", "g", "f", "layer", "noise", "noise_width")


def look_at(
    op: OpLike,
    rules: RuleLike | Sequence[RuleLike],
    *,
    layer: str = "",
    noise: str = "uniform",
    noise_width: float = 1.0,
    section: str = "",
    sections: Collection[str] = SAVED_SECTIONS,
    **sampled: Any,
) -> tuple[Curves, View]:
    """Return the curves and the view of arguments of ``explorer.instrument``. Raises ValueError as it does.

    ``sections`` are the keys that ``section`` may have, ``sampled`` further keywords of ``sample_curves``.
    """
    curves = sample_curves(op, rules, **sampled)
    for name, value, known in (("layer", layer, LAYERS), ("section", section, sections)):
        if value and value not in known:
            raise ValueError(f"{name} must be one of {', '.join(known)}, not {quoted(value)}")
    law, width = noise_of(noise, noise_width).key, float(noise_width)
    span, loss = (curves.start, curves.stop), curves.loss or SQUARE
    return curves, View(
        range=span, g=curves.g, f=loss, layer=layer, noise=law, noise_width=width, section=section
    )


def spread_parameters(rules: Sequence[Rule], parameters: Mapping[str, float]) -> dict[str, float]:
    """Return `parameters` with the values that the browser knows as ``rule.name`` under that name as well."""
    apart = [(rule, p) for rule in rules for p in rule.parameters if p.plain and p.name in parameters]
    return {qualified(rule, p): parameters[p.name] for rule, p in apart} | dict(parameters)


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
        yield "implied", "", lambda: encode_implied(compute_implied_forwards(op, rules, **over))
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
        for rule in list_suitable_rules(op):
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
