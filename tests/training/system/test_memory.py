"""The memory that training may take: who needs more is told so, and the others go on."""

import mmap
import re
import resource
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from explorer.training import Engine, EngineFull, Limits, Settings, open_engine
from explorer.training.engine import host
from explorer.training.scheduling.status import format_error
from explorer.training.system import memory
from explorer.training.system.memory import MEMORY
from tests.training import light
from tests.training.driving import SMALL, Clock, wait_until

RULES = ("default", "straight_through", "clipped", "zero")
LARGE = Settings(task="digits", op="sign", rules=RULES, seeds=10, hidden=256, batch=1024, pace="full")
LASTING = Settings(task="digits", op="sign", rules=("default",), steps=5000, pace="full")
LEFT = 200_000_000  # bytes: a small run needs some millions, and a large one takes more


def test_a_run_that_exceeds_memory_fails_and_others_continue(monkeypatch):
    """The memory left is measured: of torch with CUDA the process counts 570 MB more from the start."""
    monkeypatch.setenv(MEMORY, "8000")
    engine = open_engine("process")
    try:
        other = engine.start(LASTING, "you")
        wait_until(lambda: engine.snapshot(other).step > 0)
        (counted,) = re.findall(r"VmData:\s+(\d+) kB", Path(f"/proc/{engine.pid}/status").read_text("ascii"))
        most = int(counted) * 1024 + LEFT  # the limit counts more than what is written to
        assert resource.prlimit(engine.pid, resource.RLIMIT_DATA, (most, most)) == (8_000_000_000,) * 2
        large = engine.start(LARGE, "me")
        wait_until(lambda: engine.snapshot(large).state == "failed")
        assert engine.snapshot(large).sentence == f"This run failed: {memory.USED_UP}."
        before = engine.list()[0].step
        wait_until(lambda: engine.snapshot(other).step > before)
        assert engine.list()[0].state == "running"
    finally:
        engine.close()


def test_no_job_starts_while_memory_is_short():
    engine = Engine(Limits(workers=0), Clock(), is_short=lambda: True)
    with pytest.raises(EngineFull) as full:
        engine.start(SMALL)
    assert str(full.value) == "The server's memory for training is full: try again in about a minute."
    with pytest.raises(EngineFull, match="memory for training is full"):
        engine.start_study(lambda _plan, _rows: None, "plan")
    assert engine.list() == ()


@pytest.mark.parametrize(("most", "taken", "short"), [(100, 84, False), (100, 86, True), (-1, 86, False)])
def test_memory_is_short_near_its_limit(monkeypatch, most, taken, short):
    assert resource.RLIM_INFINITY == -1
    monkeypatch.setattr(resource, "getrlimit", lambda _what: (most, most))
    monkeypatch.setattr(memory, "_read_used_bytes", lambda: taken)
    assert memory.is_short() is short


def test_the_memory_bound_counts_the_memory_in_use():
    """Written to or not: at the bound an allocation fails, however much of it was never touched."""
    before = memory._read_used_bytes()
    with mmap.mmap(-1, 50_000_000, flags=mmap.MAP_PRIVATE):
        assert 45_000_000 < memory._read_used_bytes() - before < 55_000_000


def test_a_waiting_run_does_not_start_while_memory_is_short():
    """It was accepted before; it begins once others have given memory back."""
    short = [False]
    clock = Clock()
    engine = Engine(Limits(workers=0, running=1, turn_s=1000), clock, is_short=lambda: short[0])
    holding = engine.start(LASTING, "me")
    engine.turn()
    waiting = engine.start(replace(LASTING, seed=1), "you")
    short[0] = True
    clock.now += 1  # memory is looked at now and then
    engine.command(holding, "pause")  # its nets are there, though it needs no turn
    for _ in range(3):
        engine.turn()
    assert engine.snapshot(waiting).state == "waiting"
    with pytest.raises(EngineFull, match="memory for training is full"):
        engine.start(LASTING, "a third")
    engine.command(holding, "stop")
    engine.turn()
    assert engine.snapshot(waiting).state == "running"


@pytest.mark.parametrize("text", ["-1", "2e3", "1 GB", "²"])
def test_an_invalid_limit_is_reported_by_the_server(monkeypatch, text):
    monkeypatch.setenv(MEMORY, text)
    with pytest.raises(ValueError, match="EXPLORER_TRAINER_MEMORY must be a whole number of megabytes"):
        open_engine("thread")


@pytest.mark.parametrize(("text", "set_to"), [("1150", [1_150_000_000]), ("1149", [])])
def test_the_least_memory_limit_depends_on_the_loaded_torch(monkeypatch, text, set_to):
    """Where 850 MB are counted before the first run, as of torch that was built for CUDA."""
    bounds = []
    monkeypatch.setenv(MEMORY, text)
    monkeypatch.setattr(memory, "_read_used_bytes", lambda: 850_000_000)
    monkeypatch.setattr(resource, "setrlimit", lambda _what, most: bounds.append(most[0]))
    if set_to:
        memory.limit_memory()
    else:
        with pytest.raises(ValueError, match=r"must be 1150 or more, not 1149: .* this torch takes 850 MB$"):
            memory.limit_memory()
    assert bounds == set_to


def test_a_bound_that_is_too_small_is_refused_when_the_server_starts(monkeypatch):
    monkeypatch.setattr(host, "_PROGRAM", (light.__file__,))
    monkeypatch.setenv(MEMORY, "100")
    with pytest.raises(ValueError, match=r"EXPLORER_TRAINER_MEMORY must be \d+ or more, not 100: before"):
        open_engine("process")
    monkeypatch.setenv(MEMORY, "1000")
    engine = open_engine("process")
    try:
        assert engine.list() == []
    finally:
        engine.close()


def test_checkpoints_take_a_quarter_of_the_memory_limit(monkeypatch):
    monkeypatch.setattr(resource, "getrlimit", lambda _what: (800_000_000, 800_000_000))
    assert Limits().checkpoint_bytes == 200_000_000


@pytest.mark.parametrize("error", [
    MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory: 4"),
    torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.\n…"),
])  # fmt: skip
def test_running_out_of_memory_is_reported_in_a_plain_sentence(error):
    assert format_error(error) == memory.USED_UP
    assert format_error(ValueError("no.\nmore")) == "no"
