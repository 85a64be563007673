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

    x has shape (rows, inputs), float32. y has shape (rows,), int64, for classes, or (rows, outputs), float32.
    """

    x: Tensor
    y: Tensor


class Data(NamedTuple):
    """The training, validation and held-out examples of a task.

    Attributes:
        train: the examples for training.
        outputs: the number of classes, or of numbers to predict.
        validation: the examples for choosing rates and other settings; None if there are none.
        held_out: the examples for the final evaluation; None for a task without evaluation.
        names: the names of the classes of a table, in order.
        inputs: the names of the columns of a table to learn from.
        target: the name of the target column of a table.
        unit: the mean and the deviation by which a numeric target of a table was standardised.
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
    def chance(self) -> float | None:
        """The accuracy of always guessing the commonest held-out class; None without classes."""
        if self.held_out is None or self.held_out.y.is_floating_point():
            return None
        return self.held_out.y.bincount().max().item() / len(self.held_out.y)

    @property
    def widths(self) -> tuple[int, int]:
        """The number of inputs and the number of outputs of a net for this data."""
        return self.train.x.shape[1], self.outputs


class Draw(NamedTuple):
    """The arguments of a function that creates a data set: a random generator, a size, and a table."""

    generator: Generator
    batch: int
    table: str | Table | None = None


@dataclass(frozen=True)
class Task:
    """A data set with a loss function, and the default settings for training nets on it.

    Attributes:
        key: the permanent name, used in links and code.
        label: the name on screen.
        purpose: a sentence on the aim, which is true for any op.
        data: a function that returns the examples; they are the same for every seed if it does not use the
            generator.
        loss: the loss to minimise.
        widths: the numbers of inputs and outputs of a net.
        op, rules, parameters: the default op, rules and values of parameters.
        net: the layers of the net, and the site of the op.
        kind: the kind of picture: points of a "plane", an "image", "random" numbers, or the visitor's "own".
        metric: the metric on held-out data, if the task alone determines it; None without held-out data.
        chance: the accuracy of guessing; None if it is unknown or has no meaning.
        start_bias: standard deviation of the hidden units' biases before the first step.
        unit_weights: whether initial weights have deviation ``init_scale``, without division by √(fan in).
        same: whether every step sees all examples, and they are few: under plain gradient descent most work
            of the first layer can then be skipped.
        note: a sentence on the default settings, if they need one.
        of_own_op: sentences that hold only for the default op with its default parameters.
        steps, lr, hidden, batch, optimiser, bias, init_scale, seeds, seed, pace, sigma, learn, learn_rate,
            learn_each, device: as in ``Settings``.
        source: a function from a table to code for a script. The code defines the examples x and y and the
            number ``judged``; without held-out data it draws x and y with ``generator``.
        picture: a function that returns ``{"points": [[x, y, class], …]}`` within −1 and 1, ``{"grid": rows
            of 0 to 1}``, or None.
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
