"""Do the arguments that learn get the gradients they are due?"""

import math
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from explorer.catalogue import RULES, Op, Rule
from explorer.checks.curve import Curve
from explorer.checks.due import Probe, learns
from explorer.checks.result import VERDICTS, Finding, by_design, fails, holds, short, unknown
from explorer.foreign import NoGradientError, Subject, UntriedError
from explorer.formula.tree import names
from explorer.gradient import apply

_REPEATS = 3
_CLOSE = 1e-6
_ASIDE = 1e-2  # of an argument and 1: as far from a kink both of its sides are tried


def parameter_gradients(curve: Curve) -> Finding:
    """Each learned argument's gradient against autograd of the forward, rounding passed straight through."""
    subject = curve.subject
    op, rule = subject.op, subject.rule
    if op is None or rule is None or not rule.learned:
        return _of_all(subject)
    if elsewhere := _for_another_op(op, rule):
        return by_design(elsewhere)
    result = _of_all(_teaching(subject, op, rule))
    if result.verdict == "fails" or not any("y" in names(one.parsed.tree) for one in rule.learned):
        return result
    # A formula that tests y instead of x is right for one sign of the parameter, and may be wrong for the
    # other.
    turned = {one.name: -subject.parameters[one.name] for one in rule.learned}
    turned_round = replace(subject, parameters={**subject.parameters, **turned})
    other = _of_all(_teaching(turned_round, op, rule))
    at = ", ".join(f"{name} = {short(value)}" for name, value in turned.items())
    return replace(other, sentence=f"At {at}: {other.sentence}") if other.verdict == "fails" else result


def _for_another_op(op: Op, rule: Rule) -> str:
    """A sentence on why this op cannot judge the rule's parameter gradients; "" where it can."""
    known, taught = set(op.parsed.parameters), {one.name for one in rule.learned}
    shown = {p.name: p.shown for p in rule.parameters}
    absent, unknown_to_it = sorted(shown[name] for name in taught - known), sorted(known - {*shown})
    if not known & taught or (absent and rule.key in RULES):
        return f"It teaches {' and '.join(absent)}, which is not in y: it is made for another op."
    if unknown_to_it and rule.key in RULES:
        return f"It knows nothing of {' and '.join(unknown_to_it)} in y: it is made for another op."
    return ""


def _teaching(pair: Subject, op: Op, rule: Rule) -> Subject:
    """A pair as a function of x and of the parameters that its rule teaches, as tensors."""
    taught = tuple(one.name for one in rule.learned if one.name in op.parsed.parameters)
    numbers = {name: value for name, value in pair.parameters.items() if name not in taught}
    values = (torch.tensor(pair.parameters[name], requires_grad=True) for name in taught)
    forward = op.parsed.varying(taught).bind(numbers)

    def call(x: Tensor, *tensors: Tensor) -> Tensor:
        given: dict[str, Any] = numbers | dict(zip(taught, tensors, strict=True))
        return apply(op, rule, x, **given)

    def plain(x: Tensor, *tensors: Tensor) -> Tensor:
        return forward(x, None, None, dict(zip(taught, tensors, strict=True)))

    return replace(pair, call=call, arguments=tuple(values), plain=plain, names=taught)


def _of_all(subject: Subject) -> Finding:
    learning = [k for k, argument in enumerate(subject.arguments) if learns(argument)]
    if not learning:
        return holds("None of its arguments learns: there is no tensor among them that requires grad.")
    probe = Probe(subject)
    if float(probe.y.amax()) == float(probe.y.amin()):
        return unknown("y is one number here, whatever x is: move the parameters.")
    return min((_of_one(probe, k) for k in learning), key=lambda finding: VERDICTS.index(finding.verdict))


def _of_one(probe: Probe, k: int) -> Finding:
    """The finding on one argument; where it fails at its value alone, that value is a kink."""
    finding = _at_value(probe, k)
    if finding.verdict != "fails":
        return finding
    sides = [_at_value(Probe(_moved(probe.subject, k, sign * _ASIDE)), k) for sign in (-1.0, 1.0)]
    if any(side.verdict not in ("holds", "by design") for side in sides):
        return finding
    name = _begun(_name_of(probe, k))
    below, above = (side.sentence for side in sides)
    beside = f"On both sides: {below}" if below == above else f"Below it: {below} Above it: {above}"
    return by_design(f"{name} starts on a kink of y, where its gradient is one of several. {beside}")


def _moved(subject: Subject, k: int, share: float) -> Subject:
    """The subject with one argument moved by a share of 1 and its size."""
    argument = subject.arguments[k].detach()
    moved = (argument + share * (1 + argument.abs())).requires_grad_()
    return replace(subject, arguments=(*subject.arguments[:k], moved, *subject.arguments[k + 1 :]))


def _name_of(probe: Probe, k: int) -> str:
    return probe.subject.names[k] if probe.subject.names else f"argument {k + 1}"


def _at_value(probe: Probe, k: int) -> Finding:
    name = _name_of(probe, k)
    try:
        got = probe.got(k)
    except NoGradientError as error:
        if "shape" in str(error) or "number of" in str(error):
            return fails(f"With learned arguments {error}: return one gradient for each input, in its shape.")
        raise
    if got is None:
        return _without(probe, k, name)
    try:
        due = probe.due(k)
    except UntriedError as error:
        return unknown(f"What {name} is due could not be computed: {error}.")
    if due is None:
        return unknown(f"What {name} is due could not be computed: the forward hides it from autograd.")
    return _judged(probe, k, name, got, due)


def _begun(name: str) -> str:
    """A name at the beginning of a sentence; that of a parameter stays as it is."""
    return name.capitalize() if " " in name else name


def _without(probe: Probe, k: int, name: str) -> Finding:
    due = probe.due_for(k, probe.upstreams[0])
    if due is None or not bool(due.any()):
        return by_design(f"Its backward returns None for {name}, and y does not depend on it.")
    return fails(
        f"Its backward returns None for {name}, which requires grad: it never learns. Return its gradient, "
        "or pass it detached."
    )


def _judged(probe: Probe, k: int, name: str, mine: Tensor, wanted: Tensor) -> Finding:
    times = _ratio(mine, wanted)
    if times is None:
        if _is_bound(probe, k, mine):
            return by_design(
                f"{_begun(name)} learns from the elements beyond it alone, as PACT has it for a bound."
            )
        return _wrong(name, mine, wanted)
    growth = _growth(probe, k, mine)
    if abs(growth - _REPEATS) < 1e-3:
        if abs(times - 1) < _CLOSE:
            return holds(f"The gradient of {name} is what autograd of the forward gives.", None, 1.0)
        if times < 0:
            words = f"{_begun(name)} gets {short(times)} times what is due: turn the sign round."
            return fails(words, None, times)
        return by_design(f"The gradient of {name} is {short(times)} times what autograd gives.", None, times)
    if abs(growth - math.sqrt(_REPEATS)) < 1e-3:
        words = f"{_begun(name)} gets less the more elements there are, by their root, as LSQ has it."
        return by_design(words, None, times)
    return fails(
        f"Three times the elements owe {name} three times as much, but it gets {short(growth)} times: "
        "sum over them, do not average.", None, growth,
    )  # fmt: skip


def _ratio(mine: Tensor, wanted: Tensor) -> float | None:
    """The constant ratio of two gradients; None where there is none."""
    size = float(wanted.abs().max())
    if size < 1e-12:
        return 1.0 if float(mine.abs().max()) < 1e-9 else None
    times = float((mine * wanted).sum() / wanted.square().sum())
    close = torch.allclose(mine, times * wanted, 1e-6, 1e-6 * size)
    return times if close and times else None


def _growth(probe: Probe, k: int, mine: Tensor) -> float:
    """The growth of the argument's gradient for three times the elements."""
    x = torch.cat([probe.x] * _REPEATS)
    more = probe.got_for(k, x, torch.cat([probe.upstreams[0]] * _REPEATS))
    size = float(mine[0].abs().sum())
    return float(more.abs().sum()) / size if more is not None and size else float(_REPEATS)


def _is_bound(probe: Probe, k: int, mine: Tensor) -> bool:
    """Whether the argument is a bound of y, and learns only from the elements at that bound."""
    argument = probe.subject.arguments[k].detach().to(probe.y.dtype)
    ends = torch.stack([probe.y.amax(), probe.y.amin()])
    if argument.numel() != 1 or not bool((ends - argument.reshape(())).abs().min() < 1e-6):
        return False
    # An x that is rounded to the bound is not beyond it: it still gets its gradient.
    beyond = probe.subject.both(probe.x)[1] == 0
    at_end = beyond & ((probe.y - argument.reshape(())).abs() < 1e-6)
    wanted = probe.due(k, at_end)
    return wanted is not None and _ratio(mine, wanted) is not None


def _wrong(name: str, mine: Tensor, wanted: Tensor) -> Finding:
    at = int((mine - wanted).abs().argmax())
    got, due = float(mine.flatten()[at]), float(wanted.flatten()[at])
    return fails(
        f"{_begun(name)} gets {short(got)} where {short(due)} is due: a part is missing, or in the "
        "wrong place. Compare with autograd of x + (round(x) − x).detach().", None, got - due,
    )  # fmt: skip
