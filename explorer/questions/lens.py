"""The questions "lens" and "distances": an op under noise, and the distance of rules from its gradient."""

from collections.abc import Mapping
from math import isfinite

from explorer.catalogue import Op
from explorer.measures import compute_lens_distances
from explorer.measures.lens import Lens, lens
from explorer.questions import Answer
from explorer.questions.curves import encode


def answer_lens(
    op: str,
    rules: list[str],
    parameters: dict[str, float],
    noise: str,
    width: float,
    start: float,
    stop: float,
    g: float,
) -> Answer:
    """Return the gradient of an op under noise, and sentences on how far each rule is from it.

    The result has `x`, the `gradient` at these x, and `words`.
    """
    return encode_lens(lens(op, rules, noise=noise, width=width, start=start, stop=stop, g=g, **parameters))


def encode_lens(result: Lens) -> Answer:
    """Return the gradient of an op under noise, a ``Lens``, as JSON types."""
    curve: Answer = encode({"x": result.x, "gradient": result.gradient})
    return curve | {"words": result.describe()}


def answer_distances(op: str, parameters: dict[str, float], noise: str, width: float) -> Answer:
    """Return the distance of each suitable rule from the op's gradient under noise, at g = 1.

    Infinite and unknown distances are left out.
    """
    return encode_distances(op, parameters, noise, width)


def encode_distances(op: str | Op, parameters: Mapping[str, float], noise: str, width: float) -> Answer:
    """Return the distance of each rule from the op's gradient under noise as JSON types.

    Infinite and unknown distances are left out.
    """
    distances = compute_lens_distances(op, parameters, noise, width)
    return {"distances": {key: each for key, each in distances.items() if isfinite(each)}}
