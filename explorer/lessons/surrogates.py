"""Which surrogate? sign with four rules, predicted first, then trained."""

from explorer.catalogue import find_rule
from explorer.lessons.lesson import Choice, Lesson, explore, train
from explorer.training import Run, Settings

RULES = ("straight_through", "clipped", "approx_sign", "swish_sign")


def race():
    """The two-layer net on random data with sign, 500 steps: losses, shares of g blocked, the best rule."""
    run = Run(Settings(op="sign", rules=RULES))
    run.advance(500)
    snapshot = run.snapshot()
    loss, blocked = snapshot.loss, {rule: snapshot.gradients[rule].blocked for rule in RULES}
    return {"loss": loss, "blocked": blocked, "best": find_rule(min(loss, key=loss.get)).label}


LESSON = Lesson(
    key="surrogates",
    title="Which surrogate?",
    question="Many gradients for one `sign`: with which does a net learn best?",
    prediction=Choice(
        "The net has a `sign` in the middle. With which rule does its loss end lowest?",
        tuple(find_rule(rule).label for rule in RULES),
        lambda results: results["race"]["best"],
        pictures=RULES,
    ),
    words="""
    `sign` jumps, and is flat everywhere else. A [surrogate](surrogate) spreads the jump over a
    neighbourhood of zero. *Clipped* is a box, *ApproxSign* a triangle, *SwishSign* a peak with negative
    sides; *Straight-through* passes everything.

    On this task the values before the `sign` are large, far from zero. So a narrow rule lets little
    through: at the end *Clipped* blocks {race[blocked][clipped]:.0%} of the gradients, *ApproxSign*
    {race[blocked][approx_sign]:.0%}, *Straight-through* {race[blocked][straight_through]:.0%}.

    The losses: *Straight-through* {race[loss][straight_through]:,.0f}, *Clipped*
    {race[loss][clipped]:,.0f}, *ApproxSign* {race[loss][approx_sign]:,.0f}, *SwishSign*
    {race[loss][swish_sign]:,.0f}. The best one here: {race[best]}. This is one task: where the values
    lie near zero, a narrow rule lets more through.
    """,
    numbers=(race,),
    scenes=(explore("sign", *RULES), train("sign", *RULES)),
    remember="A surrogate must be as wide as the values it meets.",
)
