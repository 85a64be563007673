"""Layers that compute all nets of an ensemble at once, with their backward pass written by hand."""

from explorer.training.nets.layers.convolution import KERNEL, Convolution, Maps, Patches, Pool
from explorer.training.nets.layers.dense import Dense, Relu
from explorer.training.nets.layers.fixed_input import FixedInput
from explorer.training.nets.layers.layer import Layer, OpSite, OpTrace, Spread, Trace, make_moments
from explorer.training.nets.layers.moment import EVALUATION_STEP, Moment
from explorer.training.nets.layers.op import Activation, MapActivation, OpKernels, OpWeights
from explorer.training.nets.layers.spiking import Latency, LeakySum, SpikingUnits
