"""Measure how many small faults the tests find: ``python -m tests.faults --jobs 2 --thorough``.

Each fault is planted in a scratch copy of the project, the tests named for it run up to the first failure,
and the fault is taken out again. A table of the faults that were caught ends the output.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from queue import SimpleQueue

from tests.faults.entries import FAULTS
from tests.faults.fault import Fault
from tests.faults.report import Result, describe_row, read_results, write_table
from tests.faults.running import copy_project, plant_fault, run_tests


def main(arguments: Sequence[str] | None = None) -> None:
    """Plant the chosen faults one after another, and print what the tests make of them."""
    options = _read_options(arguments)
    faults = [fault for fault in FAULTS if options.only in fault.name or options.only in fault.file]
    results = read_results(options.again) if options.again else {}
    with ExitStack() as stack:
        copies: SimpleQueue[Path] = SimpleQueue()
        for _ in range(min(options.jobs, len(faults))):
            copies.put(stack.enter_context(copy_project()))
        pool = stack.enter_context(ThreadPoolExecutor(options.jobs))
        measure = partial(_measure, results=results, copies=copies, options=options)
        for result in pool.map(measure, faults):
            results[result.name] = result
    print(write_table(faults, results))


def _read_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--only", default="", metavar="TEXT", help="faults with this text in name or file")
    parser.add_argument("--jobs", type=int, default=1, help="faults at a time, each in a copy of its own")
    parser.add_argument("--thorough", action="store_true", help="try missed faults with thorough tests")
    parser.add_argument("--clean", action="store_true", help="first run the tests without the fault")
    parser.add_argument(
        "--limit", type=float, default=300.0, help="seconds that the tests of a fault may take"
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="file to which results are added as JSON lines"
    )
    parser.add_argument("--again", type=Path, metavar="FILE", help="skip what has a result in this file")
    return parser.parse_args(arguments)


def _measure(
    fault: Fault, results: dict[str, Result], copies: SimpleQueue[Path], options: argparse.Namespace
) -> Result:
    """Return the result of a fault, without the runs that are known already."""
    result = results.get(fault.name)
    if result and (result.is_caught or result.thorough or not options.thorough):
        return result
    copy = copies.get()
    try:
        result = _measure_in(copy, fault, result, options)
    finally:
        copies.put(copy)
    if options.out:
        with options.out.open("a", encoding="utf-8") as file:
            file.write(f"{result.line}\n")
    return result


def _measure_in(copy: Path, fault: Fault, result: Result | None, options: argparse.Namespace) -> Result:
    """Run the default tests of a fault in a copy of the project, and thorough ones if those miss it."""
    run = partial(run_tests, copy, fault.paths, limit_s=options.limit)
    if options.clean and (clean := run()).verdict != "missed":
        print(f"WITHOUT THE FAULT: {describe_row(fault, clean)}", flush=True)
    with plant_fault(fault, copy):
        if result is None:
            result = Result(fault.name, run())
            print(describe_row(fault, result.default), flush=True)
        if options.thorough and not result.is_caught:
            result = replace(result, thorough=run(thorough=True))
            print(f"with thorough tests {describe_row(fault, result.thorough)}", flush=True)
    return result


if __name__ == "__main__":
    main()
