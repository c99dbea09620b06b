"""Sends locations in batches."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import httpx

from ._timing import pause_s
from ._topics import ReadJson

OWNERS_AGE_S = 5.0
REQUEST_S = 15.0
#: Statuses after which the same request can succeed.
PASSING = (408, 429, 500, 502, 503, 504)

Send = Callable[..., Awaitable[httpx.Response]]


class PublishError(Exception):
    """A location that the hub did not accept. ``status`` is that of the answer; None without one."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


@dataclass
class _Waiting:
    location: Mapping[str, Any]
    future: asyncio.Future[None]


@dataclass
class _Lane:
    """The queue for a hub."""

    url: str
    waiting: list[_Waiting] = field(default_factory=list)
    task: asyncio.Task[None] | None = None


@dataclass
class _Provider:
    lane: _Lane
    count: int = 0


@dataclass(frozen=True)
class _Answer:
    is_accepted: bool
    status: int | None
    message: str
    retry_after_s: float = 0.0


class Publisher:
    """Sends locations in batches.

    The locations of a provider are sent in order, one request at a time. A location whose request was not answered is sent again,
    so the hub may receive it twice.

    :param batch_max: maximum of locations in one request
    :param delay_s: how long a location waits for others
    :param queue_max: maximum of locations that wait or are being sent
    :param retry_s: how long a location is retried
    """

    def __init__(
        self,
        url: str,
        send: Send,
        read: ReadJson,
        random: Callable[[], float],
        *,
        batch_max: int = 500,
        delay_s: float = 0.01,
        queue_max: int = 20_000,
        retry_s: float = 60.0,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._url, self._send, self._read, self._random, self._now = url, send, read, random, now
        self._batch_max, self._delay_s, self._queue_max, self._retry_s = batch_max, delay_s, queue_max, retry_s
        self._lanes: dict[str, _Lane] = {}
        # The lane of each provider with waiting locations: a new owner gets the next ones only when these are sent.
        self._providers: dict[str, _Provider] = {}
        self._owners: dict[str, Any] | None = None
        self._owners_s = float("-inf")
        self._reading: asyncio.Task[None] | None = None
        self.pending = 0

    async def publish(self, location: Mapping[str, Any]) -> None:
        """Return when the hub has accepted the location.

        Raises PublishError if the hub refuses it, if it could not be sent in time, or at once if the queue is full.
        """
        if self.pending >= self._queue_max:
            raise PublishError(f"Cannot publish: {self.pending} locations are waiting already")
        name = str(location.get("provider_id") or "")
        provider = self._providers.setdefault(name, _Provider(self._lane_of(name)))
        provider.count += 1
        self.pending += 1
        future = asyncio.get_running_loop().create_future()
        lane = provider.lane
        lane.waiting.append(_Waiting(location, future))
        if lane.task is None:
            lane.task = asyncio.create_task(self._drain(lane))
        try:
            await asyncio.shield(future)
        finally:
            self.pending -= 1
            provider.count -= 1
            if provider.count == 0:
                self._providers.pop(name, None)

    async def close(self) -> None:
        """Stop sending. Locations that wait are cancelled."""
        tasks = [lane.task for lane in self._lanes.values() if lane.task is not None]
        if self._reading is not None:
            tasks.append(self._reading)
        for lane in self._lanes.values():
            for waiting in lane.waiting:
                waiting.future.cancel()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _lane_of(self, provider: str) -> _Lane:
        if self._now() - self._owners_s >= OWNERS_AGE_S:
            # Until the owners are known, locations are sent to the configured URL.
            self._owners_s = self._now()
            self._reading = asyncio.create_task(self._read_owners())
        url = owner_url(self._owners, provider) if self._owners is not None else None
        return self._lanes.setdefault(url or self._url, _Lane(url or self._url))

    async def _read_owners(self) -> None:
        try:
            found = await self._read("/cluster/owners")
        except Exception:  # The hub has no such list, or cannot answer: it is only a hint.
            self._owners = None
            return
        is_used = found.get("hash") == "fnv1a-32" and bool(found.get("urls"))
        path = urlsplit(self._url).path
        urls = {name: _api_url(url, path) for name, url in found["urls"].items()} if is_used else {}
        self._owners = {**found, "urls": urls} if is_used else None

    async def _drain(self, lane: _Lane) -> None:
        try:
            await asyncio.sleep(self._delay_s)
            while lane.waiting:
                batch, lane.waiting = lane.waiting[: self._batch_max], lane.waiting[self._batch_max :]
                try:
                    await self._send_batch(batch, lane.url)
                except BaseException:
                    for waiting in batch:
                        waiting.future.cancel()
                    raise
        finally:
            lane.task = None

    async def _send_batch(self, batch: list[_Waiting], owner: str) -> None:
        """Send a batch until it is accepted, refused or too old."""
        to, failures, first_s = owner, 0, self._now()
        while True:
            answer = await self._request(batch, to)
            if answer.is_accepted:
                for waiting in batch:
                    if not waiting.future.done():
                        waiting.future.set_result(None)
                return
            if answer.status is not None and answer.status not in PASSING:
                await self._refused(batch, to, answer)
                return
            failures += 1
            # Another hub may have taken over; any hub accepts every location.
            to, self._owners, self._owners_s = self._url, None, float("-inf")
            if self._now() - first_s > self._retry_s:
                _reject(batch, answer)
                return
            await asyncio.sleep(max(answer.retry_after_s, pause_s(failures, self._random())))

    async def _refused(self, batch: list[_Waiting], to: str, answer: _Answer) -> None:
        """Divide a refused batch to find the locations at fault."""
        if len(batch) <= 1 or answer.status != 400:
            _reject(batch, answer)
            return
        half = (len(batch) + 1) // 2
        await self._send_batch(batch[:half], to)
        await self._send_batch(batch[half:], to)

    async def _request(self, batch: list[_Waiting], to: str) -> _Answer:
        try:
            locations = [waiting.location for waiting in batch]
            response = await self._send("PUT", f"{to}/providers/locations", json=locations, timeout=REQUEST_S)
        except httpx.HTTPError as error:
            return _Answer(False, None, f"{type(error).__name__}: {error}")
        seconds = response.headers.get("Retry-After", "")
        retry_after_s = float(seconds) if seconds.isdigit() else 0.0
        return _Answer(response.is_success, response.status_code, _message_of(response), retry_after_s)


def _reject(batch: list[_Waiting], answer: _Answer) -> None:
    for waiting in batch:
        if not waiting.future.done():
            waiting.future.set_exception(PublishError(answer.message, answer.status))


def _message_of(response: httpx.Response) -> str:
    try:
        message = response.json()["message"]
    except (ValueError, KeyError, TypeError):
        return f"The hub answered {response.status_code}"
    return str(message)


def _api_url(hub: str, path: str) -> str:
    """Return the URL of the API at a hub, whose URL may lack the path."""
    parts = urlsplit(hub)
    return f"{parts.scheme}://{parts.netloc}{path if parts.path in ('', '/') else parts.path}".rstrip("/")


def owner_url(owners: Mapping[str, Any], provider_id: str) -> str | None:
    """Return the URL of the hub that owns a provider; None if it is unknown."""
    names = owners["owners"]
    owner = names[fnv1a32(provider_id) % len(names)]
    url: str | None = owners["urls"].get(owner)
    return url


def fnv1a32(text: str) -> int:
    """The hash FNV-1a with 32 bits, of the text in UTF-8 (draft-eastlake-fnv)."""
    value = 0x811C9DC5
    for byte in text.encode():
        value = ((value ^ byte) * 0x01000193) & 0xFFFFFFFF
    return value
