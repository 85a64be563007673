"""Does it work under autocast?"""

import torch
from torch import Tensor

from explorer.checks.curve import Curve
from explorer.checks.result import Result, fails, holds, name_dtype
from explorer.curves.foreign import Subject, UntriedError, pull_gradient

_TOLERANCE = 4e-2  # bfloat16 has three digits


def check_autocast(curve: Curve) -> Result:
    """Return whether forward under autocast to bfloat16, and backward outside it, agree with plain calls."""
    subject = curve.subject
    for dtype in (torch.float32, torch.bfloat16):
        x = subject.sample(-2.3, 2.9, 23, torch.float32).to(dtype)
        try:
            y, r = _run(subject, x, enabled=False)
        except UntriedError:
            continue  # it takes no such x without autocast either
        name = name_dtype(dtype)
        try:
            y_cast, r_cast = _run(subject, x, enabled=True)
        except UntriedError as error:
            return fails(
                f"Under autocast, with x in {name}, {error}. Decorate forward and backward with "
                "torch.amp.custom_fwd and custom_bwd."
            )
        if not (_is_near(y, y_cast) and _is_near(r, r_cast)):
            return fails(f"Under autocast, with x in {name}, it gives a different result than without it.")
    return holds("Under autocast to bfloat16 it gives the same result as without it.")


def _run(subject: Subject, x: Tensor, enabled: bool) -> tuple[Tensor, Tensor]:
    """Return y and the gradient; learned arguments are float32, like the weights of a module."""
    leaf = x.clone().requires_grad_()
    with torch.autocast("cpu", torch.bfloat16, enabled=enabled):
        y = subject.run(leaf.clone(), subject.prepare(torch.float32, learned=True))
    return y.detach(), pull_gradient(y, leaf)


def _is_near(left: Tensor, right: Tensor) -> bool:
    size = float(left.float().abs().nan_to_num(posinf=0.0).amax()) if left.numel() else 0.0
    return torch.allclose(left.float(), right.float(), _TOLERANCE, _TOLERANCE * size, equal_nan=True)
