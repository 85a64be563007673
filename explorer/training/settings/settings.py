"""All settings of a run: its op and rules, its data, its branch points, and what the others are."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field

from explorer.catalogue import Op, Rule, explain_refusal, find_op, find_rule
from explorer.formula import truncate
from explorer.training import limits
from explorer.training.nets import Layer, Learned, Size, checked_learn, learned_by
from explorer.training.settings.branches import Branch, Course, checked_branches, course, parting
from explorer.training.settings.chosen import checked_entry, checked_parameters, checked_rules, names_of
from explorer.training.settings.declared import TrainingSettings
from explorer.training.tasks import TASKS, Table
from explorer.training.tasks.table import TABLE, read_table

_ASIDE = ("branch", "pace", "sigma")  # a change of these does not change the start
_WEIGHTS = (
    "{nets} nets of these widths have {count:,} weights, at most {most:,} are taken: use fewer hidden units, "
    "seeds or rules"
)
_FEWER = "at most {most:,} are taken: use fewer hidden units, examples, seeds or rules"
_VALUES = "a step of {nets} nets on {batch} examples makes {count:,} numbers, " + _FEWER
_PRODUCTS = "a step of {nets} nets on {batch} examples takes {count:,} products, " + _FEWER


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
        self._put("op", checked_entry("op", task.op if self.op is None else self.op, Op))
        self._put("rules", checked_rules(task.rules if self.rules is None else self.rules))
        self._put("branch", checked_branches(self.branch, self.rules, self.steps))
        self._check_losses()
        parameters = self._known(usual) if self.parameters is None else self.parameters
        self._put("parameters", checked_parameters(self._ops, self._all_rules, parameters))
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
        names = {name for op in self._ops for name in names_of(op, self._all_rules)}
        return {name: value for name, value in parameters.items() if name in names}

    def _check_losses(self) -> None:
        """Raise ValueError for a rule that asks for a loss which a net does not have."""
        spikes = TASKS[self.task].net.site.fires
        for rule in self._all_rules:
            if refused := explain_refusal(rule, truncate(rule.key), spikes=spikes):
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
        nets, times = self.seeds * len(self.rules), TASKS[self.task].net.site.times
        return nets * self._size.products * self.batch * times

    def _check_size(self) -> None:
        """Raise ValueError for nets that are too large, or a step of them."""
        nets = self.seeds * len(self.rules)
        values = nets * self._size.values * max(self.batch, limits.EXAMPLES)
        for count, most, what in (
            (self.weights, limits.MAX_WEIGHTS, _WEIGHTS),
            (values, limits.MAX_VALUES, _VALUES),
            (self.products, limits.MAX_PRODUCTS, _PRODUCTS),
        ):
            if count > most:
                raise ValueError(what.format(nets=nets, batch=self.batch, count=count, most=most))
