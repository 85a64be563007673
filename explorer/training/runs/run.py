"""A training run: the nets of a task, trained with one or more backward rules and seeds side by side."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from explorer.catalogue import find_op, find_rule, resolve_values
from explorer.gradient.threads import use_one_thread
from explorer.training.instruments import INSTRUMENTS, Record, Requested
from explorer.training.instruments.base.gradients import Gradients, compute_gradients
from explorer.training.nets import Fault
from explorer.training.numerics import get_metric
from explorer.training.runs import series
from explorer.training.runs.checkpoints import Checkpoints
from explorer.training.runs.lockstep import Tensors
from explorer.training.runs.snapshot import Snapshot
from explorer.training.runs.stepper import Stepper
from explorer.training.tasks import TASKS

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

    Curve = NDArray[float32]

FAULTS: Mapping[Fault, str] = {
    "op": "the op returned infinity or NaN for finite inputs",
    "forward": "values in the forward pass grew too large for float32",
    "backward": "a gradient became infinite or NaN",
}


class Run(Stepper):
    """A training run of small neural nets, which is advanced step by step and can be inspected at any step.

    A run uses no clock, thread or screen. All rules start from the same tensors and see the same batches, and
    the nets with index k among the seeds equal those of a run with only ``seed + k``. Equal settings give
    equal losses, bit for bit on one machine, also in a run continued from ``state_dict``, and independently
    of other runs and nets (on an accelerator the last bits may depend on the other nets). Not
    thread-safe.

    Attributes:
        settings: the settings of the run; a change of the learning rate after step 0 is a branch point.
        step: the number of steps taken.
        checkpoints: the states that the run can go back to.

    Args:
        settings: the settings of the run.
        tensors: the initial tensors of the first seed's net; None to draw them from the seed.
        recorded: the keys of the instruments to record; None for all that can be recorded.

    Raises:
        ValueError: if an initial tensor has the wrong shape.
    """

    def __repr__(self) -> str:
        settings = self.settings
        description = f"{settings.task}, {settings.op} with {', '.join(map(str, settings.rules))}"
        return f"Run({description}, {settings.seeds} seeds, step {self.step} of {settings.steps})".replace(
            " 1 seeds", " 1 seed"
        )

    @property
    def kept(self) -> Checkpoints:
        """The checkpoints of the run. This is an older name of ``checkpoints``."""
        return self.checkpoints

    def weights(self) -> dict[str, torch.Tensor]:
        """Return copies of the weights and biases of all finite nets, in the layout of ``nn.Linear``.

        Returns:
            A dict from these keys to tensors. Layers are counted from 0. A custom formula is called
            ``rule_1``, ``rule_2`` … by its position among the rules.

            - ``rule.seed.layer.weight``: the weights. Shape (outputs, inputs). A kernel is a row, which
              ``nn.Conv2d`` expects as (channels before, 3, 3), taps row by row.
            - ``rule.seed.layer.bias``: the biases. Shape (outputs,).
            - ``rule.seed.op.layer.name``: a learned parameter of the op, a number or one value per channel,
              with the layers with the op counted from 0.
        """
        tensors: dict[str, torch.Tensor] = {}
        names = [
            rule if rule.isidentifier() else f"rule_{index}" for index, rule in enumerate(self._rules, 1)
        ]
        with use_one_thread():
            layers = [] if self.diverged else self.nets.get_weights()
        for layer, (weights, *biases) in enumerate(layers):
            for index, (rule, seed) in enumerate(self.nets.ensemble.active):
                name = f"{names[rule]}.{self.settings.seed + seed}.{layer}"
                tensors[f"{name}.weight"] = weights[index].T.contiguous().cpu().clone()
                tensors |= {f"{name}.bias": bias[index, 0].cpu().clone() for bias in biases}
        return tensors | self._collect_learned(names)

    def _collect_learned(self, names: Sequence[str]) -> dict[str, torch.Tensor]:
        tensors: dict[str, torch.Tensor] = {}
        ensemble, learned = self.nets.ensemble, self.nets.op_rules.learned
        for layer, layer_values in enumerate(ensemble.rows.view_learned(ensemble.parameters)):
            for parameter, values in zip(learned, layer_values, strict=True):
                for (rule, seed), value in zip(ensemble.active, values.cpu(), strict=True):
                    key = f"{names[rule]}.{self.settings.seed + seed}.op.{layer}.{parameter.name}"
                    if parameter.name in self._get_values(rule):
                        tensors[key] = value.clone() if len(value) > 1 else value[0].clone()
        return tensors

    def _get_values(self, rule: int) -> dict[str, float]:
        op, rule_record = find_op(self._course.op), find_rule(self._course.rules[rule])
        return resolve_values(op, rule_record, self.settings.parameters)

    def history(self) -> dict[str, NDArray[Any]]:
        """Return the losses and measurements of the whole run as columns, for example of a data frame.

        Returns:
            A dict from the names of columns to arrays with an entry per rule, seed and step, which
            ``pandas.DataFrame`` accepts. Values are NaN if there are none.

            - ``rule``, ``seed``, ``step``: to which rule, seed and step the entry belongs.
            - ``loss``, ``w1_norm``, ``w2_norm``: the loss and the norms of the gradient at the start of the
              step.
            - ``held_out``: the score after ``step`` steps, if the task has held-out data.
            - ``alignment_cosine_1`` and so on: the measurements of a hidden layer after ``step`` steps.
        """
        curves, count = self._series, self.step + 1
        seeds = np.arange(self.settings.seed, self.settings.seed + self.settings.seeds)
        rule, seed, step = np.meshgrid(self._rules, seeds, np.arange(count), indexing="ij")
        numbers = series.expand_steps(curves.numbers, range(count), count)
        scores = {"held_out": curves.scores} if self.nets.data[0].held_out else {}
        columns = {"rule": rule, "seed": seed, "step": step}
        columns |= dict(zip(("loss", "w1_norm", "w2_norm"), numbers, strict=True))
        for name, measured in {**scores, **self.recorder.get_columns()}.items():
            columns[name] = series.expand_steps(measured, curves.score_steps, count)
        return {name: column.reshape(-1) for name, column in columns.items()}

    def validation(self) -> dict[str, Curve]:
        """Return a dict from each rule to the scores of its nets on the validation data.

        The scores have shape (seeds,), float32, NaN for a seed that diverged. Raises ValueError if the task
        has no such data.
        """
        part = self.nets.data[0].validation
        if part is None:
            raise ValueError(f'the task "{self.settings.task}" has no held-out data')
        scores = np.full((len(self._rules), self.settings.seeds), np.nan, np.float32)
        with use_one_thread():
            for member, score in zip(self.nets.ensemble.active, self.nets.compute_scores(part), strict=True):
                scores[member] = score
        return dict(zip(self._rules, scores, strict=True))

    def tensors(self) -> Tensors:
        """Return copies of the training data and of the initial parameters of the first seed's net."""
        x, y, parameters = self.nets.start[0]
        return Tensors(x.clone(), y.clone(), tuple(parameter.clone() for parameter in parameters))

    def snapshot(self, visible: Collection[str] = (), *, shown: Collection[str] = ()) -> Snapshot:
        """Return a snapshot of the training run at its current step.

        Args:
            visible: further instruments to measure, as keys or as questions with numbers.
            shown: an earlier name of ``visible``.
        """
        visible = (*visible, *shown)
        curves = self._series
        step_counts = [curves.count_steps(rule, self.step) for rule in range(len(self._rules))]
        point_steps = [series.select_points(count) for count in step_counts]
        loss, w1, w2 = (
            [curves.numbers[row, steps, rule] for rule, steps in enumerate(point_steps)] for row in range(3)
        )
        lows, highs = zip(*map(series.find_bounds, loss), strict=True)
        points = int((curves.score_steps <= self.step).sum())
        score_steps, scores = curves.score_steps[:points], curves.scores[:points]
        held_out = self.nets.data[0].held_out
        if held_out is None:
            score_steps, scores = score_steps[:0], scores[:0]
        by_seed = [scores[:, rule] for rule in range(len(self._rules))]
        diverged = curves.diverged
        return Snapshot(
            step=self.step,
            steps=self.settings.steps,
            finished=self.finished,
            task=self.settings.task,
            seeds=self.settings.seeds,
            going=self._map_rules((diverged < 0).sum(1).tolist()),
            losses=self._map_rules(map(series.compute_mean, loss)),
            loss_low=self._map_rules(lows),
            loss_high=self._map_rules(highs),
            seed_losses=self._map_rules(each.T.copy() for each in loss),
            w1_norms=self._map_rules(map(series.compute_mean, w1)),
            w2_norms=self._map_rules(map(series.compute_mean, w2)),
            loss_steps=self._map_rules(point_steps),
            loss=self._map_rules(
                float(series.compute_mean(each)[-1]) if len(each) else None for each in loss
            ),
            metric=get_metric(held_out.y) if held_out else None,
            held_out=len(held_out.y) if held_out else 0,
            chance=self.nets.data[0].chance,
            score=self._map_rules(
                np.where(left < 0, each[-1], np.float32(np.nan)) if held_out else None
                for each, left in zip(by_seed, diverged, strict=True)
            ),
            scores=self._map_rules(map(series.compute_mean, by_seed)),
            score_sd=self._map_rules(map(series.compute_deviation, by_seed)),
            seed_scores=self._map_rules(each.T.copy() for each in by_seed),
            score_steps=score_steps,
            diverged=self._map_rules(int(left.max()) if (left >= 0).all() else None for left in diverged),
            fallen=self._map_rules(map(self._explain_fallen, range(len(self._rules)))),
            faults=self._map_rules(map(self.describe_fault, range(len(self._rules)))),
            learned=self._map_rules(map(self._get_learned, range(len(self._rules)))),
            gradients=self._compute_gradients(),
            seed=self._map_rules(
                self.settings.seed + int(finite[0]) if len(finite := np.flatnonzero(left < 0)) else None
                for left in diverged
            ),
            measured=self._get_records(visible),
            measured_steps=curves.score_steps[:points],
            measured_sigmas=self.recorder.get_sigmas(self.step),
            unmeasured=self.recorder.list_missing(visible),
            most=self.recorder.max_arguments,
            sigma=self.settings.sigma,
            layers=len(self.settings.widths),
            device=str(self.nets.device),
            lr=self.settings.lr,
            branch=self.settings.branch,
            checkpoints=self.checkpoints.steps,
        )

    def _get_records(self, visible: Collection[str]) -> dict[str, dict[str, Record | None]]:
        with use_one_thread():
            records = self.recorder.get_records(self.step, self.settings, visible)
        lost_rules = [
            rule for rule, steps in zip(self._rules, self._series.diverged, strict=True) if (steps >= 0).all()
        ]
        return {
            key: self._map_rules(each.values()) | dict.fromkeys(lost_rules) for key, each in records.items()
        }

    def measure(self, key: str, **arguments: int) -> dict[str, Record | None]:
        """Measure the nets with one instrument and return a dict from the key of each rule to its record.

        A rule that diverged or has no result gets None. Raises ValueError with a plain sentence for an
        unknown instrument or invalid arguments.
        """
        with use_one_thread(), self._bind_for(key):
            return self._map_rules(self.recorder.answer(self.settings, key, arguments).values())

    @contextmanager
    def _bind_for(self, key: str) -> Iterator[None]:
        """Use, inside the context, the op and rules of the next step if an instrument measures that step."""
        instrument = INSTRUMENTS.get(key)
        if not (isinstance(instrument, Requested) and instrument.ahead):
            yield
            return
        before = self._course
        self._bind(self.settings.course_of(self.step))
        try:
            yield
        finally:
            self._bind(before)

    def describe_fault(self, rule: int | None = None) -> str:
        """Return a clause that says why a net, by default of any rule, was last removed, if it is known."""
        found = [f for member, f in self.nets.ensemble.faults.items() if rule in (None, member.rule)]
        return FAULTS[found[-1]] if found else "a value became infinite or NaN"

    def _explain_fallen(self, rule: int) -> str | None:
        positions = [
            position for member, position in self.nets.ensemble.out_of_domain.items() if member.rule == rule
        ]
        if not positions:
            return None
        layer, parameter = positions[0]
        name = self.nets.op_rules.learned[parameter].name
        place = "after" if TASKS[self.settings.task].net.site.per_example else "of"
        return f"{name} {place} w{layer + 1} fell to 0 or below, where its formulas are undefined"

    def _get_learned(self, rule: int) -> dict[str, Curve]:
        """Return a dict from the names of a rule's learned parameters to their values. Shape (seeds, layers).

        Values of a diverged seed are NaN.
        """
        names = [parameter.name for parameter in self.nets.op_rules.learned]
        if not names:
            return {}
        rule_values, ensemble = self._get_values(rule), self.nets.ensemble
        present = ensemble.rows.reduce_learned(torch.mean, ensemble.parameters).cpu().numpy()
        values = np.full((self.settings.seeds, *present.shape[1:]), np.nan, np.float32)
        for index, member in enumerate(ensemble.active):
            if member.rule == rule:
                values[member.seed] = present[index]
        return {name: values[..., index] for index, name in enumerate(names) if name in rule_values}

    def _map_rules(self, values: Any) -> dict[str, Any]:
        return dict(zip(self._rules, values, strict=True))

    def _compute_gradients(self) -> dict[str, Gradients | None]:
        by_rule: dict[str, Gradients | None] = dict.fromkeys(self._rules)
        if self.nets.ensemble.active:
            with use_one_thread():
                nets, step = self.recorder.observe(self.settings), self.nets.run_pass()
                facts = compute_gradients(nets.ensemble, step, nets.current_pass, nets.distances[0])
            by_rule |= {self._rules[rule]: facts_of_rule for rule, facts_of_rule in facts.items()}
        return by_rule
