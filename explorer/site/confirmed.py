"""Torch's values that come along: every op with every rule at the defaults, the examples and the lessons.

Ops and rules that draw are left out: beside one of them a rule's curve is another than alone.
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
# Computes something of each op, in their order: ``map``, or that of a pool of processes.
OfEach = Callable[[Callable[[str], Any], Iterable[str]], Iterator[Any]]

OWN = "own"  # the file of what has an own formula as its op
# Beside each rule alone, sentences are made of it with each of these before it.
_BEFORE = ((), ("default",), ("straight_through",), ("default", "straight_through"))


def confirmed(
    every_op: Collection[str] = tuple(OPS), every_rule: Sequence[str] = tuple(RULES), of_each: OfEach = map
) -> Iterator[tuple[str, Json]]:
    """Each file by its name: ``values``, one an op, and what has an own formula as its op.

    ``every_op``, ``every_rule``: keys of those whose values come along, unless they draw. ``of_each``
    computes the sentences on them.
    """
    ops = [op for op in every_op if not OPS[op].is_random]
    rules = [rule for rule in every_rule if not RULES[rule].is_random]
    words = dict(zip(ops, of_each(partial(sentences, rules=rules), ops), strict=True))
    alone = {(op, rule): sample_curves(op, rule) for op in ops for rule in rules}
    store = _Values(alone.values())
    whole = _whole_answers()
    for op in OPS:
        gradients = {rule: store.curve(alone[op, rule], rule) for rule in rules if op in ops}
        forward = store.curve(alone[op, rules[0]], FORWARD) if gradients else None
        texts = {"words": words.get(op, {}), "answers": whole.get(op, [])}
        yield op, {"forward": forward, "gradients": gradients} | texts
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
        values = curves.evaluate(key, self.x)
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
        packed: Json = encode({"x": self.x, "arrays": self._arrays})
        return packed | {"even": places, "kinks": kinks}

    def _group(self, kink: float) -> Json:
        x, marks = _grid([kink])
        (at,) = self._places(x[marks == KINK])
        return {"at": at, "beside": self._places(x[(marks != KINK) & (marks != EVEN)])}

    def _places(self, x: Floats) -> list[int]:
        index: list[int] = np.searchsorted(self.x, x).tolist()
        return index


def _grid(kinks: Sequence[float]) -> tuple[Floats, Any]:
    return make_grid(*Choice().range, POINTS, kinks, torch.float32)


def sentences(op: str, rules: Iterable[str] = tuple(RULES)) -> dict[str, list[str]]:
    """The headline, the main sentence and the others, by the keys of the rules that they are on."""
    several = [(*before, rule) for before in _BEFORE for rule in rules if rule not in before]
    words = {keys: make_description(sample_curves(op, keys)) for keys in several}
    return {" ".join(keys): [*said.texts.values()] for keys, said in words.items()}


def _whole_answers() -> dict[str, list[Json]]:
    """Torch's answers to the examples and to the curves of the lessons, by the op whose file holds them."""
    scenes = (scene.query for lesson in LESSONS.values() for scene in lesson.scenes if scene.path == "/")
    by_op: dict[str, list[Json]] = {}
    for query in dict.fromkeys([*(preset.query for preset in PRESETS), *scenes]):
        choice, _ = from_text(query)
        answer = {
            "choice": answers.serialize_choice(choice),
            "answer": QUESTIONS["curves"].answer(answers.make_curves_arguments(choice)),
        }
        by_op.setdefault(choice.op if choice.op in OPS else OWN, []).append(answer)
    return by_op
