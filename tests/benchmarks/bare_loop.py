"""The loop the app's training is measured against: ``python -m tests.benchmarks.bare_loop STEPS``.

A two-layer net (64 × 1000 × 100 × 10) with a hand-written ReLU, trained as a tutorial does it: the loss is
read at every step, gradients are made by ``backward`` and zeroed by hand. Prints steps per second.
"""

import sys
import time
from collections.abc import Callable

import torch
from torch import Tensor

from explorer.lessons import MyReLU

_WARM_UP = 50
_LR = 1e-6


def train(steps: int, x: Tensor, y: Tensor, w1: Tensor, w2: Tensor) -> float:
    """Take the steps; the last loss."""
    relu: Callable[[Tensor], Tensor] = MyReLU.apply
    value = 0.0
    for _ in range(steps):
        loss = (relu(x.mm(w1)).mm(w2) - y).pow(2).sum()
        value = loss.item()
        loss.backward()
        with torch.no_grad():
            for weight in (w1, w2):
                assert weight.grad is not None
                weight -= _LR * weight.grad
                weight.grad.zero_()
    return value


def main(steps: int) -> None:
    """Print how many steps per second the loop takes, on one thread: with more it is slower."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    x, y = torch.randn(64, 1000), torch.randn(64, 10)
    w1, w2 = (torch.randn(*size, requires_grad=True) for size in ((1000, 100), (100, 10)))
    train(_WARM_UP, x, y, w1, w2)
    start = time.perf_counter()
    train(steps, x, y, w1, w2)
    print(steps / (time.perf_counter() - start))


if __name__ == "__main__":
    main(int(sys.argv[1]))
