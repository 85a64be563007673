"""The plan of a study: rules, rates and seeds, as a list of trials."""

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
from explorer.study.arguments import key_of, known_to, rates_of, rules_of, seeds_of, values_of
from explorer.study.limits import MAX_CHUNK, MAX_CHUNK_PRODUCTS, MAX_LANES
from explorer.study.share import SEED, share_at_start
from explorer.study.trial import AGREEMENT, COLUMNS, Row, Stage, Trial, best_rate, in_blocks
from explorer.training import CONTROLS, FIRST, SETTINGS, TASKS, Settings
from explorer.training.nets import Learned, checked_learn, learned_by, learned_with
from explorer.training.numerics import metric_of
from explorer.training.ranking import Unit
from explorer.training.tasks import Draw, Table
from explorer.training.tasks.table import read_table

SCALED = ("sgd", "momentum")  # optimisers whose steps are as long as gradients are large
UNSCALED = (
    "on an equal footing rates are divided by a rule's share, which says nothing about {optimiser}: the "
    f"length of its steps does not hang on the size of a gradient; choose {' or '.join(SCALED)}"
)
_TAKEN = {"task", "op", "rules", "steps", "lr", "seeds", "parameters", "pace", "table"}  # by other arguments

# Measured on one of two shared cores: digits, 64-16-10, chunks of 300 trials.
_LANE_STEP_S, _PRODUCT_S = 1.3e-5, 5.5e-10


@dataclass(frozen=True)
class Plan:
    """The plan of a study, made by ``Plan.of``. Text and numbers only, unless op or rules are records.

    Attributes:
        task, op, rules, controls, steps: as asked for, filled in; the controls that were added stand last
            among the rules, and ``controls`` has their keys.
        lrs: ascending.
        seeds, judge_seeds: those by which rates are chosen, and the others by which rules are judged.
        parameters: names of parameters, or ``rule.name``, and their values.
        others: further settings of ``Settings``.
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

    @classmethod
    def of(
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
        most: int = MAX_LANES,
        table: str | Table | None = None,
        equal: bool = False,
        **others: Any,
    ) -> Plan:
        """A plan with its defaults, as ``explorer.study`` says. Raises ValueError with a plain sentence.

        ``most``: runs that are taken.
        """
        _require_known(others)
        task = FIRST if task is None and table is None else task
        learn = SETTINGS["learn"].checked(others.pop("learn", ()))
        common = {"task": task, "steps": steps, "table": table, "device": "cpu", **others}
        base = Settings(**common, op=op)  # type: ignore[arg-type]  # None is filled in
        if TASKS[base.task].metric is None:
            raise ValueError(f'the task "{base.task}" holds no data out: a study has nothing to judge by')
        selected = rules_of(TASKS[base.task].rules if rules is None else rules)
        added = [key for key in CONTROLS if controls and key not in map(key_of, selected)]
        usual = TASKS[base.task].parameters if op is None else {}
        op_entry, entries = find_op(base.op), [find_rule(rule) for rule in (*selected, *added)]
        known = known_to([op_entry, *entries], usual)
        values = values_of([op_entry, *entries], {**known, **(parameters or {})})
        chosen = seeds_of(seeds, base.seed)
        plan = cls(
            task=base.task,
            op=base.op,
            rules=(*selected, *added),
            controls=tuple(added),
            lrs=rates_of(lrs, base.lr),
            steps=base.steps,
            seeds=(),
            judge_seeds=(),
            parameters=tuple(values.items()),
            others=(
                *sorted((name, getattr(base, name)) for name in {"device", *others} - {"seed"}),
                *([("learn", checked_learn([op_entry], entries, learn))] if learn else []),
            ),
            table=base.table,
            equal=equal,
        )
        if equal and base.optimiser not in SCALED:
            raise ValueError(UNSCALED.format(optimiser=base.optimiser))
        plan._check(len(chosen), most)
        return plan._seeded(sorted({SETTINGS["seed"].checked(seed) for seed in chosen}))

    def _seeded(self, seeds: Sequence[int]) -> Plan:
        """The plan with seeds to choose by, and as many behind them to judge by. Raises ValueError."""
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
        """Return a name of what a rule's runs depend on, the same for the same."""
        return self.identity

    def accepts(self, identity: str, trial: Trial, possible: set[Trial]) -> bool:
        """Return whether a file with a run of this identity may hold runs of this plan."""
        return identity == self.identity and trial in possible

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the rules."""
        return tuple(map(key_of, self.rules))

    @property
    def op_entry(self) -> Op:
        """The op as a record."""
        return find_op(self.op)

    @property
    def learned(self) -> tuple[Learned, ...]:
        """The parameters that learn with one of the rules or several."""
        learn = dict(self.others).get("learn", ())
        return learned_by([self.op_entry], [find_rule(rule) for rule in self.rules], learn)

    @property
    def title(self) -> str:
        """The name of the task."""
        return TASKS[self.task].label

    @property
    def subject(self) -> str:
        """The task and the op."""
        return f"{self.title} with {self.op_entry.label}"

    @property
    def metric(self) -> str:
        """The metric that it is judged by."""
        data = read_table(self.table) if self.table else None
        return metric_of(data.train.y) if data else TASKS[self.task].metric or "accuracy"

    @property
    def quantises(self) -> bool:
        """Whether the op stands on weights and nothing of it learns: then nets can be compared by them."""
        return not TASKS[self.task].net.site.per_example and not self.learned

    @property
    def measured(self) -> tuple[str, ...]:
        """The columns of a run."""
        return (*COLUMNS, *(AGREEMENT if self.quantises else ()))

    @property
    def unit(self) -> Unit:
        """The unit of its scores, as ``explorer.rank`` takes it."""
        return "%" if self.metric == "accuracy" else "R²"

    @property
    def example(self) -> float:
        """The worth of one held-out example in an accuracy; 0 for another metric."""
        if self.unit != "%":
            return 0.0
        held_out = TASKS[self.task].data(Draw(Generator(), batch=1, table=self.table)).held_out
        return 1 / len(held_out.y) if held_out else 0.0

    @property
    def labels(self) -> dict[str, str]:
        """The rules' names on screen, by key."""
        return {key: find_rule(rule).label for key, rule in zip(self.keys, self.rules, strict=True)}

    @property
    def runs(self) -> int:
        """The number of trials in both stages; fewer are made if a rule diverges at every rate."""
        return self._runs(len(self.seeds))

    @property
    def seconds(self) -> float:
        """The processor time of the study, estimated."""
        return self._seconds(self.runs)

    @property
    def chunk(self) -> int:
        """The most trials in one ensemble."""
        return max(1, min(MAX_CHUNK, MAX_CHUNK_PRODUCTS // self._products))

    @property
    def identity(self) -> str:
        """A name of the study, the same for the same arguments."""
        fields = dataclasses.asdict(self)
        fields |= {"fixed": fields.pop("parameters"), "swept": ()}  # as in files that are older
        if not self.equal:
            del fields["equal"]  # files from before there was one go on
        text = json.dumps(fields, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def settings(self, trial: Trial) -> Settings:
        """The settings of a trial as a run of its own; on an equal footing its rate is divided already."""
        return self._settings(trial, self.rate(trial))

    @property
    def shares(self) -> dict[str, float]:
        """The share of straight-through's gradient by rule, before the first step."""
        return {rule: self._share(rule) for rule in self.keys}

    def rate(self, trial: Trial) -> float:
        """The learning rate that a trial trains with; one of a rule that passes nothing stays undivided."""
        share = self._share(trial.rule) if self.equal else 1.0
        return trial.lr / share if share > 0 else trial.lr

    def _share(self, rule: str) -> float:
        lr = self.lrs[0]
        return share_at_start(self._settings(Trial("choose", rule, lr, SEED), lr))

    def _settings(self, trial: Trial, lr: float) -> Settings:
        rule = dict(zip(self.keys, self.rules, strict=True)).get(trial.rule, trial.rule)
        entries = (self.op_entry, find_rule(rule))
        others = dict(self.others)
        if "learn" in others:
            others["learn"] = learned_with(*entries, others["learn"])
        return Settings(
            task=self.task,
            op=self.op,
            rules=(rule,),
            parameters=known_to(entries, dict(self.parameters)),
            lr=lr,
            seed=trial.seed,
            seeds=1,
            steps=self.steps,
            table=self.table,
            **others,
        )

    def trials(self, stage: Stage, rows: Iterable[Row] = ()) -> list[Trial]:
        """The trials of a stage, in the order in which they are done.

        Those of "judge" are of each rule at the rate that rows of "choose" tell; none of a rule that diverged
        at every rate.
        """
        if stage == "choose":
            return in_blocks("choose", [(rule, lr) for rule in self.keys for lr in self.lrs], self.seeds)
        chosen = [(rule, lr) for rule, lr in self.chosen(rows).items() if lr is not None]
        return in_blocks("judge", chosen, self.judge_seeds)

    def chosen(self, rows: Iterable[Row]) -> dict[str, float | None]:
        """Return the rate with the highest mean validation of each rule, the smallest of equal ones.

        A seed that diverged counts as 0; None where all diverged at every rate, or no run is there.
        """
        scores: dict[str, dict[float, list[Row]]] = {rule: {} for rule in self.keys}
        for row in rows:
            if row.trial.stage == "choose":
                scores[row.trial.rule].setdefault(row.trial.lr, []).append(row)
        return {rule: best_rate(rates) for rule, rates in scores.items()}

    def missing(self, rows: Iterable[Row]) -> list[Trial]:
        """The trials that can be done next: the rest of "choose", and only then the rest of "judge"."""
        rows = list(rows)
        done = {row.trial for row in rows}
        rest = [trial for trial in self.trials("choose") if trial not in done]
        return rest or [trial for trial in self.trials("judge", rows) if trial not in done]

    def possible(self) -> set[Trial]:
        """Every trial that the plan may ask for."""
        choose = self.trials("choose")
        judge = {trial._replace(stage="judge", seed=seed) for trial in choose for seed in self.judge_seeds}
        return {*choose, *judge}

    @property
    def _products(self) -> int:
        """Multiplications forward in a step of one run."""
        return self.settings(Trial("choose", self.keys[0], self.lrs[0], 0)).products

    def _runs(self, seeds: int) -> int:
        return seeds * (len(self.lrs) + 1) * len(self.rules)

    def _seconds(self, runs: int) -> float:
        return runs * self.steps * (_LANE_STEP_S + _PRODUCT_S * self._products)

    def _check(self, seeds: int, most: int) -> None:
        runs = self._runs(seeds)
        if runs > most:
            raise ValueError(
                f"a study of {runs:,} runs of {self.steps} steps takes {duration(self._seconds(runs))} of "
                f"one core, and at most {most:,} runs are taken: use fewer rules, rates or seeds"
            )


def _require_known(others: Iterable[str]) -> None:
    """Raise ValueError for a setting that a study does not have, or takes by another argument."""
    if wrong := sorted(set(others) - set(SETTINGS) | set(others) & _TAKEN):
        names = ", ".join(name for name in SETTINGS if name not in _TAKEN)
        raise ValueError(f"a study has no setting {quote(wrong[0])}: beside its own it takes {names}")


def duration(seconds: float) -> str:
    """Return a time in words: "about 4 s", "about 3 minutes", "about 2.5 hours", "about 12 days"."""
    if seconds < 90:
        return f"about {max(1, round(seconds))} s"
    if seconds < 5_400:
        return f"about {round(seconds / 60)} minutes"
    return (
        f"about {seconds / 3_600:.2g} hours" if seconds < 172_800 else f"about {seconds / 86_400:,.0f} days"
    )
