from itertools import count

from explorer.study import Plan, Result, Stepper

PLAN = Plan.create("circles", "sign", ["default", "clipped"], lrs=[0.01, 0.1], seeds=2, steps=6, hidden=4)


def driven(plan=PLAN, rows=(), **options):
    stepper = Stepper(plan, rows, **options)
    while not stepper.finished:
        stepper.advance(1)
    return stepper


def test_a_slice_is_as_long_as_it_may_be_and_a_step_at_least():
    ticks = count()
    stepper = Stepper(PLAN, clock=lambda: next(ticks))
    assert stepper.advance(0) == []
    assert stepper.done == 16
    stepper.advance(2)
    assert stepper.done == 3 * 16
    assert (stepper.stage, stepper.finished) == ("choose", False)


def test_rows_come_once_and_the_stages_follow():
    stepper, seen, stages = Stepper(PLAN, min_chunk=5), [], []
    while not stepper.finished:
        seen += stepper.advance(0)
        stages.append(stepper.stage)
        assert stepper.done <= stepper.total
    assert seen == stepper.rows
    assert len({row.trial for row in seen}) == len(seen) == PLAN.runs
    assert stages == sorted(stages)
    assert stepper.done == stepper.total
    assert stepper.advance() == []


def test_a_dropped_stepper_is_continued_from_its_rows():
    whole = driven()
    for stop in (1, 7, 18):
        first = Stepper(PLAN, min_chunk=4)
        while len(first.rows) < stop:
            first.advance(0)
        first.advance(0)
        second = driven(rows=first.rows, min_chunk=3)
        assert second.rows[: len(first.rows)] == first.rows
        assert Result(PLAN, second.rows).rows == Result(PLAN, whole.rows).rows


def test_a_rule_that_diverges_at_every_rate_is_not_judged():
    plan = Plan.create(
        "circles", "sign", ["formula: g / 0", "clipped"], lrs=[0.01, 0.1], seeds=2, steps=3, controls=False
    )
    stepper = driven(plan)
    assert len(stepper.rows) == plan.runs - 2
    assert stepper.done == stepper.total
