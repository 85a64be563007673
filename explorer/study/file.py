"""Save the finished runs of a study to a CSV file, and read them back at a later start."""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import torch

from explorer.study.plan import Plan
from explorer.study.trial import AGREEMENT, Row, Stage, Trial

_STUDY = "study"  # the column that identifies a run's study


class StudyFile:
    """The CSV file to which the finished runs of a study are saved.

    It has the columns of ``Result.frame`` without divided rates, and an identifier of the study. An
    incomplete last line, left by a machine that stopped while writing, is dropped.

    Attributes:
        rows: the runs in the file when it was opened.
    """

    def __init__(self, path: str | os.PathLike[str], plan: Plan) -> None:
        """Open the file at a path, or create it.

        Raises ValueError if ``path`` is not a path or not that of this study, OSError if creating it fails.
        """
        if not isinstance(path, str | os.PathLike) or Path(path).is_dir():
            raise ValueError(f"file must be the path of a CSV file, such as 'results.csv', not {path!r}")
        self._path, self._plan = Path(path), plan
        self._columns = [*plan.columns, _STUDY]
        self._version = f"torch {torch.__version__}"
        text = self._path.read_bytes() if self._path.exists() else b""
        complete = text[: text.rfind(b"\n") + 1]  # without its last line if that was not written completely
        self.rows = self._read(complete)
        if not complete or complete != text:
            part = self._path.with_name(self._path.name + ".part")
            part.write_bytes(complete or _format_line(self._columns).encode())
            part.replace(self._path)

    def append(self, rows: Iterable[Row]) -> None:
        """Append the results of runs, and flush them to disk before returning."""
        lines = []
        for row in rows:
            cells = row.get_values(self._plan.columns)
            values = [None if isinstance(cell, float) and math.isnan(cell) else cell for cell in cells]
            identity = f"{self._plan.identity_of(row.trial.rule)} {self._version}"
            lines.append(_format_line([*values, identity]))
        with self._path.open("a", encoding="utf-8", newline="") as file:
            file.write("".join(lines))
            file.flush()
            os.fsync(file.fileno())

    def _read(self, text: bytes) -> list[Row]:
        try:
            lines = list(csv.reader(io.StringIO(text.decode("utf-8-sig"))))
        except (UnicodeDecodeError, csv.Error):
            lines = [[]]
        if not lines:
            return []
        if lines[0][-1:] != [_STUDY]:
            raise ValueError(f"{self._path} is not a study file: choose another name")
        if lines[0] != self._columns:
            raise ValueError(self._describe_other())
        possible = self._plan.list_possible()
        rows = [self._read_row(number, cells, possible) for number, cells in enumerate(lines[1:], 2)]
        return [row for row in rows if row.trial in possible]

    def _read_row(self, number: int, cells: Sequence[str], possible: set[Trial]) -> Row:
        row = self._parse(cells)
        if row is None:
            raise ValueError(f"line {number} of {self._path} cannot be read: delete that line")
        identity, _, versions = cells[-1].partition(" ")
        if not self._plan.is_compatible(identity, row.trial, possible):
            raise ValueError(self._describe_other())
        if versions != self._version:
            raise ValueError(
                f"the runs in {self._path} were made with {versions}, but this is torch "
                f"{torch.__version__}: choose another name, so that they are not mixed"
            )
        return row

    def _parse(self, cells: Sequence[str]) -> Row | None:
        try:
            named = dict(zip(self._columns, cells, strict=True))
            stage: Stage = "judge" if named["stage"] == "judge" else "choose"
            trial = Trial(stage, named["rule"], float(named["lr"]), int(named["seed"]))
            loss, validation, held_out, passed = (
                float(named[name] or "nan") for name in ("loss", "validation", "held_out", "passed")
            )
            agree = (float(named[name]) if named.get(name) else None for name in AGREEMENT)
            diverged = {"True": True, "False": False}[named["diverged"]]
            return Row(trial, int(named["steps"]), loss, validation, held_out, diverged, passed, *agree)
        except (KeyError, ValueError):
            return None

    def _describe_other(self) -> str:
        return (
            f"{self._path} holds the runs of a study with other arguments: use those arguments again, or "
            "choose another name"
        )


def _format_line(cells: Iterable[object]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue()
