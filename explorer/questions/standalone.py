"""The interactive chart as one file without a server, with Python's answers to its questions."""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from explorer.catalogue import SQUARE, Op, Rule, qualify_name
from explorer.catalogue.noises import LENS_WORDS
from explorer.curves import Curves, sample_curves
from explorer.curves.interpolation import interpolate_functions
from explorer.curves.user_functions.entries import OpLike, RuleLike, UserOp
from explorer.description import make_description
from explorer.formula import quote
from explorer.instrument import Page, to_choice_data
from explorer.instrument.page import SavedAnswer
from explorer.instrument.view import LAYERS, SAVED_SECTIONS, View
from explorer.measures import list_suitable_rules, make_row, rule_map
from explorer.measures.implied import compute_implied_forwards
from explorer.measures.lens import find_noise, lens
from explorer.questions import Answer, as_sentence
from explorer.questions.implied import encode_implied
from explorer.questions.learning import answer_pull, answer_rest
from explorer.questions.lens import encode_distances, encode_lens
from explorer.questions.map import encode_map


def make_page(
    op: OpLike, rules: RuleLike | Sequence[RuleLike], *, learns: str = "", section: str = "", **arguments: Any
) -> Page:
    """Return the interactive chart as a page.

    Arguments and errors are those of ``explorer.instrument``.
    """
    parameters = {name: value for name, value in arguments.items() if name not in _VIEW_ARGUMENTS}
    curves, view = sample_view(op, rules, learns=learns, section=section, **arguments)
    page_op, page_rules = interpolate_functions(curves)
    values = spread_parameters(page_rules, parameters)
    choice = to_choice_data(page_op, page_rules, parameters=values, learns=learns, view=view)
    answers = collect_answers(curves.op, curves.rules, values, view, learns)
    return Page(choice, make_description(curves).texts, answers)


_VIEW_ARGUMENTS = ("start", "stop", "g", "f", "layer", "noise", "noise_width")


def sample_view(
    op: OpLike,
    rules: RuleLike | Sequence[RuleLike],
    *,
    layer: str = "",
    noise: str = "uniform",
    noise_width: float = 1.0,
    section: str = "",
    sections: Collection[str] = SAVED_SECTIONS,
    **sampling: Any,
) -> tuple[Curves, View]:
    """Return the curves for arguments of ``explorer.instrument``, and the view with the other settings.

    The arguments are those of ``explorer.instrument``. In addition, ``sections`` are the keys that
    ``section`` may have, and ``sampling`` are further keywords of ``sample_curves``. Raises ValueError for an
    unknown layer, noise or section, a noise width out of bounds, and for the reasons of ``sample_curves``.
    """
    curves = sample_curves(op, rules, **sampling)
    for name, value, allowed in (("layer", layer, LAYERS), ("section", section, sections)):
        if value and value not in allowed:
            raise ValueError(f"{name} must be one of {', '.join(allowed)}, not {quote(value)}")
    noise_key, width = find_noise(noise, noise_width).key, float(noise_width)
    span, loss = (curves.start, curves.stop), curves.loss or SQUARE
    return curves, View(
        range=span, g=curves.g, f=loss, layer=layer, noise=noise_key, noise_width=width, section=section
    )


def spread_parameters(rules: Sequence[Rule], parameters: Mapping[str, float]) -> dict[str, float]:
    """Return a dict of `parameters`, and of the same values under ``rule.name``, as the browser expects."""
    pairs = [(rule, p) for rule in rules for p in rule.parameters if p.plain and p.name in parameters]
    return {qualify_name(rule, p): parameters[p.name] for rule, p in pairs} | dict(parameters)


def collect_answers(
    op: Op, rules: Sequence[Rule], parameters: Mapping[str, float], view: View, learns: str
) -> list[SavedAnswer]:
    """Return the answers to the questions that a saved page may ask of its layer, section and parameter."""
    questions = _list_questions(op, rules, parameters, view, learns)
    return [(question, subject, _answer(compute)) for question, subject, compute in questions]


def _list_questions(
    op: Op, rules: Sequence[Rule], parameters: Mapping[str, float], view: View, learns: str
) -> Iterator[tuple[str, str, Callable[[], Answer]]]:
    start, stop = view.range
    noise: dict[str, Any] = {"noise": view.noise, "width": view.noise_width}
    sampling: dict[str, Any] = {"start": start, "stop": stop, **parameters}
    lens_arguments = {**noise, **sampling, "g": view.g}
    if view.layer == "lens":
        yield (
            "lens",
            "",
            lambda: (
                {"words": LENS_WORDS["points"].format(op=op.label)}
                if isinstance(op, UserOp)
                else encode_lens(lens(op, rules, **lens_arguments))
            ),
        )
    if view.layer == "implied":
        yield "implied", "", lambda: encode_implied(compute_implied_forwards(op, rules, **sampling))
    if view.section == "map":
        # The largest g of the map is the next of 1, 2, 5, 10, … times a power of ten, at least 2.
        power, least = 10.0 ** math.floor(math.log10(abs(view.g) or 1)), abs(view.g) * (1 - 1e-9)
        top = max(2.0, next(power * factor for factor in (1, 2, 5, 10) if power * factor >= least))
        yield "map", "", lambda: encode_map(rule_map(op, rules, top=top, **sampling))
    if learns and not any(each.is_random for each in (op, *rules)):
        keys = [rule.key for rule in rules]
        yield "pull", "", lambda: answer_pull(op.key, keys, dict(parameters), learns, [], [])
        yield "rest", "", lambda: answer_rest(op.key, keys, dict(parameters), learns, [], [])
    if view.section == "compare":
        if not isinstance(op, UserOp):
            yield "distances", "", lambda: encode_distances(op, parameters, **noise)
        for rule in list_suitable_rules(op):
            yield "row", rule.key, partial(_answer_row, op, rule, parameters)


def _answer_row(op: Op, rule: Rule, parameters: Mapping[str, float]) -> Answer:
    return {"row": make_row(op, rule, parameters).plain}


def _answer(compute: Callable[[], Answer]) -> Answer:
    try:
        return compute()
    except ValueError as error:
        return {"message": as_sentence(str(error))}
