"""The neural nets of a training run, computed together, with the backward pass written by hand."""

from explorer.training.nets.architectures import (
    DENSE,
    KERNELS,
    MAPS,
    QUANTISED,
    SPIKING,
    Architecture,
    Member,
    Size,
    build_tail,
    draw_start,
)
from explorer.training.nets.ensemble import Build, Ensemble
from explorer.training.nets.layers import (
    EVALUATION_STEP,
    KERNEL,
    Convolution,
    FixedInput,
    Latency,
    Layer,
    OpSite,
    OpTrace,
    SpikingUnits,
    Trace,
)
from explorer.training.nets.layers.boundary import LOSS, TWIN_LOSS, Boundary, U
from explorer.training.nets.layers.learned import LearnedParameter, check_learn, collect_learned, list_learned
from explorer.training.nets.layers.op_rules import OpRules, concatenate, join_rules, to_hex
from explorer.training.nets.passes import Fault, ObservedPass, Pass
from explorer.training.nets.rows import Lr, OpParameters, Views, list_channel_shapes
