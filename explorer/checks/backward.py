"""Does backward return a gradient for x?"""

from explorer.checks.curve import Curve
from explorer.checks.result import Result, fails, holds

_ADVICE = (
    ("returns None", "x never learns; return zeros_like(x) if that is intended"),
    ("number of gradients", "return one gradient for each input of forward, None for those without"),
    ("invalid gradient", "return a gradient of the shape of its input"),
    ("returns the shape", "return a gradient of the shape of its input"),
    ("You must implement", "write a staticmethod backward(ctx, g)"),
    ("ndarray", "return a tensor of torch"),
    ("expected Variable", "return a tensor of torch"),
    ("converted to Scalar", "keep tensors: leave out .item(), float() and int()"),
    ("numpy", "use torch's functions on saved tensors"),
    ("ambiguous", "replace the if by torch.where"),
    ("NameError", "save the value in forward, or pass it as an argument"),
    ("saved_tensor", "save tensors with ctx.save_for_backward and read ctx.saved_tensors"),
    ("to unpack", "save and read the same tensors in the same order"),
    ("AttributeError", "set the attribute on ctx in forward"),
)


def check_backward(curve: Curve) -> Result:
    """Return whether a backward for g = 1 returns a gradient for x."""
    traits = curve.traits
    if traits.no_path:
        advice = "Return x's dtype" if "dtype" in traits.no_path else "Give it a Function with a backward"
        return fails(f"No gradient reaches x, because {traits.no_path}. {advice}.")
    if not traits.failure:
        more = f" Forward returns {traits.outputs} outputs: only the first is checked, with g = 0 for others."
        return holds(f"It returns a gradient for x.{more * (traits.outputs > 1)}")
    place = f" ({traits.failure_line})" if traits.failure_line else ""
    advice = next((words for part, words in _ADVICE if part in traits.failure), "correct that line")
    sentence = traits.failure[0].upper() + traits.failure[1:]
    return fails(f"{sentence}{place}: {advice}. No check that needs a gradient was tried.")
