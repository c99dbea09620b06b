"""A client of a hub for test/sdk/sdk_rounds.ts: reads commands as lines of JSON, and answers each by a line."""

import asyncio
import json
import sys

from omlox_hub import Events, LocationHub, Picture

TOPICS = ("location_updates", "zone_changes", "fence_events")


async def follow(hub: LocationHub, topic: str, picture: Picture, events: list[str], started: asyncio.Event) -> None:
    async with hub.subscribe(topic) as subscription:
        async for item in subscription:
            picture.apply(item)
            if isinstance(item, Events) and topic == "fence_events":
                events.extend(event["id"] for event in item.events)
            started.set()


async def main(url: str) -> None:
    async with LocationHub(url, random=lambda: 0.0) as hub:
        # On a busy machine, a hub restarts slowly.
        publisher = hub.publisher(batch_max=500, queue_max=1_000_000, retry_s=600.0)
        pictures = {topic: Picture(topic) for topic in TOPICS}
        events: list[str] = []
        starts = {topic: asyncio.Event() for topic in TOPICS}
        tasks = [asyncio.create_task(follow(hub, topic, pictures[topic], events, starts[topic])) for topic in TOPICS]
        await asyncio.gather(*(started.wait() for started in starts.values()))
        answer({"id": 0})

        async def publish(command: dict) -> None:
            results = await asyncio.gather(*map(publisher.publish, command["publish"]), return_exceptions=True)
            failed = [repr(result) for result in results if isinstance(result, BaseException)]
            answer({"id": command["id"], "error": failed[0] if failed else None})

        def known(command: dict) -> None:
            locations = pictures["location_updates"].elements
            answer(
                {
                    "id": command["id"],
                    "known": {
                        "locations": {name: each["position"]["coordinates"] for name, each in locations.items()},
                        "inside": sorted(pictures["fence_events"].elements),
                        "events": events,
                        "zones": sorted(pictures["zone_changes"].elements),
                    },
                }
            )

        reader = asyncio.StreamReader(limit=1 << 24)
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        running: set[asyncio.Task] = set()
        while line := await reader.readline():
            command = json.loads(line)
            if "publish" in command:
                task = asyncio.create_task(publish(command))
                running.add(task)
                task.add_done_callback(running.discard)
            else:
                known(command)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def answer(value: dict) -> None:
    print(json.dumps(value), flush=True)


asyncio.run(main(sys.argv[1]))
