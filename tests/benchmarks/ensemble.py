"""How fast six rules train in lock-step, against a plain autograd loop over them.

The plain loop is what a reader would write with torch: one net a rule, ``backward``, ``torch.optim``, the
loss read at every step. It judges nothing on held-out data; ours does. Both by processor time of
one thread.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import torch
from torch import Tensor
from torch.nn import functional

from explorer.gradient import bind
from explorer.training import TASKS, Draw, Run, Settings
from explorer.training.nets import KERNELS, MAPS
from explorer.training.tasks import DEFAULT_TASK
from tests.benchmarks import Series

_OTHERS = [task for key, task in TASKS.items() if key != DEFAULT_TASK and task.kind != "own"]
DENSE = [task.key for task in _OTHERS if not task.net.site.fires]
_RULES = ("straight_through", "default", "clipped", "approx_sign", "reste", "masked")
_LASTS_S = 0.5  # of each measurement

Step = Callable[[], object]


def measure(rounds: int) -> Series:
    """Named series of ratios with one value for each round."""
    torch.set_num_threads(1)
    for task in DENSE:
        rules = tuple(dict.fromkeys((*TASKS[task].rules, *_RULES)))[:6]
        settings = Settings(task=task, rules=rules, device="cpu")
        ratios = [steps_s(lock_step(settings)) / steps_s(plain_loop(settings)) for _ in range(rounds)]
        yield f"lock-step / plain loop, {task}", ratios


def steps_s(step: Step) -> float:
    """Steps per second of processor time."""
    for _ in range(10):
        step()
    begun, count = time.process_time(), 0
    while time.process_time() < begun + _LASTS_S:
        step()
        count += 1
    return count / (time.process_time() - begun)


def lock_step(settings: Settings) -> Step:
    """Return a step of all rules, without instruments; a run that has ended begins anew."""
    run = Run(settings, recorded=())

    def step() -> None:
        nonlocal run
        run = Run(settings, recorded=()) if run.finished else run
        run.advance()

    return step


def plain_loop(settings: Settings) -> Step:
    """A step of all rules, one after another."""
    steps = [_plain_step(replace(settings, rules=(rule,))) for rule in settings.rules]
    return lambda: [step() for step in steps]


def _plain_step(settings: Settings) -> Step:
    task = TASKS[settings.task]
    op = bind(settings.op, settings.rules[0], settings.parameters)
    generator = torch.Generator().manual_seed(settings.seed)
    data = task.data(Draw(generator, settings.batch)).train
    shapes = [each.shapes[0] for each in settings.layers if each.shapes]
    layers = [(torch.randn(a, b, generator=generator) / a**0.5, torch.zeros(b)) for a, b in shapes]
    if task.net in (MAPS, KERNELS):
        # as torch's own convolution has them: (outputs, inputs, 3, 3)
        layers[:-1] = [(w.T.unflatten(1, (-1, 3, 3)).contiguous(), bias) for w, bias in layers[:-1]]
    parameters = [each.requires_grad_() for layer in layers for each in layer]
    optimiser = torch.optim.Adam(parameters, lr=settings.lr)

    def output(x: Tensor) -> Tensor:
        if task.net in (MAPS, KERNELS):
            return _convolved(x.view(-1, 1, 8, 8), layers, op, on_kernels=task.net is KERNELS)
        for number, (weights, bias) in enumerate(layers):
            if not task.net.site.per_example:
                unit = len(weights) ** 0.5
                x = torch.addmm(bias, x.relu() if number else x, op(weights * unit) / unit)
            else:
                x = torch.addmm(bias, op(x) if number else x, weights)
        return x

    def step() -> float:
        chosen = torch.randint(len(data.x), (settings.batch,), generator=generator)
        loss = functional.cross_entropy(output(data.x[chosen]), data.y[chosen])
        value = loss.item()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        return value

    return step


def _convolved(
    maps: Tensor, layers: Sequence[tuple[Tensor, Tensor]], op: Callable[[Tensor], Tensor], *, on_kernels: bool
) -> Tensor:
    """The output of a net of convolutions, by torch's own."""
    for number, (weights, bias) in enumerate(layers[:-1]):
        unit = weights[0].numel() ** 0.5
        kernels = op(weights * unit) / unit if on_kernels else weights
        stride = 2 if number and maps.shape[2] > 2 else 1
        maps = functional.conv2d(maps, kernels, bias, stride=stride, padding=1)
        maps = maps.relu() if on_kernels else op(maps)
        maps = maps if number else functional.avg_pool2d(maps, 2)
    weights, bias = layers[-1]
    return torch.addmm(bias, maps.flatten(1), weights)
