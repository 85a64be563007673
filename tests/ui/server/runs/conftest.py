"""A client of the routes of runs."""

import pytest

from explorer.ui.server.runs import initial_state, jobs, tables, takeaway
from tests.ui.asgi import Client


@pytest.fixture
def client() -> Client:
    return Client([*takeaway.ROUTES, *jobs.ROUTES, *initial_state.ROUTES, *tables.ROUTES])
