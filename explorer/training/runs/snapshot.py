"""A snapshot of a training run at one step, as shown on the page."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from explorer.training.instruments import INSTRUMENTS, Record, Recorded
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
    """An immutable snapshot of a training run at one step, with the results of each backward rule.

    Each mapping has one entry per rule, in the order of the rules. Means and standard deviations are over a
    rule's seeds that were still finite at that step. Arrays are float32 unless stated otherwise.

    Attributes:
        step: the number of steps taken.
        steps: the number of steps requested.
        finished: whether all steps are taken, or every net has diverged.
        task: the task's key.
        seeds: the number of nets of a rule.
        going: the number of nets that have not diverged.
        losses: the mean loss at the start of a step. Shape (points,), at most 500: a longer series is thinned
            evenly and always contains its latest value. A rule that diverged keeps its curve up to that step.
        loss_low, loss_high: the lowest and the highest loss of a seed; NaN with one seed. Shape (points,).
        seed_losses: the loss of each seed; NaN after it diverged. Shape (seeds, points).
        w1_norms, w2_norms: the mean norms of the gradients of the first and the last layer of weights in the
            same steps. Shape (points,).
        loss_steps: the step of each value in these series, from 0. Shape (points,), int64.
        loss: the latest mean loss; None before the first step.
        metric: the metric on held-out data, "accuracy" or "R²"; None without held-out data.
        held_out: the number of held-out examples, 0 if there are none.
        chance: the accuracy of always guessing the most frequent class; None without classes.
        score: the score of each seed on held-out data at the latest evaluation, at most 1; NaN for a seed
            that diverged. Shape (seeds,); None without a metric.
        scores: the mean score; NaN if no seed was finite. Shape (evaluations,).
        score_sd: the standard deviation of scores; NaN with fewer than two seeds. Shape (evaluations,).
        seed_scores: the score of each seed. Shape (seeds, evaluations).
        score_steps: the steps of the evaluations: 0, every ⌈steps ÷ 200⌉, and the last. Shape (evaluations,),
            int64.
        diverged: the step at which the last of a rule's seeds stopped being finite, or None.
        fallen: why the first seed with a learned parameter outside its domain was removed, as in "s after w2
            fell to 0 or below, where its formulas are undefined"; None if none was.
        faults: a clause that says why the rule's last net was removed.
        learned: a dict from each parameter of the rule that learns in the run to its current values; NaN for
            a seed that diverged; the mean if each channel has a value. If the rule does not train it, these
            are the initial values. Shape (seeds, layers with the op).
        gradients: statistics of the gradient at the current weights, as means over finite seeds; None if the
            rule diverged or one of them is not finite.
        seed: the seed of the net to which all data of a single net belong; None if the rule diverged.
        measured: a dict from each instrument that is recorded or visible to a dict from rules to records,
            None if the rule diverged. Its key is that of the instrument, or the question that it answers (see
            ``instruments.question``). The record of a recorded instrument has the present values of each
            field, of shape (columns,), one per hidden layer by default, and their series under the field's
            plural, a list of (points,) for each column.
        measured_steps: the steps of these series: 0, every ⌈steps ÷ 200⌉, the last. Shape (points,), int64.
        measured_sigmas: the ``sigma`` of each point. Shape (points,).
        unmeasured: a dict from each instrument that is recorded or visible but missing here to the reason as
            a sentence.
        most: a dict from the keys of instruments to dicts from their arguments to the maximum in this run.
        sigma: the standard deviation of the noise with which gradients are compared.
        layers: the number of hidden layers.
        device: the device of the run, such as "cpu".
        lr: the initial learning rate.
        branch: the branch points, past and future, as in ``Settings``.
        checkpoints: the steps that the run can go back to, ascending.
    """

    step: int
    steps: int
    finished: bool
    task: str
    seeds: int
    going: Mapping[str, int]
    losses: Mapping[str, Curve]
    loss_low: Mapping[str, Curve]
    loss_high: Mapping[str, Curve]
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
    faults: Mapping[str, str]
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
        """The steps of the run's checkpoints. This is an older name of ``checkpoints``."""
        return self.checkpoints

    @property
    def accuracy(self) -> Mapping[str, Curve | None]:
        """A dict from each rule to the fractions of held-out examples that its nets classify correctly.

        The fractions have shape (seeds,). They are None if the task has no classes.
        """
        return {rule: score if self.metric == "accuracy" else None for rule, score in self.score.items()}

    def __repr__(self) -> str:
        losses = [f"{rule} {'–' if loss is None else f'{loss:.4g}'}" for rule, loss in self.loss.items()]
        return f"Snapshot({self.task}, step {self.step} of {self.steps}, loss: {', '.join(losses)})"

    def has_answers(self, questions: Collection[str]) -> bool:
        """Return whether the snapshot answers all questions, except those to unknown instruments."""
        valid_questions = {text for text in questions if key_of(text) in INSTRUMENTS}
        return not valid_questions - {*self.measured, *self.unmeasured}

    def draw(self, questions: Collection[str]) -> dict[str, dict[str, Any]]:
        """Return the measurements that ``questions`` ask for as data for the page.

        The result is a dict from the keys of instruments to dicts from rules to data, None if the rule
        diverged.
        """
        names = [*dict.fromkeys(name for own in self.learned.values() for name in own)]
        drawn: dict[str, dict[str, Any]] = {}
        for text, records in self.measured.items():
            if text in questions:
                instrument = INSTRUMENTS[key_of(text)]
                drawn[instrument.key] = {}
                for rule, record in records.items():
                    # The series have the columns of the first parameter, then those of the second …
                    columns = {
                        name: slice(index * values.shape[1], (index + 1) * values.shape[1])
                        for name, values in self.learned[rule].items()
                        for index in [names.index(name)]
                    }
                    arguments = [columns] if isinstance(instrument, Recorded) else []
                    drawn[instrument.key][rule] = record and instrument.draw(record, *arguments)
        return drawn

    @property
    def alignment(self) -> Mapping[str, Curve]:
        """A dict from each rule to the cosines between its gradient and that of the net smoothed by noise.

        The cosines have shape (hidden layers,). They are means over finite seeds, and NaN without a gradient
        or a measurement.
        """
        records = self.measured.get("alignment", {})
        empty = np.full(self.layers, np.nan, np.float32)
        return {rule: record["cosine"] if (record := records.get(rule)) else empty for rule in self.losses}
