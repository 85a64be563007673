"""Functions that teach their parameters, in the shapes people publish them, in our own words.

Each is called with x and then ``arguments``: a tensor learns.
"""

from dataclasses import dataclass, field
from typing import Any

from tests.reading.sample import function


@dataclass(frozen=True)
class Published:
    """A source, what follows x, by the names of forward's arguments, and the names in the formula."""

    name: str
    source: str
    arguments: dict[str, float | str]
    kinks: tuple[float, ...] = (0.0,)
    names: dict[str, str] = field(default_factory=dict)


def published(name: str, forward: str, backward: str, arguments: Any, *, takes: str, **own: Any) -> Published:
    """Return a sample whose Function has these bodies; ``own`` are further fields."""
    return Published(name, function(forward, backward, takes=takes), arguments, **own)


PUBLISHED = (
    published(
        "pact",
        "ctx.save_for_backward(x, alpha)\ny = torch.clamp(x, min=0, max=alpha.item())\n"
        "scale = (2**k - 1) / alpha\ny_q = torch.round(y * scale) / scale\nreturn y_q",
        "x, alpha, = ctx.saved_tensors\nlower_bound = x < 0\nupper_bound = x > alpha\n"
        "x_range = ~(lower_bound | upper_bound)\n"
        "grad_alpha = torch.sum(grad_output * torch.ge(x, alpha).float()).view(-1)\n"
        "return grad_output * x_range.float(), grad_alpha, None",
        {"alpha": "tensor 1.5", "k": 3},
        takes="ctx, x, alpha, k",
        kinks=(0.0, 1.5),
    ),
    published(
        "lsq_plus",
        "ctx.save_for_backward(weight, alpha, beta)\nctx.other = g, Qn, Qp\n"
        "w_q = torch.div(weight - beta, alpha).clamp(Qn, Qp).round()\nreturn w_q * alpha + beta",
        "weight, alpha, beta = ctx.saved_tensors\ng, Qn, Qp = ctx.other\n"
        "q_w = (weight - beta) / alpha\nsmaller = (q_w < Qn).float()\nbigger = (q_w > Qp).float()\n"
        "between = 1.0 - smaller - bigger\n"
        "grad_alpha = ((smaller * Qn + bigger * Qp + between * q_w.round() - between * q_w)"
        " * grad_output * g).sum().unsqueeze(dim=0)\n"
        "grad_beta = ((smaller + bigger) * grad_output * g).sum().unsqueeze(dim=0)\n"
        "grad_weight = between * grad_output\n"
        "return grad_weight, grad_alpha, None, None, None, None, grad_beta",
        {"alpha": "tensor 0.5", "g": 0.125, "Qn": -4, "Qp": 3, "per_channel": 0, "beta": "tensor 0.25"},
        takes="ctx, weight, alpha, g, Qn, Qp, per_channel, beta",
        kinks=(-1.75, 1.75, 0.5, 0.0, 1.5),
        names={"g": "g_value"},
    ),
    published(
        "lsq_with_its_own_scale",
        "ctx.save_for_backward(x, s)\nctx.low, ctx.high = low, high\n"
        "return (x / s).clamp(low, high).round() * s",
        "x, s = ctx.saved_tensors\nscale = 1.0 / math.sqrt(x.numel() * ctx.high)\nlevel = x / s\n"
        "inside = (level >= ctx.low) & (level <= ctx.high)\n"
        "due = torch.where(inside, level.round() - level, level.clamp(ctx.low, ctx.high))\n"
        "grad_s = (grad_output * due).sum() * scale\n"
        "return grad_output * inside, grad_s.reshape(s.shape), None, None",
        {"s": "tensor 0.3", "low": -4, "high": 3},
        takes="ctx, x, s, low, high",
        kinks=(-1.2, 0.9, 0.15, 0.0),
    ),
    published(
        "prelu_where_it_is_needed",
        "ctx.save_for_backward(x, w)\nreturn torch.where(x > 0, x, w * x)",
        "x, w = ctx.saved_tensors\ngrad_x = grad_w = None\nif ctx.needs_input_grad[0]:\n"
        "    grad_x = torch.where(x > 0, grad_output, w * grad_output)\n"
        "if ctx.needs_input_grad[1]:\n"
        "    grad_w = (grad_output * x.clamp(max=0)).reshape(w.numel(), -1).sum(dim=-1)\n"
        "return grad_x, grad_w",
        {"w": "tensor 0.25"},
        takes="ctx, x, w",
    ),
    published(
        "bounds_by_masks_in_place",
        "ctx.save_for_backward(x, lo, hi)\nreturn torch.max(torch.min(x, hi), lo)",
        "x, lo, hi = ctx.saved_tensors\ngrad_x = grad_output.clone()\n"
        "grad_x[(x < lo) | (x > hi)] = 0\ngrad_lo = grad_output.clone()\ngrad_lo[x >= lo] = 0\n"
        "grad_hi = grad_output.clone()\ngrad_hi.masked_fill_(x <= hi, 0.)\n"
        "return grad_x, grad_lo.sum().view_as(lo), torch.sum(grad_hi).view(1)",
        {"lo": "tensor -0.75", "hi": "tensor 1.25"},
        takes="ctx, x, lo, hi",
        kinks=(-0.75, 1.25),
    ),
)
