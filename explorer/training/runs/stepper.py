"""The stepper of a training run, which takes its steps and can go back to checkpoints."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from explorer.catalogue import find_op, resolve_values
from explorer.gradient.threads import use_one_thread
from explorer.training.nets import Member, OpRules, join_rules, to_hex
from explorer.training.runs.checkpoints import Checkpoints, find_nearest
from explorer.training.runs.lockstep import Lockstep, Tensors
from explorer.training.runs.recorder import Recorder
from explorer.training.runs.series import Series
from explorer.training.settings import LIVE, Course, Settings, find_first_difference, merge_branches

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

    Curve = NDArray[float32]


class Judgement(NamedTuple):
    """The scores and measurements of a run's nets at one evaluation.

    Attributes:
        scores: the scores on held-out data. Shape (active nets,); None without such data.
        readings: a dict from the keys of instruments to measurements. Shape (fields, active nets, columns)
            each.
    """

    scores: Curve | None
    readings: Mapping[str, Curve]

    @classmethod
    def measure(cls, nets: Lockstep, recorder: Recorder, settings: Settings) -> Judgement:
        """Return the scores of nets on held-out data, and their measurements by all recorded instruments."""
        held_out = nets.data[0].held_out
        return cls(nets.compute_scores(held_out) if held_out else None, recorder.read(settings))

    def select(self, indices: Sequence[int]) -> Judgement:
        """Return the scores and measurements of the nets at the given indices."""
        readings = {key: values[:, indices] for key, values in self.readings.items()}
        return Judgement(None if self.scores is None else self.scores[indices], readings)


class Stepper:
    """The part of a training run that takes its steps. The subclass ``Run`` adds methods to read results.

    Attributes:
        nets: the nets that are being trained.
        recorder: the recorder, which measures the nets and stores the results.
    """

    def __init__(
        self, settings: Settings, tensors: Tensors | None = None, recorded: Collection[str] | None = None
    ) -> None:
        self.settings = settings
        self.step = 0
        self._tensors = tensors
        self._rules = [rule if isinstance(rule, str) else rule.key for rule in settings.rules]
        self._series = Series(settings.steps, len(self._rules), settings.seeds)
        seeds = range(settings.seed, settings.seed + settings.seeds)
        members = [Member(rule, seed) for rule in range(len(self._rules)) for seed in range(settings.seeds)]
        self.checkpoints = Checkpoints(self._series.interval)
        self._course = settings.course_of(-1)
        with use_one_thread():
            self.nets = Lockstep(settings, settings.table, seeds, members, self._join_rules(), tensors)
            self.recorder = Recorder(settings, self.nets, self._series.score_steps, recorded)
            self.judge()

    @property
    def finished(self) -> bool:
        """Whether all steps have been taken or every net has diverged."""
        return self.diverged or self.step >= self.settings.steps

    @property
    def diverged(self) -> bool:
        """Whether every net has diverged."""
        return not self.nets.ensemble.active

    def advance(self, steps: int = 1) -> None:
        """Take the given number of training steps, or fewer at the end of the run.

        Raises ValueError below 0.
        """
        if steps < 0:
            raise ValueError(f"steps must be 0 or more, not {steps}")
        with use_one_thread():
            for _ in range(steps):
                if self.finished:
                    return
                self.prepare()
                if self.record_step(self.nets.step(self._course.lr)):
                    self.judge()

    def prepare(self) -> float:
        """Prepare the next training step and return its learning rate.

        Keeps a checkpoint if one is due, and sets the op and rules of the step.
        """
        if self.checkpoints.is_due(self.step):
            self.checkpoints.keep(self.step, {"step": self.step, **self.nets.state()})
        self._bind(self.settings.course_of(self.step))
        return self._course.lr

    def record_step(self, numbers: NDArray[float32]) -> bool:
        """Store the results of a training step, as in ``Pass.numbers``, and draw the next batch.

        Returns whether an evaluation is due.
        """
        self._series.record(self.step, self.nets.ensemble.active, numbers)
        if self.diverged:
            return False
        self.step += 1
        self.nets.draw_batch()
        return self._series.is_due(self.step)

    def _bind(self, course: Course) -> None:
        before, self._course = self._course, course
        if before[:2] == self._course[:2]:
            return
        self.nets.bind(self._join_rules())
        self.recorder.bind(self._course)

    def _join_rules(self) -> OpRules:
        settings = self.settings
        return join_rules(
            self._course.op, self._course.rules, settings.parameters, settings.learn, settings.learned
        )

    def change(self, **live: Any) -> None:
        """Change the learning rate, pace or noise width from the next step on.

        A change of the learning rate after step 0 becomes a branch point. Raises ValueError for an invalid
        value, or a setting that needs a new run.
        """
        if fixed := [name for name in live if name not in LIVE]:
            raise ValueError(f"{', '.join(fixed)} cannot change during a run: start a new one")
        settings = dataclasses.replace(self.settings, **live)
        if "lr" in live and self.step:
            original = dataclasses.replace(settings, lr=self.settings.lr)
            settings = original if self.finished else original.with_lr(self.step, settings.lr)
        self.settings = settings

    def judge(self) -> None:
        """Evaluate the nets on held-out data, and store their scores and measurements.

        Evaluation and measurements use no random generator.
        """
        self.record_judgement(Judgement.measure(self.nets, self.recorder, self.settings))

    def record_judgement(self, judgement: Judgement) -> None:
        """Store the scores and measurements of the nets at the current step."""
        if judgement.scores is not None:
            self._series.record_scores(self.step, self.nets.ensemble.active, judgement.scores)
        self.recorder.store(self.step, self.settings, judgement.readings)

    @property
    def fusion_key(self) -> Hashable:
        """A key equal for runs whose steps can be computed together; None for a run that steps alone."""
        settings, nets = self.settings, self.nets.fusion_key
        if nets is None or self.finished or any(name != "lr" for _, name, _ in settings.branch):
            return None
        op = find_op(self._course.op)
        values = to_hex(resolve_values(op, None, settings.parameters))
        return nets, op, values, settings.sigma, self.recorder.recorded

    @property
    def numbers(self) -> int:
        """The number of values in the parameters of all nets and in the state of their optimiser."""
        ensemble = self.nets.ensemble
        return ensemble.parameters.numel() * (1 + len(ensemble.optimiser.state))

    def state_dict(self) -> dict[str, Any]:
        """Return everything that is needed to continue the run exactly, as text, numbers and copied tensors.

        ``torch.load(..., weights_only=True)`` reads it back. Start tensors given to the run are not included:
        a run that continues it needs the same ones.
        """
        state = {"step": self.step, **self.nets.state()}
        return self._complete_state(state) | {"series": self._series.state(self.step)}

    def state_at(self, step: int) -> dict[str, Any]:
        """Return the ``state_dict`` of the checkpoint nearest to a step, with that checkpoint's ``step``.

        The nets' tensors in the dict are shared and must not be changed; ``load_state_dict`` copies them.
        """
        checkpoint = find_nearest({*self.checkpoints.steps, self.step}, step)
        return (
            self.state_dict()
            if checkpoint == self.step
            else self._complete_state(self.checkpoints.state(checkpoint))
        )

    def _complete_state(self, state: Mapping[str, Any]) -> dict[str, Any]:
        step = state["step"]
        return {
            "settings": dataclasses.asdict(self.settings),
            **state,
            "series": self._series.state_before(step),
            "readings": self.recorder.state(step),
        }

    def back(self, step: int) -> int:
        """Go back to the checkpoint nearest to a step, and return the checkpoint's step.

        The run repeats itself exactly from this step.
        """
        self.follow(self, step)
        return self.step

    def branch(self, step: int, **changes: Any) -> Self:
        """Return a new run that continues from the checkpoint nearest to a step with changed settings.

        ``lr``, ``op`` and ``rule``, which changes all rules, can change. The initial key of a rule changes
        only this rule: ``branch(9, default="clipped")``. The new run has none of the later branch points of
        this run. This run does not change.

        Raises:
            ValueError: if a setting cannot change, or the step is past the end.
        """
        checkpoint = find_nearest({*self.checkpoints.steps, self.step}, step)
        points = [(checkpoint, name, value) for name, value in changes.items()]
        points_before = merge_branches(self.settings.branch, (), checkpoint + 1)
        settings = dataclasses.replace(self.settings, branch=(*points_before, *points))
        branched = type(self)(settings, self._tensors, self.recorder.recorded)
        branched.follow(self, checkpoint)
        return branched

    def follow(self, other: Self, step: int) -> None:
        """Continue from the checkpoint nearest to ``step`` that another run shares with this one, if any."""
        parting_step = self.settings.find_parting_step(other.settings)
        steps = {
            candidate for candidate in (*other.checkpoints.steps, other.step) if candidate <= parting_step
        }
        if not steps:
            return
        state, checkpoints = other.state_at(find_nearest(steps, step)), other.checkpoints
        self.load_state_dict(state)
        self.checkpoints = checkpoints.copy_until(self.step)

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from the ``state_dict`` of a run with equal settings, on any device.

        The settings that may change during a run are taken from the state. Raises ValueError if others
        differ.
        """
        ours, theirs = dataclasses.asdict(self.settings), state["settings"]
        differing = [
            name
            for name in ours
            if name not in (*LIVE, "branch", "device") and theirs.get(name) != ours[name]
        ]
        parted = find_first_difference(self.settings.branch, theirs["branch"])
        if parted is not None and parted < state["step"]:
            differing.append("branch")
        if differing:
            raise ValueError(f"this state belongs to a run with other settings: {', '.join(differing)}")
        branch = merge_branches(theirs["branch"], self.settings.branch, state["step"])
        live = {name: theirs[name] for name in LIVE}
        self.settings = dataclasses.replace(self.settings, branch=branch, **live)
        self.checkpoints = Checkpoints(self._series.interval)
        self.step = state["step"]
        with use_one_thread():  # because rebuilding some nets computes
            self.nets.load(state)
            self._series.load(state["series"])
            self.recorder.load(state["readings"])
            self._bind(self.settings.course_of(self.step - 1))
