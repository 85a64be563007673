"""Generator of JavaScript typedefs for the JSON objects that the server streams.

``python -m explorer.ui.server.runs.records`` writes them to ``explorer/frontend/train/state/records.js``.
"""

import types
from collections.abc import Collection, Mapping, Sequence
from dataclasses import is_dataclass
from textwrap import TextWrapper
from typing import Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

import numpy as np
from numpy.typing import NDArray

from explorer.instrument.modules import MODULES
from explorer.training import Snapshot, Status
from explorer.training.instruments.base.gradients import Gradients
from explorer.training.runs.lines import Line
from explorer.training.tasks.columns import Table
from explorer.training.tasks.survey import Column, Survey
from explorer.ui.server.runs.stream import OMITTED, Fields, Recorded
from explorer.ui.server.runs.study_results import Cell, JudgedRule, Results, Standing, StudyEvent

FILE = MODULES / "train/state/records.js"
_RUN_RECORDS = (Gradients, Snapshot, Recorded, Line, Fields, Status)
_STUDY_RECORDS = (Cell, JudgedRule, Standing, Results, StudyEvent)
_TABLE_RECORDS = (Table, Column, Survey)
_HEAD = """// The records that the server streams, by their classes in Python.
// Written by `python -m explorer.ui.server.runs.records`: change the classes, and run it.
"""
_TYPES = {float: "number", int: "number", bool: "boolean", str: "string", type(None): "null", Any: "*"}
_ARRAYS = {np.float32: "Float32Array", np.int64: "Int32Array"}  # JavaScript types of arrays in the stream
_NAMES = {"float32": np.float32, "int64": np.int64, "NDArray": NDArray, "Curve": NDArray[np.float32]}
_NO_BREAK_SPACE = "\u00a0"  # replaces spaces within a field, so that no line breaks there
_WRAPPER = TextWrapper(110, initial_indent=" * ", subsequent_indent=" *   ", break_long_words=False)


def render_module() -> str:
    """Return the source of a JavaScript module with a JSDoc typedef for each streamed Python class."""
    records = _RUN_RECORDS + _STUDY_RECORDS + _TABLE_RECORDS
    return "\n".join([_HEAD, *map(_render_typedef, records), "export {};", ""])


def _render_typedef(record: type) -> str:
    hints = get_type_hints(record, localns=_NAMES, include_extras=True)
    fields = [
        f"{name}?: {_render_type(get_args(hint)[0])}"
        if get_origin(hint) is NotRequired
        else f"{name}: {_render_type(hint)}"
        for name, hint in hints.items()
        if name not in OMITTED
    ]
    text = ", ".join(field.replace(" ", _NO_BREAK_SPACE) for field in fields)
    lines = _WRAPPER.fill(f"@typedef {{{{{text}}}}}{_NO_BREAK_SPACE}{record.__name__}")
    return f"/**\n{lines.replace(_NO_BREAK_SPACE, ' ')}\n */"


def _render_type(hint: Any) -> str:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return "|".join(map(_render_type, arguments))
    if origin is Literal:
        return "|".join(f'"{value}"' for value in arguments)
    if origin is np.ndarray:
        return _ARRAYS[get_args(arguments[1])[0]]
    if origin is tuple and arguments[-1] is not ...:
        return f"[{', '.join(map(_render_type, arguments))}]"
    if origin in (Mapping, dict):
        return f"Object<string, {_render_type(arguments[1])}>"
    if origin in (tuple, list, Sequence, Collection):
        return f"Array<{_render_type(arguments[0])}>"
    return hint.__name__ if is_dataclass(hint) or is_typeddict(hint) else _TYPES[hint]


if __name__ == "__main__":
    FILE.write_text(render_module(), encoding="utf-8")
