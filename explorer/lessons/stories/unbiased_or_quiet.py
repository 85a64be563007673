"""Unbiased or low-noise: estimators of a random unit's gradient that use one random number per step."""

import torch

from explorer.catalogue import Loss, find_op, find_rule
from explorer.gradient.hashing import hash_uniform, mix_bits
from explorer.lessons.lesson import link_explore
from explorer.lessons.pictures import Asked, Control, Walker
from explorer.lessons.prose import make_lesson
from explorer.lessons.retest import make_variant as variant

T = 0.45  # the target of the output, where the loss is lowest
START = 0.2  # the probability p before training
RATES = (1.0, 2.0, 4.0, 8.0)
RUNS, STEPS, SEED = 2000, 150, 1


def compute_loss(y):
    """Return the loss (y − t)² of a unit's output y."""
    return (y - T) ** 2


def compute_mean_loss(p):
    """Return the mean loss of a unit whose output is 1 with probability p and 0 otherwise."""
    return (1 - p) * compute_loss(0.0) + p * compute_loss(1.0)


def sample_unit(x, u):
    """Return the probability p of a unit's output 1, and the output for the random number u."""
    p = x.sigmoid()
    return p, (u < p).double()


def straight_through(x, u):
    """Return the slope of the loss at the sampled output, times the slope of p, as an estimate."""
    p, y = sample_unit(x, u)
    return 2 * (y - T) * p * (1 - p)


def reinmax(x, u):
    """Return an estimate like straight-through's, with the mean of two slopes instead of p's slope."""
    p, y = sample_unit(x, u)
    half = (y + p) / 2
    return 2 * (y - T) * (2 * half * (1 - half) - p * (1 - p) / 2)


def reinforce(x, u):
    """Return the loss times the slope of the log-probability as an estimate of the gradient."""
    p, y = sample_unit(x, u)
    return compute_loss(y) * (y - p)


def reinforce_baseline(x, u):
    """Return REINFORCE's estimate of the gradient with the mean loss subtracted as a baseline."""
    p, y = sample_unit(x, u)
    return (compute_loss(y) - compute_mean_loss(p)) * (y - p)


def arm(x, u):
    """Return an estimate of the gradient from the losses of the outputs for u and for 1 - u."""
    return (compute_loss(sample_unit(x, 1 - u)[1]) - compute_loss(sample_unit(x, u)[1])) * (u - 0.5)


def disarm(x, u):
    """Return ARM's estimate of the gradient, averaged over all random numbers u with the same two outputs."""
    y, antithetic = sample_unit(x, u)[1], sample_unit(x, 1 - u)[1]
    return (compute_loss(antithetic) - compute_loss(y)) * (antithetic - y) * x.abs().sigmoid() / 2


def get_estimators():
    """Return a dict of all gradient estimators, functions of x and u, by name."""
    functions = (straight_through, reinmax, reinforce, reinforce_baseline, arm, disarm)
    return {function.__name__: function for function in functions}


def to_logit(p):
    """Return the x at which the unit's probability is p."""
    return torch.tensor(p, dtype=torch.double).logit()


def ends():
    """Return the loss of each of the unit's two outputs, 0 and 1."""
    return {"zero": compute_loss(0.0), "one": compute_loss(1.0)}


def exact():
    """Return the exact gradient of the mean loss at the initial x."""
    x = to_logit(START).requires_grad_()
    compute_mean_loss(x.sigmoid()).backward()
    return x.grad.item()


def average_over_u(estimate, x):
    """Return a gradient estimator's mean and standard deviation at x over evenly spaced random u."""
    u = (torch.arange(10_000, dtype=torch.double) + 0.5) / 10_000
    estimates = estimate(x, u)
    return {"mean": estimates.mean().item(), "sd": estimates.std(correction=0).item()}


def start():
    """Return the mean and standard deviation of each gradient estimator at the initial x."""
    return {"p": START} | {
        name: average_over_u(estimate, to_logit(START)) for name, estimate in get_estimators().items()
    }


def rest():
    """Return the probability p at which straight-through's mean gradient is 0, so that training ends."""
    low, high = to_logit(0.01), to_logit(0.99)
    for _ in range(40):
        middle = (low + high) / 2
        if average_over_u(straight_through, middle)["mean"] < 0:
            low = middle
        else:
            high = middle
    return middle.sigmoid().item()


def shares():
    """Return the share of runs that end with p above 1/2, for each estimator and learning rate."""
    rates = torch.tensor(RATES, dtype=torch.double)[:, None]
    walkers = dict.fromkeys(get_estimators(), to_logit(START).expand(len(RATES), RUNS))
    for step in range(STEPS):
        u = hash_uniform(SEED, step, RUNS)
        walkers = {name: x - rates * get_estimators()[name](x, u) for name, x in walkers.items()}
    return {name: (x > 0).double().mean(1).tolist() for name, x in walkers.items()}


def _get_answer(results):
    return "Down to zero" if results["ends"]["zero"] < results["ends"]["one"] else "Up to one"


def ask_rest():
    """Return the question at which probability p runs with the straight-through estimator end."""
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


def ask_enough():
    """Return the question whether an unbiased estimator is enough, given where single runs end."""
    at_start, above_half = start(), shares()
    percent = {
        name: ", ".join(f"{100 * share:.2g}" for share in values) for name, values in above_half.items()
    }
    rates = ", ".join(f"{rate:g}" for rate in RATES)
    return Asked(
        "ReinMax is unbiased for a parabola: its mean is the exact gradient at every p. Is that enough?",
        (
            (
                "Yes: every run ends at the right end",
                f"A run takes single draws, and they stray by {at_start['reinmax']['sd']:.2f} from a mean of"
                f" {at_start['reinmax']['mean']:.3f}.",
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


def get_rules():
    """Return a dict from labels to estimators, as catalogue keys or formulas."""
    return {
        "Straight-through": "sigmoid_st",
        "ReinMax": "reinmax",
        "Straight-through Gumbel": "st_gumbel",
        "REINFORCE": "reinforce_baseline",
        "REINFORCE, mean loss as baseline": f"formula: (f() - {make_mean_loss_formula()}) * (y - sigmoid(x))",
        "ARM": "arm",
        "DisARM": "disarm",
    }


def make_mean_loss_formula():
    """Return the mean loss as a formula in x."""
    return "(target**2 * (1 - sigmoid(x)) + (1 - target)**2 * sigmoid(x))"


def make_walker():
    """Return the picture of a random unit that is trained with every estimator."""
    loss, chord = Loss("(y - target)**2"), find_op(f"formula: {make_mean_loss_formula()}")
    return Walker(
        op=find_op("bernoulli").parsed.data,
        loss=loss.parsed.data,
        slope=loss.slope.data,
        mean_loss=chord.parsed.data,
        exact=chord.parsed.gradient.data,
        estimators={name: find_rule(rule).parsed.data for name, rule in get_rules().items()},
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


LESSON = make_lesson(
    "unbiased-or-quiet",
    _get_answer,
    code=(
        mix_bits, hash_uniform, compute_loss, compute_mean_loss, sample_unit, straight_through, reinmax,
        reinforce, reinforce_baseline, arm, disarm, get_estimators, to_logit, average_over_u,
    ),
    numbers=(ends, exact, start, rest, shares),
    pictures=(ask_rest, ask_enough, make_walker),
    scenes=(link_explore("bernoulli", "sigmoid_st", "disarm", start=-4, stop=4, g=10),),
    retest=(
        variant("formula: (x - t)**2", "default", 0, 1, t=0.25),
        variant("formula: (x - t)**2", "default", 0, 1, t=0.75),
        variant("formula: (x - t)**2", "default", 0, 1, t=-0.5),
        variant("formula: sigmoid(a * x)", "default", 0, a=2),
        variant("step", "sigmoid_st", 0),
        variant("bernoulli", "sigmoid_st", 0, 0, u=(0.25, 0.75)),
        variant("dropout", "default", 1, -1, u=(0.25, 0.75), p=0.5),
    ),
)  # fmt: skip
