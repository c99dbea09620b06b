"""Topics, and how the state of each is read."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal
from urllib.parse import quote, urlencode

Topic = Literal[
    "location_updates",
    "trackable_motions",
    "proximity_updates",
    "fence_events",
    "collision_events",
    "collision_forecast",
    "alert_changes",
    "zone_changes",
    "fence_changes",
    "trackable_changes",
    "provider_changes",
]
Params = Mapping[str, str | int | float | bool]
#: Returns the parsed JSON of a path below the URL of the API. Raises for a status other than 2xx.
ReadJson = Callable[[str], Awaitable[Any]]

#: Topics whose events a hub with an event log can return after a cursor.
LOGGED_TOPICS = frozenset(
    ["fence_events", "collision_events", "alert_changes", "zone_changes"]
    + ["fence_changes", "trackable_changes", "provider_changes"]
)
STATE_PATHS = {
    "location_updates": "/providers/locations",
    "trackable_motions": "/trackables/motions",
    "alert_changes": "/alerts",
    "zone_changes": "/zones/summary",
    "fence_changes": "/fences/summary",
    "trackable_changes": "/trackables/summary",
    "provider_changes": "/providers/summary",
}
#: Parameters of a subscription that also apply to the request of its state.
VIEW_PARAMS = ("crs", "zone_id")
FENCES_AT_ONCE = 8


def has_state(topic: Topic) -> bool:
    """Whether a hub can return the state of a topic."""
    return topic == "fence_events" or topic in STATE_PATHS


async def read_state(topic: Topic, params: Params, read: ReadJson) -> list[dict[str, Any]]:
    """Read the state of a topic.

    Of the filters, ``fence_id`` and those that name a member of the elements apply.
    """
    if topic == "fence_events":
        return await _read_memberships(params, read)
    query = urlencode({name: params[name] for name in VIEW_PARAMS if name in params})
    found = await read(STATE_PATHS[topic] + (f"?{query}" if query else ""))
    filters = [(name, value) for name, value in params.items() if name not in VIEW_PARAMS]
    return [each for each in found if all(each.get(name, value) == value for name, value in filters)]


async def _read_memberships(params: Params, read: ReadJson) -> list[dict[str, Any]]:
    ids = [str(params["fence_id"])] if "fence_id" in params else await read("/fences")
    found: list[dict[str, Any]] = []
    for first in range(0, len(ids), FENCES_AT_ONCE):
        some = ids[first : first + FENCES_AT_ONCE]
        for members in await asyncio.gather(*(_read_members(fence, read) for fence in some)):
            found.extend(members)
    return found


async def _read_members(fence: str, read: ReadJson) -> list[dict[str, Any]]:
    path = f"/fences/{quote(fence, safe='')}"
    trackables, providers = await asyncio.gather(read(f"{path}/trackables"), read(f"{path}/providers"))
    return [{"fence_id": fence, "trackable_id": each["id"]} for each in trackables] + [
        {"fence_id": fence, "provider_id": each["id"]} for each in providers
    ]
