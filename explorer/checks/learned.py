"""Do the arguments that learn get the gradients they are due?"""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from explorer.catalogue import RULES, Op, Rule
from explorer.checks.curve import Curve
from explorer.checks.result import Finding, by_design, fails, holds, short, unknown
from explorer.foreign import NoGradientError, Subject, UntriedError, pulled, said
from explorer.formula.tree import Call, names, walk
from explorer.gradient import apply

_REPEATS = 3
_STAIRS = frozenset(("round", "floor", "ceil", "trunc"))
_CLOSE = 1e-6
_LEAST_DECIDED = 0.5
_ASIDE = 1e-2  # of an argument and 1: as far from a kink both of its sides are tried
_JUMPS = "its forward jumps as the argument moves"
_ROUNDINGS = {getattr(owner, name) for owner in (torch, Tensor) for name in (*_STAIRS, "fix")}
_IN_PLACE: dict[Any, Callable[..., Tensor]] = {
    getattr(owner, f"{name}_"): getattr(torch, name) for owner in (torch, Tensor) for name in _STAIRS
}


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
    learning = [k for k, argument in enumerate(subject.arguments) if _learns(argument)]
    if not learning:
        return holds("None of its arguments learns: there is no tensor among them that requires grad.")
    probe = _Probe(subject)
    if float(probe.y.amax()) == float(probe.y.amin()):
        return unknown("y is one number here, whatever x is: move the parameters.")
    findings = [_of_one(probe, k) for k in learning]
    return min(
        findings, key=lambda finding: ("fails", "unknown", "by design", "holds").index(finding.verdict)
    )


def _learns(argument: Any) -> bool:
    return isinstance(argument, Tensor) and argument.is_floating_point() and argument.requires_grad


class _Probe:
    """The gradients of a subject's learned arguments, actual and due, for the same x and g."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        dtype = subject.trial.dtype
        far = torch.logspace(0.7, 3.0, 10, dtype=dtype)
        self.x = subject.lifted(torch.cat([-far, torch.linspace(-4.0, 4.0, 41, dtype=dtype) + 0.0137, far]))
        self.y = subject.run(self.x.clone())

    @cached_property
    def upstreams(self) -> list[Tensor]:
        """Three upstream gradients, no multiples of each other; 0 where the due gradient is ambiguous."""
        steps = torch.arange(self.y.numel(), dtype=self.y.dtype).reshape(self.y.shape)
        return [((steps * pace).sin() + 0.4) * self._decided for pace in (0.7, 1.9, 3.1)]

    @cached_property
    def _decided(self) -> Tensor:
        """Mask of the x whose gradient is that of autograd through the forward; all 1 if that is rare.

        Rounding before or after clamping is one forward and two masks: between the two the learned
        argument is due one thing or the other.
        """
        everywhere = torch.ones_like(self.y)
        forward = _composed(self.subject)
        if forward is None or not self._rounds or self.y.shape != self.x.shape:
            return everywhere
        mine = self.subject.both(self.x)[1]
        arguments = self.subject.prepared(self.x.dtype)
        leaf = self.x.clone().requires_grad_()
        try:
            with _StraightThrough():
                plain = pulled(forward(leaf.clone(), *arguments), leaf)
        except Exception:
            return everywhere
        same = torch.isclose(mine, plain, 1e-6, 1e-9).to(everywhere)
        return same if float(same.mean()) > _LEAST_DECIDED else everywhere

    @property
    def _rounds(self) -> bool:
        """Whether the forward rounds; True for code that is not inspected."""
        op = self.subject.op
        calls = {part.function for part in walk(op.parsed.tree) if isinstance(part, Call)} if op else _STAIRS
        return bool(calls & _STAIRS)

    def got(self, x: Tensor, g: Tensor) -> list[Tensor | None]:
        """The gradients from the backward, one per argument; None where there is none."""
        return _pulled(self.subject.call, x, self.subject.prepared(x.dtype, learned=True), g)

    def due(self, x: Tensor, g: Tensor) -> list[Tensor | None]:
        """The gradients from autograd of the forward; raises UntriedError where it cannot be followed."""
        arguments = self.subject.prepared(x.dtype, learned=True)
        forward = _composed(self.subject)
        if forward is None:
            return _by_differences(self.subject, x, arguments, g)
        with _StraightThrough():
            return _pulled(forward, x, arguments, g)


def _pulled(
    call: Callable[..., Any], x: Tensor, arguments: tuple[Any, ...], g: Tensor
) -> list[Tensor | None]:
    leaves = [argument for argument in arguments if isinstance(argument, Tensor) and argument.requires_grad]
    leaf = x.clone().requires_grad_()
    shifted = tuple(a.clone() if isinstance(a, Tensor) and a.requires_grad else a for a in arguments)
    try:
        with torch.enable_grad():
            y = call(leaf.clone(), *shifted)
        if not y.requires_grad:
            return [None for _ in arguments]
        gradients = iter(torch.autograd.grad(y, leaves, g, allow_unused=True))
    except Exception as error:
        raise NoGradientError(f"its backward raises {said(error)}") from error
    return [next(gradients) if any(a is leaf for leaf in leaves) else None for a in arguments]


class _Context:
    """Stands in for ctx while a forward runs under autograd: it takes everything and keeps nothing."""

    def __init__(self, inputs: int) -> None:
        self.needs_input_grad = (True,) * inputs

    def __getattr__(self, name: str) -> Callable[..., None]:
        if name.startswith(("save_", "mark_", "set_")):
            return lambda *_: None
        raise AttributeError(name)


def _composed(subject: Subject) -> Callable[..., Any] | None:
    """The forward as plain torch, which autograd follows; None where there is none."""
    return subject.plain or (subject.function and partial(_plain_forward, subject.function))


def _plain_forward(function: type[torch.autograd.Function], x: Tensor, *arguments: Any) -> Any:
    """The code of a Function's forward, run as plain torch."""
    new_style = function.setup_context is not torch.autograd.Function.setup_context
    inputs = (x, *arguments)
    return function.forward(*inputs) if new_style else function.forward(_Context(len(inputs)), *inputs)


class _Rounding(TorchFunctionMode):
    """Tells whether code rounds, inside a Function's forward too."""

    def __init__(self) -> None:
        super().__init__()
        self.rounds = False

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        named = kwargs or {}
        self.rounds |= func in _ROUNDINGS or func in _IN_PLACE or bool(named.get("rounding_mode"))
        return func(*args, **named)


class _StraightThrough(TorchFunctionMode):
    """Rounding as ``x + (round(x) - x).detach()``, as code without a Function writes it."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        named = kwargs or {}
        if func in _IN_PLACE:
            moved = args[0].detach()
            return args[0].add_(_IN_PLACE[func](moved, *args[1:], **named) - moved)
        result = func(*args, **named)
        if func in _ROUNDINGS or named.get("rounding_mode"):
            smooth = args[0] if func in _ROUNDINGS else args[0] / args[1]
            return smooth + (result - smooth).detach()
        return result


def _by_differences(
    subject: Subject, x: Tensor, arguments: tuple[Any, ...], g: Tensor
) -> list[Tensor | None]:
    """Central differences of a callable by its arguments; raises UntriedError where it jumps or rounds."""
    with _Rounding() as rounding, torch.no_grad():
        subject.run(x.clone(), arguments)
    if rounding.rounds:  # between its jumps it is level, whatever gradient is passed straight through
        raise UntriedError(f"{_JUMPS}, as it rounds: check the Function itself")
    gradients: list[Tensor | None] = []
    for k, argument in enumerate(arguments):
        if not (isinstance(argument, Tensor) and argument.requires_grad):
            gradients.append(None)
            continue
        slopes = torch.zeros_like(argument)
        for i in range(argument.numel()):
            wide, fine = (_slope(subject, x, arguments, g, k, i, h) for h in (1e-4, 5e-5))
            if abs(wide - fine) > 1e-4 * (1 + abs(fine)):
                raise UntriedError(f"{_JUMPS}: check the Function itself")
            slopes.view(-1)[i] = fine
        gradients.append(slopes)
    return gradients


def _slope(
    subject: Subject, x: Tensor, arguments: tuple[Any, ...], g: Tensor, k: int, i: int, h: float
) -> float:
    sums = []
    for sign in (1, -1):
        moved = arguments[k].detach().clone()
        moved.view(-1)[i] += sign * h
        with torch.no_grad():
            y = subject.run(x.clone(), (*arguments[:k], moved, *arguments[k + 1 :]))
        sums.append(float((y * g).sum()))
    return (sums[0] - sums[1]) / (2 * h)


def _of_one(probe: _Probe, k: int) -> Finding:
    """The finding on one argument; where it fails at its value alone, that value is a kink."""
    finding = _at_value(probe, k)
    if finding.verdict != "fails":
        return finding
    sides = [_at_value(_Probe(_moved(probe.subject, k, sign * _ASIDE)), k) for sign in (-1.0, 1.0)]
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


def _name_of(probe: _Probe, k: int) -> str:
    return probe.subject.names[k] if probe.subject.names else f"argument {k + 1}"


def _at_value(probe: _Probe, k: int) -> Finding:
    name = _name_of(probe, k)
    try:
        got = [probe.got(probe.x, g)[k] for g in probe.upstreams]
    except NoGradientError as error:
        if "shape" in str(error) or "number of" in str(error):
            return fails(f"With learned arguments {error}: return one gradient for each input, in its shape.")
        raise
    if any(one is None for one in got):
        return _without(probe, k, name)
    mine = torch.stack([one for one in got if one is not None])
    try:
        due = [probe.due(probe.x, g)[k] for g in probe.upstreams]
    except UntriedError as error:
        return unknown(f"What {name} is due could not be computed: {error}.")
    if any(one is None for one in due):
        return unknown(f"What {name} is due could not be computed: the forward hides it from autograd.")
    wanted = torch.stack([one for one in due if one is not None])
    return _judged(probe, k, name, mine, wanted)


def _begun(name: str) -> str:
    """A name at the beginning of a sentence; that of a parameter stays as it is."""
    return name.capitalize() if " " in name else name


def _without(probe: _Probe, k: int, name: str) -> Finding:
    due = probe.due(probe.x, probe.upstreams[0])[k]
    if due is None or not bool(due.any()):
        return by_design(f"Its backward returns None for {name}, and y does not depend on it.")
    return fails(
        f"Its backward returns None for {name}, which requires grad: it never learns. Return its gradient, "
        "or pass it detached."
    )


def _judged(probe: _Probe, k: int, name: str, mine: Tensor, wanted: Tensor) -> Finding:
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


def _growth(probe: _Probe, k: int, mine: Tensor) -> float:
    """The growth of the argument's gradient for three times the elements."""
    x = torch.cat([probe.x] * _REPEATS)
    more = probe.got(x, torch.cat([probe.upstreams[0]] * _REPEATS))[k]
    size = float(mine[0].abs().sum())
    return float(more.abs().sum()) / size if more is not None and size else float(_REPEATS)


def _is_bound(probe: _Probe, k: int, mine: Tensor) -> bool:
    """Whether the argument is a bound of y, and learns only from the elements at that bound."""
    argument = probe.subject.arguments[k].detach().to(probe.y.dtype)
    ends = torch.stack([probe.y.amax(), probe.y.amin()])
    if argument.numel() != 1 or not bool((ends - argument.reshape(())).abs().min() < 1e-6):
        return False
    # An x that is rounded to the bound is not beyond it: it still gets its gradient.
    beyond = probe.subject.both(probe.x)[1] == 0
    at_end = beyond & ((probe.y - argument.reshape(())).abs() < 1e-6)
    due = [probe.due(probe.x, g * at_end)[k] for g in probe.upstreams]
    wanted = torch.stack([one for one in due if one is not None])
    return len(wanted) == len(mine) and _ratio(mine, wanted) is not None


def _wrong(name: str, mine: Tensor, wanted: Tensor) -> Finding:
    at = int((mine - wanted).abs().argmax())
    got, due = float(mine.flatten()[at]), float(wanted.flatten()[at])
    return fails(
        f"{_begun(name)} gets {short(got)} where {short(due)} is due: a part is missing, or in the "
        "wrong place. Compare with autograd of x + (round(x) − x).detach().", None, got - due,
    )  # fmt: skip
