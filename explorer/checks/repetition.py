"""Does it give the same twice?"""

from dataclasses import replace

import torch

from explorer.checks.curve import Curve
from explorer.checks.result import Finding, by_design, fails, holds


def check_repetition(curve: Curve) -> Finding:
    """Return whether three calls on the same x and g, with another x in between, give the same bits."""
    subject = replace(curve.subject, seed=None)
    x = subject.sample(-2.3, 2.9, 101)
    calls = [subject.run_both(x)]
    calls.append(subject.run_both(x))
    subject.run_both(subject.fit_domain(x.flip(0) * 0.7 + 0.4))
    calls.append(subject.run_both(x))
    (y, y_again, y_later), (r, r_again, r_later) = zip(*calls, strict=True)
    if not torch.equal(y.nan_to_num(), y_again.nan_to_num()):
        return by_design(
            "Its forward draws random numbers: two calls on the same x differ, and so may gradients."
        )
    if not torch.equal(r.nan_to_num(), r_again.nan_to_num()):
        return fails(
            "Two backwards of the same x and g differ: leave random numbers out, or draw them in forward."
        )
    if torch.equal(y.nan_to_num(), y_later.nan_to_num()) and torch.equal(
        r.nan_to_num(), r_later.nan_to_num()
    ):
        same = "x, g and draw" if curve.drawn else "x and g"
        return holds(f"Three calls on the same {same} give the same bits.")
    return fails(
        "After a call on another x it gives another result: it keeps state between calls. Keep it in ctx."
    )
