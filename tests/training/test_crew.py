import threading
import time
from concurrent.futures import wait

import pytest

from explorer.training.crew import Crew


def living(name):
    return [thread for thread in threading.enumerate() if thread.name == name]


def test_no_more_threads_than_allowed_and_none_when_all_is_done():
    crew, go, begun = Crew(2, "crew-of-two", rest_s=0.05), threading.Event(), []

    def work(number):
        begun.append(number)
        assert go.wait(10)
        return number

    tasks = [crew.submit(work, number) for number in range(6)]
    end = time.monotonic() + 10
    while len(begun) < 2 and time.monotonic() < end:
        time.sleep(0.001)
    assert (sorted(begun), len(living("crew-of-two"))) == ([0, 1], 2)
    go.set()
    assert [task.result(10) for task in tasks] == list(range(6))
    while living("crew-of-two") and time.monotonic() < end:
        time.sleep(0.01)
    assert living("crew-of-two") == []
    assert crew.submit(work, 7).result(10) == 7  # and begins again


def test_threads_that_rest_are_used_again():
    crew = Crew(8, "crew-of-eight", rest_s=5.0)
    for number in range(20):
        assert crew.submit(abs, -number).result(10) == number
    assert len(living("crew-of-eight")) <= 2  # the one before may still be on its way to rest


def test_what_fails_is_raised_and_ends_no_thread():
    crew = Crew(1, "crew-of-one", rest_s=5.0)
    with pytest.raises(ZeroDivisionError):
        crew.submit(divmod, 1, 0).result(10)
    assert crew.submit(divmod, 7, 2).result(10) == (3, 1)
    assert len(living("crew-of-one")) == 1


def test_what_was_taken_back_is_not_done():
    crew, go, done = Crew(1, "crew-of-one-more", rest_s=0.05), threading.Event(), []
    first = crew.submit(go.wait, 10)
    second, third = crew.submit(done.append, 2), crew.submit(done.append, 3)
    assert second.cancel()
    go.set()
    wait([first, third], 10)
    assert done == [3]
