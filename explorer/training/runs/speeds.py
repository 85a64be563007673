"""How fast each device of this machine trains, measured once and described in sentences."""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from statistics import median
from typing import NamedTuple

from explorer.training.limits import MAX_HIDDEN
from explorer.training.runs.run import Run
from explorer.training.runs.summary import name_device
from explorer.training.settings import Settings, devices
from explorer.training.tasks import FIRST, TASKS

_WARM_UP, _STEPS = 5, 25  # untimed steps, in which a device loads its kernels; timed steps
_EQUAL_RATIO = 1.1  # the ratio of two times below which the devices count as equally fast


class Speed(NamedTuple):
    """The time that a training step takes on each device, for one width of the net.

    Attributes:
        hidden: the number of units in the hidden layer.
        ms: a dict from the key of each device to the time in milliseconds.
    """

    hidden: int
    ms: Mapping[str, float]


@cache
def compare_devices() -> str:
    """Return a sentence on which device of this machine trains faster, or which cannot train at all.

    Small and wide nets are compared. Returns "" if there is only one device.
    """
    names = devices()
    if len(names) == 1:
        return ""
    try:
        return describe(measure_speeds(names))
    except RuntimeError as error:
        reason = str(error).strip().partition("\n")[0]
        return f"The {name_device(names[-1])} cannot train here: choose the {name_device('cpu')} ({reason})."


def measure_speeds(
    names: Sequence[str], measure_ms: Callable[[str, int], float] | None = None
) -> tuple[Speed, ...]:
    """Measure the time of a training step on each device, for a small net and for the widest one.

    Args:
        names: the keys of the devices.
        measure_ms: a function that returns the milliseconds of a step for a device and a width; by default
            ``measure_step_ms``.
    """
    measure_ms = measure_ms or measure_step_ms
    small = TASKS[FIRST].hidden
    widths = (small if isinstance(small, int) else small[0], MAX_HIDDEN)
    return tuple(Speed(width, {name: measure_ms(name, width) for name in names}) for width in widths)


def measure_step_ms(name: str, hidden: int) -> float:
    """Return the median milliseconds of a training step with ``hidden`` units on the device ``name``."""
    run = Run(Settings(task=FIRST, hidden=hidden, device=name, steps=_WARM_UP + _STEPS), recorded=())
    run.advance(_WARM_UP)
    durations = []
    for _ in range(_STEPS):
        start = time.perf_counter()
        run.advance()  # waits for the device, because it reads the loss
        durations.append(time.perf_counter() - start)
    return 1e3 * median(durations)


def describe(speeds: Sequence[Speed]) -> str:
    """Return sentences that compare the speeds of the devices."""
    small, wide = speeds
    subject = f"Nets with {wide.hidden} hidden units"
    return f"{_make_sentence('Small nets', small)} {_make_sentence(subject, wide)}"


def _make_sentence(nets: str, speed: Speed) -> str:
    (first, fast_ms), (second, slow_ms) = sorted(speed.ms.items(), key=lambda pair: pair[1])
    first, second = name_device(first), name_device(second)
    if slow_ms < _EQUAL_RATIO * fast_ms:
        return f"{nets} train as fast on either device: about {fast_ms:.2g} ms a step here."
    return f"{nets} train faster on the {first}: {fast_ms:.2g} ms a step here, {slow_ms:.2g} on the {second}."
