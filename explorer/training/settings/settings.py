"""The settings of a run, each declared once, for runs, links, controls and words alike."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from types import MappingProxyType
from typing import Any, Final, Literal, TypeVar

import torch

from explorer.catalogue import (
    MOST_RULES,
    Op,
    Rule,
    beside,
    checked,
    find_op,
    find_rule,
    finite,
    qualified,
    refusal,
    require_admitted,
)
from explorer.formula import quoted, shortened
from explorer.training import limits
from explorer.training.nets import Layer, Learned, Size, checked_learn, learned_by
from explorer.training.numerics import OPTIMISERS
from explorer.training.settings.branches import Branch, Course, checked_branches, course, parting
from explorer.training.settings.setting import SWITCH, Setting
from explorer.training.tasks import TASKS, USUAL, Table
from explorer.training.tasks.table import TABLE, read_table

Entry = TypeVar("Entry", Op, Rule)

FULL: Final = "full"  # the pace of a run that goes as fast as it can


def _setting(kind: str, label: str, meaning: str, **rest: Any) -> Any:
    return field(default=None, metadata={"kind": kind, "label": label, "meaning": meaning, **rest})


def devices() -> tuple[str, ...]:
    """The devices of this machine: "cpu", and the type of the accelerator if there is one."""
    accelerator = torch.accelerator.current_accelerator(check_available=True)
    return ("cpu", *([accelerator.type] if accelerator else []))


@dataclass(frozen=True)
class TrainingSettings:
    """The settings of a run beside op and rules; ``SETTINGS`` has them as a table.

    None is filled in from the task: each has its own defaults.
    """

    task: str = _setting("choice", "Task", "The task that the net learns.", words=TASKS)
    steps: int = _setting("whole", "Steps", "Steps of gradient descent.", low=1, high=limits.MAX_STEPS)
    lr: float = _setting(
        "log", "Learning rate lr", "How far a step goes down the gradient.",
        low=limits.SMALLEST_LR, high=limits.LARGEST_LR, live=True,
    )  # fmt: skip
    hidden: int | tuple[int, ...] = _setting(
        "widths", "Hidden units",
        f"Width of the hidden layer, or of up to {limits.MAX_LAYERS} of them: 16,16,16. Of convolutions it "
        "counts maps.",
        low=1, high=limits.MAX_HIDDEN,
    )  # fmt: skip
    batch: int = _setting("whole", "Batch", "Examples in a step.", low=1, high=limits.MAX_BATCH)
    seed: int = _setting("whole", "Seed", "The same seed gives the same losses.", low=0, high=limits.MAX_SEED)
    seeds: int = _setting(
        "whole", "Seeds", "Nets a rule trains, each from a start and with batches of its own.",
        low=1, high=limits.MAX_SEEDS,
    )  # fmt: skip
    optimiser: str = _setting("choice", "Optimiser", "What it does with a gradient.", words=OPTIMISERS)
    bias: bool = _setting("switch", "Biases", "Whether units have biases.", words=SWITCH)
    init_scale: float = _setting(
        "log", "Start weights", "How large the start weights are; 1 is usual.",
        low=limits.SMALLEST_SCALE, high=limits.LARGEST_SCALE,
    )  # fmt: skip
    pace: float | Literal["full"] = _setting(
        "log", "Pace", f'Steps a second; "{FULL}" goes as fast as it can.',
        low=1, high=limits.MAX_PACE, words=(FULL,), live=True,
    )  # fmt: skip
    sigma: float = _setting(
        "log", "Noise σ", "Width of the normal noise that smooths the op where gradients are compared.",
        low=limits.SMALLEST_SIGMA, high=limits.LARGEST_SIGMA, live=True,
    )  # fmt: skip
    learn: tuple[str, ...] = _setting(
        "names", "Parameters that learn",
        "Each gets values of its own in every layer, and the gradient that the rule gives them.",
    )  # fmt: skip
    learn_rate: float = _setting(
        "log", "Their rate, times lr", "How far a step moves parameters that learn, in learning rates lr.",
        low=limits.SMALLEST_LEARN_RATE, high=limits.LARGEST_LEARN_RATE,
    )  # fmt: skip
    learn_each: str = _setting(
        "choice", "One value for each",
        "What has a value of its own: a layer, or each channel of it, which is a unit, a map or a kernel.",
        words=("layer", "channel"),
    )  # fmt: skip
    device: str | None = _setting("choice", "Device", "Where it computes.", words=devices())

    def __post_init__(self) -> None:
        self._put("task", SETTINGS["task"].checked(USUAL if self.task is None else self.task))
        for name, setting in SETTINGS.items():
            value = getattr(self, name)
            default = setting.default(self.task)
            self._put(name, default if value is None or value is default else setting.checked(value))

    def _put(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    @property
    def widths(self) -> tuple[int, ...]:
        """The widths of the hidden layers."""
        return self.hidden if isinstance(self.hidden, tuple) else (self.hidden,)


SETTINGS: Mapping[str, Setting] = MappingProxyType(
    {entry.name: Setting(entry.name, **entry.metadata) for entry in dataclasses.fields(TrainingSettings)}
)
LIVE = tuple(name for name, setting in SETTINGS.items() if setting.live)
_ASIDE = ("branch", "pace", "sigma")  # a change of these does not change the start


@dataclass(frozen=True)
class Settings(TrainingSettings):
    """All settings of a run; by default a ReLU in the two-layer net on random data.

    Frozen, hashable, and made of text and numbers only, unless op or rules are records:
    ``Settings(**dataclasses.asdict(settings))`` gives it back, through JSON too. Missing fields
    are filled in from the task. Beside the settings of ``SETTINGS``, of which the device None is the
    accelerator where there is one:

    Attributes:
        op: where the task has its op, a key of ``OPS``, ``"formula: …"`` in x, or an ``Op``.
        rules: 1 to 6 backward rules, keys of ``RULES``, ``"formula: …"``, or ``Rule``; the same rule twice
            counts once.
        parameters: values of op and rules by name, or by ``rule.name`` for one rule only. Where no op is
            given, those of the task's.
        table: CSV text to learn from, the last column the class or a number, or a ``Table``, which says what
            is learnt and left out; the task is then "data".
        branch: from which step on something else holds, in the order of steps: ``(200, "lr", 0.001)``,
            ``(200, "op", "relu")``, ``(200, "default", "clipped")`` for the line that began with default, or
            ``(200, "rule", "clipped")`` for all. What a branch names has its parameters here too.

    Raises:
        ValueError: a plain sentence for what cannot be.
    """

    op: str | Op = None  # type: ignore[assignment]  # filled in
    rules: tuple[str | Rule, ...] = None  # type: ignore[assignment]
    parameters: Mapping[str, float] = field(default=None, hash=False)  # type: ignore[arg-type]
    table: str | Table | None = field(default=None, repr=False)
    branch: tuple[Branch, ...] = ()

    def __post_init__(self) -> None:
        if self.task is None and self.table is not None:
            self._put("task", TABLE.key)
        super().__post_init__()
        task = TASKS[self.task]
        usual = task.parameters if self.op is None else {}
        self._put("op", _entry("op", task.op if self.op is None else self.op, Op))
        self._put("rules", _distinct(task.rules if self.rules is None else self.rules))
        self._put("branch", checked_branches(self.branch, self.rules, self.steps))
        self._check_losses()
        parameters = self._known(usual) if self.parameters is None else self.parameters
        self._put("parameters", _parameters(self._ops, self._all_rules, parameters))
        self._put("learn", checked_learn(self._ops, self._all_rules, self.learn))
        self._check_table()
        self._check_size()

    def course(self, step: int) -> Course:
        """The op, rules and learning rate of a step, from 0."""
        return course(Course(self.op, self.rules, self.lr), self.branch, step)

    @property
    def learned(self) -> tuple[Learned, ...]:
        """The parameters that learn with one of the rules, those of its branches among them."""
        return learned_by(self._ops, self._all_rules, self.learn)

    def with_lr(self, step: int, lr: float) -> "Settings":
        """These settings with another lr from a step on, without its later changes. Raises ValueError."""
        others = [point for point in self.branch if point[1] != "lr" or point[0] < step]
        changed = lr != self.course(step).lr and step < self.steps
        return dataclasses.replace(self, branch=(*others, *[(step, "lr", lr)] * changed))

    def parts_from(self, other: "Settings") -> int:
        """The first step at which a run of other settings differs.

        ``steps`` if none does, and −1 if the start differs.
        """
        alike = (field.name for field in dataclasses.fields(self) if field.name not in _ASIDE)
        if any(getattr(self, name) != getattr(other, name) for name in alike):
            return -1
        step = parting(self.branch, other.branch)
        return self.steps if step is None else step

    @property
    def entries(self) -> list[Op | Rule]:
        """All ops and rules, those of branches among them."""
        return [*self._ops, *self._all_rules]

    @property
    def _ops(self) -> list[Op]:
        return [find_op(self.op), *(find_op(str(value)) for _, name, value in self.branch if name == "op")]

    @property
    def _all_rules(self) -> list[Rule]:
        later = (str(value) for _, name, value in self.branch if name not in ("lr", "op"))
        return [*map(find_rule, self.rules), *map(find_rule, later)]

    def _known(self, parameters: Mapping[str, float]) -> dict[str, float]:
        """The parameters that the op or one of the rules has."""
        names = {name for op in self._ops for name in _names(op, self._all_rules)}
        return {name: value for name, value in parameters.items() if name in names}

    def _check_losses(self) -> None:
        """Raise ValueError for a rule that asks for a loss which a net does not have."""
        spikes = TASKS[self.task].net.site.fires
        for rule in self._all_rules:
            if refused := refusal(rule, shortened(rule.key), spikes=spikes):
                raise ValueError(refused)

    def _check_table(self) -> None:
        if (self.table is None) == (self.task == TABLE.key):
            raise ValueError(
                f'the task "{TABLE.key}" needs a table: paste one as CSV text'
                if self.table is None
                else f'a table is for the task "{TABLE.key}", not for "{self.task}"'
            )
        if self.table is not None:
            self._put("table", Table.of(self.table).plain)
            read_table(self.table)

    @property
    def weights(self) -> int:
        """The count of weights in all nets."""
        return self.seeds * len(self.rules) * self._size.weights

    @property
    def _size(self) -> Size:
        """The size of one net."""
        return TASKS[self.task].net.size(self._ends)

    @property
    def layers(self) -> list[Layer]:
        """The layers of one net, to be asked for their shapes."""
        return TASKS[self.task].net.layers(self._ends)

    @property
    def _ends(self) -> tuple[int, ...]:
        """Inputs, widths of the hidden layers, outputs."""
        inputs, outputs = read_table(self.table).widths if self.table else TASKS[self.task].widths
        return inputs, *self.widths, outputs

    @property
    def work(self) -> int:
        """Multiplications forward in one step, or in one look of instruments where that is more."""
        looked = self.seeds * len(self.rules) * self._size.products * limits.EXAMPLES
        return max(self.products, looked)

    @property
    def products(self) -> int:
        """Multiplications forward in one step of all nets."""
        return (
            self.seeds * len(self.rules) * self._size.products * self.batch * TASKS[self.task].net.site.times
        )

    def _check_size(self) -> None:
        nets, weights, products = self.seeds * len(self.rules), self.weights, self.products
        if weights > limits.MAX_WEIGHTS:
            raise ValueError(
                f"{nets} nets of these widths have {weights:,} weights, at most {limits.MAX_WEIGHTS:,} are "
                "taken: use fewer hidden units, seeds or rules"
            )
        values = nets * self._size.values * max(self.batch, limits.EXAMPLES)
        if values > limits.MAX_VALUES:
            raise ValueError(
                f"a step of {nets} nets on {self.batch} examples makes {values:,} numbers, at most "
                f"{limits.MAX_VALUES:,} are taken: use fewer hidden units, examples, seeds or rules"
            )
        if products > limits.MAX_PRODUCTS:
            raise ValueError(
                f"a step of {nets} nets on {self.batch} examples takes {products:,} products, at "
                f"most {limits.MAX_PRODUCTS:,} are taken: use fewer hidden units, examples, seeds or rules"
            )


def _entry(what: str, entry: Any, kind: type[Entry]) -> str | Entry:
    if not isinstance(entry, str | kind):
        raise ValueError(f"{what} must be a key or a formula, not {quoted(entry)}")
    return entry


def _distinct(rules: object) -> tuple[str | Rule, ...]:
    """The rules in their order, each once: two spellings of one own formula are one rule."""
    if isinstance(rules, str) or not isinstance(rules, list | tuple):
        raise ValueError(f"rules must be a list of keys, such as ['default'], not {quoted(rules)}")
    entries = [_entry("a rule", rule, Rule) for rule in rules]
    given = len({entry if isinstance(entry, str) else entry.key for entry in entries})
    if given > MOST_RULES:  # counted before any is read
        raise ValueError(f"choose 1 to {MOST_RULES} rules, not {given}")
    known: dict[str, str | Rule] = {}
    for rule in entries:
        known.setdefault(find_rule(rule).key, rule)
    if not 1 <= len(known) <= MOST_RULES:
        raise ValueError(f"choose 1 to {MOST_RULES} rules, not {len(known)}")
    return tuple(known.values())


def _parameters(ops: Sequence[Op], rules: Sequence[Rule], parameters: object) -> dict[str, float]:
    if not isinstance(parameters, Mapping):
        raise ValueError(f"parameters must be values by name, such as {{'c': 1.0}}, not {quoted(parameters)}")
    op, *later = ops
    also = {name for each in later for name in _names(each, rules)} - _names(op, rules)
    own = checked(op, rules, {name: value for name, value in parameters.items() if name not in also})
    result = own | {
        name: finite(f"parameter {name}", value) for name, value in parameters.items() if name in also
    }
    for other, rule in product(later, rules):
        require_admitted(other, rule, result)
    return result


def _names(op: Op, rules: Sequence[Rule]) -> set[str]:
    """The names of all values that an op and rules take."""
    own = [(rule, p) for rule in rules for p in beside(op, rule).parameters]
    return {p.name for p in op.parameters} | {
        name for rule, p in own for name in (p.name, qualified(rule, p))
    }
