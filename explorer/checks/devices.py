"""Does it follow x to another device?"""

import torch

from explorer.checks.curve import Curve
from explorer.checks.result import Result, fails, holds, unknown
from explorer.curves.foreign import NoGradientError, Subject, UntriedError

# Parts of torch's messages about tensors on another device than x's.
_EXPLICIT_MOVES = ("to numpy", "not compiled with CUDA", "NVIDIA driver", "No CUDA GPUs")
_OTHER_DEVICE = ("same device", "expected device", "found at least two devices")


def check_devices(curve: Curve) -> Result:
    """Return whether accelerator and CPU agree; without one, whether it runs on torch's meta device."""
    subject, accelerator = curve.subject, torch.accelerator.current_accelerator(check_available=True)
    if accelerator is None:
        return _check_on_meta(subject)
    kind, name = accelerator.type, accelerator.type.upper()
    x = subject.sample(-2.3, 2.9, 101, torch.float32)
    y, r = subject.run_both(x)
    try:
        moved_y, moved_r = subject.run_both(x.to(kind), 1.0, subject.prepare(x.dtype, device=kind))
    except UntriedError as error:
        return fails(f"On {name} {error}. {_get_advice(str(error))}")
    if moved_y.device.type != kind:
        return fails(f"On {name} y comes back on the CPU: make it with x's device, such as by zeros_like.")
    if torch.allclose(y, moved_y.cpu(), 1e-4, 1e-5) and torch.allclose(r, moved_r.cpu(), 1e-4, 1e-5):
        return holds(f"On {name} it gives the same result as on the CPU.")
    return fails(f"On {name} it gives a different result from the CPU.")


def _check_on_meta(subject: Subject) -> Result:
    x = subject.sample(-2.3, 2.9, 11, torch.float32)
    try:
        subject.run_both(x)
    except NoGradientError as error:
        if any(words in str(error) for words in _EXPLICIT_MOVES):
            return fails(f"On the CPU {error}. {_get_advice(str(error))}")
        raise
    try:
        y, _ = subject.run_both(x.to("meta"), 1.0, subject.prepare(x.dtype, device="meta"))
    except UntriedError as error:
        if any(words in str(error) for words in _EXPLICIT_MOVES + _OTHER_DEVICE):
            return fails(f"It does not follow x to another device: {error}. {_get_advice(str(error))}")
        if "copy out of meta" in str(error):
            return unknown(
                "There is no CUDA here. It copies x to the CPU; whether y goes back was not tried."
            )
        return unknown("There is no CUDA here. It does not run on torch's meta device, which has no values.")
    if y.device.type != "meta":
        return fails("It does not follow x to another device: y stays on the CPU. Make it with x's device.")
    return unknown("There is no CUDA here. On torch's meta device, which has no values, it follows x.")


def _get_advice(words: str) -> str:
    if any(part in words for part in _EXPLICIT_MOVES):
        return "Leave out .cuda(), .cpu() and .numpy()."
    return "Make new tensors with x's device, such as by zeros_like."
