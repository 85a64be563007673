"""Random programs of aliases, masks and changes in place: what is read against what runs."""

import re
from random import Random

import pytest
import torch
import torch.nn.functional as F  # noqa: N812  # as everybody writes it
from torch import Tensor

from explorer.gradient import apply
from explorer.reading import read_sources

X = torch.tensor([-3, -2, -1.5, -1, -0.5, -0.25, 0, 0.25, 0.5, 1, 1.5, 2, 3], dtype=torch.float64)
G = torch.tensor([1, -2, 0.5, 3, -1, 2, 1, -0.5, 1, 1, -1, 0.7, 2], dtype=torch.float64)

# T stands for a tensor, M for a mask, N for a number.
NUMBERS = ("0", "1", "2", "0.5", "-1", "1.5")
TENSORS = (
    "T.abs()", "torch.sign(T)", "T.round()", "T // 2", "T % 2", "torch.tanh(T)", "-T", "T.clamp(-1, 1)",
    "T.clamp(min=0)", "F.hardtanh(T)", "T**2", "T.clone()", "T.data", "T.detach()", "torch.zeros_like(T)",
    "T", "T.mean()", "1 - T", "T + T", "T - N", "T * T", "torch.max(T, T)", "T.add(T, alpha=2)", "T * M",
    "torch.where(M, T, T)", "torch.where(M, T, N)", "M.type_as(T)", "M * 1.0",
    "T.where(M, T)", "T.where(M, torch.tensor(N).to(T))", "T.new(T)", "~M.long() * 1.0",
    "(M.int() - 2) // 2 * T",
    "T.view(-1)", "T.new(3).fill_(N).mean() * T", "torch.tensor([N])[0] * T", 
    "T * (N or 0.5)", "T * (N and 3)",
    "T.int() * 1.0", "torch.fmod(T, 2)", "T // 0.25", "torch.relu(T).neg_()", "-M.int() + T",
)  # fmt: skip
MASKS = ("T > N", "T <= N", "T == N", "torch.lt(T, N)", "M & M", "M | M", "M * M", "M + M", "M ^ M", "~M")
CHANGES = (
    "T[M] = N", "T[M] = T[M]", "T[M] *= 0.5", "T[M] = T[M] * 2 + 1", "T.masked_fill_(M, N)", "T += T",
    "T *= N", "T.mul_(T)", "T.clamp_(-1, 1)", "T.zero_()", "T.neg_()", "T[M] += T[M]",
    "for _ in range(2): T *= 0.5",
)  # fmt: skip


def _program(tensor: str, random: Random) -> tuple[list[str], list[str]]:
    """Lines that begin with one tensor, and the tensors there are at their end, the newest last."""
    names = {"T": [tensor], "M": [f"{tensor}_mask"], "N": NUMBERS}
    lines = [f"{tensor}_mask = {tensor} > 0"]
    for place in range(random.randint(1, 6)):
        kind, name = random.choice("TTMC"), f"{tensor}{place}"
        line = random.choice({"T": TENSORS, "M": MASKS, "C": CHANGES}[kind])
        line = re.sub(r"\b[TMN]\b", lambda mark: random.choice(names[mark.group()]), line)
        lines.append(line if kind == "C" else f"{name} = {line}")
        if kind != "C":
            names[kind] = [*names[kind], name]
    return lines, list(names["T"])


def _source(random: Random) -> str:
    forward, tensors = _program("x", random)
    if random.random() < 0.3:
        return "def fn(x):\n    " + "\n    ".join([*forward, f"return {tensors[-1]}"])
    backward, gradients = _program("g", random)
    return "\n    ".join(
        [
            "class Fn(torch.autograd.Function):", "@staticmethod", "def forward(ctx, x):",
            *(f"    {line}" for line in forward), f"    ctx.kept = {random.choice(tensors)}, x_mask",
            f"    return {tensors[-1]}.clone()", "@staticmethod", "def backward(ctx, g):",
            "    kept, mask = ctx.kept", "    g = g.clone()", *(f"    {line}" for line in backward),
            f"    return torch.where(mask, {gradients[-1]} * kept, {gradients[-1]})",
        ]
    )  # fmt: skip


def _executed(source: str) -> tuple[Tensor, Tensor] | None:
    """Output and gradient of a program; None for one that torch refuses."""
    namespace = {"torch": torch, "F": F}
    exec(source, namespace)
    function = namespace.get("fn") or namespace["Fn"].apply
    x = X.clone().requires_grad_()
    try:
        y = function(x * 1)
        if y.requires_grad:
            y.backward(G)
    except (RuntimeError, TypeError, IndexError):
        return None
    return y.detach().to(X).expand_as(X), torch.zeros_like(X) if x.grad is None else x.grad


@pytest.mark.parametrize("seed", range(8))
def test_a_program_that_was_read_has_the_curve_it_has_when_it_runs(seed: int) -> None:
    random = Random(seed)
    compared = 0
    for _ in range(40):
        source = _source(random)
        wanted, reading = _executed(source), read_sources(source)[0]
        if wanted is None or reading.problem:
            continue
        x = X.clone().requires_grad_()
        y = apply(reading.op, reading.rule, x)
        y.backward(G)
        for result, executed in zip((y.detach(), x.grad), wanted, strict=True):
            assert torch.allclose(result, executed, rtol=1e-6, atol=1e-7, equal_nan=True), source
        compared += 1
    assert compared > 10
