"""Do the arguments that learn get the gradients they are due?"""

import math
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from explorer.catalogue import RULES, Op, Rule
from explorer.checks.curve import Curve
from explorer.checks.due import Probe, is_learned, is_rounding
from explorer.checks.integrated import Moments, integrate_argument
from explorer.checks.result import VERDICTS, Finding, by_design, fails, format_number, holds, unknown
from explorer.checks.shapes import find_custom_node
from explorer.curves.foreign import NoGradientError, Subject, UntriedError
from explorer.formula.tree import names
from explorer.gradient import apply

_REPEATS = 3
_CLOSE = 1e-6
_NEAR = 0.03  # relative, of integrals
_LEAST = 0.25  # a gradient between this and its inverse times the due one is a choice
_ASIDE = 1e-2  # of an argument and 1: as far from a kink both sides are tried


def check_parameter_gradients(curve: Curve) -> Finding:
    """Return whether each learned argument gets the gradient that the forward owes it."""
    subject = curve.subject
    op, rule = subject.op, subject.rule
    if op is None or rule is None or not rule.learned:
        return _check_all(subject)
    if elsewhere := _find_other_op(op, rule):
        return by_design(elsewhere)
    result = _check_all(_make_learnable(subject, op, rule))
    if result.verdict == "fails" or not any("y" in names(single.parsed.tree) for single in rule.learned):
        return result
    # A formula that tests y instead of x is right for one sign of the parameter, and may be wrong for the
    # other.
    turned = {single.name: -subject.parameters[single.name] for single in rule.learned}
    turned_round = replace(subject, parameters={**subject.parameters, **turned})
    other = _check_all(_make_learnable(turned_round, op, rule))
    at = ", ".join(f"{name} = {format_number(value)}" for name, value in turned.items())
    return replace(other, sentence=f"At {at}: {other.sentence}") if other.verdict == "fails" else result


def _find_other_op(op: Op, rule: Rule) -> str:
    """Return why this op cannot judge the rule's parameter gradients, as a sentence; "" if it can."""
    found_rule, learned_names = set(op.parsed.parameters), {single.name for single in rule.learned}
    shown = {p.name: p.shown for p in rule.parameters}
    absent, unknown_to_it = (
        sorted(shown[name] for name in learned_names - found_rule),
        sorted(found_rule - {*shown}),
    )
    if not found_rule & learned_names or (absent and rule.key in RULES):
        return f"It teaches {' and '.join(absent)}, which is not in y: it is made for another op."
    if unknown_to_it and rule.key in RULES:
        return f"It knows nothing of {' and '.join(unknown_to_it)} in y: it is made for another op."
    return ""


def _make_learnable(pair: Subject, op: Op, rule: Rule) -> Subject:
    """Return a pair as a function of x and of the parameters that its rule teaches, as tensors."""
    learned_names = tuple(single.name for single in rule.learned if single.name in op.parsed.parameters)
    numbers = {name: value for name, value in pair.parameters.items() if name not in learned_names}
    values = (torch.tensor(pair.parameters[name], requires_grad=True) for name in learned_names)
    forward = op.parsed.varying(learned_names).bind(numbers)

    def call(x: Tensor, *tensors: Tensor) -> Tensor:
        given: dict[str, Any] = numbers | dict(zip(learned_names, tensors, strict=True))
        return apply(op, rule, x, **given)

    def run_plain(x: Tensor, *tensors: Tensor) -> Tensor:
        return forward(x, None, None, dict(zip(learned_names, tensors, strict=True)))

    return replace(pair, call=call, arguments=tuple(values), plain=run_plain, names=learned_names)


def _check_all(subject: Subject) -> Finding:
    learning = [k for k, argument in enumerate(subject.arguments) if is_learned(argument)]
    if not learning:
        return holds("None of its arguments learns: there is no tensor among them that requires grad.")
    probe = Probe(subject)
    if float(probe.y.amax()) == float(probe.y.amin()):
        return unknown("y is one number here, whatever x is: move the parameters.")
    return min(
        (_check_argument(probe, k) for k in learning), key=lambda finding: VERDICTS.index(finding.verdict)
    )


def _check_argument(probe: Probe, k: int) -> Finding:
    """Return the finding on one argument; if it fails at its value alone, that value is a kink."""
    finding = _check_at_value(probe, k)
    if finding.verdict != "fails":
        return finding
    sides = [_check_at_value(Probe(_move(probe.subject, k, sign * _ASIDE)), k) for sign in (-1.0, 1.0)]
    if any(side.verdict not in ("holds", "by design") for side in sides):
        return finding
    name = _write_first(_name_argument(probe, k))
    below, above = (side.sentence for side in sides)
    beside = f"On both sides: {below}" if below == above else f"Below it: {below} Above it: {above}"
    return by_design(f"{name} starts on a kink of y, where its gradient is one of several. {beside}")


def _move(subject: Subject, k: int, share: float) -> Subject:
    """Return the subject with one argument moved by a share of 1 and its size."""
    argument = subject.arguments[k].detach()
    moved = (argument + share * (1 + argument.abs())).requires_grad_()
    return replace(subject, arguments=(*subject.arguments[:k], moved, *subject.arguments[k + 1 :]))


def _name_argument(probe: Probe, k: int) -> str:
    return probe.subject.names[k] if probe.subject.names else f"argument {k + 1}"


def _check_at_value(probe: Probe, k: int) -> Finding:
    name = _name_argument(probe, k)
    try:
        actual = probe.stack_gradients(k)
    except NoGradientError as error:
        if "shape" in str(error) or "number of" in str(error):
            return fails(f"With learned arguments {error}: return one gradient for each input, in its shape.")
        raise
    if actual is None:
        return _judge_missing(probe, k, name)
    zero = probe.pull_argument(k, probe.x, torch.zeros_like(probe.y))
    if zero is not None and float(zero.abs().max()) > 1e-9 * float(actual.abs().max()):
        return fails(f"{_write_first(name)} gets a gradient even if g is 0: multiply by g.")
    try:
        expected = probe.stack_due(k)
    except UntriedError as error:
        return _judge_moments(probe, k, name, only_moving=True) or unknown(
            f"What {name} is due could not be computed: {error}."
        )
    if expected is None or _is_hidden(probe, k):
        return _judge_moments(probe, k, name) or unknown(
            f"What {name} is due could not be computed: the forward hides it from autograd."
        )
    finding = _judge(probe, k, name, actual, expected)
    return (finding.verdict == "fails" and _judge_moments(probe, k, name, only_moving=True)) or finding


def _is_hidden(probe: Probe, k: int) -> bool:
    """Return whether y at far x moves with the argument otherwise than autograd of the forward says."""
    subject, argument = probe.subject, probe.subject.arguments[k].detach().to(probe.x.dtype)
    if subject.op is not None or probe.x.shape != probe.y.shape or probe.y.dtype != probe.x.dtype:
        return False
    g = torch.zeros_like(probe.y)
    g[0], g[-1] = 0.7, 1.3
    expected = probe.compute_due(k, g)
    ys = []
    for sign in (1.0, -1.0):
        moved = (*subject.arguments[:k], argument + sign * 1e-5, *subject.arguments[k + 1 :])
        with torch.no_grad():
            ys.append(
                (subject.run(probe.x, replace(subject, arguments=moved).prepare(probe.x.dtype)) * g).sum()
            )
    slope = float(ys[0] - ys[1]) / 2e-5
    size = abs(slope) + float(probe.x.abs().max()) * 0.01
    return (
        expected is not None
        and math.isfinite(slope)
        and abs(slope) < 10
        and abs(float(expected.sum()) - slope) > 1e-2 * size
    )


def _judge_moments(probe: Probe, k: int, name: str, only_moving: bool = False) -> Finding | None:
    """Return the finding on the gradient over all x, jumps of y included; None if it does not apply.

    ``only_moving``: give None for a forward that rounds, or whose jumps do not move with the argument.
    """
    subject = probe.subject
    if probe.x.shape != probe.y.shape or subject.seed is not None or subject.trial.dtype != torch.float64:
        return None
    if only_moving and is_rounding(subject, probe.x, subject.prepare(probe.x.dtype)):
        return None
    try:
        moments = integrate_argument(subject, k)
        further = integrate_argument(subject, k, 0.25)
    except UntriedError:
        return None
    if only_moving and not moments.moves:
        return None
    return _compare_moments(probe, k, name, moments, further)


def _compare_moments(probe: Probe, k: int, name: str, moments: Moments, further: Moments) -> Finding:
    times, there = moments.ratio, further.ratio
    actual, expected = (format_number(float(item[0])) for item in (moments.actual, moments.expected))
    words = f"Over all x {name} gets {actual}, and {expected} is due, jump times density of x included"
    gradient = probe.stack_gradients(k)
    if (
        times
        and gradient is not None
        and abs(_measure_growth(probe, k, gradient) - math.sqrt(_REPEATS)) < 1e-3
    ):
        return by_design(
            f"{_write_first(name)} gets less the more elements there are, by their root, as LSQ has it."
        )
    if times is None:
        return fails(
            f"{words}: a part is missing, or at the wrong x.",
            None,
            float(moments.actual[0] - moments.expected[0]),
        )
    if times < 0:
        return fails(f"{words}: turn the sign round.", None, times)
    if abs(times - 1) < _NEAR and there is not None and abs(there - 1) < _NEAR:
        return holds(f"{words}.", None, times)
    if there is None or abs(there - times) > _NEAR * times:
        return fails(
            f"{words}; the factor changes with {name}: one that depends on it is missing.", None, times
        )
    if _LEAST <= times <= 1 / _LEAST:
        return by_design(f"{words}: {format_number(times)} times as much, whatever {name} is.", None, times)
    return fails(
        f"{words}: {format_number(times)} times as much. Divide by the width of the band.", None, times
    )


def _write_first(name: str) -> str:
    """Return a name at the beginning of a sentence; that of a parameter is unchanged."""
    return name.capitalize() if " " in name else name


def _judge_missing(probe: Probe, k: int, name: str) -> Finding:
    try:
        expected = probe.compute_due(k, probe.upstreams[0])
    except UntriedError:
        expected = None
    moves = expected is None and (moments := _judge_moments(probe, k, name)) and moments.verdict == "fails"
    if not moves and (expected is None or not bool(expected.any())):
        return by_design(f"Its backward returns None for {name}, and y does not depend on it.")
    if find_custom_node(probe.subject.run(probe.x.clone().requires_grad_())) is None:
        return by_design(
            f"No gradient of y reaches {name}: the forward detaches it. Meant if it learns from another loss."
        )
    return fails(
        f"Its backward returns None for {name}, which requires grad: it never learns. Return its gradient, "
        "or pass it detached."
    )


def _judge(probe: Probe, k: int, name: str, returned_gradient: Tensor, wanted: Tensor) -> Finding:
    times = _find_ratio(returned_gradient, wanted)
    if times is None:
        if _is_bound(probe, k, returned_gradient):
            return by_design(
                f"{_write_first(name)} learns from the elements beyond it alone, as PACT has it for a bound."
            )
        return _describe_fault(name, returned_gradient, wanted)
    growth = _measure_growth(probe, k, returned_gradient)
    if abs(growth - _REPEATS) < 1e-3:
        if abs(times - 1) < _CLOSE:
            return holds(f"The gradient of {name} is what autograd of the forward gives.", None, 1.0)
        if times < 0:
            words = (
                f"{_write_first(name)} gets {format_number(times)} times what is due: turn the sign round."
            )
            return fails(words, None, times)
        return by_design(
            f"The gradient of {name} is {format_number(times)} times what autograd gives.", None, times
        )
    if abs(growth - math.sqrt(_REPEATS)) < 1e-3:
        words = f"{_write_first(name)} gets less the more elements there are, by their root, as LSQ has it."
        return by_design(words, None, times)
    return fails(
        f"Three times the elements owe {name} three times as much, but it gets {format_number(growth)} "
        f"times: "
        "sum over them, do not average.", None, growth,
    )  # fmt: skip


def _find_ratio(returned_gradient: Tensor, wanted: Tensor) -> float | None:
    """Return the constant ratio of two gradients; None if there is none."""
    size = float(wanted.abs().max())
    if size < 1e-12:
        return 1.0 if float(returned_gradient.abs().max()) < 1e-9 else None
    times = float((returned_gradient * wanted).sum() / wanted.square().sum())
    close = torch.allclose(returned_gradient, times * wanted, 1e-6, 1e-6 * size)
    return times if close and times else None


def _measure_growth(probe: Probe, k: int, returned_gradient: Tensor) -> float:
    """Return the growth of the argument's gradient for three times the elements."""
    x = torch.cat([probe.x] * _REPEATS)
    more = probe.pull_argument(k, x, torch.cat([probe.upstreams[0]] * _REPEATS))
    size = float(returned_gradient[0].abs().sum())
    return float(more.abs().sum()) / size if more is not None and size else float(_REPEATS)


def _is_bound(probe: Probe, k: int, returned_gradient: Tensor) -> bool:
    """Return whether the argument is a bound of y, and learns only from the elements at that bound."""
    argument = probe.subject.arguments[k].detach().to(probe.y.dtype)
    ends = torch.stack([probe.y.amax(), probe.y.amin()])
    if argument.numel() != 1 or not bool((ends - argument.reshape(())).abs().min() < 1e-6):
        return False
    # An x that is rounded to the bound is not beyond it: it still gets its gradient.
    deviating = probe.subject.run_both(probe.x)[1] == 0
    at_end = deviating & ((probe.y - argument.reshape(())).abs() < 1e-6)
    wanted = probe.stack_due(k, at_end)
    return wanted is not None and _find_ratio(returned_gradient, wanted) is not None


def _describe_fault(name: str, returned_gradient: Tensor, wanted: Tensor) -> Finding:
    at = int((returned_gradient - wanted).abs().argmax())
    actual, expected = float(returned_gradient.flatten()[at]), float(wanted.flatten()[at])
    return fails(
        f"{_write_first(name)} gets {format_number(actual)} where {format_number(expected)} is due: a part "
        "is missing, or in the "
        "wrong place. Compare with autograd of x + (round(x) − x).detach().", None, actual - expected,
    )  # fmt: skip
