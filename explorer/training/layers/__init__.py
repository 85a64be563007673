"""The stages of a net, each for all lanes at once, with its backward by hand."""

from explorer.training.layers.dense import Dense, Relu
from explorer.training.layers.fixed import Fixed
from explorer.training.layers.layer import Layer, OpTrace, Parameters, Spread, Trace
from explorer.training.layers.op import Activation, OpWeights
from explorer.training.layers.spiking import Latency, LeakySum, Spiking

__all__ = [
    "Activation", "Dense", "Fixed", "Latency", "Layer", "LeakySum", "OpTrace", "OpWeights", "Parameters",
    "Relu", "Spiking", "Spread", "Trace",
]  # fmt: skip
