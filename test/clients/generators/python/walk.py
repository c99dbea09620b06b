"""Goes through the API of a hub with the client that openapi-python-client makes of its OpenAPI document.

Prints what it was answered as one line of JSON.
"""

import json
import sys
from typing import TypeVar

from hub_client import Client
from hub_client.api.fences import create_fence, get_all_fences, get_fence_by_id, get_trackables_inside
from hub_client.api.providers import (
    get_all_locations,
    get_sensors_by_provider_id,
    update_location_by_provider_id,
    update_locations,
    update_sensors_by_provider_id,
)
from hub_client.api.trackables import (
    create_new_trackable,
    get_all_trackable_motions,
    get_providers_of_trackable,
    update_trackable_by_id,
)
from hub_client.api.zones import create_zone, get_zone_by_id, patch_zone_by_id
from hub_client.models.error import Error
from hub_client.models.feature_collection import FeatureCollection
from hub_client.models.fence import Fence
from hub_client.models.json_patch_op import JsonPatchOp
from hub_client.models.json_patch_operation import JsonPatchOperation
from hub_client.models.location import Location
from hub_client.models.point import Point
from hub_client.models.point_type import PointType
from hub_client.models.polygon import Polygon
from hub_client.models.polygon_type import PolygonType
from hub_client.models.provider_type import ProviderType
from hub_client.models.trackable import Trackable
from hub_client.models.trackable_type import TrackableType
from hub_client.models.zone import Zone
from hub_client.models.zone_type import ZoneType

T = TypeVar("T")
CORNERS = [[8.6821, 50.1109], [8.6835, 50.1109], [8.6835, 50.1118], [8.6821, 50.1118]]
LOCAL = [[0.0, 0.0], [100.0, 0.0], [100.0, 100.0], [0.0, 100.0]]


def is_a(kind: type[T], value: object) -> T:
    assert isinstance(value, kind), f"{value!r} is no {kind.__name__}"
    return value


def walk(client: Client) -> dict[str, object]:
    points = [row for pair in zip(CORNERS, LOCAL) for row in pair]
    sent_zone = Zone(type_=ZoneType.UWB, name="Hall", foreign_id="hall", ground_control_points=points)
    zone = is_a(Zone, create_zone.sync(client=client, body=sent_zone))
    zone_id = is_a(str, zone.id)

    region = Polygon(type_=PolygonType.POLYGON, coordinates=[[*CORNERS, CORNERS[0]]])
    created_fence = is_a(Fence, create_fence.sync(client=client, body=Fence(name="Dock", region=region)))
    fence_id = is_a(str, created_fence.id)

    sent_trackable = Trackable(
        type_=TrackableType.OMLOX, name="Vehicle", location_providers=["tag-1"], radius=1.5
    )
    trackable = is_a(Trackable, create_new_trackable.sync(client=client, body=sent_trackable))
    trackable_id = is_a(str, trackable.id)

    location = Location(
        position=Point(type_=PointType.POINT, coordinates=[20.25, 20]),
        source="hall",
        provider_type=ProviderType.UWB,
        provider_id="tag-1",
        crs="local",
    )
    put = update_location_by_provider_id.sync_detailed("tag-1", client=client, body=location)
    assert put.status_code == 204, put.content
    assert update_locations.sync_detailed(client=client, body=[location]).status_code == 204

    motions = is_a(list, get_all_trackable_motions.sync(client=client))
    as_features = is_a(FeatureCollection, get_all_trackable_motions.sync(client=client, geojson=True))
    locations = is_a(list, get_all_locations.sync(client=client, crs="local", zone_id=zone_id))
    fences = is_a(FeatureCollection, get_all_fences.sync(client=client, geojson=True))
    fence = is_a(Fence, get_fence_by_id.sync(fence_id, client=client))
    inside = is_a(list, get_trackables_inside.sync(fence_id, client=client))

    trackable.name = "Vehicle 7"
    renamed = is_a(Trackable, update_trackable_by_id.sync(trackable_id, client=client, body=trackable))

    operation = JsonPatchOperation(op=JsonPatchOp.ADD, path="/building", value="A")
    patched = is_a(Zone, patch_zone_by_id.sync(zone_id, client=client, body=[operation]))

    providers = is_a(list, get_providers_of_trackable.sync(trackable_id, client=client))
    measured = update_sensors_by_provider_id.sync_detailed("tag-1", client=client, body={"battery": 0.5})
    assert measured.status_code == 204, measured.content

    missing = is_a(Error, get_zone_by_id.sync("nothing", client=client))
    refused = is_a(Error, create_fence.sync(client=client, body=Fence(region=region, radius=-1)))
    return {
        "zone": zone.name,
        "motions": [motions[0].name, motions[0].geometry.type_.value],
        "motionFeatures": geometries(as_features),
        "locations": [locations[0].provider_id, locations[0].position.coordinates[0]],
        "fenceFeatures": geometries(fences),
        "fence": [fence.name, len(is_a(Polygon, fence.region).coordinates[0])],
        "inside": inside[0].name,
        "renamed": renamed.name,
        "patched": patched.building,
        "providers": [providers[0].id, providers[0].type_.value],
        "sensors": get_sensors_by_provider_id.sync("tag-1", client=client),
        "notFound": [missing.code, missing.message],
        "refused": [refused.code, refused.message],
    }


def geometries(collection: FeatureCollection) -> list[str]:
    return [feature.geometry.type_.value for feature in collection.features]


print(json.dumps(walk(Client(base_url=sys.argv[1]))))
