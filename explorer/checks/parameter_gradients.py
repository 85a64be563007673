"""Checks of the gradients of trained arguments, other than x, against the forward."""

import math
from dataclasses import replace
from operator import attrgetter
from typing import Any

import torch
from torch import Tensor

from explorer.catalogue import RULES, Op, Rule
from explorer.checks.argument_gradients import Probe
from explorer.checks.result import FAILS, HOLDS, Result, by_design, fails, format_number, holds, unknown
from explorer.curves.user_functions.curve import Curve
from explorer.curves.user_functions.elementwise import is_same
from explorer.curves.user_functions.subject import Subject, UntriedError
from explorer.curves.user_functions.traits import has_custom_node
from explorer.formula.tree import find_names
from explorer.gradient import apply

_EXACT = 1e-6  # relative tolerance of gradients by autograd
_TOLERANCE = 0.03  # relative tolerance of integrals
_NOISE = 1e-9  # an expected gradient below this is 0; it is computed by differences
_MIN_SCALE = 0.25  # a factor from this to its inverse on the expected gradient is a choice of scale
_SIDE_STEP = 1e-2  # distance of test values from a kink, relative to 1 + |argument|
_TRIED, _ALIKE = 16, 4  # number of elements tried for a common factor, and of those that must have it
_BY_ROOT = "gets a gradient divided by the root of the number of elements, as in LSQ."


def check_parameter_gradients(curve: Curve) -> Result:
    """Check whether the gradient of each trained argument is the one that follows from the forward."""
    subject = curve.subject
    op, rule = subject.op, subject.rule
    if op is None or rule is None or not rule.learned:
        return _check_all(subject, bool(curve.traits.dependence))
    if mismatch := _explain_mismatch(op, rule):
        return by_design(mismatch)
    result = _check_all(_make_learnable(subject, op, rule))
    if result.verdict == FAILS or not any("y" in find_names(single.parsed.tree) for single in rule.learned):
        return result
    # A formula that tests y instead of x may be right for only one sign of the parameter.
    negated = {single.name: -subject.parameters[single.name] for single in rule.learned}
    parameters = {**subject.parameters, **negated}
    flipped = _check_all(_make_learnable(replace(subject, parameters=parameters), op, rule))
    at = ", ".join(f"{name} = {format_number(value)}" for name, value in negated.items())
    return replace(flipped, sentence=f"At {at}: {flipped.sentence}") if flipped.verdict == FAILS else result


def _explain_mismatch(op: Op, rule: Rule) -> str:
    in_y, learned = set(op.parsed.parameters), {single.name for single in rule.learned}
    labels = {p.name: p.display_name for p in rule.parameters}
    absent, foreign = sorted(labels[name] for name in learned - in_y), sorted(in_y - {*labels})
    if not in_y & learned or (absent and rule.key in RULES):
        return f"Its gradient for {' and '.join(absent)}, which is not in y, is made for another op."
    if foreign and rule.key in RULES:
        return f"It does not use {' and '.join(foreign)}, which is in y: it is made for another op."
    return ""


def _make_learnable(pair: Subject, op: Op, rule: Rule) -> Subject:
    learned = tuple(single.name for single in rule.learned if single.name in op.parsed.parameters)
    numbers = {name: value for name, value in pair.parameters.items() if name not in learned}
    values = (torch.tensor(pair.parameters[name], requires_grad=True) for name in learned)
    forward = op.parsed.with_tensors(learned).bind(numbers)

    def call(x: Tensor, *tensors: Tensor) -> Tensor:
        settings: dict[str, Any] = numbers | dict(zip(learned, tensors, strict=True))
        return apply(op, rule, x, **settings)

    def run_plain(x: Tensor, *tensors: Tensor) -> Tensor:
        return forward(x, None, None, dict(zip(learned, tensors, strict=True)))

    return replace(pair, call=call, arguments=tuple(values), plain=run_plain, names=learned)


def _check_all(subject: Subject, mixes: bool = False) -> Result:
    probes = [Probe(subject, k, mixes) for k in subject.learned]
    if not probes:
        return holds("None of its arguments learns: none is a tensor that requires grad.")
    if float(probes[0].y.amax()) == float(probes[0].y.amin()):
        return unknown("y is constant for these parameters: move the parameters.")
    worst = min(map(_check_argument, probes), key=attrgetter("rank"))
    first, rest = worst.sentence.partition("argument")[::2]
    return worst if first else replace(worst, sentence=f"Argument{rest}")


def _check_argument(probe: Probe) -> Result:
    """Return the result for one learned argument.

    If only the argument's exact value fails, that value is on a kink, and the gradient is ambiguous there.
    """
    finding = _check_at_value(probe)
    if finding.verdict != FAILS:
        return finding
    for sign in "−+":
        if _follows_x(probe, sign):
            words = f"what follows from x's gradient, as y depends on x {sign} {probe.name} alone: see area."
            return by_design(f"{probe.name} gets {words}", None, finding.figure)
    step = _SIDE_STEP * (1 + probe.argument.abs())
    sides = [_check_at_value(probe.move(probe.argument + sign * step)) for sign in (-1, 1)]
    if min(side.rank for side in sides) < 2:  # fails or unknown
        return finding
    below, above = (side.sentence for side in sides)
    words = f"On both sides: {below}" if below == above else f"Below it: {below} Above it: {above}"
    return by_design(f"{probe.name} starts on a kink of y, where its gradient is ambiguous. {words}")


def _check_at_value(probe: Probe) -> Result:
    actual, zero = probe.actual, probe.backpropagate(torch.zeros_like(probe.y))
    if actual is None:
        return _judge_missing(probe)
    if zero is not None and float(zero.abs().max()) > 1e-9 * float(actual.abs().max()):
        return fails(f"{probe.name} gets a gradient even if g is 0: multiply by g.")
    target, only_moving, reason = None, False, "the forward hides it from autograd"
    try:
        target = probe.compute_due(*probe.upstreams)
    except UntriedError as error:
        only_moving, reason = True, str(error)
    if probe.is_chained:
        finding = _judge(probe, actual, target) if target is not None else None
        if finding and finding.verdict == HOLDS:
            return finding
        words = "gets its gradient through a Function by the chain rule: check that Function alone."
        return by_design(f"{probe.name} {words}")
    if target is None and not has_custom_node(probe.subject.open_graph(probe.x)[0]):
        return by_design(f"{probe.name} gets autograd's own gradient, and no slope to compare: {reason}.")
    if target is None or _is_hidden(probe):
        moments = _judge_moments(probe, only_moving)
        advice = f"{reason}{': check the Function itself' * only_moving}"
        return moments or unknown(f"The gradient due to {probe.name} could not be computed: {advice}.")
    finding = _judge(probe, actual, target)
    return (finding.verdict == FAILS and _judge_moments(probe, only_moving=True)) or finding


def _is_hidden(probe: Probe) -> bool:
    """Return whether y depends on the argument, far from x = 0, in a way that autograd does not follow."""
    probe = probe if probe.mixes else probe.move_far()
    x, y = probe.x, probe.y
    if probe.subject.op or probe.forward is None or x.shape != y.shape or y.dtype != x.dtype:
        return False
    g = torch.zeros_like(y)
    g[0], g[-1] = 0.7, 1.3
    target, slope = probe.compute_due(g), probe.differentiate(g)[0]
    if target is None or not bool((slope.abs() < 10).all()):
        return False
    return bool(((target[0] - slope).abs() > 1e-2 * slope.abs() + 1e-4 * x.abs().max()).any())


def _judge_moments(probe: Probe, only_moving: bool) -> Result | None:
    """Return a result on the argument's gradient integrated over all x, with the moving jumps of y.

    Returns None if the test does not apply. With ``only_moving``, it does not apply to a forward that rounds,
    or whose jumps do not move with the argument.
    """
    subject, name = probe.subject, probe.name
    if probe.mixes or subject.seed is not None or subject.trial.dtype != torch.float64:
        return None
    if only_moving and probe.rounds:
        return None
    try:
        actual, target, moves = probe.compute_moments()
        increased = _find_ratio(*probe.compute_moments(0.25)[:2], 0.05, 1e-6)
    except UntriedError:
        return None
    if only_moving and not moves:
        return None
    times = _find_ratio(actual, target, 0.05, 1e-6)
    worst = int((actual - target).abs().sum(1).argmax())
    element, value, due = probe.name_element(probe.elements[worst]), actual[worst, 0], target[worst, 0]
    words = f"Over all x {element} gets {{actual}}, and {{due}} is due, which includes the jumps that move"
    judge, numbers = fails, {"actual": value, "due": due}
    if times is None:
        place = "at the wrong x" + " or index" * (len(actual) > 1)
        return fails(f"{words}: a part is missing, or {place}.", None, value - due, **numbers)
    if _grows_by_root(probe):
        return by_design(f"{name} {_BY_ROOT}")
    if times < 0:
        words += ": turn the sign round"
    elif increased is None or abs(increased - times) > _TOLERANCE * times:
        words += f"; the ratio changes with {name}: a factor that depends on it is missing"
    elif abs(times - 1) < _TOLERANCE:
        judge = holds
    elif _MIN_SCALE <= times <= 1 / _MIN_SCALE:
        words, judge = f"{words}: {{figure}} times as much, whatever {name} is", by_design
    else:
        advice = "Divide by {figure}" if abs(probe.growth - 1) < 1e-3 else "Sum over x, do not average"
        words += f": {{figure}} times as much. {advice}"
    return judge(f"{words}.", None, times, **numbers)


def _follows_x(probe: Probe, sign: str) -> bool:
    """Return whether y depends on x ± argument alone, and both gradients obey the chain rule."""
    subject, x, y, factor = probe.subject, probe.x, probe.y, 1 if sign == "+" else -1
    if probe.actual is None or y.shape != x.shape:
        return False

    def run(element: int, step: float, x: Tensor = x) -> Tensor:
        arguments = [*subject.prepare(x.dtype)]
        arguments[probe.k].view(-1)[element] += step
        return subject.run(x.clone(), tuple(arguments))

    for element in probe.elements:
        columns = ((run(element, 1e3) != y) | (run(element, -1e3) != y)).any(0)
        pairs = [(probe.backpropagate(g), subject.run_both(x, g)[1] * columns) for g in probe.upstreams]
        actual = torch.stack([gradient[element] for gradient, _ in pairs if gradient is not None])
        times = _find_ratio(actual, factor * torch.stack([r.sum() for _, r in pairs]), _EXACT, 0.0)
        if not is_same(run(element, -factor, x + columns), y) or abs((times or 0.0) - 1) > _EXACT:
            return False
    return True


def _grows_by_root(probe: Probe) -> bool:
    return abs(probe.growth * math.sqrt(3) - 1) < 1e-3


def _judge_missing(probe: Probe) -> Result:
    try:
        target = probe.compute_due(probe.upstreams[0])
        is_due = target is not None and bool(target.any())
    except UntriedError:
        moments = _judge_moments(probe, only_moving=False)
        is_due = moments is not None and moments.verdict == FAILS
    if not is_due:
        return by_design(f"Its backward returns None for {probe.name}, and y does not depend on it.")
    if not has_custom_node(probe.subject.open_graph(probe.x)[0]):
        words = f"No gradient of y reaches {probe.name}: the forward detaches it."
        return by_design(f"{words} Fine if it learns from another loss.")
    words = "which requires grad: it never learns. Return its gradient, or pass it detached"
    return fails(f"Its backward returns None for {probe.name}, {words}.")


def _judge(probe: Probe, actual: Tensor, target: Tensor) -> Result:
    times, name = _find_ratio(actual, target, 1e-6, _NOISE), probe.name
    if times is None and _is_bound(probe, actual):
        return by_design(f"{name} learns only from the elements beyond it, as PACT does for a bound.")
    if times is None:
        at = int((actual - target).abs().argmax())
        value, expected = actual.flatten()[at], target.flatten()[at]
        one = probe.name_element(at % actual.shape[1]) if probe.argument.numel() == actual.shape[1] else name
        factor = _find_factor(probe)
        words = f"{one} gets {{value}} where {{due}} is due: a part is missing, or in the wrong place."
        if factor != 1:
            value, words = value / factor, f"Apart from its factor {format_number(factor)}, {words}"
        oracle = "differences of y" if probe.forward is None else "autograd of the forward in plain torch"
        if probe.forward is not None and probe.rounds:
            oracle += ", each round(v) written as v + (round(v) − v).detach()"
        words = f"{words} Compare with {oracle}."
        return fails(words, None, value - expected, value=value, due=expected)
    if bool((target.abs() > _NOISE).any()):
        if _grows_by_root(probe):
            return by_design(f"{name} {_BY_ROOT}", None, times)
        if abs(probe.growth - 1) >= 1e-3:
            words = f"For three times the elements {name} is due three times as much, but it gets {{figure}}"
            return fails(f"{words} times: sum over them, do not average.", None, 3 * probe.growth)
    if abs(times - 1) < _EXACT:
        return holds(f"The gradient of {name} is what autograd of the forward gives.", None, 1.0)
    if times < 0:
        return fails(f"{name} gets {{figure}} times what is due: turn the sign round.", None, times)
    return by_design(f"The gradient of {name} is {{figure}} times what autograd gives.", None, times)


def _find_factor(probe: Probe) -> float:
    """Return the ratio of a number's actual to its due gradient if several elements of y share it, or 1."""
    ratios = list[Tensor]()
    for at in torch.linspace(0, probe.y.numel() - 1, _TRIED).long() if probe.argument.numel() == 1 else ():
        g = torch.zeros_like(probe.y)
        g.view(-1)[at] = 1.0
        actual, target = probe.backpropagate(g), probe.compute_due(g)
        if actual is not None and target is not None:
            is_due = target.flatten().abs() > _NOISE
            ratios.append(actual.flatten()[is_due] / target.flatten()[is_due])
    together = torch.cat(ratios or [torch.empty(0)])
    unit = 10.0 ** together.abs().log10().floor()
    values, counts = torch.unique((together / unit).round(decimals=4) * unit, return_counts=True)
    common = values[counts >= _ALIKE].tolist()
    return common[0] if len(common) == 1 and common[0] else 1.0


def _find_ratio(actual: Tensor, target: Tensor, tolerance: float, noise: float) -> float | None:
    size = float(target.abs().max())
    if size < noise:
        return 1.0 if float(actual.abs().max()) < noise else None
    times = float((actual * target).sum() / target.square().sum())
    off = float((actual - times * target).abs().max())
    return times if times and off <= tolerance * abs(times) * size else None


def _is_bound(probe: Probe, actual: Tensor) -> bool:
    y, bound = probe.y, probe.argument.to(probe.y.dtype).reshape(-1)
    if len(bound) != 1 or not bool((torch.stack([y.amax(), y.amin()]) - bound).abs().min() < 1e-6):
        return False
    # An x that is rounded to the bound is not beyond it and still gets its gradient.
    is_beyond = (probe.subject.run_both(probe.x)[1] == 0) & ((y - bound).abs() < 1e-6)
    target = probe.compute_due(*(g * is_beyond for g in probe.upstreams))
    return target is not None and _find_ratio(actual, target, 1e-6, _NOISE) is not None
