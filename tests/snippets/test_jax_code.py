"""The JAX code, executed by JAX: every rule, and every op with JAX's own derivative."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from explorer.catalogue import find_op, find_rule, kink_points, values
from explorer.gradient import bind
from explorer.snippets import jax_snippet
from explorer.snippets.pair import paired
from tests.catalogue.cases import settings_of, usual_op
from tests.catalogue.fixed import OPS, RULES
from tests.snippets.cases import OWN

RUNNER = Path(__file__).with_name("jax_runner.py")  # not imported: JAX takes each worker a second
CUSTOM = [(usual_op(rule).key, key) for key, rule in RULES.items() if rule.formula]
CUSTOM += [pair for pair in OWN if pair[1] != "default"]
PLAIN = [(op, "default") for op in OPS] + [pair for pair in OWN if pair[1] == "default"]
PAIRS = [(*pair, "float32") for pair in CUSTOM + PLAIN] + [(*pair, "float64") for pair in CUSTOM]
TOLERANCE = {"float32": 1e-5, "float64": 1e-12}
_POINTS = [k / 4 for k in range(-10, 11)] + [k / 7.3 for k in range(-20, 21)]
_COUNT = 40  # for all pairs the same, so that JAX compiles each of its operations once


def _job(op, rule, dtype):
    """The last of the settings, and plain x; for the default rule only those away from kinks."""
    parameters = values(find_op(op), find_rule(rule), list(settings_of(find_rule(rule), find_op(op)))[-1])
    declared = ("0",) if find_op(op).kinks is None else find_op(op).kinks  # abs has another gradient at 0
    kinks = kink_points(declared, parameters, -4, 4, 99) if rule == "default" else []
    points = [x for x in _POINTS if all(abs(x - kink) > 1e-3 for kink in kinks)]
    code = jax_snippet(op, rule)
    return code, paired(op, rule, {}).name, parameters, points[:_COUNT], -1.5, dtype, _goes_together(op, code)


def _goes_together(op, code):
    """Whether it is compiled with others: not what ends in infinities."""
    return op in OPS and "float(jax." not in code


@pytest.fixture(scope="module")
def curves(tmp_path_factory):
    """By pair and dtype, what JAX computed."""
    folder = tmp_path_factory.mktemp("jax")
    by_key = {key: _job(*key) for key in PAIRS}
    keys = sorted(PAIRS, key=lambda key: by_key[key][-2:])
    jobs = [by_key[key] for key in keys]
    (folder / "jobs.json").write_text(json.dumps(jobs))
    command = [sys.executable, "-I", str(RUNNER), "jobs.json", "curves.json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    result = json.loads((folder / "curves.json").read_text())
    return dict(zip(keys, zip(jobs, result, strict=True), strict=True))


@pytest.mark.parametrize(("op", "rule", "dtype"), PAIRS)
def test_jax_agrees_with_torch(curves, op, rule, dtype):
    (_, _, parameters, points, g, *_), (y, gradient) = curves[op, rule, dtype]
    x = torch.tensor(points, dtype=getattr(torch, dtype)).requires_grad_()
    expected = bind(op, rule, parameters)(x)
    (expected_gradient,) = torch.autograd.grad(expected, x, torch.full_like(x, g))
    for ours, theirs in ((y, expected.detach()), (gradient, expected_gradient)):
        size = float(theirs[theirs.isfinite()].abs().max()) if theirs.isfinite().any() else 0.0
        np.testing.assert_allclose(
            [float.fromhex(value) for value in ours],
            theirs.double().numpy(),
            rtol=TOLERANCE[dtype],
            atol=TOLERANCE[dtype] * max(1.0, size),
        )


def test_every_rule_and_every_op_is_there(curves):
    assert {len(points) for (_, _, _, points, *_), _ in curves.values()} == {_COUNT}
    assert {rule for _, rule, _ in curves} >= set(RULES)
    assert {op for op, rule, _ in curves if rule == "default"} >= set(OPS)


def test_the_default_rule_needs_no_custom_derivative():
    assert "custom_vjp" not in jax_snippet("tanh", "default")
    assert "custom_vjp" in jax_snippet("tanh", "straight_through")
