"""A location hub, as an asyncio client."""

from __future__ import annotations

import random as _random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from urllib.parse import quote

import httpx

from ._history import History
from ._publisher import Publisher
from ._subscription import QUEUE_MAX, Connecting, Status, Subscription
from ._tokens import FixedToken, TokenSource
from ._topics import Params, Topic
from .generated import Operations

EVENT_LOG = "/events?after=newest&limit=1"


class HubError(Exception):
    """An answer of the hub with a status other than 2xx. ``body`` is its JSON, with ``reason`` and ``params``."""

    def __init__(self, message: str, status: int, body: Any) -> None:
        super().__init__(message)
        self.status = status
        self.body = body


@dataclass(frozen=True)
class Features:
    """What a hub has in addition to the omlox Hub API."""

    event_log: bool
    history: bool
    version: str | None


class LocationHub:
    """A location hub: typed requests, subscriptions that stay complete, publishing, history.

    :param url: URL of the API with its version, such as ``http://127.0.0.1:8081/hub/v2``
    :param token: an access token, or a source of tokens, for hubs that require one
    :param random: returns numbers from 0 to 1
    """

    def __init__(
        self,
        url: str,
        *,
        token: str | TokenSource | None = None,
        random: Callable[[], float] = _random.random,
    ) -> None:
        self._url = url.rstrip("/")
        self._tokens: TokenSource = FixedToken(token) if token is None or isinstance(token, str) else token
        self._random = random
        self._http = httpx.AsyncClient(follow_redirects=False, timeout=30.0)
        self._publishers: list[Publisher] = []
        self._subscriptions: list[Subscription] = []
        #: The operations of the REST API.
        self.rest = Operations(self._call)

    async def __aenter__(self) -> LocationHub:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """End all subscriptions and connections."""
        for subscription in self._subscriptions:
            await subscription.close()
        for publisher in self._publishers:
            await publisher.close()
        await self._http.aclose()

    def subscribe(
        self,
        topic: Topic,
        *,
        params: Params | None = None,
        after: str | None = None,
        queue_max: int = QUEUE_MAX,
        on_status: Callable[[Status], None] | None = None,
    ) -> Subscription:
        """Subscribe to a topic.

        :param params: filters and the coordinate system
        :param after: the cursor after which to continue; without it the state is delivered first
        :param queue_max: maximum of events that wait for the application
        """
        connecting = Connecting(
            socket_url=f"ws{self._url.removeprefix('http')}/ws/socket",
            tokens=self._tokens,
            read=self._read,
            has_event_log=lambda: self._has(EVENT_LOG),
            random=self._random,
        )
        subscription = Subscription(
            topic, connecting, params=params, after=after, queue_max=queue_max, on_status=on_status
        )
        self._subscriptions.append(subscription)
        return subscription

    def publisher(self, **options: Any) -> Publisher:
        """Return a queue that sends locations in batches. The options are those of Publisher."""
        publisher = Publisher(self._url, self._send, self._read, self._random, **options)
        self._publishers.append(publisher)
        return publisher

    async def history(
        self,
        object_id: str,
        *,
        start: datetime,
        end: datetime,
        kind: Literal["trackable", "provider"] = "trackable",
        step_ms: int | None = None,
        crs: str | None = None,
    ) -> History:
        """Return the recorded positions of an object, from ``start`` until before ``end``. Both need a time zone."""
        query = {"from": start.isoformat(), "to": end.isoformat(), "step": step_ms, "crs": crs, "limit": 100_000}
        positions: list[dict[str, Any]] = []
        cursor: str | None = None
        while True:
            page = await self._call(
                "GET", f"/{kind}s/{quote(object_id, safe='')}/history", query={**query, "cursor": cursor}
            )
            positions.extend(page["points"])
            cursor = page.get("next_cursor")
            if cursor is None:
                return History(positions)

    async def features(self) -> Features:
        """Ask the hub what it has. Raises if it cannot be reached."""
        event_log = await self._has(EVENT_LOG)
        history = await self._has("/health/history", lambda body: body.get("enabled") is True)
        response = await self._send("GET", f"{self._url}/version")
        version = response.json().get("hub_version") if response.is_success else None
        return Features(event_log, history, version)

    async def _read(self, path: str) -> Any:
        response = await self._send("GET", self._url + path)
        if not response.is_success:
            raise HubError(f"GET {path}: status {response.status_code}", response.status_code, None)
        return response.json()

    async def _has(self, path: str, fits: Callable[[Any], bool] = lambda _: True) -> bool:
        """Whether a path answers 200, with a body that fits. Raises if the hub cannot answer at the moment."""
        response = await self._send("GET", self._url + path)
        if response.status_code >= 500:
            raise HubError(f"GET {path}: status {response.status_code}", response.status_code, None)
        try:
            return response.status_code == 200 and fits(response.json())
        except (ValueError, AttributeError):
            return False  # Foreign servers may answer any path with a page.

    async def _call(self, method: str, path: str, *, query: dict[str, Any] | None = None, body: Any = None) -> Any:
        params = {name: _text(value) for name, value in (query or {}).items() if value is not None}
        more = {} if body is None else {"json": body}
        response = await self._send(method, self._url + path, params=params, **more)
        if response.is_success:
            is_json = "json" in response.headers.get("Content-Type", "")
            return response.json() if is_json and response.content else None
        try:
            found = response.json()
            message = found["message"]
        except (ValueError, KeyError, TypeError):
            found, message = None, f"{method} {path}: status {response.status_code}"
        raise HubError(message, response.status_code, found)

    async def _send(self, method: str, url: str, **options: Any) -> httpx.Response:
        """Send a request with a token, and once again with another token if the hub answers 401."""
        token = await self._tokens.token()
        response = await self._http.request(method, url, headers=_authorization(token), **options)
        if response.status_code != 401 or token is None:
            return response
        self._tokens.refused(token)
        another = await self._tokens.token()
        if another == token:
            return response
        return await self._http.request(method, url, headers=_authorization(another), **options)


def _authorization(token: str | None) -> dict[str, str]:
    return {} if token is None else {"Authorization": f"Bearer {token}"}


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(map(_text, value)) if isinstance(value, list | tuple) else str(value)
