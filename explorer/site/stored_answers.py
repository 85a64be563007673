"""The stored answers of the site: to questions about an op with each rule, at the defaults."""

import base64
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from explorer.catalogue import OPS, RULES, list_learnable
from explorer.curves import sample_curves
from explorer.instrument.view import View
from explorer.measures.lens import lens
from explorer.questions import QUESTIONS
from explorer.questions.code import LANGUAGES, NOTEBOOK
from explorer.questions.curves import encode
from explorer.questions.lens import encode_lens

Json = dict[str, Any]
_PIECE = re.compile(r"(?<=\\n)|(?<=\]\],)|(?<=\},)")  # after a line of code, a formula or a check


def pack_answers(op: str, rules: Iterable[str] = tuple(RULES)) -> Json:
    """Return the answers about an op with each rule, in which equal parts are stored once.

    Returns:
        A dict with these keys.

        - `pieces`: the distinct parts of the answers' JSON.
        - `answers`: triples of a question, its arguments and the indices of the pieces of its answer.
        - `lens`: the answers about the op under noise, or None for a stochastic op.
    """
    numbers: dict[str, int] = {}
    answers = []
    for question, arguments in _list_questions(op, rules):
        text = json.dumps(_answer(question, arguments), separators=(",", ":"))
        answers.append(
            [question, arguments, [numbers.setdefault(piece, len(numbers)) for piece in _PIECE.split(text)]]
        )
    return {
        "pieces": [*numbers],
        "answers": answers,
        "lens": None if OPS[op].is_random else _pack_lens(op, rules),
    }


def _answer(question: str, arguments: Json) -> Json:
    """Return the answer to store for a question. The map of a nonlinear rule has fewer points."""
    answer = QUESTIONS[question].answer(arguments)
    if question == "map":
        encoded = next(iter(answer["rules"].values()))
        if "values" in encoded:
            bytes_ = base64.b64decode(encoded["values"]["bdata"])
            thinned = np.frombuffer(bytes_, "f4").reshape(answer["rows"], answer["columns"])[::3, ::4]
            encoded = encoded | encode({"values": thinned.ravel()})
            answer = {
                "rows": len(thinned),
                "columns": len(thinned[0]),
                "rules": {arguments["rules"][0]: encoded},
            }
    return answer


def _pack_lens(op: str, rules: Iterable[str]) -> Json:
    noise: Json = {"noise": View().noise, "width": View().noise_width}
    first = lens(op, **noise)
    common = [first.sentences[name] for name in first.sentences if name in ("lead", "holes", first.reason)]
    on_rule = {}
    for rule in rules:
        if not RULES[rule].is_random:
            with_rule = replace(first, curves=sample_curves(op, rule, dtype="float64"))
            on_rule[rule] = " ".join(each for each in with_rule.sentences.values() if each not in common)
    return encode_lens(first) | noise | {"words": " ".join(common), "rules": on_rule}


def _list_questions(op: str, rules: Iterable[str]) -> Iterator[tuple[str, Json]]:
    start, stop = View().range
    if not OPS[op].is_random:
        yield "distances", {"op": op, "parameters": {}, "noise": View().noise, "width": View().noise_width}
    yield "formulas", {"op": op, "rule": "", "parameters": {}, "learns": ""}
    for rule in rules:
        pair: Json = {"op": op, "rule": rule, "parameters": {}}
        yield "checks", pair
        yield "neighbours", pair | {"start": start, "stop": stop}
        yield "row", pair
        if not OPS[op].is_random and not RULES[rule].is_random:
            over: Json = {"op": op, "rules": [rule], "parameters": {}, "start": start, "stop": stop}
            yield "implied", over
            yield "map", over | {"top": 2}
            yield "sizes", {"op": op, "rules": [rule], "parameters": {}}
            for name in list_learnable(OPS[op], RULES[rule]):
                data: Json = {"learns": name, "numbers": [], "weights": []}
                for question in ("pull", "rest"):
                    yield question, {"op": op, "rules": [rule], "parameters": {}} | data
        yield "formulas", pair | {"learns": ""}
        for language in LANGUAGES:
            if language != NOTEBOOK:
                yield "code", pair | {"learns": "", "language": language}
