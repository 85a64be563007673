"""Snapshots of a run."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from explorer.training.instruments import INSTRUMENTS, Record
from explorer.training.instruments.base.gradients import Gradients
from explorer.training.instruments.base.question import key_of
from explorer.training.numerics import Metric
from explorer.training.settings import Branch

if TYPE_CHECKING:
    from numpy import float32, int64
    from numpy.typing import NDArray

    Curve = NDArray[float32]


@dataclass(frozen=True, repr=False)
class Snapshot:
    """An immutable snapshot of a run at one step. Each mapping has one entry per rule, in rule order.

    Means and standard deviations are over a rule's seeds that were still finite at that step.

    Attributes:
        step: steps taken.
        steps: steps asked for.
        finished: all steps are taken, or every member has diverged.
        task: its key.
        seeds: the number of nets of a rule.
        going: the number of them that have not diverged.
        losses: (points,) float32 each, at most 500: the mean loss at the start of a step. A series longer
            than that is thinned evenly; its latest value is always in it. A rule that diverged keeps
            its curve up to there.
        loss_sd: (points,) float32 each, the standard deviation; NaN with fewer than two seeds.
        seed_losses: (seeds, points) float32 each; NaN from where a seed diverged.
        w1_norms, w2_norms: (points,) float32 each, mean norms of the gradients of the first and the last
            layer of weights in the same steps.
        loss_steps: (points,) int64 each, the step of each value in these series, from 0.
        loss: the latest mean loss; None before the first step.
        metric: of held-out data, "accuracy" or "R²"; None where nothing is held out.
        held_out: how many examples are held out; 0 where none are.
        chance: the accuracy of who always guesses alike, where that is known.
        score: (seeds,) float32 each, on held-out data when it was last judged, at most 1; NaN for a seed
            that diverged; None without a metric.
        scores: (judged,) float32 each, the mean; NaN where no seed was finite.
        score_sd: (judged,) float32 each, the standard deviation; NaN with fewer than two seeds.
        seed_scores: (seeds, judged) float32 each.
        score_steps: (judged,) int64, the steps taken before each of these: 0, every ⌈steps ÷ 200⌉, the last.
        diverged: the step at which the last of a rule's seeds was no longer finite, or None.
        fallen: by rule, why the first seed with a learned value outside its domain left, as in "s of layer
            2 fell to 0 or below, where its formulas break"; None where none did.
        resting: by rule, a sentence on parameters that learned before a branch and do not now, or "".
        learned: by rule, and then by parameter that learns in the run, as far as the rule has it: its
            present values (seeds, layers with the op) float32, NaN for a seed that diverged; where each
            channel has one of its own, their mean. Where the rule lets it stay as it is, they are what they
            were at the start.
        gradients: the gradient at the present weights, of the first seed that is finite; None where the
            rule diverged.
        seed: the seed of this, and of all else that is of one net of a rule; None where it diverged.
        measured: the record of each instrument that is recorded or visible, by its key, or the
            question that it answers (see ``instruments.question``), and rule; None where the rule diverged. A
            recorded one has its ``fields`` as they are now, (hidden layers,) float32, and each of their
            series in the plural, a list of (points,) by layer.
        measured_steps: (points,) int64, the steps of these: 0, every ⌈steps ÷ 200⌉, the last.
        measured_sigmas: (points,) float32, the ``sigma`` of each of them.
        unmeasured: why an instrument that is recorded or visible is not in it, in a sentence.
        most: the largest of each number that instruments take here, by key and name.
        sigma: standard deviation of the noise with which gradients are compared.
        layers: the number of hidden layers.
        device: of the run, such as "cpu".
        lr: the learning rate it began with.
        branch: the branch points, past and future, as in ``Settings``.
        checkpoints: the steps it can go back to, ascending.
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
    held_out: int
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
    checkpoints: tuple[int, ...]

    @property
    def kept(self) -> tuple[int, ...]:
        """``checkpoints``, as they were called."""
        return self.checkpoints

    @property
    def accuracy(self) -> Mapping[str, Curve | None]:
        """(seeds,) float32 each: the share of held-out examples that is right; None without classes."""
        return {rule: score if self.metric == "accuracy" else None for rule, score in self.score.items()}

    def __repr__(self) -> str:
        losses = [f"{rule} {'–' if loss is None else f'{loss:.4g}'}" for rule, loss in self.loss.items()]
        return f"Snapshot({self.task}, step {self.step} of {self.steps}, loss: {', '.join(losses)})"

    def shows(self, questions: Collection[str]) -> bool:
        """Whether it answers these questions, as far as there are such instruments."""
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
