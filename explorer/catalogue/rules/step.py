"""Surrogates for step-like ops, which jump by 1: a surrogate that spreads the jump honestly has area 1."""

from __future__ import annotations

from explorer.catalogue.records import Parameter, Rule

OTHERWISE = "It stands for a jump by 1 at the threshold 0, which this op does not make."


def _sharpness(default: float, meaning: str) -> Parameter:
    return Parameter("a", default, 0.1, 100.0, meaning)


# Each entry is a paragraph: name and formula, facts, words.
# fmt: off
STEP = (
    Rule("sigmoid_surrogate", "Sigmoid surrogate", "g * a * sigmoid(a * x) * (1 - sigmoid(a * x))",
         parameters=(_sharpness(4.0, "steepness: the peak is a/4"),), kinks=(),
         antiderivative="sigmoid(a * x)", area="1",
         purpose="The derivative of a steep sigmoid: just what logistic noise on the threshold would give.",
         note="snnTorch's default is 25; written with exp(−a x) it once overflowed to NaN below −3.5.",
         source="SpikingJelly Sigmoid; snnTorch sigmoid"),
    Rule("atan_surrogate", "Arctan surrogate", "g * a / 2 / (1 + (pi * a * x / 2)**2)",
         also=("arctangent", "ATan"), parameters=(_sharpness(2.0, "steepness: the peak is a/2"),), kinks=(),
         antiderivative="atan(pi * a * x / 2) / pi + 0.5", area="1",
         purpose="Tails so long that even neurons far from their threshold learn: Cauchy noise on it.",
         note="snnTorch's docstring has 1/π in front where its code has a/2; only a/2 gives area 1.",
         source="Fang et al. 2021, arXiv:2007.05785; SpikingJelly ATan; snnTorch atan"),
    Rule("fast_sigmoid", "Fast sigmoid (SuperSpike)", "g / (1 + k * abs(x))**2", also=("SuperSpike",),
         parameters=(Parameter("k", 25.0, 0.1, 100.0, "steepness: the peak is 1 at any k"),), kinks=("0",),
         antiderivative="x / (1 + k * abs(x))", area="2 / k",
         purpose="A cheap peak without an exponential, of height 1: a steeper one passes less in all.",
         note="Its area is 2/k, 0.08 at the default; norse and BrainPy take k = 100, which leaves 0.02.",
         source="SuperSpike, Zenke and Ganguli 2018, arXiv:1705.11146; snnTorch fast_sigmoid"),
    Rule("triangle", "Triangle", "g * a * relu(1 - a * abs(x))", also=("triangular", "PiecewiseQuadratic"),
         parameters=(_sharpness(1.0, "height: the half-width is 1/a"),), kinks=("-1 / a", "0", "1 / a"),
         antiderivative="0.5 + clamp(a * x, -1, 1) * (1 - abs(clamp(a * x, -1, 1)) / 2)", area="1",
         purpose="Falls straight to 0, so that neurons far from their threshold cost nothing backward.",
         note="norse scales the height alone; snnTorch's triangular is −1 above the threshold.",
         source="Esser et al. 2016, arXiv:1603.08270; SpikingJelly PiecewiseQuadratic"),
    Rule("boxcar", "Boxcar", "g * (abs(x) <= w) / (2 * w)", also=("rect", "rectangular"),
         parameters=(Parameter("w", 0.5, 0.05, 5.0, "half-width: the height is 1/(2w)"),), kinks=("-w", "w"),
         antiderivative="clamp(0.5 + x / (2 * w), 0, 1)", area="1",
         purpose="One constant near the threshold, nothing elsewhere: uniform noise on it.",
         note="SpikingJelly's Rect leaves the two edges out.",
         source="STBP, Wu et al. 2018, arXiv:1706.02609; SpikingJelly Rect"),
    Rule("gaussian", "Gaussian", "g * exp(-(x / s)**2 / 2) / (s * sqrt(2 * pi))",
         also=("normal",), parameters=(Parameter("s", 0.5, 0.01, 5.0, "standard deviation"),), kinks=(),
         antiderivative="(1 + erf(x / (s * sqrt(2)))) / 2", area="1",
         purpose="The density of normal noise on the threshold, and so the gradient of the expected spike.",
         note="One library lost a pair of brackets, exp(−x²/2·s²), and with them the meaning of s.",
         source="sinabs Gaussian"),
    Rule("multi_gaussian", "Multi-Gaussian",
         "((1 + h) * exp(-(x / s)**2 / 2)"
         " - h / q * (exp(-((x - s) / (q * s))**2 / 2) + exp(-((x + s) / (q * s))**2 / 2)))"
         " * g / (s * sqrt(2 * pi))",
         parameters=(
             Parameter("s", 0.5, 0.01, 5.0, "standard deviation"),
             Parameter("h", 0.15, 0.0, 1.0, "weight of the lobes: two wide hills are taken off"),
             Parameter("q", 6.0, 1.0, 20.0, "width of the lobes: as a multiple of s"),
         ), kinks=(),
         antiderivative=(
             "(1 - h + (1 + h) * erf(x / (s * sqrt(2)))"
             " - h * (erf((x - s) / (q * s * sqrt(2))) + erf((x + s) / (q * s * sqrt(2))))) / 2"
         ), area="1 - h",
         purpose="A peak with shallow lobes below 0, so that neurons far below threshold are not left alone.",
         source="Yin et al. 2021, arXiv:2103.12593; sinabs MultiGaussian"),
    Rule("erf_surrogate", "Erf surrogate", "g * a / sqrt(pi) * exp(-(a * x)**2)",
         parameters=(_sharpness(2.0, "steepness: the peak is a/√π"),), kinks=(),
         antiderivative="(1 + erf(a * x)) / 2", area="1",
         purpose="The Gaussian again, counted by steepness: a = 1/(s·√2).",
         note="norse writes 2/√π in front at any steepness, which is the area 2/k instead of 1.",
         source="SpikingJelly Erf"),
    Rule("laplace", "Laplace", "g * a / 2 * exp(-a * abs(x))",
         also=("PiecewiseExp", "SLAYER"), parameters=(_sharpness(1.0, "steepness: the peak is a/2"),),
         kinks=("0",), antiderivative="0.5 + sign(x) * (1 - exp(-a * abs(x))) / 2", area="1",
         purpose="Falls by the same share with every step away from the threshold: Laplace noise on it.",
         note="sinabs's SingleExponential leaves out the half and has area 2.",
         source="SLAYER, Shrestha and Orchard 2018, arXiv:1810.08646; SpikingJelly PiecewiseExp"),
    Rule("softsign_surrogate", "Softsign surrogate", "g * a / 2 / (1 + a * abs(x))**2",
         parameters=(_sharpness(2.0, "steepness: the peak is a/2"),), kinks=("0",),
         antiderivative="(1 + softsign(a * x)) / 2", area="1",
         purpose="The fast sigmoid made honest: the same shape, scaled so that its area stays 1.",
         source="SpikingJelly SoftSign"),
    Rule("tanh_surrogate", "Tanh surrogate", "g * (1 - tanh(k * x)**2)", also=("HeaviTanh",),
         parameters=(Parameter("k", 1.0, 0.1, 100.0, "steepness: the peak is 1 at any k"),), kinks=(),
         antiderivative="tanh(k * x) / k", area="2 / k",
         purpose="A smooth bell of height 1 at any steepness.",
         note="norse calls it the gradient of (1 + tanh(k x))/2, which would be k/2 times as large.",
         source="norse HeaviTanh"),
    Rule("q_pseudo_spike", "q-pseudo-spike", "g * (1 + 2 * abs(x) / (a - 1))**(-a)",
         parameters=(Parameter("a", 2.0, 1.05, 20.0, "tail exponent: the larger, the shorter the tail"),),
         kinks=("0",), antiderivative="0.5 + sign(x) * (1 - (1 + 2 * abs(x) / (a - 1))**(1 - a)) / 2",
         area="1",
         purpose="Peak 1 and area 1 whatever its tail, so that the tail alone can be studied.",
         source="Herranz-Celotti and Rouat 2022, arXiv:2202.00282; SpikingJelly QPseudoSpike"),
    Rule("leaky_spike", "Leaky spike", "g * where(x >= 0, 1, leak)", also=("LSO", "LeakyKReLU"),
         parameters=(Parameter("leak", 0.1, 0.0, 0.9, "leak: what passes below the threshold"),),
         kinks=("0",),
         antiderivative="where(x >= 0, x, leak * x)", area="infinite",
         purpose="Learns as if the spike were a leaky ReLU: everything above the threshold, a little below.",
         note="At exactly 0 SpikingJelly passes g, as here; snnTorch passes leak times g.",
         source="SpikingJelly LeakyKReLU; snnTorch LSO, which for years called another operator"),
    Rule("log_tailed", "Log-tailed ReLU", "g * where(x > 0, 1 / max(x, 1), a)",
         also=("HWGQ",), parameters=(Parameter("a", 0.0, 0.0, 1.0, "gradient left of 0"),), kinks=("0", "1"),
         antiderivative="where(x > 0, min(x, 1) + log(max(x, 1)), a * x)", area="infinite",
         purpose="Passes g up to 1 and less and less beyond, so that rare large values do not rule training.",
         note="The paper begins the tail at its highest level; here, as in SpikingJelly, that level is 1.",
         source="HWGQ, Cai et al. 2017, arXiv:1702.00953; SpikingJelly LogTailedReLU"),
    Rule("spike_escape", "Spike rate escape", "g * k * exp(-b * abs(x - 1))", also=("SRE",),
         parameters=(
             Parameter("b", 1.0, 0.05, 20.0, "decay rate"),
             Parameter("k", 25.0, 0.05, 100.0, "peak height"),
         ), kinks=("1",), antiderivative="k / b * sign(x - 1) * (1 - exp(-b * abs(x - 1)))", area="2 * k / b",
         purpose="The chance that a noisy neuron escapes its threshold, with the peak at 1 instead of 0.",
         note="snnTorch subtracts the threshold before, and so the peak lies one unit above the spike.",
         source="Gerstner and Kistler 2002, Spiking Neuron Models; snnTorch spike_rate_escape"),
    Rule("sparse_fast_sigmoid", "Sparse fast sigmoid", "g * (abs(x) < B) / (1 + k * abs(x))**2",
         also=("SFS",),
         parameters=(
             Parameter("k", 25.0, 0.1, 100.0, "steepness: the peak is 1 at any k"),
             Parameter("B", 1.0, 0.05, 5.0, "window half-width: nothing passes outside"),
         ), kinks=("-B", "0", "B"), antiderivative="clamp(x, -B, B) / (1 + k * abs(clamp(x, -B, B)))",
         area="2 * B / (1 + k * B)",
         purpose="Cuts the fast sigmoid off, so that inactive neurons can be left out of the backward pass.",
         note="The paper keeps |x| < B; snnTorch's code keeps x > B, the very part that was to be left out.",
         source="Perez-Nieves and Goodman 2021, arXiv:2105.08810"),
)
