"""Functions that raise, hang, keep state or need a shape: ``check`` says so, and leaves nothing behind."""

import re
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch.utils.checkpoint import checkpoint

import explorer
from explorer.checks import check
from tests.checks.cases.case import find_results, make_function
from tests.checks.doubles import LSQ
from tests.checks.published import PUBLISHED


def round_bfloat16(x):
    if x.dtype != torch.bfloat16:
        raise TypeError("give it bfloat16")
    return x.round()


def test_a_forward_that_always_raises_fails():
    (failure,) = check(make_function(lambda x: {}["nothing here"], None)).failures
    sentence = r"Its forward raises KeyError: 'nothing here' \(test_trying.py:\d+: .*\)\."
    assert failure.name == "finite"
    assert re.fullmatch(sentence, failure.sentence)


@pytest.mark.parametrize(
    ("function", "arguments", "words"),
    [
        (lambda x: x.to("cuda:77"), (), "It could not be tried"), (lambda x: None, (), "returns None"),
        (lambda x: "text", (), "str"), (lambda x: x, (1, 2), "positional"),
        (LSQ, (), "as in check(LSQ, s)"),
        (lambda x, low, high: x.clamp(low, high), (), "as in check(f, low, high)"), (42, (), "int"),
        (torch.nn.ReLU, (), "ReLU"), (round_bfloat16, (), "only in bfloat16"),
        (lambda x: checkpoint(torch.sin, x, use_reentrant=True), (), "pass use_reentrant=False"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)  # fmt: skip
def test_a_function_that_cannot_be_tried_is_unknown_with_its_reason(function, arguments, words):
    results = check(function, *arguments)
    assert {result.verdict for result in results} == {"unknown"}
    assert words in results[0].sentence
    assert f"? unknown  {len(results)} checks  {results[0].sentence}" in repr(results).splitlines()


@pytest.mark.parametrize("where", ["forward", "backward"])
def test_a_function_that_does_not_return_is_abandoned(where, monkeypatch):
    released = threading.Event()
    hang = lambda *given: (released.wait(), given[-1] * 2)[1]  # noqa: E731
    hangs = make_function(hang if where == "forward" else torch.clone, hang)
    monkeypatch.setattr(explorer.checks, "TIME_LIMIT_S", 0.2)
    limited = tuple(replace(check, limit_s=0.2) for check in explorer.checks.CHECKS)
    monkeypatch.setattr(explorer.checks, "CHECKS", limited)
    started = time.monotonic()
    try:
        results = check(hangs)
    finally:
        released.set()
    assert time.monotonic() - started < 5
    assert {result.verdict for result in results} == {"unknown"}
    assert "keeps running in a daemon thread" in results[0].sentence


class Membrane(torch.nn.Module):
    """A spiking neuron that keeps its potential from call to call."""

    potential = 0.0

    def forward(self, x):
        self.potential = 0.9 * self.potential + x
        return PUBLISHED["RoundToday"][0].apply(self.potential)


def test_a_module_that_keeps_state_begins_anew_for_each_check():
    neuron, kept = Membrane(), Membrane()
    found = find_results(neuron)
    assert {each.name for each in found.values() if each.verdict in ("fails", "unknown")} <= {"devices"}
    assert found["deterministic"].sentence.startswith("It keeps state between calls")
    assert neuron.potential == 0.0
    results = check(lambda x: kept(x))
    assert {result.verdict for result in results} == {"unknown"}
    assert "if it keeps state between calls, give check a function that begins anew" in results[0].sentence


def test_a_check_leaves_torch_with_as_many_threads_as_before():
    threads = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        seen = set()
        check(lambda x: (seen.add(torch.get_num_threads()), x.sin())[1])
        assert (seen, torch.get_num_threads()) == ({1}, 3)
    finally:
        torch.set_num_threads(threads)


def test_a_module_that_needs_a_shape_is_given_an_example():
    def take_three_channels(x):
        if x.shape[-3] != 3:
            raise RuntimeError("expected 3 channels")
        return torch.where(x > 0, x, x.new_tensor([[[0.1]], [[0.2]], [[0.3]]]) * x)

    results = check(take_three_channels)
    assert {result.verdict for result in results} == {"unknown"}
    expected = "It could not be tried: it raises IndexError: tuple index out of range; if x must have a shape"
    assert results[0].sentence.startswith(expected)
    assert "give check an example such as input=torch.randn(" in results[0].sentence
    found = check(take_three_channels, input=torch.randn(8, 3, 2, 2))
    assert next(each for each in found if each.name == "true derivative").verdict == "holds"
    assert not found.failures


def test_an_example_must_be_a_tensor_for_a_function():
    for call in (lambda: check(torch.tanh, input=3), lambda: check("round", "zero", input=torch.ones(2))):
        with pytest.raises(ValueError, match="input must be a tensor"):
            call()


LATE_IMPORT = """
import sys, torch, explorer, explorer.checks as checks
seen, run = [], checks.run_within
checks.CHECKS = checks.CHECKS[:2]
checks.run_within = lambda limit_s, work: (seen.append("torch._dynamo" in sys.modules), run(limit_s, work))[1]
explorer.check(torch.round)
assert seen and all(seen)
"""


def test_torch_dynamo_is_imported_before_the_first_check():
    subprocess.run([sys.executable, "-Wignore", "-c", LATE_IMPORT], cwd=Path(__file__).parents[2], check=True)
