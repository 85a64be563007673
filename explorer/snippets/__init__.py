"""An op with a rule as code to take away: PyTorch, an operator, the detach trick, JAX, MLX, a notebook.

All of it is generated from the formulas' trees and checked by being executed; nothing is copied from
what a user wrote.
"""

from explorer.snippets.custom_op import custom_op_snippet
from explorer.snippets.detach import detach_snippet
from explorer.snippets.jax_code import jax_snippet
from explorer.snippets.mlx_code import mlx_snippet
from explorer.snippets.notebooks import notebook
from explorer.snippets.torch_code import function_code, snippet

__all__ = [
    "custom_op_snippet", "detach_snippet", "function_code", "jax_snippet", "mlx_snippet", "notebook",
    "snippet",
]  # fmt: skip
