"""A run: one training of a task's net, one or more rules and seeds in lock-step."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from explorer.catalogue import find_op, find_rule, values
from explorer.training import series
from explorer.training.boundary import Joined, hexed, joined, no_longer
from explorer.training.branches import Branch, Course, merged, parting
from explorer.training.instruments import INSTRUMENTS, Record, Requested
from explorer.training.instruments.gradients import Gradients, gradients
from explorer.training.instruments.question import key_of
from explorer.training.kept import Kept, nearest
from explorer.training.lockstep import Lockstep, Tensors
from explorer.training.metrics import Metric, metric_of
from explorer.training.net import Lane
from explorer.training.readings import Readings
from explorer.training.series import Series
from explorer.training.settings import LIVE, Settings
from explorer.training.tasks import Part

if TYPE_CHECKING:
    from numpy import float32, int64
    from numpy.typing import NDArray

    Curve = NDArray[float32]


@dataclass(frozen=True)
class Snapshot:
    """What a run is at one step, immutable; the mappings have one entry per rule, in their order.

    Means and standard deviations are over a rule's seeds that were still finite at that step.

    Attributes:
        step: steps taken.
        steps: steps asked for.
        finished: nothing is left to do: all steps taken, or every lane diverged.
        task: its key.
        seeds: how many nets a rule has.
        going: how many of them have not diverged.
        losses: (points,) float32 each, at most 500: the mean loss at the start of a step. A series longer
            than that is thinned evenly; its latest value is always in it. A rule that diverged keeps
            its curve up to there.
        loss_sd: (points,) float32 each, the standard deviation; NaN with fewer than two seeds.
        seed_losses: (seeds, points) float32 each; NaN from where a seed diverged.
        w1_norms, w2_norms: (points,) float32 each, mean norms of the gradients of the first and the last
            layer of weights in the same steps.
        loss_steps: (points,) int64 each, the step of each value in these series, from 0.
        loss: the latest mean loss; None before the first step.
        metric: what held-out data is judged by, "accuracy" or "R²"; None where nothing is held out.
        chance: the accuracy of who always guesses alike, where that is known.
        score: (seeds,) float32 each, on held-out data when it was last judged, at most 1; NaN for a seed
            that diverged; None without a metric.
        scores: (judged,) float32 each, the mean; NaN where no seed was finite.
        score_sd: (judged,) float32 each, the standard deviation; NaN with fewer than two seeds.
        seed_scores: (seeds, judged) float32 each.
        score_steps: (judged,) int64, the steps taken before each of these: 0, every ⌈steps ÷ 200⌉, the last.
        diverged: the step at which the last of a rule's seeds was no longer finite, or None.
        fallen: by rule why the first of its seeds left that did so because of what learns, as in "s of layer
            2 fell to 0 or below, where its formulas break"; None where none did.
        resting: by rule what learned before the run branched and does not now, in a sentence; "" for nothing.
        learned: by rule, and then by parameter that learns in the run, as far as the rule has it: its
            present values (seeds, layers with the op) float32, NaN for a seed that diverged. Where the rule
            lets it stay as it is, they are what they were at the start.
        gradients: what the gradient does at the present weights, of the first seed that is finite; None
            where the rule diverged.
        seed: of which seed this is, and whatever else is of one net of a rule; None where it diverged.
        measured: the record of each instrument that is recorded or was to be shown, by its key, or the
            question that it answers (see ``instruments.question``), and rule; None where the rule diverged. A
            recorded one has its ``fields`` as they are now, (hidden layers,) float32, and each of their
            series in the plural, a list of (points,) by layer.
        measured_steps: (points,) int64, the steps of these: 0, every ⌈steps ÷ 200⌉, the last.
        measured_sigmas: (points,) float32, the ``sigma`` of each of them.
        unmeasured: why an instrument that is recorded or was to be shown is not in it, in a sentence.
        most: the largest of each number that instruments take here, by key and name.
        sigma: standard deviation of the noise with which gradients are compared.
        layers: how many hidden layers the net has.
        device: where the run computes, such as "cpu".
        lr: the learning rate it began with.
        branch: from which step on something else held or will, as in ``Settings``.
        kept: the steps it can go back to, ascending.
    """

    step: int
    steps: int
    finished: bool
    task: str
    seeds: int
    going: Mapping[str, int]
    losses: Mapping[str, Curve]
    loss_sd: Mapping[str, Curve]
    seed_losses: Mapping[str, Curve]
    w1_norms: Mapping[str, Curve]
    w2_norms: Mapping[str, Curve]
    loss_steps: Mapping[str, NDArray[int64]]
    loss: Mapping[str, float | None]
    metric: Metric | None
    chance: float | None
    score: Mapping[str, Curve | None]
    scores: Mapping[str, Curve]
    score_sd: Mapping[str, Curve]
    seed_scores: Mapping[str, Curve]
    score_steps: NDArray[int64]
    diverged: Mapping[str, int | None]
    fallen: Mapping[str, str | None]
    resting: Mapping[str, str]
    learned: Mapping[str, Mapping[str, Curve]]
    gradients: Mapping[str, Gradients | None]
    seed: Mapping[str, int | None]
    measured: Mapping[str, Mapping[str, Record | None]]
    measured_steps: NDArray[int64]
    measured_sigmas: Curve
    unmeasured: Mapping[str, str]
    most: Mapping[str, Mapping[str, int]]
    sigma: float
    layers: int
    device: str
    lr: float
    branch: tuple[Branch, ...]
    kept: tuple[int, ...]

    @property
    def accuracy(self) -> Mapping[str, Curve | None]:
        """(seeds,) float32 each: the share of held-out examples that is right; None without classes."""
        return {rule: score if self.metric == "accuracy" else None for rule, score in self.score.items()}

    def shows(self, questions: Collection[str]) -> bool:
        """Whether what answers these questions to instruments is in it, as far as there are such."""
        known = {text for text in questions if key_of(text) in INSTRUMENTS}
        return not known - {*self.measured, *self.unmeasured}

    @property
    def alignment(self) -> Mapping[str, Curve]:
        """(hidden layers,) float32 each: a rule's cosine with the gradient of the net that noise smooths.

        The mean over the seeds that are finite; NaN where no gradient is or nothing is measured.
        """
        known = self.measured.get("alignment", {})
        nothing = np.full(self.layers, np.nan, np.float32)
        return {rule: record["cosine"] if (record := known.get(rule)) else nothing for rule in self.losses}


class Judgement(NamedTuple):
    """How the nets of a run do at one step.

    Attributes:
        scores: (lanes going,) on held-out data; None without any.
        read: what is recorded by instrument, (fields, lanes going, columns).
    """

    scores: Curve | None
    read: Mapping[str, Curve]

    @classmethod
    def of(cls, nets: Lockstep, readings: Readings, settings: Settings) -> Judgement:
        """Of nets as they are now."""
        held_out = nets.data[0].held_out
        return cls(nets.scores(held_out) if held_out else None, readings.read(settings))

    def only(self, places: Sequence[int]) -> Judgement:
        """Of some of the lanes."""
        read = {key: each[:, places] for key, each in self.read.items()}
        return Judgement(None if self.scores is None else self.scores[places], read)


class Run:
    """A seeded stepper: settings in, ``advance``, ``snapshot`` out.

    It knows no clock, thread or screen. All rules start from the same tensors and see the same
    batches, and the lanes of seed k are those that ``seed + k`` alone has. The same settings give the same
    losses bit for bit on one machine, and so does a run continued from ``state_dict``, whatever else runs
    beside it or in it (on an accelerator the company in it may show in the last bits). Not to be advanced by
    two threads at once.

    Attributes:
        settings: what it does; a learning rate that was changed on the way stands in it as a branch point.
        step: steps taken.
        kept: the states that it can go back to.

    Args:
        settings: what to do.
        tensors: what the net of the first seed starts from; None draws it from the seed.
        recorded: keys of the instruments it takes as it goes, of those that are recorded; None takes all.

    Raises:
        ValueError: a start tensor has another shape.
    """

    def __init__(
        self,
        settings: Settings,
        tensors: Tensors | None = None,
        recorded: Collection[str] | None = None,
    ) -> None:
        self.settings = settings
        self.step = 0
        self._given = tensors
        self._rules = [rule if isinstance(rule, str) else rule.key for rule in settings.rules]
        self._series = Series(settings.steps, len(self._rules), settings.seeds)
        seeds = range(settings.seed, settings.seed + settings.seeds)
        lanes = [Lane(rule, seed) for rule in range(len(self._rules)) for seed in range(settings.seeds)]
        self.kept = Kept(self._series.every)
        self._bound = settings.course(-1)
        with one_thread():
            self._nets = Lockstep(settings, settings.table, seeds, lanes, self._joined(), tensors)
            self._readings = Readings(settings, self._nets, self._series.score_steps, recorded)
            self.judge()

    @property
    def finished(self) -> bool:
        """Whether nothing is left to do: all steps taken, or every lane diverged."""
        return self.diverged or self.step >= self.settings.steps

    @property
    def diverged(self) -> bool:
        """Whether every lane has diverged."""
        return not self._nets.lanes.going

    def advance(self, steps: int = 1) -> None:
        """Take so many steps, or those that are left. Raises ValueError below 0."""
        if steps < 0:
            raise ValueError(f"a run advances by 0 or more steps, not {steps}")
        with one_thread():
            for _ in range(steps):
                if self.finished:
                    return
                self._advance_once()

    def _advance_once(self) -> None:
        self.prepare()
        if self.took(self._nets.step(self._bound.lr)):
            self.judge()

    def prepare(self) -> float:
        """Keep the state that is due, and have in force what holds in the next step; its learning rate."""
        if self.keeps:
            self.kept.keep(self.step, {"step": self.step, **self._nets.state()})
        self._bind(self.step)
        return self._bound.lr

    @property
    def keeps(self) -> bool:
        """Whether the state at this step is to be kept before the next."""
        return self.kept.is_due(self.step)

    def took(self, numbers: NDArray[float32]) -> bool:
        """Note what the nets did in a step, draw what the next one sees; whether they are to be judged."""
        self._series.record(self.step, self._nets.lanes.going, numbers)
        if self.diverged:
            return False
        self.step += 1
        self._nets.turn()
        return self._series.is_due(self.step)

    def _bind(self, step: int) -> None:
        """Have in force what holds while a step is taken."""
        self._rebind(self.settings.course(step))

    def _rebind(self, course: Course) -> None:
        before, self._bound = self._bound, course
        if before[:2] == self._bound[:2]:
            return
        self._nets.bind(self._joined())
        self._readings.bind(self._bound)

    def _joined(self) -> Joined:
        """The op with the rules that are in force, and what learns."""
        ours = self.settings
        return joined(self._bound.op, self._bound.rules, ours.parameters, ours.learn, ours.learned)

    def change(self, **live: Any) -> None:
        """Go on with another lr, pace or sigma; another lr on the way is a branch point of the settings.

        Raises ValueError for a value that cannot be, or a setting that begins a new run.
        """
        if other := [name for name in live if name not in LIVE]:
            raise ValueError(f"{', '.join(other)} cannot change while a run goes on: start a new one")
        settings = dataclasses.replace(self.settings, **live)
        if "lr" in live and self.step:
            begun = dataclasses.replace(settings, lr=self.settings.lr)
            settings = begun if self.finished else begun.with_lr(self.step, settings.lr)
        self.settings = settings

    def judge(self) -> None:
        """Note how the nets do on held-out data, where there is some, and what instruments read.

        Neither touches a generator.
        """
        self.note(Judgement.of(self._nets, self._readings, self.settings))

    def note(self, found: Judgement) -> None:
        """Note how its nets do now."""
        if found.scores is not None:
            self._series.judged(self.step, self._nets.lanes.going, found.scores)
        self._readings.note(self.step, self.settings, found.read)

    @property
    def nets(self) -> Lockstep:
        """What trains."""
        return self._nets

    @property
    def readings(self) -> Readings:
        """What instruments read of it."""
        return self._readings

    @property
    def likeness(self) -> Hashable:
        """What another must have in common with it to take the next steps ``together``; None: it cannot."""
        ours, nets = self.settings, self._nets.likeness
        if nets is None or self.finished or any(name != "lr" for _, name, _ in ours.branch):
            return None
        op = find_op(self._bound.op)
        return nets, op, hexed(values(op, None, ours.parameters)), ours.sigma, self._readings.recorded

    @property
    def numbers(self) -> int:
        """How many its nets and their optimiser are made of."""
        lanes = self._nets.lanes
        return lanes.parameters.numel() * (1 + len(lanes.optimiser.state))

    def weights(self) -> dict[str, torch.Tensor]:
        """The weights and biases of all nets that did not diverge, copied, as ``nn.Linear`` has them.

        ``rule.seed.layer.weight`` (outputs, inputs) and ``….bias`` (outputs,), the layers from 0; an own
        formula is ``rule_1``, ``rule_2`` … by its place among the rules. What learns of the op is
        ``rule.seed.op.layer.name``, a number each, the layers with the op from 0.
        """
        found: dict[str, torch.Tensor] = {}
        names = [
            rule if rule.isidentifier() else f"rule_{place}" for place, rule in enumerate(self._rules, 1)
        ]
        for layer, (weights, *biases) in enumerate([] if self.diverged else self._nets.weights()):
            for place, (rule, seed) in enumerate(self._nets.lanes.going):
                name = f"{names[rule]}.{self.settings.seed + seed}.{layer}"
                found[f"{name}.weight"] = weights[place].T.contiguous().cpu().clone()
                found |= {f"{name}.bias": bias[place, 0].cpu().clone() for bias in biases}
        return found | self._learned_numbers(names)

    def _learned_numbers(self, names: Sequence[str]) -> dict[str, torch.Tensor]:
        """What learns of the op, in nets that did not diverge; ``names`` of the rules."""
        found: dict[str, torch.Tensor] = {}
        for rule, its in enumerate(map(self._learned, range(len(names)))):
            for name, of_seeds in its.items():
                for seed, layer in zip(*np.isfinite(of_seeds).nonzero(), strict=True):
                    key = f"{names[rule]}.{self.settings.seed + seed}.op.{layer}.{name}"
                    found[key] = torch.tensor(of_seeds[seed, layer])
        return found

    def history(self) -> dict[str, NDArray[Any]]:
        """Everything there is to see of the run as columns of equal length, one row a rule, seed and step.

        ``rule``, ``seed``, ``step``; ``loss``, ``w1_norm`` and ``w2_norm`` at the start of the step;
        ``held_out`` and what is measured by hidden layer, such as ``alignment_cosine_1``, after so many
        steps; NaN where there is none. ``pandas.DataFrame`` takes it.
        """
        kept, count = self._series, self.step + 1
        seeds = np.arange(self.settings.seed, self.settings.seed + self.settings.seeds)
        rule, seed, step = np.meshgrid(self._rules, seeds, np.arange(count), indexing="ij")
        numbers = series.of_steps(kept.numbers, range(count), count)
        judged = {"held_out": kept.scores} if self._nets.data[0].held_out else {}
        columns = {"rule": rule, "seed": seed, "step": step}
        columns |= dict(zip(("loss", "w1_norm", "w2_norm"), numbers, strict=True))
        for name, measured in {**judged, **self._readings.columns()}.items():
            columns[name] = series.of_steps(measured, kept.score_steps, count)
        return {name: column.reshape(-1) for name, column in columns.items()}

    def validation(self) -> dict[str, Curve]:
        """(seeds,) float32 by rule: the score on the data by which rates and the like are chosen.

        NaN for a seed that diverged. Raises ValueError where the task has no such data.
        """
        part = self._nets.data[0].validation
        if part is None:
            raise ValueError(f'the task "{self.settings.task}" has no data to judge by')
        scores = np.full((len(self._rules), self.settings.seeds), np.nan, np.float32)
        with one_thread():
            for lane, score in zip(self._nets.lanes.going, self._nets.scores(part), strict=True):
                scores[lane] = score
        return dict(zip(self._rules, scores, strict=True))

    def tensors(self) -> Tensors:
        """Copies of what the net of the first seed started from, on the run's device."""
        x, y, parameters = self._nets.start[0]
        return Tensors(x.clone(), y.clone(), tuple(each.clone() for each in parameters))

    def snapshot(self, shown: Collection[str] = ()) -> Snapshot:
        """What the run is at this step, with what instruments show: keys, or questions with numbers."""
        kept = self._series
        taken = [kept.taken(rule, self.step) for rule in range(len(self._rules))]
        at = [series.thinned(count) for count in taken]
        loss, w1, w2 = (
            [kept.numbers[what, steps, rule] for rule, steps in enumerate(at)] for what in range(3)
        )
        points = int((kept.score_steps <= self.step).sum())
        score_steps, scores = kept.score_steps[:points], kept.scores[:points]
        held_out = self._nets.data[0].held_out
        if held_out is None:
            score_steps, scores = score_steps[:0], scores[:0]
        by_seed = [scores[:, rule] for rule in range(len(self._rules))]
        diverged = kept.diverged
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
            measured=self._measured(shown),
            measured_steps=kept.score_steps[:points],
            measured_sigmas=self._readings.sigmas(self.step),
            unmeasured=self._readings.missing(shown),
            most=self._readings.most,
            sigma=self.settings.sigma,
            layers=len(self.settings.widths),
            device=str(self._nets.device),
            lr=self.settings.lr,
            branch=self.settings.branch,
            kept=self.kept.steps,
        )

    def _measured(self, shown: Collection[str]) -> dict[str, dict[str, Record | None]]:
        with one_thread():
            found = self._readings.records(self.step, self.settings, shown)
        left = [rule for rule, at in zip(self._rules, self._series.diverged, strict=True) if (at >= 0).all()]
        return {key: self._named(each.values()) | dict.fromkeys(left) for key, each in found.items()}

    def measure(self, key: str, **arguments: int) -> dict[str, Record | None]:
        """What an instrument says that is asked for, by rule; None where it has nothing to say.

        Raises ValueError for an instrument or arguments that cannot be, in a plain sentence.
        """
        with one_thread(), self._bound_for(key):
            return self._named(self._readings.answer(self.settings, key, arguments).values())

    @contextmanager
    def _bound_for(self, key: str) -> Iterator[None]:
        """Have in force what an instrument looks at: what held in the step before, or holds in the next."""
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

    def _first_finite(self, diverged: NDArray[int64]) -> int | None:
        """The first seed of a rule that did not diverge, of the steps at which its seeds (seeds,) did."""
        finite = np.flatnonzero(diverged < 0)
        return self.settings.seed + int(finite[0]) if len(finite) else None

    def _fallen(self, rule: int) -> str | None:
        """Why the first of a rule's lanes left that did so because of what learns."""
        fallen = [where for lane, where in self._nets.lanes.fallen.items() if lane.rule == rule]
        if not fallen:
            return None
        layer, parameter = fallen[0]
        name = self._nets.joined.learned[parameter].name
        return f"{name} of layer {layer + 1} fell to 0 or below, where its formulas break"

    def _resting(self, rule: int) -> str:
        """What learned when a rule's line began and does not with the op and the rule in force."""
        before, now = (
            (find_op(course.op), find_rule(course.rules[rule]))
            for course in (self.settings.course(-1), self._bound)
        )
        return no_longer(self.settings.learn, before, now)

    def _learned(self, rule: int) -> dict[str, Curve]:
        """The present values of a rule by parameter, (seeds, layers with the op) each."""
        names = [each.name for each in self._nets.joined.learned]
        if not names:
            return {}
        op, its, lanes = find_op(self._bound.op), find_rule(self._bound.rules[rule]), self._nets.lanes
        own = values(op, its, self.settings.parameters)
        now = lanes.learned(lanes.parameters).cpu().numpy()
        found = np.full((self.settings.seeds, *now.shape[1:]), np.nan, np.float32)
        for place, lane in enumerate(lanes.going):
            if lane.rule == rule:
                found[lane.seed] = now[place]
        return {name: found[..., place] for place, name in enumerate(names) if name in own}

    def _named(self, values: Any) -> dict[str, Any]:
        """Values by rule."""
        return dict(zip(self._rules, values, strict=True))

    def _gradients(self) -> dict[str, Gradients | None]:
        """By rule; None for one that is not going."""
        found: dict[str, Gradients | None] = dict.fromkeys(self._rules)
        if self._nets.lanes.going:
            with one_thread():
                facts = gradients(self._nets.lanes, self._nets.look())
            found |= {self._rules[rule]: each for rule, each in facts.items()}
        return found

    def state_dict(self) -> dict[str, Any]:
        """Everything needed to continue exactly here: text, numbers and tensors, copied.

        ``torch.load(..., weights_only=True)`` reads it back. What a run was given to start from is not in
        it: one that continues it must be given the same.
        """
        state = {"step": self.step, **self._nets.state()}
        return self._whole(state) | {"series": self._series.state(self.step)}

    def state_at(self, step: int) -> dict[str, Any]:
        """The same of the nearest step that is kept, or of this one; its ``step`` says which it is.

        What it holds of the nets is shared and must not be changed; ``load_state_dict`` copies it.
        """
        place = nearest({*self.kept.steps, self.step}, step)
        return self.state_dict() if place == self.step else self._whole(self.kept.state(place))

    def _whole(self, state: Mapping[str, Any]) -> dict[str, Any]:
        step = state["step"]
        return {
            "settings": dataclasses.asdict(self.settings),
            **state,
            "series": self._series.state_before(step),
            "readings": self._readings.state(step),
        }

    def back(self, step: int) -> int:
        """Go back to the nearest step that is kept, and return it: from there all comes as it came."""
        self.follow(self, step)
        return self.step

    def branch(self, step: int, **changes: Any) -> Run:
        """Another run, from the nearest kept step on with another ``lr``, ``op`` or rule.

        The ``rule`` of all, or that of one by the key it began with: ``branch(9, default="clipped")``.
        What this run was to do later is not in it, and this run stays as it is.

        Raises:
            ValueError: what changes cannot, or is past the end.
        """
        place = nearest({*self.kept.steps, self.step}, step)
        points = [(place, name, value) for name, value in changes.items()]
        ours = merged(self.settings.branch, (), place + 1)
        other = Run(dataclasses.replace(self.settings, branch=(*ours, *points)), self._given)
        other.follow(self, place)
        return other

    def follow(self, other: Run, step: int) -> None:
        """Begin where another run was, at the nearest kept step until which it did the same."""
        until = self.settings.parts_from(other.settings)
        steps = {each for each in (*other.kept.steps, other.step) if each <= until}
        if not steps:
            return
        state, kept = other.state_at(nearest(steps, step)), other.kept
        self.load_state_dict(state)
        self.kept = kept.until(self.step)

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue where another run of the same settings was; what is live it takes over.

        Raises ValueError for other settings.
        """
        ours, theirs = dataclasses.asdict(self.settings), state["settings"]
        other = [name for name in ours if name not in (*LIVE, "branch") and theirs.get(name) != ours[name]]
        parted = parting(self.settings.branch, theirs["branch"])
        if parted is not None and parted < state["step"]:
            other.append("branch")
        if other:
            raise ValueError(f"this state belongs to a run with other settings: {', '.join(other)}")
        branch = merged(theirs["branch"], self.settings.branch, state["step"])
        live = {name: theirs[name] for name in LIVE}
        self.settings = dataclasses.replace(self.settings, branch=branch, **live)
        self.kept = Kept(self._series.every)
        self.step = state["step"]
        self._nets.load(state)
        self._series.load(state["series"])
        self._readings.load(state["readings"])
        self._bind(self.step - 1)


def _chance(held_out: Part | None) -> float | None:
    """The share of the most frequent class."""
    if held_out is None or held_out.y.is_floating_point():
        return None
    return held_out.y.bincount().max().item() / len(held_out.y)


@contextmanager
def one_thread() -> Iterator[None]:
    """One torch thread while inside, for this thread: another number would change the last bits."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
