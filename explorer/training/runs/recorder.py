"""The recorder of a training run, which measures its nets and stores the results."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from explorer.catalogue import adapt_rule, find_op, find_rule
from explorer.training.instruments import INSTRUMENTS, Nets, Record, Recorded, Requested, Visible
from explorer.training.instruments.base.question import key_of, make_question, numbers_of
from explorer.training.runs.lockstep import Lockstep
from explorer.training.runs.series import compute_mean
from explorer.training.settings import Course, Settings

if TYPE_CHECKING:
    from numpy import float32, int64
    from numpy.typing import NDArray

Records = dict[int, Record | None]
"""Records by the index of every rule; None for a rule without a result."""


class Recorder:
    """A recorder, which measures the nets of a training run with instruments and stores the results.

    Use it inside ``use_one_thread``. ``settings`` are passed with each call, because some of them may change
    during the run.
    """

    def __init__(
        self, settings: Settings, lockstep: Lockstep, steps: NDArray[int64], recorded: Collection[str] | None
    ) -> None:
        """Create a recorder for the nets of a training run.

        Args:
            settings: the settings of the run.
            lockstep: the nets.
            steps: the steps of the series.
            recorded: the keys of the instruments to record, or None for all that can be recorded.
        """
        self._lockstep, self._steps = lockstep, steps
        self.bind(settings.course_of(-1))
        self._examples = lockstep.get_examples()
        self._nets_key = (0, 0)  # steps and active nets for which ``_nets`` was made
        self._missing = {key: each.missing(settings) for key, each in INSTRUMENTS.items()}
        self._max_arguments = {
            key: {argument.name: argument.get_max(settings, lockstep.data[0]) for argument in each.arguments}
            for key, each in INSTRUMENTS.items()
        }
        self._recorded = [
            instrument
            for instrument in self._find_available(Recorded, INSTRUMENTS)
            if recorded is None or instrument.key in recorded
        ]
        shape = len(steps), len(settings.rules), settings.seeds
        self._series = {
            each.key: np.full((len(each.fields), *shape, each.columns(settings)), np.nan, np.float32)
            for each in self._recorded
        }
        self._sigmas = np.full(len(steps), np.nan, np.float32)  # noise width at each point of the series

    def bind(self, course: Course) -> None:
        """Measure from now on with another op or other backward rules."""
        self._op = find_op(course.op)
        self._rules = [adapt_rule(self._op, find_rule(rule)) for rule in course.rules]
        self._nets: Nets | None = None

    @property
    def recorded(self) -> tuple[str, ...]:
        """The keys of the instruments whose measurements are stored as series."""
        return tuple(instrument.key for instrument in self._recorded)

    def read(self, settings: Settings) -> dict[str, NDArray[float32]]:
        """Measure the nets with every recorded instrument.

        Returns a dict from the instruments' keys to measurements of shape (fields, active nets, columns),
        which is empty if no net is active.
        """
        active = self._lockstep.ensemble.active
        return {each.key: each.measure(self.observe(settings)) for each in self._recorded if active}

    def merge(self, lockstep: Lockstep, recorders: Sequence[Recorder]) -> Recorder:
        """Return a recorder that can measure the merged nets of several runs, but not store anything."""
        merged = copy.copy(self)
        merged._lockstep, merged._nets = lockstep, None
        merged._rules = [rule for each in (self, *recorders) for rule in each._rules]
        return merged

    def store(self, step: int, settings: Settings, values: Mapping[str, NDArray[float32]]) -> None:
        """Store ``values``, as returned by ``read``, as the measurements after this many steps."""
        index = int(np.searchsorted(self._steps, step))
        self._sigmas[index] = settings.sigma
        for instrument in self._recorded:
            member_values = values.get(instrument.key)
            self._series[instrument.key][:, index] = self._fill_members(instrument, member_values)

    def get_records(self, step: int, settings: Settings, questions: Collection[str]) -> dict[str, Records]:
        """Return the stored series of recorded instruments up to a step, and the measurements for questions.

        The result is a dict from the keys of instruments, and from ``questions``, which are keys with
        arguments, to records by rule. Questions that cannot be answered are left out.
        """
        records: dict[str, Records] = {
            each.key: dict(enumerate(self._summarize_series(each, step, settings))) for each in self._recorded
        }
        for text in questions:
            for instrument in self._find_available(Visible, [key_of(text)]):
                if not self._explain_refusal(text):
                    records[text] = self._measure_by_rule(settings, instrument, numbers_of(text))
        return records

    def answer(self, settings: Settings, key: str, arguments: Mapping[str, int]) -> Records:
        """Measure the nets with the instrument ``key``, which must be one that is used on request only.

        Returns a record for each rule, None without a result. Raises ValueError with a plain sentence if the
        instrument cannot measure the run, or not with these arguments.
        """
        instrument = INSTRUMENTS.get(key)
        if not isinstance(instrument, Requested):
            keys = ", ".join(each.key for each in self._find_available(Requested, INSTRUMENTS))
            raise ValueError(f'unknown instrument "{key}": use one of {keys}')
        if self._missing[key]:
            raise ValueError(self._missing[key])
        if refusal := self._explain_refusal(make_question(key, arguments)):
            raise ValueError(refusal)
        return self._measure_by_rule(settings, instrument, arguments)

    def get_columns(self) -> dict[str, NDArray[float32]]:
        """Return a dict from names such as ``alignment_cosine_1`` to the stored series of a field and column.

        A series has shape (evaluations, rules, seeds).
        """
        return {
            f"{instrument.key}_{field}_{layer + 1}": self._series[instrument.key][index, ..., layer]
            for instrument in self._recorded
            for index, field in enumerate(instrument.fields)
            for layer in range(self._series[instrument.key].shape[-1])
        }

    def list_missing(self, questions: Collection[str]) -> dict[str, str]:
        """Return the reasons why recorded instruments or questions cannot measure this run, as a dict."""
        recorded = [key for key, each in INSTRUMENTS.items() if isinstance(each, Recorded)]
        texts = [*recorded, *(text for text in questions if key_of(text) in INSTRUMENTS)]
        reasons = {text: self._missing[key_of(text)] or self._explain_refusal(text) for text in texts}
        return {text: reason for text, reason in reasons.items() if reason}

    @property
    def max_arguments(self) -> dict[str, dict[str, int]]:
        """The largest valid value of each argument, by instrument, for those that can measure the run."""
        return {
            key: numbers for key, numbers in self._max_arguments.items() if numbers and not self._missing[key]
        }

    def get_sigmas(self, step: int) -> NDArray[float32]:
        """Return the noise width σ at each recorded step, up to a given step."""
        return self._sigmas[: self._count(step)].copy()

    def state(self, step: int) -> dict[str, Any]:
        """Return a copy of all stored series, up to this many steps."""
        count = self._count(step)
        series = {key: torch.from_numpy(values[:, :count].copy()) for key, values in self._series.items()}
        return {"series": series, "sigmas": torch.from_numpy(self.get_sigmas(step))}

    def load(self, state: Mapping[str, Any]) -> None:
        """Restore the stored series from a return value of ``state``."""
        self._nets = None
        self._sigmas[:] = np.nan
        self._sigmas[: len(state["sigmas"])] = state["sigmas"].numpy()
        for key, series in self._series.items():
            saved = state["series"][key].numpy()
            series[:] = np.nan
            series[:, : saved.shape[1]] = saved

    def _find_available(self, kind: type[Any], keys: Collection[str]) -> Iterator[Any]:
        for key in keys:
            if isinstance(instrument := INSTRUMENTS.get(key), kind) and not self._missing[key]:
                yield instrument

    def _explain_refusal(self, text: str) -> str:
        key, max_numbers = key_of(text), self._max_arguments[key_of(text)]
        try:
            numbers = numbers_of(text)
        except ValueError as error:
            return str(error)
        if unknown := sorted(numbers.keys() - max_numbers.keys()):
            return f"{key} takes {', '.join(max_numbers) or 'no numbers'}, not {', '.join(unknown)}"
        return "; ".join(
            f"{name} must be from 0 to {max_numbers[name]}, not {number}"
            for name, number in numbers.items()
            if number > max_numbers[name]
        )

    def _count(self, step: int) -> int:
        return int((self._steps <= step).sum())

    def _summarize_series(self, instrument: Recorded, step: int, settings: Settings) -> Iterator[Record]:
        series = self._series[instrument.key][:, : self._count(step)]
        changed = self.get_sigmas(step)[-1] != np.float32(settings.sigma)
        present = series[:, -1]
        if changed:
            present = self._fill_members(instrument, self.read(settings).get(instrument.key))
        for rule in range(series.shape[2]):
            latest, all_values = (
                compute_mean(each[..., rule, :, :].swapaxes(-1, -2)) for each in (present, series)
            )
            record: dict[str, Any] = dict(zip(instrument.fields, latest, strict=True))
            for name, values in zip(instrument.fields, all_values, strict=True):
                record[f"{name}s"] = list(values.T)
            yield record

    def _fill_members(self, instrument: Recorded, member_values: NDArray[float32] | None) -> NDArray[float32]:
        fields, _, *shape = self._series[instrument.key].shape
        values = np.full((fields, *shape), np.nan, np.float32)
        if member_values is not None:
            rules, seeds = zip(*self._lockstep.ensemble.active, strict=True)
            values[:, rules, seeds] = member_values
        return values

    def _measure_by_rule(
        self, settings: Settings, instrument: Visible | Requested, numbers: Mapping[str, int]
    ) -> Records:
        records: Records = dict.fromkeys(range(len(settings.rules)))
        if self._lockstep.ensemble.active:
            arguments = dict.fromkeys(self._max_arguments[instrument.key], 0)
            records.update(instrument.measure(self.observe(settings), **{**arguments, **numbers}))
        return records

    def observe(self, settings: Settings) -> Nets:
        """Return the current nets in the form that instruments measure."""
        ensemble = self._lockstep.ensemble
        key = (ensemble.optimiser.steps, len(ensemble.active))
        if self._nets is None or self._nets.settings is not settings or self._nets_key != key:
            x, targets = self._examples
            data, op, rules = self._lockstep.data[0], self._op, self._rules
            batch, op_rules = self._lockstep.batch, self._lockstep.op_rules
            self._nets = Nets(ensemble, x, targets, batch, data, settings, op, rules, op_rules)
            self._nets_key = key
        return self._nets
