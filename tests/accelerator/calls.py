"""The calls of torch that ours make and that Apple's GPUs lack, by torch's own list of kernels.

``python -m tests.accelerator.calls``. They are recorded on a pretended device.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
import torchgen
import yaml

from tests.accelerator import pretend

_LIST = Path(torchgen.__file__).parent / "packaged/ATen/native/native_functions.yaml"
_KEY = "MPS"  # of torch's dispatcher
Kernels = Mapping[str, Mapping[str, Any]]


def main() -> None:
    name = pretend.pretend_device()
    kernels = {f"aten::{each['func'].partition('(')[0]}": each for each in yaml.safe_load(_LIST.read_text())}
    for what, work in (("runs and instruments", _train), ("ops and rules", _apply)):
        calls = record_calls(lambda work=work: work(name))
        lacking = sorted(call for call in calls if lacks(kernels, call))
        print(f"{what}: {len(calls)} calls, {_KEY} lacks {', '.join(lacking) or 'none'}")


def record_calls(work: Callable[[], None]) -> set[str]:
    calls: set[str] = set()
    compute = pretend._compute

    def note(func: Any, *args: Any, **kwargs: Any) -> Any:
        schema = func._schema
        calls.add(f"{schema.name}.{schema.overload_name}" if schema.overload_name else schema.name)
        return compute(func, *args, **kwargs)

    with patch.object(pretend, "_compute", note):
        work()
    return calls


def lacks(kernels: Kernels, call: str) -> bool:
    """Return whether a call has no kernel for the device; composites have what their parts have."""
    entry = kernels.get(call, {})
    entry = kernels.get(f"aten::{entry.get('structured_delegate')}", entry)
    dispatch = entry.get("dispatch") or {}
    keys = {each.strip() for group in dispatch for each in group.split(",")}
    return bool(keys) and _KEY not in keys and not any(each.startswith("Composite") for each in keys)


def _train(name: str) -> None:
    from explorer.training import TASKS, Run
    from tests.accelerator.runs import INSTRUMENTS, ask_instrument, settings_of

    for task in TASKS:
        run = Run(settings_of(task, name, steps=4))
        run.advance(2)
        for key in INSTRUMENTS:
            ask_instrument(run, key)


def _apply(name: str) -> None:
    from explorer.catalogue import OPS, RULES
    from tests.accelerator.pairs import compute

    x = torch.linspace(-2, 2, 9)
    for op in OPS.values():
        for rule in RULES.values():
            compute(op, rule, x, torch.ones(9), torch.full((9,), 0.3), name)


if __name__ == "__main__":
    main()
