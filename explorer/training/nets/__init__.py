"""The nets of a run as one ensemble: layers with their backward by hand, and the op among them."""

from explorer.training.nets.architectures import (
    DENSE,
    KERNELS,
    MAPS,
    QUANTISED,
    SPIKING,
    Architecture,
    Member,
    Size,
    behind,
    drawn,
)
from explorer.training.nets.ensemble import Build, Ensemble
from explorer.training.nets.layers import (
    JUDGED,
    KERNEL,
    Convolution,
    Fixed,
    Latency,
    Layer,
    OpSite,
    OpTrace,
    Spiking,
    Trace,
)
from explorer.training.nets.layers.boundary import LOSS, TWIN_LOSS, Boundary, U
from explorer.training.nets.layers.joined import Joined, hexed, joined, side_by_side
from explorer.training.nets.layers.learned import (
    Learned,
    checked_learn,
    learned_by,
    learned_with,
    no_longer,
)
from explorer.training.nets.passes import Fault, Observed, Pass
from explorer.training.nets.rows import Lr, OpParameters, Views, by_channel

__all__ = [
    "DENSE", "JUDGED", "KERNEL", "KERNELS", "LOSS", "MAPS", "QUANTISED", "SPIKING", "TWIN_LOSS",
    "Architecture", "Boundary", "Build", "Convolution", "Ensemble", "Fault", "Fixed", "Joined", "Latency",
    "Layer", "Learned", "Lr", "Member", "Observed", "OpParameters", "OpSite", "OpTrace", "Pass", "Size",
    "Spiking", "Trace", "U", "Views", "behind", "by_channel", "checked_learn", "drawn", "hexed", "joined",
    "learned_by", "learned_with", "no_longer", "side_by_side",
]  # fmt: skip
