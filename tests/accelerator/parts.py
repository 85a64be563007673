"""The parts by name, and the device in words."""

from importlib import import_module

import torch

from tests.accelerator.table import Table


def try_part(part: str, table: Table, name: str) -> None:
    """Add the rows of a part, tried on a device by its name, to the table."""
    import_module(f"tests.accelerator.{part}").add_rows(table, name)


def describe_device(name: str) -> str:
    """Return the device and the version of torch in words."""
    title = torch.cuda.get_device_name() if name == "cuda" else name
    return f"{title}, torch {torch.__version__}"


def wait_for(name: str) -> None:
    """Wait until the device has done all that it was given."""
    module = getattr(torch, name, None)
    if name != "cpu" and hasattr(module, "synchronize"):
        module.synchronize()
