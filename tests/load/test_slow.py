"""600 clients of one address that read nothing cost a bounded part of a server's memory, and go in the end.

Thorough. Faster: ``ui/server/admission/test_sending`` for slices, shares and the bounds of a connection.
"""

from urllib.parse import urlsplit

import pytest

from explorer.instrument.assets import PLOTLY
from tests.browser.server import server_at
from tests.load.slow import COUNT, read_slowly

pytestmark = pytest.mark.thorough

READER_MB = 0.4  # of the server and of the system for each reader, whatever the size of the answer


def test_readers_that_read_nothing_cost_little_memory(address: str):
    pid, path = server_at(urlsplit(address).port or 80), f"/assets/{PLOTLY}"
    (before, most, after), answers, _ = read_slowly(address, path, pid, held_s=10.0)
    assert answers["200"] == COUNT
    assert most - before < READER_MB * COUNT
    again = read_slowly(address, path, pid, held_s=10.0)[0]
    assert again[2] - after < READER_MB * COUNT / 4, "what they took is used again"
