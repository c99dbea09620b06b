"""Access tokens."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Protocol

import httpx

RENEW_BEFORE_S = 30.0
USUAL_LIFE_S = 60.0


class TokenSource(Protocol):
    """A source of access tokens."""

    async def token(self) -> str | None:
        """Return a token that is valid for some more seconds; None if the hub requires none."""

    def refused(self, token: str) -> None:
        """Report that the hub refused a token, so that the next call returns another one."""


class FixedToken:
    """Always the same token."""

    def __init__(self, token: str | None) -> None:
        self._token = token

    async def token(self) -> str | None:
        return self._token

    def refused(self, token: str) -> None:
        pass


class ClientCredentials:
    """A client of an OpenID Connect server, by the grant ``client_credentials`` (RFC 6749, section 4.4).

    A token is replaced 30 s before it expires, or after half of its life if that is shorter. Concurrent calls share one request
    to the token endpoint.
    """

    def __init__(
        self,
        token_url: str,
        *,
        client_id: str,
        client_secret: str,
        scope: str | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._url = token_url
        self._form = {"grant_type": "client_credentials", "client_id": client_id, "client_secret": client_secret}
        if scope is not None:
            self._form["scope"] = scope
        self._now = now
        self._token: str | None = None
        self._renew_s = 0.0
        self._lock = asyncio.Lock()

    async def token(self) -> str | None:
        async with self._lock:
            if self._token is None or self._now() >= self._renew_s:
                await self._request()
            return self._token

    def refused(self, token: str) -> None:
        if self._token == token:
            self._token = None

    async def _request(self) -> None:
        async with httpx.AsyncClient() as client:
            response = await client.post(self._url, data=self._form)
        if response.status_code != 200:
            raise RuntimeError(f"Cannot get a token from {self._url}: status {response.status_code}")
        found = response.json()
        if not isinstance(found.get("access_token"), str):
            raise RuntimeError(f"Cannot get a token from {self._url}: found no access_token")
        life_s = float(found.get("expires_in", USUAL_LIFE_S))
        self._token = found["access_token"]
        self._renew_s = self._now() + max(life_s - RENEW_BEFORE_S, life_s / 2)
