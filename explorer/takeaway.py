"""Files of a run: its history as CSV, its settings as JSON, its weights as safetensors."""

import csv
import dataclasses
import io
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from safetensors.torch import save
from torch import Tensor

from explorer.formula import quoted
from explorer.training import Settings

LONGEST_SETTINGS = 2_200_000  # characters: a table of 1 MB as JSON writes it, and the rest


def history_csv(history: Mapping[str, Any]) -> str:
    """``Run.history`` as CSV, one row a rule, seed and step; empty where there is no number.

    Each number is the shortest text that gives the float32 back.
    """
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(history)
    rows.writerows(zip(*map(_texts, history.values()), strict=True))
    return text.getvalue()


def _texts(column: np.ndarray) -> list[str]:
    texts: list[str] = column.astype(str).tolist()
    return ["" if text == "nan" else text for text in texts]


def settings_json(settings: Settings) -> str:
    """Settings as JSON text; ``read_settings`` gives them back, and so does ``Settings(**json.loads(text))``.

    Raises ValueError where op or a rule is a record made in Python, which is no text.
    """
    return _json(_texts_of(settings))


def _texts_of(settings: Settings) -> dict[str, Any]:
    if not all(isinstance(entry, str) for entry in (settings.op, *settings.rules)):
        raise ValueError("an op or rule that is a record of its own cannot be written: give it as a formula")
    return dataclasses.asdict(settings)


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def read_settings(text: str) -> Settings:
    """Settings of JSON text. Raises ValueError, with a plain sentence, for any other text."""
    if len(text) > LONGEST_SETTINGS:
        raise ValueError(f"the file has {len(text):,} characters: at most {LONGEST_SETTINGS:,} are read")
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("the file is no JSON: open one that was saved as settings") from None
    known = {field.name for field in dataclasses.fields(Settings)}
    if not isinstance(fields, dict) or not fields:
        raise ValueError("the file holds no settings: open one that was saved as settings")
    if other := sorted(set(fields) - known):
        raise ValueError(f"the file sets {quoted(other[0])}, which is no setting of a run")
    return Settings(**fields)


def weights_file(weights: Mapping[str, Tensor], settings: Settings) -> bytes:
    """``Run.weights`` as a safetensors file, with the settings among its words, but for a table.

    A ``ModuleDict`` by rule, of a ``ModuleDict`` by seed, of a list of ``nn.Linear`` takes them with
    ``load_state_dict``.
    """
    readable = {name: value for name, value in _texts_of(settings).items() if name != "table"}
    return save(dict(weights), metadata={"settings": _json(readable)})
