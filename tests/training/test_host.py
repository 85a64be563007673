import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from explorer.training import Engine, EngineProcess, Run, Settings, host, open_engine, shared_engine

SMALL = Settings(steps=60, hidden=4, batch=4, device="cpu")
LONG = Settings(steps=5000, device="cpu")
START_UP_S = 60

# A main script without a guard, as a page under Streamlit is one, that ends without a farewell.
PAGE = """
import os, sys
print("page runs", flush=True)
from explorer.training import EngineProcess, Settings
engine = EngineProcess()
print(engine.snapshot(engine.start(Settings())).state)
print("streamlit" in sys.modules, flush=True)
os._exit(3)
"""


@pytest.fixture(scope="module")
def engine():
    engine = open_engine("process")
    yield engine
    engine.close()


def watch(engine, identity, *states, most_s=30.0):
    end = time.monotonic() + most_s
    while (picture := engine.snapshot(identity)).state not in states and time.monotonic() < end:
        time.sleep(0.01)
    assert picture.state in states
    return picture


def test_a_run_from_start_to_finish(engine):
    expected = Run(SMALL)
    expected.advance(SMALL.steps)
    done = watch(engine, engine.start(SMALL), "finished")
    assert done.snapshot.losses["default"].tolist() == expected.snapshot().losses["default"].tolist()


def test_commands_reach_the_engine(engine):
    identity = engine.start(LONG, "ada")
    watch(engine, identity, "running")
    assert engine.command(identity, "pause").state == "paused"
    assert engine.command(identity, "reset").snapshot.step == 0
    assert engine.command(identity, "step").step == 1
    assert identity in [picture.id for picture in engine.list()]
    engine.start(SMALL, "ada", paused=True)
    assert engine.snapshot(identity).state == "stopped"


def test_refusals_come_back_as_they_were_raised(engine):
    with pytest.raises(ValueError, match="unknown command 'explode'"):
        engine.command("nobody", "explode")


def test_ctrl_c_is_not_for_the_engine(engine):
    identity = engine.start(SMALL, paused=True)
    os.kill(engine.pid, signal.SIGINT)
    time.sleep(0.05)
    assert engine.snapshot(identity).state == "ready"


def test_a_dead_process_is_replaced_and_its_runs_are_said_to_be_lost(engine):
    identity, dead = engine.start(LONG), engine.pid
    os.kill(dead, signal.SIGKILL)
    lost = engine.snapshot(identity)
    assert lost.state == "gone"
    assert lost.sentence == (
        "The training process stopped unexpectedly and this run is lost: press Start to run it again."
    )
    assert engine.pid != dead
    watch(engine, engine.start(SMALL), "finished")


def test_the_page_runs_once_and_leaves_no_process_behind(tmp_path):
    """``run`` returns only when the engine, which holds the same standard error, has ended too."""
    page = tmp_path / "page.py"
    page.write_text(PAGE)
    result = subprocess.run(
        [sys.executable, str(page)],
        env={**os.environ, "PYTHONPATH": str(Path(host.__file__).parents[2])},
        capture_output=True,
        text=True,
        timeout=START_UP_S,
        check=False,
    )
    assert result.returncode == 3, result.stderr
    assert result.stdout.splitlines() == ["page runs", "running", "False"]


def test_a_process_that_cannot_start_says_so(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/bin/true")
    engine = EngineProcess()
    with pytest.raises(RuntimeError, match="the training process could not be started"):
        engine.start(SMALL)
    engine.close()


def test_a_connection_that_fails_is_said_and_made_at_the_next_call(monkeypatch):
    connect, failures = host._Client.connect, [OSError("refused")]

    def connected(client):
        if failures:
            raise failures.pop()
        connect(client)

    monkeypatch.setattr(host._Client, "connect", connected)
    engine = EngineProcess()
    first = engine.pid
    with pytest.raises(RuntimeError, match="cannot be reached: try again in a moment"):
        engine.list()
    assert engine.list() == ()
    assert engine.pid != first  # the one that could not be reached was ended
    with pytest.raises(ProcessLookupError):
        os.kill(first, 0)
    engine.close()


def test_after_close_nothing_answers():
    engine = EngineProcess()
    engine.close()
    with pytest.raises(RuntimeError, match="was closed"):
        engine.list()


def test_the_place_is_decided_by_the_environment(monkeypatch):
    monkeypatch.setenv(host.PLACE, "thread")
    engine = shared_engine()
    try:
        assert isinstance(engine, Engine)
        assert shared_engine() is engine
    finally:
        engine.close()
        host._shared.cache_clear()


def test_an_unknown_place_is_refused():
    with pytest.raises(ValueError, match="EXPLORER_ENGINE must be one of process, thread, not 'moon'"):
        open_engine("moon")
