"""What is asked of torch, of NumPy, and of what stands in for both in the browser: operations, by dtype."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from explorer.formula import FUNCTIONS

# Told in both: the dtype, the shape and the numbers of what an expression makes, or what it raises. Any other
# question it hands on, so that one Python in the browser is enough for both.
PROBE = """
import json
import numpy as np
import torch

def tensors(dtype):
    x = torch.tensor([-2.5, -1.0, -0.5, -0.0, 0.3, 0.5, 1.0, 1.5, 3.0, 6.0, 21.0, 700.0], dtype=dtype)
    y = torch.tensor([0.7, -1.0, 2.0, 0.5, 0.3, -3.0, 1.0, 0.1, 2.5, -6.0, 4.0, 1.0], dtype=dtype)
    named = {"torch": torch, "x": x, "y": y, "m": x.reshape(3, 4), "n": y.reshape(3, 4), "inf": torch.inf}
    arrays = {"a": x.numpy(), "b": y.numpy()} if dtype != torch.bfloat16 else {}  # which NumPy has not
    return named | arrays | {"np": np, "changed": changed}

def changed(values, places, value):
    values = values + 0
    values[places] = value
    return values

def slopes(function, *leaves):
    leaves = [leaf.clone().requires_grad_() for leaf in leaves]
    found = function(*leaves)
    return torch.stack(torch.autograd.grad(found, leaves, torch.full_like(found, 0.7)))

def told(text, dtype):
    try:
        value = eval(text, tensors(getattr(torch, dtype)) | {"slopes": slopes})
    except BaseException as error:
        return type(error).__name__
    if hasattr(value, "tolist"):
        return [str(value.dtype).removeprefix("torch."), list(value.shape), repr(value.tolist())]
    return repr(value)

def answer(question, given):
    if question != "told":
        from explorer.site import judging
        return judging.answer(question, given)
    return json.dumps([told(*each) for each in json.loads(given)["asked"]])
"""
SHAPES = (
    "m[1]", "m[:, 1:3]", "m[..., None]", "m[[0, -1]]", "x[x > 0.4]", "m[:, n[0] > 0]", "m[m > 0]", "x[::3]",
    "m[torch.arange(3), torch.tensor([3, 0, 1])]", "m.transpose(0, 1)", "m.T.reshape(-1)", "m.flatten()",
    "m[:1].expand(3, 4)", "m.sum(0)", "m.sum(1, keepdim=True)", "m.mean(0)", "m.amax(1)", "m.amin(0)",
    "m.argmax(1)", "m.argmin(0, keepdim=True)", "m.min(1).values", "m.min(1).indices", "(m > 0).all(1)",
    "(m > 0).any(0)", "x.cumsum(0)", "x.diff()", "x.roll(1)", "y.sort().values", "y.argsort(stable=True)",
    "m.gather(1, n.argmin(1, keepdim=True))", "(x > 0).nonzero()", "torch.cat([m, n], 1)",
    "torch.stack([m, n], dim=1)", "torch.trapezoid(y, x)", "x[:3].repeat(2)", "m.repeat_interleave(2, 0)",
    "m.unbind(1)[2]", "torch.diag(x[:3])", "torch.diag_embed(m)", "m[:, :3].diagonal(dim1=0, dim2=1)",
    "m.nan_to_num(0.0)", "(x / 0).nan_to_num(1.0, 2.0, 3.0)", "(0 * x / 0).isnan()", "(x / 0).isfinite()",
    "torch.where(m > 0, m, 0.0)", "torch.where(x > 0, x, y)", "m * n[0]", "torch.isclose(x, x + 1e-9)",
    "torch.allclose(m, m + 1e-7)", "torch.equal(m, n)", "m.clamp(-1, 1)", "m.clamp(min=0.3)",
    "m.clamp(max=n)", "x.to(torch.float16)", "x.to(torch.bfloat16)", "x.to(torch.int64)", "x.bool()",
    "~(x > 0) | (y > 0)", "slopes(lambda a, b: a[:3] * b[:3] + a[:3], x, y)",
    "slopes(lambda a: a.reshape(3, 4).sum(1), x)", "slopes(lambda a: torch.where(a > 0, a * a, 3 * a), x)",
    "slopes(lambda a: a.expand(2, 12), x)", "m[3]", "1 - x", "2 / x", "x / 2", "2 ** x", "x ** 2",
    "x.square()", "x ** -0.5", "y ** 3", "m @ n.T", "m @ y[:4]", "m.double() @ n.double().transpose(0, 1)",
    "len(m)", "float(x[4])", "x @ y", "x.std()", "(x / 0).isinf()", "x[torch.tensor(2) :]",
    "m[:, : torch.tensor(3)]", "0.3 in x", "2.0 in x",
)  # fmt: skip
EXACT = (
    "torch.nextafter(x, y)", "torch.nextafter(x, x)",
    "torch.linspace(-2, 3, 7)", "torch.arange(5)", "torch.tensor([1, 2])",
    "torch.arange(3, dtype=torch.float64)", "torch.tensor([[1.5, 2], [3, 4]])", "torch.full((2, 2), True)",
    "torch.zeros(0, 3)", "torch.ones(2)", "torch.nextafter(x, torch.full_like(x, inf))",
    "torch.nextafter(x, torch.full_like(x, -inf))", "torch.finfo(x.dtype).eps", "torch.finfo(x.dtype).tiny",
    "torch.finfo(x.dtype).max",
)  # fmt: skip
LINEAR = (
    "torch.linalg.solve(torch.tensor([[0.0, 2, 1], [1, -2, -3], [-1, 1, 2]]).double(), x[4:7].double())",
    "torch.linalg.pinv(m)", "torch.linalg.pinv(m[:, :1] @ n[:1])", "torch.linalg.pinv(torch.stack([m, n]))",
)  # fmt: skip
ARRAYS = (
    "a[np.arange(2)]", "a[-3:]", "a[[0, -1]]", "a[a > 0.4]", "a @ b", "np.abs(a)", "changed(a, [1, -1], 9)",
    "changed(a, np.clip(np.arange(8), 2, 5), 9)", "changed(a, b > 1, 0)", "0.5 in a",
    "(a > 1).astype(np.int8)", "np.add(a[:2], (-1.0, 1.0))", "np.append(True, a > 0)", "np.arange(2, 6)",
    "np.arange(6, 2)", "np.arange(3) * 0.1", "np.arange(4) / 3", "2.0 ** -np.arange(1, 5)",
    "a * np.arange(12)", "int(np.argmax(a))", "int(np.argmin(a))", "np.array([1, 2])",
    "np.array([True, False])", "np.array([1.5, a[0]])", "np.asarray((1.0, 2.0), dtype=a.dtype)",
    "np.clip(a, -1, a[-2])", "np.diff(a)",
    "float(np.finfo(a.dtype).max)", "np.flatnonzero(a > 0)", "np.full(2, 3, dtype=np.int8)",
    "np.full_like(a, np.nan)", "np.isfinite(np.append(a, np.inf))", "np.isinf(np.append(a, -np.inf))",
    "np.isnan(np.append(a, np.nan))", "np.isclose(a, a * (1 + 1e-10), rtol=1e-9, atol=0, equal_nan=True)",
    "bool(np.isclose(1.0, 1.1, rtol=1e-6, atol=0))", "bool(np.isfinite(2.0))", "np.maximum(a, b)",
    "np.maximum.accumulate(b)", "np.pad(a > 0, 1)", "np.polynomial.legendre.leggauss(4)[1]",
    "np.polynomial.legendre.leggauss(8)[0]", "np.searchsorted(np.sort(a), [0.3, -9.0, 700.0, 0.4])",
    "int(np.searchsorted(np.sort(a), 0.5))", "int(np.searchsorted(np.append(a, np.nan), np.nan))",
    "float(np.spacing(3.7))", "int(np.sum(a > 0))", "np.unique(np.append(b, b))", "np.where(a > 0, a, 0)",
    "np.where(a > 0, 0.0, np.diff(np.append(a, 1.0)))", "np.where(a > 0, 0.1, 2.0)",
    "np.zeros(3, dtype=bool)",
)  # fmt: skip
REFUSED = (
    "np.percentile(a, 3)", "np.diff(a > 0)", "(a > 0) + (b > 0)", "a + [1.0]",
    "torch.linalg.svd(m)", "m.flip(0)", "torch.round_(x)", "m.cumsum(0)",
    "slopes(lambda x: x.amax()[None], x)", "torch.linalg.solve(m[:, :3], n[:, :2])",
)  # fmt: skip
CASES = [
    *((text, dtype) for text in SHAPES for dtype in ("float64", "float32")),
    *((text, dtype) for text in ARRAYS for dtype in ("float64", "float32")),
    *((text, dtype) for text in EXACT for dtype in ("float64", "float32")),
    *((text, "float64") for text in LINEAR),
]
NUMBERS = {"clamp": "-1, 0.7", "hardtanh": "-1, 0.7", "celu": "0.7", "elu": "0.7", "leaky_relu": "0.3"}


def functions() -> list[tuple[str, str]]:
    """Every function of the formula language and its gradient, in every dtype."""
    found = []
    for row in FUNCTIONS.values():
        if row.reduces or row.name in ("where", "detach"):
            continue
        keywords = "".join(f", {name}={value!r}" for name, value in row.keywords)
        others = "y" if row.mixing == "tensors" else NUMBERS.get(row.name, "0.5")
        call = f"torch.{row.torch}(x{f', {others}' if row.arity > 1 else ''}{keywords})"
        texts = [call, f"slopes(lambda x: {call}, x)"] if row.differentiable else [call]
        found += [(text, dtype) for text in texts for dtype in ("float64", "float32", "float16", "bfloat16")]
    return found


def near(one: Any, other: Any, dtype: str) -> bool:
    """Whether two answers are the same up to some last digits of a dtype; NaN is NaN."""
    if isinstance(one, str) or isinstance(other, str) or one[:2] != other[:2]:
        return bool(one == other)
    names = {"nan": math.nan, "inf": math.inf}
    left, right = (np.array(eval(each[2], names), dtype=np.float64) for each in (one, other))
    eps = torch.finfo(getattr(torch, dtype)).eps
    return bool(np.allclose(left, right, 64 * eps, 64 * eps, equal_nan=True))
