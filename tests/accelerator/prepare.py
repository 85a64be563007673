"""What a process does before it imports the explorer, this one and its workers; the device by its name."""

import inspect
from types import SimpleNamespace

import torch

from tests.accelerator import absent


def find_accelerator() -> str:
    """Return the kind of this machine's accelerator, "" where torch sees none."""
    if torch.cuda.is_available():
        return "cuda"
    if getattr(torch, "xpu", None) and torch.xpu.is_available():
        return "xpu"
    return "mps" if torch.backends.mps.is_available() else ""


def prepare_process(name: str) -> list[str]:
    """Complete torch, which may be older than our bound, and return the packages that are missing."""
    known = getattr(getattr(torch, "accelerator", None), "current_accelerator", None)
    if known is None or "check_available" not in inspect.signature(known).parameters:
        found = None if name == "cpu" else torch.device(name)
        torch.accelerator = SimpleNamespace(
            current_accelerator=lambda check_available=False: found, is_available=lambda: found is not None
        )
    if name == "pretended":
        from tests.accelerator.pretend import pretend_device

        pretend_device()
    return absent.fill_in()


def describe_device(name: str) -> str:
    title = torch.cuda.get_device_name() if name == "cuda" else name
    return f"{title}, torch {torch.__version__}"


def wait_for(name: str) -> None:
    module = getattr(torch, name, None)
    if name != "cpu" and hasattr(module, "synchronize"):
        module.synchronize()
