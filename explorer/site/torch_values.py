"""Torch's values for the site: all ops with all rules at the defaults, the examples and the lessons.

Stochastic ops and rules are left out, because a stochastic rule changes the curves of the rules next to it.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch

from explorer.catalogue import OPS, RULES
from explorer.curves import Curves, make_grid, sample_curves
from explorer.curves.sampled import EVEN, FORWARD, KINK, POINTS, Floats
from explorer.description import make_description
from explorer.lessons import LESSONS
from explorer.questions import QUESTIONS
from explorer.questions.curves import encode
from explorer.ui.links.choice import Choice
from explorer.ui.links.link import from_text
from explorer.ui.links.presets import PRESETS
from explorer.ui.server import answers

Json = dict[str, Any]
# A function that applies another one to each op, in order: ``map``, or the map of a pool of processes.
MapOps = Callable[[Callable[[str], Any], Iterable[str]], Iterator[Any]]

CUSTOM = "own"  # the file for examples whose op is a custom formula
# Sentences about a rule are stored for it alone and for it after each of these combinations of rules.
_PRECEDING = ((), ("default",), ("straight_through",), ("default", "straight_through"))


def make_torch_files(
    every_op: Collection[str] = tuple(OPS), every_rule: Sequence[str] = tuple(RULES), map_ops: MapOps = map
) -> Iterator[tuple[str, Json]]:
    """Yield the name and the content of each file of values and sentences that Python computes for the site.

    There is one file for each op, one for custom formulas, and one named ``values``.

    Args:
        every_op: keys of the ops whose values are stored, except stochastic ones.
        every_rule: keys of the rules whose values are stored, except stochastic ones.
        map_ops: a function that maps the writer of the sentences over the ops.
    """
    ops = [op for op in every_op if not OPS[op].is_random]
    rules = [rule for rule in every_rule if not RULES[rule].is_random]
    words = dict(zip(ops, map_ops(partial(write_sentences, rules=rules), ops), strict=True))
    pairs = {(op, rule): sample_curves(op, rule) for op in ops for rule in rules}
    store = _ValueStore(pairs.values())
    full = _collect_answers()
    for op in OPS:
        gradients = {rule: store.add_curve(pairs[op, rule], rule) for rule in rules if op in ops}
        forward = store.add_curve(pairs[op, rules[0]], FORWARD) if gradients else None
        texts = {"words": words.get(op, {}), "answers": full.get(op, [])}
        yield op, {"forward": forward, "gradients": gradients} | texts
    yield CUSTOM, {"forward": None, "gradients": {}, "words": {}, "answers": full.get(CUSTOM, [])}
    yield "values", store.data


class _ValueStore:
    """A store of the values of all curves, and of their x, in which equal arrays are stored once."""

    def __init__(self, curves: Iterable[Curves]) -> None:
        kink_x = {x for each in curves for kinks in each.kinks.values() for x in kinks or ()}
        self._kinks = {x: place for place, x in enumerate(sorted(kink_x))}
        self.x = _make_grid(list(self._kinks))[0]
        self._numbers: dict[bytes, int] = {}
        self._arrays: list[Floats] = []

    def add_curve(self, curves: Curves, key: str) -> Json:
        values = curves.evaluate(key, self.x)
        number = self._numbers.setdefault(values.tobytes(), len(self._arrays))
        if number == len(self._arrays):
            self._arrays.append(values)
        kinks = curves.kinks[key]
        return {"values": number, "kinks": kinks and [self._kinks[x] for x in kinks]}

    @property
    def data(self) -> Json:
        even, marks = _make_grid([])
        places, kinks = self._find_indices(even[marks == EVEN]), []
        for kink in self._kinks:
            x, marks = _make_grid([kink])
            (at,) = self._find_indices(x[marks == KINK])
            beside = self._find_indices(x[(marks != KINK) & (marks != EVEN)])
            kinks.append({"at": at, "beside": beside})
        packed: Json = encode({"x": self.x, "arrays": self._arrays})
        return packed | {"even": places, "kinks": kinks}

    def _find_indices(self, x: Floats) -> list[int]:
        index: list[int] = np.searchsorted(self.x, x).tolist()
        return index


def _make_grid(kinks: Sequence[float]) -> tuple[Floats, Any]:
    return make_grid(*Choice().range, POINTS, kinks, torch.float32)


def write_sentences(op: str, rules: Iterable[str] = tuple(RULES)) -> dict[str, list[str]]:
    """Return the sentences that describe an op with each rule, alone and next to the two basic rules.

    The result is a dict from the rules' keys, separated by spaces, to the sentences.
    """
    combinations = [(*before, rule) for before in _PRECEDING for rule in rules if rule not in before]
    words = {keys: make_description(sample_curves(op, keys)) for keys in combinations}
    return {" ".join(keys): [*description.texts.values()] for keys, description in words.items()}


def _collect_answers() -> dict[str, list[Json]]:
    scenes = (scene.query for lesson in LESSONS.values() for scene in lesson.scenes if scene.path == "/")
    by_op: dict[str, list[Json]] = {}
    for query in dict.fromkeys([*(preset.query for preset in PRESETS), *scenes]):
        choice, _ = from_text(query)
        answer = {
            "choice": answers.serialize_choice(choice),
            "answer": QUESTIONS["curves"].answer(answers.make_curves_arguments(choice)),
        }
        by_op.setdefault(choice.op if choice.op in OPS else CUSTOM, []).append(answer)
    return by_op
