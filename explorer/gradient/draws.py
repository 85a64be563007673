"""Random numbers for stochastic ops and rules: a number u in (0, 1) for each element of x."""

from collections.abc import Callable, Mapping

import torch
from torch import Tensor
from torch._C._functorch import is_functorch_wrapped_tensor  # private; torch has no public name for it

from explorer.catalogue import Loss, expand_losses
from explorer.formula import Formula
from explorer.formula.tree import NORMAL, UNIFORM, LossAt, Node, TensorName, is_constant, substitute, walk

Draw = torch.Generator | Tensor | None


def draw_uniform(title: str, draw: Draw, x: Tensor) -> Tensor:
    """Return one random number for each element of x, strictly between 0 and 1, in x's shape and dtype.

    Args:
        title: the first words of error messages.
        draw: a generator on x's device, a tensor of numbers that broadcasts to x's shape, or None for torch's
            default generator.
        x: the tensor.

    Raises:
        ValueError: the numbers do not broadcast or are not between 0 and 1.
        TypeError: ``draw`` has another type.
    """
    if isinstance(draw, Tensor):
        return _expand_draw(title, draw, x)
    if draw is not None and not isinstance(draw, torch.Generator):
        raise TypeError(f"{title}: draw must be a torch.Generator or a tensor, got {type(draw).__name__}")
    u = torch.rand(x.shape, generator=draw, dtype=x.dtype, device=x.device)
    return u.clamp_(min=torch.finfo(x.dtype).eps / 4)  # not 0, which torch.rand may return


def _expand_draw(title: str, draw: Tensor, x: Tensor) -> Tensor:
    try:
        u = draw.to(x).expand(x.shape)
    except RuntimeError:
        shape, target = tuple(draw.shape), tuple(x.shape)
        raise ValueError(
            f"{title}: draw of shape {shape} does not broadcast to x's shape {target}: give one number, or "
            "one for each element of x"
        ) from None
    is_readable = not (torch.compiler.is_compiling() or is_functorch_wrapped_tensor(u))
    if is_readable and not bool(((u > 0) & (u < 1)).all()):
        raise ValueError(
            f"{title}: all numbers in draw must lie between 0 and 1, "
            "both excluded: use torch.rand, or clamp them"
        )
    return u


def to_normal(u: Tensor) -> Tensor:
    """Return uniform random numbers converted to standard normal ones, in the same shape and dtype."""
    wide = u if u.dtype == torch.float64 else u.float()  # ndtri has only float32 and float64
    quantile: Tensor = torch.special.ndtri(wide).to(u.dtype)
    return quantile


def bind_random(
    formula: Formula, op: Formula, loss: Loss | None, bind: Callable[[Formula], Callable[..., Tensor]]
) -> Callable[..., Tensor]:
    """Compile a formula that may use random numbers and losses.

    Args:
        formula: the formula to compile.
        op: the formula of y.
        loss: the loss of an element, or None.
        bind: a function that compiles formulas without random numbers.

    Returns:
        A function ``(x, y, g, tensors)`` of the formula's value. If the formula uses random numbers,
        ``tensors["u()"]`` must be given.
    """
    if not formula.random_names:
        return bind(formula)
    outputs = (part.output for part in walk(formula.tree) if isinstance(part, LossAt))
    # Constant outputs v of losses f(v) are passed as tensors, so that the losses have x's dtype.
    shared = {f"({Formula(output).text})": output for output in outputs if is_constant(output)}
    substitutes: dict[Node, Node] = {
        LossAt(output): LossAt(TensorName(name)) for name, output in shared.items()
    }
    resolved = expand_losses(Formula(substitute(formula.tree, substitutes)), op, loss)
    evaluate, needs_normal = bind(resolved), NORMAL in resolved.random_names
    shared_values = {name: bind(Formula(output)) for name, output in shared.items()}
    if not (needs_normal or shared_values):
        return evaluate

    def evaluate_with_tensors(
        x: Tensor, y: Tensor | None, g: Tensor | None, tensors: Mapping[str, Tensor]
    ) -> Tensor:
        arguments = {**tensors, NORMAL: to_normal(tensors[UNIFORM])} if needs_normal else {**tensors}
        return evaluate(
            x, y, g, arguments | {name: output(x, y, g, tensors) for name, output in shared_values.items()}
        )

    return evaluate_with_tensors
