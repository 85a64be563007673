"""Does it follow x to another device?"""

import torch
from torch import Tensor

from explorer.checks.curve import Curve
from explorer.checks.result import Finding, fails, holds, unknown
from explorer.foreign import NoGradientError, Subject, UntriedError, pulled

# Parts of torch's messages about tensors on another device than x's.
_MOVES = ("Cannot copy out of meta", "to numpy", "not compiled with CUDA", "NVIDIA driver", "No CUDA GPUs")
_STAYS = ("same device", "expected device", "found at least two devices")


def devices(curve: Curve) -> Finding:
    """On CUDA against the CPU; without CUDA on torch's meta device, which has shapes and no values."""
    subject = curve.subject
    if not torch.cuda.is_available():
        return _on_meta(subject)
    x = subject.lifted(torch.linspace(-2.3, 2.9, 101))
    y, r = subject.both(x)
    try:
        moved_y, moved_r = _passed(subject, x, "cuda")
    except UntriedError as error:
        return fails(f"On CUDA {error}. {_advice(str(error))}")
    if moved_y.device.type != "cuda":
        return fails("On CUDA y comes back on the CPU: make it with x's device, such as by zeros_like.")
    if torch.allclose(y, moved_y.cpu(), 1e-4, 1e-5) and torch.allclose(r, moved_r.cpu(), 1e-4, 1e-5):
        return holds("On CUDA it gives the same result as on the CPU.")
    return fails("On CUDA it gives another result than on the CPU.")


def _on_meta(subject: Subject) -> Finding:
    x = subject.lifted(torch.linspace(-2.3, 2.9, 11))
    try:
        subject.both(x)
    except NoGradientError as error:
        if any(words in str(error) for words in _MOVES):
            return fails(f"On the CPU {error}. {_advice(str(error))}")
        raise
    try:
        y, _ = _passed(subject, x, "meta")
    except UntriedError as error:
        if any(words in str(error) for words in _MOVES + _STAYS):
            return fails(f"It does not follow x to another device: {error}. {_advice(str(error))}")
        return unknown("There is no CUDA here, and without values, on torch's meta device, it does not run.")
    if y.device.type != "meta":
        return fails("It does not follow x to another device: y stays on the CPU. Make it with x's device.")
    return unknown("There is no CUDA here. On torch's meta device, which has no values, it follows x.")


def _passed(subject: Subject, x: Tensor, device: str) -> tuple[Tensor, Tensor]:
    leaf = x.to(device).requires_grad_()
    y = subject.run(leaf.clone(), subject.prepared(x.dtype, device=device))
    return y.detach(), pulled(y, leaf)


def _advice(words: str) -> str:
    if any(part in words for part in _MOVES):
        return "Leave out .cuda(), .cpu() and .numpy()."
    return "Make new tensors with x's device, such as by zeros_like."
