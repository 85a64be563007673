"""The stepper of a run: it takes steps, keeps checkpoints, goes back to them and branches from them."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from explorer.catalogue import find_op, resolve_values
from explorer.training.nets import Joined, Member, hexed, joined
from explorer.training.runs.checkpoints import Checkpoints, nearest
from explorer.training.runs.lockstep import Lockstep, Tensors
from explorer.training.runs.recorder import Recorder
from explorer.training.runs.series import Series
from explorer.training.settings import LIVE, Course, Settings, merged, parting
from explorer.training.system import one_thread

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

    Curve = NDArray[float32]


class Judgement(NamedTuple):
    """The scores and records of a run's nets at one step.

    Attributes:
        scores: (members going,) on held-out data; None without any.
        read: records by instrument, (fields, members going, columns).
    """

    scores: Curve | None
    read: Mapping[str, Curve]

    @classmethod
    def of(cls, nets: Lockstep, recorder: Recorder, settings: Settings) -> Judgement:
        """The judgement of nets as they are now."""
        held_out = nets.data[0].held_out
        return cls(nets.scores(held_out) if held_out else None, recorder.read(settings))

    def only(self, indices: Sequence[int]) -> Judgement:
        """The judgement of some of the members."""
        read = {key: each[:, indices] for key, each in self.read.items()}
        return Judgement(None if self.scores is None else self.scores[indices], read)


class Stepper:
    """The part of a run that computes; ``Run`` adds what can be read of it."""

    def __init__(
        self,
        settings: Settings,
        tensors: Tensors | None = None,
        recorded: Collection[str] | None = None,
    ) -> None:
        self.settings = settings
        self.step = 0
        self._tensors = tensors
        self._rules = [rule if isinstance(rule, str) else rule.key for rule in settings.rules]
        self._series = Series(settings.steps, len(self._rules), settings.seeds)
        seeds = range(settings.seed, settings.seed + settings.seeds)
        members = [Member(rule, seed) for rule in range(len(self._rules)) for seed in range(settings.seeds)]
        self.checkpoints = Checkpoints(self._series.every)
        self._bound = settings.course(-1)
        with one_thread():
            self._nets = Lockstep(settings, settings.table, seeds, members, self._joined(), tensors)
            self._recorder = Recorder(settings, self._nets, self._series.score_steps, recorded)
            self.judge()

    @property
    def finished(self) -> bool:
        """Whether all steps are taken, or every member has diverged."""
        return self.diverged or self.step >= self.settings.steps

    @property
    def diverged(self) -> bool:
        """Whether every member has diverged."""
        return not self._nets.ensemble.going

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
        """Keep a checkpoint if one is due, bind the course of the next step, and return its learning rate."""
        if self.keeps:
            self.checkpoints.keep(self.step, {"step": self.step, **self._nets.state()})
        self._bind(self.step)
        return self._bound.lr

    @property
    def keeps(self) -> bool:
        """Whether a checkpoint is due before the next step."""
        return self.checkpoints.is_due(self.step)

    def took(self, numbers: NDArray[float32]) -> bool:
        """Record a step and draw the next batch; return whether a judgement is due."""
        self._series.record(self.step, self._nets.ensemble.going, numbers)
        if self.diverged:
            return False
        self.step += 1
        self._nets.turn()
        return self._series.is_due(self.step)

    def _bind(self, step: int) -> None:
        self._rebind(self.settings.course(step))

    def _rebind(self, course: Course) -> None:
        before, self._bound = self._bound, course
        if before[:2] == self._bound[:2]:
            return
        self._nets.bind(self._joined())
        self._recorder.bind(self._bound)

    def _joined(self) -> Joined:
        """The op with the rules in force, and their learned parameters."""
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
        """Record scores on held-out data, if there is some, and the readings of instruments.

        Neither touches a generator.
        """
        self.note(Judgement.of(self._nets, self._recorder, self.settings))

    def note(self, judgement: Judgement) -> None:
        """Record a judgement of its nets."""
        if judgement.scores is not None:
            self._series.judged(self.step, self._nets.ensemble.going, judgement.scores)
        self._recorder.note(self.step, self.settings, judgement.read)

    @property
    def nets(self) -> Lockstep:
        """The nets that train."""
        return self._nets

    @property
    def recorder(self) -> Recorder:
        """The recorder of its instruments."""
        return self._recorder

    @property
    def likeness(self) -> Hashable:
        """A key that runs must share to take the next steps ``Together``; None if this one cannot."""
        ours, nets = self.settings, self._nets.likeness
        if nets is None or self.finished or any(name != "lr" for _, name, _ in ours.branch):
            return None
        op = find_op(self._bound.op)
        return nets, op, hexed(resolve_values(op, None, ours.parameters)), ours.sigma, self._recorder.recorded

    @property
    def numbers(self) -> int:
        """The count of numbers in its nets and their optimiser."""
        ensemble = self._nets.ensemble
        return ensemble.parameters.numel() * (1 + len(ensemble.optimiser.state))

    def state_dict(self) -> dict[str, Any]:
        """Everything needed to continue exactly here: text, numbers and tensors, copied.

        ``torch.load(..., weights_only=True)`` reads it back. What a run was given to start from is not in
        it: one that continues it must be given the same.
        """
        state = {"step": self.step, **self._nets.state()}
        return self._whole(state) | {"series": self._series.state(self.step)}

    def state_at(self, step: int) -> dict[str, Any]:
        """``state_dict`` of the nearest checkpoint, or of this step; its ``step`` says which it is.

        Its tensors of the nets are shared and must not be changed; ``load_state_dict`` copies them.
        """
        checkpoint = nearest({*self.checkpoints.steps, self.step}, step)
        return (
            self.state_dict() if checkpoint == self.step else self._whole(self.checkpoints.state(checkpoint))
        )

    def _whole(self, state: Mapping[str, Any]) -> dict[str, Any]:
        step = state["step"]
        return {
            "settings": dataclasses.asdict(self.settings),
            **state,
            "series": self._series.state_before(step),
            "readings": self._recorder.state(step),
        }

    def back(self, step: int) -> int:
        """Go back to the nearest checkpoint and return its step; the run repeats itself from there."""
        self.follow(self, step)
        return self.step

    def branch(self, step: int, **changes: Any) -> Self:
        """Another run, from the nearest checkpoint on with another ``lr``, ``op`` or rule.

        The ``rule`` of all, or that of one by the key it began with: ``branch(9, default="clipped")``.
        It has no later branch points of this run, and this run does not change.

        Raises:
            ValueError: what changes cannot, or is past the end.
        """
        checkpoint = nearest({*self.checkpoints.steps, self.step}, step)
        points = [(checkpoint, name, value) for name, value in changes.items()]
        ours = merged(self.settings.branch, (), checkpoint + 1)
        settings = dataclasses.replace(self.settings, branch=(*ours, *points))
        other = type(self)(settings, self._tensors, self._recorder.recorded)
        other.follow(self, checkpoint)
        return other

    def follow(self, other: Self, step: int) -> None:
        """Begin at the nearest checkpoint of another run before the two part."""
        until = self.settings.parts_from(other.settings)
        steps = {each for each in (*other.checkpoints.steps, other.step) if each <= until}
        if not steps:
            return
        state, checkpoints = other.state_at(nearest(steps, step)), other.checkpoints
        self.load_state_dict(state)
        self.checkpoints = checkpoints.until(self.step)

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from the ``state_dict`` of a run of the same settings, with its live ones; on any device.

        Raises ValueError for other settings.
        """
        ours, theirs = dataclasses.asdict(self.settings), state["settings"]
        other = [
            name
            for name in ours
            if name not in (*LIVE, "branch", "device") and theirs.get(name) != ours[name]
        ]
        parted = parting(self.settings.branch, theirs["branch"])
        if parted is not None and parted < state["step"]:
            other.append("branch")
        if other:
            raise ValueError(f"this state belongs to a run with other settings: {', '.join(other)}")
        branch = merged(theirs["branch"], self.settings.branch, state["step"])
        live = {name: theirs[name] for name in LIVE}
        self.settings = dataclasses.replace(self.settings, branch=branch, **live)
        self.checkpoints = Checkpoints(self._series.every)
        self.step = state["step"]
        with one_thread():  # nets are built anew, and some compute as they are built
            self._nets.load(state)
            self._series.load(state["series"])
            self._recorder.load(state["readings"])
            self._bind(self.step - 1)
