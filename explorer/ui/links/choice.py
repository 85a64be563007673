"""The settings of a page, and the query parameters that store them in a link."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

from explorer import catalogue
from explorer.formula import number_text
from explorer.instrument.view import VIEW, View
from explorer.training import DEFAULT_TASK, SETTINGS, TrainingSettings
from explorer.training.settings import Branch, format_branches

STUDY = ("rates", "controls", "equal")


@dataclass(frozen=True)
class Choice(View, TrainingSettings):
    """The settings that a user has chosen on the app's pages.

    All values are strings and numbers, so that they can be written into a link.

    Attributes:
        op: the key of the op.
        rules: the keys of the backward rules.
        hide: the keys of the backward rules whose curves are hidden.
        colours: one digit for the colour of each rule; "" stands for 1, 2, 3 ….
        slow: the stage of slow motion, optionally with the numbers of rule, layer, unit and row, counted from
            1; "" if slow motion is closed.
        parameters: a dict from names, or ``rule.name``, to the values that differ from their defaults.
        learns: the parameter whose gradient is plotted, or "".
        rates: the learning rates of a study; () for the task's defaults.
        controls: whether a study also trains the controls zero and reversal.
        equal: whether a study divides each rule's learning rates by the relative size of its gradient.
        branch: the branch points of a training run, as in ``Settings``.
    """

    op: str = "round"
    rules: tuple[str, ...] = ("default", "straight_through")
    hide: tuple[str, ...] = ()
    colours: str = ""
    slow: str = ""
    parameters: Mapping[str, float] = field(default_factory=dict)
    learns: str = ""
    rates: tuple[float, ...] = ()
    controls: bool = True
    equal: bool = False
    branch: tuple[Branch, ...] = ()

    @property
    def entries(self) -> tuple[catalogue.Op, tuple[catalogue.Rule, ...]]:
        """The chosen op and backward rules as catalogue entries."""
        op = catalogue.find_op(self.op)
        return op, tuple(catalogue.adapt_rule(op, catalogue.find_rule(rule)) for rule in self.rules)

    @property
    def loss(self) -> catalogue.Loss | None:
        """The chosen loss, or None if neither the op nor a backward rule is random."""
        op, rules = self.entries
        return catalogue.find_loss(self.f) if is_stochastic(op, rules) else None

    @property
    def net_parameters(self) -> dict[str, float]:
        """The values of the op's and the backward rules' parameters, without those of the loss."""
        declared = collect_parameters(*self.entries)
        return {name: value for name, value in self.parameters.items() if name in declared}

    @property
    def sampling(self) -> dict[str, Any]:
        """The keyword arguments of ``sample``: the x range, upstream gradient, loss and parameters."""
        start, stop = self.range
        learns = {"learns": self.learns} if self.learns else {}
        loss = {"f": self.f} if self.loss else {}
        return {"start": start, "stop": stop, "g": self.g, **loss, **learns, **self.parameters}


_EXPLORE_KEYS = ("op", "rule", "hide", "colours", *VIEW, "learns", "slow", "embed", "embed_options")
# The names of all query parameters. A parameter of a formula with such a name is prefixed with PREFIX.
QUERY_KEYS = (*_EXPLORE_KEYS, "branch", *SETTINGS, *STUDY)
PREFIX = "p."


def is_stochastic(op: catalogue.Op, rules: Sequence[catalogue.Rule]) -> bool:
    """Return whether the op or one of the backward rules is random. Only then does a chart need a loss."""
    return op.is_random or any(rule.is_random for rule in rules)


def collect_parameters(
    op: catalogue.Op, rules: Sequence[catalogue.Rule], loss: catalogue.Loss | None = None
) -> dict[str, catalogue.Parameter]:
    """Return the parameters of an op, its backward rules and its loss as a dict from names to parameters.

    Ops and rules with a parameter of the same name share it, with bounds that suit all of them. However, if a
    rule gives the op's name another meaning, or two rules disagree on its default, bounds or meaning, each
    rule gets its own parameter named ``rule.name``.
    """
    controls = {p.name: p for p in op.parameters}
    by_name: dict[str, list[tuple[catalogue.Rule, catalogue.Parameter]]] = {}
    for rule in rules:
        for parameter in catalogue.adapt_rule(op, rule).parameters:
            by_name.setdefault(parameter.name, []).append((rule, parameter))
    for name, users in by_name.items():
        alike = len({replace(parameter, domain="") for _, parameter in users}) == 1
        if name in controls:
            controls[name] = reduce(
                catalogue.narrow_parameter, (parameter for _, parameter in users), controls[name]
            )
        elif alike and not users[0][1].plain:
            controls[name] = users[0][1]
        else:
            controls |= {catalogue.qualify_name(rule, parameter): parameter for rule, parameter in users}
    return {p.name: p for p in (loss.parameters if loss else ())} | controls


def sort_bounds(
    op: catalogue.Op, rules: Sequence[catalogue.Rule], values: Mapping[str, float]
) -> tuple[dict[str, float], list[str]]:
    """Swap the values of pairs of parameters such as lo and hi if the lower bound exceeds the upper.

    Returns the values by name, and a message for each swapped pair. A missing value counts as its default.
    """
    result, notices = dict(values), []
    controls = collect_parameters(op, rules)
    for name, parameter in controls.items():
        qualified_name = name.removesuffix(parameter.display_name) + (parameter.below or "")
        above = qualified_name if qualified_name in controls else parameter.below
        if above is None or above not in controls:
            continue
        low, high = result.get(name, parameter.default), result.get(above, controls[above].default)
        if low > high:
            result[name], result[above] = high, low
            notices.append(f"{name} = {low:.15g} lies above {above} = {high:.15g}: the two were swapped.")
    return result, notices


def format_training_settings(choice: Choice) -> dict[str, str]:
    """Return a dict from names to the training settings that differ from their defaults, as text for a link.

    The dict also contains the task unless it is the default, the settings of a study, and the branch points,
    one per line.
    """
    texts = {
        name: text
        for name, setting in SETTINGS.items()
        if (text := setting.text_of(getattr(choice, name)))
        != setting.text_of(setting.default_of(choice.task))
    }
    others = {
        "rates": format_numbers(choice.rates),
        "controls": "" if choice.controls else "no",
        "equal": "yes" if choice.equal else "",
        "branch": format_branches(choice.branch),
    }
    texts |= {name: text for name, text in others.items() if text}
    return texts if choice.task == DEFAULT_TASK else {"task": choice.task, **texts}


def format_numbers(numbers: Sequence[float]) -> str:
    """Return numbers as a comma-separated list for a link."""
    return ",".join(map(number_text, numbers))
