"""Random ops, which draw a number u in (0, 1) for each element and step; their rules use the same u."""

from explorer.catalogue.kinks import Lattice
from explorer.catalogue.records import Op, Parameter

_WIDTH = Parameter("s", 0.5, 0.0, 5.0, "width of the noise: its standard deviation", domain="s >= 0")

# fmt: off
UNITS = (
    Op("bernoulli", "Bernoulli unit", "where(u() < sigmoid(x), 1, 0)", kinks=(), named=True,
       also=("stochastic binary", "coin"),
       purpose="1 with probability sigmoid(x), otherwise 0: a random binary unit.",
       source="Bengio et al. 2013, arXiv:1308.3432"),
)

NOISY = (
    Op("stochastic_round", "Stochastic rounding", "floor(x + u())", kinks=(Lattice("0", "1"),),
       also=("random rounding",),
       purpose="Rounds up or down at random with mean x, so small updates are not lost.",
       source="Gupta et al. 2015, arXiv:1502.02551"),
    Op("noisy_round", "Round with noise", "round(x + s * normal())", parameters=(_WIDTH,), judged="round(x)",
       kinks=(Lattice("0.5", "where(s == 0, 1, 0)"),),
       purpose="Noise before rounding, which makes the mean a smooth function of x.",
       source="dither, Widrow and Kollár 2008, Quantization Noise"),
    Op("gaussian_noise", "Gaussian noise", "x + s * normal()", kinks=(), parameters=(_WIDTH,), judged="x",
       named=True,
       also=("reparameterization",),
       purpose="Adds noise to x: the reparameterised draw, whose own gradient is already unbiased.",
       source="Kingma and Welling 2014, arXiv:1312.6114"),
    Op("dropout", "Dropout", "where(u() < p, 0, x / (1 - p))", kinks=(), judged="x",
       parameters=(Parameter("p", 0.5, 0.0, 0.95, "chance to be dropped", domain="0 <= p < 1"),),
       purpose="Drops elements at random and scales up the others, so the mean stays x.",
       source="Srivastava et al. 2014, JMLR 15; torch.nn.functional.dropout"),
    Op("gumbel_sigmoid", "Gumbel-sigmoid", "sigmoid((x - log(u() / (1 - u()))) / tau)", kinks=(), named=True,
       judged="where(u() < sigmoid(x), 1, 0)",
       parameters=(Parameter("tau", 1.0, 0.05, 5.0, "temperature: near 0 it is a Bernoulli unit",
                             domain="tau > 0"),),
       also=("binary concrete", "Gumbel-softmax of two"),
       purpose="A soft replacement for a Bernoulli unit, from the same u, that torch can differentiate.",
       note="Soft in training; for evaluation, the net takes the hard unit of the same u.",
       source="Jang et al. 2017, arXiv:1611.01144; Maddison et al. 2017, arXiv:1611.00712"),
)
