"""Try what the explorer does on this machine's accelerator: ``python -m tests.accelerator [PART …]``.

The parts are pairs, templates, runs, models, app and speed. Each ends in its own time, so that all of them
take less than six minutes on one GPU. ``--device cpu`` has the CPU play the accelerator, and ``--device
pretended`` a device that is none: so the script itself is tried where there is no accelerator.
"""

import argparse
import platform
import sys
from importlib import import_module

from tests.accelerator.prepare import describe_device, find_accelerator, prepare_process
from tests.accelerator.table import FAILS, Table

LIMITS_S = {"pairs": 50, "templates": 70, "runs": 80, "models": 50, "app": 50, "speed": 45}


def main() -> int:
    options = argparse.ArgumentParser(prog="sh tests/device", description=__doc__)
    options.add_argument("part", nargs="*", choices=[*LIMITS_S, []], help="all of them by default")
    options.add_argument("--device", help=argparse.SUPPRESS)
    options.add_argument("--times", type=float, default=1.0, help="factor for the time of each part")
    asked = options.parse_args()
    name = asked.device or find_accelerator()
    if not name:
        print("no accelerator here: 0 tried")
        print("What it needs: torch that sees a device of CUDA, ROCm, XPU or MPS.")
        return 0
    missing = prepare_process(name)
    table = Table(describe_device(name))
    print(f"{table.title}, Python {platform.python_version()}", flush=True)
    for part in asked.part or LIMITS_S:
        add_rows = lambda part=part: import_module(f"tests.accelerator.{part}").add_rows(table, name)  # noqa: E731
        table.run_part(part, LIMITS_S[part] * asked.times, add_rows)
    print(table.text(missing))
    return int(table.count(FAILS) > 0)


if __name__ == "__main__":
    sys.exit(main())
