"""Which surrogate? sign with four rules, predicted first, then trained."""

import torch
from torch.autograd import Function

from explorer.lessons.lesson import Answer, Choice, Lesson, explore, train
from explorer.lessons.net import about, two_layer_net


class Sign(Function):
    """The sign, with a slope of your choice in the backward."""

    @staticmethod
    def forward(ctx, x, slope):
        ctx.save_for_backward(x)
        ctx.slope = slope
        return x.sign()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * ctx.slope(x), None


def swish_sign(x, b=5.0):
    """The slope of SwishSign, a peak with negative sides."""
    return 2 * b * torch.sigmoid(b * x) * torch.sigmoid(-b * x) * (2 - b * x * torch.tanh(b * x / 2))


LESSON_RULES = ("straight_through", "clipped", "approx_sign", "swish_sign")


def slopes():
    """What each rule makes of g at x, by its name."""
    return {
        "Straight-through": torch.ones_like,
        "Clipped straight-through": lambda x: (x.abs() <= 1).to(x.dtype),
        "ApproxSign": lambda x: (2 - 2 * x.abs()).relu(),
        "SwishSign": swish_sign,
    }


def lane(slope):
    """The net with sign and one slope: its last loss, and the share of gradients blocked at the end."""
    blocked = []

    def activation(hidden):
        blocked.append((slope(hidden) == 0).float().mean().item())
        return Sign.apply(hidden, slope)

    return {"loss": two_layer_net(activation)["last"], "blocked": blocked[-1]}


def race():
    """The two-layer net on random data with sign, 500 steps with each slope."""
    lanes = {name: lane(slope) for name, slope in slopes().items()}
    best, *others = sorted(lanes, key=lambda name: lanes[name]["loss"])
    blocked = {name: one["blocked"] for name, one in lanes.items()}
    losses = {"best": about(lanes[best]["loss"], digits=1), "next": about(lanes[others[0]]["loss"], digits=1)}
    return {"best": best, "loss": losses, "blocked": blocked}


LESSON = Lesson(
    key="surrogates",
    title="Which surrogate?",
    question="Many gradients for one `sign`: with which does a net learn best?",
    prediction=Choice(
        "The net has a `sign` in the middle. With which rule does its loss end lowest?",
        (
            Answer(
                "Clipped straight-through",
                "Its box blocks {race[blocked][Clipped straight-through]:.0%} of the gradients at the end:"
                " the values before the `sign` are large.",
                "clipped",
            ),
            Answer(
                "ApproxSign",
                "It follows the jump closely, but {race[blocked][ApproxSign]:.0%} of the values lie outside"
                " the triangle at the end.",
                "approx_sign",
            ),
            Answer(
                "Straight-through",
                "It passes everything, and the values of this net lie far from zero.",
                "straight_through",
            ),
            Answer(
                "SwishSign",
                "Its sides turn the gradient round, and far out, where this net has its values, little is"
                " left.",
                "swish_sign",
            ),
        ),
        lambda results: results["race"]["best"],
        thumbnails=True,
    ),
    words="""
    `sign` jumps, and is flat everywhere else. A [surrogate](surrogate) spreads the jump over a
    neighbourhood of zero. *Clipped* is a box, *ApproxSign* a triangle, *SwishSign* a peak with negative
    sides; *Straight-through* passes everything.

    On this task the values before the `sign` are large, far from zero. So a narrow rule lets little
    through: at the end *Clipped* blocks {race[blocked][Clipped straight-through]:.0%} of the gradients,
    *ApproxSign* {race[blocked][ApproxSign]:.0%}, *Straight-through*
    {race[blocked][Straight-through]:.0%}.

    The best one here is *{race[best]}*: its loss ends at about {race[loss][best]:,.0f}, that of the next
    one at about {race[loss][next]:,.0f}. This is one task: where the values lie near zero, a narrow rule
    lets more through.
    """,
    code=(Sign, swish_sign, slopes, two_layer_net, about, lane),
    numbers=(race,),
    scenes=(explore("sign", *LESSON_RULES), train("sign", *LESSON_RULES)),
    remember="A surrogate must be as wide as the values it meets.",
)
