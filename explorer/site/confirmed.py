"""Torch's values that come along: every op with every rule at the defaults, the examples and the lessons."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from explorer.catalogue import OPS, RULES
from explorer.curves import EVEN, FORWARD, KINK, POINTS, Curves, Floats, grid, sample_curves
from explorer.description import described
from explorer.lessons import LESSONS
from explorer.ui import answers
from explorer.ui.choice import Choice
from explorer.ui.link import from_text
from explorer.ui.presets import PRESETS

Json = dict[str, Any]

OWN = "own"  # the file of what has an own formula as its op
# What sentences are told of beside a rule alone: that with each of these before it.
_BEFORE = ((), ("default",), ("straight_through",), ("default", "straight_through"))


def confirmed(ops: Collection[str] = tuple(OPS)) -> Iterator[tuple[str, Json]]:
    """Each file by its name: ``values``, one an op, and what has an own formula as its op.

    ``ops``: keys of those whose values come along.
    """
    alone = {(op, rule): sample_curves(op, rule) for op in ops for rule in RULES}
    store = _Values(alone.values())
    whole = _whole_answers()
    for op in OPS:
        known = _of_op(op, alone, store) if op in ops else {"forward": None, "gradients": {}, "words": {}}
        yield op, known | {"answers": whole.get(op, [])}
    yield OWN, {"forward": None, "gradients": {}, "words": {}, "answers": whole.get(OWN, [])}
    yield "values", store.data


class _Values:
    """All x at which any of the curves is sampled, and the values there: each array once."""

    def __init__(self, curves: Iterable[Curves]) -> None:
        bends = {x for each in curves for kinks in each.kinks.values() for x in kinks or ()}
        self._kinks = {x: place for place, x in enumerate(sorted(bends))}
        self.x = _grid(list(self._kinks))[0]
        self._numbers: dict[bytes, int] = {}
        self._arrays: list[Floats] = []

    def curve(self, curves: Curves, key: str) -> Json:
        """A curve of ``curves`` by the number of its values, and those of its kinks."""
        values = curves.at(key, self.x)
        number = self._numbers.setdefault(values.tobytes(), len(self._arrays))
        if number == len(self._arrays):
            self._arrays.append(values)
        kinks = curves.kinks[key]
        return {"values": number, "kinks": kinks and [self._kinks[x] for x in kinks]}

    @property
    def data(self) -> Json:
        """As the browser puts them together."""
        even, marks = _grid([])
        kinks = [self._group(x) for x in self._kinks]
        places = self._places(even[marks == EVEN])
        packed: Json = answers.encoded({"x": self.x, "arrays": self._arrays})
        return packed | {"even": places, "kinks": kinks}

    def _group(self, kink: float) -> Json:
        x, marks = _grid([kink])
        (at,) = self._places(x[marks == KINK])
        return {"at": at, "beside": self._places(x[(marks != KINK) & (marks != EVEN)])}

    def _places(self, x: Floats) -> list[int]:
        found: list[int] = np.searchsorted(self.x, x).tolist()
        return found


def _grid(kinks: Sequence[float]) -> tuple[Floats, Any]:
    return grid(*Choice().range, POINTS, kinks, torch.float32)


def _of_op(op: str, alone: Mapping[tuple[str, str], Curves], store: _Values) -> Json:
    """An op with every rule, and the sentences on them."""
    gradients = {rule: store.curve(alone[op, rule], rule) for rule in RULES}
    forward = store.curve(alone[op, "default"], FORWARD)
    return {"forward": forward, "gradients": gradients, "words": dict(_words(op))}


def _words(op: str) -> Iterator[tuple[str, list[str]]]:
    """The main sentence and the others, by the keys of the rules that they are on."""
    for before in _BEFORE:
        for rule in RULES:
            rules = (*before, rule)
            if rule not in before:
                words = described(sample_curves(op, rules))
                yield " ".join(rules), [words.main, words.rest]


def _whole_answers() -> dict[str, list[Json]]:
    """Torch's answers to the examples and to the curves of the lessons, by the op whose file holds them."""
    scenes = (scene.query for lesson in LESSONS.values() for scene in lesson.scenes if scene.path == "/")
    found: dict[str, list[Json]] = {}
    for query in dict.fromkeys([*(preset.query for preset in PRESETS), *scenes]):
        choice, _ = from_text(query)
        answer = {"choice": answers.chosen(choice), "answer": answers.confirm(query)}
        found.setdefault(choice.op if choice.op in OPS else OWN, []).append(answer)
    return found
