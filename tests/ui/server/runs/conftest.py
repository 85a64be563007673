"""A client of the routes of runs."""

import pytest

from tests.ui.server.runs.test_jobs import Client


@pytest.fixture
def client() -> Client:
    return Client()
