from __future__ import annotations

import asyncio
import unittest
from typing import Any

from fake_hub import FakeHub, send
from websockets.asyncio.server import ServerConnection

from omlox_hub import Events, Gap, Item, LocationHub, Picture, State, Status, Subscription, SubscriptionError

LOG = "/v2/events?after=newest&limit=1"
TAG = {"provider_id": "tag", "source": "hall"}
CURSOR_REASONS = ("cursor_too_old", "cursor_of_other_hub", "cursor_unknown")


def event(name: str) -> dict[str, Any]:
    return {"id": name, "fence_id": "dock", "event_type": "region_entry", "trackable_id": f"of {name}"}


async def message(connection: ServerConnection, cursor: str | None, *payload: object) -> None:
    await send(connection, event="message", payload=payload, **({} if cursor is None else {"cursor": cursor}))


async def take(count: int, subscription: Subscription) -> list[Item]:
    async with asyncio.timeout(10), subscription:
        return [await anext(subscription) for _ in range(count)]


async def has_log(_path: str) -> tuple[int, Any]:
    return 200, {}


async def has_none(_path: str) -> tuple[int, Any]:
    return 404, {}


class SubscriptionTest(unittest.IsolatedAsyncioTestCase):
    async def test_continues_after_the_last_cursor_on_the_next_connection(self) -> None:
        connections = 0

        async def framed(_frame: dict[str, Any], connection: ServerConnection) -> None:
            nonlocal connections
            connections += 1
            await send(connection, event="subscribed")
            await message(connection, f"c{connections}", event(f"e{connections}"))
            await connection.close(1001)

        async with FakeHub(has_log, framed) as fake, LocationHub(fake.url, random=lambda: 0.0) as hub:
            items = await take(3, hub.subscribe("fence_events", after="c0"))
            self.assertEqual([frame["params"]["after"] for frame in fake.frames[:3]], ["c0", "c1", "c2"])
            self.assertEqual([item.cursor for item in items if isinstance(item, Events)], ["c1", "c2", "c3"])

    async def test_connects_at_once_if_the_hub_restarts_or_the_client_reads_slowly(self) -> None:
        for code, paused in ((1001, 0), (1013, 0), (1011, 2)):
            pauses = 0

            def random() -> float:
                nonlocal pauses
                pauses += 1
                return 0.0

            async def framed(_frame: dict[str, Any], connection: ServerConnection, code: int = code) -> None:
                number = len(fake.frames)
                await send(connection, event="subscribed")
                await message(connection, f"c{number}", event(f"e{number}"))
                if number < 3:
                    await connection.close(code)

            async with FakeHub(has_log, framed) as fake, LocationHub(fake.url, random=random) as hub:
                await take(3, hub.subscribe("fence_events", after="c0"))
                cursors = [frame["params"]["after"] for frame in fake.frames]
                self.assertEqual((cursors, pauses), (["c0", "c1", "c2"], paused), code)

    async def test_delivers_the_state_first_and_then_the_events_that_arrived_while_it_was_read(self) -> None:
        received = asyncio.Event()

        async def answer(path: str) -> tuple[int, Any]:
            if path == "/v2/fences":
                return 200, ["dock"]
            if path == "/v2/fences/dock/providers":
                return 200, [{"id": "tag"}]
            if path == LOG:
                return 200, {}
            await received.wait()
            return 200, [{"id": "cart"}]

        async def framed(_frame: dict[str, Any], connection: ServerConnection) -> None:
            await send(connection, event="subscribed")
            await message(connection, "c1")
            await message(connection, "c2", event("e1"))
            await (await connection.ping())
            received.set()

        async with FakeHub(answer, framed) as fake, LocationHub(fake.url) as hub:
            items = await take(3, hub.subscribe("fence_events"))
        members = [{"fence_id": "dock", "trackable_id": "cart"}, {"fence_id": "dock", "provider_id": "tag"}]
        self.assertEqual(items[0], State(members, "c1"))
        picture = Picture("fence_events")
        for item in items:
            picture.apply(item)
        self.assertEqual(list(picture.elements), ["dock cart", "dock tag", "dock of e1"])

    async def test_reads_a_hub_without_event_log_again_after_each_interruption(self) -> None:
        reads = 0

        async def answer(path: str) -> tuple[int, Any]:
            nonlocal reads
            if path != "/v2/providers/locations":
                return 404, {}
            reads += 1
            return 200, [{**TAG, "floor": reads}]

        async def framed(_frame: dict[str, Any], connection: ServerConnection) -> None:
            await send(connection, event="subscribed")
            await message(connection, None, TAG)
            while reads < len(fake.frames):
                await asyncio.sleep(0)
            if len(fake.frames) == 1:
                await connection.close(1011)

        statuses: list[Status] = []
        async with FakeHub(answer, framed) as fake, LocationHub(fake.url, random=lambda: 0.0) as hub:
            subscription = hub.subscribe("location_updates", on_status=statuses.append)
            kinds = [type(item) for item in await take(4, subscription)]
            self.assertNotIn("after", fake.frames[0]["params"])
        self.assertEqual(kinds, [State, Events, State, Events])
        self.assertEqual([each.status for each in statuses][:3], ["connected", "disconnected", "connected"])

    async def test_reads_the_state_if_the_hub_does_not_know_the_cursor(self) -> None:
        async def answer(path: str) -> tuple[int, Any]:
            return 200, [{"id": "hall"}] if path == "/v2/zones/summary" else {}

        for reason in CURSOR_REASONS:

            async def framed(frame: dict[str, Any], connection: ServerConnection, reason: str = reason) -> None:
                if frame["params"]["after"] != "newest":
                    return await send(connection, event="error", code=10002, reason=reason)
                await send(connection, event="subscribed")

            async with FakeHub(answer, framed) as fake, LocationHub(fake.url) as hub:
                [item] = await take(1, hub.subscribe("zone_changes", after="old"))
                self.assertEqual(item, State([{"id": "hall"}]), reason)
                self.assertEqual(len(fake.frames), 2)

    async def test_reports_a_gap_if_the_topic_has_no_state(self) -> None:
        async def framed(_frame: dict[str, Any], connection: ServerConnection) -> None:
            await send(connection, event="subscribed")

        async with FakeHub(has_none, framed) as fake, LocationHub(fake.url) as hub:
            self.assertEqual(await take(1, hub.subscribe("collision_events")), [Gap()])

    async def test_notifies_a_slow_application_and_misses_nothing(self) -> None:
        names = [str(i + 1) for i in range(500)]

        async def framed(frame: dict[str, Any], connection: ServerConnection) -> None:
            await send(connection, event="subscribed")
            for name in names[int(frame["params"]["after"]) :]:
                await message(connection, name, event(name))

        lagging = asyncio.Event()
        most = 0

        def told(status: Status) -> None:
            nonlocal most
            most = max(most, status.queued)
            if status.status == "lagging":
                lagging.set()

        async with FakeHub(has_log, framed) as fake, LocationHub(fake.url) as hub:
            subscription = hub.subscribe("fence_events", after="0", queue_max=50, on_status=told)
            await lagging.wait()
            items = await take(500, subscription)
            self.assertEqual([item.events[0]["id"] for item in items if isinstance(item, Events)], names)
            self.assertGreaterEqual(len(fake.frames), 2)
        self.assertIn(most, (51, 52))

    async def test_continues_with_another_token_when_one_has_expired(self) -> None:
        class Tokens:
            number = 1

            async def token(self) -> str:
                return f"token {self.number}"

            def refused(self, token: str) -> None:
                self.number += 1

        async def framed(frame: dict[str, Any], connection: ServerConnection) -> None:
            await send(connection, event="subscribed")
            await message(connection, f"c{len(fake.frames)}", event("e"))
            if frame["params"]["token"] == "token 1":
                await send(connection, event="error", code=10006, description="The token has expired")

        async with FakeHub(has_log, framed) as fake, LocationHub(fake.url, token=Tokens()) as hub:
            await take(2, hub.subscribe("fence_events", after="c0"))
            sent = [(frame["params"]["token"], frame["params"]["after"]) for frame in fake.frames]
            self.assertEqual(sent, [("token 1", "c0"), ("token 2", "c1")])

    async def test_fails_with_the_code_of_the_hub_if_it_is_refused(self) -> None:
        for code in (10001, 10002, 10004):

            async def framed(_frame: dict[str, Any], connection: ServerConnection, code: int = code) -> None:
                await send(connection, event="error", code=code, description="No")

            async with FakeHub(has_none, framed) as fake, LocationHub(fake.url) as hub:
                with self.assertRaises(SubscriptionError) as caught:
                    await take(1, hub.subscribe("location_updates"))
                self.assertEqual((caught.exception.code, str(caught.exception)), (code, "No"))


if __name__ == "__main__":
    unittest.main()
