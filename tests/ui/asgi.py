"""Questions to a server's app, without a network."""

from starlette.types import ASGIApp, Message, Receive, Scope


async def messages_of(
    app: ASGIApp, scope: Scope, *parts: bytes, receive: Receive | None = None
) -> list[Message]:
    """Return what an app sends to whoever asks with a body in so many parts."""
    sent: list[Message] = []
    left = [*parts]

    async def given() -> Message:
        part = left.pop(0) if left else b""
        return {"type": "http.request", "body": part, "more_body": bool(left)}

    async def send(message: Message) -> None:
        sent.append(message)

    await app(scope, receive or given, send)
    return sent
