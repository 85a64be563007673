"""Checks of a backward rule of the catalogue or of a user-defined function.

In a test suite, write ``assert not explorer.check(MyFunction, 0.5).failures``.
"""

import warnings
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, Literal

from torch import Tensor

from explorer.catalogue import Op, Rule, adapt_rule, check_values, find_loss, find_op, find_rule, freeze_draws
from explorer.catalogue.losses import FROZEN_U, SQUARE
from explorer.checks import draws, lines
from explorer.checks.area import check_antiderivative, check_area
from explorer.checks.derivative import check_derivative, check_double_backward
from explorer.checks.finiteness import check_finiteness
from explorer.checks.kinks import check_kinks
from explorer.checks.linearity import check_linearity
from explorer.checks.parameter_gradients import check_parameter_gradients
from explorer.checks.repetition import check_memory, check_repetition
from explorer.checks.result import HOLDS, UNKNOWN, VERDICTS, Result, Results, fails, unknown
from explorer.checks.returns import UNTRIED, check_backward, check_dtype_and_shape
from explorer.checks.settings import check_autocast, check_compile, check_devices, check_transforms
from explorer.curves.user_functions.curve import Curve
from explorer.curves.user_functions.elementwise import has_random_output
from explorer.curves.user_functions.subject import (
    SEED,
    ForwardError,
    Subject,
    UntriedError,
    describe_error,
    find_line,
    prepare_function,
    prepare_pair,
)
from explorer.curves.user_functions.timeouts import TIME_LIMIT_S, HungError, run_within
from explorer.gradient.threads import use_one_thread

_MAX_WRITTEN = 12  # tensors with more elements are abbreviated in reproduction code
_TRACING_LIMIT_S = 180.0  # includes torch's imports before its first trace, which take seconds


@dataclass(frozen=True)
class Check:
    """A check of backward rules.

    Attributes:
        name: its name in results.
        run: runs it on the curve of an elementwise op with a rule.
        run_on_lines: runs it on a function whose y at one x depends on other x; None for ``run``.
        run_on_average: runs it on a random function, or is its result; None for ``run``.
        in_app: whether the page shows it, because it is quick and applies to formulas.
        needs_learned: whether it needs a rule with gradients for parameters.
        works_without_gradient: whether it can run if the backward fails.
        needs_finite: whether it can hold only if the gradient is finite wherever y is.
        needs_repeatable: whether it compares results, so that two backwards must agree.
        limit_s: the time limit for a user's function, in seconds.
        pairs: the ops and rules that it applies to: deterministic ("fixed"), stochastic ("drawn", with one
            random number u for all elements), or all.
    """

    name: str
    run: Callable[[Curve], Result]
    run_on_lines: Callable[[Curve], Result] | None = None
    run_on_average: Callable[[Curve], Result] | Result | None = None
    in_app: bool = False
    needs_learned: bool = False
    works_without_gradient: bool = False
    needs_finite: bool = False
    needs_repeatable: bool = True
    limit_s: float = TIME_LIMIT_S
    pairs: Literal["all", "fixed", "drawn"] = "all"

    def find_result(self, curve: Curve) -> Result:
        """Return the result for a curve: "unknown", with the reason, if the check itself fails."""
        try:
            traits, is_random = curve.traits, curve.subject.seed is not None
            if (traits.failure or traits.no_path) and not self.works_without_gradient:
                raise UntriedError(UNTRIED)
            if self.needs_repeatable and not traits.repeats:
                raise UntriedError("two backwards of the same x and g differ")
            run = (self.run_on_average if is_random else None) or self.run
            run = self.run_on_lines if run == self.run and traits.dependence and self.run_on_lines else run
            finding = run if isinstance(run, Result) else run(curve)
            is_open = self.needs_finite and finding.verdict == HOLDS and not (traits.dependence or is_random)
            if is_open and curve.lost_at is not None:
                words = "It could not be tried where the gradient is not finite, as at x = {at}: see finite."
                finding = unknown(words, curve.lost_at)
        except UntriedError as error:
            finding = unknown(f"It could not be tried: {error}.")
        except Exception as error:
            finding = unknown(f"It could not be tried: it raises {describe_error(error)}.")
        return replace(finding, name=self.name)


CHECKS = (
    Check("backward", check_backward, works_without_gradient=True, needs_repeatable=False),
    Check("true derivative", check_derivative, lines.adapt(check_derivative), draws.DERIVATIVE,
          in_app=True, needs_finite=True, pairs="fixed"),
    Check("linear in g", check_linearity, lines.adapt(check_linearity), in_app=True, needs_finite=True),
    Check("finite", check_finiteness, lines.check_finiteness_at_scales, in_app=True, needs_repeatable=False),
    Check("kinks", check_kinks, lines.adapt(check_kinks), draws.KINKS,
          in_app=True, needs_finite=True, pairs="fixed"),
    Check("area", check_area, lines.check_area_on_lines, draws.check_area_on_average,
          in_app=True, pairs="fixed"),
    Check("antiderivative", check_antiderivative, lines.check_antiderivative_on_lines,
          draws.check_antiderivative_on_average, in_app=True, pairs="fixed"),
    Check("dtype and shape", check_dtype_and_shape,
          in_app=True, works_without_gradient=True, needs_repeatable=False),
    Check("parameter gradients", check_parameter_gradients, in_app=True, needs_learned=True),
    Check("memory", check_memory),
    Check("double backward", check_double_backward, lines.adapt(check_double_backward), in_app=True),
    Check("transforms", check_transforms, limit_s=_TRACING_LIMIT_S),
    Check("compile", check_compile, limit_s=_TRACING_LIMIT_S),
    Check("autocast", check_autocast),
    Check("devices", check_devices, works_without_gradient=True, needs_repeatable=False),
    Check("deterministic", check_repetition, needs_repeatable=False),
    Check("draw fits", draws.check_draw, in_app=True, pairs="drawn"),
    Check("unbiased", draws.check_bias, in_app=True, pairs="drawn"),
)  # fmt: skip


def check(
    subject: Any,
    *arguments: Any,
    input: Tensor | None = None,
    domain: tuple[float, float] | None = None,
    **parameters: Any,
) -> Results:
    """Check a backward rule: an op with a rule of the catalogue, or a user-defined function.

    Args:
        subject: a key of ``OPS`` or ``"formula: …"``, with the key of a rule as second argument and
            parameters as keywords, as for ``explorer.apply``; or an ``autograd.Function`` class, a module or
            a callable of x, with its further arguments. Tensors among them that require grad count as
            learned; the checks work on copies of them.
        arguments: the rule of a pair, or the arguments of a function after x.
        input: an example of x for a function that needs a certain shape; the first dimension counts elements.
            If all values are on one side of 0 or within −1 to 1, their range is the domain.
        domain: the least and the greatest x, for a user's function.
        parameters: keywords of the pair or the function.

    Returns:
        One result per check that applies, in the order of ``explorer.checks.CHECKS``, with name, verdict,
        sentence, where and figure. ``.failures`` holds the results with the verdict "fails". A function runs
        in this process, with a time limit for each check. An exception in its backward fails the check
        "backward", one in its forward the check "finite"; any other gives "unknown". Torch uses one thread
        meanwhile.

    Raises:
        ValueError, FormulaError: for an unknown key or parameter of a pair, an input that is not a
            floating-point tensor, or an empty domain. An exception raised by the function itself is never
            passed on.
    """
    is_pair = isinstance(subject, str | Op)
    if input is not None and (is_pair or not isinstance(input, Tensor)):
        raise ValueError("input must be a tensor, and can only be given with a user-defined function")
    if input is not None and not input.is_floating_point():
        raise ValueError(f"input must be floating-point, because {input.dtype} has no gradient")
    if domain is not None and (is_pair or not len(domain) == 2 or not domain[0] < domain[1]):
        raise ValueError(
            "domain must be two ascending numbers, and can only be given with a user-defined function"
        )
    # The tensors are small: more threads would only wait for each other.
    with use_one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's warnings are not findings, and may be errors in tests
        if is_pair:
            return _check_pair(CHECKS, subject, *arguments, parameters=parameters)
        return _check_own(prepare_function(subject, arguments, parameters, input, domain))


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
        subject: the op or function, as for ``check``.
        *arguments: further arguments of the subject.
        input: an example of x, as for ``check``.
        domain: the least and the greatest x, as for ``check``.
        allow: names of checks that may fail.
        **parameters: parameters of op and rule.

    Raises:
        AssertionError: if a check fails, with one line per failure and three lines of code that reproduce
            them; also if no check could be tried.
        ValueError: for a name in ``allow`` that is not a check's.
    """
    __tracebackhide__ = True  # hides this frame, so that pytest shows the line of the test
    names = [item.name for item in CHECKS]
    if wrong := sorted({*allow} - {*names}):
        raise ValueError(f"allow contains {wrong[0]!r}, but the checks are {', '.join(names)}")
    results = check(subject, *arguments, input=input, domain=domain, **parameters)
    failures = [result for result in results.failures if result.name not in allow]
    count = f"{len(failures)} check{'s' * (len(failures) > 1)} failed"
    if {result.verdict for result in results} == {UNKNOWN}:
        failures, count = results[:1], "nothing was tried"
    if failures:
        sentences = [f"{result.name}: {result.sentence}" for result in failures]
        name = results.title if results.title.isidentifier() else "function"
        options = {"input": input, "domain": domain}
        keywords = {key: value for key, value in options.items() if value is not None} | parameters
        values = [repr(subject) if isinstance(subject, str) else name, *map(_write_value, arguments)]
        values += [f"{key}={_write_value(value)}" for key, value in keywords.items()]
        code = ["import explorer, torch", f"results = explorer.check({', '.join(values)})", "print(results)"]
        raise AssertionError("\n".join([f"{results.title}: {count}", *sentences, "", *code]))


def _write_value(value: Any) -> str:
    if not isinstance(value, Tensor):
        return repr(value)
    learned = ", requires_grad=True" if value.requires_grad else ""
    if value.numel() > _MAX_WRITTEN:
        return f"torch.randn({tuple(value.shape)}{learned})"
    return f"torch.tensor({value.tolist()}{learned})"


def check_pair(op: str | Op, rule: str | Rule, settings: Mapping[str, float]) -> Results:
    """Run the quick checks that the app shows for an op with a backward rule, and return their results.

    ``settings`` maps parameter names to values; missing ones have their defaults.
    """
    learns = bool(find_rule(rule).learned)
    visible = [check for check in CHECKS if check.in_app and (learns or not check.needs_learned)]
    return _check_pair(visible, op, rule, parameters=settings)


def _check_pair(
    checks: Iterable[Check], op: str | Op, *rules: str | Rule, parameters: Mapping[str, float]
) -> Results:
    if len(rules) != 1:
        example = "check('round', 'straight_through')"
        raise ValueError(f"check takes an op and one rule, such as {example}, but got {len(rules)} rules")
    op, rule = find_op(op), find_rule(rules[0])
    settings, draws = check_values(op, (rule,), parameters), op.is_random or rule.is_random
    pair = freeze_draws(op, adapt_rule(op, rule), find_loss(SQUARE)) if draws else (op, rule)
    curve = Curve(prepare_pair(*pair, settings), (op, rule) if draws else None)
    applicable = (check for check in checks if check.pairs != ("fixed" if draws else "drawn"))
    title = f"{curve.subject.name}, drawn with u = {FROZEN_U}" if draws else curve.subject.name
    return Results((check.find_result(curve) for check in applicable), title)


def _check_own(subject: Subject) -> Results:
    """Run all checks on a user's function, until one of them hangs, and return their results."""
    results, obstacle, verdict_of_forward = Results(title=subject.name), "", unknown
    import_module("torch._dynamo")  # imported in advance, because torch would do it within the time limit

    def prepare() -> Curve:
        assert subject.trial
        try:
            return Curve(replace(subject, seed=SEED) if has_random_output(subject) else subject)
        except ForwardError as error:
            advice = "if it keeps state between calls, give check a function that begins anew at each call"
            raise UntriedError(f"{error}, but not at the first call; {advice}") from error

    try:
        curve = run_within(TIME_LIMIT_S, prepare)
    except HungError as hung:
        obstacle = f"It {hung}."
    except UntriedError as error:
        obstacle = f"It could not be tried: {error}."
        if isinstance(error, ForwardError) and (cause := error.__cause__):
            line = find_line(cause)
            place = f" ({line})" if line else ""
            advice = ": keep what is no tensor as an attribute of ctx" * ("save_for_backward" in str(cause))
            obstacle = f"Its forward raises {describe_error(cause)}{place}{advice}."
            verdict_of_forward = fails
    for item in (item for item in CHECKS if item.pairs != "drawn"):
        finding = (verdict_of_forward if item.run is check_finiteness else unknown)(obstacle)
        try:
            if not obstacle:
                finding = run_within(item.limit_s, lambda item=item: item.find_result(curve))  # type: ignore[misc]
        except HungError as hung:
            finding, obstacle = unknown(f"It {hung}."), f"Not tried, because “{item.name}” {hung}."
        except UntriedError as error:
            finding = unknown(f"It could not be tried: {error}.")
        results.append(replace(finding, name=item.name))
    return results
