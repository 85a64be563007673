"""The recorder of a run: series of its instruments, and measurements on request."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from explorer.catalogue import adapt_rule, find_op, find_rule
from explorer.training.instruments import INSTRUMENTS, Instrument, Nets, Record, Recorded, Requested, Visible
from explorer.training.instruments.base.question import key_of, numbers_of, question
from explorer.training.runs.lockstep import Lockstep
from explorer.training.runs.series import mean
from explorer.training.settings import Course, Settings
from explorer.training.tasks import Data

if TYPE_CHECKING:
    from numpy import float32, int64
    from numpy.typing import NDArray

Records = dict[int, Record | None]
"""Records by the number of every rule; None where there is nothing to say."""


class Recorder:
    """The readings of instruments of one run. To be used inside ``one_thread``.

    ``settings`` come with each call, for some of them may change as the run goes.
    """

    def __init__(
        self,
        settings: Settings,
        lockstep: Lockstep,
        steps: NDArray[int64],
        recorded: Collection[str] | None,
    ) -> None:
        """``steps`` of the series; ``recorded``: keys of instruments, or None for all that are recorded."""
        self._lockstep, self._steps = lockstep, steps
        self.bind(settings.course(-1))
        self._examples = lockstep.examples()
        self._present = (0, 0)  # steps taken and members going when these were made
        self._missing = {key: each.missing(settings) for key, each in INSTRUMENTS.items()}
        self._most = {key: _most(each, settings, lockstep.data[0]) for key, each in INSTRUMENTS.items()}
        self._recorded = [
            each for each in self._known(Recorded, INSTRUMENTS) if recorded is None or each.key in recorded
        ]
        shape = len(steps), len(settings.rules), settings.seeds
        self._series = {
            each.key: np.full((len(each.fields), *shape, each.columns(settings)), np.nan, np.float32)
            for each in self._recorded
        }
        self._sigmas = np.full(len(steps), np.nan, np.float32)  # with which they were taken

    def bind(self, course: Course) -> None:
        """Go on with another op or other rules."""
        self._op = find_op(course.op)
        self._rules = [adapt_rule(self._op, find_rule(rule)) for rule in course.rules]
        self._nets: Nets | None = None

    @property
    def recorded(self) -> tuple[str, ...]:
        """The keys of the instruments that are recorded."""
        return tuple(each.key for each in self._recorded)

    def read(self, settings: Settings) -> dict[str, NDArray[float32]]:
        """Present values of the recorded instruments by key, (fields, members going, columns) each."""
        going = self._lockstep.ensemble.going
        return {each.key: each.measure(self.observed(settings)) for each in self._recorded if going}

    def beside(self, lockstep: Lockstep, others: Sequence[Recorder]) -> Recorder:
        """A recorder of nets that go together; only to ``read``."""
        same = copy.copy(self)
        same._lockstep, same._nets = lockstep, None
        same._rules = [rule for each in (self, *others) for rule in each._rules]
        return same

    def note(self, step: int, settings: Settings, values: Mapping[str, NDArray[float32]]) -> None:
        """Store values that were read after so many steps."""
        index = int(np.searchsorted(self._steps, step))
        self._sigmas[index] = settings.sigma
        for each in self._recorded:
            self._series[each.key][:, index] = self._by_member(each, values.get(each.key))

    def records(self, step: int, settings: Settings, questions: Collection[str]) -> dict[str, Records]:
        """The records of recorded instruments by key, and of visible ones by question."""
        records: dict[str, Records] = {
            each.key: dict(enumerate(self._past(each, step, settings))) for each in self._recorded
        }
        for text in questions:
            for each in self._known(Visible, [key_of(text)]):
                if not self._refusal(text):
                    records[text] = self._by_rule(settings, each, numbers_of(text))
        return records

    def answer(self, settings: Settings, key: str, arguments: Mapping[str, int]) -> Records:
        """The records of a requested instrument. Raises ValueError with a plain sentence."""
        instrument = INSTRUMENTS.get(key)
        if not isinstance(instrument, Requested):
            known = ", ".join(each.key for each in self._known(Requested, INSTRUMENTS))
            raise ValueError(f'unknown instrument "{key}": use one of {known}')
        if self._missing[key]:
            raise ValueError(self._missing[key])
        if refusal := self._refusal(question(key, arguments)):
            raise ValueError(refusal)
        return self._by_rule(settings, instrument, arguments)

    def columns(self) -> dict[str, NDArray[float32]]:
        """All recorded series (judged, rules, seeds), by instrument, field and layer."""
        return {
            f"{each.key}_{field}_{layer + 1}": self._series[each.key][index, ..., layer]
            for each in self._recorded
            for index, field in enumerate(each.fields)
            for layer in range(self._series[each.key].shape[-1])
        }

    def missing(self, questions: Collection[str]) -> dict[str, str]:
        """Why instruments, recorded or visible, are not measured here, by question."""
        recorded = [key for key, each in INSTRUMENTS.items() if isinstance(each, Recorded)]
        known = [*recorded, *(text for text in questions if key_of(text) in INSTRUMENTS)]
        whys = {text: self._missing[key_of(text)] or self._refusal(text) for text in known}
        return {text: why for text, why in whys.items() if why}

    @property
    def most(self) -> dict[str, dict[str, int]]:
        """The largest of each number that an instrument takes here, by key and name."""
        return {key: each for key, each in self._most.items() if each and not self._missing[key]}

    def sigmas(self, step: int) -> NDArray[float32]:
        """The deviation of the noise at each point of the series until this step, copied."""
        return self._sigmas[: self._count(step)].copy()

    def state(self, step: int) -> dict[str, Any]:
        """A copy of all series after so many steps."""
        count = self._count(step)
        series = {key: torch.from_numpy(each[:, :count].copy()) for key, each in self._series.items()}
        return {"series": series, "sigmas": torch.from_numpy(self.sigmas(step))}

    def load(self, state: Mapping[str, Any]) -> None:
        """Continue from the ``state`` of another recorder."""
        self._nets = None
        self._sigmas[:] = np.nan
        self._sigmas[: len(state["sigmas"])] = state["sigmas"].numpy()
        for key, each in self._series.items():
            own = state["series"][key].numpy()
            each[:] = np.nan
            each[:, : own.shape[1]] = own

    def _known(self, kind: type[Any], keys: Collection[str]) -> Iterator[Any]:
        """The instruments of a kind and of these keys that can be measured here."""
        for key in keys:
            if isinstance(each := INSTRUMENTS.get(key), kind) and not self._missing[key]:
                yield each

    def _refusal(self, text: str) -> str:
        """Why a question cannot be answered with its numbers; empty where it can."""
        key, most = key_of(text), self._most[key_of(text)]
        try:
            numbers = numbers_of(text)
        except ValueError as error:
            return str(error)
        if numbers.keys() - most.keys():
            return f"{key} takes {', '.join(most) or 'no numbers'}"
        wrong = [
            f"{name} must be from 0 to {most[name]}" for name in most if numbers.get(name, 0) > most[name]
        ]
        return " and ".join(wrong)

    def _count(self, step: int) -> int:
        return int((self._steps <= step).sum())

    def _past(self, instrument: Recorded, step: int, settings: Settings) -> Iterator[Record]:
        """The record of each rule: present fields, and their series in the plural; means over seeds."""
        series = self._series[instrument.key][:, : self._count(step)]
        changed = self.sigmas(step)[-1] != np.float32(settings.sigma)
        now = series[:, -1]
        if changed:
            now = self._by_member(instrument, self.read(settings).get(instrument.key))
        for rule in range(series.shape[2]):
            latest, every = (mean(each[..., rule, :, :].swapaxes(-1, -2)) for each in (now, series))
            record: dict[str, Any] = dict(zip(instrument.fields, latest, strict=True))
            for name, values in zip(instrument.fields, every, strict=True):
                record[f"{name}s"] = list(values.T)
            yield record

    def _by_member(self, instrument: Recorded, read: NDArray[float32] | None) -> NDArray[float32]:
        """Values of members as (fields, rules, seeds, columns); NaN for members that have left."""
        fields, _, *shape = self._series[instrument.key].shape
        values = np.full((fields, *shape), np.nan, np.float32)
        if read is not None:
            rules, seeds = zip(*self._lockstep.ensemble.going, strict=True)
            values[:, rules, seeds] = read
        return values

    def _by_rule(
        self, settings: Settings, instrument: Visible | Requested, numbers: Mapping[str, int]
    ) -> Records:
        records: Records = dict.fromkeys(range(len(settings.rules)))
        if self._lockstep.ensemble.going:
            first = dict.fromkeys(self._most[instrument.key], 0)
            records.update(instrument.measure(self.observed(settings), **{**first, **numbers}))
        return records

    def observed(self, settings: Settings) -> Nets:
        """The nets as instruments see them; cached with their pass until something changes."""
        ensemble = self._lockstep.ensemble
        present = (ensemble.optimiser.steps, len(ensemble.going))
        if self._nets is None or self._nets.settings is not settings or self._present != present:
            x, answers = self._examples
            data, op, rules = self._lockstep.data[0], self._op, self._rules
            batch, joined = self._lockstep.batch, self._lockstep.joined
            self._nets = Nets(ensemble, x, answers, batch, data, settings, op, rules, joined)
            self._present = present
        return self._nets


def _most(instrument: Instrument, settings: Settings, data: Data) -> dict[str, int]:
    return {argument.name: argument.most(settings, data) for argument in instrument.arguments}
