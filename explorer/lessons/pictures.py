"""The data classes for pictures in a lesson. The browser draws each kind in its own way."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from explorer.formula.tree import Data


@dataclass(frozen=True)
class HeatMap:
    """A small matrix shown as a heat map, with the computation of one entry (row, column).

    If the row is None, the whole column is marked.
    """

    title: str
    values: Sequence[Sequence[float]]
    entry: tuple[int | None, int] | None = None


@dataclass(frozen=True)
class Lines:
    """A picture of several curves over the same x, with logarithmic axes."""

    x_name: str
    y_name: str
    x: Sequence[float]
    y: Mapping[str, Sequence[float]]


@dataclass(frozen=True)
class Sweep:
    """A score as a function of a parameter, with its spread over random seeds, compared with a control.

    Attributes:
        parameter: the parameter's name. Its value in the lesson's first scene is marked.
        x_name, y_name: titles of the axes: the parameter's values, on a logarithmic scale, and the share.
        x: the values of the parameter, ascending, above 0.
        mean, sd: mean and standard deviation of the share, from 0 to 1, over the seeds, for each x.
        control: mean and standard deviation of the control.
        control_name: the control's name.
        seeds: the number of seeds.
    """

    parameter: str
    x_name: str
    y_name: str
    x: Sequence[float]
    mean: Sequence[float]
    sd: Sequence[float]
    control: tuple[float, float]
    control_name: str
    seeds: int


@dataclass(frozen=True)
class ByHand:
    """A training step of a small net, with one matrix for the reader to compute by hand.

    Attributes:
        given: matrices by name, in the order in which they are computed.
        hints: the names of the matrices whose entries explain a wrong typed value.
        asked: the name of the matrix that the reader types.
        asked_by_rule: a dict from rule names to that matrix. A typed value within 0.01 is right.
        then: the name of the matrix that is displayed when all typed values are right.
        then_by_rule: a dict from rule names to that matrix.
        rows, columns: the meaning of a row and a column of the typed matrix, such as "example" and "unit".
    """

    given: Mapping[str, Sequence[Sequence[float]]]
    hints: Sequence[str]
    asked: str
    asked_by_rule: Mapping[str, Sequence[Sequence[float]]]
    then: str
    then_by_rule: Mapping[str, Sequence[Sequence[float]]]
    rows: str
    columns: str


@dataclass(frozen=True)
class Order:
    """Steps that the reader puts into the right order.

    Attributes:
        title: the title of the list.
        steps: the steps in the right order, each with one sentence that explains its position. The sentence
            is displayed if another step is in this position.
    """

    title: str
    steps: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Corner:
    """The corner of a curve, at which the reader drags the slope.

    Attributes:
        left, right: the slopes on both sides. All slopes between them are subgradients.
        named: slopes chosen by implementations, by the implementation's name.
    """

    left: float
    right: float
    named: Mapping[str, float]


@dataclass(frozen=True)
class Suspects:
    """A hidden Function with a bug in one line, which the reader finds from the gradients.

    Attributes:
        title: the Function's name.
        lines: the lines of the correct backward, each with the symptom it would cause if it were wrong.
        faulty: the index of the wrong line.
        hidden_line: the wrong line of the hidden Function.
        x: points, ascending.
        curves: the gradients at ``x``, by the name of an upstream gradient.
        few, numbers: a few points, and the gradients at them by the name of an upstream gradient.
    """

    title: str
    lines: Sequence[tuple[str, str]]
    faulty: int
    hidden_line: str
    x: Sequence[float]
    curves: Mapping[str, Sequence[float]]
    few: Sequence[float]
    numbers: Mapping[str, Sequence[float]]


@dataclass(frozen=True)
class Asked:
    """A multiple-choice question that the reader must answer before a lesson continues.

    Attributes:
        ask: the question.
        answers: the answers to pick from, each with a reply.
        right: the index of the right answer.
    """

    ask: str
    answers: Sequence[tuple[str, str]]
    right: int


@dataclass(frozen=True)
class Control:
    """A number in a lesson's picture that the reader sets."""

    name: str
    default: float
    low: float
    high: float
    meaning: str


@dataclass(frozen=True)
class Walker:
    """A random unit with output 0 or 1, trained by a gradient estimator with one random number per step.

    Formulas are trees (see ``Formula.data``) and are evaluated in the browser.

    Attributes:
        op: the formula of the output y, in x and u().
        loss, slope: the formulas of the loss and its derivative, in y.
        mean_loss, exact: the formulas of the mean loss and its derivative, in x.
        estimators: the formulas of the estimators by label, in x, y, g, random numbers and parameters.
        start: the probability p = sigmoid(x) of output 1 at the start of all runs.
        rate: the learning rate, a factor on each estimate.
        parameters: the parameters of the loss and the estimators.
        steps, runs, seed: length, number and seed of the runs whose final positions are counted. The random
            numbers u of a step are ``fresh(seed, step, runs)``.
        drawn: the number of these runs that are plotted.
    """

    op: Data
    loss: Data
    slope: Data
    mean_loss: Data
    exact: Data
    estimators: Mapping[str, Data]
    start: Control
    rate: Control
    parameters: Sequence[Control]
    steps: int
    runs: int
    seed: int
    drawn: int


Picture = HeatMap | Lines | Sweep | ByHand | Order | Corner | Suspects | Asked | Walker


def to_data(picture: Picture) -> dict[str, Any]:
    """Return a picture as plain data, with the name of its class as ``kind``."""
    return {"kind": type(picture).__name__, **asdict(picture)}
