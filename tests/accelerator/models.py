"""Somebody's own model on the device: checks, observe, swap, race, and a study by two processes."""

import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.autograd import Function
from torch.nn import functional

import explorer
from explorer.study import Plan
from tests.accelerator.prepare import prepare_process
from tests.accelerator.table import Seen, Table

_PAIRS = (("round", "straight_through"), ("sign", "clipped"), ("quantize", "lsq"), ("clamp", "masked"))


class Stays(Function):
    """A Function that makes a tensor on the CPU, wherever x is: a fault that the check must find."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.window = torch.ones(x.shape)
        return x.round()

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> Tensor:
        return grad_outputs[0] * ctx.window


class Net(nn.Module):
    """A small CNN with a rounded activation and a binary one."""

    def __init__(self) -> None:
        super().__init__()
        self.c1, self.c2, self.out = nn.Conv2d(1, 4, 3), nn.Conv2d(4, 8, 3), nn.Linear(128, 10)

    def forward(self, x: Tensor) -> Tensor:
        x = (self.c1(x) * 4).round() / 4
        return self.out(torch.sign(self.c2(x)).flatten(1))


def add_rows(table: Table, name: str) -> None:
    works = {"check: devices and autocast": _check, "observe": _observe, "swap": _swap, "race": _race}
    for what, work in (works | {"study, two processes": _study}).items():
        table.attempt(what, partial(work, name))


def _data(name: str) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    x, y = torch.rand(96, 1, 8, 8, generator=generator), torch.arange(96) % 10
    return x.to(name), y.to(name)


def _net(name: str) -> Net:
    torch.manual_seed(0)
    return Net().to(name)


def _check(name: str) -> Seen:
    rows = [row for pair in _PAIRS for row in explorer.check(*pair)]
    verdicts = {each: [row.verdict for row in rows if row.name == each] for each in ("devices", "autocast")}
    (fault,) = (row.verdict for row in explorer.check(Stays) if row.name == "devices")
    well = {"holds"} if name != "cpu" else {"holds", "unknown"}
    holds = all(set(each) <= well for each in verdicts.values()) and fault == "fails"
    return holds, f"{verdicts}; a Function that stays on the CPU: {fault}"


def _observe(name: str) -> Seen:
    frames = []
    for device in ("cpu", name):
        model, (x, y) = _net(device), _data(device)
        with explorer.observe(model) as seen:
            functional.cross_entropy(model(x), y).backward()
        frames.append(seen.frame)
    here, there = (frame[["share_grad", "blocked_here", "none_came"]].to_numpy(float) for frame in frames)
    same = list(frames[0]["site"]) == list(frames[1]["site"])
    near = np.allclose(here, there, atol=0.02, equal_nan=True)
    return same and near, f"{len(frames[0])} sites as on the CPU"


def _swap(name: str) -> Seen:
    norms = []
    for device in ("cpu", name):
        model, (x, y) = explorer.swap(_net(device), torch.sign, rule="clipped"), _data(device)
        functional.cross_entropy(model(x), y).backward()
        gradients = dict(model.named_parameters())
        norms += [float(each.grad.norm()) for key, each in gradients.items() if key.endswith("c2.weight")]
    near = abs(norms[0] - norms[1]) <= 0.02 * norms[0]
    return near and norms[0] > 0, f"norm of a gradient {norms[1]:.4g}, on the CPU {norms[0]:.4g}"


def _race(name: str) -> Seen:
    x, y = _data("cpu")
    raced = explorer.race(
        Net, (x[:64], y[:64]), (x[64:], y[64:]), ["straight_through", "clipped"],
        what=torch.sign, lrs=0.01, seeds=2, steps=8, batch=16, device=name, progress=False,
    )  # fmt: skip
    return len(raced.frame) == 4 and bool(raced.frame["loss"].notna().all()), raced.describe().split(".")[0]


def _study(name: str) -> Seen:
    rules = ["default", "clipped"]
    asked = {"lrs": [0.003, 0.03], "seeds": 2, "steps": 20, "device": name}
    begun = time.monotonic()
    prepared = partial(prepare_process, name)
    context = multiprocessing.get_context("spawn")  # a fork cannot use a device that its parent has used
    with ProcessPoolExecutor(2, mp_context=context, initializer=prepared) as pool:
        together = explorer.study("digits", "sign", rules, executor=pool, progress=False, **asked)
    alone = explorer.study("digits", "sign", rules, progress=False, **asked)
    columns = ["rule", "lr", "seed", "stage"]
    a, b = (each.frame.sort_values(columns)["held_out"].to_numpy() for each in (together, alone))
    runs = Plan.create("digits", "sign", rules, **asked).runs
    near = len(a) == len(b) and np.allclose(a, b, atol=0.03, equal_nan=True)
    return near, f"{len(a)} of {runs} runs as in one process, {time.monotonic() - begun:.0f} s"
