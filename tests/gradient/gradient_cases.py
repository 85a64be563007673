import torch
from torch import Tensor

from explorer.catalogue import Op, Rule
from explorer.gradient import apply

WITHOUT_PATH = ("binarize", "ternarize", "ttq", "step", "step_open")


def compute_gradient(op: str | Op, rule: str | Rule, x: Tensor, g: float = 1, **parameters: float) -> Tensor:
    x = x.detach().clone().requires_grad_()
    return torch.autograd.grad(apply(op, rule, x, **parameters), x, torch.full_like(x, g))[0]
