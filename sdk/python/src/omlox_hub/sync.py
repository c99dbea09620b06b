"""A synchronous face of the asyncio client, for scripts and notebooks."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterator, Mapping
from typing import Any, TypeVar

from ._client import Features
from ._client import LocationHub as AsyncLocationHub
from ._history import History
from ._publisher import Publisher
from ._subscription import Item
from ._topics import Topic

Result = TypeVar("Result")


class LocationHub:
    """A location hub, with the parameters of the asyncio client. Its event loop runs in a thread of its own."""

    def __init__(self, url: str, **options: Any) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="omlox-hub", daemon=True)
        self._thread.start()
        self._hub = self._run(self._open(url, options))
        self._publisher: Publisher | None = None

    def __enter__(self) -> LocationHub:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End all connections, and the thread."""
        self._run(self._hub.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def call(self, operation: str, *args: Any, **options: Any) -> Any:
        """Call an operation of the REST API by its name: ``hub.call("get_all_zone_objects")``."""
        return self._run(getattr(self._hub.rest, operation)(*args, **options))

    def subscribe(self, topic: Topic, **options: Any) -> Iterator[Item]:
        """Iterate over the items of a subscription. Closing the iterator ends the subscription."""

        async def start() -> Any:
            return self._hub.subscribe(topic, **options)

        subscription = self._run(start())
        try:
            while True:
                try:
                    yield self._run(subscription.__anext__())
                except StopAsyncIteration:
                    return
        finally:
            self._run(subscription.close())

    def publish(self, *locations: Mapping[str, Any]) -> None:
        """Return when the hub has accepted the locations."""

        async def publish() -> None:
            self._publisher = self._publisher or self._hub.publisher()
            await asyncio.gather(*(self._publisher.publish(location) for location in locations))

        self._run(publish())

    def history(self, object_id: str, **options: Any) -> History:
        """Return the recorded positions of an object."""
        return self._run(self._hub.history(object_id, **options))

    def features(self) -> Features:
        """Ask the hub what it has."""
        return self._run(self._hub.features())

    async def _open(self, url: str, options: Mapping[str, Any]) -> AsyncLocationHub:
        return AsyncLocationHub(url, **options)

    def _run(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()
