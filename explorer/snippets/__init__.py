"""Source code of an op with a rule: plain PyTorch, a custom operator, JAX, a notebook.

All code is generated from the formulas' trees and tested by executing it. User input is never copied into it.
"""

from typing import NoReturn

from explorer.snippets.custom_op import custom_op_snippet
from explorer.snippets.jax_code import jax_snippet
from explorer.snippets.notebooks import notebook
from explorer.snippets.short_code import function_code
from explorer.snippets.torch_code import snippet

__all__ = ["custom_op_snippet", "function_code", "jax_snippet", "notebook", "snippet"]

_REMOVED = {
    "detach_snippet": "the detach trick is no longer exported: take explorer.snippet, which has every rule",
    "mlx_snippet": "code for MLX is no longer exported: take explorer.snippets.jax_snippet and translate it",
}


def __getattr__(name: str) -> NoReturn:
    """Raise AttributeError; for a function that was removed, the message names the replacement."""
    raise AttributeError(_REMOVED.get(name, f"module {__name__!r} has no attribute {name!r}"))
