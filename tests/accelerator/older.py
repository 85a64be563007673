"""What versions of torch before our bound lack, filled in as far as this script needs it."""

import inspect
from types import SimpleNamespace

import torch


def find_accelerator() -> str:
    """Return the kind of this machine's accelerator, "" where torch sees none."""
    if torch.cuda.is_available():
        return "cuda"
    if getattr(torch, "xpu", None) and torch.xpu.is_available():
        return "xpu"
    return "mps" if torch.backends.mps.is_available() else ""


def complete_torch(name: str) -> None:
    """Give torch what the explorer needs of later versions; ``name``: of the accelerator."""
    known = getattr(getattr(torch, "accelerator", None), "current_accelerator", None)
    if known is None or "check_available" not in inspect.signature(known).parameters:
        found = None if name == "cpu" else torch.device(name)
        torch.accelerator = SimpleNamespace(  # type: ignore[assignment]
            current_accelerator=lambda check_available=False: found, is_available=lambda: found is not None
        )
