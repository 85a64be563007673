"""All settings of a training run: op, backward rules, data, branch points, and how it trains."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field

from explorer.catalogue import Op, Rule, explain_refusal, find_op, find_rule
from explorer.formula import truncate
from explorer.training import limits
from explorer.training.nets import Layer, LearnedParameter, Size, check_learn, collect_learned
from explorer.training.settings import branches
from explorer.training.settings.choice import check_entry, check_parameters, check_rules, names_of
from explorer.training.settings.training_settings import TrainingSettings
from explorer.training.tasks import TASKS, Table
from explorer.training.tasks.table import TABLE, read_table

_UNSHARED = ("branch", "pace", "sigma")  # settings that do not affect how a run starts
_WEIGHTS = (
    "{nets} nets of these widths have {count:,} weights; the limit is {most:,}. Use fewer hidden units, "
    "seeds or rules"
)
_FEWER = "the limit is {most:,}. Use fewer hidden units, examples, seeds or rules"
_VALUES = "a step of {nets} nets on {batch} examples computes {count:,} numbers; " + _FEWER
_PRODUCTS = "a step of {nets} nets on {batch} examples takes {count:,} multiplications; " + _FEWER


@dataclass(frozen=True)
class Settings(TrainingSettings):
    """All settings of a training run. By default, a ReLU in a two-layer net is trained on random data.

    Settings are frozen, hashable, and limited to text and numbers, unless op or rules are records.
    ``Settings(**dataclasses.asdict(settings))`` restores them, also after JSON. Missing fields get the task's
    defaults. The device None means the accelerator if there is one. The following fields are added to those
    of ``SETTINGS``.

    Attributes:
        op: the op at the task's site: a key of ``OPS``, ``"formula: …"`` in x, or an ``Op``.
        rules: 1 to 6 backward rules: keys of ``RULES``, ``"formula: …"``, or ``Rule``; repeats count once.
        parameters: a dict from the names of the op's and the rules' parameters to values; ``rule.name`` is
            the parameter of one rule only. If no op is given, the default is the task's parameters.
        table: CSV text to learn from, whose last column is the class or a number, or a ``Table``, which sets
            the target and the columns to leave out. The task is then "data".
        branch: changes from a step onwards, in the order of steps: ``(200, "lr", 0.001)``,
            ``(200, "op", "relu")``, ``(200, "default", "clipped")`` for the line that began with default, or
            ``(200, "rule", "clipped")`` for all. ``parameters`` includes those of all branches.

    Raises:
        ValueError: if a setting is invalid.
    """

    op: str | Op = None  # type: ignore[assignment]  # filled in
    rules: tuple[str | Rule, ...] = None  # type: ignore[assignment]
    parameters: Mapping[str, float] = field(default=None, hash=False)  # type: ignore[arg-type]
    table: str | Table | None = field(default=None, repr=False)
    branch: tuple[branches.Branch, ...] = ()

    def __post_init__(self) -> None:
        if self.task is None and self.table is not None:
            self._put("task", TABLE.key)
        super().__post_init__()
        task = TASKS[self.task]
        defaults: Mapping[str, float] = task.parameters if self.op is None else {}
        self._put("op", check_entry("op", task.op if self.op is None else self.op, Op))
        self._put("rules", check_rules(task.rules if self.rules is None else self.rules))
        self._put("branch", branches.check_branches(self.branch, self.rules, self.steps))
        for rule in self._all_rules:  # some rules need the loss as a function of y, which spiking nets lack
            if refused := explain_refusal(rule, truncate(rule.key), spikes=task.net.site.fires):
                raise ValueError(refused)
        names = {name for op in self._ops for name in names_of(op, self._all_rules)}
        parameters = self.parameters
        if parameters is None:
            parameters = {name: value for name, value in defaults.items() if name in names}
        self._put("parameters", check_parameters(self._ops, self._all_rules, parameters))
        self._put("learn", check_learn(self._ops, self._all_rules, self.learn))
        self._check_table()
        self._check_size()

    def course_of(self, step: int) -> branches.Course:
        """Return the op, the backward rules and the learning rate at a step, counted from 0."""
        return branches.find_course(branches.Course(self.op, self.rules, self.lr), self.branch, step)

    @property
    def learned(self) -> tuple[LearnedParameter, ...]:
        """The parameters of ops and rules that are trained, including those of branches."""
        return collect_learned(self._ops, self._all_rules, self.learn)

    def with_lr(self, step: int, lr: float) -> "Settings":
        """Return a copy of these settings in which the learning rate changes at a step.

        Later changes of the learning rate are dropped. Raises ValueError for an invalid rate.
        """
        kept_points = [point for point in self.branch if point[1] != "lr" or point[0] < step]
        changed = lr != self.course_of(step).lr and step < self.steps
        return dataclasses.replace(self, branch=(*kept_points, *[(step, "lr", lr)] * changed))

    def find_parting_step(self, other: "Settings") -> int:
        """Return the first step at which this run and a run with other settings would differ.

        Returns ``steps`` if no step differs, and −1 if the start differs.
        """
        alike = (field.name for field in dataclasses.fields(self) if field.name not in _UNSHARED)
        if any(getattr(self, name) != getattr(other, name) for name in alike):
            return -1
        step = branches.find_first_difference(self.branch, other.branch)
        return self.steps if step is None else step

    @property
    def entries(self) -> list[Op | Rule]:
        """All ops and backward rules of the run, including those of branches."""
        return [*self._ops, *self._all_rules]

    @property
    def _ops(self) -> list[Op]:
        return [find_op(self.op), *(find_op(str(value)) for _, name, value in self.branch if name == "op")]

    @property
    def _all_rules(self) -> list[Rule]:
        later = (str(value) for _, name, value in self.branch if name not in ("lr", "op"))
        return [*map(find_rule, self.rules), *map(find_rule, later)]

    def _check_table(self) -> None:
        if (self.table is None) == (self.task == TABLE.key):
            raise ValueError(
                f'the task "{TABLE.key}" needs a table: paste one as CSV text'
                if self.table is None
                else f'a table is for the task "{TABLE.key}", not for "{self.task}"'
            )
        if self.table is not None:
            self._put("table", Table.create(self.table).plain)
            read_table(self.table)

    @property
    def weights(self) -> int:
        """The number of trainable weights in all nets of the run."""
        return self.seeds * len(self.rules) * self._size.weights

    @property
    def _size(self) -> Size:
        return TASKS[self.task].net.get_size(self._ends)

    @property
    def layers(self) -> list[Layer]:
        """The layers of one net, built only for their shapes."""
        return TASKS[self.task].net.build_layers(self._ends)

    @property
    def _ends(self) -> tuple[int, ...]:
        inputs, outputs = read_table(self.table).widths if self.table else TASKS[self.task].widths
        return inputs, *self.widths, outputs

    @property
    def work(self) -> int:
        """The number of multiplications in a forward pass of a step, or of a measurement if that has more."""
        looked = self.seeds * len(self.rules) * self._size.products * limits.EXAMPLES
        return max(self.products, looked)

    @property
    def products(self) -> int:
        """The number of multiplications in the forward pass of one training step of all nets."""
        nets, times = self.seeds * len(self.rules), TASKS[self.task].net.site.times
        return nets * self._size.products * self.batch * times

    def _check_size(self) -> None:
        nets = self.seeds * len(self.rules)
        values = nets * self._size.values * max(self.batch, limits.EXAMPLES)
        for count, limit, message in (
            (self.weights, limits.MAX_WEIGHTS, _WEIGHTS),
            (values, limits.MAX_VALUES, _VALUES),
            (self.products, limits.MAX_PRODUCTS, _PRODUCTS),
        ):
            if count > limit:
                raise ValueError(message.format(nets=nets, batch=self.batch, count=count, most=limit))
