import pytest

from explorer.study.workers import CLUSTER


@pytest.fixture(autouse=True)
def no_cluster(monkeypatch):
    """Whatever the machine's environment says."""
    monkeypatch.delenv(CLUSTER, raising=False)
