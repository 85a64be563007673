"""Everything chosen on the pages, and the words by which a link says it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

from explorer.catalogue import (
    Loss,
    Op,
    Parameter,
    Rule,
    beside,
    find_loss,
    find_op,
    find_rule,
    narrowed,
    qualified,
)
from explorer.formula import number_text
from explorer.instrument.view import VIEW, View
from explorer.training import SETTINGS, USUAL, TrainingSettings
from explorer.training.settings import Branch, branches_text

STUDY = ("rates", "controls", "equal")


@dataclass(frozen=True)
class Choice(View, TrainingSettings):
    """Everything chosen on the pages: strings and numbers only.

    ``parameters`` holds the values that differ from their default, by name or by ``rule.name``;
    ``learns`` is the parameter whose gradient has a panel, or "";
    ``hide`` the rules whose curves are not drawn; ``colours`` the number of each rule's colour as one text,
    "" for 1, 2, 3 …; ``slow`` the stage of slow motion, and as far as they are chosen the numbers of rule,
    layer, unit and row from 1, or "". Of a study: ``rates`` to try, () for the task's usual ones; whether
    zero and reversal stand beside the rules as ``controls``; whether each rule's rates are divided by its
    share, ``equal``. ``branch``: the branch points of a run, as ``Settings`` has them.
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
    def entries(self) -> tuple[Op, tuple[Rule, ...]]:
        """The op and the rules as records."""
        op = find_op(self.op)
        return op, tuple(beside(op, find_rule(rule)) for rule in self.rules)

    @property
    def loss(self) -> Loss | None:
        """The loss, where something is drawn."""
        op, rules = self.entries
        return find_loss(self.f) if draws(op, rules) else None

    @property
    def trained(self) -> dict[str, float]:
        """The values of parameters that a net has: those of op and rules, without those of the loss."""
        known = parameters_of(*self.entries)
        return {name: value for name, value in self.parameters.items() if name in known}

    @property
    def sampling(self) -> dict[str, Any]:
        """Range, g, loss and parameters as keywords of ``sample``."""
        start, stop = self.range
        learns = {"learns": self.learns} if self.learns else {}
        loss = {"f": self.f} if self.loss else {}
        return {"start": start, "stop": stop, "g": self.g, **loss, **learns, **self.parameters}


# The words of a link; a parameter of the same name stands behind a prefix.
WORDS = (
    "op",
    "rule",
    "hide",
    "colours",
    *VIEW,
    "learns",
    "slow",
    "embed",
    "embed_options",
    "branch",
    *SETTINGS,
    *STUDY,
)
PREFIX = "p."


def draws(op: Op, rules: Sequence[Rule]) -> bool:
    """Whether the op or one of the rules draws, so that a loss is needed."""
    return op.draws or any(rule.draws for rule in rules)


def parameters_of(op: Op, rules: Sequence[Rule], loss: Loss | None = None) -> dict[str, Parameter]:
    """The controls of an op and rules, and of their loss, by the names of their values.

    One for each name; but where a rule means a name of the op differently, or two rules the same name (by
    another default, other bounds or another meaning), each of them gets its own, named ``rule.name``.
    """
    controls = {p.name: p for p in op.parameters}
    own: dict[str, list[tuple[Rule, Parameter]]] = {}
    for rule in rules:
        for parameter in beside(op, rule).parameters:
            own.setdefault(parameter.name, []).append((rule, parameter))
    for name, users in own.items():
        alike = len({replace(parameter, domain="") for _, parameter in users}) == 1
        if name in controls:
            controls[name] = reduce(narrowed, (parameter for _, parameter in users), controls[name])
        elif alike and not users[0][1].plain:
            controls[name] = users[0][1]
        else:
            controls |= {qualified(rule, parameter): parameter for rule, parameter in users}
    return {p.name: p for p in (loss.parameters if loss else ())} | controls


def ordered(
    op: Op, rules: Sequence[Rule], settings: Mapping[str, float]
) -> tuple[dict[str, float], list[str]]:
    """Settings with the pairs that must not cross (such as lo and hi) put in order, and a notice for each."""
    result, notices = dict(settings), []
    controls = parameters_of(op, rules)
    for name, parameter in controls.items():
        own = name.removesuffix(parameter.shown) + (parameter.below or "")
        above = own if own in controls else parameter.below
        if above is None or above not in controls:
            continue
        low, high = result.get(name, parameter.default), result.get(above, controls[above].default)
        if low > high:
            result[name], result[above] = high, low
            notices.append(f"{name} = {low:.15g} lies above {above} = {high:.15g}: the two were swapped.")
    return result, notices


def training_texts(choice: Choice) -> dict[str, str]:
    """The task if it is not the usual one, and what differs from its defaults, as a link writes them.

    What only a study has is among them, and branch points, one a line.
    """
    texts = {
        name: text
        for name, setting in SETTINGS.items()
        if (text := setting.text(getattr(choice, name))) != setting.text(setting.default(choice.task))
    }
    texts |= _study_texts(choice) | ({"branch": branches_text(choice.branch)} if choice.branch else {})
    return texts if choice.task == USUAL else {"task": choice.task, **texts}


def _study_texts(choice: Choice) -> dict[str, str]:
    texts = {"rates": numbers_text(choice.rates), "controls": "" if choice.controls else "no"}
    texts |= {"equal": "yes" if choice.equal else ""}
    return {name: text for name, text in texts.items() if text}


def numbers_text(numbers: Sequence[float]) -> str:
    """Several numbers as a link writes them."""
    return ",".join(map(number_text, numbers))
