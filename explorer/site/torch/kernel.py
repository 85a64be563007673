"""What the browser holds beside Python: ``arrays.js``, and what the torch of the site's writer answered."""

from importlib import import_module
from typing import Any

arrays: Any = import_module("arrays")  # the worker registers it
_measured: Any = import_module("torch_measured")
VERSION: str = _measured.VERSION
ONCE: dict[str, str] = _measured.ONCE  # what torch says where it has no second derivative, by function
