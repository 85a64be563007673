import pytest

from explorer.training import Engine, Limits
from tests.training.driving import Clock


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def engine(clock):
    return Engine(Limits(workers=0), clock)
