"""Every op with every rule: value and gradient on the device beside the CPU's, at kinks too."""

from collections import defaultdict

import torch
from torch import Tensor

from explorer.catalogue import OPS, RULES, Op, Rule
from explorer.curves.kinks import find_kinks
from explorer.formula.tree import NORMAL, Binary, Call, Name, Node, Number, walk
from explorer.gradient import apply
from tests.accelerator.table import Seen, Table

LOSS = "(y - 0.45)**2"
# Functions that arithmetic of IEEE, comparison or rounding defines to the last bit; others may differ.
EXACT = (
    *("abs", "sign", "heaviside", "round", "floor", "ceil", "trunc", "fp", "float8_e4m3fn", "float8_e5m2"),
    *("exponent", "relu", "min", "max", "clamp", "clamp_min", "clamp_max", "where", "detach", "relu6"),
    *("hardtanh", "copysign", "nan_to_num", "numel"),
)
_LISTED = 6  # pairs of a row


def add_rows(table: Table, name: str) -> None:
    table.attempt("op × rule, value and gradient", lambda: _compare_all(table, name))


def _compare_all(table: Table, name: str) -> Seen:
    x = torch.tensor(find_points())
    g = torch.tensor([1.0, -0.5, 3.0]).repeat(len(x))[: len(x)]
    u = torch.rand(len(x), generator=torch.Generator().manual_seed(0)).clamp(1e-6, 1 - 1e-6)
    broken, apart, tried = [], defaultdict(list), 0
    pairs = [(op, rule) for op in OPS.values() for rule in RULES.values()]
    for op, rule in pairs:
        if table.left_s <= 0:
            break
        tried += 1
        label = f"{op.key} with {rule.key}"
        try:
            here, there = (compute(op, rule, x, g, u, device) for device in ("cpu", name))
        except Exception as error:
            broken.append(f"{label}: {str(error)[:60]}")
            continue
        ulps = max(measure_ulps(a, b) for a, b in zip(here, there, strict=True))
        if ulps:
            apart[_is_exact(op) and _is_exact(rule)].append((ulps, label))
    for is_exact, words in ((True, "arithmetic alone, other bits"), (False, "transcendental, other bits")):
        found = sorted(apart[is_exact], reverse=True)
        largest = f"at most {found[0][0]} ulp" if found else "none"
        listed = ", ".join(f"{label} {ulps}" for ulps, label in found[:_LISTED])
        row = (not found or not is_exact), f"{len(found)}, {largest}: {listed}"
        table.attempt(f"pairs of {words}", lambda row=row: row)
    rest = "" if tried == len(pairs) else f"; {len(pairs) - tried} not tried: no time left"
    words = f"{tried} pairs at {len(x)} points{rest}; {len(broken)} broken {'; '.join(broken[:_LISTED])}"
    return not broken, words


def find_points() -> list[float]:
    """Return points that hold the kinks of every op and rule at their defaults, and both zeros."""
    points = {k / 8 for k in range(-40, 41)}
    pairs = [*((op, None) for op in OPS.values()), *((OPS["abs"], rule) for rule in RULES.values())]
    for op, rule in pairs:
        points.update(find_kinks(op, rule, {}, -5, 5) or ())
    return [*sorted(points), -0.0]


def compute(op: Op, rule: Rule, x: Tensor, g: Tensor, u: Tensor, device: str) -> tuple[Tensor, Tensor]:
    """Return the value and the gradient of a pair on a device, as tensors of the CPU."""
    leaf = x.to(device).requires_grad_()
    y = apply(op, rule, leaf, draw=u.to(device), f=LOSS if rule.needs_loss else None)
    (gradient,) = torch.autograd.grad(y, leaf, g.to(device), allow_unused=True)
    return y.detach().cpu(), torch.zeros(len(x)) if gradient is None else gradient.cpu()


def measure_ulps(a: Tensor, b: Tensor) -> int:
    """Return the largest distance of two float32 tensors in units in the last place; NaN equals NaN."""
    same = (a == b) | (a.isnan() & b.isnan())
    steps = (_order(a) - _order(b)).abs().masked_fill(same, 0)
    return int(steps.max())


def _order(values: Tensor) -> Tensor:
    """Return whole numbers in the order of the floats, one apart where these are neighbours."""
    bits = values.float().contiguous().view(torch.int32).long()
    return torch.where(bits < 0, -(bits & 0x7FFFFFFF), bits)


def _is_exact(entry: Op | Rule) -> bool:
    """Return whether arithmetic, comparison and rounding alone make an entry."""
    return entry.parsed is None or all(map(_defines_bits, walk(entry.parsed.tree)))


def _defines_bits(node: Node) -> bool:
    match node:
        case Call():
            return node.function in EXACT
        case Binary(operator="**"):
            return node.right == Number(2.0)
        case _:
            return node != Name(NORMAL)
