"""One pair of each kind through every way to call it: apply, Layer, exported code, inductor, autocast."""

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from explorer.catalogue import OPS, RULES, Op, Rule
from explorer.gradient import Layer, apply
from explorer.snippets import snippet
from tests.accelerator.pairs import LOSS, measure_ulps
from tests.accelerator.table import Seen, Table

_MOST = 40
_NEAR = 1e-5  # of the largest value: compiled code may fuse products and sums
_COARSE = 4e-2  # bfloat16 has three digits

COMPILED = ("cpu", "cuda", "mps", "xpu")  # devices that inductor writes code for
UNKNOWN = None, "torch has none for this device"
Call = Callable[[Tensor], Tensor]
Make = Callable[[Op, Rule, Tensor, str], Call]


def add_rows(table: Table, name: str) -> None:
    chosen = choose_pairs()
    for way, make, beside, near in (
        ("Layer", _make_layer, _make_seeded, 0.0),
        ("exported code", _make_code, _make_applied, 0.0),
        ("autocast to bfloat16", partial(_make_cast, torch.bfloat16), _make_applied, _COARSE),
        ("autocast to float16", partial(_make_cast, torch.float16), _make_applied, _COARSE),
        ("torch.compile with inductor", _make_compiled, _make_applied, _NEAR),
    ):
        knows = name in COMPILED if make is _make_compiled else "autocast" not in way or knows_autocast(name)
        work = partial(_compare, table, name, chosen, make, beside, near) if knows else lambda: UNKNOWN
        table.attempt(f"{way}, beside apply", work)


def knows_autocast(name: str) -> bool:
    try:
        torch.autocast(name, torch.bfloat16)
    except (RuntimeError, AssertionError):
        return False
    return True


def choose_pairs() -> list[tuple[Op, Rule]]:
    """Return the first pair of each kind: what is drawn, saved and learned decides how its code looks."""
    first: dict[object, tuple[Op, Rule]] = {}
    for op in OPS.values():
        for rule in RULES.values():
            first.setdefault(_kind(op, rule), (op, rule))
    return list(first.values())[:_MOST]


def _kind(op: Op, rule: Rule) -> object:
    own = rule.parsed
    formula = own and (own.random_names, frozenset(own.variables) & {"x", "y", "g"})
    return op.parsed.random_names, formula, rule.needs_loss, bool(rule.learned)


def _compare(table: Table, name: str, chosen: list[Any], make: Make, beside: Make, near: float) -> Seen:
    x, tried, wrong = torch.linspace(-2.5, 2.5, 101), 0, []
    u = torch.rand(len(x), generator=torch.Generator().manual_seed(1)).clamp(1e-4, 1 - 1e-4)
    for op, rule in chosen:
        if table.left_s <= 0:
            break
        label = f"{op.key} with {rule.key}"
        try:
            here = _both(beside(op, rule, u.to(name), name), x, name)
            there = _both(make(op, rule, u.to(name), name), x, name)
        except Exception as error:
            if _lacks_compiler(error):
                return None, str(error).partition("\n")[0][:120]
            wrong.append(f"{label}: {type(error).__name__} {str(error)[:80]}".replace("\n", " "))
        else:
            far = [_distance(a, b, near) for a, b in zip(here, there, strict=True)]
            wrong += [f"{label}: {worst}" for worst in far if worst][:1]
        tried += 1
    rest = "" if tried == len(chosen) else f", {len(chosen) - tried} not tried: no time left"
    return not wrong, f"{tried} pairs{rest}; {len(wrong)} differ {'; '.join(wrong[:4])}"


def _lacks_compiler(error: Exception) -> bool:
    words = str(error).lower()
    return ("compiler" in words and "not found" in words) or "cannot find a working triton" in words


def _distance(a: Tensor, b: Tensor, near: float) -> str:
    """Return how far two results are apart, "" where that is near enough."""
    if not near:
        ulps = measure_ulps(a, b)
        return f"{ulps} ulp" if ulps else ""
    size = float(a.abs().nan_to_num(posinf=0.0).max())
    is_near = torch.allclose(a, b, near, near * size, equal_nan=True)
    return "" if is_near else f"{float((a - b).abs().max()):.2g} apart"


def _both(call: Call, x: Tensor, name: str) -> tuple[Tensor, Tensor]:
    leaf = x.to(name).requires_grad_()
    y = call(leaf)
    (gradient,) = torch.autograd.grad(y, leaf, torch.full_like(y, 0.75), allow_unused=True)
    return y.detach().float().cpu(), (torch.zeros_like(x) if gradient is None else gradient.float().cpu())


def _make_applied(op: Op, rule: Rule, u: Tensor, _name: str) -> Call:
    return partial(apply, op.key, rule.key, draw=u, f=LOSS if rule.needs_loss else None)


def _make_layer(op: Op, rule: Rule, _u: Tensor, name: str) -> Call:
    return _seeded(Layer(op.key, rule.key, f=LOSS if rule.needs_loss else None).to(name))


def _make_seeded(op: Op, rule: Rule, _u: Tensor, _name: str) -> Call:
    return _seeded(partial(apply, op.key, rule.key, f=LOSS if rule.needs_loss else None))


def _seeded(call: Call) -> Call:
    """Return the call with torch's default generator at its start: a Layer draws from that."""

    def seeded(x: Tensor) -> Tensor:
        torch.manual_seed(7)
        return call(x)

    return seeded


def _make_code(op: Op, rule: Rule, u: Tensor, _name: str) -> Call:
    names: dict[str, Any] = {}
    exec(snippet(op.key, rule.key), names)
    function = names[f"{op.key}_{rule.key}"]
    asks = inspect.signature(function).parameters
    given = {"u": u} if "u" in asks else {}
    return partial(function, **given, **({"f": lambda y: (y - 0.45) ** 2} if rule.needs_loss else {}))


def _make_compiled(op: Op, rule: Rule, u: Tensor, name: str) -> Call:
    torch.compiler.reset()
    return torch.compile(_make_applied(op, rule, u, name), backend="inductor", fullgraph=True)


def _make_cast(dtype: torch.dtype, op: Op, rule: Rule, u: Tensor, name: str) -> Call:
    plain = _make_applied(op, rule, u, name)

    def cast(x: Tensor) -> Tensor:
        with torch.autocast(torch.device(name).type, dtype):
            return plain(x)

    return cast
