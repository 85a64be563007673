"""What a Python with this folder on its path does first: it pretends to have an accelerator."""

from tests.accelerator.pretend import pretend_device

pretend_device()
