"""Questions that the browser asks Python: a registry of functions with annotated keyword arguments.

The app answers over HTTP, and a notebook's kernel by messages. The site has stored answers, and Python in the
browser for questions that need no torch. A saved file has the answers from the time of saving. This module
needs only the standard library, since it also runs in the browser.
"""

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import import_module
from inspect import signature
from sys import float_info
from types import MappingProxyType
from typing import Any, Literal, get_type_hints

Answer = dict[str, Any]

_INTERNAL_ERROR = "This could not be computed. The error is ours, and it is in the log."
_WRONG_TYPE = "The question is not understood: {name} must be {kind}."
_WRONG_NAMES = "The question is not understood: it takes {names}."
_TYPES: Mapping[Any, tuple[str, Callable[[Any], bool]]] = {
    str: ("a text", lambda value: isinstance(value, str)),
    float: ("a number", lambda value: type(value) in (int, float) and abs(value) <= float_info.max),
    list[str]: ("a list of texts", lambda value: _is_list(value, str)),
    list[float]: ("a list of numbers", lambda value: _is_list(value, float)),
    dict[str, float]: (
        "numbers by name",
        lambda value: isinstance(value, dict) and _is_list([*value.values()], float),
    ),
}
_log = logging.getLogger(__name__)


def _is_list(value: Any, item_type: type) -> bool:
    return isinstance(value, list) and all(_TYPES[item_type][1](each) for each in value)


@dataclass(frozen=True)
class Question:
    """A function that the browser may call: arguments and answer are JSON, a ValueError becomes a sentence.

    Attributes:
        load: a function that imports and returns the function, called at the first question.
        torch: whether the function needs torch; if not, Python in the browser can answer too.
        seats: the kind of server slots used: "computing" for milliseconds, "judging" for a tenth of a second,
            "searching" for more.
        cached: the number of cached answers.
    """

    load: Callable[[], Callable[..., Answer]]
    torch: bool = True
    seats: Literal["computing", "judging", "searching"] = "computing"
    cached: int = 0

    def answer(
        self, arguments: Mapping[str, Any], records: Mapping[str, Any] = MappingProxyType({})
    ) -> Answer:
        """Return the function's answer. Never raises.

        If there is no answer, the result is ``{"message": sentence}``. `records` is a dict from keys to ops
        and rules outside the catalogue, such as functions in a notebook.
        """
        try:
            if error_text := self._find_error(arguments):
                return {"message": error_text}
            text = json.dumps(arguments, sort_keys=True)
            if any(json.dumps(key) in text for key in records):
                values = json.loads(text, parse_int=float)
                for name in {"op", "rule"} & values.keys():
                    values[name] = records.get(values[name], values[name])
                if "rules" in values:
                    values["rules"] = [records.get(key, key) for key in values["rules"]]
                return self._function(**values)
            return self._compute(text)
        except ValueError as error:
            return {"message": as_sentence(str(error))}
        except Exception:
            _log.exception("%s failed", arguments)
            return {"message": _INTERNAL_ERROR}

    @cached_property
    def _function(self) -> Callable[..., Answer]:
        return self.load()

    @cached_property
    def _compute(self) -> Callable[[str], Answer]:
        """The question's function with a cache. Its argument is JSON, whose integers become floats."""
        return lru_cache(self.cached)(lambda text: self._function(**json.loads(text, parse_int=float)))

    @cached_property
    def _arguments(self) -> Mapping[str, tuple[Any, bool]]:
        """A dict from each argument's name to its type and whether it is optional."""
        types = get_type_hints(self._function)
        parameters = signature(self._function).parameters.values()
        return {each.name: (types[each.name], each.default is not each.empty) for each in parameters}

    def _find_error(self, arguments: Mapping[str, Any]) -> str:
        needed = {name for name, (_, optional) in self._arguments.items() if not optional}
        if not needed <= set(arguments) <= set(self._arguments):
            return _WRONG_NAMES.format(names=", ".join(self._arguments))
        for name, value in arguments.items():
            kind, fits = _TYPES[self._arguments[name][0]]
            if not fits(value):
                return _WRONG_TYPE.format(name=name, kind=kind)
        return ""


def as_sentence(words: str) -> str:
    """Return words as a sentence, with a capital letter and one full stop."""
    return f"{words[:1].upper()}{words[1:]}".removesuffix(".") + "."


def _import(module: str, name: str) -> Callable[[], Callable[..., Answer]]:
    return lambda: getattr(import_module(f"{__name__}.{module}"), name)


QUESTIONS: Mapping[str, Question] = {
    "entry": Question(_import("entry", "read_entry"), torch=False),
    "formulas": Question(_import("formulas", "write_formulas"), torch=False, cached=64),
    "code": Question(_import("code", "write_code"), torch=False),
    "read": Question(_import("read", "read_code"), torch=False),
    "judge": Question(_import("judge", "judge_solution"), torch=False, cached=64),  # classes repeat mistakes
    "curves": Question(_import("curves", "answer_curves"), cached=128),
    "lens": Question(_import("lens", "answer_lens"), cached=64),
    "distances": Question(_import("lens", "answer_distances"), cached=64),
    "implied": Question(_import("implied", "answer_implied"), cached=64),
    "map": Question(_import("map", "answer_map"), cached=64),
    "pull": Question(_import("learning", "answer_pull")),
    "rest": Question(_import("learning", "answer_rest"), seats="judging", cached=64),
    "sizes": Question(_import("sizes", "answer_sizes"), seats="judging", cached=128),
    "scaled": Question(_import("sizes", "answer_scaled"), seats="judging", cached=128),
    "checks": Question(_import("rules", "list_checks"), seats="judging", cached=512),
    "neighbours": Question(_import("rules", "list_neighbours"), seats="searching", cached=512),
    "row": Question(_import("rules", "answer_row"), seats="judging", cached=2048),
}
