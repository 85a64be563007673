"""Executes generated PyTorch code in a process that cannot import explorer, and tells the bits it gave.

Run as a script: ``python -I runner.py jobs.pt digests.json``. The tests use ``digest`` themselves, so
that both sides are measured alike.
"""

import hashlib
import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

Trial = dict[str, Any]  # leaves (x and what learns) and g; of a pair that draws u, and the code of its loss
Job = tuple[str, str, dict[str, float], list[Trial]]  # code, its function or layer, numbers that this takes
UPSTREAM = (1.0, -2.0, 0.3)
EXTREMES = (float("inf"), -float("inf"), float("nan"), 3e38, -3e38, 1e-45, -0.0, 1.0)
DTYPES = (torch.float32, torch.float64)


def trials_at(points: list[float]) -> list[Trial]:
    """Return trials at the points and at extremes, for every upstream gradient and dtype."""
    result = []
    for dtype in DTYPES:
        for values in (points, EXTREMES):
            at = torch.tensor(values, dtype=torch.float64).to(dtype)
            g = torch.tensor(UPSTREAM, dtype=dtype).repeat_interleave(len(at))
            result.append({"leaves": [at.repeat(len(UPSTREAM))], "g": g})
    return result


def passed(function: Callable[..., Tensor], trial: Trial) -> list[Tensor]:
    """Return y and the gradients of x and of what learns."""
    leaves = [leaf.clone().requires_grad_() for leaf in trial["leaves"]]
    keywords = {"u": trial["u"]} if "u" in trial else {}
    y = function(*leaves, **keywords, **({"f": eval(trial["loss"])} if trial.get("loss") else {}))
    return [y.detach(), *torch.autograd.grad(y, leaves, trial["g"], materialize_grads=True)]


def digest(results: Iterable[Tensor]) -> str:
    """Return a hash over the bits of results.

    All NaN count as one: which bits of theirs a cast sets beyond the exponent's is the processor's affair.
    """
    bits = hashlib.sha256()
    for curve in results:
        bits.update(f"{curve.dtype} {tuple(curve.shape)} ".encode())
        bits.update(torch.where(curve.isnan(), torch.nan, curve).contiguous().numpy().tobytes())
    return bits.hexdigest()


def digest_of(function: Callable[..., Tensor], trials: Iterable[Trial]) -> str:
    return digest(each for trial in trials for each in passed(function, trial))


def defined(code: str) -> dict[str, Any]:
    """The names a piece of code defines."""
    names: dict[str, Any] = {}
    exec(compile(code, "<snippet>", "exec"), names)
    return names


def execute_alone(jobs: list[Job], folder: Path) -> Callable[[], list[str]]:
    """Start a process where there is only torch; return a function that waits for the digest of each job."""
    torch.save(jobs, folder / "jobs.pt")
    command = [sys.executable, "-I", __file__, "jobs.pt", "digests.json"]
    process = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True)

    def wait() -> list[str]:
        _, errors = process.communicate()
        assert process.returncode == 0, errors
        return list(json.loads((folder / "digests.json").read_text()))

    return wait


def main(jobs: str, digests: str) -> None:
    if importlib.util.find_spec("explorer") is not None:
        raise SystemExit("explorer can be imported here: this process proves nothing")
    torch.set_num_threads(1)
    result = []
    for code, name, numbers, trials in torch.load(jobs, weights_only=True):
        made = defined(code)[name]
        function = made(**numbers) if isinstance(made, type) else partial(made, **numbers)
        result.append(digest_of(function, trials))
    Path(digests).write_text(json.dumps(result))


if __name__ == "__main__":
    main(*sys.argv[1:])
