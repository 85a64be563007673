"""The numbers that a pair draws: one u in (0, 1) for each element, and what follows from it."""

from collections.abc import Callable, Mapping

import torch
from torch import Tensor
from torch._C._functorch import is_functorch_wrapped_tensor  # torch has no public name for it

from explorer.catalogue import Loss, settled
from explorer.formula import Formula

U, NORMAL = "u()", "normal()"
Draw = torch.Generator | Tensor | None


def drawn(title: str, draw: Draw, x: Tensor) -> Tensor:
    """One u for each element of x, of its dtype, strictly between 0 and 1.

    ``draw``: a generator of x's device; or the numbers, which broadcast to x's shape; None for torch's
    default generator. Raises ValueError for numbers of another shape or outside (0, 1), TypeError for
    anything else.
    """
    if isinstance(draw, Tensor):
        return _given(title, draw, x)
    if draw is not None and not isinstance(draw, torch.Generator):
        raise TypeError(f"{title}: draw must be a torch.Generator or a tensor, not {type(draw).__name__}")
    u = torch.rand(x.shape, generator=draw, dtype=x.dtype, device=x.device)
    return u.clamp_(min=torch.finfo(x.dtype).eps / 4)  # torch draws from [0, 1)


def _given(title: str, draw: Tensor, x: Tensor) -> Tensor:
    try:
        u = draw.to(x).expand(x.shape)
    except RuntimeError:
        shapes = f"{tuple(draw.shape)} does not broadcast to x's shape {tuple(x.shape)}"
        raise ValueError(f"{title}: draw of shape {shapes}") from None
    known = not (torch.compiler.is_compiling() or is_functorch_wrapped_tensor(u))
    if known and not bool(((u > 0) & (u < 1)).all()):
        raise ValueError(f"{title}: draw must lie between 0 and 1, both excluded")
    return u


def normal(u: Tensor) -> Tensor:
    """The standard normal number of the same draw, of u's shape and dtype."""
    wide = u if u.dtype == torch.float64 else u.float()  # torch has it for these two alone
    quantile: Tensor = torch.special.ndtri(wide).to(u.dtype)
    return quantile


def drawing(
    formula: Formula, op: Formula, loss: Loss | None, bound: Callable[[Formula], Callable[..., Tensor]]
) -> Callable[..., Tensor]:
    """The function ``(x, y, g, tensors)`` of a formula that may draw; ``tensors`` holds ``"u()"``."""
    whole = settled(formula, op, loss)
    evaluate = bound(whole)
    if NORMAL not in whole.draws:
        return evaluate

    def with_normal(x: Tensor, y: Tensor | None, g: Tensor | None, tensors: Mapping[str, Tensor]) -> Tensor:
        return evaluate(x, y, g, {**tensors, NORMAL: normal(tensors[U])})

    return with_normal
