"""Subscriptions that stay complete.

A subscription is a loop of connections. Each connection continues where the last one ended:

- If the hub has an event log, it subscribes after the last cursor that was queued. No event is missed, none repeated.
- Otherwise, and if the cursor is not valid, it subscribes, reads the state by REST, and delivers the state and the events that
  came in the meantime. The picture is complete; events between the connections are missing.

Backpressure uses the same mechanism: if the application does not take items, the connection is closed, and opened again when half
of the queue is free. Memory is bounded, and logged events wait in the log of the hub.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import websockets
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from ._timing import pause_s
from ._tokens import TokenSource
from ._topics import LOGGED_TOPICS, Params, ReadJson, Topic, has_state, read_state

QUEUE_MAX = 10_000
SILENT_S = 20
MESSAGE_MAX_BYTES = 16 << 20
NOT_AUTHORIZED, NOT_AUTHENTICATED = 10004, 10006
#: Reasons why a hub of a cluster cannot subscribe at the moment.
PASSING_REASONS = ("interest_late", "not_a_member", "out_of_cluster")
#: Close codes that announce a restart or a slow reader.
CONNECT_AT_ONCE = (1001, 1013)


@dataclass(frozen=True)
class Events:
    """Events, in order. Store ``cursor`` with their effects, and pass it as ``after`` the next time."""

    events: list[dict[str, Any]]
    cursor: str | None = None


@dataclass(frozen=True)
class State:
    """The complete state, which replaces everything known before."""

    state: list[dict[str, Any]]
    cursor: str | None = None


@dataclass(frozen=True)
class Gap:
    """Events may be missing here, and the topic has no state."""


Item = Events | State | Gap


@dataclass(frozen=True)
class Status:
    """A change of a subscription's connection.

    ``resumed`` belongs to ``connected``, ``reason`` to ``disconnected``, and ``queued`` to ``lagging``: that many events wait, and
    the connection is closed until half of the queue is free.
    """

    status: Literal["connected", "disconnected", "lagging"]
    resumed: bool = False
    reason: str = ""
    queued: int = 0


class SubscriptionError(Exception):
    """A subscription that cannot continue: the topic, its params or its token were refused."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class _Ended(Exception):
    """A connection that has ended; the next one may succeed. ``is_planned``: without a pause before it."""

    def __init__(self, message: str, is_planned: bool = False) -> None:
        super().__init__(message)
        self.is_planned = is_planned


@dataclass
class Connecting:
    """What a subscription needs of its client."""

    socket_url: str
    tokens: TokenSource
    read: ReadJson
    has_event_log: Callable[[], Awaitable[bool]]
    random: Callable[[], float]


@dataclass
class _Attempt:
    token: str | None
    is_logged: bool
    is_started: bool = False
    early: list[Events] = field(default_factory=list)
    early_count: int = 0


class Subscription:
    """A subscription, as an asynchronous iterator of its items. Use it with ``async with``, or call ``close``."""

    def __init__(
        self,
        topic: Topic,
        connecting: Connecting,
        *,
        params: Params | None = None,
        after: str | None = None,
        queue_max: int = QUEUE_MAX,
        on_status: Callable[[Status], None] | None = None,
    ) -> None:
        self.topic = topic
        self._connecting = connecting
        self._params = dict(params or {})
        self._queue_max = queue_max
        self._on_status = on_status
        self._cursor = after
        self._is_incomplete = after is None
        self._queue: deque[Item] = deque()
        self._queued = 0
        self._changed = asyncio.Event()
        self._free = asyncio.Event()
        self._failure: BaseException | None = None
        self._is_closed = False
        self._refusals = 0
        self._failures = 0
        self._task = asyncio.create_task(self._run())

    async def close(self) -> None:
        """End the subscription and its connection. Items in the queue can still be taken."""
        self._is_closed = True
        self._changed.set()
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def __aenter__(self) -> Subscription:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __aiter__(self) -> AsyncIterator[Item]:
        return self

    async def __anext__(self) -> Item:
        while True:
            if self._queue:
                item = self._queue.popleft()
                self._queued -= _size_of(item)
                if self._queued <= self._queue_max / 2:
                    self._free.set()
                return item
            if self._failure is not None:
                raise self._failure
            if self._is_closed:
                raise StopAsyncIteration
            self._changed.clear()
            await self._changed.wait()

    async def _run(self) -> None:
        while True:
            while self._queued > self._queue_max / 2:
                self._free.clear()
                await self._free.wait()
            try:
                await self._connect()
            except SubscriptionError as error:
                self._fail(error)
                return
            except asyncio.CancelledError:
                raise
            except Exception as error:  # Whatever ended the connection, the next one may succeed.
                self._tell(Status("disconnected", reason=str(error)))
                is_planned = isinstance(error, _Ended) and error.is_planned and self._failures == 0
                self._failures += 1
                if not is_planned:
                    await asyncio.sleep(pause_s(self._failures, self._connecting.random()))

    def _fail(self, error: BaseException) -> None:
        self._failure = error
        self._changed.set()

    def _tell(self, status: Status) -> None:
        if self._on_status is not None:
            self._on_status(status)

    def _push(self, item: Item) -> None:
        self._queue.append(item)
        self._queued += _size_of(item)
        self._changed.set()

    async def _connect(self) -> None:
        connecting = self._connecting
        token = await connecting.tokens.token()
        is_logged = self.topic in LOGGED_TOPICS and await connecting.has_event_log()
        if not is_logged and self._cursor is not None:
            self._lose_track()
        attempt = _Attempt(token, is_logged)
        try:
            async with websockets.connect(
                connecting.socket_url,
                max_size=MESSAGE_MAX_BYTES,
                ping_interval=SILENT_S,
                ping_timeout=SILENT_S,
                close_timeout=1,
            ) as socket:
                params = dict(self._params)
                if token is not None:
                    params["token"] = token
                if is_logged:
                    params["after"] = self._cursor or "newest"
                await socket.send(json.dumps({"event": "subscribe", "topic": self.topic, "params": params}))
                await self._receive(socket, attempt)
        except ConnectionClosed as error:
            code = error.rcvd.code if error.rcvd is not None else None
            raise _Ended(f"The connection was closed: {error}", code in CONNECT_AT_ONCE) from error
        except InvalidHandshake as error:
            raise _Ended(f"The connection was refused: {error}") from error
        finally:
            if not is_logged:
                self._lose_track()

    async def _receive(self, socket: websockets.ClientConnection, attempt: _Attempt) -> None:
        completing: asyncio.Task[None] | None = None
        receiving: asyncio.Task[Any] | None = None
        try:
            while True:
                receiving = receiving or asyncio.create_task(socket.recv())
                tasks = {receiving} if completing is None else {receiving, completing}
                done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                if completing is not None and completing in done:
                    completing.result()
                    completing = None
                if receiving in done:
                    frame = json.loads(receiving.result())
                    receiving = None
                    if self._took(frame, attempt):
                        completing = asyncio.create_task(self._complete(attempt))
                self._check_room(attempt)
        finally:
            for task in (completing, receiving):
                if task is not None:
                    task.cancel()
                    await asyncio.gather(task, return_exceptions=True)

    def _took(self, frame: dict[str, Any], attempt: _Attempt) -> bool:
        """Apply a frame. Return whether the state must be read now."""
        event = frame.get("event")
        if event == "error":
            self._refused(frame, attempt)
        elif event == "message":
            item = Events(frame.get("payload") or [], frame.get("cursor"))
            if self._is_incomplete:
                attempt.early.append(item)
                attempt.early_count += _size_of(item)
            else:
                self._accept(item)
        elif event == "subscribed":
            attempt.is_started = True
            self._refusals = self._failures = 0
            self._tell(Status("connected", resumed=not self._is_incomplete))
            return self._is_incomplete
        return False

    def _accept(self, item: Events) -> None:
        if item.cursor is not None:
            self._cursor = item.cursor
        if item.events or item.cursor is not None:
            self._push(item)

    def _check_room(self, attempt: _Attempt) -> None:
        queued = self._queued + attempt.early_count
        if queued <= self._queue_max:
            return
        if not attempt.is_logged or self._is_incomplete:
            self._lose_track()
        self._tell(Status("lagging", queued=queued))
        raise _Ended("The application takes items too slowly", True)

    async def _complete(self, attempt: _Attempt) -> None:
        """Deliver the state and the events that arrived while it was read."""
        if has_state(self.topic):
            state = await read_state(self.topic, self._params, self._connecting.read)
            self._push(State(state, attempt.early[0].cursor if attempt.early else None))
        else:
            self._push(Gap())
        self._is_incomplete = False
        early, attempt.early, attempt.early_count = attempt.early, [], 0
        for item in early:
            self._accept(item)

    def _lose_track(self) -> None:
        """The next connection cannot continue after the last event."""
        self._cursor = None
        self._is_incomplete = True

    def _refused(self, frame: dict[str, Any], attempt: _Attempt) -> None:
        code, reason = frame.get("code", 0), frame.get("reason") or ""
        text = frame.get("description") or f"error {code}"
        if reason.startswith("cursor_"):
            self._lose_track()
            raise _Ended(text, True)
        if code in (NOT_AUTHORIZED, NOT_AUTHENTICATED):
            # The hub may have new keys, or the token has expired on its way: one more attempt with another token.
            if attempt.token is None or self._refusals > 0:
                raise SubscriptionError(text, code)
            self._refusals += 1
            self._connecting.tokens.refused(attempt.token)
            raise _Ended(text, True)
        if attempt.is_started or reason in PASSING_REASONS:
            raise _Ended(text)
        raise SubscriptionError(text, code)


def _size_of(item: Item) -> int:
    return 1 + len(item.events) if isinstance(item, Events) else 1
