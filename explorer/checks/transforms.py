"""Do torch.func's transforms agree with plain autograd?"""

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from explorer.checks.curve import Curve
from explorer.checks.result import Result, by_design, fails, holds
from explorer.checks.shapes import find_custom_node
from explorer.curves.foreign import Subject, UntriedError, describe_error, is_same

_REFUSED = "torch.func's grad, vmap and jvp refuse"
_OLD = by_design(
    f"It is old style: {_REFUSED} it. To add: forward(x, …) without ctx, setup_context(ctx, inputs, output) "
    "that saves, generate_vmap_rule = True, and jvp for forward mode."
)
_OPERATOR = by_design(
    f"It is an operator of torch.library: {_REFUSED} it. "
    "Use a Function with setup_context where they are needed."
)
# Parts of torch's messages about optional members of a Function, with the line that adds the member.
_MISSING = (
    ("vmap staticmethod", "vmap", "generate_vmap_rule = True"),
    ("vmap support", "vmap", "generate_vmap_rule = True"),
    ("jvp", "forward mode", "a staticmethod jvp(ctx, *tangents)"),
    ("forward mode AD", "forward mode", "a staticmethod jvp(ctx, *tangents)"),
    ("forward-mode AD", "forward mode", "a staticmethod jvp(ctx, *tangents)"),
    ("mark_dirty", "vmap", "a forward that does not work in place"),
)
_ROWS = 3


def check_transforms(curve: Curve) -> Result:
    """Return whether torch.func's grad, vmap, vmap of grad and jvp agree with plain backward."""
    subject, function = curve.subject, curve.subject.function
    if function is not None and function.setup_context is torch.autograd.Function.setup_context:
        return _OLD
    missing: dict[str, str] = {}
    lacking: list[str] = []
    for name, expected, compute in _iterate_transforms(subject):
        try:
            actual = compute()
        except Exception as error:
            words, y = str(error), subject.run(_make_points(subject).requires_grad_())
            if "setup_context" in words:
                return _OPERATOR if type(y.grad_fn).__name__.startswith("GeneratedBackward") else _OLD
            advice = next(((what, line) for part, what, line in _MISSING if part in words), None)
            if advice is not None:
                missing[advice[0]] = advice[1]
            elif find_custom_node(y) is None:
                lacking.append(name)
            else:
                reason = "leave out code that needs values, such as if or .item()"
                return fails(f"{name} raises {describe_error(error)}: {reason}.")
            continue
        if not _is_near(actual, expected):
            if name == "jvp" and _is_slope(subject, actual):
                return by_design("Its jvp is the derivative of its forward, where backward departs from it.")
            return fails(f"{name} gives another result than plain autograd.")
    if missing:
        absent, lines = " and no ".join(missing), " and ".join(missing.values())
        return by_design(f"It supports no {absent}, and torch raises an error that says so: add {lines}.")
    if lacking:
        return by_design(f"Torch itself lacks {' and '.join(lacking)} for an operation of this function.")
    return holds("torch.func's grad, vmap and jvp agree with plain autograd.")


def _iterate_transforms(subject: Subject) -> Iterator[tuple[str, Tensor, Callable[[], Tensor]]]:
    """Yield each transform: its name, the due result, and the function that computes it."""
    x, factors = _make_points(subject), torch.linspace(0.5, 1.2, _ROWS).tolist()
    rows = torch.stack([subject.fit_domain(x * each + 0.01) for each in factors])
    arguments = subject.prepare(x.dtype)

    def run_forward(x: Tensor) -> Tensor:
        return subject.run(x.clone(), arguments)

    def pull_back(x: Tensor) -> Tensor:
        slope: Tensor = torch.func.grad(lambda x: run_forward(x).sum())(x)
        return slope

    y, r = subject.run_both(x)
    ys, slopes = (torch.stack(parts) for parts in zip(*(subject.run_both(row) for row in rows), strict=True))
    columns = rows.movedim(0, -1)
    yield "torch.func.grad", r, lambda: pull_back(x)
    yield "vmap", ys, lambda: torch.func.vmap(run_forward)(rows)
    yield "vmap of grad", slopes, lambda: torch.func.vmap(pull_back)(rows)
    yield "vmap over the last dimension", slopes, lambda: torch.func.vmap(pull_back, in_dims=-1)(columns)
    tangent = _make_tangent(x)
    if y.shape == x.shape and _is_linear(subject, x, r, -2.0, tangent):
        yield "jvp", r * tangent, lambda: torch.func.jvp(run_forward, (x,), (tangent,))[1]


def _make_points(subject: Subject) -> Tensor:
    return subject.sample(-2.3, 2.9, 11)


def _make_tangent(x: Tensor) -> Tensor:
    return torch.linspace(0.3, 1.9, x.numel(), dtype=x.dtype).reshape(x.shape)


def _is_slope(subject: Subject, tangent: Tensor) -> bool:
    """Return whether a tangent equals differences of the forward, which is correct for a jvp as well."""
    x = _make_points(subject)
    move = 1e-5 * _make_tangent(x)
    with torch.no_grad():
        slope = (subject.run(x + move) - subject.run(x - move)) / 2e-5
    return torch.allclose(tangent, slope, 1e-4, 1e-5)


def _is_linear(subject: Subject, x: Tensor, r: Tensor, *upstream: Tensor | float) -> bool:
    """Return whether the gradient is g times ``r`` for each g of ``upstream``: only then a tangent is due."""
    try:
        return all(_is_near(subject.run_both(x, g)[1], g * r) for g in upstream)
    except UntriedError:
        return False


def _is_near(left: Tensor, right: Tensor) -> bool:
    return is_same(left, right, 1e-6 if left.dtype == torch.float64 else 1e-3)
