"""Bodies of requests that are hostile, too long, of another site, or do not come."""

import asyncio

import pytest

from explorer.ui.server.admission import limits
from explorer.ui.server.admission.request_body import LongBodyLimiter
from explorer.ui.server.admission.visitors import VisitorQuota
from explorer.ui.server.runs import responses
from tests.ui.server.runs.test_jobs import QUERY, told


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"\xff", b"[" * 5000, b'{"query": 1e999}'])
@pytest.mark.parametrize("path", ["/runs", "/runs/a/pause"])
def test_hostile_bodies(client, engine, path, body):
    answer = client.post(path, content=body)
    assert answer.status in (200, 400)
    assert "Traceback" not in answer.text
    assert engine.list() == ()


@pytest.mark.parametrize("kind", ["", "text/plain", "text/plain; application/json", "multipart/form-data"])
def test_bodies_that_a_foreign_form_could_send_are_refused(client, engine, kind):
    body = {"query": QUERY, "owner": "me"}
    assert "send it as application/json" in told(client.post("/runs", body, kind=kind), 415)
    assert engine.list() == ()
    assert client.post("/runs", body, kind="Application/JSON; charset=utf-8").status == 200


def test_a_body_is_read_no_further_than_its_limit(client, engine):
    answer = client.post("/runs", {"query": "x" * responses.MAX_START_BYTES})
    assert "too long" in told(answer, 413)


def test_a_body_that_does_not_come_is_not_waited_for(client, engine, monkeypatch):
    monkeypatch.setattr(limits, "BODY_TIMEOUT_S", 0.05)
    answer = client.post("/runs", receive=asyncio.Event().wait)
    assert "longer than 0.05 s to arrive" in told(answer, 408)
    assert engine.list() == ()


def test_many_long_bodies_wait_unread(client, engine, monkeypatch):
    """Others do not, nor do short texts; who waits for too long is told so."""
    limiter = LongBodyLimiter(VisitorQuota(visitor=1, anonymous=1, address=2))
    monkeypatch.setattr(responses, "_long_bodies", limiter)
    long, short, read = str(limits.LONG_BODY_BYTES + 1), str(limits.LONG_BODY_BYTES), []

    async def posted(length, name="", come=None):
        async def receive():
            read.append(name)
            await (come or asyncio.Event()).wait()
            return {"type": "http.request", "body": b"{", "more_body": False}

        headers = {"content-length": length}
        return await client.ask("POST", "/runs", name=name, headers=headers, receive=receive)

    async def asked():
        come, there = asyncio.Event(), asyncio.Event()
        there.set()
        first = asyncio.create_task(posted(long, come=come))
        await asyncio.sleep(0.05)
        second = asyncio.create_task(posted(long, come=there))
        others = [await posted(short, come=there), await posted(long, name="one", come=there)]
        assert len(read) == 3  # the second not yet
        with monkeypatch.context() as hurried:
            hurried.setattr(limits, "BODY_TIMEOUT_S", 0.01)
            third = await posted(long, come=there)
        come.set()
        return third, [*others, await first, await second, await posted(long, come=there)]

    third, others = asyncio.run(asked())
    assert "let your browser keep cookies" in told(third, 429)
    for other in others:
        assert "send JSON" in told(other, 400)
