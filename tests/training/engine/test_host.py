import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from inspect import signature
from multiprocessing import Pipe
from pathlib import Path

import pytest

from explorer.training import FULL, Engine, EngineProcess, Limits, Settings, open_engine, shared_engine
from explorer.training.engine import host, process
from explorer.training.system.clock import WoundClock
from tests.training import light
from tests.training.driving import losses, train, wait_until, watch

SMALL = Settings(steps=60, hidden=4, batch=4, pace=FULL, device="cpu")
LONG = Settings(steps=5000, device="cpu")
START_UP_S = 60

LIGHT = (light.__file__,)

# A main script without a guard, as a page under Streamlit is one, that ends without a farewell.
PAGE = f"""
import os, sys
print("page runs", flush=True)
from explorer.training.engine import EngineProcess, host
host._PROGRAM = {LIGHT}
engine = EngineProcess()
print(engine.snapshot(engine.start("a run")))
print("streamlit" in sys.modules, flush=True)
os._exit(3)
"""


@pytest.fixture(scope="module")
def engine():
    engine = open_engine("process")
    yield engine
    engine.close()


@pytest.fixture
def quick(monkeypatch):
    """An engine without torch: what is tested is the process around it."""
    monkeypatch.setattr(host, "_PROGRAM", LIGHT)
    engine = EngineProcess()
    yield engine
    engine.close()


def test_a_run_trains_from_start_to_finish(engine):
    expected, identity = train(SMALL), engine.start(SMALL)
    assert losses(watch(engine, identity, "finished")) == losses(expected)
    _, weights = engine.export(identity, "weights")
    for name, each in expected.weights().items():
        assert weights[name].tolist() == each.tolist()


def test_the_process_has_the_methods_and_signatures_of_the_engine():
    own = {"turn", "close"}  # the process turns by itself, and ends itself
    for name, method in vars(Engine).items():
        if not name.startswith("_") and name not in own:
            assert signature(getattr(EngineProcess, name)) == signature(method), name


def test_commands_reach_the_engine(engine):
    identity = engine.start(LONG, "ada")
    watch(engine, identity, "running")
    assert engine.change(identity, pace=200.0).state == "running"
    assert engine.command(identity, "pause").state == "paused"
    assert engine.command(identity, "reset").snapshot.step == 0
    assert engine.command(identity, "step").step == 1
    assert identity in [status.id for status in engine.list()]
    engine.start(SMALL, "ada", paused=True)
    assert engine.snapshot(identity).state == "stopped"


def test_an_error_in_the_process_is_raised_in_the_client(engine):
    with pytest.raises(ValueError, match="unknown command 'explode'"):
        engine.command("nobody", "explode")


def test_the_engine_process_ignores_ctrl_c(engine):
    identity = engine.start(SMALL, paused=True)
    os.kill(engine.pid, signal.SIGINT)
    time.sleep(0.05)
    assert engine.snapshot(identity).state == "ready"


def test_a_dead_process_is_replaced_and_its_runs_are_reported_as_lost(engine):
    identity, dead = engine.start(LONG), engine.pid
    os.kill(dead, signal.SIGKILL)
    lost = engine.snapshot(identity)
    assert lost.state == "gone"
    assert lost.sentence == (
        "The training process stopped unexpectedly, so this run is lost: press Start to run it again."
    )
    assert engine.pid != dead
    watch(engine, engine.start(SMALL), "finished")


def execute(code, folder):
    """Return how a server ended: only when its engine, which holds the same standard error, has ended too."""
    root, scratch, page = str(Path(host.__file__).parents[3]), folder / "scratch", folder / "page.py"
    page.write_text(code)
    scratch.mkdir()
    return subprocess.run(
        [sys.executable, str(page)], env=os.environ | {"PYTHONPATH": root, "TMPDIR": str(scratch)},
        capture_output=True, text=True, timeout=START_UP_S, check=False,
    )  # fmt: skip


def test_the_page_runs_once_and_leaves_no_process_behind(tmp_path):
    result = execute(PAGE, tmp_path)
    assert result.returncode == 3, result.stderr
    assert result.stdout.splitlines() == ["page runs", "running", "False"]


def test_a_process_that_cannot_start_raises_an_error(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/bin/true")
    engine = EngineProcess()
    with pytest.raises(RuntimeError, match="the training process could not be started"):
        engine.start(SMALL)
    engine.close()


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(host, "_ANSWER_S", 0.5)
    monkeypatch.setattr(host, "_GIVE_UP_S", 1.5)


def ready(engine):
    """The number of its process, which answers."""
    engine.list()
    return engine.pid


def test_a_process_that_hangs_for_a_moment_keeps_its_runs(quick, impatient):
    identity, pid = quick.start("a run", paused=True), ready(quick)
    os.kill(pid, signal.SIGSTOP)
    try:
        for _ in range(5):  # the first waits, the others are told at once
            with pytest.raises(RuntimeError, match="does not answer: try again in a moment"):
                quick.snapshot(identity)
    finally:
        os.kill(pid, signal.SIGCONT)
    wait_until(lambda: quick.snapshot(identity) == "ready")
    assert quick.pid == pid


def test_a_process_that_hangs_is_replaced(quick, impatient):
    identity, pid = quick.start("a run"), ready(quick)
    os.kill(pid, signal.SIGSTOP)
    with pytest.raises(RuntimeError, match="does not answer"):
        quick.command(identity, "pause")
    time.sleep(host._GIVE_UP_S)
    assert quick.snapshot(identity) == "gone"
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert quick.snapshot(quick.start("another")) == "running"


def test_every_message_resets_the_process_timeout():
    """Beats are heard and not answered: while none comes, no lease runs out."""
    ours, theirs = Pipe()
    heard = []
    thread = threading.Thread(
        target=process.serve, args=(theirs, Engine(Limits(workers=0)), lambda: heard.append(1))
    )
    thread.start()
    assert ours.recv() == (host.HELLO, None, None)
    for _ in range(3):
        ours.send(host.BEAT)
    ours.send((7, "list", (), {}))
    assert ours.recv() == (7, (), None)
    assert len(heard) == 4
    ours.close()
    thread.join()


def test_a_suspended_server_does_not_replace_its_training_process(quick, impatient, monkeypatch):
    """The answer has come meanwhile; that it was not heard is nobody's silence."""
    identity, pid = quick.start("a run", paused=True), ready(quick)
    asleep, now = [0.0], time.monotonic
    monkeypatch.setattr(quick._process, "_clock", clock := WoundClock(lambda: now() + asleep[0]))
    quick._process._heard = clock()
    os.kill(pid, signal.SIGSTOP)
    with ThreadPoolExecutor(1) as threads:
        answer = threads.submit(quick.snapshot, identity)
        while not quick._process._open:
            time.sleep(0.001)
        asleep[0] += 20.0
        os.kill(pid, signal.SIGCONT)
        answer.exception()
    assert not quick._process.hangs
    assert quick.snapshot(identity) == "ready"
    assert quick.pid == pid


def test_a_run_starts_in_a_new_process_when_the_pipe_is_full(impatient, quick):
    os.kill(ready(quick), signal.SIGSTOP)
    assert quick.start("a run", "a name of a megabyte" * 50_000, paused=True)  # in a new process


def test_concurrent_clients_replace_a_dead_process_once(quick, monkeypatch, caplog):
    started, begin = [], host._Process
    monkeypatch.setattr(host, "_Process", lambda: started.append(1) or begin())
    os.kill(ready(quick), signal.SIGKILL)
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(quick.snapshot, ["elsewhere"] * 8)) == ["gone"] * 8
    assert len(started) == 1
    assert [record.getMessage() for record in caplog.records] == ["training process replaced exit=-9"]


# How servers end: the interpreter's end, with a question open that nobody will answer.
HANGING = f"""
import os, signal, sys, threading
from explorer.training.engine import host, shared_engine
host._PROGRAM = {LIGHT}
engine = shared_engine()
engine.list()
os.kill(engine.pid, signal.SIGSTOP)
threading.Thread(target=engine.snapshot, args=("a run",), daemon=True).start()
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
os.kill(os.getpid(), signal.SIGTERM)
"""


def test_the_server_exits_cleanly_while_its_process_hangs(tmp_path):
    result = execute(HANGING, tmp_path)
    assert result.returncode == 0, result.stderr
    assert list((tmp_path / "scratch").iterdir()) == []


def test_a_closed_engine_refuses_calls(quick):
    quick.close()
    with pytest.raises(RuntimeError, match="was closed"):
        quick.list()


def test_the_environment_decides_where_the_engine_runs(monkeypatch):
    monkeypatch.setenv(host.ENGINE, "thread")
    engine = shared_engine()
    try:
        assert isinstance(engine, Engine)
        assert shared_engine() is engine
    finally:
        engine.close()
        host._open_shared.cache_clear()


def test_an_unknown_kind_of_engine_is_refused():
    with pytest.raises(ValueError, match="EXPLORER_ENGINE to one of process, thread, not 'moon'"):
        open_engine("moon")
