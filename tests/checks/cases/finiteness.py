"""Class D: NaN by inf/inf, log 0 and 0·inf, with safe forms as controls."""

import torch
from torch.nn import functional

from tests.checks.cases.case import Case, make_function

CASES: dict[str, Case] = {}


def add(name, function, *arguments, verdict="fails", words=""):
    """Add a function by the verdict that "finite" should give."""
    CASES[name] = Case(function, arguments, {}, {"finite": verdict}, words)


add("softplus by exp", lambda x: torch.log(1 + torch.exp(5 * x)) / 5, words="NaN")
add("mish by exp", lambda x: x * torch.tanh(torch.log(1 + torch.exp(x))), words="NaN")
add("logit of a sigmoid", lambda x: torch.log(x.sigmoid() / (1 - x.sigmoid())))
add("square over itself", lambda x: x * x / x, words="0")
add("x log x", lambda x: x * torch.log(x), words="0")
add("masked log", lambda x: torch.where(x > 0, torch.log(x), 0.0))
add("masked root", lambda x: torch.where(x > 0, torch.sqrt(x), 0.0), words="NaN")
add("root of abs", lambda x: x.abs() ** 0.5, words="NaN")
add("masked inverse", lambda x: torch.where(x == 0, 0.0, 1 / x))
add("power of g", make_function(lambda x: torch.sin(x), lambda x, g: g * g / g * torch.cos(x)), words="g = 0")
add("softplus", functional.softplus, verdict="holds")
add("softplus in log1p", lambda x: x.clamp(min=0) + torch.log1p(torch.exp(-x.abs())), verdict="holds")
add("logsigmoid", functional.logsigmoid, verdict="holds")
add("sinc", torch.sinc, verdict="holds")
add("twice-masked root", lambda x: torch.where(x > 0, torch.sqrt(torch.where(x > 0, x, 1.0)), 0.0),
    verdict="holds")  # fmt: skip
add("root of a shifted square", lambda x: torch.sqrt(x * x + 1e-6), verdict="holds")
add("exponential", torch.exp, verdict="holds", words="710")
add("logarithm", torch.log, verdict="holds", words="0 < x")
add("square root", torch.sqrt, verdict="by design")
add("arcsine", lambda x: torch.asin(x.clamp(-0.99, 0.99)), verdict="holds")
add("inverse", torch.reciprocal, verdict="by design")
add("exponential behind a mask", lambda x: torch.exp(x) * (x < 5), words="NaN")
add("logarithm of gamma, with its poles", torch.lgamma, verdict="holds")


def add_spike(name, backward, **due):
    add(name, make_function(lambda x: (x >= 1).to(x), backward), **due)


add_spike("pole between samples", lambda x, g: g / (1 + 5 * (x - 1)) ** 2, words="Towards x = 0.8 ")
add_spike("pole with a change of sign", lambda x, g: g / (1 + 5 * (x - 1)), words="Towards x = 0.8 ")
add_spike("pole of an odd formula", lambda x, g: g / (x.sinh() - 2).abs(), words="Towards x = 1.444 ")
add_spike("spike by exp", lambda x, g: g * torch.exp(-5 * x) / (1 + torch.exp(-5 * x)) ** 2)
add_spike("narrow peak", lambda x, g: g / (1 + 1e9 * (x - 1).abs()) ** 2, verdict="holds")
add("own pole", lambda x: 1 / (3 * x - 1), verdict="holds")
add("own poles of a tangent", torch.tan, verdict="holds")

for _name, _mask, _words in (
    ("quotient by its own mask", lambda x: x.abs() < 1, "for |x| ≥ 1 is NaN"),
    ("quotient by its mask on one side", lambda x: x < 1.237, "for x ≥ 1.237 is NaN"),
    ("quotient by its mask on both sides", lambda x: x.abs() > 1, "for x ≥ −1 and x ≤ 1 is NaN"),
):
    add(_name, make_function(torch.sign, lambda x, g, mask=_mask: g * mask(x) / mask(x)), words=_words)
    CASES[_name].verdicts.update(dict.fromkeys(("area", "antiderivative", "linear in g", "kinks"), "unknown"))
