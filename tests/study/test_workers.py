"""Workers that are lost, late or otherwise furnished: executors that do what a test says, and real ones."""

import multiprocessing
import os
import signal
import sys
import threading
from concurrent.futures import CancelledError, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from types import SimpleNamespace

import pandas as pd
import pytest

import explorer
from explorer.study import OtherVersionsError, Plan, Row, Stepper, StudyStoppedError, conduct, workers
from explorer.study.limits import ATTEMPTS, MAX_CHUNK, MIN_CHUNK

ARGUMENTS = {"task": "circles", "op": "sign", "rules": ["default", "clipped"], "lrs": [0.003, 0.01, 0.1],
             "seeds": 10, "steps": 2, "hidden": 4, "progress": False}  # fmt: skip


@pytest.fixture(scope="module")
def alone():
    return explorer.study(**ARGUMENTS)


class Scripted(Executor):
    """Does what is submitted at once, unless ``losses`` says what happens to it instead.

    As Dask does of itself it takes equal calls for one: what was lost is lost until the call is another.
    """

    def __init__(self, losses=()):
        self.losses, self.chunks, self.calls = list(losses), [], []

    def submit(self, function, *arguments):
        known = [future for call, future in self.calls if call == arguments]
        if known:
            return known[0]
        future = Future()
        self.calls.append((arguments, future))
        self.chunks.append(arguments[1])
        loss = self.losses.pop(0) if self.losses else None
        if loss is CancelledError:
            future.cancel()
            future.set_running_or_notify_cancel()
        elif loss:
            future.set_exception(loss)
        else:
            future.set_result(function(*arguments))
        return future


@pytest.mark.parametrize("losses", [(), [OSError("gone")], [CancelledError, None, CancelledError]])
def test_a_chunk_that_is_lost_is_given_out_again(alone, losses, tmp_path):
    executor = Scripted(losses)
    result = explorer.study(**ARGUMENTS, executor=executor, file=tmp_path / "study.csv")
    pd.testing.assert_frame_equal(result.frame, alone.frame)
    assert len(pd.read_csv(tmp_path / "study.csv")) == len(alone.frame)
    lost = sum(loss is not None for loss in losses)
    assert len(executor.chunks) == len({tuple(chunk) for chunk in executor.chunks}) + lost
    assert all(len(chunk) <= MAX_CHUNK for chunk in executor.chunks)
    assert len(executor.chunks[0]) >= MIN_CHUNK


def test_chunks_that_are_lost_again_and_again_end_the_study_and_the_next_start_goes_on(alone, tmp_path):
    path = tmp_path / "study.csv"
    executor = Scripted([None, *[OSError("no route to host")] * 99])
    with pytest.raises(StudyStoppedError, match=r"OSError: no route to host.*the same call continues"):
        explorer.study(**ARGUMENTS, executor=executor, file=path)
    first = executor.chunks[0]
    assert len(executor.chunks) <= 1 + ATTEMPTS * 2
    assert len(pd.read_csv(path)) == len(first)
    executor = Scripted()
    result = explorer.study(**ARGUMENTS, executor=executor, file=path)
    assert not {trial for chunk in executor.chunks for trial in chunk} & set(first)
    pd.testing.assert_frame_equal(result.frame, alone.frame)


def test_a_run_that_comes_twice_counts_once(alone, monkeypatch, tmp_path):
    computed = workers.compute_rows
    monkeypatch.setattr(
        conduct, "compute_rows", lambda *given: (rows for new in computed(*given) for rows in (new, new[:3]))
    )
    result = explorer.study(**ARGUMENTS, executor=Scripted(), file=tmp_path / "study.csv")
    pd.testing.assert_frame_equal(result.frame, alone.frame)
    assert len(pd.read_csv(tmp_path / "study.csv")) == len(alone.frame)


def test_a_worker_with_other_versions_refuses(monkeypatch):
    expected = workers.read_versions()
    assert set(expected) == {"torch", "numpy", "scikit-learn", "explorer"}
    elsewhere = workers.read_versions() | {"torch": "1.13.0"}
    monkeypatch.setattr(workers, "read_versions", lambda: elsewhere)
    with pytest.raises(OtherVersionsError, match=r"torch 1\.13\.0 instead of \d"):
        workers.run_chunk(None, [], expected, 1)


def test_a_worker_with_other_versions_ends_the_study_at_once(alone, tmp_path):
    """Not a run of it is taken; what others had done is kept."""
    executor = Scripted([None, OtherVersionsError("a worker has other versions: torch 1.13.0")])
    with pytest.raises(OtherVersionsError, match=r"torch 1\.13\.0"):
        explorer.study(**ARGUMENTS, executor=executor, file=tmp_path / "study.csv")
    kept = pd.read_csv(tmp_path / "study.csv").drop(columns="study")
    assert len(kept) == len(executor.chunks[0])
    again = explorer.study(**ARGUMENTS, executor=Scripted(), file=tmp_path / "study.csv")
    pd.testing.assert_frame_equal(again.frame, alone.frame)


def test_threads_give_the_same_and_never_hold_more_trials_than_fit(alone, monkeypatch):
    quota, most, lock, held = workers._Quota(MAX_CHUNK), [0], threading.Lock(), [0]
    taken = quota.take

    class Watched:
        @contextmanager
        def take(self, trials):
            with taken(trials):
                with lock:
                    held[0] += trials
                    most[0] = max(most[0], held[0])
                yield
                with lock:
                    held[0] -= trials

    monkeypatch.setattr(workers, "_QUOTA", Watched())
    with ThreadPoolExecutor(9) as pool:
        result = explorer.study(**ARGUMENTS | {"seeds": 100}, executor=pool)
    assert 0 < most[0] <= MAX_CHUNK
    few = result.frame[result.frame["stage"].eq("choose") & (result.frame["seed"] < 10)]
    ours = alone.frame[alone.frame["stage"].eq("choose")]
    pd.testing.assert_frame_equal(few.reset_index(drop=True), ours.reset_index(drop=True))


def test_a_pool_whose_process_is_killed_ends_in_a_sentence_and_the_next_start_goes_on(alone, tmp_path):
    path = tmp_path / "study.csv"
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        pool.submit(os.getpid).result()
        (process,) = pool._processes.values()
        pool.submit(os.kill, process.pid, signal.SIGKILL)
        with pytest.raises(StudyStoppedError, match="BrokenProcessPool"):
            explorer.study(**ARGUMENTS, executor=pool, file=path)
    result = explorer.study(**ARGUMENTS, file=path)
    pd.testing.assert_frame_equal(result.frame, alone.frame)


@pytest.mark.parametrize("said", ["executor", "environment"])
def test_a_missing_cluster_is_reported_and_nothing_starts(monkeypatch, said):
    address = "tcp://127.0.0.1:9"
    monkeypatch.setattr(workers, "CLUSTER_S", 0.2)
    monkeypatch.setattr(conduct, "compute_rows", None)
    monkeypatch.setenv(workers.CLUSTER, address if said == "environment" else "")
    with pytest.raises(ConnectionError, match=f"no cluster answers at {address}, so nothing was started"):
        explorer.study(**ARGUMENTS, executor=address if said == "executor" else None)


@pytest.mark.parametrize(("name", "bad"), [("executor", ThreadPoolExecutor), ("executor", ""), ("file", 3)])
def test_anything_but_an_executor_or_a_path_is_refused_with_an_example(name, bad):
    with pytest.raises(ValueError, match=f"^{name} must be .* such as .*, not {bad!r}$"):
        explorer.study(**ARGUMENTS, **{name: bad})


def test_a_cluster_without_the_package_that_speaks_with_one(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r'pip install "\.\[cluster\]"'):
        explorer.study(**ARGUMENTS, executor="tcp://127.0.0.1:9")


def test_a_pool_goes_before_the_environments_cluster(monkeypatch, alone):
    monkeypatch.setenv(workers.CLUSTER, "tcp://127.0.0.1:9")
    pd.testing.assert_frame_equal(explorer.study(**ARGUMENTS, executor=Scripted()).frame, alone.frame)


@pytest.mark.parametrize("workers_", [1, 2, 3, 16])
def test_no_chunk_is_small_unless_a_worker_would_have_none(workers_):
    plan = Plan.create("digits", "sign", ["zero"], lrs=[0.01], seeds=1_000, controls=False)
    for count in (1, 2, 30, 49, 50, 60, 99, 100, 149, 340, 799, 850, 1_000):
        trials = plan.list_trials("choose")[:count]
        cut = workers.make_chunks(plan, trials, workers_)
        sizes = [len(chunk) for chunk in cut]
        assert [trial for chunk in cut for trial in chunk] == trials
        assert max(sizes) <= MAX_CHUNK
        assert max(sizes) - min(sizes) <= 1
        assert len(cut) >= min(workers_, count)
        assert min(sizes) >= min(MIN_CHUNK, count) or len(cut) == min(workers_, count)


def test_the_chunks_of_the_page_are_not_small_either():
    plan = Plan.create("digits", "sign", ["zero"], lrs=[0.01], seeds=340, controls=False)
    for left in (30, 50, 99, 340):
        trials = plan.list_trials("choose")
        rows = [Row(trial, 1, 0.0, 0.0, 0.0, False, 0.0) for trial in trials[left:]]
        chunks = Stepper(plan, rows, min_chunk=MIN_CHUNK)._chunks
        assert [trial for chunk in chunks for trial in chunk] == trials[:left]
        assert min(MIN_CHUNK, left) <= min(map(len, chunks)) <= max(map(len, chunks)) < 2 * MIN_CHUNK


def test_a_pool_tells_how_many_workers_it_has():
    def client(nthreads):
        return SimpleNamespace(_client=SimpleNamespace(nthreads=nthreads))

    def away():
        raise OSError("no route to host")

    with ThreadPoolExecutor(3) as pool:
        assert workers._count_workers(pool) == 3
    assert workers._count_workers(client(lambda: {"one": 1, "another": 4})) == 5
    assert {workers._count_workers(each) for each in (client(dict), client(away), Scripted())} == {2}


def test_an_absent_cluster_is_reported_in_seconds_without_a_word_for_each_chunk(monkeypatch, caplog):
    """A client of Dask is "connecting" while its scheduler is away; what a closed one has stays pending."""

    class Unheard(Future):
        def cancel(self):
            raise AssertionError("a lost cluster does not hear it")

    class Away(Executor):
        _client = SimpleNamespace(status="connecting", nthreads=dict)

        def submit(self, *_):
            return Unheard()

    def give_up(*_, **__):
        """Ten looks, one a second, and the client closes."""
        looks.append(len(caplog.messages))
        Away._client.status = "connecting" if len(looks) < 10 else "closed"
        return SimpleNamespace(done=set())

    looks = []
    monkeypatch.setattr(workers, "wait", give_up)
    with pytest.raises(StudyStoppedError, match="the cluster was unreachable for 120 s"):
        explorer.study(**ARGUMENTS, executor=Away())
    (said,) = caplog.messages
    assert said.startswith("The cluster does not respond: waiting up to 120 s for it. With file=, finished")
    assert looks.index(1) * workers._POLL_S <= 15
