"""The noises by which an op can be smoothed, with their densities."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Literal

from explorer.formula import Formula, parse
from explorer.formula.tree import Name, Number, substitute

NARROWEST, WIDEST = 0.01, 10.0
# The mean under noise is computed for ops that grow at most like exp(r * |x|). This is the maximum of r times
# the noise's width.
MAX_RATE = 0.95


@dataclass(frozen=True)
class Noise:
    """A noise that is symmetric around 0 and has width 1.

    Attributes:
        key: permanent name, used in links and code.
        label: name in sentences, such as "uniform noise".
        density: the probability density, a formula in x; at a jump, the mean of both sides.
        distribution: the cumulative distribution, a formula in x.
        width: the meaning of its width, a noun phrase.
        reach: the |x| beyond which less than 1e-8 of the noise lies (for Cauchy noise, less than 0.01).
        kinks: the kinks of the density, in ascending order.
        smooth: the length of an interval between kinks over which a polynomial of degree 11 approximates the
            density; None for any length.
        tail: the decay of the density: "none" if it ends at the reach, "normal" like exp(−x²/2),
            "exponential" like exp(−|x|), "power" like 1/x².
    """

    key: str
    label: str
    density: str
    distribution: str
    width: str
    reach: float
    kinks: tuple[float, ...]
    smooth: float | None
    tail: Literal["none", "normal", "exponential", "power"]

    @cached_property
    def parsed_density(self) -> Formula:
        """The probability density of the noise as a formula."""
        return parse(self.density, variables=("x",))

    @cached_property
    def peak(self) -> float:
        """The largest value of the noise's probability density."""
        return Formula(substitute(self.parsed_density.tree, {Name("x"): Number(0.0)})).value()

    @cached_property
    def parsed_distribution(self) -> Formula:
        """The cumulative distribution of the noise as a formula."""
        return parse(self.distribution, variables=("x",))


NOISES: Mapping[str, Noise] = MappingProxyType({
    noise.key: noise
    for noise in (
        Noise("uniform", "uniform",
              "where(abs(abs(x) - 0.5) <= 1e-9, 0.5, where(abs(x) < 0.5, 1, 0))", "clamp(x + 0.5, 0, 1)",
              "from end to end", 0.5, (-0.5, 0.5), None, "none"),
        Noise("triangular", "triangular", "max(0, 2 - 4 * abs(x))",
              "where(x < 0, 2 * max(x + 0.5, 0)**2, 1 - 2 * max(0.5 - x, 0)**2)",
              "from end to end", 0.5, (-0.5, 0.0, 0.5), None, "none"),
        Noise("normal", "normal", "exp(-x**2 / 2) / sqrt(2 * pi)", "(1 + erf(x / sqrt(2))) / 2",
              "its standard deviation", 7.0, (), 1.6, "normal"),
        Noise("logistic", "logistic", "exp(-abs(x)) / (1 + exp(-abs(x)))**2", "sigmoid(x)",
              "its scale: 1.81 times that is the standard deviation", 20.0, (), 2.4, "exponential"),
        Noise("laplace", "Laplace", "exp(-abs(x)) / 2",
              "where(x < 0, exp(-abs(x)) / 2, 1 - exp(-abs(x)) / 2)",
              "its mean distance from 0", 20.0, (0.0,), 2.4, "exponential"),
        Noise("cauchy", "Cauchy", "1 / (pi * (1 + x**2))", "0.5 + atan(x) / pi",
              "half of it lies no farther from 0", 100.0, (), 1.2, "power"),
    )
})  # fmt: skip

# Sentences about an op under noise, with placeholders in braces, for Python and the page Explore.
LENS_WORDS: Mapping[str, str] = MappingProxyType({
    "lead": "Dashed: the slope of the mean of {op} under {noise} noise of width {width} ({meaning}).",
    "same": "{rules} is the gradient of {op} under {noise} noise of width {width}.",
    "sames": "{rules} are the gradient of {op} under {noise} noise of width {width}.",
    "nearly": "To within a millionth it is also {rules}.",
    "apart": "Off it, on {start} to {stop}: {rules}.",
    "unlike": "It is 0 everywhere, and no rule is compared with it.",
    "undefined": "{op} has no mean under {noise} noise, which also reaches x where {op} has no value.",
    "grows": "{op} has no mean under {noise} noise of width {width}: it grows too fast.",
    "steep": "{op} grows too fast to be summed under {noise} noise, if it has a mean there.",
    "slow": "{op} has a mean under {noise} noise of width {width}, but most of it comes from too far away to "
            "be summed here.",
    "many": "{op} jumps or bends too often within reach of {noise} noise of width {width} to be summed.",
    "points": "{op} is known at some points only, and cannot be seen through noise.",
    "holes": "Where the noise reaches x at which {op} has no value there is no mean, and no curve.",
})  # fmt: skip
