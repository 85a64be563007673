"""Executes both forms of generated code where there is only torch, and lists the jobs whose bits differ.

Run as a script: ``python -I short_runner.py jobs.pt differ.json``.
"""

import importlib.util
import json
import sys
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

X = torch.cat([torch.linspace(-4.5, 4.5, 73), torch.tensor([-0.0, 0.26, -30.7, 3e38, 1e-45])])
DTYPES = (torch.float32, torch.float64)
EXTREMES = torch.tensor([float("inf"), -float("inf"), float("nan")])


def pass_through(
    code: str, name: str, learned: list[float], given: list[str], dtype: torch.dtype
) -> Iterator[Tensor]:
    """Yield y and the gradients of x and of learned parameters, with and without extreme x."""
    names: dict[str, Any] = {}
    exec(compile(code, "<code>", "exec"), names)
    for values in (X, torch.cat([X, EXTREMES])):
        x = values.to(dtype).requires_grad_()
        g, u = torch.linspace(-2, 1.5, len(x), dtype=dtype), torch.linspace(0.01, 0.99, len(x), dtype=dtype)
        extras = {"u": u, "f": lambda y: (y - 0.45) ** 2}
        leaves = [x, *(torch.tensor(value, dtype=dtype, requires_grad=True) for value in learned)]
        y = names[name](*leaves, **{key: extras[key] for key in given})
        yield y.detach()
        yield from torch.autograd.grad(y, leaves, g, materialize_grads=True)


def main(jobs: str, differ: str) -> None:
    if importlib.util.find_spec("explorer") is not None:
        raise SystemExit("explorer can be imported here: this process proves nothing")
    torch.set_num_threads(1)
    different = []
    for case, codes, *how in torch.load(jobs, weights_only=True):
        both = [
            [to_bits(tensor) for dtype in DTYPES for tensor in pass_through(code, *how, dtype)]
            for code in codes
        ]
        if both[0] != both[1]:
            different.append(case)
    with open(differ, "w") as file:
        json.dump(different, file)


def to_bits(tensor: Tensor) -> tuple[str, bytes]:
    """The dtype and the bits of a tensor. All NaN count as one."""
    return str(tensor.dtype), torch.where(tensor.isnan(), torch.nan, tensor).contiguous().numpy().tobytes()


if __name__ == "__main__":
    main(*sys.argv[1:])
