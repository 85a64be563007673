"""The stages of a net, each for all members at once, with its backward by hand."""

from explorer.training.nets.layers.convolution import KERNEL, Convolution, Maps, Patches, Pool
from explorer.training.nets.layers.dense import Dense, Relu
from explorer.training.nets.layers.fixed import Fixed
from explorer.training.nets.layers.layer import Layer, OpSite, OpTrace, Spread, Trace, moments
from explorer.training.nets.layers.moment import JUDGED, Moment
from explorer.training.nets.layers.op import Activation, MapActivation, OpKernels, OpWeights
from explorer.training.nets.layers.spiking import Latency, LeakySum, Spiking

__all__ = [
    "JUDGED", "KERNEL", "Activation", "Convolution", "Dense", "Fixed", "Latency", "Layer", "LeakySum",
    "MapActivation", "Maps", "Moment", "OpKernels", "OpSite", "OpTrace", "OpWeights", "Patches", "Pool",
    "Relu", "Spiking", "Spread", "Trace", "moments",
]  # fmt: skip
