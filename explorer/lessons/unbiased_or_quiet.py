"""Unbiased or quiet? A unit that draws, and estimators of its gradient that walk by one draw a step."""

import torch

from explorer.catalogue import Loss, find_op, find_rule
from explorer.gradient.hashing import hash_uniform, mix_bits
from explorer.lessons.lesson import Answer, Choice, Lesson, explore
from explorer.lessons.pictures import Asked, Control, Walker
from explorer.lessons.retest import fresh as variant

T = 0.45  # the output at which the loss is lowest
START = 0.2  # p at first
RATES = (1.0, 2.0, 4.0, 8.0)
RUNS, STEPS, SEED = 2000, 150, 1


def lost(y):
    """The loss of an output."""
    return (y - T) ** 2


def mean_loss(p):
    """The mean loss of a unit that draws one with chance p, else zero."""
    return (1 - p) * lost(0.0) + p * lost(1.0)


def unit(x, u):
    """The chance p, and the output that u draws."""
    p = x.sigmoid()
    return p, (u < p).double()


def straight_through(x, u):
    """The slope of the loss at the draw, times that of p."""
    p, y = unit(x, u)
    return 2 * (y - T) * p * (1 - p)


def reinmax(x, u):
    """As straight-through, with the mean of two slopes of p."""
    p, y = unit(x, u)
    half = (y + p) / 2
    return 2 * (y - T) * (2 * half * (1 - half) - p * (1 - p) / 2)


def reinforce(x, u):
    """The loss, times the slope of the chance's logarithm."""
    p, y = unit(x, u)
    return lost(y) * (y - p)


def reinforce_baseline(x, u):
    """The same with the mean loss taken off."""
    p, y = unit(x, u)
    return (lost(y) - mean_loss(p)) * (y - p)


def arm(x, u):
    """The losses of the draws by u and 1 - u, compared."""
    return (lost(unit(x, 1 - u)[1]) - lost(unit(x, u)[1])) * (u - 0.5)


def disarm(x, u):
    """The mean of the same over all u that draw both outputs."""
    y, twin = unit(x, u)[1], unit(x, 1 - u)[1]
    return (lost(twin) - lost(y)) * (twin - y) * x.abs().sigmoid() / 2


def estimators():
    """All estimators by name."""
    known = (straight_through, reinmax, reinforce, reinforce_baseline, arm, disarm)
    return {each.__name__: each for each in known}


def logit(p):
    """The x whose chance is p."""
    return torch.tensor(p, dtype=torch.double).logit()


def ends():
    """The loss of both outputs."""
    return {"zero": lost(0.0), "one": lost(1.0)}


def exact():
    """The exact gradient at the start: of the mean loss, for x."""
    x = logit(START).requires_grad_()
    mean_loss(x.sigmoid()).backward()
    return x.grad.item()


def over_u(estimate, x):
    """Mean and standard deviation of an estimator at an x, over even u."""
    u = (torch.arange(10_000, dtype=torch.double) + 0.5) / 10_000
    each = estimate(x, u)
    return {"mean": each.mean().item(), "sd": each.std(correction=0).item()}


def start():
    """Mean and standard deviation of each estimator at the start."""
    return {"p": START} | {name: over_u(each, logit(START)) for name, each in estimators().items()}


def rest():
    """The p at which straight-through comes to rest: its mean rises through 0 there."""
    low, high = logit(0.01), logit(0.99)
    for _ in range(40):
        middle = (low + high) / 2
        if over_u(straight_through, middle)["mean"] < 0:
            low = middle
        else:
            high = middle
    return middle.sigmoid().item()


def shares():
    """The share of all runs that end above p = 1/2, by estimator; one a rate."""
    rates = torch.tensor(RATES, dtype=torch.double)[:, None]
    walkers = dict.fromkeys(estimators(), logit(START).expand(len(RATES), RUNS))
    for step in range(STEPS):
        u = hash_uniform(SEED, step, RUNS)
        walkers = {name: x - rates * estimators()[name](x, u) for name, x in walkers.items()}
    return {name: (x > 0).double().mean(1).tolist() for name, x in walkers.items()}


def _better_end(results):
    """The answer that names the output with the smaller loss."""
    return "Down to zero" if results["ends"]["zero"] < results["ends"]["one"] else "Up to one"


def resting():
    """The end of straight-through."""
    best = f"{rest():.2f}"
    return Asked(
        "Straight-through returns 2 (y − t) · p (1 − p) for each draw y. Where is p after many steps?",
        (
            ("Near zero", "Near zero most draws are 0, whose slope is negative: that leads up again."),
            (
                f"Around {best}",
                f"At p = {best} the slope of the parabola, averaged over draws, is 0: there it rests,"
                " although the mean loss has no minimum there.",
            ),
            ("Near one", "Near one most draws are 1, whose slope is positive: that leads down again."),
        ),
        1,
    )


def enough():
    """A mean that is right, and the ends of single runs."""
    at, above = start(), shares()
    percent = {name: ", ".join(f"{100 * each:.2g}" for each in values) for name, values in above.items()}
    rates = ", ".join(f"{rate:g}" for rate in RATES)
    return Asked(
        "ReinMax is unbiased for a parabola: its mean is the exact gradient at every p. Is that enough?",
        (
            (
                "Yes: every run ends at the right end",
                f"A run takes single draws, and they stray by {at['reinmax']['sd']:.2f} from a mean of"
                f" {at['reinmax']['mean']:.3f}.",
            ),
            (
                "No: some runs end at the wrong end",
                f"Of {RUNS:,} runs of {STEPS} steps at rates {rates}, above p = ½ end: by straight-through"
                f" {percent['straight_through']} %, by ReinMax {percent['reinmax']} %, by REINFORCE"
                f" {percent['reinforce']} %, by DisARM {percent['disarm']} %, as with the mean loss"
                " as baseline.",
            ),
            (
                "No: it rests where straight-through does",
                "Its mean is 0 nowhere: it always leads to one end.",
            ),
        ),
        1,
    )


def rules():
    """All estimators by their labels, as keys or formulas; "REINFORCE" takes a baseline b, 0 at first."""
    return {
        "Straight-through": "sigmoid_st",
        "ReinMax": "reinmax",
        "Straight-through Gumbel": "st_gumbel",
        "REINFORCE": "reinforce_baseline",
        "REINFORCE, mean loss as baseline": f"formula: (f() - {mean_loss_formula()}) * (y - sigmoid(x))",
        "ARM": "arm",
        "DisARM": "disarm",
    }


def mean_loss_formula():
    """The mean loss as a formula of x."""
    return "(target**2 * (1 - sigmoid(x)) + (1 - target)**2 * sigmoid(x))"


def walker():
    """The unit, walked by every estimator."""
    loss, chord = Loss("(y - target)**2"), find_op(f"formula: {mean_loss_formula()}")
    return Walker(
        op=find_op("bernoulli").parsed.data,
        loss=loss.parsed.data,
        slope=loss.slope.data,
        mean_loss=chord.parsed.data,
        exact=chord.parsed.gradient.data,
        estimators={name: find_rule(each).parsed.data for name, each in rules().items()},
        start=Control("p", START, 0.01, 0.99, "where runs begin"),
        rate=Control("rate", 4.0, 0.2, 8.0, "of learning"),
        parameters=(
            Control("target", T, 0.0, 1.0, "t of the loss"),
            Control("tau", 1.0, 0.05, 3.0, "temperature"),
            Control("b", 0.0, -0.5, 0.8, "baseline"),
        ),
        steps=STEPS,
        runs=RUNS,
        seed=SEED,
        drawn=30,
    )


LESSON = Lesson(
    key="unbiased-or-quiet",
    title="Unbiased or quiet?",
    question="What makes a good stand-in for the gradient of a random draw?",
    prediction=Choice(
        "A unit draws `y = 1` with chance p, else `y = 0`; p = sigmoid(x) learns. The loss `(y - t)**2` is"
        " lowest at `t = 0.45`. Where should p go?",
        (
            Answer(
                "To t, where the parabola is lowest",
                "The parabola is lowest there, but between both outputs nothing is ever drawn.",
                "sigmoid_st",
            ),
            Answer(
                "Up to one",
                "There the loss is {ends[one]:.4f}, and a draw of zero has less.",
                "formula: (f() - fa()) * (ya() - y) * sigmoid(abs(x)) / 2",
            ),
            Answer(
                "Down to zero",
                "The loss of that output is {ends[zero]:.4f}, that of the other {ends[one]:.4f}, and the mean"
                " lies on the straight line between.",
                "disarm",
            ),
            Answer("Nowhere: a draw has no slope", "A single draw has none, but the mean loss has.", "zero"),
        ),
        _better_end,
    ),
    words="""
    The unit draws only the ends of the parabola, so its mean loss is their chord: p should go all the way
    down. At p = {start[p]:g} the exact gradient for x is {exact:.4f}.

    Training has single draws, and needs an [estimator](estimator): a number for each draw. Its [bias](bias)
    is how far its mean is off. *Straight-through* takes the slope of the parabola where y was drawn: its
    mean is {start[straight_through][mean]:.3f}, the wrong way.

    *REINFORCE* is right on average, but its draws stray by {start[reinforce][sd]:.3f}. With the mean loss as
    [baseline](baseline) it is {start[reinforce_baseline][sd]:.3f}, with a second draw, as *DisARM* takes,
    {start[disarm][sd]:.4f}.

    Answer both questions, then walk.
    """,
    code=(
        mix_bits, hash_uniform, lost, mean_loss, unit, straight_through, reinmax, reinforce,
        reinforce_baseline, arm, disarm, estimators, logit, over_u,
    ),
    numbers=(ends, exact, start, rest, shares),
    pictures=(resting, enough, walker),
    scenes=(explore("bernoulli", "sigmoid_st", "disarm", start=-4, stop=4, g=10),),
    retest=(
        variant("formula: (x - t)**2", "default", 0, 1, t=0.25),
        variant("formula: (x - t)**2", "default", 0, 1, t=0.75),
        variant("formula: (x - t)**2", "default", 0, 1, t=-0.5),
        variant("formula: sigmoid(a * x)", "default", 0, a=2),
        variant("step", "sigmoid_st", 0),
        variant("bernoulli", "sigmoid_st", 0, 0, u=(0.25, 0.75)),
        variant("dropout", "default", 1, -1, u=(0.25, 0.75), p=0.5),
    ),
    remember="An estimator's bias decides where training rests, and its spread how many runs get there.",
)  # fmt: skip
