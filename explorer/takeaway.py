"""Export of a run as files: its history as CSV, its settings as JSON, its weights as safetensors."""

import csv
import dataclasses
import io
import json
from collections.abc import Mapping
from typing import Any

from safetensors.torch import save
from torch import Tensor

from explorer.formula import quote
from explorer.training import Settings

MAX_SETTINGS_CHARS = 2_200_000  # enough for a table of 1 MB, escaped as JSON, and all other settings


def history_csv(history: Mapping[str, Any]) -> str:
    """Return ``Run.history`` as CSV text, with one row per rule, seed and step.

    Each number is the shortest text that reads back as the same float32. NaN becomes an empty field.
    """
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(history)
    columns = [column.astype(str) for column in history.values()]
    rows.writerows(["" if text == "nan" else text for text in row] for row in zip(*columns, strict=True))
    return text.getvalue()


def settings_json(settings: Settings) -> str:
    """Return settings as JSON text for ``read_settings`` or ``Settings(**json.loads(text))``.

    Raises ValueError if the op or a rule is an object made in Python, which JSON cannot hold.
    """
    return _to_json(_fields_of(settings))


def _fields_of(settings: Settings) -> dict[str, Any]:
    if not all(isinstance(entry, str) for entry in (settings.op, *settings.rules)):
        raise ValueError(
            "an Op or Rule object cannot be exported as JSON: give the op or rule as a key or a formula"
        )
    return dataclasses.asdict(settings)


def _to_json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def read_settings(text: str) -> Settings:
    """Return the settings in a JSON text.

    Raises ValueError, with a message for users, if the text is too long or holds no valid settings.
    """
    if len(text) > MAX_SETTINGS_CHARS:
        raise ValueError(
            f"the file has {len(text):,} characters, but at most {MAX_SETTINGS_CHARS:,} are allowed"
        )
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("the file is not JSON: open a file that was exported as settings") from None
    known_names = {field.name for field in dataclasses.fields(Settings)}
    if not isinstance(fields, dict) or not fields:
        raise ValueError("the file contains no settings: open a file that was exported as settings")
    if other := sorted(set(fields) - known_names):
        raise ValueError(f"the file sets {quote(other[0])}, which is not a setting of a run")
    return Settings(**fields)


def weights_file(weights: Mapping[str, Tensor], settings: Settings) -> bytes:
    """Return ``Run.weights`` in safetensors format, with all settings but a table as metadata.

    The names fit a ``ModuleDict`` of rules that contains a ``ModuleDict`` of seeds, each a list of
    ``nn.Linear``: its ``load_state_dict`` accepts these weights.
    """
    readable = {name: value for name, value in _fields_of(settings).items() if name != "table"}
    return save(dict(weights), metadata={"settings": _to_json(readable)})
