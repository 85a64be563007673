"""Checks of a backward rule: one of the catalogue, or a function that a user wrote.

``assert not explorer.check(MyFunction, 0.5).failures`` reads well in a test suite.
"""

import warnings
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from torch import Tensor

from explorer.catalogue import (
    SQUARE,
    Op,
    Rule,
    adapt_rule,
    check_values,
    find_loss,
    find_op,
    find_rule,
    freeze_draws,
)
from explorer.catalogue.losses import FROZEN_U
from explorer.checks import averages, lines
from explorer.checks.area import check_antiderivative, check_area
from explorer.checks.autocast import check_autocast
from explorer.checks.backward import check_backward
from explorer.checks.compilation import check_compile
from explorer.checks.curve import Curve
from explorer.checks.derivative import check_derivative
from explorer.checks.determinism import check_repetition
from explorer.checks.devices import check_devices
from explorer.checks.double_backward import check_double_backward
from explorer.checks.draws import check_bias, check_draw
from explorer.checks.entry import TRACING_LIMIT_S, Check, run_check
from explorer.checks.finiteness import check_finiteness
from explorer.checks.kinks import check_kinks
from explorer.checks.linearity import check_linearity
from explorer.checks.memory import check_memory
from explorer.checks.parameter_gradients import check_parameter_gradients
from explorer.checks.result import UNKNOWN, VERDICTS, Result, Results, fails, unknown
from explorer.checks.shapes import check_dtype_and_shape
from explorer.checks.traits import fix_seed
from explorer.checks.transforms import check_transforms
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

_MAX_WRITTEN = 12  # elements of a tensor that code shows one by one

CHECKS = (
    Check("backward", "Does it return a gradient for x?",
          check_backward, works_without_gradient=True, needs_repeatable=False),
    Check("true derivative", "Is it the derivative of the op?",
          check_derivative, lines.make_line_check(check_derivative), averages.check_derivative_on_average,
          in_app=True, pairs="fixed"),
    Check("linear in g", "Does twice the upstream gradient give twice the gradient?",
          check_linearity, lines.make_line_check(check_linearity), in_app=True),
    Check("finite", "Is it finite everywhere, in every dtype?",
          check_finiteness, lines.check_finiteness_at_scales, in_app=True, needs_repeatable=False),
    Check("kinks", "What is it exactly at a kink?",
          check_kinks, lines.make_line_check(check_kinks), averages.check_kinks_on_average,
          in_app=True, pairs="fixed"),
    Check("area", "Does its area equal the op's jumps?",
          check_area, lines.check_area_on_lines, averages.check_area_on_average, in_app=True, pairs="fixed"),
    Check("antiderivative", "Does its integral follow the op?",
          check_antiderivative, lines.check_antiderivative_on_lines, averages.check_antiderivative_on_average,
          in_app=True, pairs="fixed"),
    Check("dtype and shape", "Are dtype and shape kept?",
          check_dtype_and_shape, in_app=True, works_without_gradient=True, needs_repeatable=False),
    Check("parameter gradients", "Are the gradients of learned arguments right?",
          check_parameter_gradients, in_app=True, needs_learned=True),
    Check("memory", "Does it leave x and g unchanged, in any layout?", check_memory),
    Check("double backward", "Is its second derivative right?",
          check_double_backward, lines.make_line_check(check_double_backward), in_app=True),
    Check("transforms", "Do torch.func's vmap, grad and jvp work?",
          check_transforms, limit_s=TRACING_LIMIT_S),
    Check("compile", "Does it give the same under torch.compile?", check_compile, limit_s=TRACING_LIMIT_S),
    Check("autocast", "Does it work under autocast?", check_autocast),
    Check("devices", "Does it follow x to another device?",
          check_devices, works_without_gradient=True, needs_repeatable=False),
    Check("deterministic", "Does it give the same result twice?", check_repetition, needs_repeatable=False),
    Check("draw fits", "Does the rule see the op's own draw?", check_draw, in_app=True, pairs="drawn"),
    Check("unbiased", "Is it right on average?", check_bias, in_app=True, pairs="drawn"),
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
            count as learned; the checks work on copies of them.
        arguments: the rule of a pair, or the arguments that follow x.
        input: an example of x for a function that needs x in a certain shape; its first dimension counts
            elements. If its values lie on one side of 0 or within −1 to 1, their range is the domain.
        domain: the least and the greatest x to try, for a user's function.
        parameters: keywords of the pair or the function.

    Returns:
        One result per check that applies, in the order of ``explorer.checks.CHECKS``, with name, verdict,
        sentence, where and figure; ``.failures`` holds the results whose verdict is "fails". A function runs
        in this process, each check with a time limit. An exception in its backward fails "backward", one
        in its forward "finite"; others give "unknown". In a forked process torch is set to one thread.

    Raises:
        ValueError, FormulaError: for an unknown key or parameter of a pair, an input that is no tensor or a
            domain without x. What a function itself raises is never passed on.
    """
    is_pair = isinstance(subject, str | Op)
    if input is not None and (is_pair or not isinstance(input, Tensor)):
        raise ValueError("input is an example of x, a tensor, for a function of your own")
    if domain is not None and (is_pair or not len(domain) == 2 or not domain[0] < domain[1]):
        raise ValueError("domain is the least and the greatest x, such as (0, 1), for a function of your own")
    use_one_thread_after_fork()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's are not findings; a test suite may raise them
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
    if value.numel() > _MAX_WRITTEN:
        return f"torch.randn({tuple(value.shape)}{learned})"
    return f"torch.tensor({value.tolist()}{learned})"


def check_pair(op: str | Op, rule: str | Rule, settings: Mapping[str, float]) -> Results:
    """Return the results of the checks that the app shows for an op with a rule; all of them are quick."""
    learns = bool(find_rule(rule).learned)
    visible = [check for check in CHECKS if check.in_app and (learns or not check.needs_learned)]
    return _check_pair(visible, op, rule, parameters=settings)


def _check_pair(
    checks: Iterable[Check], op: str | Op, *rules: str | Rule, parameters: Mapping[str, float]
) -> Results:
    if len(rules) != 1:
        raise ValueError(
            f"check takes an op and one rule, such as check('round', 'straight_through'), not {len(rules)}"
        )
    op, rule = find_op(op), find_rule(rules[0])
    settings, draws = check_values(op, (rule,), parameters), op.is_random or rule.is_random
    if not draws:
        curve = Curve(make_pair_subject(op, rule, settings))
    else:
        subject = make_pair_subject(*freeze_draws(op, adapt_rule(op, rule), find_loss(SQUARE)), settings)
        curve = Curve(subject, (op, rule))
    applicable = (check for check in checks if check.pairs != ("fixed" if draws else "drawn"))
    title = f"{curve.subject.name}, drawn with u = {FROZEN_U}" if draws else curve.subject.name
    return Results((run_check(check, curve).attach(check.name) for check in applicable), title)


def _check_own(subject: Subject) -> Results:
    """Return all results of a user's function; after a check that hangs no other is tried."""
    results = Results(title=subject.name)
    curve, obstacle, raises = _prepare_curve(subject)
    for item in (item for item in CHECKS if item.pairs != "drawn"):
        if obstacle:
            verdict = fails if item.run is check_finiteness and raises else unknown
            results.append(verdict(obstacle).attach(item.name))
            continue
        try:
            finding = run_within(item.limit_s, lambda item=item: run_check(item, curve))  # type: ignore[misc]
        except HungError as hung:
            finding, obstacle = unknown(f"It {hung}."), f"Not tried, because “{item.name}” {hung}."
        except UntriedError as error:
            finding = unknown(f"It could not be tried: {error}.")
        results.append(finding.attach(item.name))
    return results


def _prepare_curve(subject: Subject) -> tuple[Curve, str, bool]:
    """Return the curve, a sentence on why nothing can be tried or "", and whether the forward raises."""

    def prepare() -> Curve:
        assert subject.trial
        curve = Curve(fix_seed(subject))
        assert curve.traits
        return curve

    try:
        return run_within(TIME_LIMIT_S, prepare), "", False
    except HungError as hung:
        return Curve(subject), f"It {hung}.", False
    except UntriedError as error:
        return Curve(subject), f"It could not be tried: {error}.", isinstance(error, ForwardError)
