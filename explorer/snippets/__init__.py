"""An op with a rule as code to take away: PyTorch, an operator, JAX, a notebook.

All of it is generated from the formulas' trees and checked by being executed; nothing is copied from
what a user wrote.
"""

from typing import NoReturn

from explorer.snippets.custom_op import custom_op_snippet
from explorer.snippets.jax_code import jax_snippet
from explorer.snippets.notebooks import notebook
from explorer.snippets.torch_code import function_code, snippet

__all__ = ["custom_op_snippet", "function_code", "jax_snippet", "notebook", "snippet"]

_REMOVED = {
    "detach_snippet": "the detach trick is no longer exported: take explorer.snippet, which has every rule",
    "mlx_snippet": "code for MLX is no longer exported: take explorer.snippets.jax_snippet and translate it",
}


def __getattr__(name: str) -> NoReturn:
    """Raise AttributeError, with what to do instead for a function that was removed."""
    raise AttributeError(_REMOVED.get(name, f"module {__name__!r} has no attribute {name!r}"))
