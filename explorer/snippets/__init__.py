"""An op with a rule as code to take away: PyTorch, the detach trick, JAX, a notebook.

All of it is generated from the formulas' trees and checked by being executed; nothing is copied from
what a user wrote.
"""

from explorer.snippets.detach import detach_snippet
from explorer.snippets.jax_code import jax_snippet
from explorer.snippets.notebooks import notebook
from explorer.snippets.torch_code import function_code, snippet

__all__ = ["detach_snippet", "function_code", "jax_snippet", "notebook", "snippet"]
