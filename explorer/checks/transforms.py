"""Do torch.func's transforms see the same function?"""

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from explorer.checks.curve import Curve
from explorer.checks.result import Finding, by_design, fails, holds
from explorer.checks.shapes import find_custom_node
from explorer.curves.foreign import Subject, UntriedError, describe_error, is_same

_OLD_STYLE = "setup_context"
_LINES = (
    "To add: forward(x, …) without ctx, setup_context(ctx, inputs, output) that saves, "
    "generate_vmap_rule = True, and jvp for forward mode"
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


def check_transforms(curve: Curve) -> Finding:
    """Return whether torch.func's grad, vmap, vmap of grad and jvp agree with plain backward."""
    function = curve.subject.function
    if function is not None and function.setup_context is torch.autograd.Function.setup_context:
        return _describe_old_style()
    missing: dict[str, str] = {}
    lacking: list[str] = []
    for name, wanted, work in _iterate_transforms(curve.subject):
        try:
            actual = work()
        except Exception as error:
            words = str(error)
            if _OLD_STYLE in words:
                return _describe_operator() if _is_operator(curve.subject) else _describe_old_style()
            advice = next(((what, line) for part, what, line in _MISSING if part in words), None)
            if advice is None and not _has_custom_node(curve.subject):
                lacking.append(name)
                continue
            if advice is None:
                return fails(
                    f"{name} raises {describe_error(error)}: leave out what asks for values, such as if "
                    f"or .item()."
                )
            missing[advice[0]] = advice[1]
            continue
        if not _is_near(actual, wanted):
            if name == "jvp" and _is_slope(curve.subject, actual):
                return by_design("Its jvp is the derivative of its forward, where backward departs from it.")
            return fails(f"{name} gives another result than plain autograd.")
    if missing:
        lines = " and ".join(missing.values())
        return by_design(
            f"It offers no {' and no '.join(missing)}, and torch says so when asked: add {lines}."
        )
    if lacking:
        return by_design(f"Torch itself lacks {' and '.join(lacking)} for an operation of this function.")
    return holds("torch.func's grad, vmap and jvp agree with plain autograd.")


def _describe_old_style() -> Finding:
    return by_design(f"It is old style: torch.func's grad, vmap and jvp refuse it. {_LINES}.")


def _is_operator(subject: Subject) -> bool:
    """Return whether backward goes through an operator of torch.library, whose Function torch generates."""
    y = subject.run(_make_points(subject).requires_grad_())
    return type(y.grad_fn).__name__.startswith("GeneratedBackward")


def _has_custom_node(subject: Subject) -> bool:
    """Return whether a user's Function lies on the way back from y."""
    return find_custom_node(subject.run(_make_points(subject).requires_grad_())) is not None


def _describe_operator() -> Finding:
    return by_design(
        "It is an operator of torch.library: torch.func's grad, vmap and jvp refuse all of them. "
        "Take a Function with setup_context where they are needed."
    )


def _iterate_transforms(subject: Subject) -> Iterator[tuple[str, Tensor, Callable[[], Tensor]]]:
    """Yield each transform: its name, the due result, and the function that computes it."""
    x = _make_points(subject)
    rows = torch.stack(
        [subject.fit_domain(x * factor + 0.01) for factor in torch.linspace(0.5, 1.2, _ROWS).tolist()]
    )
    arguments = subject.prepare(x.dtype)

    def run_forward(x: Tensor) -> Tensor:
        y: Tensor = subject.run(x.clone(), arguments)
        return y

    def pull_back(x: Tensor) -> Tensor:
        slope: Tensor = torch.func.grad(lambda x: run_forward(x).sum())(x)
        return slope

    y, r = subject.run_both(x)
    yield "torch.func.grad", r, lambda: pull_back(x)
    yield (
        "vmap",
        torch.stack([subject.run_both(row)[0] for row in rows]),
        lambda: torch.func.vmap(run_forward)(rows),
    )
    yield (
        "vmap of grad",
        torch.stack([subject.run_both(row)[1] for row in rows]),
        lambda: torch.func.vmap(pull_back)(rows),
    )
    turned = rows.movedim(0, -1)
    yield (
        "vmap over the last dimension",
        torch.stack([subject.run_both(row)[1] for row in rows]),
        lambda: torch.func.vmap(pull_back, in_dims=-1)(turned),
    )
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
    """Return whether the gradient is g times ``r``, for each g of ``upstream``: else no tangent is due."""
    try:
        return all(_is_near(subject.run_both(x, g)[1], g * r) for g in upstream)
    except UntriedError:
        return False


def _is_near(left: Tensor, right: Tensor) -> bool:
    return is_same(left, right, 1e-6 if left.dtype == torch.float64 else 1e-3)
