"""The plan of a study: its rules, learning rates and random seeds as a list of training runs."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from torch import Generator

from explorer.catalogue import Op, Rule, find_op, find_rule
from explorer.formula import quote
from explorer.study import arguments
from explorer.study.limits import MAX_CHUNK, MAX_CHUNK_PRODUCTS, MAX_TRIALS
from explorer.study.share import SEED, compute_start_share
from explorer.study.trial import AGREEMENT, COLUMNS, Row, Stage, Trial, find_best_rate, make_trials
from explorer.training import CONTROLS, FIRST, SETTINGS, TASKS, Settings
from explorer.training.nets import LearnedParameter, check_learn, collect_learned, list_learned
from explorer.training.numerics import get_metric
from explorer.training.ranking import Unit
from explorer.training.tasks import Draw, Table
from explorer.training.tasks.table import read_table

SCALED = ("sgd", "momentum")  # optimisers whose step length is proportional to the gradient
UNSCALED = (
    f"on an equal footing, rates are divided by a rule's share, but {{optimiser}}'s steps do not depend on "
    f"the size of the gradient; choose {' or '.join(SCALED)}"
)
# Settings that a study sets by other arguments.
_RESERVED = {"task", "op", "rules", "steps", "lr", "seeds", "parameters", "pace", "table"}

# Measured on one of two shared cores: digits, 64-16-10, chunks of 300 trials.
_TRIAL_STEP_S, _PRODUCT_S = 1.3e-5, 5.5e-10


@dataclass(frozen=True)
class Plan:
    """The complete description of a study: its task, op, backward rules, learning rates and seeds.

    A plan is made by ``Plan.create``. It holds only text and numbers, unless op or rules are Python objects.

    Attributes:
        task, op, rules, controls, steps: the arguments with defaults filled in. Added controls are the last
            rules, and ``controls`` has their keys.
        lrs: the learning rates in ascending order.
        seeds, judge_seeds: the seeds that choose rates, and the other seeds that judge rules.
        parameters: pairs of a parameter's name, or ``rule.name``, and its value.
        others: the further settings of ``Settings``.
        table: CSV text, or a ``Table``, for the task "data".
        equal: whether each rule's rates are divided by its share of straight-through's gradient.
    """

    task: str
    op: str | Op
    rules: tuple[str | Rule, ...]
    controls: tuple[str, ...]
    lrs: tuple[float, ...]
    steps: int
    seeds: tuple[int, ...]
    judge_seeds: tuple[int, ...]
    parameters: tuple[tuple[str, float], ...]
    others: tuple[tuple[str, Any], ...]
    table: str | Table | None
    equal: bool = field(default=False, kw_only=True)

    find_best_rate = staticmethod(find_best_rate)

    @classmethod
    def create(
        cls,
        task: str | None = None,
        op: str | Op | None = None,
        rules: Sequence[str | Rule] | None = None,
        *,
        lrs: Iterable[float] | float | None = None,
        seeds: int | Iterable[int] = 5,
        steps: int | None = None,
        parameters: Mapping[str, float] | None = None,
        controls: bool = True,
        max_runs: int = MAX_TRIALS,
        table: str | Table | None = None,
        equal: bool = False,
        **settings: Any,
    ) -> Plan:
        """Create a plan from the arguments of ``explorer.study``, with defaults filled in.

        Raises ValueError with a plain message for an invalid argument, or for more than ``max_runs`` runs.
        """
        if wrong := sorted(set(settings) - set(SETTINGS) | set(settings) & _RESERVED):
            allowed = ", ".join(name for name in SETTINGS if name not in _RESERVED)
            has = f"a study has no setting {quote(wrong[0])}"
            raise ValueError(f"{has}: in addition to its own arguments it takes {allowed}")
        task = FIRST if task is None and table is None else task
        learn = SETTINGS["learn"].check(settings.pop("learn", ()))
        common = {"task": task, "steps": steps, "table": table, "device": "cpu", **settings}
        base = Settings(**common, op=op)  # type: ignore[arg-type]  # None is filled in
        if TASKS[base.task].metric is None:
            raise ValueError(
                f'the task "{base.task}" has no held-out data, which a study needs: choose another task'
            )
        selected = arguments.check_rule_list(TASKS[base.task].rules if rules is None else rules)
        added = [key for key in CONTROLS if controls and key not in map(arguments.key_of, selected)]
        defaults = TASKS[base.task].parameters if op is None else {}
        op_entry, entries = find_op(base.op), [find_rule(rule) for rule in (*selected, *added)]
        task_values = arguments.select_values([op_entry, *entries], defaults)
        values = arguments.values_of([op_entry, *entries], {**task_values, **(parameters or {})})
        seed_list = arguments.check_seeds(seeds, base.seed)
        plan = cls(
            task=base.task,
            op=base.op,
            rules=(*selected, *added),
            controls=tuple(added),
            lrs=arguments.check_rates(lrs, base.lr),
            steps=base.steps,
            seeds=(),
            judge_seeds=(),
            parameters=tuple(values.items()),
            others=(
                *sorted((name, getattr(base, name)) for name in {"device", *settings} - {"seed"}),
                *([("learn", check_learn([op_entry], entries, learn))] if learn else []),
            ),
            table=base.table,
            equal=equal,
        )
        if equal and base.optimiser not in SCALED:
            raise ValueError(UNSCALED.format(optimiser=base.optimiser))
        plan._check(len(seed_list), max_runs)
        return plan._with_seeds(sorted({SETTINGS["seed"].check(seed) for seed in seed_list}))

    def _with_seeds(self, seeds: Sequence[int]) -> Plan:
        """Return a copy of the plan with seeds that choose rates, and as many later ones for final scores.

        Raises ValueError for seeds that are out of bounds.
        """
        judging = tuple(range(seeds[-1] + 1, seeds[-1] + 1 + len(seeds)))
        plan = dataclasses.replace(self, seeds=tuple(seeds), judge_seeds=judging)
        trials = [
            Trial("choose", rule, plan.lrs[0], seed) for rule in plan.keys for seed in (seeds[0], judging[-1])
        ]
        if plan.equal:
            trials += [Trial("choose", rule, plan.lrs[-1], seeds[0]) for rule in plan.keys]
        for trial in trials:
            plan.settings(trial)
        return plan

    def identity_of(self, _rule: str) -> str:
        """Return a hash of everything on which the runs of a backward rule depend."""
        return self.identity

    def is_compatible(self, identity: str, trial: Trial, possible: set[Trial]) -> bool:
        """Return whether a run saved in a file has this plan's hash (``identity``) and is in ``possible``."""
        return identity == self.identity and trial in possible

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the study's backward rules."""
        return tuple(map(arguments.key_of, self.rules))

    @property
    def op_entry(self) -> Op:
        """The study's op as an ``Op`` object."""
        return find_op(self.op)

    @property
    def learned(self) -> tuple[LearnedParameter, ...]:
        """The parameters that are trained with at least one of the backward rules."""
        learn = dict(self.others).get("learn", ())
        return collect_learned([self.op_entry], [find_rule(rule) for rule in self.rules], learn)

    @property
    def title(self) -> str:
        """The name of the study's task."""
        return TASKS[self.task].label

    @property
    def subject(self) -> str:
        """A phrase that names the study's task and op."""
        return f"{self.title} with {self.op_entry.label}"

    @property
    def metric(self) -> str:
        """The metric by which the nets are scored, such as accuracy."""
        data = read_table(self.table) if self.table else None
        return get_metric(data.train.y) if data else TASKS[self.task].metric or "accuracy"

    @property
    def quantises(self) -> bool:
        """True if quantised weights can be compared: the op is on weights, and no parameter of it learns."""
        return not TASKS[self.task].net.site.per_example and not self.learned

    @property
    def columns(self) -> tuple[str, ...]:
        """The column names of the table of runs."""
        return (*COLUMNS, *(AGREEMENT if self.quantises else ()))

    @property
    def unit(self) -> Unit:
        """The unit of the scores, as an argument of ``explorer.rank``."""
        return "%" if self.metric == "accuracy" else "R²"

    @property
    def example(self) -> float:
        """The change in accuracy if one held-out example is classified differently; 0 for other metrics."""
        if self.unit != "%":
            return 0.0
        held_out = TASKS[self.task].data(Draw(Generator(), batch=1, table=self.table)).held_out
        return 1 / len(held_out.y) if held_out else 0.0

    @property
    def labels(self) -> dict[str, str]:
        """A dict from the keys of the rules to their labels."""
        return {key: find_rule(rule).label for key, rule in zip(self.keys, self.rules, strict=True)}

    @property
    def runs(self) -> int:
        """The number of training runs in both stages. Fewer are run if a rule diverges at every rate."""
        return self._count_runs(len(self.seeds))

    @property
    def seconds(self) -> float:
        """The estimated processor time of the study, in seconds."""
        return self._estimate_seconds(self.runs)

    @property
    def chunk(self) -> int:
        """The largest number of runs to train together in one ensemble."""
        return max(1, min(MAX_CHUNK, MAX_CHUNK_PRODUCTS // self._products))

    @property
    def identity(self) -> str:
        """A hash of the study's arguments, equal for equal arguments."""
        fields = dataclasses.asdict(self)
        fields |= {"fixed": fields.pop("parameters"), "swept": ()}  # former names, in older files
        if not self.equal:
            del fields["equal"]  # left out, so that files older than this option can be continued
        return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()[:16]

    def settings(self, trial: Trial) -> Settings:
        """Return the settings that repeat a training run of the study on its own.

        With ``equal``, its learning rate is divided already.
        """
        return self._make_settings(trial, self.rate_of(trial))

    @property
    def shares(self) -> dict[str, float]:
        """A dict from rules to the share of straight-through's gradient that each passes at the start."""
        return {rule: self._share_of(rule) for rule in self.keys}

    def rate_of(self, trial: Trial) -> float:
        """Return the learning rate at which a run trains.

        With ``equal``, this is its rate divided by the rule's share of the gradient, if the share is above 0.
        """
        share = self._share_of(trial.rule) if self.equal else 1.0
        return trial.lr / share if share > 0 else trial.lr

    def _share_of(self, rule: str) -> float:
        lr = self.lrs[0]
        return compute_start_share(self._make_settings(Trial("choose", rule, lr, SEED), lr))

    def _make_settings(self, trial: Trial, lr: float) -> Settings:
        rule = dict(zip(self.keys, self.rules, strict=True)).get(trial.rule, trial.rule)
        entries = (self.op_entry, find_rule(rule))
        extra = dict(self.others)
        if "learn" in extra:
            extra["learn"] = list_learned(*entries, extra["learn"])
        return Settings(
            task=self.task,
            op=self.op,
            rules=(rule,),
            parameters=arguments.select_values(entries, dict(self.parameters)),
            lr=lr,
            seed=trial.seed,
            seeds=1,
            steps=self.steps,
            table=self.table,
            **extra,
        )

    def list_trials(self, stage: Stage, rows: Iterable[Row] = ()) -> list[Trial]:
        """Return the training runs of one stage of the study, in the order of their computation.

        In stage "judge", each rule runs at the rate that the results of stage "choose" give, unless it
        diverged at every rate.
        """
        if stage == "choose":
            return make_trials("choose", [(rule, lr) for rule in self.keys for lr in self.lrs], self.seeds)
        rates = [(rule, lr) for rule, lr in self.choose_rates(rows).items() if lr is not None]
        return make_trials("judge", rates, self.judge_seeds)

    def choose_rates(self, rows: Iterable[Row]) -> dict[str, float | None]:
        """Return, for each backward rule, the learning rate with the highest mean validation score.

        Of equal rates, the smallest is chosen. A diverged seed counts as 0. The rate is None if all seeds
        diverged at every rate, or no run has ended.
        """
        rows_by_rate: dict[str, dict[float, list[Row]]] = {rule: {} for rule in self.keys}
        for row in rows:
            if row.trial.stage == "choose":
                rows_by_rate[row.trial.rule].setdefault(row.trial.lr, []).append(row)
        return {rule: self.find_best_rate(rates) for rule, rates in rows_by_rate.items()}

    def find_missing(self, rows: Iterable[Row]) -> list[Trial]:
        """Return the training runs that have no results yet and can be run next.

        The runs are the rest of stage "choose", and then the rest of stage "judge".
        """
        rows = list(rows)
        ended = {row.trial for row in rows}
        rest = [trial for trial in self.list_trials("choose") if trial not in ended]
        return rest or [trial for trial in self.list_trials("judge", rows) if trial not in ended]

    def list_possible(self) -> set[Trial]:
        """Return every training run that this study might need."""
        configurations = [(rule, lr) for rule in self.keys for lr in self.lrs]
        return {*self.list_trials("choose"), *make_trials("judge", configurations, self.judge_seeds)}

    @property
    def _products(self) -> int:
        return self.settings(Trial("choose", self.keys[0], self.lrs[0], 0)).products

    def _count_runs(self, seeds: int) -> int:
        return seeds * (len(self.lrs) + 1) * len(self.rules)

    def _estimate_seconds(self, runs: int) -> float:
        return runs * self.steps * (_TRIAL_STEP_S + _PRODUCT_S * self._products)

    def _check(self, seeds: int, max_runs: int) -> None:
        runs = self._count_runs(seeds)
        if runs > max_runs:
            duration = format_duration(self._estimate_seconds(runs))
            raise ValueError(
                f"a study of {runs:,} runs of {self.steps} steps takes {duration} of one core; the limit is "
                f"{max_runs:,} runs. Use fewer rules, rates or seeds"
            )


def format_duration(seconds: float) -> str:
    """Return a duration as text, such as "about 4 s", "about 2.5 hours" or "about 12 days"."""
    if seconds < 90:
        return f"about {max(1, round(seconds))} s"
    if seconds < 5_400:
        return f"about {round(seconds / 60)} minutes"
    return (
        f"about {seconds / 3_600:.2g} hours" if seconds < 172_800 else f"about {seconds / 86_400:,.0f} days"
    )
