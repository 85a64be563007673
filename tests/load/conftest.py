"""A server of its own, as strangers reach it, whose threads and files are counted."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.server import ROOT, serve


@pytest.fixture(scope="package")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EXPLORER_PROFILE", "hosted")  # which a slow machine can flood too
        with serve(ROOT / "app.py", Path(tmp_path_factory.mktemp("load")) / "log.txt") as address:
            yield address
