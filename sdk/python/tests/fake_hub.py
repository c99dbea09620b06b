"""A server that speaks the omlox document as far as a test says."""

from __future__ import annotations

import http
import json
from collections.abc import Awaitable, Callable
from typing import Any

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

#: Answers a GET by a status and a body.
Answer = Callable[[str], Awaitable[tuple[int, Any]]]
Framed = Callable[[dict[str, Any], ServerConnection], Awaitable[None]]


class FakeHub:
    def __init__(self, answer: Answer, framed: Framed | None = None) -> None:
        self._answer, self._framed = answer, framed
        self.frames: list[dict[str, Any]] = []
        self._server: Server | None = None

    async def __aenter__(self) -> FakeHub:
        self._server = await serve(self._handle, "127.0.0.1", 0, process_request=self._requested)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        await self._server.wait_closed()

    @property
    def url(self) -> str:
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v2"

    async def _requested(self, _connection: ServerConnection, request: Request) -> Response | None:
        if request.path.endswith("/ws/socket"):
            return None
        status, body = await self._answer(request.path)
        text = json.dumps(body).encode()
        headers = Headers({"Content-Type": "application/json", "Content-Length": str(len(text)), "Connection": "close"})
        return Response(status, http.HTTPStatus(status).phrase, headers, text)

    async def _handle(self, connection: ServerConnection) -> None:
        async for text in connection:
            frame = {"params": {}, **json.loads(text)}
            self.frames.append(frame)
            if self._framed is not None:
                await self._framed(frame, connection)


async def send(connection: ServerConnection, **frame: Any) -> None:
    await connection.send(json.dumps(frame))
