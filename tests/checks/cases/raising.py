"""Class A: backwards that raise, return None or return a wrong number, shape or type of gradients."""

import numpy as np
import torch
from torch.autograd import Function

from tests.checks.cases.case import Case, learn

CASES: dict[str, Case] = {}


def add(name, backward, forward=None, arguments=(), words="", verdict="fails", **others):
    """Add a Function made of ``backward``; its forward rounds x unless another one is given."""

    def run(ctx, x, *rest):
        ctx.save_for_backward(x)
        return x.round()

    members = {"forward": staticmethod(forward or run)}
    if backward is not None:
        members["backward"] = staticmethod(backward)
    function = type(name.title().replace(" ", ""), (Function,), members)
    CASES[name] = Case(function, arguments, {}, {"backward": verdict, **others}, words)


def raise_value_error(ctx, g):
    raise ValueError("not written yet")


def use_undefined_name(ctx, g):
    return g * mask  # noqa: F821


def unpack_two_of_one(ctx, g):
    x, y = ctx.saved_tensors
    return g * (x < y)


def misspell_saved_tensors(ctx, g):
    (x,) = ctx.saved_tensor
    return g * x


def read_missing_attribute(ctx, g):
    return g * ctx.scale


def call_item(ctx, g):
    return torch.full((7,), g.item())


def compare_as_bool(ctx, g):
    return g if g > 0 else -g


def return_array(ctx, g):
    return g.detach().numpy() * 2


def return_number(ctx, g):
    return 1.0


def return_python_list(ctx, g):
    return [g]


def return_two(ctx, g):
    return g, g


def return_one(ctx, g):
    return g


def return_row(ctx, g):
    return g.reshape(-1)[:3]


def return_transposed_product(ctx, g):
    (x,) = ctx.saved_tensors
    return g[:, None] * x[None, :]


def multiply_array(ctx, g):
    (x,) = ctx.saved_tensors
    return torch.from_numpy(np.asarray(x.detach()) @ np.eye(3)) * g


def assert_false(ctx, g):
    raise AssertionError


def index_too_far(ctx, g):
    return g * ctx.saved_tensors[1]


def mix_operand_types(ctx, g):
    return g * "2"


def call_missing_method(ctx, g):
    return g.heaviside_(0).clamp_grad(1)


def take_no_gradient(ctx):
    return None


def divide_by_zero(ctx, g):
    return g / (1 // 0)


def return_integers(ctx, g):
    (x,) = ctx.saved_tensors
    return g.matmul(x.reshape(1, -1, 1))


def keep_two(ctx, x, t):
    ctx.save_for_backward(x)
    return (x > t).to(x.dtype)


def round_and_return_boolean(ctx, x):
    return x > 0


def round_to_integers(ctx, x):
    return x.round().to(torch.int32)


def save_and_mark(ctx, x):
    y = x.round()
    ctx.mark_non_differentiable(y)
    return y


add("raises", raise_value_error, words="ValueError: not written yet")
add("uses an undefined name", use_undefined_name, words="mask")
add("unpacks two of one", unpack_two_of_one, words="not enough values")
add("misspells saved tensors", misspell_saved_tensors, words="saved_tensor")
add("reads a missing attribute", read_missing_attribute, words="scale")
add("calls item", call_item, words="item")
add("branches on values", compare_as_bool, words="ambiguous")
add("returns an array", return_array, words="ndarray")
add("returns a number", return_number, words="float")
add("returns a list", return_python_list)
add("returns two of one", return_two, words="number of gradients")
add("returns one of two", return_one, keep_two, (0.5,), words="number of gradients")
add("returns one of two, learned", return_one, keep_two, (learn(0.5),), words="number of gradients")
add("returns a part", return_row, words="shape")
add("returns an outer product", return_transposed_product, words="shape")
add("multiplies arrays", multiply_array)
add("asserts", assert_false, words="AssertionError")
add("indexes too far", index_too_far, words="IndexError")
add("multiplies by a text", mix_operand_types, words="TypeError")
add("calls a missing method", call_missing_method)
add("takes no gradient", take_no_gradient, words="argument")
add("divides by zero", divide_by_zero, words="ZeroDivisionError")
add("multiplies matrices", return_integers)
add("returns None", lambda ctx, g: None, words="None")
add("returns None for both", lambda ctx, g: (None, None), keep_two, (0.5,), words="None")
add("has no backward", None, words="backward")
add("returns booleans", lambda ctx, g: g, round_and_return_boolean, words="bool")
add("returns integers", lambda ctx, g: g, round_to_integers, words="int32")
add("marks y as not differentiable", lambda ctx, g: g, save_and_mark)


def look_up_missing_key(ctx, g):
    return {}["x"] * g


def return_by_name(ctx, g):
    return {"x": g}


def return_mean(ctx, g):
    return g.mean()


add("looks up a missing key", look_up_missing_key, words="KeyError")
add("returns a dictionary", return_by_name, words="dict")
add("returns the mean", return_mean, words="shape")
add("returns an index", lambda ctx, g: g.argmax(), words="shape")
add("ends an iterator", lambda ctx, g: next(iter([])), words="StopIteration")
