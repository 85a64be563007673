"""Does backward return a gradient for x?"""

from explorer.checks.curve import Curve
from explorer.checks.result import Result, fails, holds

_ADVICE = (
    ("returns None", "x never learns; return zeros_like(x) if that is meant"),
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
    """Return whether one backward of a plain x and g = 1 came back with a gradient."""
    nature = curve.nature
    if nature.cut:
        advice = "Return x's dtype" if "dtype" in nature.cut else "Give it a Function with a backward"
        return fails(f"No gradient reaches x, for {nature.cut}. {advice}.")
    if not nature.failure:
        more = f" Forward returns {nature.outputs} outputs: only the first is checked, with g = 0 for others."
        return holds(f"It returns a gradient for x.{more * (nature.outputs > 1)}")
    place = f" ({nature.line})" if nature.line else ""
    advice = next((words for part, words in _ADVICE if part in nature.failure), "mend that line")
    sentence = nature.failure[0].upper() + nature.failure[1:]
    return fails(f"{sentence}{place}: {advice}. No check that needs a gradient was tried.")
