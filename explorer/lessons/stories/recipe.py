"""A recipe for writing a Function: the steps, the use of ctx, and the checks that find omissions."""

import torch
from torch.autograd import Function, gradcheck

from explorer.lessons.excerpt import Excerpt
from explorer.lessons.lesson import link_explore
from explorer.lessons.pictures import Order
from explorer.lessons.prose import make_lesson
from explorer.lessons.retest import make_variant


class Square(Function):
    """A Function that raises x to an exponent of two."""

    @staticmethod
    def forward(ctx, x, exponent):
        ctx.save_for_backward(x)
        ctx.exponent = exponent
        return x**exponent

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * ctx.exponent * x, None


class ForgetfulSquare(Square):
    """A Function that squares x, with a bug: its backward does not multiply by g."""

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return ctx.exponent * x, None


def is_accepted(function, *values):
    """Return whether a Function passes gradcheck at an x with the given values."""
    x = torch.tensor(values, dtype=torch.double, requires_grad=True)
    return gradcheck(function.apply, (x, 2), raise_exception=False)


def check_each():
    """Return, for each Function, whether it passes gradcheck at a single x, and at several."""
    functions = (Square, ForgetfulSquare)
    return {
        function.__name__: {
            "single": is_accepted(function, 3.0),
            "several": is_accepted(function, -1.0, 0.5, 3.0),
        }
        for function in functions
    }


def read_error():
    """Return the first line of gradcheck's error for ForgetfulSquare."""
    x = torch.tensor([3.0], dtype=torch.double, requires_grad=True)
    try:
        gradcheck(ForgetfulSquare.apply, (x, 2))
    except RuntimeError as error:
        return str(error).strip().splitlines()[0]


def scale_output():
    """Return the gradient of each Function at x = 3 if a later operation multiplies its output by ten."""
    gradients = {"times": 10, "x": 3.0}
    for function in (Square, ForgetfulSquare):
        x = torch.tensor(gradients["x"], requires_grad=True)
        (gradients["times"] * function.apply(x, 2)).backward()
        gradients[function.__name__] = x.grad.item()
    return gradients


def make_order():
    """Return the picture of the recipe's steps, which the reader puts in order."""
    return Order(
        "The recipe, out of order",
        (
            ("`forward` computes y from x; torch records nothing meanwhile.",
             "Everything begins with y: before forward runs there is nothing to save."),
            ("What backward will need goes onto `ctx`: tensors by `save_for_backward`, numbers as they are.",
             "Save it while forward runs: later x is out of reach."),
            ("`backward` takes it from `ctx` and returns g times the slope: one gradient for each argument of"
             " `forward`, `None` for a number.",
             "It can only read what was kept before, and be checked only after it is written."),
            ("`gradcheck` measures the slopes, in double precision and at several x.",
             "It calls forward and backward, so both are there by then."),
        ),
    )  # fmt: skip


def _get_answer(results):
    passed = results["check_each"]["ForgetfulSquare"]
    answers = {
        (True, True): "Nothing: it has no error of its own",
        (True, False): "gradcheck, if x has several elements",
        (False, False): "gradcheck, whatever x is",
    }
    return answers[passed["single"], passed["several"]]


LESSON = make_lesson(
    "recipe",
    _get_answer,
    excerpt=Excerpt((Square.forward, ForgetfulSquare.backward), "return ctx.exponent * x, None"),
    code=(Square, ForgetfulSquare, is_accepted),
    numbers=(check_each, read_error, scale_output),
    pictures=(make_order,),
    scenes=(link_explore("square", "default", "formula: Forgetful = 2 * x", "zero", start=-2, stop=2, g=2),),
    retest=(
        make_variant("square", "formula: 2 * g * x", -1, 0.5, 2),
        make_variant("cube", "formula: 3 * x**2", -1, 0.5, 2),
        make_variant("square", "formula: 2 * x", -1, 0.5, 3),
        make_variant("cube", "formula: 3 * g * x**2", -1, 0.5, 2),
        make_variant("formula: 3 * x", "formula: 3 * g", -1, 0.5, 2),
    ),
)
