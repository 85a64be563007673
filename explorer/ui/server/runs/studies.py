"""Studies for the page's instrument: started and commanded here, watched as events, taken away as CSV."""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import AsyncIterator, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import combinations
from threading import Lock
from typing import Any, TypedDict, get_args

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from explorer.study import Plan, Result, Row, Stepper, script
from explorer.study.differences import Difference, differences, equal_to_controls
from explorer.study.judged import Judged, decimals_of, judged
from explorer.study.order import standings
from explorer.study.words import headline
from explorer.training import ACTIVE, SETTINGS, TASKS, StudyCommand, StudyStatus, shared_engine
from explorer.training.scheduling import SENTENCES, duration
from explorer.ui.server.admission import limits, operation
from explorer.ui.server.admission.admission import Refused
from explorer.ui.server.admission.payload import Json
from explorer.ui.server.admission.replicas import away, is_unreachable, told_away
from explorer.ui.server.admission.visitors import asking
from explorer.ui.server.runs.runs import (
    LONGEST_START,
    READERS,
    answered,
    choice_of,
    is_owned,
    key_of,
    owner_of,
)
from explorer.ui.server.runs.stream import QUIET_S, Watching, streamed

INTERVAL_S = 0.25  # between two looks, and longer where many watch
_LASTING = (*ACTIVE, "paused", "finished", "silent")  # while somebody watches, the engine keeps it
_SAID_OTHERWISE = ("task", "steps", "lr", "seeds", "pace", "device")
_MEASURED_S = 0.1  # for which some nets are trained, to say how long all take
_measuring = Lock()
_REFUSAL = "This cannot be studied: {}."
_watching = Watching()
operation.watchers.labels("study").set_function(lambda: len(_watching))


class Cell(TypedDict):
    """The scores that a rate is chosen by, of one rule and value: ``mean`` validation over ``seeds``.

    ``agree``, ``agreeChanged``: shares of quantised weights that equal straight-through's, see ``Row``.
    """

    rule: str
    lr: float
    seeds: int
    diverged: int
    value: float | None
    mean: float | None
    agree: float | None
    agreeChanged: float | None


class Judgement(TypedDict):
    """How a rule does at its own rate, on seeds and data of its own; ``half`` of the 95 % interval.

    ``share``: what passes of straight-through's gradient at the start weights; null where it is not finite.
    """

    rule: str
    value: float | None
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


async def start(request: Request) -> Response:
    """Begin a study: ``{query, owner, table}`` gives ``{id, key}``; who has the key may command it."""
    shares = limits.STUDIES_SHARE.of(asking(request))
    return await answered(_started, request, shares, longest=LONGEST_START, refusal=_REFUSAL)


async def cost(request: Request) -> Response:
    """The cost of a study: ``{query, table}`` gives ``{sentence, refused}``."""
    return await answered(_weighed, request, longest=LONGEST_START, seats=READERS)


async def command(request: Request) -> Response:
    """Command a study: ``{key}`` gives its status as an event has it."""
    return await answered(_commanded, request, request.path_params["study"], request.path_params["command"])


async def study_events(request: Request) -> StreamingResponse:
    """The stream of a study: nobody who does not know its id finds it."""
    study = request.path_params["study"]
    lost = is_unreachable(request, study)
    stream = told_away(event(_silent(study, away(study)))) if lost else _events(study)
    return streamed(_watching.counted(request, study, stream))


async def rows(request: Request) -> Response:
    """All runs of a study as CSV."""
    study = request.path_params["study"]
    text = await run_in_threadpool(_csv, study)
    headers = {"Content-Disposition": 'attachment; filename="study.csv"', "Cache-Control": "no-store"}
    return Response(text, media_type="text/csv; charset=utf-8", headers=headers)


async def again(request: Request) -> Response:
    """A study as a script that repeats it."""
    text = await run_in_threadpool(_script, request.path_params["study"])
    headers = {"Content-Disposition": 'attachment; filename="study.py"', "Cache-Control": "no-store"}
    return Response(text, media_type="text/x-python; charset=utf-8", headers=headers)


ROUTES = (
    Route("/studies", start, methods=["POST"]),
    Route("/studies/cost", cost, methods=["POST"]),
    Route("/studies/{study}/events", study_events),
    Route("/studies/{study}/rows.csv", rows),
    Route("/studies/{study}/study.py", again),
    Route("/studies/{study}/{command}", command, methods=["POST"]),
)


def _plan(data: Json) -> Plan:
    """The study of a request's query. Raises Refused, and ValueError for what cannot be studied."""
    choice = choice_of(data)
    swept = {choice.sweep: choice.values} if choice.sweep else {}
    rest = {name: getattr(choice, name) for name in SETTINGS if name not in _SAID_OTHERWISE}
    return Plan.of(
        choice.task,
        choice.op,
        choice.rules,
        lrs=choice.rates or None,
        seeds=choice.seeds,
        steps=choice.steps,
        parameters={**choice.parameters, **swept},
        controls=choice.controls,
        equal=choice.equal,
        most=limits.LANES,
        table=data.get("table"),
        device=choice.device or "cpu",
        **rest,
    )


def _started(data: Json, shares: dict[Hashable, int]) -> str:
    owner, plan = owner_of(data), _plan(data)
    make = partial(Stepper, least=limits.STUDY_CHUNK)
    identity = shared_engine().start_study(make, plan, owner, shares=shares)
    operation.journal.note("study started", task=plan.task, runs=plan.runs)
    return json.dumps({"id": identity, "key": key_of(identity)})


def _commanded(data: Json, identity: str, name: str) -> str:
    engine = shared_engine()
    (status,) = engine.studies([identity])
    if status.state != "gone" and not is_owned(identity, data):
        raise Refused(
            403, "Only the visitor who started this study can command it: press Start for your own."
        )
    if name not in get_args(StudyCommand):
        raise Refused(404, f"Studies know no such command: use {', '.join(get_args(StudyCommand))}.")
    return event(engine.command_study(identity, name))  # type: ignore[arg-type]  # it is one


def _weighed(data: Json) -> str:
    try:
        plan = _plan(data)
    except ValueError as error:
        return json.dumps({"sentence": _REFUSAL.format(error), "refused": True})
    took = duration(measured_seconds(plan))
    sentence = f"{plan.runs:,} runs of {plan.steps:,} steps: {took} if nobody else is training."
    return json.dumps({"sentence": sentence, "refused": False})


def measured_seconds(plan: Plan) -> float:
    """How long a study takes on this machine: by some steps of a few of its nets, or as a plan estimates it.

    One is measured at a time, and who asks meanwhile is given the estimate.
    """
    if not _measuring.acquire(blocking=False):
        return plan.seconds
    try:
        step_s = _trial_step_s(_sample(plan))
    finally:
        _measuring.release()
    return plan.runs * plan.steps * step_s if step_s else plan.seconds


def _sample(plan: Plan) -> Plan:
    """So many of its nets as go together: the same for all studies of these rules on this net."""
    middle = plan.lrs[len(plan.lrs) // 2]
    first = tuple((name, values[0]) for name, values in plan.swept)
    seeds = tuple(range(-(-limits.STUDY_CHUNK // len(plan.keys))))
    return replace(plan, lrs=(middle,), seeds=seeds, judge_seeds=(), fixed=plan.fixed + first, swept=())


@lru_cache(maxsize=128)
def _trial_step_s(plan: Plan) -> float:
    """Seconds that a step of one net takes among others; 0 where it is over too soon to be measured."""
    stepper = Stepper(plan, least=limits.STUDY_CHUNK)
    stepper.advance(0)  # which makes the nets
    before, begun = stepper.done, time.perf_counter()
    stepper.advance(_MEASURED_S)
    return (time.perf_counter() - begun) / (stepper.done - before) if stepper.done > before else 0.0


def event(status: StudyStatus) -> str:
    """A status as JSON, with what the rows show so far; without them where there is no study."""
    fields: StudyEvent = {
        "id": status.id,
        "state": status.state,
        "sentence": status.sentence,
        "done": status.done,
        "total": status.total,
        "left": "" if status.left_s is None else duration(status.left_s),
        "results": results_of(status.plan, status.rows) if status.plan else None,
    }
    return json.dumps(fields, allow_nan=False)


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
        "cells": [_cell(plan, cell) for cell in result.cells.to_dict("records")],
        "judged": [_judged(each, result.shares[each.rule, each.values]) for each in ended],
        "differences": [_distance(each) for each in differences(plan, ended)],
        "equal": equal_to_controls(plan, ended),
        "standings": _standings(plan, ended) if result.finished else [],
        "headline": headline(plan, ended),
        "words": result.sentences,
    }


def _cell(plan: Plan, cell: Mapping[Hashable, Any]) -> Cell:
    return {
        "rule": cell["rule"],
        "lr": cell["lr"],
        "seeds": cell["seeds"],
        "diverged": cell["diverged"],
        "value": next((_finite(cell[name]) for name in plan.columns), None),
        "mean": _finite(cell["validation"]),
        "agree": _finite(cell.get("agree", math.nan)),
        "agreeChanged": _finite(cell.get("agree_changed", math.nan)),
    }


def _judged(each: Judged, share: float) -> Judgement:
    return {
        "rule": each.rule,
        "value": next((value for _, value in each.values), None),
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


def _csv(identity: str) -> str:
    plan, rows = _known(identity)
    text: str = Result(plan, rows).csv()
    return text


def _script(identity: str) -> str:
    return script(_known(identity)[0])


def _known(identity: str) -> tuple[Plan, Sequence[Row]]:
    """The plan of a study and its rows until now. Raises Refused where there is none."""
    (status,) = shared_engine().studies([identity])
    if status.plan is None:
        raise Refused(404, status.sentence)
    return status.plan, status.rows


async def _events(identity: str) -> AsyncIterator[str]:
    """Yield the full state of a study to a watcher until the study ends."""
    loop = asyncio.get_running_loop()
    said, last = loop.time(), None
    while True:
        mark, text, lasts = await run_in_threadpool(_look, identity, last)
        if mark != last or loop.time() - said >= QUIET_S:
            yield f"data: {text}\n\n" if mark != last else ":\n\n"
            said = loop.time()
        if not lasts:
            return
        last = mark
        await asyncio.sleep(max(INTERVAL_S, len(_watching) / limits.STUDY_PICTURES))


def _look(identity: str, last: object) -> tuple[object, str, bool]:
    """The mark of a study's state, its event where the mark is not ``last``, and whether more may come."""
    try:
        (status,) = shared_engine().studies([identity])
    except RuntimeError as error:
        status = _silent(identity, str(error))
    mark = (status.sentence, len(status.rows), round(100 * status.done / (status.total or 1)))
    return mark, "" if mark == last else event(status), status.state in _LASTING


def _silent(identity: str, note: str) -> StudyStatus:
    return StudyStatus(identity, "silent", SENTENCES["silent"].format(note=note))
