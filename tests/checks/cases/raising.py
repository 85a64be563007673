"""Class A: backwards that raise, return None or return a wrong number, shape or type of gradients."""

import torch
from torch.autograd import Function

from tests.checks.cases.case import Case, learn

CASES: dict[str, Case] = {}


def add(name, backward, forward=None, arguments=(), words=""):
    """Add a Function made of ``backward``; its forward rounds x unless another one is given."""

    def run(ctx, x, *rest):
        ctx.save_for_backward(x)
        return x.round()

    members = {"forward": staticmethod(forward or run)}
    if backward is not None:
        members["backward"] = staticmethod(backward)
    function = type(name.title().replace(" ", ""), (Function,), members)
    CASES[name] = Case(function, arguments, {}, {"backward": "fails"}, words)


def raise_value_error(ctx, g):
    raise ValueError("not written yet")


def unpack_two_of_one(ctx, g):
    x, y = ctx.saved_tensors
    return g * (x < y)


def return_one(ctx, g):
    return g


def assert_false(ctx, g):
    raise AssertionError


def keep_two(ctx, x, t):
    ctx.save_for_backward(x)
    return (x > t).to(x.dtype)


def save_and_mark(ctx, x):
    y = x.round()
    ctx.mark_non_differentiable(y)
    return y


add("raises", raise_value_error, words="ValueError: not written yet")
add("unpacks two of one", unpack_two_of_one, words="not enough values")
add("looks up a missing key", lambda ctx, g: {}["x"] * g, words="KeyError")
add("asserts", assert_false, words="AssertionError")
add("ends an iterator", lambda ctx, g: next(iter([])), words="StopIteration")
add("calls item", lambda ctx, g: torch.full((7,), g.item()), words="item")
add("takes no gradient", lambda ctx: None, words="argument")
add("returns an array", lambda ctx, g: g.detach().numpy() * 2, words="ndarray")
add("returns a number", lambda ctx, g: 1.0, words="float")
add("returns a list", lambda ctx, g: [g])
add("returns a dictionary", lambda ctx, g: {"x": g}, words="dict")
add("returns two of one", lambda ctx, g: (g, g), words="number of gradients")
add("returns one of two", return_one, keep_two, (0.5,), words="number of gradients")
add("returns one of two, learned", return_one, keep_two, (learn(0.5),), words="number of gradients")
add("returns a part", lambda ctx, g: g.reshape(-1)[:3], words="shape")
add("returns an outer product", lambda ctx, g: g[:, None] * ctx.saved_tensors[0][None, :], words="shape")
add("returns None", lambda ctx, g: None, words="None")
add("returns None for both", lambda ctx, g: (None, None), keep_two, (0.5,), words="None")
add("has no backward", None, words="backward")
add("returns booleans", return_one, lambda ctx, x: x > 0, words="bool")
add("returns integers", return_one, lambda ctx, x: x.round().to(torch.int32), words="int32")
add("marks y as not differentiable", return_one, save_and_mark)
