"""The JAX code, executed by JAX: every rule, and every op with JAX's own derivative."""

from itertools import product

import numpy as np
import pytest
import torch

from explorer.catalogue import find_op, find_rule, list_kink_points, resolve_values
from explorer.gradient import bind
from explorer.snippets import jax_snippet
from explorer.snippets.pair import make_pair
from tests.catalogue.cases import settings_of, usual_op
from tests.catalogue.fixed import OPS, RULES
from tests.selection import take_part
from tests.snippets.cases import OWN

CUSTOM = [(usual_op(rule).key, key) for key, rule in RULES.items() if rule.formula]
CUSTOM += [pair for pair in OWN if pair[1] != "default"]
PLAIN = [(op, "default") for op in OPS] + [pair for pair in OWN if pair[1] == "default"]
# What a function is in JAX, tests/formula/test_printing.py tries of every one.
PAIRS = [(*pair, "float32") for pair in take_part(CUSTOM + PLAIN)]
PAIRS += [(*pair, "float64") for pair in take_part(CUSTOM)]
TOLERANCE = {"float32": 1e-5, "float64": 1e-12}
_POINTS = [k / 4 for k in range(-10, 11)] + [k / 7.3 for k in range(-20, 21)]
G = -1.5
_COUNT = 40  # for all pairs the same, so that JAX compiles each of its operations once


def _job(op, rule, dtype):
    """The last of the settings, and plain x; for the default rule only those away from kinks."""
    parameters = resolve_values(
        find_op(op), find_rule(rule), list(settings_of(find_rule(rule), find_op(op)))[-1]
    )
    declared = ("0",) if find_op(op).kinks is None else find_op(op).kinks  # abs has another gradient at 0
    kinks = list_kink_points(declared, parameters, -4, 4, 99) if rule == "default" else []
    points = [x for x in _POINTS if all(abs(x - kink) > 1e-3 for kink in kinks)]
    return {
        "code": jax_snippet(op, rule), "name": make_pair(op, rule, {}).name, "leaves": {"x": points[:_COUNT]},
        "numbers": parameters, "g": G,
    }  # fmt: skip


@pytest.fixture(scope="module")
def curves(run_jax):
    """By pair and dtype, the job and what JAX computed."""
    result = {}
    jobs = {key: _job(*key) for key in PAIRS}
    alone = {
        key for key, job in jobs.items() if key[0] not in OPS or "float(jax." in job["code"]
    }  # infinities
    for dtype, together in product(TOLERANCE, (True, False)):
        keys = [key for key in PAIRS if key[2] == dtype and (key not in alone) == together]
        computed = run_jax(dtype, together, [jobs[key] for key in keys])
        result |= {key: (jobs[key], found) for key, found in zip(keys, computed, strict=True)}
    return result


@pytest.mark.parametrize(("op", "rule", "dtype"), PAIRS)
def test_jax_agrees_with_torch(curves, op, rule, dtype):
    job, found = curves[op, rule, dtype]
    x = torch.tensor(job["leaves"]["x"], dtype=getattr(torch, dtype)).requires_grad_()
    y = bind(op, rule, job["numbers"])(x)
    expected = [y.detach(), *torch.autograd.grad(y, x, torch.full_like(x, G))]
    for ours, theirs in zip(found, expected, strict=True):
        size = float(theirs[theirs.isfinite()].abs().max()) if theirs.isfinite().any() else 0.0
        limits = {"rtol": TOLERANCE[dtype], "atol": TOLERANCE[dtype] * max(1.0, size)}
        np.testing.assert_allclose(ours, theirs.double().numpy(), **limits)


def test_the_default_rule_needs_no_custom_derivative():
    assert "custom_vjp" not in jax_snippet("tanh", "default")
    assert "custom_vjp" in jax_snippet("tanh", "straight_through")


def test_the_code_states_where_jax_differs_from_torch():
    assert "XLA gives 0 even next to NaN" in jax_snippet("formula: (x > 0) * log(x)", "default")
    assert "jnp.sign gives NaN for NaN" in jax_snippet("sign", "straight_through")
    assert "XLA" not in jax_snippet("round", "straight_through")
