"""As much of HTTP as a visitor needs: one connection that is kept, a cookie, an answer or its lines."""

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from typing import Any
from urllib.parse import urlsplit


class Connection:
    """Requests to one server, one after another.

    Raises ConnectionError for whatever is not answered with status 200; ``status`` is the last one.

    Args:
        address: of the server.
    """

    def __init__(self, address: str) -> None:
        self._host = urlsplit(address).netloc
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None
        self.cookie = ""
        self.status = 0

    async def get(self, path: str) -> bytes:
        """The whole answer."""
        return await self._answer(path, b"")

    async def post(self, path: str, body: bytes) -> bytes:
        """The whole answer to a body."""
        return await self._answer(path, body)

    async def ask(self, question: str, arguments: Mapping[str, Any]) -> Any:
        """Return the answer to a question."""
        return json.loads(await self.post(f"/ask/{question}", json.dumps(arguments).encode()))

    async def lines(self, path: str) -> AsyncGenerator[bytes]:
        """The chunks of an answer that goes on, as they come."""
        await self._ask(path, b"")
        await self._head()
        assert self._reader
        while size := int(await self._reader.readline(), 16):
            yield await self._reader.readexactly(size)
            await self._reader.readline()

    def close(self) -> None:
        """Leave, whatever has not been sent yet."""
        if self._writer:
            self._writer.transport.abort()
        self._writer = None

    async def _answer(self, path: str, body: bytes) -> bytes:
        kept = self._writer is not None
        try:
            await self._ask(path, body)
            length = await self._head()
        except ConnectionError:
            if body or not kept:
                raise
            self.close()  # a server ends what was idle for long: browsers ask once more, too
            await self._ask(path, body)
            length = await self._head()
        assert self._reader
        content = await self._reader.readexactly(length)
        if self.status != 200:
            raise ConnectionError(f"{self.status} {content[:80].decode(errors='replace')}")
        return content

    async def _ask(self, path: str, body: bytes) -> None:
        if self._writer is None or self._reader is None or self._reader.at_eof():
            self.close()
            host, port = self._host.rsplit(":", 1)
            self._reader, self._writer = await asyncio.open_connection(host, int(port))
        method, cookie = "POST" if body else "GET", f"Cookie: {self.cookie}\r\n" if self.cookie else ""
        kind = "Content-Type: application/json\r\n" if body else ""
        fields = f"Host: {self._host}\r\n{cookie}{kind}Content-Length: {len(body)}\r\n"
        head = f"{method} {path} HTTP/1.1\r\n{fields}\r\n"
        self._writer.write(head.encode() + body)
        await self._writer.drain()

    async def _head(self) -> int:
        assert self._reader
        first = await self._reader.readline()
        if not first:
            self.close()
            raise ConnectionError("the server closed the connection")
        self.status, length = int(first.split()[1]), 0
        while line := (await self._reader.readline()).strip():
            name, _, value = line.decode("latin-1").partition(": ")
            if name.lower() == "content-length":
                length = int(value)
            elif name.lower() == "set-cookie" and value.startswith("visitor="):
                self.cookie = value.partition(";")[0]
        return length
