"""The pictures of a lesson: plain records, which the browser draws by their kind."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from explorer.formula.tree import Data


@dataclass(frozen=True)
class HeatMap:
    """A small matrix to be shown cell by cell; one entry, (row, column), is followed by hand.

    A row of None stands for the whole column.
    """

    title: str
    values: Sequence[Sequence[float]]
    entry: tuple[int | None, int] | None = None


@dataclass(frozen=True)
class Lines:
    """Curves over one x, both axes logarithmic."""

    x_name: str
    y_name: str
    x: Sequence[float]
    y: Mapping[str, Sequence[float]]


@dataclass(frozen=True)
class Sweep:
    """A share as a function of a parameter, over seeds, beside a control without the parameter.

    Attributes:
        parameter: its name; its value in the first scene is marked.
        x_name, y_name: titles of the axes: the parameter's values, on a scale of decades, and the share.
        x: the values of the parameter, ascending, above 0.
        mean, sd: of the share at each of them, from 0 to 1, over the seeds.
        control: mean and standard deviation of the control.
        control_name: its name.
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
    """A step of a small net of which every number is printed but those that the reader types.

    Attributes:
        given: matrices by name, in the order in which they are computed.
        hints: the names of those that are told where a typed value is wrong.
        asked: the name of the matrix that is typed.
        asked_by_rule: that matrix by the name of a rule; a value is right within a hundredth of it.
        then: the name of the matrix that is shown once all of it is right.
        then_by_rule: that matrix by the name of a rule.
        rows, columns: what a row and a column of the typed matrix are, such as "example" and "unit".
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
    """Steps that the reader puts in order.

    Attributes:
        title: what they are.
        steps: in their order, each with the reason why it stands there: one sentence, for whoever has
            something else in its place.
    """

    title: str
    steps: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Corner:
    """The corner of a curve, at which the reader drags a slope.

    Attributes:
        left, right: the slopes beside it; each between them is a subgradient.
        named: slopes that somebody has chosen, by name.
    """

    left: float
    right: float
    named: Mapping[str, float]


@dataclass(frozen=True)
class Suspects:
    """A hidden Function, one of whose lines is not the one that is read: it is named from what is returned.

    Attributes:
        title: its name.
        lines: of backward as it is meant, each with the trace that it would leave if it were wrong.
        faulty: the index of the one that differs.
        hidden_line: what stands there instead.
        x: points, ascending.
        curves: the gradient at them, by the name of an upstream gradient.
        few, numbers: a few points, and the gradients there.
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
    """A further question, which the reader answers before going on.

    Attributes:
        ask: the question.
        answers: to pick from, each with what is said to whoever picks it.
        right: the index of the right one.
    """

    ask: str
    answers: Sequence[tuple[str, str]]
    right: int


@dataclass(frozen=True)
class Control:
    """A number that the reader moves: its name, where it is at first, its bounds and its meaning."""

    name: str
    default: float
    low: float
    high: float
    meaning: str


@dataclass(frozen=True)
class Walker:
    """A unit that draws 0 or 1, whose x walks downhill by what an estimator returns for one draw a step.

    Formulas are trees (see ``Formula.data``), evaluated where they are drawn.

    Attributes:
        op: of the output y, in x and u().
        loss, slope: of the loss and its derivative, in y.
        mean_loss, exact: of the mean loss and its derivative, in x.
        estimators: by label: in x, y, g, draws and parameters.
        start: the chance p = sigmoid(x) of a 1, from which all runs begin.
        rate: by which an estimate is multiplied.
        parameters: of the loss and the estimators.
        steps, runs, seed: of the runs whose ends are counted; u is ``fresh(seed, step, runs)``.
        drawn: the number of them that are drawn.
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


def data(picture: Picture) -> dict[str, Any]:
    """Plain data of a picture; ``kind`` is the name of its record."""
    return {"kind": type(picture).__name__, **asdict(picture)}
