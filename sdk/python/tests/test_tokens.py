from __future__ import annotations

import asyncio
import json
import unittest
from urllib.parse import parse_qs

from omlox_hub import ClientCredentials, LocationHub


class Server:
    """Issues numbered tokens at /token, and rejects the first of them elsewhere."""

    def __init__(self) -> None:
        self.issued = 0
        self.forms: list[dict[str, list[str]]] = []
        self.tokens: list[str] = []

    async def __aenter__(self) -> Server:
        self._server = await asyncio.start_server(self._handle, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()

    def client(self, **options: object) -> ClientCredentials:
        return ClientCredentials(f"{self.url}/token", client_id="me", client_secret="secret", **options)  # type: ignore[arg-type]

    async def _handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        lines = dict(line.lower().split(": ", 1) for line in head.splitlines()[1:] if line)
        body = (await reader.readexactly(int(lines.get("content-length", 0)))).decode()
        status, answer = self._answer(head.split()[1], lines.get("authorization", ""), body)
        text = json.dumps(answer)
        head = f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: {len(text)}"
        writer.write(f"{head}\r\n\r\n{text}".encode())
        await writer.drain()
        writer.close()

    def _answer(self, path: str, authorization: str, body: str) -> tuple[int, object]:
        if path == "/token":
            self.forms.append(parse_qs(body))
            self.issued += 1
            return 200, {"access_token": f"token-{self.issued}", "expires_in": 100}
        self.tokens.append(authorization.removeprefix("bearer "))
        return (401, {"message": "expired"}) if self.tokens[-1] == "token-1" else (200, ["hall"])


class TokensTest(unittest.IsolatedAsyncioTestCase):
    async def test_repeats_a_request_whose_token_is_refused_with_another_one(self) -> None:
        async with Server() as server, LocationHub(f"{server.url}/v2", token=server.client()) as hub:
            self.assertEqual(await hub.rest.get_zone_ids(), ["hall"])
            self.assertEqual(server.tokens, ["token-1", "token-2"])
            form = {"grant_type": ["client_credentials"], "client_id": ["me"], "client_secret": ["secret"]}
            self.assertEqual(server.forms, [form, form])

    async def test_replaces_a_token_before_it_expires_and_requests_once_at_a_time(self) -> None:
        now = 0.0
        async with Server() as server:
            client = server.client(now=lambda: now)
            self.assertEqual(await asyncio.gather(client.token(), client.token()), ["token-1", "token-1"])
            now = 69.0
            self.assertEqual(await client.token(), "token-1")
            now = 71.0
            self.assertEqual(await client.token(), "token-2")


if __name__ == "__main__":
    unittest.main()
