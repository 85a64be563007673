"""Checks of a backward rule: one of the catalogue, or a function that a user wrote.

``assert not explorer.check(MyFunction, 0.5).failures`` reads well in a test suite.
"""

import warnings
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from torch import Tensor

from explorer.catalogue import SQUARE, Op, Rule, beside, checked, find_loss, find_op, find_rule, frozen
from explorer.catalogue.losses import FROZEN_U
from explorer.checks import along, averages
from explorer.checks.at_kinks import check_kinks
from explorer.checks.autocasting import check_autocast
from explorer.checks.backward import check_backward
from explorer.checks.compiling import check_compile
from explorer.checks.curve import Curve
from explorer.checks.derivative import check_derivative
from explorer.checks.devices import check_devices
from explorer.checks.doubly import check_double_backward
from explorer.checks.drawing import check_bias, check_draw
from explorer.checks.finiteness import check_finiteness
from explorer.checks.learned import check_parameter_gradients
from explorer.checks.linearity import check_linearity
from explorer.checks.memory import check_memory
from explorer.checks.nature import fix_seed
from explorer.checks.repetition import check_repetition
from explorer.checks.result import UNKNOWN, VERDICTS, Result, Results, fails, unknown
from explorer.checks.running import TRACING_LIMIT_S, Check, find_result
from explorer.checks.shapes import check_dtype_and_shape
from explorer.checks.transforms import check_transforms
from explorer.checks.weight import check_antiderivative, check_area
from explorer.curves.foreign import (
    TIME_LIMIT_S,
    ForwardError,
    HungError,
    Subject,
    UntriedError,
    make_own_subject,
    make_pair_subject,
    run_within,
    use_one_thread_after_fork,
)

__all__ = ["CHECKS", "VERDICTS", "Check", "Result", "Results", "assert_rule", "check", "check_pair"]

_MOST_WRITTEN = 12  # numbers of a tensor

CHECKS = (
    Check("backward", "Does it return a gradient for x?",
          check_backward, without_gradient=True, repeats=False),
    Check("true derivative", "Is it the derivative of the op?",
          check_derivative, along.on_lines(check_derivative), averages.check_derivative_on_average,
          in_app=True, of="fixed"),
    Check("linear in g", "Does twice the upstream gradient give twice the gradient?",
          check_linearity, along.on_lines(check_linearity), in_app=True),
    Check("finite", "Is it a number everywhere, in every dtype?",
          check_finiteness, along.check_finiteness_along, in_app=True, repeats=False),
    Check("kinks", "What is it exactly at a kink?",
          check_kinks, along.on_lines(check_kinks), averages.check_kinks_on_average, in_app=True, of="fixed"),
    Check("area", "Does it weigh what the op's jumps weigh?",
          check_area, along.check_area_along, averages.check_area_on_average, in_app=True, of="fixed"),
    Check("antiderivative", "Does its integral go along with the op?",
          check_antiderivative, along.check_antiderivative_along, averages.check_antiderivative_on_average,
          in_app=True, of="fixed"),
    Check("dtype and shape", "Are dtype and shape kept?",
          check_dtype_and_shape, in_app=True, without_gradient=True, repeats=False),
    Check("parameter gradients", "Do learned arguments get what they are due?",
          check_parameter_gradients, in_app=True, if_learned=True),
    Check("memory", "Does it leave x and g alone, in any layout?", check_memory),
    Check("double backward", "Is its own gradient right?",
          check_double_backward, along.on_lines(check_double_backward), in_app=True),
    Check("transforms", "Do torch.func's vmap, grad and jvp work?",
          check_transforms, limit_s=TRACING_LIMIT_S),
    Check("compile", "Does torch.compile keep it?", check_compile, limit_s=TRACING_LIMIT_S),
    Check("autocast", "Does it work under autocast?", check_autocast),
    Check("devices", "Does it follow x to another device?",
          check_devices, without_gradient=True, repeats=False),
    Check("deterministic", "Does it give the same twice?", check_repetition, repeats=False),
    Check("draw fits", "Does the rule see the op's own draw?", check_draw, in_app=True, of="drawn"),
    Check("unbiased", "Is it right on average?", check_bias, in_app=True, of="drawn"),
)  # fmt: skip


def check(
    subject: Any,
    *arguments: Any,
    input: Tensor | None = None,
    domain: tuple[float, float] | None = None,
    **parameters: Any,
) -> Results:
    """Check a backward rule: an op with a rule of the catalogue, or a function of one's own.

    Args:
        subject: key of ``OPS`` or ``"formula: …"``, with the key of a rule as second argument and parameters
            as keywords, as for ``explorer.apply``; or an ``autograd.Function`` class, a module or a
            callable that takes x, with the arguments that follow x. Tensors among them that require grad
            are taken for learned; the caller's own are left alone.
        arguments: the rule of a pair, or the arguments that follow x.
        input: an example of x for a function that needs x of a shape; its first dimension counts elements. If
            its values lie on one side of 0 or within −1 to 1, their range is the domain.
        domain: the least and the greatest x to try, for a user's function.
        parameters: keywords of the pair or the function.

    Returns:
        One result per check that applies, in the order of ``explorer.checks.CHECKS``, with name, verdict,
        sentence, where and figure; ``.failures`` holds the results whose verdict is "fails". A function runs
        in this process, each check with a time limit. An exception of its backward fails "backward"; any
        other one becomes "unknown" with the reason. In a forked process torch is set to one thread.

    Raises:
        ValueError, FormulaError: for an unknown key or parameter of a pair, an input that is no tensor or a
            domain without x. Nothing for a function, whatever it does.
    """
    is_pair = isinstance(subject, str | Op)
    if input is not None and (is_pair or not isinstance(input, Tensor)):
        raise ValueError("input is an example of x, a tensor, for a function of your own")
    if domain is not None and (is_pair or not len(domain) == 2 or not domain[0] < domain[1]):
        raise ValueError("domain is the least and the greatest x, such as (0, 1), for a function of your own")
    use_one_thread_after_fork()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's own are no finding, also where a test suite raises them
        if is_pair:
            return _check_pair(CHECKS, subject, *arguments, parameters=parameters)
        return _check_own(make_own_subject(subject, arguments, parameters, input, domain))


def assert_rule(
    subject: Any,
    *arguments: Any,
    input: Tensor | None = None,
    domain: tuple[float, float] | None = None,
    allow: Collection[str] = (),
    **parameters: Any,
) -> None:
    """Raise AssertionError if a check of a backward rule fails, for a test suite.

    Args:
        subject: as for ``check``.
        arguments: as for ``check``.
        input: as for ``check``.
        domain: as for ``check``.
        allow: names of checks that may fail.
        parameters: as for ``check``.

    Raises:
        AssertionError: with one line per failing check and three lines that reproduce them; also if no check
            could be tried.
        ValueError: for a name in ``allow`` that no check has.
    """
    __tracebackhide__ = True  # pytest shows the line of the test
    if wrong := sorted({*allow} - {item.name for item in CHECKS}):
        raise ValueError(
            f"no check is called {wrong[0]!r}: they are {', '.join(item.name for item in CHECKS)}"
        )
    results = check(subject, *arguments, input=input, domain=domain, **parameters)
    failures = [result for result in results.failures if result.name not in allow]
    count = f"{len(failures)} check{'s' * (len(failures) > 1)} failed"
    if {result.verdict for result in results} == {UNKNOWN}:
        failures, count = results[:1], "nothing was tried"
    if failures:
        lines = [f"{result.name}: {result.sentence}" for result in failures]
        options = {"input": input, "domain": domain}
        given = {key: value for key, value in options.items() if value is not None} | parameters
        name = results.title if results.title.isidentifier() else "function"
        expression = repr(subject) if isinstance(subject, str) else name
        code = _write_reproduction(expression, arguments, given)
        raise AssertionError("\n".join([f"{results.title}: {count}", *lines, "", *code]))


def _write_reproduction(
    name: str, arguments: Iterable[Any], options: Mapping[str, Any]
) -> tuple[str, str, str]:
    """Return three lines of code that show all results of a subject; ``name`` is its expression."""
    values = [name, *map(_write_value, arguments)]
    values += [f"{key}={_write_value(value)}" for key, value in options.items()]
    return "import explorer, torch", f"results = explorer.check({', '.join(values)})", "print(results)"


def _write_value(value: Any) -> str:
    """Return an expression for an argument; a large tensor becomes a random one of its shape."""
    if not isinstance(value, Tensor):
        return repr(value)
    learned = ", requires_grad=True" if value.requires_grad else ""
    if value.numel() > _MOST_WRITTEN:
        return f"torch.randn({tuple(value.shape)}{learned})"
    return f"torch.tensor({value.tolist()}{learned})"


def check_pair(op: str | Op, rule: str | Rule, settings: Mapping[str, float]) -> Results:
    """Return the checks of an op with a rule that the app shows: quick ones, without "compile"."""
    teaches = bool(find_rule(rule).learned)
    visible = [check for check in CHECKS if check.in_app and (teaches or not check.if_learned)]
    return _check_pair(visible, op, rule, parameters=settings)


def _check_pair(
    checks: Iterable[Check], op: str | Op, *rules: str | Rule, parameters: Mapping[str, float]
) -> Results:
    if len(rules) != 1:
        raise ValueError(
            f"check takes an op and one rule, such as check('round', 'straight_through'), not {len(rules)}"
        )
    op, rule = find_op(op), find_rule(rules[0])
    settings, draws = checked(op, (rule,), parameters), op.draws or rule.draws
    if not draws:
        curve = Curve(make_pair_subject(op, rule, settings))
    else:
        subject = make_pair_subject(*frozen(op, beside(op, rule), find_loss(SQUARE)), settings)
        curve = Curve(subject, (op, rule))
    asked = (check for check in checks if check.of != ("fixed" if draws else "drawn"))
    title = f"{curve.subject.name}, drawn with u = {FROZEN_U}" if draws else curve.subject.name
    return Results((find_result(check, curve).attach(check.name) for check in asked), title)


def _check_own(subject: Subject) -> Results:
    """Return all results of a user's function; after a check that hangs no other is tried."""
    results = Results(title=subject.name)
    curve, obstacle, raises = _try_first(subject)
    for item in (item for item in CHECKS if item.of != "drawn"):
        if obstacle:
            verdict = fails if item.look is check_finiteness and raises else unknown
            results.append(verdict(obstacle).attach(item.name))
            continue
        try:
            finding = run_within(item.limit_s, lambda item=item: find_result(item, curve))  # type: ignore[misc]
        except HungError as hung:
            finding, obstacle = unknown(f"It {hung}."), f"Not tried, because “{item.name}” {hung}."
        except UntriedError as error:
            finding = unknown(f"It could not be tried: {error}.")
        results.append(finding.attach(item.name))
    return results


def _try_first(subject: Subject) -> tuple[Curve, str, bool]:
    """Return the curve, a sentence on why nothing can be tried or "", and whether the forward raises."""

    def prepare() -> Curve:
        assert subject.trial
        curve = Curve(fix_seed(subject))
        assert curve.nature
        return curve

    try:
        return run_within(TIME_LIMIT_S, prepare), "", False
    except HungError as hung:
        return Curve(subject), f"It {hung}.", False
    except UntriedError as error:
        return Curve(subject), f"It could not be tried: {error}.", isinstance(error, ForwardError)
