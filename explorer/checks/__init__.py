"""Is this rule what it claims to be? Checks of a backward rule, the catalogue's or anybody's own.

``assert not explorer.check(MyFunction, 0.5).failures`` reads well in anybody's tests.
"""

import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from torch import Tensor

from explorer.catalogue import SQUARE, Op, Rule, beside, checked, find_loss, find_op, find_rule, frozen
from explorer.catalogue.losses import FROZEN_U
from explorer.checks.at_kinks import at_kinks
from explorer.checks.autocasting import autocast
from explorer.checks.compiling import compiled
from explorer.checks.curve import Curve
from explorer.checks.derivative import true_derivative
from explorer.checks.devices import devices
from explorer.checks.doubly import double_backward
from explorer.checks.drawing import draw_fits, unbiased
from explorer.checks.finiteness import finite
from explorer.checks.learned import parameter_gradients
from explorer.checks.linearity import linear_in_g
from explorer.checks.memory import memory
from explorer.checks.repetition import deterministic
from explorer.checks.result import VERDICTS, Result, Results, fails, unknown
from explorer.checks.running import TRACING_LIMIT_S, Check, result_of
from explorer.checks.shapes import dtype_and_shape
from explorer.checks.transforms import transforms
from explorer.checks.weight import antiderivative, area
from explorer.foreign import (
    TIME_LIMIT_S,
    ForwardError,
    HungError,
    Subject,
    UntriedError,
    own_subject,
    pair_subject,
    within,
)

__all__ = ["CHECKS", "VERDICTS", "Check", "Result", "Results", "assert_rule", "check", "check_pair"]

CHECKS = (
    Check("true derivative", "Is it the derivative of the op?", true_derivative, in_app=True, of="fixed"),
    Check(
        "linear in g", "Does twice the upstream gradient give twice the gradient?", linear_in_g, in_app=True
    ),
    Check("finite", "Is it a number everywhere, in every dtype?", finite, in_app=True, repeats=False),
    Check("kinks", "What is it exactly at a kink?", at_kinks, in_app=True, of="fixed"),
    Check("area", "Does it weigh what the op's jumps weigh?", area, in_app=True, of="fixed"),
    Check(
        "antiderivative", "Does its integral go along with the op?", antiderivative, in_app=True, of="fixed"
    ),
    Check("dtype and shape", "Are dtype and shape kept?", dtype_and_shape, in_app=True, repeats=False),
    Check(
        "parameter gradients",
        "Do learned arguments get what they are due?",
        parameter_gradients,
        in_app=True,
        if_learned=True,
    ),
    Check("memory", "Does it leave x and g alone, in any layout?", memory),
    Check("double backward", "Is its own gradient right?", double_backward, in_app=True),
    Check("transforms", "Do torch.func's vmap, grad and jvp work?", transforms, limit_s=TRACING_LIMIT_S),
    Check("compile", "Does torch.compile keep it?", compiled, limit_s=TRACING_LIMIT_S),
    Check("autocast", "Does it work under autocast?", autocast),
    Check("devices", "Does it follow x to another device?", devices, repeats=False),
    Check("deterministic", "Does it give the same twice?", deterministic, repeats=False),
    Check("draw fits", "Does the rule see the op's own draw?", draw_fits, in_app=True, of="drawn"),
    Check("unbiased", "Is it right on average?", unbiased, in_app=True, of="drawn"),
)


def check(subject: Any, *arguments: Any, input: Tensor | None = None, **parameters: Any) -> Results:
    """Check a backward rule: an op with a rule of the catalogue, or a function of one's own.

    Args:
        subject: key of ``OPS`` or ``"formula: …"``, with the key of a rule as second argument and parameters
            as keywords, as for ``explorer.apply``; or an ``autograd.Function`` class, a module or a
            callable that takes x, with the arguments that follow x. Tensors among them that require grad
            are taken for learned; the caller's own are left alone.
        input: an example of x for a function that needs one of a shape; its first dimension counts elements
            that are tried.

    Returns:
        One result a check that asks about it, in the order of ``explorer.checks.CHECKS``, with name, verdict,
        sentence, where and figure; ``.failures`` are those whose verdict is "fails". A function runs in this
        process, each check with a time limit; whatever it raises becomes "unknown" with the reason.

    Raises:
        ValueError, FormulaError: a key or parameter of a pair that is none, an input that is no tensor.
            Nothing for a function, whatever it does.
    """
    is_pair = isinstance(subject, str | Op)
    if input is not None and (is_pair or not isinstance(input, Tensor)):
        raise ValueError("input is an example of x, a tensor, for a function of your own")
    if is_pair:
        return _checked_pair(CHECKS, subject, *arguments, parameters=parameters)
    own = own_subject(subject, arguments, parameters, input)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _checked_own(own)


def assert_rule(subject: Any, *arguments: Any, input: Tensor | None = None, **parameters: Any) -> None:
    """Raise AssertionError where a check of a backward rule fails: for anybody's tests.

    Arguments as for ``check``. The message has the sentence of each check that fails, behind its name.
    """
    __tracebackhide__ = True  # pytest shows the line of the test
    results = check(subject, *arguments, input=input, **parameters)
    if failures := results.failures:
        lines = [f"{results.title}, {result.name}: {result.sentence}" for result in failures]
        raise AssertionError("\n".join(lines))


def check_pair(op: str | Op, rule: str | Rule, settings: Mapping[str, float]) -> Results:
    """The checks of an op with a rule that the app shows: quick, and never one that compiles."""
    teaches = bool(find_rule(rule).learned)
    visible = [check for check in CHECKS if check.in_app and (teaches or not check.if_learned)]
    return _checked_pair(visible, op, rule, parameters=settings)


def _checked_pair(
    checks: Iterable[Check], op: str | Op, *rules: str | Rule, parameters: Mapping[str, float]
) -> Results:
    if len(rules) != 1:
        raise ValueError(
            f"check takes an op and one rule, such as check('round', 'straight_through'), not {len(rules)}"
        )
    op, rule = find_op(op), find_rule(rules[0])
    settings, draws = checked(op, (rule,), parameters), op.draws or rule.draws
    if not draws:
        curve = Curve(pair_subject(op, rule, settings))
    else:
        subject = pair_subject(*frozen(op, beside(op, rule), find_loss(SQUARE)), settings)
        curve = Curve(subject, (op, rule))
    asked = (check for check in checks if check.of != ("fixed" if draws else "drawn"))
    title = f"{curve.subject.name}, drawn with u = {FROZEN_U}" if draws else curve.subject.name
    return Results((result_of(check, curve).of(check.name) for check in asked), title)


def _checked_own(subject: Subject) -> Results:
    """All checks of somebody's own function; after one that hangs no other is tried."""
    curve, results = Curve(subject), Results(title=subject.name)
    stopped, raises = _stops(subject)
    for one in (each for each in CHECKS if each.of != "drawn"):
        if stopped:
            results.append((fails if one.look is finite and raises else unknown)(stopped).of(one.name))
            continue
        try:
            finding = within(one.limit_s, lambda one=one: result_of(one, curve))  # type: ignore[misc]
        except HungError as hung:
            finding, stopped = unknown(f"It {hung}."), f"Not tried, because “{one.name}” {hung}."
        except UntriedError as error:
            finding = unknown(f"It could not be tried: {error}.")
        results.append(finding.of(one.name))
    return results


def _stops(subject: Subject) -> tuple[str, bool]:
    """A sentence on why nothing can be tried, "" where something can; and whether its forward raises."""
    try:
        within(TIME_LIMIT_S, lambda: subject.trial)
    except HungError as hung:
        return f"It {hung}.", False
    except UntriedError as error:
        return f"It could not be tried: {error}.", isinstance(error, ForwardError)
    return "", False
