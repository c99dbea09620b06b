"""The current state of a topic."""

from __future__ import annotations

from typing import Any

from ._subscription import Events, Item, State
from ._topics import Topic


class Picture:
    """The current state of a topic, from the items of a subscription.

    It has the last location of each provider, the last motion of each trackable, the objects in each fence, or the entities, by
    provider id, trackable id, entity id, or ``fence trackable`` and ``fence provider``.
    """

    def __init__(self, topic: Topic) -> None:
        self.topic = topic
        self.elements: dict[str, dict[str, Any]] = {}

    def apply(self, item: Item) -> None:
        """Apply an item. Items of one subscription must be applied in order."""
        if isinstance(item, State):
            self.elements = {self._key_of(element): element for element in item.state}
        elif isinstance(item, Events):
            for event in item.events:
                if event.get("event_type") in ("region_exit", "delete"):
                    self.elements.pop(self._key_of(event), None)
                else:
                    self.elements[self._key_of(event)] = self._element_of(event)

    def _element_of(self, event: dict[str, Any]) -> dict[str, Any]:
        if "event_type" not in event:
            return event
        if self.topic != "fence_events":
            element: dict[str, Any] = event["object"]
            return element
        name = "provider_id" if event.get("trackable_id") is None else "trackable_id"
        return {"fence_id": event["fence_id"], name: event[name]}

    def _key_of(self, element: dict[str, Any]) -> str:
        if self.topic == "location_updates":
            return str(element["provider_id"])
        if self.topic == "fence_events":
            return f"{element['fence_id']} {element.get('trackable_id') or element.get('provider_id')}"
        return str(element["id"])
