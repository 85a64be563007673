"""Does it give the same result twice?"""

from dataclasses import replace

import torch
from torch import Tensor

from explorer.checks.curve import Curve
from explorer.checks.result import Result, by_design, fails, holds
from explorer.curves.foreign import Subject, is_same


def check_repetition(curve: Curve) -> Result:
    """Return whether three calls on the same x and g, with another x in between, give the same bits."""
    subject = replace(curve.subject, seed=None)
    x = subject.sample(-2.3, 2.9, 101)
    calls = [subject.run_both(x)]
    calls.append(subject.run_both(x))
    subject.run_both(subject.fit_domain(x.flip(0) * 0.7 + 0.4))
    calls.append(subject.run_both(x))
    (y, y_again, y_later), (r, r_again, r_later) = zip(*calls, strict=True)
    if not is_same(y, y_again, 0.0):
        if not _repeats_its_backward(subject, x):
            return fails(
                "Two backwards through one y differ: backward draws again. Save in ctx what forward drew."
            )
        return by_design(
            "Its forward draws random numbers: two calls on the same x differ, and so may gradients."
        )
    if not is_same(r, r_again, 0.0):
        return fails(
            "Two backwards for the same x and g differ: leave random numbers out, or draw them in forward."
        )
    if is_same(y, y_later, 0.0) and is_same(r, r_later, 0.0):
        same = "x, g and draw" if curve.drawn_pair else "x and g"
        return holds(f"Three calls on the same {same} give the same bits.")
    return fails(
        "After a call on another x the result is different: it keeps state between calls. Save it in ctx."
    )


def _repeats_its_backward(subject: Subject, x: Tensor) -> bool:
    """Return whether two backwards through the same y give the same bits; True if the second one raises."""
    leaf = x.clone().requires_grad_()
    y = subject.run(leaf)
    try:
        first, second = (
            torch.autograd.grad(y, leaf, torch.ones_like(y), retain_graph=True, allow_unused=True)[0]
            for _ in range(2)
        )
    except RuntimeError:
        return True
    return first is None or is_same(first, second, 0.0)
