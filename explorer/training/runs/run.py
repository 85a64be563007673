"""A run: one training of a task's net, one or more rules and seeds in lock-step."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from explorer.catalogue import find_op, find_rule, resolve_values
from explorer.training.instruments import INSTRUMENTS, Record, Requested
from explorer.training.instruments.base.gradients import Gradients, gradients
from explorer.training.nets import Fault, no_longer
from explorer.training.numerics import metric_of
from explorer.training.runs import series
from explorer.training.runs.checkpoints import Checkpoints
from explorer.training.runs.lockstep import Tensors
from explorer.training.runs.snapshot import Snapshot
from explorer.training.runs.stepper import Stepper
from explorer.training.system import one_thread
from explorer.training.tasks import Part

if TYPE_CHECKING:
    from numpy import float32, int64
    from numpy.typing import NDArray

    Curve = NDArray[float32]

FAULTS: Mapping[Fault, str] = {
    "op": "the op gave no finite number for finite inputs",
    "forward": "numbers outgrew what float32 holds on the way forward",
    "backward": "a gradient is not finite",
}


class Run(Stepper):
    """A seeded stepper: settings in, ``advance``, ``snapshot`` out.

    It knows no clock, thread or screen. All rules start from the same tensors and see the same
    batches, and the members of seed k are those that ``seed + k`` alone has. The same settings give the same
    losses bit for bit on one machine, and so does a run continued from ``state_dict``, whatever else runs
    beside it or in it (on an accelerator the company in it may show in the last bits). Not to be advanced by
    two threads at once.

    Attributes:
        settings: of the run; a learning rate that was changed on the way is a branch point in it.
        step: steps taken.
        checkpoints: states that it can go back to.

    Args:
        settings: of the run.
        tensors: start of the first seed's net; None draws it from the seed.
        recorded: keys of the instruments to record; None for all that are recorded.

    Raises:
        ValueError: a start tensor has another shape.
    """

    def __repr__(self) -> str:
        settings = self.settings
        chosen = f"{settings.task}, {settings.op} with {', '.join(map(str, settings.rules))}"
        return f"Run({chosen}, {settings.seeds} seeds, step {self.step} of {settings.steps})".replace(
            " 1 seeds", " 1 seed"
        )

    @property
    def kept(self) -> Checkpoints:
        """``checkpoints``, as they were called."""
        return self.checkpoints

    def weights(self) -> dict[str, torch.Tensor]:
        """The weights and biases of all nets that did not diverge, copied, as ``nn.Linear`` has them.

        A kernel is a row: ``nn.Conv2d`` takes it as (channels before, 3, 3), taps row by row.

        ``rule.seed.layer.weight`` (outputs, inputs) and ``….bias`` (outputs,), the layers from 0; an own
        formula is ``rule_1``, ``rule_2`` … by its index among the rules. What learns of the op is
        ``rule.seed.op.layer.name``, the layers with the op from 0: a number, or one by channel.
        """
        tensors: dict[str, torch.Tensor] = {}
        names = [
            rule if rule.isidentifier() else f"rule_{index}" for index, rule in enumerate(self._rules, 1)
        ]
        with one_thread():
            layers = [] if self.diverged else self._nets.weights()
        for layer, (weights, *biases) in enumerate(layers):
            for index, (rule, seed) in enumerate(self._nets.ensemble.going):
                name = f"{names[rule]}.{self.settings.seed + seed}.{layer}"
                tensors[f"{name}.weight"] = weights[index].T.contiguous().cpu().clone()
                tensors |= {f"{name}.bias": bias[index, 0].cpu().clone() for bias in biases}
        return tensors | self._learned_numbers(names)

    def _learned_numbers(self, names: Sequence[str]) -> dict[str, torch.Tensor]:
        """The learned values of nets that did not diverge; ``names``: of the rules."""
        tensors: dict[str, torch.Tensor] = {}
        ensemble, learned = self._nets.ensemble, self._nets.joined.learned
        for layer, own in enumerate(ensemble.rows.learned(ensemble.parameters)):
            for parameter, each in zip(learned, own, strict=True):
                for (rule, seed), of_one in zip(ensemble.going, each.cpu(), strict=True):
                    key = f"{names[rule]}.{self.settings.seed + seed}.op.{layer}.{parameter.name}"
                    if parameter.name in self._own(rule):
                        tensors[key] = of_one.clone() if len(of_one) > 1 else of_one[0].clone()
        return tensors

    def _own(self, rule: int) -> dict[str, float]:
        """The values of a rule and its op by name, as they are set."""
        op, its = find_op(self._bound.op), find_rule(self._bound.rules[rule])
        return resolve_values(op, its, self.settings.parameters)

    def history(self) -> dict[str, NDArray[Any]]:
        """The whole history of the run as columns of equal length, one row a rule, seed and step.

        ``rule``, ``seed``, ``step``; ``loss``, ``w1_norm`` and ``w2_norm`` at the start of the step;
        ``held_out`` and what is measured by hidden layer, such as ``alignment_cosine_1``, after so many
        steps; NaN where there is none. ``pandas.DataFrame`` takes it.
        """
        own, count = self._series, self.step + 1
        seeds = np.arange(self.settings.seed, self.settings.seed + self.settings.seeds)
        rule, seed, step = np.meshgrid(self._rules, seeds, np.arange(count), indexing="ij")
        numbers = series.of_steps(own.numbers, range(count), count)
        judged = {"held_out": own.scores} if self._nets.data[0].held_out else {}
        columns = {"rule": rule, "seed": seed, "step": step}
        columns |= dict(zip(("loss", "w1_norm", "w2_norm"), numbers, strict=True))
        for name, measured in {**judged, **self._recorder.columns()}.items():
            columns[name] = series.of_steps(measured, own.score_steps, count)
        return {name: column.reshape(-1) for name, column in columns.items()}

    def validation(self) -> dict[str, Curve]:
        """Scores on validation data by rule, (seeds,) float32 each; rates and the like are chosen by them.

        NaN for a seed that diverged. Raises ValueError where the task has no such data.
        """
        part = self._nets.data[0].validation
        if part is None:
            raise ValueError(f'the task "{self.settings.task}" has no data to judge by')
        scores = np.full((len(self._rules), self.settings.seeds), np.nan, np.float32)
        with one_thread():
            for member, score in zip(self._nets.ensemble.going, self._nets.scores(part), strict=True):
                scores[member] = score
        return dict(zip(self._rules, scores, strict=True))

    def tensors(self) -> Tensors:
        """Copies of the start tensors of the first seed's net, on the run's device."""
        x, y, parameters = self._nets.start[0]
        return Tensors(x.clone(), y.clone(), tuple(each.clone() for each in parameters))

    def snapshot(self, visible: Collection[str] = (), *, shown: Collection[str] = ()) -> Snapshot:
        """A snapshot of this step.

        Args:
            visible: instruments to measure beside those that are recorded: keys, or questions with numbers.
            shown: ``visible``, as it was called.
        """
        visible = (*visible, *shown)
        own = self._series
        taken = [own.taken(rule, self.step) for rule in range(len(self._rules))]
        at = [series.thinned(count) for count in taken]
        loss, w1, w2 = (
            [own.numbers[what, steps, rule] for rule, steps in enumerate(at)] for what in range(3)
        )
        points = int((own.score_steps <= self.step).sum())
        score_steps, scores = own.score_steps[:points], own.scores[:points]
        held_out = self._nets.data[0].held_out
        if held_out is None:
            score_steps, scores = score_steps[:0], scores[:0]
        by_seed = [scores[:, rule] for rule in range(len(self._rules))]
        diverged = own.diverged
        return Snapshot(
            step=self.step,
            steps=self.settings.steps,
            finished=self.finished,
            task=self.settings.task,
            seeds=self.settings.seeds,
            going=self._named((diverged < 0).sum(1).tolist()),
            losses=self._named(map(series.mean, loss)),
            loss_sd=self._named(map(series.deviation, loss)),
            seed_losses=self._named(each.T.copy() for each in loss),
            w1_norms=self._named(map(series.mean, w1)),
            w2_norms=self._named(map(series.mean, w2)),
            loss_steps=self._named(at),
            loss=self._named(float(series.mean(each)[-1]) if len(each) else None for each in loss),
            metric=metric_of(held_out.y) if held_out else None,
            held_out=len(held_out.y) if held_out else 0,
            chance=_chance(held_out),
            score=self._named(
                np.where(left < 0, each[-1], np.float32(np.nan)) if held_out else None
                for each, left in zip(by_seed, diverged, strict=True)
            ),
            scores=self._named(map(series.mean, by_seed)),
            score_sd=self._named(map(series.deviation, by_seed)),
            seed_scores=self._named(each.T.copy() for each in by_seed),
            score_steps=score_steps,
            diverged=self._named(int(left.max()) if (left >= 0).all() else None for left in diverged),
            fallen=self._named(map(self._fallen, range(len(self._rules)))),
            resting=self._named(map(self._resting, range(len(self._rules)))),
            learned=self._named(map(self._learned, range(len(self._rules)))),
            gradients=self._gradients(),
            seed=self._named(map(self._first_finite, diverged)),
            measured=self._measured(visible),
            measured_steps=own.score_steps[:points],
            measured_sigmas=self._recorder.sigmas(self.step),
            unmeasured=self._recorder.missing(visible),
            most=self._recorder.most,
            sigma=self.settings.sigma,
            layers=len(self.settings.widths),
            device=str(self._nets.device),
            lr=self.settings.lr,
            branch=self.settings.branch,
            checkpoints=self.checkpoints.steps,
        )

    def _measured(self, visible: Collection[str]) -> dict[str, dict[str, Record | None]]:
        with one_thread():
            records = self._recorder.records(self.step, self.settings, visible)
        left = [rule for rule, at in zip(self._rules, self._series.diverged, strict=True) if (at >= 0).all()]
        return {key: self._named(each.values()) | dict.fromkeys(left) for key, each in records.items()}

    def measure(self, key: str, **arguments: int) -> dict[str, Record | None]:
        """The records of a requested instrument by rule; None where it has nothing to say.

        Raises ValueError for an instrument or arguments that cannot be, in a plain sentence.
        """
        with one_thread(), self._bound_for(key):
            return self._named(self._recorder.answer(self.settings, key, arguments).values())

    @contextmanager
    def _bound_for(self, key: str) -> Iterator[None]:
        """Bind the course that an instrument measures: that of the step before, or of the next."""
        instrument = INSTRUMENTS.get(key)
        if not (isinstance(instrument, Requested) and instrument.ahead):
            yield
            return
        before = self._bound
        self._bind(self.step)
        try:
            yield
        finally:
            self._rebind(before)

    @property
    def fault(self) -> str:
        """Why the last member left that is known of, as a clause."""
        faults = list(self._nets.ensemble.faults.values())
        return FAULTS[faults[-1]] if faults else "a value is not finite"

    def _first_finite(self, diverged: NDArray[int64]) -> int | None:
        """The first finite seed of a rule, from the steps at which its seeds diverged, (seeds,)."""
        finite = np.flatnonzero(diverged < 0)
        return self.settings.seed + int(finite[0]) if len(finite) else None

    def _fallen(self, rule: int) -> str | None:
        """Why the first of a rule's members with a learned value outside its domain left, or None."""
        fallen = [where for member, where in self._nets.ensemble.fallen.items() if member.rule == rule]
        if not fallen:
            return None
        layer, parameter = fallen[0]
        name = self._nets.joined.learned[parameter].name
        return f"{name} of layer {layer + 1} fell to 0 or below, where its formulas break"

    def _resting(self, rule: int) -> str:
        """A sentence on parameters that learned at the start and do not with the op and rule in force."""
        before, now = (
            (find_op(course.op), find_rule(course.rules[rule]))
            for course in (self.settings.course(-1), self._bound)
        )
        return no_longer(self.settings.learn, before, now)

    def _learned(self, rule: int) -> dict[str, Curve]:
        """The present values of a rule by parameter, (seeds, layers with the op): means over channels."""
        names = [each.name for each in self._nets.joined.learned]
        if not names:
            return {}
        own, ensemble = self._own(rule), self._nets.ensemble
        now = ensemble.rows.over_values(torch.mean, ensemble.parameters).cpu().numpy()
        learned = np.full((self.settings.seeds, *now.shape[1:]), np.nan, np.float32)
        for index, member in enumerate(ensemble.going):
            if member.rule == rule:
                learned[member.seed] = now[index]
        return {name: learned[..., index] for index, name in enumerate(names) if name in own}

    def _named(self, values: Any) -> dict[str, Any]:
        return dict(zip(self._rules, values, strict=True))

    def _gradients(self) -> dict[str, Gradients | None]:
        by_rule: dict[str, Gradients | None] = dict.fromkeys(self._rules)
        if self._nets.ensemble.going:
            with one_thread():
                observed = self._recorder.observed(self.settings).now
                facts = gradients(self._nets.ensemble, self._nets.look(), observed)
            by_rule |= {self._rules[rule]: each for rule, each in facts.items()}
        return by_rule


def _chance(held_out: Part | None) -> float | None:
    """The share of the most frequent class."""
    if held_out is None or held_out.y.is_floating_point():
        return None
    return held_out.y.bincount().max().item() / len(held_out.y)
