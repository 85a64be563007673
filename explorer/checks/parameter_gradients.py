"""Do learned arguments get the gradients that are due to them?"""

import math
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from explorer.catalogue import RULES, Op, Rule
from explorer.checks.argument_gradients import Probe, is_learned, is_rounding
from explorer.checks.curve import Curve
from explorer.checks.moments import compute_moments, move_argument
from explorer.checks.result import VERDICTS, Result, by_design, fails, format_number, holds, unknown
from explorer.checks.shapes import find_custom_node
from explorer.curves.foreign import NoGradientError, Subject, UntriedError
from explorer.formula.tree import find_names
from explorer.gradient import apply

_REPEATS = 3  # times the elements, to see how a gradient grows
_EXACT = 1e-6  # relative, of gradients by autograd
_TOLERANCE = 0.03  # relative, of integrals
_NOISE = 1e-9  # a due gradient by differences below this is 0
_MIN_SCALE = 0.25  # a gradient from this to its inverse times the due one is a choice of scale
_SIDE_STEP = 1e-2  # times 1 + |argument|: how far from a kink both sides are tried


def check_parameter_gradients(curve: Curve) -> Result:
    """Return whether each learned argument gets the gradient that follows from the forward."""
    subject = curve.subject
    op, rule = subject.op, subject.rule
    if op is None or rule is None or not rule.learned:
        return _check_all(subject, bool(curve.traits.dependence))
    if mismatch := _explain_mismatch(op, rule):
        return by_design(mismatch)
    result = _check_all(_make_learnable(subject, op, rule))
    if result.verdict == "fails" or not any("y" in find_names(single.parsed.tree) for single in rule.learned):
        return result
    # A formula that tests y instead of x may be right for one sign of the parameter alone.
    negated = {single.name: -subject.parameters[single.name] for single in rule.learned}
    negated_subject = replace(subject, parameters={**subject.parameters, **negated})
    other = _check_all(_make_learnable(negated_subject, op, rule))
    at = ", ".join(f"{name} = {format_number(value)}" for name, value in negated.items())
    return replace(other, sentence=f"At {at}: {other.sentence}") if other.verdict == "fails" else result


def _explain_mismatch(op: Op, rule: Rule) -> str:
    """Return why the rule's parameter gradients do not apply to the op, as a sentence; "" if they do."""
    known, learned = set(op.parsed.parameters), {single.name for single in rule.learned}
    shown = {p.name: p.display_name for p in rule.parameters}
    absent, foreign = sorted(shown[name] for name in learned - known), sorted(known - {*shown})
    if not known & learned or (absent and rule.key in RULES):
        return f"Its gradient for {' and '.join(absent)}, which is not in y, is made for another op."
    if foreign and rule.key in RULES:
        return f"It does not use {' and '.join(foreign)}, which is in y: it is made for another op."
    return ""


def _make_learnable(pair: Subject, op: Op, rule: Rule) -> Subject:
    """Return a pair as a function of x and of tensors, the parameters for which its rule has a gradient."""
    learned = tuple(single.name for single in rule.learned if single.name in op.parsed.parameters)
    numbers = {name: value for name, value in pair.parameters.items() if name not in learned}
    values = (torch.tensor(pair.parameters[name], requires_grad=True) for name in learned)
    forward = op.parsed.with_tensors(learned).bind(numbers)

    def call(x: Tensor, *tensors: Tensor) -> Tensor:
        given: dict[str, Any] = numbers | dict(zip(learned, tensors, strict=True))
        return apply(op, rule, x, **given)

    def run_plain(x: Tensor, *tensors: Tensor) -> Tensor:
        return forward(x, None, None, dict(zip(learned, tensors, strict=True)))

    return replace(pair, call=call, arguments=tuple(values), plain=run_plain, names=learned)


def _check_all(subject: Subject, mixes: bool = False) -> Result:
    learning = [k for k, argument in enumerate(subject.arguments) if is_learned(argument)]
    if not learning:
        return holds("None of its arguments learns: none is a tensor that requires grad.")
    probe = Probe(subject, mixes)
    if float(probe.y.amax()) == float(probe.y.amin()):
        return unknown("y is constant for these parameters: move the parameters.")
    findings = (_check_argument(probe, k) for k in learning)
    return min(findings, key=lambda finding: VERDICTS.index(finding.verdict))


def _check_argument(probe: Probe, k: int) -> Result:
    """Return the finding on one argument; if it fails at its value but on neither side, it is on a kink."""
    finding = _check_at_value(probe, k)
    if finding.verdict != "fails":
        return finding
    argument = probe.subject.arguments[k].detach()
    sides = []
    for share in (-_SIDE_STEP, _SIDE_STEP):
        moved = move_argument(probe.subject, k, argument + share * (1 + argument.abs()))
        sides.append(_check_at_value(Probe(moved, probe.mixes), k))
    if any(side.verdict not in ("holds", "by design") for side in sides):
        return finding
    below, above = (side.sentence for side in sides)
    sentence = f"On both sides: {below}" if below == above else f"Below it: {below} Above it: {above}"
    name = _capitalize(_name_argument(probe, k))
    return by_design(f"{name} starts on a kink of y, where its gradient is ambiguous. {sentence}")


def _name_argument(probe: Probe, k: int) -> str:
    return probe.subject.names[k] if probe.subject.names else f"argument {k + 1}"


def _capitalize(name: str) -> str:
    """Return a name for the start of a sentence: “Argument 2”, but a parameter's name unchanged."""
    return name.capitalize() if " " in name else name


def _check_at_value(probe: Probe, k: int) -> Result:
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
        return fails(f"{_capitalize(name)} gets a gradient even if g is 0: multiply by g.")
    try:
        expected, reason = probe.stack_due(k), "the forward hides it from autograd"
    except UntriedError as error:
        expected, reason = None, str(error)
    if expected is None or _is_hidden(probe, k):
        moments = _judge_moments(probe, k, name, only_moving="hides" not in reason)
        return moments or unknown(f"The gradient due to {name} could not be computed: {reason}.")
    finding = _judge(probe, k, name, actual, expected)
    return (finding.verdict == "fails" and _judge_moments(probe, k, name, only_moving=True)) or finding


def _is_hidden(probe: Probe, k: int) -> bool:
    """Return whether y at far x changes with the argument differently from autograd of the forward."""
    subject, argument = probe.subject, probe.subject.arguments[k].detach().to(probe.x.dtype)
    if (
        subject.op is not None
        or probe.forward is None
        or probe.x.shape != probe.y.shape
        or probe.y.dtype != probe.x.dtype
    ):
        return False
    g = torch.zeros_like(probe.y)
    g[0], g[-1] = 0.7, 1.3
    expected, sums = probe.compute_due(k, g), []
    for step in (1e-5, -1e-5):
        arguments = move_argument(subject, k, argument + step).prepare(probe.x.dtype)
        with torch.no_grad():
            sums.append(float((subject.run(probe.x, arguments) * g).sum()))
    slope = (sums[0] - sums[1]) / 2e-5
    if expected is None or not math.isfinite(slope) or abs(slope) >= 10:
        return False
    return abs(float(expected.sum()) - slope) > 1e-2 * abs(slope) + 1e-4 * float(probe.x.abs().max())


def _judge_moments(probe: Probe, k: int, name: str, only_moving: bool = False) -> Result | None:
    """Return the finding on the gradient over all x, jumps of y included; None if it does not apply.

    ``only_moving``: return None for a forward that rounds, or whose jumps do not move with the argument.
    """
    subject = probe.subject
    if probe.mixes or subject.seed is not None or subject.trial.dtype != torch.float64:
        return None
    if only_moving and is_rounding(subject, probe.x, subject.prepare(probe.x.dtype)):
        return None
    try:
        moments, increased = compute_moments(subject, k), compute_moments(subject, k, 0.25).ratio
    except UntriedError:
        return None
    if only_moving and not moments.moves:
        return None
    times, gradient = moments.ratio, probe.stack_gradients(k)
    actual, expected = (format_number(float(item[0])) for item in (moments.actual, moments.expected))
    words = f"Over all x {name} gets {actual}, and {expected} is due, which includes the jumps that move"
    if times and gradient is not None and _grows_by_root(_measure_growth(probe, k)):
        return _describe_root(name)
    if times is None:
        off = float(moments.actual[0] - moments.expected[0])
        return fails(f"{words}: a part is missing, or at the wrong x.", None, off)
    if times < 0:
        return fails(f"{words}: turn the sign round.", None, times)
    if abs(times - 1) < _TOLERANCE and increased is not None and abs(increased - 1) < _TOLERANCE:
        return holds(f"{words}.", None, times)
    if increased is None or abs(increased - times) > _TOLERANCE * times:
        reason = f"the ratio changes with {name}: a factor that depends on it is missing"
        return fails(f"{words}; {reason}.", None, times)
    words = f"{words}: {format_number(times)} times as much"
    if _MIN_SCALE <= times <= 1 / _MIN_SCALE:
        return by_design(f"{words}, whatever {name} is.", None, times)
    return fails(f"{words}. Divide by the width of the band.", None, times)


def _grows_by_root(growth: float) -> bool:
    return abs(growth - math.sqrt(_REPEATS)) < 1e-3


def _describe_root(name: str, times: float | None = None) -> Result:
    words = f"{_capitalize(name)} gets a gradient divided by the root of the number of elements, as in LSQ."
    return by_design(words, None, times)


def _judge_missing(probe: Probe, k: int, name: str) -> Result:
    try:
        expected = probe.compute_due(k, probe.upstreams[0])
    except UntriedError:
        expected = None
    moves = expected is None and (moments := _judge_moments(probe, k, name)) and moments.verdict == "fails"
    if not moves and (expected is None or not bool(expected.any())):
        return by_design(f"Its backward returns None for {name}, and y does not depend on it.")
    if find_custom_node(probe.subject.run(probe.x.clone().requires_grad_())) is None:
        words = (
            f"No gradient of y reaches {name}: the forward detaches it. Fine if it learns from another loss."
        )
        return by_design(words)
    words = f"Its backward returns None for {name}, which requires grad: it never learns"
    return fails(f"{words}. Return its gradient, or pass it detached.")


def _judge(probe: Probe, k: int, name: str, actual: Tensor, due: Tensor) -> Result:
    times, first = _find_ratio(actual, due), _capitalize(name)
    if times is None and _is_bound(probe, k, actual):
        return by_design(f"{first} learns only from the elements beyond it, as PACT does for a bound.")
    if times is None:
        at = int((actual - due).abs().argmax())
        value, expected = float(actual.flatten()[at]), float(due.flatten()[at])
        words = f"{first} gets {format_number(value)} where {format_number(expected)} is due"
        words = f"{words}: a part is missing, or in the wrong place. Compare with {_name_oracle(probe)}"
        return fails(f"{words}.", None, value - expected)
    is_due = not probe.mixes and bool((due.abs() > _NOISE).any())
    growth = _measure_growth(probe, k) if is_due else float(_REPEATS)
    if _grows_by_root(growth):
        return _describe_root(name, times)
    if abs(growth - _REPEATS) >= 1e-3:
        words = f"For three times the elements {name} is due three times as much"
        words = f"{words}, but it gets {format_number(growth)} times: sum over them, do not average"
        return fails(f"{words}.", None, growth)
    if abs(times - 1) < _EXACT:
        return holds(f"The gradient of {name} is what autograd of the forward gives.", None, 1.0)
    if times < 0:
        words = f"{first} gets {format_number(times)} times what is due: turn the sign round."
        return fails(words, None, times)
    words = f"The gradient of {name} is {format_number(times)} times what autograd gives."
    return by_design(words, None, times)


def _name_oracle(probe: Probe) -> str:
    """Return how the due gradient was computed, so that a user can repeat it."""
    subject = probe.subject
    if probe.forward is None:
        return "differences of y"
    if is_rounding(subject, probe.x, subject.prepare(probe.x.dtype)):
        return "autograd of the forward in plain torch, each round(v) written as v + (round(v) − v).detach()"
    return "autograd of the forward in plain torch"


def _find_ratio(actual: Tensor, due: Tensor) -> float | None:
    """Return the constant ratio of two gradients; None if there is none."""
    size = float(due.abs().max())
    if size < _NOISE:
        return 1.0 if float(actual.abs().max()) < _NOISE else None
    times = float((actual * due).sum() / due.square().sum())
    return times if torch.allclose(actual, times * due, 1e-6, 1e-6 * size) and times else None


def _measure_growth(probe: Probe, k: int) -> float:
    """Return the factor by which the argument's gradient grows for three times the elements."""
    once = probe.pull_argument(k, probe.x, probe.upstreams[0])
    x, g = (torch.cat([each] * _REPEATS) for each in (probe.x, probe.upstreams[0]))
    more = probe.pull_argument(k, x, g)
    size = 0.0 if once is None else float(once.abs().sum())
    return float(more.abs().sum()) / size if more is not None and size else float(_REPEATS)


def _is_bound(probe: Probe, k: int, actual: Tensor) -> bool:
    """Return whether the argument is a bound of y, and learns only from the elements at that bound."""
    argument = probe.subject.arguments[k].detach().to(probe.y.dtype)
    ends = torch.stack([probe.y.amax(), probe.y.amin()])
    if argument.numel() != 1 or not bool((ends - argument.reshape(())).abs().min() < 1e-6):
        return False
    # An x that is rounded to the bound is not beyond it: it still gets its gradient.
    beyond = probe.subject.run_both(probe.x)[1] == 0
    due = probe.stack_due(k, beyond & ((probe.y - argument.reshape(())).abs() < 1e-6))
    return due is not None and _find_ratio(actual, due) is not None
