"""Executes generated PyTorch code in a process that cannot import explorer, and tells the bits it gave.

Run as a script: ``python -I runner.py jobs.pt digests.json``. The tests use ``digest`` themselves, so
that both sides are measured alike.
"""

import hashlib
import importlib.util
import json
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

UPSTREAM = (1.0, -2.0, 0.3)
EXTREMES = (float("inf"), -float("inf"), float("nan"), 3e38, -3e38, 1e-45, -0.0, 1.0)
DTYPES = (torch.float32, torch.float64)


def digest(function: Callable[[Tensor], Tensor], points: list[float]) -> str:
    """A hash over the bits of y and the gradient at the points, for every upstream gradient and dtype.

    All NaN count as one: which bits of theirs a cast sets beyond the exponent's is the processor's affair.
    """
    bits = hashlib.sha256()
    for dtype in DTYPES:
        for values in (points, EXTREMES):
            at = torch.tensor(values, dtype=torch.float64).to(dtype)
            x = at.repeat(len(UPSTREAM)).requires_grad_()
            g = torch.tensor(UPSTREAM, dtype=dtype).repeat_interleave(len(at))
            y = function(x)
            (gradient,) = torch.autograd.grad(y, x, g)
            for curve in (y.detach(), gradient):
                bits.update(f"{curve.dtype} {tuple(curve.shape)} ".encode())
                bits.update(torch.where(curve.isnan(), torch.nan, curve).contiguous().numpy().tobytes())
    return bits.hexdigest()


def defined(code: str) -> dict[str, Any]:
    """The names a piece of code defines."""
    names: dict[str, Any] = {}
    exec(compile(code, "<snippet>", "exec"), names)
    return names


def main(jobs: str, digests: str) -> None:
    if importlib.util.find_spec("explorer") is not None:
        raise SystemExit("explorer can be imported here: this process proves nothing")
    torch.set_num_threads(1)
    result = []
    for code, function, layer, trials in torch.load(jobs, weights_only=True):
        names = defined(code)
        for parameters, points in trials:
            of_function = digest(partial(names[function], **parameters), points)
            result.append([of_function, digest(names[layer](**parameters), points[:3])])
    with open(digests, "w") as file:
        json.dump(result, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
