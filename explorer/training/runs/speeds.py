"""How fast nets train on each device of this machine, measured once, in sentences."""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from statistics import median
from typing import NamedTuple

from explorer.training.limits import MAX_HIDDEN
from explorer.training.runs.run import Run
from explorer.training.runs.summary import device
from explorer.training.settings import Settings, devices
from explorer.training.tasks import FIRST, TASKS

_WARM_UP, _STEPS = 5, 25  # steps: the first ones of a device load what it computes with
_ALIKE = 1.1  # the ratio of two times below which neither device is called faster


class Speed(NamedTuple):
    """The time of a step, by device.

    Attributes:
        hidden: units of the hidden layer.
        ms: milliseconds, by the key of a device.
    """

    hidden: int
    ms: Mapping[str, float]


@cache
def compare_devices() -> str:
    """Return which device nets train faster on, small ones and wide ones; "" where there is one device."""
    names = devices()
    if len(names) == 1:
        return ""
    try:
        return describe(measure_speeds(names))
    except RuntimeError as error:
        reason = str(error).strip().partition("\n")[0]
        return f"The {device(names[-1])} cannot train here: choose the {device('cpu')} ({reason})."


def measure_speeds(
    names: Sequence[str], measure_ms: Callable[[str, int], float] | None = None
) -> tuple[Speed, ...]:
    """Return the speeds of a small net and of the widest one, on devices by their keys."""
    measure_ms = measure_ms or measure_step_ms
    small = TASKS[FIRST].hidden
    widths = (small if isinstance(small, int) else small[0], MAX_HIDDEN)
    return tuple(Speed(width, {name: measure_ms(name, width) for name in names}) for width in widths)


def measure_step_ms(name: str, hidden: int) -> float:
    """Return the median time of a step of the first task's net on a device, in milliseconds."""
    run = Run(Settings(task=FIRST, hidden=hidden, device=name, steps=_WARM_UP + _STEPS), recorded=())
    run.advance(_WARM_UP)
    taken = []
    for _ in range(_STEPS):
        begun = time.perf_counter()
        run.advance()  # its loss is read, so that the step is over
        taken.append(time.perf_counter() - begun)
    return 1e3 * median(taken)


def describe(speeds: Sequence[Speed]) -> str:
    """Return a sentence for each speed."""
    small, wide = speeds
    return f"{_sentence('Small nets', small)} {_sentence(f'Nets with {wide.hidden} hidden units', wide)}"


def _sentence(nets: str, speed: Speed) -> str:
    (first, least), (second, more) = sorted(speed.ms.items(), key=lambda pair: pair[1])
    first, second = device(first), device(second)
    if more < _ALIKE * least:
        return f"{nets} train as fast on either device: about {least:.2g} ms a step here."
    return f"{nets} train faster on the {first}: {least:.2g} ms a step here, {more:.2g} on the {second}."
