"""The definition of a task: data, loss, architecture of the nets, and default settings."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from torch import Generator, Tensor

from explorer.training.nets import DENSE, Architecture
from explorer.training.numerics import Loss, Metric
from explorer.training.tasks.columns import Table


class Part(NamedTuple):
    """Some examples of a data set, as inputs x and targets y.

    x is (rows, inputs) float32, y is (rows,) int64 for classes or (rows, outputs) float32.
    """

    x: Tensor
    y: Tensor


class Data(NamedTuple):
    """The training, validation and held-out examples of a task.

    Without ``held_out``, nets cannot be evaluated.

    ``validation`` chooses rates and other settings, ``held_out`` judges. Of a table, ``names`` are the names
    of the classes, in their order, ``inputs`` those of the columns to learn from, and ``target`` that of the
    column that is learnt; ``unit`` is the mean and the deviation by which a number there was standardised.
    """

    train: Part
    outputs: int
    validation: Part | None = None
    held_out: Part | None = None
    names: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    target: str = ""
    unit: tuple[float, float] = (0.0, 1.0)

    @property
    def labels(self) -> dict[str, Any]:
        """The names of a table's columns and classes, with the unit of its target, for a page."""
        return {name: getattr(self, name) for name in ("names", "inputs", "target", "unit")}

    @property
    def widths(self) -> tuple[int, int]:
        """The number of inputs and the number of outputs of a net for this data."""
        return self.train.x.shape[1], self.outputs


class Draw(NamedTuple):
    """The arguments for creating a data set: a random generator, a number of examples, and a table."""

    generator: Generator
    batch: int
    table: str | Table | None = None


@dataclass(frozen=True)
class Task:
    """A data set with a loss function, and the default settings for training nets on it.

    Attributes:
        key: permanent name, used in links and code.
        label: name on screen.
        purpose: one sentence on the aim, true for any op.
        data: returns the examples; the same for every seed if the generator is not used.
        loss: loss to minimise.
        widths: numbers of inputs and outputs of a net.
        op, rules, parameters: defaults.
        net: layers of the net, and the site of the op.
        kind: kind of the picture: points of a "plane", an "image", "random" numbers, or the visitor's "own".
        metric: of held-out data, as far as the task alone determines it; None without held-out data.
        chance: accuracy of guessing.
        start_bias: standard deviation of the hidden units' biases before the first step.
        unit_weights: whether start weights have deviation ``init_scale``, not divided by √(fan in).
        same: whether every step sees all examples, and they are few: under plain gradient descent most work
            of the first layer can then be skipped.
        note: sentence on the default settings, if they need one.
        of_own_op: sentences that hold only for the default op with its default parameters.
        steps, lr, hidden, batch, optimiser, bias, init_scale, seeds, seed, pace, sigma, learn, learn_rate,
            learn_each, device: as in ``Settings``.
        source: returns code for a script, given a table: the examples x and y and the number ``judged``;
            without held-out data, x and y as drawn from ``generator``.
        picture: returns ``{"points": [[x, y, class], …]}`` within −1 and 1, ``{"grid": rows of 0 to 1}``, or
            None.
    """

    key: str
    label: str
    purpose: str
    data: Callable[[Draw], Data]
    loss: Loss
    widths: tuple[int, int]
    op: str = "sign"
    rules: tuple[str, ...] = ("default", "straight_through")
    parameters: Mapping[str, float] = field(default_factory=dict)
    net: Architecture = DENSE
    kind: Literal["plane", "image", "random", "own"] = "image"
    metric: Metric | None = "accuracy"
    chance: float | None = None
    start_bias: float = 0.0
    unit_weights: bool = False
    same: bool = False
    note: str = ""
    of_own_op: str = ""
    steps: int = 400
    lr: float = 0.01
    hidden: int | tuple[int, ...] = 16
    batch: int = 64
    optimiser: str = "adam"
    bias: bool = True
    init_scale: float = 1.0
    seeds: int = 1
    seed: int = 0
    pace: float | str = 50.0
    sigma: float = 0.5
    learn: tuple[str, ...] = ()
    learn_rate: float = 1.0
    learn_each: str = "layer"
    device: str | None = None
    picture: Callable[[], dict[str, Any] | None] = lambda: None
    source: Callable[[str | Table | None], str] = lambda _table: ""
