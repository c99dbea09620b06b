"""A client for location hubs with the omlox Hub API: typed REST, complete event streams, publishing in batches, history."""

from . import generated as types
from ._client import Features, HubError, LocationHub
from ._history import History
from ._picture import Picture
from ._publisher import Publisher, PublishError
from ._subscription import Events, Gap, Item, State, Status, Subscription, SubscriptionError
from ._tokens import ClientCredentials, FixedToken, TokenSource
from ._topics import Topic

__all__ = [
    "ClientCredentials",
    "Events",
    "Features",
    "FixedToken",
    "Gap",
    "History",
    "HubError",
    "Item",
    "LocationHub",
    "Picture",
    "PublishError",
    "Publisher",
    "State",
    "Status",
    "Subscription",
    "SubscriptionError",
    "TokenSource",
    "Topic",
    "types",
]
