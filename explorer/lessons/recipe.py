"""The recipe: how a Function is written, what lies on ctx, and which check finds what was forgotten."""

import torch
from torch.autograd import Function, gradcheck

from explorer.lessons.excerpt import Excerpt
from explorer.lessons.lesson import Answer, Choice, Lesson, explore
from explorer.lessons.pictures import Order
from explorer.lessons.retest import fresh


class Square(Function):
    """x ** exponent for an exponent of two; x lies on ctx as a saved tensor, the exponent as a number."""

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
    """The same with a backward that leaves g out."""

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return ctx.exponent * x, None


def passes(function, *values):
    """Whether gradcheck lets a Function pass at these x."""
    x = torch.tensor(values, dtype=torch.double, requires_grad=True)
    return gradcheck(function.apply, (x, 2), raise_exception=False)


def checked():
    """Both at a single x and at several."""
    both = (Square, ForgetfulSquare)
    return {
        each.__name__: {"single": passes(each, 3.0), "several": passes(each, -1.0, 0.5, 3.0)} for each in both
    }


def says():
    """The end of gradcheck's verdict on the forgetful one at a single x."""
    x = torch.tensor([3.0], dtype=torch.double, requires_grad=True)
    try:
        gradcheck(ForgetfulSquare.apply, (x, 2))
    except RuntimeError as error:
        return str(error).strip().splitlines()[0]


def upstream():
    """The gradient of x = 3 by each of them where something behind y multiplies it."""
    gradients = {"times": 10}
    for function in (Square, ForgetfulSquare):
        x = torch.tensor(3.0, requires_grad=True)
        (gradients["times"] * function.apply(x, 2)).backward()
        gradients[function.__name__] = x.grad.item()
    return gradients


def steps():
    """The recipe in its order."""
    return Order(
        "The recipe, out of order",
        (
            ("`forward` computes y from x; torch records nothing meanwhile.",
             "Everything begins with y: before that nothing is there to be kept."),
            ("What backward will need goes onto `ctx`: tensors by `save_for_backward`, numbers as they are.",
             "It is kept while forward runs: later x is out of reach."),
            ("`backward` takes it from `ctx` and returns g times the slope: one gradient for each argument of"
             " `forward`, `None` for a number.",
             "It can only read what was kept before, and be checked only after it is written."),
            ("`gradcheck` measures the slopes, in double precision and at several x.",
             "It calls forward and backward, so both are there by then."),
        ),
    )  # fmt: skip


def _finds(results):
    """The answer with the check that does not let the forgetful one pass."""
    passed = results["checked"]["ForgetfulSquare"]
    answers = {
        (True, True): "Nothing: it has no error of its own",
        (True, False): "gradcheck, if x has several elements",
        (False, False): "gradcheck, whatever x is",
    }
    return answers[passed["single"], passed["several"]]


LESSON = Lesson(
    key="recipe",
    title="The recipe",
    question="How is a Function written so that nothing is forgotten?",
    prediction=Choice(
        "This backward leaves g out. What finds it?",
        (
            Answer(
                "gradcheck, if x has several elements",
                "At a single x its g is one, which hides what was left out; but that is not the only g it"
                " sends.",
                "default",
            ),
            Answer(
                "gradcheck, whatever x is",
                "Last of all it sends a g of zero, and something comes back.",
                "zero",
            ),
            Answer(
                "Nothing: it has no error of its own",
                "It has one: where {upstream[times]} times as much arrives, the gradient is"
                " {upstream[Square]:g} and not {upstream[ForgetfulSquare]:g}.",
                "formula: 2 * x",
            ),
        ),
        _finds,
    ),
    excerpt=Excerpt((Square.forward, ForgetfulSquare.backward), "return ctx.exponent * x, None"),
    words="""
    Below stands the recipe for a Function, out of order. Put it in order: what happens first, what lies on
    `ctx` when, and what comes last.

    `ForgetfulSquare` follows all of it but for the factor g. If something behind it multiplies by
    {upstream[times]}, torch passes back {upstream[Square]:g}, and it {upstream[ForgetfulSquare]:g}.

    Its slope is right, and at a single x measured slopes agree with it. [gradcheck](gradcheck) still finds
    it, for it also sends a g of zero: “{says}”. `Square` passes (`{checked[Square][single]}`,
    `{checked[Square][several]}`).

    Drag g: only where it is one do the curves agree.
    """,
    code=(Square, ForgetfulSquare, passes),
    numbers=(checked, says, upstream),
    pictures=(steps,),
    scenes=(explore("square", "default", "formula: 2 * x", "zero", start=-2, stop=2, g=2),),
    retest=(
        fresh("square", "formula: 2 * g * x", -1, 0.5, 2),
        fresh("cube", "formula: 3 * x**2", -1, 0.5, 2),
        fresh("square", "formula: 2 * x", -1, 0.5, 3),
        fresh("cube", "formula: 3 * g * x**2", -1, 0.5, 2),
        fresh("formula: 3 * x", "formula: 3 * g", -1, 0.5, 2),
    ),
    remember="Keep in forward what backward needs, multiply by g, and look with another g.",
)
