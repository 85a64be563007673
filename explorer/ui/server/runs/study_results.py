"""The results of a study as the page draws them."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from itertools import combinations
from typing import Any, TypedDict

from explorer.study import Plan, Result, Row, duration
from explorer.study.differences import Difference, differences, equal_to_controls
from explorer.study.judged import Judged, decimals_of, judged
from explorer.study.order import standings
from explorer.study.words import headline
from explorer.training import TASKS, StudyStatus


class Cell(TypedDict):
    """The scores that a rate is chosen by, of one rule: ``mean`` validation over ``seeds``."""

    rule: str
    lr: float
    seeds: int
    diverged: int
    mean: float | None


class Judgement(TypedDict):
    """How a rule does at its own rate, on seeds and data of its own; ``half`` of the 95 % interval.

    ``share``: the size of its gradient ÷ straight-through's at the start weights; null where not finite.
    """

    rule: str
    lr: float | None
    seeds: int
    diverged: int
    validation: float | None
    mean: float | None
    half: float | None
    share: float | None


class Distance(TypedDict):
    """How far a rule is from the highest, with each of the ``seeds``; ``low`` to ``high`` is the interval."""

    rule: str
    control: bool
    standing: str
    mean: float
    middle: float | None
    low: float | None
    high: float | None
    seeds: list[float]
    words: str


class Standing(TypedDict):
    """By how much the second of two rules is lower than the first, and whether its interval leaves out 0."""

    first: str
    second: str
    lower: float
    sure: bool


class Results(TypedDict):
    """The results of a study so far, of ``runs`` of ``most``; all its scores have as many ``decimals``.

    ``headline`` is the ranking in words, ``equal`` has a sentence for each rule that equals a control;
    ``standings`` of each pair of rules there are once it is finished.
    """

    controls: Sequence[str]
    lrs: Sequence[float]
    seeds: int
    metric: str | None
    decimals: int
    chance: float | None
    runs: int
    most: int
    cells: list[Cell]
    judged: list[Judgement]
    differences: list[Distance]
    equal: list[str]
    standings: list[Standing]
    headline: str
    words: Sequence[str]


class StudyEvent(TypedDict):
    """An event of a study; ``left`` is the time to its end in words, "" before that is known."""

    id: str
    state: str
    sentence: str
    done: float
    total: float
    left: str
    results: Results | None


def study_event(status: StudyStatus) -> StudyEvent:
    """Return the event of a study's status."""
    return {
        "id": status.id,
        "state": status.state,
        "sentence": status.sentence,
        "done": status.step,
        "total": status.steps,
        "left": "" if status.left_s is None else duration(status.left_s),
        "results": results_of(status.plan, status.rows) if status.plan else None,
    }


def results_of(plan: Plan, rows: Sequence[Row]) -> Results:
    """The results of a study as they are drawn."""
    task = TASKS[plan.task]
    result = Result(plan, rows)
    ended = judged(plan, rows)
    return {
        "controls": plan.controls,
        "lrs": plan.lrs,
        "seeds": len(plan.seeds),
        "metric": plan.metric,
        "decimals": decimals_of(plan, ended),
        "chance": task.chance,
        "runs": len(rows),
        "most": plan.runs,
        "cells": [_cell(cell) for cell in result.cells.to_dict("records")],
        "judged": [_judged(each, result.shares[each.rule]) for each in ended],
        "differences": [_distance(each) for each in differences(plan, ended)],
        "equal": equal_to_controls(plan, ended),
        "standings": _standings(plan, ended) if result.finished else [],
        "headline": headline(plan, ended),
        "words": result.sentences,
    }


def _cell(cell: Mapping[Hashable, Any]) -> Cell:
    return {
        "rule": cell["rule"],
        "lr": cell["lr"],
        "seeds": cell["seeds"],
        "diverged": cell["diverged"],
        "mean": _finite(cell["validation"]),
    }


def _judged(each: Judged, share: float) -> Judgement:
    return {
        "rule": each.rule,
        "lr": each.lr,
        "seeds": len(each.scores),
        "diverged": each.lost,
        "validation": _finite(each.validation),
        "mean": _finite(each.mean),
        "half": _finite(each.half),
        "share": _finite(share),
    }


def _distance(each: Difference) -> Distance:
    return {
        "rule": each.rule,
        "control": each.is_control,
        "standing": each.standing,
        "mean": each.mean,
        "middle": _finite(each.middle),
        "low": _finite(each.low),
        "high": _finite(each.high),
        "seeds": [*each.seeds.values()],
        "words": each.words,
    }


def _standings(plan: Plan, ended: Sequence[Judged]) -> list[Standing]:
    found = standings(plan, ended)
    pairs = [pair for pair in combinations(plan.keys, 2) if pair in found]
    return [
        {"first": first, "second": second, "lower": found[first, second][0], "sure": found[first, second][1]}
        for first, second in pairs
    ]


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
