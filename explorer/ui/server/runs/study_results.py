"""The results of a study as JSON data for the page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any, TypedDict

from explorer.study import Plan, Result, Row, format_duration
from explorer.study.differences import describe_control_ties
from explorer.study.figure.judgement import draw_judgement
from explorer.study.order import compare_pairs
from explorer.study.outcomes import choose_score_decimals, judge_rules
from explorer.study.words import make_headline
from explorer.training import TASKS, StudyStatus


class Cell(TypedDict):
    """The mean validation score of a backward rule at one learning rate, over several random seeds.

    Each rule's best rate is chosen by this score; it is null if all of the ``seeds`` runs have diverged.
    """

    rule: str
    lr: float
    seeds: int
    diverged: int
    mean: float | None


class JudgedRule(TypedDict):
    """The learning rate at which a backward rule is scored on held-out data, and the size of its gradient.

    ``share`` is the size divided by straight-through's at the initial weights; null if it is not finite.
    """

    rule: str
    lr: float | None
    share: float | None


class Standing(TypedDict):
    """A comparison of two backward rules of a study.

    ``lower`` is how much lower the second rule scores. ``sure`` is whether the interval of this difference
    excludes 0.
    """

    first: str
    second: str
    lower: float
    sure: bool


class Results(TypedDict):
    """The results of a study so far, as JSON.

    ``runs`` of ``most`` runs are finished. All scores are shown with ``decimals`` decimals; ``chance`` is the
    accuracy of guessing, if any. ``headline`` is the ranking as a sentence, and ``figure`` its picture as
    Plotly's data and layout, null until all rules have a held-out score with one common seed. ``equal`` has a
    sentence for each rule that equals a control. ``standings`` compares each pair of rules once the study is
    finished.
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
    judged: list[JudgedRule]
    figure: Any
    equal: list[str]
    standings: list[Standing]
    headline: str
    words: Sequence[str]


class StudyEvent(TypedDict):
    """The progress and results of a study, as sent to the page.

    ``done`` of ``total`` steps of all runs are taken. ``left`` is the remaining time as text, "" until it is
    known.
    """

    id: str
    state: str
    sentence: str
    done: float
    total: float
    left: str
    results: Results | None


def make_study_event(status: StudyStatus) -> StudyEvent:
    """Return a study's status as the JSON data of an event."""
    return {
        "id": status.id,
        "state": status.state,
        "sentence": status.sentence,
        "done": status.step,
        "total": status.steps,
        "left": "" if status.left_s is None else format_duration(status.left_s),
        "results": make_results(status.plan, status.rows) if status.plan else None,
    }


def make_results(plan: Plan, rows: Sequence[Row]) -> Results:
    """Return the results of a study, computed from its finished runs, as JSON data for the page."""
    task = TASKS[plan.task]
    result = Result(plan, rows)
    outcomes = judge_rules(plan, rows)
    figure, _ = draw_judgement(plan, outcomes)
    by_pair = compare_pairs(plan, outcomes) if result.finished else {}
    return {
        "controls": plan.controls,
        "lrs": plan.lrs,
        "seeds": len(plan.seeds),
        "metric": plan.metric,
        "decimals": choose_score_decimals(plan, outcomes),
        "chance": task.chance,
        "runs": len(rows),
        "most": plan.runs,
        "cells": [
            {
                "rule": cell["rule"],
                "lr": cell["lr"],
                "seeds": cell["seeds"],
                "diverged": cell["diverged"],
                "mean": _to_finite(cell["validation"]),
            }
            for cell in result.cells.to_dict("records")
        ],
        "judged": [
            {"rule": each.rule, "lr": each.lr, "share": _to_finite(result.shares[each.rule])}
            for each in outcomes
        ],
        "figure": figure if any(trace["x"] for trace in figure["data"]) else None,
        "equal": describe_control_ties(plan, outcomes),
        "standings": [
            {"first": pair[0], "second": pair[1], "lower": by_pair[pair][0], "sure": by_pair[pair][1]}
            for pair in combinations(plan.keys, 2)
            if pair in by_pair
        ],
        "headline": make_headline(plan, outcomes),
        "words": result.sentences,
    }


def _to_finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
