from __future__ import annotations

import asyncio
import unittest
from collections.abc import Awaitable, Callable
from typing import Any

import httpx

from omlox_hub import Publisher, PublishError
from omlox_hub._publisher import fnv1a32
from omlox_hub._timing import pause_s

URL = "http://hub/v2"
Answer = Callable[[str, list[str]], httpx.Response]


async def no_owners(_path: str) -> Any:
    raise RuntimeError("There is no such path")


def at(name: str, x: float = 0) -> dict[str, Any]:
    return {"provider_id": name, "x": x}


class Hub:
    """Records the batches that it is sent, as texts like ``tag0``, with their URLs."""

    def __init__(self, answer: Answer = lambda _url, _batch: httpx.Response(204)) -> None:
        self._answer = answer
        self.batches: list[tuple[str, list[str]]] = []
        self.open = self.most_open = 0

    async def send(self, _method: str, url: str, *, json: list[dict[str, Any]], timeout: float) -> httpx.Response:
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        await asyncio.sleep(0)
        self.open -= 1
        batch = [f"{each['provider_id']}{each['x']}" for each in json]
        self.batches.append((url.removesuffix("/v2/providers/locations"), batch))
        return self._answer(url, batch)

    def publisher(self, read: Callable[[str], Awaitable[Any]] = no_owners, **options: Any) -> Publisher:
        return Publisher(URL, self.send, read, lambda: 0.0, **options)

    @property
    def sent(self) -> list[list[str]]:
        return [batch for _, batch in self.batches]


class PublisherTest(unittest.IsolatedAsyncioTestCase):
    async def test_sends_batches_in_order_one_at_a_time(self) -> None:
        hub = Hub()
        publisher = hub.publisher(batch_max=3)
        await asyncio.gather(*(publisher.publish(at(name, x)) for x, name in enumerate("ababa")))
        self.assertEqual(hub.sent, [["a0", "b1", "a2"], ["b3", "a4"]])
        self.assertEqual((hub.most_open, publisher.pending), (1, 0))

    async def test_sends_again_until_the_hub_accepts(self) -> None:
        def answer(_url: str, _batch: list[str]) -> httpx.Response:
            if len(hub.batches) == 1:
                raise httpx.ConnectError("refused")
            return httpx.Response(503 if len(hub.batches) == 2 else 204)

        hub = Hub(answer)
        await hub.publisher().publish(at("a"))
        self.assertEqual(len(hub.batches), 3)

    async def test_rejects_with_the_last_answer_after_the_time_limit(self) -> None:
        hub = Hub(lambda _url, _batch: httpx.Response(503, json={"message": "The hub is full"}))
        times = iter(range(1000))
        publisher = hub.publisher(retry_s=2.0, now=lambda: float(next(times)))
        with self.assertRaises(PublishError) as caught:
            await publisher.publish(at("a"))
        self.assertEqual((caught.exception.status, str(caught.exception)), (503, "The hub is full"))

    async def test_rejects_a_wrong_location_alone(self) -> None:
        def answer(_url: str, batch: list[str]) -> httpx.Response:
            if "bad0" in batch:
                return httpx.Response(400, json={"message": "provider_id: no"})
            return httpx.Response(204)

        publisher = Hub(answer).publisher()
        names = ["a", "b", "bad", "c", "d"]
        results = await asyncio.gather(*(publisher.publish(at(name)) for name in names), return_exceptions=True)
        self.assertEqual([str(result) for result in results], ["None", "None", "provider_id: no", "None", "None"])

    async def test_raises_at_once_if_the_queue_is_full(self) -> None:
        publisher = Hub().publisher(queue_max=1)
        first = asyncio.create_task(publisher.publish(at("a")))
        await asyncio.sleep(0)
        with self.assertRaisesRegex(PublishError, "Cannot publish: 1 locations are waiting already"):
            await publisher.publish(at("b"))
        await first

    async def test_sends_to_the_owner_and_to_any_hub_if_that_one_fails(self) -> None:
        is_down = False

        def answer(url: str, _batch: list[str]) -> httpx.Response:
            if is_down and url.startswith("http://two"):
                raise httpx.ConnectError("refused")
            return httpx.Response(204)

        async def read(_path: str) -> Any:
            return {"hash": "fnv1a-32", "owners": ["one", "two"], "urls": {"two": "http://two"}}

        hub = Hub(answer)
        publisher = hub.publisher(read)
        names = [f"tag-{i}" for i in range(12)]
        await publisher.publish(at("first"))  # The owners are requested with the first location.
        await asyncio.gather(*(publisher.publish(at(name)) for name in names))
        to_two = [name for url, batch in hub.batches if url == "http://two" for name in batch]
        self.assertEqual(to_two, [f"{name}0" for name in names if fnv1a32(name) % 2 == 1])
        is_down = True
        await asyncio.gather(*(publisher.publish(at(name, 1)) for name in names))
        to_one = [name for url, batch in hub.batches if url == "http://hub" for name in batch]
        self.assertLessEqual({f"{name}1" for name in names}, set(to_one))


class TimingTest(unittest.TestCase):
    def test_the_pause_doubles_from_a_tenth_of_a_second_to_five(self) -> None:
        self.assertEqual([pause_s(failures, 0.5) for failures in (0, 1, 2, 3, 7, 5000)], [0, 0.1, 0.2, 0.4, 5, 5])

    def test_the_hash_is_that_of_the_definition(self) -> None:
        for text, value in (("", 0x811C9DC5), ("a", 0xE40C292C), ("foobar", 0xBF9CF968)):
            self.assertEqual(fnv1a32(text), value)


if __name__ == "__main__":
    unittest.main()
