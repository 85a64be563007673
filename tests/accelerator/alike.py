"""Runs on a pretended device without float64, beside the CPU's: ``python -m tests.accelerator.alike TASK …``.

Prints a line for each loss and each answer of an instrument that is not the CPU's, bit for bit.
"""

import sys
from collections.abc import Iterator
from typing import Any

import torch

from tests.accelerator.pretend import NAME, Pretended, pretend_device

_STEPS = 4


def main(tasks: list[str]) -> None:
    pretend_device([torch.float64])
    from explorer.training.settings import SETTINGS, devices

    assert devices() == ("cpu", NAME) == SETTINGS["device"].words
    count = 0
    for task in tasks:
        pairs = zip(_answers(task, NAME), _answers(task, "cpu"), strict=True)
        for (what, there), (_, here) in pairs:
            count += 1
            if not is_same(there, here):
                print(f"{task}: {what} differs")
    print(f"{count} compared")


def _answers(task: str, device: str) -> Iterator[tuple[str, Any]]:
    """Yield what a run of a task has to say, by name."""
    from explorer.training.runs import Run
    from tests.accelerator.runs import INSTRUMENTS, ask_instrument, settings_of

    run = Run(settings_of(task, device, steps=_STEPS, seeds=2))
    run.advance(_STEPS // 2)
    state = run.state_dict()
    assert all(type(tensor) is torch.Tensor for tensor in state["nets"]["tensors"])
    assert isinstance(run.nets.ensemble.parameters, Pretended) == (device == NAME)
    for key in INSTRUMENTS:
        yield key, ask_instrument(run, key)
    other = Run(settings_of(task, "cpu", steps=_STEPS, seeds=2))
    other.load_state_dict(state)
    for name, each in (("run", run), ("run that went on on the CPU", other)):
        each.advance(_STEPS)
        yield f"losses of the {name}", each.snapshot().seed_losses
        yield f"scores of the {name}", each.snapshot().seed_scores
    yield "weights", run.weights()


def is_same(a: Any, b: Any) -> bool:
    """Return whether two answers are equal to the last bit, whatever they are made of."""
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(is_same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(is_same, a, b))
    if hasattr(a, "tobytes"):
        return a.dtype == b.dtype and a.tobytes() == b.tobytes()
    if isinstance(a, torch.Tensor):
        return is_same(a.cpu().numpy(), b.cpu().numpy())
    return bool(a == b) or (a != a and b != b)


if __name__ == "__main__":
    main(sys.argv[1:])
