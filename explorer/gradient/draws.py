"""The numbers that a pair draws: one u in (0, 1) for each element, and what follows from it."""

from collections.abc import Callable, Mapping

import torch
from torch import Tensor
from torch._C._functorch import is_functorch_wrapped_tensor  # torch has no public name for it

from explorer.catalogue import Loss, settled
from explorer.formula import Formula
from explorer.formula.tree import NORMAL, UNIFORM, LossAt, Node, Varying, is_constant, substituted, walk

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
    shared = _shared_outputs(formula.tree)
    tensors_in: dict[Node, Node] = {LossAt(output): LossAt(Varying(name)) for name, output in shared.items()}
    whole = settled(Formula(substituted(formula.tree, tensors_in)), op, loss)
    evaluate, further = bound(whole), NORMAL in whole.draws
    filled = {name: bound(Formula(output)) for name, output in shared.items()}
    if not (further or filled):
        return evaluate

    def with_further(x: Tensor, y: Tensor | None, g: Tensor | None, tensors: Mapping[str, Tensor]) -> Tensor:
        given = {**tensors, NORMAL: normal(tensors[UNIFORM])} if further else {**tensors}
        return evaluate(x, y, g, given | {name: output(x, y, g, tensors) for name, output in filled.items()})

    return with_further


def _shared_outputs(tree: Node) -> dict[str, Node]:
    """The outputs of f that all elements share, by names of tensors: their losses are in x's dtype."""
    outputs = (part.output for part in walk(tree) if isinstance(part, LossAt))
    return {f"({Formula(output).text})": output for output in outputs if is_constant(output)}
