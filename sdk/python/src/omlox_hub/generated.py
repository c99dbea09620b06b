# Made by "npm run generate:sdk" of the OpenAPI document with SHA-256 b05526ac5c9de001e8a965888e54eb93043a6ca34fc2e70465e6c000222dffbf.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Literal, NotRequired, TypeAlias, TypedDict
from urllib.parse import quote


class AlertAssignment(TypedDict):
    ids: NotRequired[list[str] | None]
    all: NotRequired[bool | None]
    assignee: NotRequired[str | None]


class AlertComment(TypedDict):
    id: str
    text: str
    author: NotRequired[str | None]
    subject: NotRequired[str | None]
    at: str


class AlertCounts(TypedDict):
    info: int
    warning: int
    critical: int


AlertKind: TypeAlias = Literal['entry', 'exit', 'inside_longer', 'more_inside', 'silent', 'collision', 'count_below', 'gate', 'speed', 'separated', 'together']


class AlertMatch(TypedDict):
    fence_id: NotRequired[str | None]
    trackable_id: NotRequired[str | None]
    other_trackable_id: NotRequired[str | None]
    provider_id: NotRequired[str | None]
    since: NotRequired[str | None]
    count: NotRequired[int | None]


AlertRate = TypedDict(
    'AlertRate',
    {
        'from': str,
        'to': str,
        'times': int,
    },
)


class AlertRemark(TypedDict):
    ids: NotRequired[list[str] | None]
    all: NotRequired[bool | None]
    text: str
    author: NotRequired[str | None]


class AlertSelection(TypedDict):
    ids: NotRequired[list[str] | None]
    all: NotRequired[bool | None]


class AlertSnooze(TypedDict):
    id: NotRequired[str | None]
    name: NotRequired[str]
    rule_id: str
    fence_id: NotRequired[str | None]
    trackable_id: NotRequired[str | None]
    other_trackable_id: NotRequired[str | None]
    provider_id: NotRequired[str | None]
    until: str


AlertSnoozeArray: TypeAlias = list[AlertSnooze]


AlertState: TypeAlias = Literal['raised', 'acknowledged', 'cleared']


class AlertSummary(TypedDict):
    max: int
    open: AlertCounts
    not_raised: AlertCounts


AnyType: TypeAlias = Any


AnyTypeArray: TypeAlias = list[AnyType]


Role: TypeAlias = str


AuditAction: TypeAlias = Literal['create', 'update', 'delete', 'read']


AuditErasure = TypedDict(
    'AuditErasure',
    {
        'of': str,
        'from': NotRequired[str],
        'to': NotRequired[str],
    },
)


AuditKind: TypeAlias = Literal['zone', 'fence', 'trackable', 'provider', 'anchor', 'locating_rules', 'alert', 'alert_rule', 'alert_snooze', 'api_key', 'link', 'sink', 'source', 'view', 'walk_test', 'read', 'erasure']


class AuditPatchOperation(TypedDict):
    op: str
    path: str
    value: NotRequired[AnyType]


AuditPatchOperationArray: TypeAlias = list[AuditPatchOperation]


AuditRead = TypedDict(
    'AuditRead',
    {
        'question': str,
        'ids': NotRequired[list[str]],
        'more_ids': NotRequired[int],
        'from': NotRequired[str],
        'to': NotRequired[str],
        'bbox': NotRequired[list[float]],
        'floor': NotRequired[float],
    },
)


AuditVia: TypeAlias = Literal['rest', 'mcp', 'demo', 'link']


class CiscoNotification(TypedDict):
    notificationType: str


CiscoNotificationArray: TypeAlias = list[CiscoNotification]


class ClusterMember(TypedDict):
    name: str
    incarnation: str
    silence: int
    applied_sequence: int
    suspected: bool
    clock_difference: NotRequired[int]
    partitions: NotRequired[int]
    owns_collisions: NotRequired[bool]


ClusterStanding: TypeAlias = Literal['joining', 'standby', 'taking_over', 'owner', 'out']


CollisionType: TypeAlias = Literal['collision_start', 'colliding', 'collision_end']


class Conformance(TypedDict):
    conformsTo: list[str]


CreationType: TypeAlias = Literal['local_coordinates']


CrossedStep = TypedDict(
    'CrossedStep',
    {
        'from': str,
        'left': int,
        'right': int,
    },
)


CrossedStepArray: TypeAlias = list[CrossedStep]


CrossingsReply = TypedDict(
    'CrossingsReply',
    {
        'missing_hubs': NotRequired[list[str]],
        'from': NotRequired[str],
        'to': NotRequired[str],
        'since': str | None,
        'step': int,
        'left': int,
        'right': int,
        'steps': CrossedStepArray,
    },
)


DatabaseState: TypeAlias = Literal['ok', 'failing']


DemoState: TypeAlias = Literal['stopped', 'starting', 'running', 'stopping']


class Document(TypedDict):
    pass


class DocumentLink(TypedDict):
    href: str
    rel: str
    type: NotRequired[str]


DocumentLinkArray: TypeAlias = list[DocumentLink]


DwellStep = TypedDict(
    'DwellStep',
    {
        'from': str,
        'visits': int,
        'entries': int,
        'objects': int,
        'median_ms': int | None,
        'p95_ms': int | None,
        'total_ms': int,
        'open_visits': int,
        'open_ms': int,
    },
)


DwellStepArray: TypeAlias = list[DwellStep]


ElevationRef: TypeAlias = Literal['floor', 'wgs84']


class EntityDocumentMembers(TypedDict):
    anchors: NotRequired[list[str]]
    zones: NotRequired[list[str]]
    trackables: NotRequired[list[str]]
    providers: NotRequired[list[str]]
    fences: NotRequired[list[str]]


ErasureReply = TypedDict(
    'ErasureReply',
    {
        'missing_hubs': NotRequired[list[str]],
        'id': str,
        'from': NotRequired[str],
        'to': NotRequired[str],
        'locations': int,
        'motions': int,
        'fence_events': int,
        'collision_events': int,
        'damaged_files': int,
    },
)


ErrorParamValues: TypeAlias = list[str]


ErrorReason: TypeAlias = str


class EventLogHealth(TypedDict):
    oldest: NotRequired[str]
    bytes: int
    appended: int


class EventPayload(TypedDict):
    pass


EventStream: TypeAlias = str


EventTopic: TypeAlias = Literal['fence_events', 'collision_events', 'alert_changes', 'provider_changes', 'trackable_changes', 'fence_changes', 'zone_changes', 'anchor_changes']


FenceCrossing: TypeAlias = Literal['none', 'segment']


class FenceDwell(TypedDict):
    fence_id: str
    visits: int
    entries: int
    objects: int
    median_ms: int | None
    p95_ms: int | None
    total_ms: int
    open_visits: int
    open_ms: int
    steps: NotRequired[DwellStepArray]


FenceDwellArray: TypeAlias = list[FenceDwell]


FenceEventType: TypeAlias = Literal['region_entry', 'region_exit']


FilterKind: TypeAlias = Literal['none', 'cv']


class Flow(TypedDict):
    from_fence: str
    to_fence: str
    count: int
    median_ms: int | None


FlowArray: TypeAlias = list[Flow]


FlowsReply = TypedDict(
    'FlowsReply',
    {
        'missing_hubs': NotRequired[list[str]],
        'from': NotRequired[str],
        'to': NotRequired[str],
        'flows': FlowArray,
    },
)


ForecastEvent: TypeAlias = Literal['enter', 'exit', 'stay']


GateDirection: TypeAlias = Literal['left', 'right']


class Health(TypedDict):
    pass


class HeatCell(TypedDict):
    longitude: float
    latitude: float
    h3: NotRequired[str]
    seconds: float


HeatCellArray: TypeAlias = list[HeatCell]


HeatmapReply = TypedDict(
    'HeatmapReply',
    {
        'missing_hubs': NotRequired[list[str]],
        'from': NotRequired[str],
        'to': NotRequired[str],
        'grid': str,
        'cell_metres': NotRequired[float],
        'resolution': NotRequired[int],
        'cells': HeatCellArray,
    },
)


class HistoryPlace(TypedDict):
    time: str
    longitude: float
    latitude: float
    z: NotRequired[float]
    floor: NotRequired[float]
    zone_id: NotRequired[str]
    x: NotRequired[float]
    y: NotRequired[float]
    accuracy: NotRequired[float]
    speed: NotRequired[float]
    course: NotRequired[float]
    provider_id: NotRequired[str]
    source: NotRequired[str]


HistoryPlaceArray: TypeAlias = list[HistoryPlace]


HistoryState: TypeAlias = Literal['ok', 'failing']


HistoryTopic: TypeAlias = Literal['locations', 'motions', 'fence_events', 'collision_events']


class HistoryTrack(TypedDict):
    id: str
    t: list[int]
    lon: list[float]
    lat: list[float]
    floor: list[float | None]


HistoryTrackArray: TypeAlias = list[HistoryTrack]


HubUrls: TypeAlias = dict[str, str]


IdArray: TypeAlias = list[str]


class ImportCounts(TypedDict):
    created: int
    changed: int
    unchanged: int
    deleted: int


class ImportCountsByKind(TypedDict):
    anchors: NotRequired[ImportCounts]
    zones: NotRequired[ImportCounts]
    trackables: NotRequired[ImportCounts]
    providers: NotRequired[ImportCounts]
    fences: NotRequired[ImportCounts]
    alert_rules: NotRequired[ImportCounts]
    views: NotRequired[ImportCounts]
    sinks: NotRequired[ImportCounts]
    sources: NotRequired[ImportCounts]


ImportList: TypeAlias = Literal['anchors', 'zones', 'trackables', 'providers', 'fences', 'alert_rules', 'views', 'sinks', 'sources']


class ImportMemberChange(TypedDict):
    list: ImportList
    id: str
    path: str
    before: NotRequired[str]
    after: NotRequired[str]


ImportMemberChangeArray: TypeAlias = list[ImportMemberChange]


ImportState: TypeAlias = Literal['idle', 'waiting', 'checking', 'keeping', 'done', 'refused', 'cancelled', 'failed']


ImportedRules: TypeAlias = Literal['changed', 'unchanged']


JsonPatchOp: TypeAlias = Literal['add', 'remove', 'replace', 'move', 'copy', 'test']


JsonPatchOperation = TypedDict(
    'JsonPatchOperation',
    {
        'op': JsonPatchOp,
        'path': str,
        'from': NotRequired[str],
        'value': NotRequired[AnyType],
    },
)


JsonPatchOperations: TypeAlias = list[JsonPatchOperation]


class LandingPage(TypedDict):
    title: str
    description: str
    links: DocumentLinkArray


class Lease(TypedDict):
    hub_instance_id: str
    customer_email: str
    lease_end_timestamp: str
    grace_period_timestamp: str
    signature: NotRequired[str]
    is_trial: bool
    trial_end_timestamp: str | None
    lease_warning: NotRequired[str]
    development_info: NotRequired[str]
    custom_info: NotRequired[str]
    map_source: NotRequired[str]
    map_access_token: NotRequired[str]
    map_style: NotRequired[str]
    send_report: NotRequired[bool]


class LicenseKeyBody(TypedDict):
    license_key: str


LicenseState: TypeAlias = Literal['none', 'unverifiable', 'invalid', 'not_begun', 'valid', 'expiring', 'in_grace', 'expired']


LinkEntities: TypeAlias = Literal['none', 'mirror']


class LinkOidc(TypedDict):
    token_url: str
    client_id: str
    client_secret: NotRequired[str | None]
    scope: NotRequired[str | None]


class LinkParams(TypedDict):
    pass


LinkSources: TypeAlias = dict[str, str]


LinkStatus: TypeAlias = Literal['disabled', 'elsewhere', 'connecting', 'connected', 'waiting', 'self']


LinkTopic: TypeAlias = Literal['location_updates', 'proximity_updates', 'fence_events']


class LocatingRule(TypedDict):
    expression: str
    priority: int


class LoggedEvent(TypedDict):
    cursor: str
    topic: EventTopic
    payload: EventPayload


LoggedEventArray: TypeAlias = list[LoggedEvent]


class LoggedEvents(TypedDict):
    events: LoggedEventArray
    next: str
    has_more: bool


class MapView(TypedDict):
    id: NotRequired[str | None]
    name: str
    address: str
    is_start: NotRequired[bool | None]


MapViewArray: TypeAlias = list[MapView]


class MeasuredPass(TypedDict):
    point_id: str
    time: str
    marked: bool
    horizontal_error: float | None
    vertical_error: float | None
    floor_hit: bool | None


MeasuredPassArray: TypeAlias = list[MeasuredPass]


class MovingKind(TypedDict):
    kind: str


class MovingPoint(TypedDict):
    id: str
    type: str
    datetimes: list[str]
    coordinates: list[list[float]]
    interpolation: str


MovingPointArray: TypeAlias = list[MovingPoint]


Numbers: TypeAlias = list[float]


class ObjectPlace(TypedDict):
    id: str
    time: str
    longitude: float
    latitude: float
    z: NotRequired[float]
    floor: NotRequired[float]
    zone_id: NotRequired[str]
    x: NotRequired[float]
    y: NotRequired[float]
    accuracy: NotRequired[float]
    speed: NotRequired[float]
    course: NotRequired[float]
    provider_id: NotRequired[str]
    source: NotRequired[str]


ObjectPlaceArray: TypeAlias = list[ObjectPlace]


ObjectType: TypeAlias = Literal['trackable', 'location_provider', 'any']


class OccupancySample(TypedDict):
    time: str
    count: int


OccupancySampleArray: TypeAlias = list[OccupancySample]


ZoneId: TypeAlias = str


TrackableId: TypeAlias = str


ProviderId: TypeAlias = str


FenceId: TypeAlias = str


AnchorId: TypeAlias = str


SourceId: TypeAlias = str


class OwnedResources(TypedDict):
    zone_ids: NotRequired[list[ZoneId] | None]
    trackable_ids: NotRequired[list[TrackableId] | None]
    provider_ids: NotRequired[list[ProviderId] | None]
    fence_ids: NotRequired[list[FenceId] | None]
    anchor_ids: NotRequired[list[AnchorId] | None]
    source_ids: NotRequired[list[SourceId] | None]


PartitionHash: TypeAlias = Literal['fnv1a-32']


PlacesReply = TypedDict(
    'PlacesReply',
    {
        'id': str,
        'missing_hubs': NotRequired[list[str]],
        'from': NotRequired[str],
        'to': NotRequired[str],
        'points': HistoryPlaceArray,
        'next_cursor': str | None,
    },
)


Position: TypeAlias = list[float]


class Properties(TypedDict):
    pass


PropertyValue: TypeAlias = str | float | bool


class ProviderOwner(TypedDict):
    version: int
    provider_id: str
    partition: int
    owner: str | None
    url: NotRequired[str]


ProviderType: TypeAlias = Literal['uwb', 'gps', 'wifi', 'rfid', 'ibeacon', 'ble-aoa', 'ble-mesh', 'virtual', 'unknown']


ProvidersByType = TypedDict(
    'ProvidersByType',
    {
        'uwb': int,
        'gps': int,
        'wifi': int,
        'rfid': int,
        'ibeacon': int,
        'ble-aoa': int,
        'ble-mesh': int,
        'virtual': int,
        'unknown': int,
    },
)


ProximityPositionMode: TypeAlias = Literal['zone_position', 'centroid']


class ProximityResolution(TypedDict):
    entry_confidence_min: NotRequired[float | None]
    exit_grace_duration: NotRequired[int | None]
    boundary_grace_distance: NotRequired[float | None]
    min_dwell_duration: NotRequired[int | None]
    stale_state_ttl: NotRequired[int | None]
    position_mode: NotRequired[ProximityPositionMode | None]


ProximityType: TypeAlias = Literal['rfid', 'ibeacon', 'ble-aoa', 'ble-mesh', 'virtual', 'unknown']


class QualityCell(TypedDict):
    longitude: float
    latitude: float
    positions: int
    accuracy: float | None
    gaps: int
    jumps: int


QualityCellArray: TypeAlias = list[QualityCell]


QualityReply = TypedDict(
    'QualityReply',
    {
        'missing_hubs': NotRequired[list[str]],
        'from': NotRequired[str],
        'to': NotRequired[str],
        'cell_metres': float,
        'cells': QualityCellArray,
    },
)


class RecordedTopic(TypedDict):
    topic: HistoryTopic
    recorded: int
    dropped: int
    too_old: int
    waiting: int
    rows: int
    files: int
    bytes: int


RecordedTopicArray: TypeAlias = list[RecordedTopic]


RpcAggregation: TypeAlias = Literal['_all_within_timeout', '_return_first_success', '_return_first_error']


class RpcError(TypedDict):
    code: int
    message: str
    data: NotRequired[AnyType]


class RpcHandlers(TypedDict):
    handler_id: list[str]


RpcId: TypeAlias = str | float


class RpcParams(TypedDict):
    field_caller_id: NotRequired[str]
    field_timeout: NotRequired[int]
    field_handler_id: NotRequired[str]
    field_aggregation: NotRequired[RpcAggregation]
    zone_id: NotRequired[str]


class RpcRequest(TypedDict):
    jsonrpc: Literal['2.0']
    method: str
    params: NotRequired[RpcParams]
    id: NotRequired[RpcId | None]


class RpcResponse(TypedDict):
    jsonrpc: Literal['2.0']
    id: RpcId | None
    result: NotRequired[AnyType]
    error: NotRequired[RpcError]


class RuleExpressionObject(TypedDict):
    expression: str


RuleSet: TypeAlias = list[LocatingRule]


SearchedKind: TypeAlias = Literal['provider', 'trackable']


Severity: TypeAlias = Literal['info', 'warning', 'critical']


SimpleTransformCrs: TypeAlias = Literal['local', 'EPSG:4326']


Recipient: TypeAlias = str


SinkDeliveryState: TypeAlias = Literal['waiting', 'sending', 'delivered', 'failed', 'rejected']


SinkFormat: TypeAlias = Literal['cloudevents', 'cloudevents_batch', 'plain']


SinkHeaders: TypeAlias = dict[str, str]


SinkOverflow: TypeAlias = Literal['newest_per_object', 'drop_oldest']


SinkParam: TypeAlias = str | float | bool


SinkParams: TypeAlias = dict[str, SinkParam]


SinkQuietHours = TypedDict(
    'SinkQuietHours',
    {
        'from': str,
        'to': str,
        'time_zone': NotRequired[str | None],
    },
)


SinkReplay = TypedDict(
    'SinkReplay',
    {
        'after': NotRequired[str | None],
        'from': NotRequired[str | None],
    },
)


SinkState: TypeAlias = Literal['active', 'failing', 'paused', 'disabled']


SinkTopic: TypeAlias = Literal['fence_events', 'collision_events', 'alert_changes', 'provider_changes', 'trackable_changes', 'fence_changes', 'zone_changes', 'anchor_changes', 'location_updates', 'trackable_motions', 'proximity_updates']


SinkType: TypeAlias = Literal['webhook', 'hub', 'kafka', 'nats', 'email']


class SnapshotReply(TypedDict):
    missing_hubs: NotRequired[list[str]]
    at: str
    objects: ObjectPlaceArray
    next_cursor: str | None


Column: TypeAlias = str


SourceCondition = TypedDict(
    'SourceCondition',
    {
        'path': str,
        'in': list[Any],
    },
)


SourceData: TypeAlias = Any


SourceFormat: TypeAlias = Literal['json', 'csv', 'nmea']


SourceItemKind: TypeAlias = Literal['location', 'proximity']


SourceKind: TypeAlias = Literal['http', 'mqtt', 'udp', 'tcp', 'websocket', 'poll']


SourceLookup: TypeAlias = dict[str, str]


class SourcePreset(TypedDict):
    id: str
    name: str
    note: str
    source: Any
    sample: str
    topic: NotRequired[str]


SourcePresetArray: TypeAlias = list[SourcePreset]


class SourceRefusal(TypedDict):
    at: str
    message: str
    payload: str


SourceRefusals: TypeAlias = dict[str, int]


class SourceSample(TypedDict):
    source: Any
    payload: str
    topic: NotRequired[str | None]
    sender: NotRequired[str | None]


SourceState: TypeAlias = Literal['disabled', 'elsewhere', 'connecting', 'receiving', 'failing']


class SourceStatus(TypedDict):
    id: str
    state: SourceState
    received: int
    mapped: int
    skipped: int
    refused: int
    refused_by: SourceRefusals
    throttled: int
    failures: int
    last_received_at: NotRequired[str]
    last_source_time: NotRequired[str]
    clock_offset: NotRequired[int]
    last_refused: NotRequired[SourceRefusal]
    retry_at: NotRequired[str]
    error: NotRequired[str]


SourceStatusArray: TypeAlias = list[SourceStatus]


SourceTimeUnit: TypeAlias = Literal['ms', 's', 'iso']


class SourceToken(TypedDict):
    token: str


OrItem: TypeAlias = str


SourceValue = TypedDict(
    'SourceValue',
    {
        'path': NotRequired[str | None],
        'or': NotRequired[list[OrItem] | None],
        'template': NotRequired[str | None],
        'value': NotRequired[Any],
        'default': NotRequired[Any],
        'unit': NotRequired[SourceTimeUnit | None],
        'scale': NotRequired[float | None],
        'offset': NotRequired[float | None],
        'lookup': NotRequired[SourceLookup | None],
    },
)


class SpatialExtent(TypedDict):
    bbox: list[list[float]]


class Stop(TypedDict):
    start_time: str
    end_time: str
    duration_ms: int
    longitude: float
    latitude: float
    points: int


StopArray: TypeAlias = list[Stop]


class TemporalExtent(TypedDict):
    interval: list[list[str | None]]


class TemporalGeometrySequence(TypedDict):
    missing_hubs: NotRequired[list[str]]
    type: str
    geometrySequence: MovingPointArray
    links: DocumentLinkArray
    numberReturned: int


TopicFilter: TypeAlias = str


TopicFilterArray: TypeAlias = list[TopicFilter]


TopicName: TypeAlias = Literal['location_updates', 'trackable_motions', 'fence_events', 'collision_events', 'collision_forecast', 'proximity_updates', 'provider_changes', 'trackable_changes', 'fence_changes', 'zone_changes', 'anchor_changes', 'xcmd_broadcast', 'alert_changes']


TrackableType: TypeAlias = Literal['omlox', 'virtual']


TracksReply = TypedDict(
    'TracksReply',
    {
        'missing_hubs': NotRequired[list[str]],
        'from': NotRequired[str],
        'to': NotRequired[str],
        'step': int,
        'tracks': HistoryTrackArray,
        'next_cursor': str | None,
    },
)


TransformationType: TypeAlias = Literal['gcp', 'proximity', 'benchmark', 'none']


Trip = TypedDict(
    'Trip',
    {
        'start_time': str,
        'end_time': str,
        'duration_ms': int,
        'distance_metres': float,
        'from': list[float],
        'to': list[float],
    },
)


TripArray: TypeAlias = list[Trip]


TripsReply = TypedDict(
    'TripsReply',
    {
        'id': str,
        'missing_hubs': NotRequired[list[str]],
        'from': NotRequired[str],
        'to': NotRequired[str],
        'trips': TripArray,
        'stops': StopArray,
    },
)


class UnsRefusal(TypedDict):
    id: str
    problem: str


UnsRefusalArray: TypeAlias = list[UnsRefusal]


UsageRange = TypedDict(
    'UsageRange',
    {
        'from': str,
        'to': str,
    },
)


class UsageStatistics(TypedDict):
    id: str
    instance_id: str
    data_db_id: NotRequired[str]
    stats_db_id: NotRequired[str]
    uptime: int
    range: UsageRange
    locationupdates_processed: int
    locationupdates_sent: int
    locationupdates_geojson_sent: int
    fenceevents_entry_processed: int
    fenceevents_entry_sent: int
    fenceevents_entry_geojson_sent: int
    fenceevents_exit_processed: int
    fenceevents_exit_sent: int
    fenceevents_exit_geojson_sent: int
    proximityupdates_processed: int
    trackablemotions_processed: int
    trackablemotions_sent: int
    trackablemotions_geojson_sent: int
    collisions_start_processed: int
    collisions_start_sent: int
    collisions_colliding_processed: int
    collisions_colliding_sent: int
    collisions_end_processed: int
    collisions_end_sent: int


class Version(TypedDict):
    hub_version: str
    vendor: str
    api_version: str
    hub_id: str
    hub_name: str


class VisitingObject(TypedDict):
    type: str
    id: str


WalkObjectType: TypeAlias = Literal['trackable', 'provider']


class WalkPass(TypedDict):
    point_id: str
    time: NotRequired[str | None]


class WalkZone(TypedDict):
    source: str
    seconds: float
    availability: float


WalkZoneArray: TypeAlias = list[WalkZone]


WayIn: TypeAlias = Literal['ws', 'rest', 'mqtt', 'iso-24730', 'cisco', 'link', 'source', 'unknown']


WebsocketErrorCode: TypeAlias = Literal[10000, 10001, 10002, 10003, 10004, 10005, 10006]


WebsocketTopic: TypeAlias = Literal['location_updates', 'trackable_motions', 'fence_events', 'collision_events', 'collision_forecast', 'proximity_updates', 'provider_changes', 'trackable_changes', 'fence_changes', 'zone_changes', 'anchor_changes', 'xcmd_broadcast', 'alert_changes', 'location_updates:geojson', 'trackable_motions:geojson', 'fence_events:geojson']


Weekday: TypeAlias = Literal['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']


ZoneType: TypeAlias = Literal['uwb', 'wifi', 'rfid', 'ibeacon', 'gps', 'virtual', 'unknown', 'ble-aoa', 'ble-mesh', 'iso-24730', 'generic', 'none']


class Alert(TypedDict):
    id: str
    rule_id: str
    name: str
    kind: AlertKind
    severity: Severity
    state: AlertState
    fence_id: NotRequired[str | None]
    trackable_id: NotRequired[str | None]
    other_trackable_id: NotRequired[str | None]
    provider_id: NotRequired[str | None]
    count: NotRequired[int | None]
    times: int
    raised_at: str
    acknowledged_at: NotRequired[str | None]
    cleared_at: NotRequired[str | None]
    over_at: NotRequired[str | None]
    assignee: NotRequired[str | None]
    comments: NotRequired[list[AlertComment] | None]
    snoozed_until: NotRequired[str | None]


AlertArray: TypeAlias = list[Alert]


class AlertPreview(TypedDict):
    watched: int
    matches: list[AlertMatch]
    total: int
    rate: NotRequired[AlertRate]


class AlertProperty(TypedDict):
    name: str
    value: PropertyValue


AlertSchedule = TypedDict(
    'AlertSchedule',
    {
        'days': NotRequired[list[Weekday] | None],
        'from': NotRequired[str | None],
        'to': NotRequired[str | None],
        'time_zone': NotRequired[str | None],
    },
)


class ApiKey(TypedDict):
    id: NotRequired[str | None]
    name: str
    roles: list[Role]
    owned_resources: NotRequired[OwnedResources | None]
    expires_at: NotRequired[str | None]
    created_at: NotRequired[str | None]
    revoked_at: NotRequired[str | None]
    key: NotRequired[str]


ApiKeyArray: TypeAlias = list[ApiKey]


class AuditEntry(TypedDict):
    cursor: str
    time: str
    kind: AuditKind
    id: str
    action: AuditAction
    subject: NotRequired[str]
    address: NotRequired[str]
    via: AuditVia
    request_id: NotRequired[str]
    patch: NotRequired[AuditPatchOperationArray]
    read: NotRequired[AuditRead]
    erasure: NotRequired[AuditErasure]


AuditEntryArray: TypeAlias = list[AuditEntry]


class CiscoEnvelope(TypedDict):
    notifications: CiscoNotificationArray


CiscoNotifications: TypeAlias = CiscoEnvelope | CiscoNotificationArray | CiscoNotification


class ClusterOwners(TypedDict):
    version: int
    hash: PartitionHash
    owners: list[str | None]
    urls: HubUrls


class DatabaseHealth(TypedDict):
    state: DatabaseState
    pending_rows: int
    failing_since: NotRequired[str]
    error: NotRequired[str]


class Demo(TypedDict):
    state: DemoState
    is_there: bool
    error: NotRequired[str]


DwellReply = TypedDict(
    'DwellReply',
    {
        'missing_hubs': NotRequired[list[str]],
        'from': NotRequired[str],
        'to': NotRequired[str],
        'step': NotRequired[int],
        'fences': FenceDwellArray,
    },
)


ErrorParam: TypeAlias = str | float | ErrorParamValues


ErrorParams: TypeAlias = dict[str, ErrorParam]


class Extent(TypedDict):
    spatial: SpatialExtent
    temporal: TemporalExtent


class FenceEvent(TypedDict):
    id: str
    fence_id: str
    event_type: FenceEventType
    provider_id: NotRequired[str | None]
    trackable_id: NotRequired[str | None]
    trackables: NotRequired[list[str] | None]
    foreign_id: NotRequired[str | None]
    entry_time: NotRequired[str | None]
    exit_time: NotRequired[str | None]
    properties: NotRequired[Properties | None]


class FenceEventDraft(TypedDict):
    fence_id: NotRequired[str | None]
    event_type: FenceEventType
    provider_id: NotRequired[str | None]
    trackable_id: NotRequired[str | None]
    trackables: NotRequired[list[str] | None]
    foreign_id: NotRequired[str | None]
    entry_time: NotRequired[str | None]
    exit_time: NotRequired[str | None]
    properties: NotRequired[Properties | None]


class FenceForecast(TypedDict):
    fence_id: str
    event: ForecastEvent
    probability: float
    time: NotRequired[str | None]


FenceForecastArray: TypeAlias = list[FenceForecast]


class FenceOccupancy(TypedDict):
    fence_id: str
    samples: OccupancySampleArray


FenceOccupancyArray: TypeAlias = list[FenceOccupancy]


class Filter(TypedDict):
    kind: NotRequired[FilterKind | None]
    default_accuracy: NotRequired[float | None]
    process_noise: NotRequired[float | None]
    gate: NotRequired[float | None]
    reset_after: NotRequired[int | None]
    max_gap: NotRequired[int | None]
    max_speed: NotRequired[float | None]
    floor_hold: NotRequired[int | None]
    fuse: NotRequired[bool | None]


class HealthSource(TypedDict):
    id: str
    type: ZoneType
    number_of_updates: int
    last_update_received: NotRequired[str]
    last_update_type: NotRequired[WayIn]
    reconnects: NotRequired[int]
    connection_established: NotRequired[str]
    uptime: NotRequired[float]
    hub: NotRequired[str]


HealthSourceArray: TypeAlias = list[HealthSource]


class HistoryHealth(TypedDict):
    enabled: bool
    state: NotRequired[HistoryState]
    problem: NotRequired[str]
    recorded_since: NotRequired[str]
    oldest: NotRequired[str]
    damaged_files: NotRequired[int]
    topics: NotRequired[RecordedTopicArray]


class ImportProblem(TypedDict):
    place: str
    message: str
    reason: ErrorReason
    params: ErrorParams
    id: NotRequired[str]


ImportProblemArray: TypeAlias = list[ImportProblem]


JsonPatch: TypeAlias = JsonPatchOperation | JsonPatchOperations


class LicenseInfo(TypedDict):
    state: LicenseState
    begins_at: NotRequired[str]
    ends_at: NotRequired[str]
    grace_ends_at: NotRequired[str]
    trial_ends_at: NotRequired[str]
    info: str
    warning: NotRequired[str]
    trial_info: NotRequired[str]
    development_info: NotRequired[str]
    custom_info: NotRequired[str]


class LineString(TypedDict):
    type: Literal['LineString']
    coordinates: list[Position]


class LinkHealth(TypedDict):
    id: str
    name: str
    status: LinkStatus
    since: NotRequired[str | None]
    last_error: NotRequired[str | None]
    lag_ms: NotRequired[int | None]


LinkHealthArray: TypeAlias = list[LinkHealth]


class LinkState(TypedDict):
    status: LinkStatus
    since: NotRequired[str | None]
    hub_id: NotRequired[str | None]
    hub_name: NotRequired[str | None]
    last_error: NotRequired[str | None]
    last_error_at: NotRequired[str | None]
    reason: NotRequired[ErrorReason]
    params: NotRequired[ErrorParams]
    down_from: NotRequired[str | None]
    down_to: NotRequired[str | None]
    read_at: NotRequired[str | None]
    mirrored_at: NotRequired[str | None]
    mirrored: NotRequired[int | None]
    not_mirrored: NotRequired[int | None]
    last_received: NotRequired[str | None]
    lag_ms: NotRequired[int | None]
    received: int
    accepted: int
    duplicates: int
    looped: int
    superseded: int
    rejected: int
    dropped: int
    queued: int
    malformed: int
    origin_changes: int
    event_gaps: int
    event_gap_at: NotRequired[str | None]


class LocationProvider(TypedDict):
    id: NotRequired[str | None]
    type: ProviderType
    name: NotRequired[str | None]
    sensors: NotRequired[AnyType]
    fence_timeout: NotRequired[int | None]
    timeout: NotRequired[int | None]
    exit_tolerance: NotRequired[float | None]
    tolerance_timeout: NotRequired[int | None]
    entry_tolerance_timeout: NotRequired[int | None]
    exit_delay: NotRequired[int | None]
    entry_delay: NotRequired[int | None]
    filter: NotRequired[Filter | None]
    properties: NotRequired[Properties | None]


LocationProviderArray: TypeAlias = list[LocationProvider]


class MovingCollection(TypedDict):
    id: str
    title: str
    description: str
    itemType: str
    updateFrequency: float
    crs: list[str]
    extent: Extent
    links: DocumentLinkArray


MovingCollectionArray: TypeAlias = list[MovingCollection]


class MovingCollections(TypedDict):
    collections: MovingCollectionArray
    links: DocumentLinkArray


class MqttSubscription(TypedDict):
    client_id: str
    topics: TopicFilterArray
    elected: bool
    connected: bool
    problem: NotRequired[str]


MqttSubscriptionArray: TypeAlias = list[MqttSubscription]


OccupancyReply = TypedDict(
    'OccupancyReply',
    {
        'missing_hubs': NotRequired[list[str]],
        'from': NotRequired[str],
        'to': NotRequired[str],
        'step': int,
        'fences': FenceOccupancyArray,
    },
)


class Point(TypedDict):
    type: Literal['Point']
    coordinates: Position


Coordinate: TypeAlias = list[Position]


class Polygon(TypedDict):
    type: Literal['Polygon']
    coordinates: list[Coordinate]


class Proximity(TypedDict):
    source: str
    provider_type: ProximityType
    provider_id: NotRequired[str | None]
    timestamp_generated: NotRequired[str | None]
    timestamp_sent: NotRequired[str | None]
    accuracy: NotRequired[float | None]
    properties: NotRequired[Properties | None]


ProximityArray: TypeAlias = list[Proximity]


RpcAvailable: TypeAlias = dict[str, RpcHandlers]


RuleExpression: TypeAlias = str | RuleExpressionObject | float


class SearchRequest(TypedDict):
    kind: SearchedKind
    region: NotRequired[Polygon | None]
    near: NotRequired[list[float] | None]
    k: NotRequired[int | None]
    radius: NotRequired[float | None]
    floor: NotRequired[float | None]
    where: NotRequired[str | None]


class SimpleTransform(TypedDict):
    position: Point
    source: NotRequired[str | None]
    crs: NotRequired[SimpleTransformCrs | None]


class Sink(TypedDict):
    id: NotRequired[str | None]
    name: str
    type: SinkType
    url: str
    topics: list[SinkTopic]
    params: NotRequired[SinkParams | None]
    format: NotRequired[SinkFormat | None]
    secret: NotRequired[str | None]
    ca_certificate: NotRequired[str | None]
    oidc: NotRequired[LinkOidc | None]
    headers: NotRequired[SinkHeaders | None]
    concurrency: NotRequired[int | None]
    batch_max: NotRequired[int | None]
    timeout: NotRequired[int | None]
    sender: NotRequired[str | None]
    recipients: NotRequired[list[Recipient] | None]
    digest_interval: NotRequired[int | None]
    quiet_hours: NotRequired[SinkQuietHours | None]
    overflow: NotRequired[SinkOverflow | None]


SinkArray: TypeAlias = list[Sink]


class SinkDelivery(TypedDict):
    event_id: str
    topic: str
    key: str
    timestamp: str
    cursor: NotRequired[str]
    state: SinkDeliveryState
    attempts: int
    attempted_at: NotRequired[str]
    duration: NotRequired[int]
    error: NotRequired[str]
    reason: NotRequired[ErrorReason]
    params: NotRequired[ErrorParams]


SinkDeliveryArray: TypeAlias = list[SinkDelivery]


class SinkStatus(TypedDict):
    id: str
    state: SinkState
    delivering: bool
    cursor: NotRequired[str]
    lag: NotRequired[int]
    waiting: NotRequired[int]
    added: NotRequired[int]
    delivered: NotRequired[int]
    rejected: NotRequired[int]
    dropped: NotRequired[int]
    replayed: NotRequired[int]
    failures: NotRequired[int]
    retry_at: NotRequired[str]
    last_delivered_at: NotRequired[str]
    error: NotRequired[str]
    reason: NotRequired[ErrorReason]
    params: NotRequired[ErrorParams]


SinkStatusArray: TypeAlias = list[SinkStatus]


class SinkTest(TypedDict):
    delivered: bool
    duration: int
    error: NotRequired[str]
    reason: NotRequired[ErrorReason]
    params: NotRequired[ErrorParams]


class SocketTopic(TypedDict):
    topic: TopicName
    subscriptions: int
    delivered: int


SocketTopicArray: TypeAlias = list[SocketTopic]


SourceField: TypeAlias = str | SourceValue


class SourceProblem(TypedDict):
    message: str
    reason: ErrorReason
    params: ErrorParams


SourceProperties: TypeAlias = dict[str, SourceField]


class Trackable(TypedDict):
    id: NotRequired[str | None]
    type: TrackableType
    name: NotRequired[str | None]
    geometry: NotRequired[Polygon | None]
    extrusion: NotRequired[float | None]
    location_providers: NotRequired[list[str] | None]
    fence_timeout: NotRequired[int | None]
    timeout: NotRequired[int | None]
    exit_tolerance: NotRequired[float | None]
    tolerance_timeout: NotRequired[int | None]
    entry_tolerance_timeout: NotRequired[int | None]
    exit_delay: NotRequired[int | None]
    entry_delay: NotRequired[int | None]
    filter: NotRequired[Filter | None]
    radius: NotRequired[float | None]
    calculate_collisions: NotRequired[bool | None]
    properties: NotRequired[Properties | None]
    locating_rules: NotRequired[RuleSet | None]
    parent: NotRequired[str | None]
    children: NotRequired[list[str]]


TrackableArray: TypeAlias = list[Trackable]


class TrackableForecast(TypedDict):
    trackable_id: str
    timestamp: str
    horizon: int
    position: Point
    accuracy: float
    fences: FenceForecastArray


class UnsHealth(TypedDict):
    topics: int
    refused: int
    problems: UnsRefusalArray


class Visit(TypedDict):
    id: str
    fence_id: str
    object: VisitingObject
    entry_time: str
    exit_time: str | None
    duration_ms: int
    still_inside: bool


VisitArray: TypeAlias = list[Visit]


VisitsReply = TypedDict(
    'VisitsReply',
    {
        'missing_hubs': NotRequired[list[str]],
        'from': NotRequired[str],
        'to': NotRequired[str],
        'visits': VisitArray,
        'next_cursor': str | None,
    },
)


class WalkPoint(TypedDict):
    id: str
    position: Point
    floor: NotRequired[float | None]


WalkResult = TypedDict(
    'WalkResult',
    {
        'missing_hubs': NotRequired[list[str]],
        'id': str,
        'from': str,
        'to': str,
        'positions': int,
        'mean': float | None,
        'rmse': float | None,
        'ce50': float | None,
        'ce95': float | None,
        've95': float | None,
        'floor_hit_rate': float | None,
        'latency_p95': float | None,
        'update_rate': float | None,
        'availability': float | None,
        'zones': WalkZoneArray,
        'passes': MeasuredPassArray,
        'missed': list[str],
    },
)


class WalkTest(TypedDict):
    id: NotRequired[str | None]
    name: str
    object_type: WalkObjectType
    object_id: str
    zone_id: NotRequired[str | None]
    points: NotRequired[list[WalkPoint] | None]
    reach: NotRequired[float | None]
    passes: NotRequired[list[WalkPass] | None]
    started_at: NotRequired[str | None]
    ended_at: NotRequired[str | None]


WalkTestArray: TypeAlias = list[WalkTest]


class WebsocketError(TypedDict):
    event: Literal['error']
    code: WebsocketErrorCode
    description: str
    reason: ErrorReason
    params: ErrorParams


class WebsocketMessage(TypedDict):
    event: Literal['message']
    topic: WebsocketTopic
    subscription_id: NotRequired[int]
    payload: list[AnyType]


class WebsocketSubscriptionRequest(TypedDict):
    event: Literal['subscribe']
    topic: WebsocketTopic
    params: NotRequired[Properties]


class WebsocketSubscriptionResponse(TypedDict):
    event: Literal['subscribed']
    topic: WebsocketTopic
    subscription_id: int


class Zone(TypedDict):
    id: NotRequired[str | None]
    foreign_id: NotRequired[str | None]
    type: ZoneType
    transformation_type: NotRequired[TransformationType | None]
    position: NotRequired[Point | None]
    radius: NotRequired[float | None]
    ground_control_points: NotRequired[list[Position] | None]
    incomplete_configuration: NotRequired[bool | None]
    measurement_timestamp: NotRequired[str | None]
    site: NotRequired[str | None]
    building: NotRequired[str | None]
    floor: NotRequired[float | None]
    name: NotRequired[str | None]
    description: NotRequired[str | None]
    address: NotRequired[str | None]
    wgs84_height: NotRequired[float | None]
    exit_delay: NotRequired[int | None]
    easting_angle: NotRequired[float | None]
    meridian_convergence: NotRequired[float | None]
    scale_factor: NotRequired[float | None]
    local_origin: NotRequired[Point | None]
    surface_projection: NotRequired[str | None]
    anchor_ids: NotRequired[list[str] | None]
    parent: NotRequired[str | None]
    proximity_resolution: NotRequired[ProximityResolution | None]
    properties: NotRequired[Properties | None]
    children: NotRequired[list[str]]


ZoneArray: TypeAlias = list[Zone]


class ZoneCreationParameters(TypedDict):
    creation_type: NotRequired[CreationType | None]
    local_coordinates: LineString
    global_reference: Point
    local_reference: NotRequired[Point | None]
    rotation: NotRequired[float | None]
    meridian_convergence: NotRequired[float | None]
    radius: NotRequired[float | None]
    zone_id: NotRequired[str | None]


class AlertRule(TypedDict):
    id: NotRequired[str | None]
    name: str
    kind: AlertKind
    enabled: NotRequired[bool | None]
    severity: NotRequired[Severity | None]
    fence_ids: NotRequired[list[str] | None]
    object_type: NotRequired[ObjectType | None]
    trackable_ids: NotRequired[list[str] | None]
    provider_ids: NotRequired[list[str] | None]
    property: NotRequired[AlertProperty | None]
    longer_than: NotRequired[int | None]
    sinks: NotRequired[list[str] | None]
    more_than: NotRequired[int | None]
    fewer_than: NotRequired[int | None]
    direction: NotRequired[GateDirection | None]
    speed_above: NotRequired[float | None]
    other_trackable_ids: NotRequired[list[str] | None]
    distance: NotRequired[float | None]
    schedule: NotRequired[AlertSchedule | None]


AlertRuleArray: TypeAlias = list[AlertRule]


class Anchor(TypedDict):
    id: NotRequired[str | None]
    name: NotRequired[str | None]
    zone_id: NotRequired[str | None]
    local_position: NotRequired[Point | None]
    georeferenced_position: NotRequired[Point | None]
    local_azimuth_angle: NotRequired[float | None]
    global_azimuth_angle: NotRequired[float | None]
    elevation_angle: NotRequired[float | None]
    properties: NotRequired[Properties | None]


AnchorArray: TypeAlias = list[Anchor]


class AuditEntries(TypedDict):
    entries: AuditEntryArray
    next: str
    has_more: bool


class ClusterHealth(TypedDict):
    name: str
    hub_name: str
    incarnation: str
    standing: ClusterStanding
    problem: NotRequired[str]
    reason: NotRequired[ErrorReason]
    params: NotRequired[ErrorParams]
    owner: NotRequired[str]
    settled: NotRequired[bool]
    nats_connected: bool
    applied_sequence: int
    journal_waiting_bytes: int
    partitions: NotRequired[int]
    takeovers: int
    last_takeover_duration: NotRequired[int]
    members: list[ClusterMember]


class CollisionForecast(TypedDict):
    trackable_id: str
    other_trackable_id: str
    timestamp: str
    time: str
    distance: float
    probability: float
    position: Point
    floor: float


class ConfiguredZone(TypedDict):
    id: str
    foreign_id: NotRequired[str | None]
    type: ZoneType
    transformation_type: NotRequired[TransformationType | None]
    position: NotRequired[Point | None]
    radius: NotRequired[float | None]
    ground_control_points: NotRequired[list[Position] | None]
    incomplete_configuration: NotRequired[bool | None]
    measurement_timestamp: NotRequired[str | None]
    site: NotRequired[str | None]
    building: NotRequired[str | None]
    floor: NotRequired[float | None]
    name: NotRequired[str | None]
    description: NotRequired[str | None]
    address: NotRequired[str | None]
    wgs84_height: NotRequired[float | None]
    exit_delay: NotRequired[int | None]
    easting_angle: NotRequired[float | None]
    meridian_convergence: NotRequired[float | None]
    scale_factor: NotRequired[float | None]
    local_origin: NotRequired[Point | None]
    surface_projection: NotRequired[str | None]
    anchor_ids: NotRequired[list[str] | None]
    parent: NotRequired[str | None]
    proximity_resolution: NotRequired[ProximityResolution | None]
    properties: NotRequired[Properties | None]
    sqm: float


ConfiguredZoneArray: TypeAlias = list[ConfiguredZone]


class CreationParameters(TypedDict):
    creation_type: NotRequired[CreationType | None]
    local_coordinates: NotRequired[LineString | None]
    global_reference: NotRequired[Point | None]
    local_reference: NotRequired[Point | None]
    rotation: NotRequired[float | None]
    meridian_convergence: NotRequired[float | None]
    radius: NotRequired[float | None]
    zone_id: NotRequired[str | None]


class Error(TypedDict):
    type: str
    code: int
    message: str
    reason: ErrorReason
    params: ErrorParams


Geometry: TypeAlias = Point | Polygon | LineString


class HubSockets(TypedDict):
    hub: str
    number_of_clients: int
    waiting_bytes: int
    topics: SocketTopicArray


HubSocketsArray: TypeAlias = list[HubSockets]


class Import(TypedDict):
    state: ImportState
    id: NotRequired[str]
    dry_run: NotRequired[bool]
    replace: NotRequired[bool]
    delete_members: NotRequired[bool]
    began_at: NotRequired[str]
    ended_at: NotRequired[str]
    total: NotRequired[int]
    checked: NotRequired[int]
    counts: NotRequired[ImportCountsByKind]
    rules: NotRequired[ImportedRules]
    member_change_count: NotRequired[int]
    member_changes: NotRequired[ImportMemberChangeArray]
    missing_count: NotRequired[int]
    missing: NotRequired[ImportMemberChangeArray]
    problem_count: NotRequired[int]
    problems: NotRequired[ImportProblemArray]
    error: NotRequired[str]
    reason: NotRequired[ErrorReason]
    params: NotRequired[ErrorParams]


LineStringOrPoint: TypeAlias = LineString | Point


class Link(TypedDict):
    id: NotRequired[str | None]
    name: str
    enabled: NotRequired[bool | None]
    url: str
    topics: NotRequired[list[LinkTopic] | None]
    entities: NotRequired[LinkEntities | None]
    params: NotRequired[LinkParams | None]
    token: NotRequired[str | None]
    oidc: NotRequired[LinkOidc | None]
    id_prefix: NotRequired[str | None]
    sources: NotRequired[LinkSources | None]
    min_interval: NotRequired[int | None]
    state: NotRequired[LinkState | None]


LinkArray: TypeAlias = list[Link]


class Location(TypedDict):
    position: Point
    source: NotRequired[str | None]
    provider_type: ProviderType
    provider_id: NotRequired[str | None]
    trackables: NotRequired[list[str] | None]
    timestamp_generated: NotRequired[str | None]
    timestamp_sent: NotRequired[str | None]
    crs: NotRequired[str | None]
    associated: NotRequired[bool | None]
    accuracy: NotRequired[float | None]
    floor: NotRequired[float | None]
    true_heading: NotRequired[float | None]
    magnetic_heading: NotRequired[float | None]
    heading_accuracy: NotRequired[float | None]
    elevation_ref: NotRequired[ElevationRef | None]
    speed: NotRequired[float | None]
    course: NotRequired[float | None]
    properties: NotRequired[Properties | None]


LocationArray: TypeAlias = list[Location]


class MovingFeature(TypedDict):
    missing_hubs: NotRequired[list[str]]
    type: Literal['Feature']
    id: str
    geometry: Point | None
    properties: MovingKind
    bbox: NotRequired[Numbers]
    time: NotRequired[list[str]]
    links: DocumentLinkArray


class MovingFeatureOfList(TypedDict):
    type: Literal['Feature']
    id: str
    geometry: Point | None
    properties: MovingKind
    bbox: NotRequired[Numbers]
    time: NotRequired[list[str]]


MovingFeatureOfListArray: TypeAlias = list[MovingFeatureOfList]


class MovingFeatures(TypedDict):
    missing_hubs: NotRequired[list[str]]
    type: str
    features: MovingFeatureOfListArray
    links: DocumentLinkArray
    numberReturned: int


class MqttHealth(TypedDict):
    enabled: bool
    connected: NotRequired[bool]
    broker: NotRequired[str]
    client_id: NotRequired[str]
    problem: NotRequired[str]
    connections: NotRequired[int]
    received: NotRequired[int]
    redelivered: NotRequired[int]
    locations: NotRequired[int]
    rejected: NotRequired[int]
    lost: NotRequired[int]
    published: NotRequired[int]
    replaced: NotRequired[int]
    dropped: NotRequired[int]
    refused: NotRequired[int]
    waiting: NotRequired[int]
    waiting_bytes: NotRequired[int]
    subscriptions: NotRequired[MqttSubscriptionArray]
    uns: NotRequired[UnsHealth]


PointOrPolygon: TypeAlias = Point | Polygon


class SocketHealth(TypedDict):
    number_of_clients: int
    number_of_subscribers: int
    number_of_subscribers_locations: int
    number_of_subscribers_trackable_motions: int
    number_of_subscribers_fence_events: int
    number_of_subscribers_collision_events: int
    last_location_update_sent: NotRequired[str]
    last_trackable_motion_update_sent: NotRequired[str]
    last_fence_event_sent: NotRequired[str]
    last_collision_event_sent: NotRequired[str]
    hubs: NotRequired[HubSocketsArray]


SourceMap = TypedDict(
    'SourceMap',
    {
        'items': NotRequired[str | None],
        'as': NotRequired[SourceItemKind | None],
        'when': NotRequired[list[SourceCondition] | None],
        'time_zone': NotRequired[str | None],
        'provider_id': SourceField,
        'provider_type': NotRequired[SourceField | None],
        'x': NotRequired[SourceField | None],
        'y': NotRequired[SourceField | None],
        'z': NotRequired[SourceField | None],
        'source': NotRequired[SourceField | None],
        'crs': NotRequired[SourceField | None],
        'timestamp_generated': NotRequired[SourceField | None],
        'accuracy': NotRequired[SourceField | None],
        'floor': NotRequired[SourceField | None],
        'speed': NotRequired[SourceField | None],
        'course': NotRequired[SourceField | None],
        'true_heading': NotRequired[SourceField | None],
        'magnetic_heading': NotRequired[SourceField | None],
        'heading_accuracy': NotRequired[SourceField | None],
        'elevation_ref': NotRequired[SourceField | None],
        'associated': NotRequired[SourceField | None],
        'properties': NotRequired[SourceProperties | None],
    },
)


class SourcePreviewItem(TypedDict):
    at: str
    location: NotRequired[Any]
    proximity: NotRequired[Any]
    position: NotRequired[list[float]]
    problem: NotRequired[SourceProblem]
    warnings: list[SourceProblem]


class SystemHealth(TypedDict):
    hub_id: str
    hub_name: str
    uptime: int
    date: str
    iso_24730_connections: int
    database: DatabaseHealth
    cluster: NotRequired[ClusterHealth]
    events: NotRequired[EventLogHealth]
    mqtt: NotRequired[MqttHealth]
    history: NotRequired[HistoryHealth]
    links: NotRequired[LinkHealthArray]
    sinks: NotRequired[SinkStatusArray]
    sources: NotRequired[SourceStatusArray]
    config: str


class TrackableMotion(TypedDict):
    id: str
    name: NotRequired[str | None]
    extrusion: NotRequired[float | None]
    geometry: NotRequired[PointOrPolygon]
    location: Location
    properties: NotRequired[Properties | None]


TrackableMotionArray: TypeAlias = list[TrackableMotion]


class Collision(TypedDict):
    id: str
    object_type: Literal['trackable']
    position: NotRequired[Point]
    geometry: NotRequired[PointOrPolygon]
    floor: NotRequired[float]


class CollisionEvent(TypedDict):
    id: str
    collision_type: CollisionType
    start_time: str
    collision_time: NotRequired[str | None]
    end_time: NotRequired[str | None]
    collisions: list[Collision]
    collision_area: NotRequired[LineStringOrPoint | None]
    center_distance: float


class Feature(TypedDict):
    type: Literal['Feature']
    geometry: Geometry
    properties: Properties


class FeatureCollection(TypedDict):
    type: Literal['FeatureCollection']
    features: list[Feature]


class Fence(TypedDict):
    id: NotRequired[str | None]
    region: Geometry
    radius: NotRequired[float | None]
    extrusion: NotRequired[float | None]
    floor: NotRequired[float | None]
    foreign_id: NotRequired[str | None]
    name: NotRequired[str | None]
    timeout: NotRequired[int | None]
    exit_tolerance: NotRequired[float | None]
    entry_tolerance: NotRequired[float | None]
    tolerance_timeout: NotRequired[int | None]
    entry_tolerance_timeout: NotRequired[int | None]
    exit_delay: NotRequired[int | None]
    entry_delay: NotRequired[int | None]
    crossing: NotRequired[FenceCrossing | None]
    untracked: NotRequired[bool | None]
    crs: NotRequired[str | None]
    zone_id: NotRequired[str | None]
    elevation_ref: NotRequired[ElevationRef | None]
    properties: NotRequired[Properties | None]


FenceArray: TypeAlias = list[Fence]


FenceArrayOrFeatureCollection: TypeAlias = FenceArray | FeatureCollection


FenceOrFeature: TypeAlias = Fence | Feature


LocationArrayOrFeatureCollection: TypeAlias = LocationArray | FeatureCollection


LocationOrFeature: TypeAlias = Location | Feature


PastEvent: TypeAlias = FenceEvent | CollisionEvent


PastEventArray: TypeAlias = list[PastEvent]


class SearchMatch(TypedDict):
    distance: NotRequired[float]
    location: NotRequired[Location]
    motion: NotRequired[TrackableMotion]


class SearchResult(TypedDict):
    matches: list[SearchMatch]
    complete: bool


SimpleTransformOrFeature: TypeAlias = SimpleTransform | Feature


class Source(TypedDict):
    id: NotRequired[str | None]
    name: str
    enabled: NotRequired[bool | None]
    kind: SourceKind
    url: NotRequired[str | None]
    topic: NotRequired[str | None]
    port: NotRequired[int | None]
    interval: NotRequired[int | None]
    username: NotRequired[str | None]
    password: NotRequired[str | None]
    open_message: NotRequired[str | None]
    format: SourceFormat
    columns: NotRequired[list[Column] | None]
    map: SourceMap
    rate_limit: NotRequired[float | None]
    token: NotRequired[str]


SourceArray: TypeAlias = list[Source]


class SourcePreview(TypedDict):
    items: list[SourcePreviewItem]
    count: int
    skipped: int
    problems: list[SourceProblem]


TrackableMotionArrayOrFeatureCollection: TypeAlias = TrackableMotionArray | FeatureCollection


TrackableMotionOrFeature: TypeAlias = TrackableMotion | Feature


class Configured(TypedDict):
    fences: FenceArray
    zones: ConfiguredZoneArray
    trackables_no: int
    trackables_no_active: int
    locationproviders_no: int
    locationproviders_no_active: int
    locationproviders_by_type_no: ProvidersByType
    locationproviders_by_type_no_active: ProvidersByType


class Consumption(TypedDict):
    id: str
    timestamp_generated: str
    year: int
    month: int
    config: Configured
    statistics: UsageStatistics


ConsumptionArray: TypeAlias = list[Consumption]


class EntityDocument(TypedDict):
    format: str
    version: int
    exported_at: NotRequired[str]
    anchors: NotRequired[AnchorArray]
    zones: NotRequired[ZoneArray]
    trackables: NotRequired[TrackableArray]
    providers: NotRequired[LocationProviderArray]
    fences: NotRequired[FenceArray]
    locating_rules: NotRequired[RuleSet]
    alert_rules: NotRequired[AlertRuleArray]
    views: NotRequired[MapViewArray]
    sinks: NotRequired[SinkArray]
    sources: NotRequired[SourceArray]
    members: NotRequired[EntityDocumentMembers]


HistoryEventsReply = TypedDict(
    'HistoryEventsReply',
    {
        'missing_hubs': NotRequired[list[str]],
        'from': NotRequired[str],
        'to': NotRequired[str],
        'events': PastEventArray,
        'next_cursor': str | None,
    },
)


class Operations:
    """The operations of the REST API. Each raises HubError for a status other than 2xx."""

    def __init__(self, call: Callable[..., Awaitable[Any]]) -> None:
        self._call = call

    async def get_zone_ids(self, *, foreign_id: str | None = None, limit: int | None = None, cursor: str | None = None) -> IdArray:
        """Ids of all zones."""
        return await self._call("GET", "/zones", query={"foreign_id": foreign_id, "limit": limit, "cursor": cursor})

    async def create_zone(self, body: Zone) -> Zone:
        """Create a zone."""
        return await self._call("POST", "/zones", body=body)

    async def delete_all_zones(self) -> None:
        """Delete all zones."""
        await self._call("DELETE", "/zones")

    async def get_all_zone_objects(self, *, foreign_id: str | None = None, limit: int | None = None, cursor: str | None = None) -> ZoneArray:
        """All zones."""
        return await self._call("GET", "/zones/summary", query={"foreign_id": foreign_id, "limit": limit, "cursor": cursor})

    async def get_zone_by_id(self, zone_id: str) -> Zone:
        """One zone."""
        return await self._call("GET", f"/zones/{quote(zone_id, safe='')}")

    async def update_zone_by_id(self, zone_id: str, body: Zone) -> None:
        """Replace a zone."""
        await self._call("PUT", f"/zones/{quote(zone_id, safe='')}", body=body)

    async def patch_zone_by_id(self, zone_id: str, body: JsonPatch) -> Zone:
        """Change a zone by JSON Patch."""
        return await self._call("PATCH", f"/zones/{quote(zone_id, safe='')}", body=body)

    async def delete_zone_by_id(self, zone_id: str) -> None:
        """Delete a zone."""
        await self._call("DELETE", f"/zones/{quote(zone_id, safe='')}")

    async def transform_by_zone_id(self, zone_id: str, body: SimpleTransform, *, geojson: bool | None = None) -> SimpleTransformOrFeature:
        """Transform a position between a zone's coordinates and EPSG:4326."""
        return await self._call("PUT", f"/zones/{quote(zone_id, safe='')}/transform", query={"geojson": geojson}, body=body)

    async def create_fence_from_zone(self, zone_id: str) -> Fence:
        """A fence around a zone, which is not stored."""
        return await self._call("GET", f"/zones/{quote(zone_id, safe='')}/createfence")

    async def create_fence_in_zone(self, zone_id: str, body: Fence, *, subdivide: bool | None = None) -> Fence:
        """Create a fence whose region is given in the zone's coordinates, and stored in EPSG:4326."""
        return await self._call("POST", f"/zones/{quote(zone_id, safe='')}/fence", query={"subdivide": subdivide}, body=body)

    async def zone_from_local(self, body: ZoneCreationParameters) -> Zone:
        """Compute a zone from local coordinates and a reference point; it is not stored."""
        return await self._call("PUT", "/zones/fromlocal", body=body)

    async def fence_from_local(self, body: CreationParameters) -> Fence:
        """Compute a fence from local coordinates and a reference point or a zone; it is not stored."""
        return await self._call("PUT", "/fences/fromlocal", body=body)

    async def get_all_trackable_ids(self, *, limit: int | None = None, cursor: str | None = None) -> IdArray:
        """Ids of all trackables."""
        return await self._call("GET", "/trackables", query={"limit": limit, "cursor": cursor})

    async def create_new_trackable(self, body: Trackable, *, force_location_update: bool | None = None, subdivide: bool | None = None) -> Trackable:
        """Create a trackable."""
        return await self._call("POST", "/trackables", query={"force_location_update": force_location_update, "subdivide": subdivide}, body=body)

    async def delete_all_trackables(self) -> None:
        """Delete all trackables."""
        await self._call("DELETE", "/trackables")

    async def get_all_trackable_objects(self, *, limit: int | None = None, cursor: str | None = None) -> TrackableArray:
        """All trackables."""
        return await self._call("GET", "/trackables/summary", query={"limit": limit, "cursor": cursor})

    async def get_trackable_by_id(self, trackable_id: str) -> Trackable:
        """One trackable."""
        return await self._call("GET", f"/trackables/{quote(trackable_id, safe='')}")

    async def update_trackable_by_id(self, trackable_id: str, body: Trackable, *, force_location_update: bool | None = None, subdivide: bool | None = None) -> Trackable:
        """Replace a trackable."""
        return await self._call("PUT", f"/trackables/{quote(trackable_id, safe='')}", query={"force_location_update": force_location_update, "subdivide": subdivide}, body=body)

    async def patch_trackable_by_id(self, trackable_id: str, body: JsonPatch, *, force_location_update: bool | None = None, subdivide: bool | None = None) -> Trackable:
        """Change a trackable by JSON Patch."""
        return await self._call("PATCH", f"/trackables/{quote(trackable_id, safe='')}", query={"force_location_update": force_location_update, "subdivide": subdivide}, body=body)

    async def delete_trackable_by_id(self, trackable_id: str) -> None:
        """Delete a trackable."""
        await self._call("DELETE", f"/trackables/{quote(trackable_id, safe='')}")

    async def get_all_trackable_motions(self, *, crs: str | None = None, zone_id: str | None = None, geojson: bool | None = None, limit: int | None = None, cursor: str | None = None) -> TrackableMotionArrayOrFeatureCollection:
        """Motions of all trackables."""
        return await self._call("GET", "/trackables/motions", query={"crs": crs, "zone_id": zone_id, "geojson": geojson, "limit": limit, "cursor": cursor})

    async def get_trackable_motion(self, trackable_id: str, *, crs: str | None = None, zone_id: str | None = None, geojson: bool | None = None) -> TrackableMotionOrFeature:
        """Motion of a trackable."""
        return await self._call("GET", f"/trackables/{quote(trackable_id, safe='')}/motion", query={"crs": crs, "zone_id": zone_id, "geojson": geojson})

    async def get_trackable_forecast(self, trackable_id: str, *, horizon: int | None = None) -> TrackableForecast:
        """Forecast of a trackable."""
        return await self._call("GET", f"/trackables/{quote(trackable_id, safe='')}/forecast", query={"horizon": horizon})

    async def get_most_significant_trackable_location(self, trackable_id: str, *, crs: str | None = None, zone_id: str | None = None, geojson: bool | None = None) -> LocationOrFeature:
        """The effective location of a trackable."""
        return await self._call("GET", f"/trackables/{quote(trackable_id, safe='')}/location", query={"crs": crs, "zone_id": zone_id, "geojson": geojson})

    async def get_all_trackable_locations(self, trackable_id: str, *, crs: str | None = None, zone_id: str | None = None, geojson: bool | None = None) -> LocationArrayOrFeatureCollection:
        """Last locations of all providers of a trackable."""
        return await self._call("GET", f"/trackables/{quote(trackable_id, safe='')}/locations", query={"crs": crs, "zone_id": zone_id, "geojson": geojson})

    async def get_inside_fence_for_trackable(self, trackable_id: str, *, crs: str | None = None, zone_id: str | None = None, geojson: bool | None = None, spatial_query: bool | None = None) -> FenceArrayOrFeatureCollection:
        """Fences that a trackable is in."""
        return await self._call("GET", f"/trackables/{quote(trackable_id, safe='')}/fences", query={"crs": crs, "zone_id": zone_id, "geojson": geojson, "spatial_query": spatial_query})

    async def get_providers_of_trackable(self, trackable_id: str) -> LocationProviderArray:
        """Providers of a trackable."""
        return await self._call("GET", f"/trackables/{quote(trackable_id, safe='')}/providers")

    async def get_all_trackable_sensors(self, trackable_id: str) -> AnyTypeArray:
        """Sensor data of all providers of a trackable."""
        return await self._call("GET", f"/trackables/{quote(trackable_id, safe='')}/sensors")

    async def get_locating_rules(self) -> RuleSet:
        """Locating rules of trackables without own rules."""
        return await self._call("GET", "/trackables/rules/locating")

    async def update_locating_rules(self, body: RuleSet) -> RuleSet:
        """Replace the locating rules of trackables without own rules."""
        return await self._call("PUT", "/trackables/rules/locating", body=body)

    async def validate_locating_rule(self, body: RuleExpression) -> None:
        """Check the expression of a locating rule."""
        await self._call("POST", "/validator/rules/locating", body=body)

    async def get_location_provider_ids(self, *, limit: int | None = None, cursor: str | None = None) -> IdArray:
        """Ids of all providers."""
        return await self._call("GET", "/providers", query={"limit": limit, "cursor": cursor})

    async def create_location_provider(self, body: LocationProvider) -> LocationProvider:
        """Create a provider."""
        return await self._call("POST", "/providers", body=body)

    async def delete_providers(self) -> None:
        """Delete all providers."""
        await self._call("DELETE", "/providers")

    async def get_all_provider_objects(self, *, limit: int | None = None, cursor: str | None = None) -> LocationProviderArray:
        """All providers."""
        return await self._call("GET", "/providers/summary", query={"limit": limit, "cursor": cursor})

    async def get_provider_by_id(self, provider_id: str) -> LocationProvider:
        """One provider."""
        return await self._call("GET", f"/providers/{quote(provider_id, safe='')}")

    async def update_provider_by_id(self, provider_id: str, body: LocationProvider) -> None:
        """Replace a provider."""
        await self._call("PUT", f"/providers/{quote(provider_id, safe='')}", body=body)

    async def patch_provider_by_id(self, provider_id: str, body: JsonPatch) -> LocationProvider:
        """Change a provider by JSON Patch."""
        return await self._call("PATCH", f"/providers/{quote(provider_id, safe='')}", body=body)

    async def delete_provider_by_id(self, provider_id: str) -> None:
        """Delete a provider."""
        await self._call("DELETE", f"/providers/{quote(provider_id, safe='')}")

    async def get_inside_fence_for_provider(self, provider_id: str, *, crs: str | None = None, zone_id: str | None = None, geojson: bool | None = None, spatial_query: bool | None = None) -> FenceArrayOrFeatureCollection:
        """Fences that a provider is in."""
        return await self._call("GET", f"/providers/{quote(provider_id, safe='')}/fences", query={"crs": crs, "zone_id": zone_id, "geojson": geojson, "spatial_query": spatial_query})

    async def get_trackables_of_provider(self, provider_id: str) -> TrackableArray:
        """Trackables that a provider is assigned to."""
        return await self._call("GET", f"/providers/{quote(provider_id, safe='')}/trackables")

    async def get_sensors_by_provider_id(self, provider_id: str) -> AnyType:
        """Sensor data of a provider."""
        return await self._call("GET", f"/providers/{quote(provider_id, safe='')}/sensors")

    async def update_sensors_by_provider_id(self, provider_id: str, body: AnyType) -> None:
        """Set the sensor data of a provider, or clear it with null."""
        await self._call("PUT", f"/providers/{quote(provider_id, safe='')}/sensors", body=body)

    async def get_all_locations(self, *, crs: str | None = None, zone_id: str | None = None, geojson: bool | None = None, limit: int | None = None, cursor: str | None = None) -> LocationArrayOrFeatureCollection:
        """Last locations of all providers."""
        return await self._call("GET", "/providers/locations", query={"crs": crs, "zone_id": zone_id, "geojson": geojson, "limit": limit, "cursor": cursor})

    async def update_locations(self, body: LocationArray) -> None:
        """Send locations of any providers."""
        await self._call("PUT", "/providers/locations", body=body)

    async def post_locations(self, body: LocationArray) -> None:
        """Send locations of any providers."""
        await self._call("POST", "/providers/locations", body=body)

    async def delete_locations(self) -> None:
        """Delete the last locations of all providers."""
        await self._call("DELETE", "/providers/locations")

    async def update_proximities(self, body: ProximityArray) -> None:
        """Send proximities of any providers to zones."""
        await self._call("PUT", "/providers/proximities", body=body)

    async def post_proximities(self, body: ProximityArray) -> None:
        """Send proximities of any providers to zones."""
        await self._call("POST", "/providers/proximities", body=body)

    async def get_location_by_provider_id(self, provider_id: str, *, crs: str | None = None, zone_id: str | None = None, geojson: bool | None = None) -> LocationOrFeature:
        """Last location of a provider."""
        return await self._call("GET", f"/providers/{quote(provider_id, safe='')}/location", query={"crs": crs, "zone_id": zone_id, "geojson": geojson})

    async def update_location_by_provider_id(self, provider_id: str, body: Location) -> None:
        """Send a location of a provider; an unknown provider is created."""
        await self._call("PUT", f"/providers/{quote(provider_id, safe='')}/location", body=body)

    async def delete_provider_location_by_id(self, provider_id: str) -> None:
        """Delete the last location of a provider."""
        await self._call("DELETE", f"/providers/{quote(provider_id, safe='')}/location")

    async def update_proximity_by_provider_id(self, provider_id: str, body: Proximity) -> None:
        """Send the proximity of a provider to a zone."""
        await self._call("PUT", f"/providers/{quote(provider_id, safe='')}/proximity", body=body)

    async def get_all_fence_ids(self, *, limit: int | None = None, cursor: str | None = None) -> IdArray:
        """Ids of all fences."""
        return await self._call("GET", "/fences", query={"limit": limit, "cursor": cursor})

    async def create_fence(self, body: Fence, *, subdivide: bool | None = None) -> Fence:
        """Create a fence."""
        return await self._call("POST", "/fences", query={"subdivide": subdivide}, body=body)

    async def delete_fences(self) -> None:
        """Delete all fences."""
        await self._call("DELETE", "/fences")

    async def get_all_fences(self, *, limit: int | None = None, cursor: str | None = None, crs: str | None = None, zone_id: str | None = None, geojson: bool | None = None) -> FenceArrayOrFeatureCollection:
        """All fences."""
        return await self._call("GET", "/fences/summary", query={"limit": limit, "cursor": cursor, "crs": crs, "zone_id": zone_id, "geojson": geojson})

    async def get_fence_by_id(self, fence_id: str, *, crs: str | None = None, zone_id: str | None = None, geojson: bool | None = None) -> FenceOrFeature:
        """One fence."""
        return await self._call("GET", f"/fences/{quote(fence_id, safe='')}", query={"crs": crs, "zone_id": zone_id, "geojson": geojson})

    async def update_fence_by_id(self, fence_id: str, body: Fence, *, subdivide: bool | None = None) -> None:
        """Replace a fence."""
        await self._call("PUT", f"/fences/{quote(fence_id, safe='')}", query={"subdivide": subdivide}, body=body)

    async def patch_fence_by_id(self, fence_id: str, body: JsonPatch, *, subdivide: bool | None = None) -> Fence:
        """Change a fence by JSON Patch."""
        return await self._call("PATCH", f"/fences/{quote(fence_id, safe='')}", query={"subdivide": subdivide}, body=body)

    async def delete_fence_by_id(self, fence_id: str) -> None:
        """Delete a fence."""
        await self._call("DELETE", f"/fences/{quote(fence_id, safe='')}")

    async def get_locations_inside_fence(self, fence_id: str, *, crs: str | None = None, zone_id: str | None = None, geojson: bool | None = None, spatial_query: bool | None = None) -> LocationArrayOrFeatureCollection:
        """The locations in a fence."""
        return await self._call("GET", f"/fences/{quote(fence_id, safe='')}/locations", query={"crs": crs, "zone_id": zone_id, "geojson": geojson, "spatial_query": spatial_query})

    async def get_trackable_motions_inside_fence(self, fence_id: str, *, crs: str | None = None, zone_id: str | None = None, geojson: bool | None = None, spatial_query: bool | None = None) -> TrackableMotionArrayOrFeatureCollection:
        """The motions in a fence."""
        return await self._call("GET", f"/fences/{quote(fence_id, safe='')}/motions", query={"crs": crs, "zone_id": zone_id, "geojson": geojson, "spatial_query": spatial_query})

    async def get_providers_inside_fence(self, fence_id: str, *, spatial_query: bool | None = None) -> LocationProviderArray:
        """The providers in a fence."""
        return await self._call("GET", f"/fences/{quote(fence_id, safe='')}/providers", query={"spatial_query": spatial_query})

    async def get_trackables_inside(self, fence_id: str, *, spatial_query: bool | None = None) -> TrackableArray:
        """The trackables in a fence."""
        return await self._call("GET", f"/fences/{quote(fence_id, safe='')}/trackables", query={"spatial_query": spatial_query})

    async def put_fence_event(self, fence_id: str, body: FenceEventDraft) -> None:
        """Publish a fence event of a third party."""
        await self._call("PUT", f"/fences/{quote(fence_id, safe='')}/events", body=body)

    async def create_fence_event(self, fence_id: str, body: FenceEventDraft) -> None:
        """Publish a fence event of a third party."""
        await self._call("POST", f"/fences/{quote(fence_id, safe='')}/events", body=body)

    async def search_near(self, *, kind: SearchedKind | None = None, near: str | None = None, k: int | None = None, radius: float | None = None, floor: float | None = None, where: str | None = None, crs: str | None = None, zone_id: str | None = None) -> SearchResult:
        """Objects near a point."""
        return await self._call("GET", "/search", query={"kind": kind, "near": near, "k": k, "radius": radius, "floor": floor, "where": where, "crs": crs, "zone_id": zone_id})

    async def search_objects(self, body: SearchRequest, *, crs: str | None = None, zone_id: str | None = None) -> SearchResult:
        """Objects in a region or near a point."""
        return await self._call("POST", "/search", query={"crs": crs, "zone_id": zone_id}, body=body)

    async def get_crossings_of_fence(self, fence_id: str, *, from_: str | None = None, to: str | None = None, step: int | None = None) -> CrossingsReply:
        """Crossings of a gate by direction."""
        return await self._call("GET", f"/fences/{quote(fence_id, safe='')}/crossings", query={"from": from_, "to": to, "step": step})

    async def get_alert_rules(self) -> AlertRuleArray:
        """All alert rules."""
        return await self._call("GET", "/alerts/rules")

    async def create_alert_rule(self, body: AlertRule) -> AlertRule:
        """Create an alert rule."""
        return await self._call("POST", "/alerts/rules", body=body)

    async def preview_alert_rule(self, body: AlertRule) -> AlertPreview:
        """Preview of an alert rule."""
        return await self._call("POST", "/alerts/rules/preview", body=body)

    async def get_alert_rule_by_id(self, rule_id: str) -> AlertRule:
        """One alert rule."""
        return await self._call("GET", f"/alerts/rules/{quote(rule_id, safe='')}")

    async def update_alert_rule_by_id(self, rule_id: str, body: AlertRule) -> AlertRule:
        """Replace an alert rule."""
        return await self._call("PUT", f"/alerts/rules/{quote(rule_id, safe='')}", body=body)

    async def delete_alert_rule_by_id(self, rule_id: str) -> None:
        """Delete an alert rule."""
        await self._call("DELETE", f"/alerts/rules/{quote(rule_id, safe='')}")

    async def get_alerts(self, *, state: AlertState | None = None) -> AlertArray:
        """Alerts, the newest first."""
        return await self._call("GET", "/alerts", query={"state": state})

    async def get_alert_summary(self) -> AlertSummary:
        """Number of alerts by severity."""
        return await self._call("GET", "/alerts/summary")

    async def acknowledge_alerts(self, body: AlertSelection) -> None:
        """Acknowledge alerts."""
        await self._call("POST", "/alerts/acknowledge", body=body)

    async def clear_alerts(self, body: AlertSelection) -> None:
        """Clear alerts."""
        await self._call("POST", "/alerts/clear", body=body)

    async def assign_alerts(self, body: AlertAssignment) -> None:
        """Assign alerts to a person."""
        await self._call("POST", "/alerts/assign", body=body)

    async def comment_on_alerts(self, body: AlertRemark) -> None:
        """Comment on alerts."""
        await self._call("POST", "/alerts/comment", body=body)

    async def get_alert_snoozes(self) -> AlertSnoozeArray:
        """All snoozes of alerts."""
        return await self._call("GET", "/alerts/snoozes")

    async def create_alert_snooze(self, body: AlertSnooze) -> AlertSnooze:
        """Snooze the alerts of a rule, a fence or an object."""
        return await self._call("POST", "/alerts/snoozes", body=body)

    async def get_alert_snooze_by_id(self, snooze_id: str) -> AlertSnooze:
        """One snooze of alerts."""
        return await self._call("GET", f"/alerts/snoozes/{quote(snooze_id, safe='')}")

    async def delete_alert_snooze_by_id(self, snooze_id: str) -> None:
        """End a snooze of alerts."""
        await self._call("DELETE", f"/alerts/snoozes/{quote(snooze_id, safe='')}")

    async def get_alert_by_id(self, alert_id: str) -> Alert:
        """One alert."""
        return await self._call("GET", f"/alerts/{quote(alert_id, safe='')}")

    async def acknowledge_alert_by_id(self, alert_id: str) -> Alert:
        """Acknowledge an alert."""
        return await self._call("POST", f"/alerts/{quote(alert_id, safe='')}/acknowledge")

    async def clear_alert_by_id(self, alert_id: str) -> Alert:
        """Clear an alert."""
        return await self._call("POST", f"/alerts/{quote(alert_id, safe='')}/clear")

    async def get_views(self) -> MapViewArray:
        """All saved views of the map."""
        return await self._call("GET", "/views")

    async def create_view(self, body: MapView) -> MapView:
        """Save a view of the map."""
        return await self._call("POST", "/views", body=body)

    async def get_view_by_id(self, view_id: str) -> MapView:
        """One saved view."""
        return await self._call("GET", f"/views/{quote(view_id, safe='')}")

    async def update_view_by_id(self, view_id: str, body: MapView) -> MapView:
        """Replace a saved view."""
        return await self._call("PUT", f"/views/{quote(view_id, safe='')}", body=body)

    async def delete_view_by_id(self, view_id: str) -> None:
        """Delete a saved view."""
        await self._call("DELETE", f"/views/{quote(view_id, safe='')}")

    async def get_links(self) -> LinkArray:
        """All links to other hubs, with their states."""
        return await self._call("GET", "/links")

    async def create_link(self, body: Link) -> Link:
        """Create a link to another hub."""
        return await self._call("POST", "/links", body=body)

    async def get_link_by_id(self, link_id: str) -> Link:
        """One link, with its state."""
        return await self._call("GET", f"/links/{quote(link_id, safe='')}")

    async def update_link_by_id(self, link_id: str, body: Link) -> Link:
        """Replace a link; a secret that is absent is retained."""
        return await self._call("PUT", f"/links/{quote(link_id, safe='')}", body=body)

    async def delete_link_by_id(self, link_id: str) -> None:
        """Delete a link."""
        await self._call("DELETE", f"/links/{quote(link_id, safe='')}")

    async def get_sinks(self) -> SinkArray:
        """All sinks."""
        return await self._call("GET", "/sinks")

    async def create_sink(self, body: Sink) -> Sink:
        """Create a sink."""
        return await self._call("POST", "/sinks", body=body)

    async def get_sink_by_id(self, sink_id: str) -> Sink:
        """One sink."""
        return await self._call("GET", f"/sinks/{quote(sink_id, safe='')}")

    async def update_sink_by_id(self, sink_id: str, body: Sink) -> Sink:
        """Replace a sink."""
        return await self._call("PUT", f"/sinks/{quote(sink_id, safe='')}", body=body)

    async def patch_sink_by_id(self, sink_id: str, body: JsonPatch) -> Sink:
        """Change a sink by JSON Patch."""
        return await self._call("PATCH", f"/sinks/{quote(sink_id, safe='')}", body=body)

    async def delete_sink_by_id(self, sink_id: str) -> None:
        """Delete a sink."""
        await self._call("DELETE", f"/sinks/{quote(sink_id, safe='')}")

    async def get_status_of_all_sinks(self) -> SinkStatusArray:
        """Status of all sinks."""
        return await self._call("GET", "/sinks/status")

    async def get_status_of_sink(self, sink_id: str) -> SinkStatus:
        """Status of a sink."""
        return await self._call("GET", f"/sinks/{quote(sink_id, safe='')}/status")

    async def get_deliveries_of_sink(self, sink_id: str, *, state: SinkDeliveryState | None = None) -> SinkDeliveryArray:
        """Events that wait for delivery, and the last deliveries, the newest first."""
        return await self._call("GET", f"/sinks/{quote(sink_id, safe='')}/deliveries", query={"state": state})

    async def test_sink_by_id(self, sink_id: str) -> SinkTest:
        """Send a test event to a sink."""
        return await self._call("POST", f"/sinks/{quote(sink_id, safe='')}/test")

    async def pause_sink_by_id(self, sink_id: str) -> SinkStatus:
        """Pause the delivery to a sink."""
        return await self._call("POST", f"/sinks/{quote(sink_id, safe='')}/pause")

    async def resume_sink_by_id(self, sink_id: str) -> SinkStatus:
        """Resume a sink, and retry at once."""
        return await self._call("POST", f"/sinks/{quote(sink_id, safe='')}/resume")

    async def replay_sink_by_id(self, sink_id: str, body: SinkReplay) -> SinkStatus:
        """Deliver events again, from a position of the event log."""
        return await self._call("POST", f"/sinks/{quote(sink_id, safe='')}/replay", body=body)

    async def get_walk_tests(self) -> WalkTestArray:
        """All walk tests."""
        return await self._call("GET", "/walk_tests")

    async def create_walk_test(self, body: WalkTest) -> WalkTest:
        """Start a walk test."""
        return await self._call("POST", "/walk_tests", body=body)

    async def get_walk_test_by_id(self, walk_test_id: str) -> WalkTest:
        """One walk test."""
        return await self._call("GET", f"/walk_tests/{quote(walk_test_id, safe='')}")

    async def update_walk_test_by_id(self, walk_test_id: str, body: WalkTest) -> WalkTest:
        """Replace a walk test."""
        return await self._call("PUT", f"/walk_tests/{quote(walk_test_id, safe='')}", body=body)

    async def delete_walk_test_by_id(self, walk_test_id: str) -> None:
        """Delete a walk test."""
        await self._call("DELETE", f"/walk_tests/{quote(walk_test_id, safe='')}")

    async def mark_pass_of_walk_test(self, walk_test_id: str, body: WalkPass) -> WalkTest:
        """Mark that the tag is at a point."""
        return await self._call("POST", f"/walk_tests/{quote(walk_test_id, safe='')}/pass", body=body)

    async def finish_walk_test_by_id(self, walk_test_id: str) -> WalkTest:
        """End a walk test."""
        return await self._call("POST", f"/walk_tests/{quote(walk_test_id, safe='')}/finish")

    async def get_result_of_walk_test(self, walk_test_id: str, *, format: str | None = None) -> WalkResult:
        """Figures of a walk test, by ISO/IEC 18305."""
        return await self._call("GET", f"/walk_tests/{quote(walk_test_id, safe='')}/result", query={"format": format})

    async def get_api_keys(self) -> ApiKeyArray:
        """All API keys, without their secrets."""
        return await self._call("GET", "/keys")

    async def create_api_key(self, body: ApiKey) -> ApiKey:
        """Create an API key."""
        return await self._call("POST", "/keys", body=body)

    async def get_api_key_by_id(self, key_id: str) -> ApiKey:
        """One API key, without its secret."""
        return await self._call("GET", f"/keys/{quote(key_id, safe='')}")

    async def delete_api_key_by_id(self, key_id: str) -> None:
        """Delete an API key."""
        await self._call("DELETE", f"/keys/{quote(key_id, safe='')}")

    async def revoke_api_key_by_id(self, key_id: str) -> ApiKey:
        """Revoke an API key; it remains in the list."""
        return await self._call("POST", f"/keys/{quote(key_id, safe='')}/revoke")

    async def get_sources(self) -> SourceArray:
        """All sources of locations."""
        return await self._call("GET", "/sources")

    async def create_source(self, body: Source) -> Source:
        """Create a source of locations."""
        return await self._call("POST", "/sources", body=body)

    async def get_source_by_id(self, data_source_id: str) -> Source:
        """One source."""
        return await self._call("GET", f"/sources/{quote(data_source_id, safe='')}")

    async def update_source_by_id(self, data_source_id: str, body: Source) -> Source:
        """Replace a source; a secret that is absent is retained."""
        return await self._call("PUT", f"/sources/{quote(data_source_id, safe='')}", body=body)

    async def patch_source_by_id(self, data_source_id: str, body: JsonPatch) -> Source:
        """Change a source by JSON Patch."""
        return await self._call("PATCH", f"/sources/{quote(data_source_id, safe='')}", body=body)

    async def delete_source_by_id(self, data_source_id: str) -> None:
        """Delete a source."""
        await self._call("DELETE", f"/sources/{quote(data_source_id, safe='')}")

    async def get_status_of_all_sources(self) -> SourceStatusArray:
        """Status of all sources."""
        return await self._call("GET", "/sources/status")

    async def get_status_of_source(self, data_source_id: str) -> SourceStatus:
        """Status of a source."""
        return await self._call("GET", f"/sources/{quote(data_source_id, safe='')}/status")

    async def get_source_presets(self) -> SourcePresetArray:
        """Sources for known systems, as templates."""
        return await self._call("GET", "/sources/presets")

    async def preview_source(self, body: SourceSample) -> SourcePreview:
        """Map a sample as a source would, without storing anything."""
        return await self._call("POST", "/sources/preview", body=body)

    async def rotate_token_of_source(self, data_source_id: str) -> SourceToken:
        """Replace the token of an http source."""
        return await self._call("POST", f"/sources/{quote(data_source_id, safe='')}/token")

    async def post_data_of_source(self, data_source_id: str, body: SourceData) -> None:
        """Send a payload of an http source."""
        await self._call("POST", f"/sources/{quote(data_source_id, safe='')}/data", body=body)

    async def get_anchor_ids(self, *, limit: int | None = None, cursor: str | None = None) -> IdArray:
        """Ids of all anchors."""
        return await self._call("GET", "/anchors", query={"limit": limit, "cursor": cursor})

    async def create_anchor(self, body: Anchor) -> Anchor:
        """Create an anchor."""
        return await self._call("POST", "/anchors", body=body)

    async def delete_all_anchors(self) -> None:
        """Delete all anchors."""
        await self._call("DELETE", "/anchors")

    async def get_all_anchor_objects(self, *, limit: int | None = None, cursor: str | None = None, georef: bool | None = None) -> AnchorArray:
        """All anchors."""
        return await self._call("GET", "/anchors/summary", query={"limit": limit, "cursor": cursor, "georef": georef})

    async def get_anchor_by_id(self, anchor_id: str, *, georef: bool | None = None) -> Anchor:
        """One anchor."""
        return await self._call("GET", f"/anchors/{quote(anchor_id, safe='')}", query={"georef": georef})

    async def update_anchor_by_id(self, anchor_id: str, body: Anchor) -> None:
        """Replace an anchor."""
        await self._call("PUT", f"/anchors/{quote(anchor_id, safe='')}", body=body)

    async def patch_anchor_by_id(self, anchor_id: str, body: JsonPatch) -> Anchor:
        """Change an anchor by JSON Patch."""
        return await self._call("PATCH", f"/anchors/{quote(anchor_id, safe='')}", body=body)

    async def delete_anchor_by_id(self, anchor_id: str) -> None:
        """Delete an anchor."""
        await self._call("DELETE", f"/anchors/{quote(anchor_id, safe='')}")

    async def update_cisco_locations(self, body: CiscoNotifications) -> None:
        """Send location notifications of Cisco CMX or Cisco Spaces."""
        await self._call("PUT", "/adapters/cisco/locations", body=body)

    async def post_cisco_locations(self, body: CiscoNotifications) -> None:
        """Send location notifications of Cisco CMX or Cisco Spaces."""
        await self._call("POST", "/adapters/cisco/locations", body=body)

    async def get_available_rpc_methods(self) -> RpcAvailable:
        """Callable methods and their handlers."""
        return await self._call("GET", "/rpc/available")

    async def call_rpc_method(self, body: RpcRequest) -> RpcResponse | None:
        """Call a method."""
        return await self._call("PUT", "/rpc", body=body)

    async def get_events(self, *, topic: str | None = None, fence_id: str | None = None, foreign_id: str | None = None, provider_id: str | None = None, trackable_id: str | None = None, event_type: str | None = None, object_type: str | None = None, collision_type: str | None = None, floor: str | None = None, collision_id_1: str | None = None, object_id_1: str | None = None, collision_id_2: str | None = None, object_id_2: str | None = None, id: str | None = None, rule_id: str | None = None, state: str | None = None, other_trackable_id: str | None = None, crs: str | None = None, zone_id: str | None = None, after: str | None = None, limit: int | None = None) -> LoggedEvents:
        """Events after a cursor."""
        return await self._call("GET", "/events", query={"topic": topic, "fence_id": fence_id, "foreign_id": foreign_id, "provider_id": provider_id, "trackable_id": trackable_id, "event_type": event_type, "object_type": object_type, "collision_type": collision_type, "floor": floor, "collision_id_1": collision_id_1, "object_id_1": object_id_1, "collision_id_2": collision_id_2, "object_id_2": object_id_2, "id": id, "rule_id": rule_id, "state": state, "other_trackable_id": other_trackable_id, "crs": crs, "zone_id": zone_id, "after": after, "limit": limit})

    async def get_events_stream(self, *, topic: str | None = None, fence_id: str | None = None, foreign_id: str | None = None, provider_id: str | None = None, trackable_id: str | None = None, event_type: str | None = None, object_type: str | None = None, collision_type: str | None = None, floor: str | None = None, collision_id_1: str | None = None, object_id_1: str | None = None, collision_id_2: str | None = None, object_id_2: str | None = None, id: str | None = None, rule_id: str | None = None, state: str | None = None, other_trackable_id: str | None = None, crs: str | None = None, zone_id: str | None = None, after: str | None = None) -> Any:
        """Events after a cursor, and then each new one, as Server-Sent Events."""
        return await self._call("GET", "/events/stream", query={"topic": topic, "fence_id": fence_id, "foreign_id": foreign_id, "provider_id": provider_id, "trackable_id": trackable_id, "event_type": event_type, "object_type": object_type, "collision_type": collision_type, "floor": floor, "collision_id_1": collision_id_1, "object_id_1": object_id_1, "collision_id_2": collision_id_2, "object_id_2": object_id_2, "id": id, "rule_id": rule_id, "state": state, "other_trackable_id": other_trackable_id, "crs": crs, "zone_id": zone_id, "after": after})

    async def get_audit(self, *, kind: AuditKind | None = None, id: str | None = None, subject: str | None = None, from_: str | None = None, to: str | None = None, limit: int | None = None, cursor: str | None = None) -> AuditEntries:
        """Changes of entities and settings, and reads of the history: by whom, when, and from where."""
        return await self._call("GET", "/audit", query={"kind": kind, "id": id, "subject": subject, "from": from_, "to": to, "limit": limit, "cursor": cursor})

    async def get_history_of_trackable(self, trackable_id: str, *, from_: str | None = None, to: str | None = None, step: int | None = None, crs: str | None = None, zone_id: str | None = None, limit: int | None = None, cursor: str | None = None, format: str | None = None) -> PlacesReply:
        """Positions of a trackable."""
        return await self._call("GET", f"/trackables/{quote(trackable_id, safe='')}/history", query={"from": from_, "to": to, "step": step, "crs": crs, "zone_id": zone_id, "limit": limit, "cursor": cursor, "format": format})

    async def delete_trackable_history(self, trackable_id: str, *, from_: str | None = None, to: str | None = None) -> ErasureReply:
        """Erase the history of a trackable."""
        return await self._call("DELETE", f"/trackables/{quote(trackable_id, safe='')}/history", query={"from": from_, "to": to})

    async def get_history_of_provider(self, provider_id: str, *, from_: str | None = None, to: str | None = None, step: int | None = None, crs: str | None = None, zone_id: str | None = None, limit: int | None = None, cursor: str | None = None, format: str | None = None) -> PlacesReply:
        """Positions of a provider."""
        return await self._call("GET", f"/providers/{quote(provider_id, safe='')}/history", query={"from": from_, "to": to, "step": step, "crs": crs, "zone_id": zone_id, "limit": limit, "cursor": cursor, "format": format})

    async def delete_provider_history(self, provider_id: str, *, from_: str | None = None, to: str | None = None) -> ErasureReply:
        """Erase the history of a provider."""
        return await self._call("DELETE", f"/providers/{quote(provider_id, safe='')}/history", query={"from": from_, "to": to})

    async def get_snapshot(self, *, at: str | None = None, max_age: int | None = None, kind: str | None = None, bbox: str | None = None, floor: float | None = None, crs: str | None = None, zone_id: str | None = None, limit: int | None = None, cursor: str | None = None) -> SnapshotReply:
        """Positions of all objects at a point in time."""
        return await self._call("GET", "/history/snapshot", query={"at": at, "max_age": max_age, "kind": kind, "bbox": bbox, "floor": floor, "crs": crs, "zone_id": zone_id, "limit": limit, "cursor": cursor})

    async def get_tracks(self, *, from_: str | None = None, to: str | None = None, step: int | None = None, kind: str | None = None, bbox: str | None = None, floor: float | None = None, limit: int | None = None, cursor: str | None = None) -> TracksReply:
        """Positions of many objects, one per step, as columns."""
        return await self._call("GET", "/history/tracks", query={"from": from_, "to": to, "step": step, "kind": kind, "bbox": bbox, "floor": floor, "limit": limit, "cursor": cursor})

    async def get_past_events(self, *, topic: str | None = None, from_: str | None = None, to: str | None = None, fence_id: str | None = None, trackable_id: str | None = None, provider_id: str | None = None, event_type: str | None = None, limit: int | None = None, cursor: str | None = None) -> HistoryEventsReply:
        """Fence events or collision events, as they were published."""
        return await self._call("GET", "/history/events", query={"topic": topic, "from": from_, "to": to, "fence_id": fence_id, "trackable_id": trackable_id, "provider_id": provider_id, "event_type": event_type, "limit": limit, "cursor": cursor})

    async def get_visits_of_fence(self, fence_id: str, *, from_: str | None = None, to: str | None = None, kind: str | None = None, limit: int | None = None, cursor: str | None = None) -> VisitsReply:
        """Visits of a fence."""
        return await self._call("GET", f"/fences/{quote(fence_id, safe='')}/visits", query={"from": from_, "to": to, "kind": kind, "limit": limit, "cursor": cursor})

    async def get_visits_of_trackable(self, trackable_id: str, *, from_: str | None = None, to: str | None = None, limit: int | None = None, cursor: str | None = None) -> VisitsReply:
        """Visits of a trackable."""
        return await self._call("GET", f"/trackables/{quote(trackable_id, safe='')}/visits", query={"from": from_, "to": to, "limit": limit, "cursor": cursor})

    async def get_dwell(self, *, from_: str | None = None, to: str | None = None, step: int | None = None, fence_id: str | None = None, kind: str | None = None) -> DwellReply:
        """Dwell times in fences."""
        return await self._call("GET", "/analytics/dwell", query={"from": from_, "to": to, "step": step, "fence_id": fence_id, "kind": kind})

    async def get_occupancy(self, *, from_: str | None = None, to: str | None = None, step: int | None = None, fence_id: str | None = None, kind: str | None = None) -> OccupancyReply:
        """Number of objects in fences over time."""
        return await self._call("GET", "/analytics/occupancy", query={"from": from_, "to": to, "step": step, "fence_id": fence_id, "kind": kind})

    async def get_flows(self, *, from_: str | None = None, to: str | None = None, fence_id: str | None = None, kind: str | None = None) -> FlowsReply:
        """Transitions of objects between fences."""
        return await self._call("GET", "/analytics/flows", query={"from": from_, "to": to, "fence_id": fence_id, "kind": kind})

    async def get_heatmap(self, *, from_: str | None = None, to: str | None = None, kind: str | None = None, bbox: str | None = None, floor: float | None = None, grid: str | None = None, cell: float | None = None, resolution: int | None = None, max_gap: int | None = None) -> HeatmapReply:
        """Dwell times by the cells of a grid."""
        return await self._call("GET", "/analytics/heatmap", query={"from": from_, "to": to, "kind": kind, "bbox": bbox, "floor": floor, "grid": grid, "cell": cell, "resolution": resolution, "max_gap": max_gap})

    async def get_quality(self, *, from_: str | None = None, to: str | None = None, kind: str | None = None, bbox: str | None = None, floor: float | None = None, cell: float | None = None, max_gap: int | None = None, max_speed: float | None = None) -> QualityReply:
        """Accuracy, gaps and jumps of positions by the cells of a grid."""
        return await self._call("GET", "/analytics/quality", query={"from": from_, "to": to, "kind": kind, "bbox": bbox, "floor": floor, "cell": cell, "max_gap": max_gap, "max_speed": max_speed})

    async def get_trips(self, *, trackable_id: str | None = None, from_: str | None = None, to: str | None = None, radius: float | None = None, min_stop: int | None = None, max_gap: int | None = None) -> TripsReply:
        """Stops and trips of a trackable."""
        return await self._call("GET", "/analytics/trips", query={"trackable_id": trackable_id, "from": from_, "to": to, "radius": radius, "min_stop": min_stop, "max_gap": max_gap})

    async def get_moving_features_landing_page(self) -> LandingPage:
        """Landing page of Moving Features."""
        return await self._call("GET", "/ogc/mf")

    async def get_moving_features_conformance(self) -> Conformance:
        """Conformance classes of Moving Features."""
        return await self._call("GET", "/ogc/mf/conformance")

    async def get_moving_collections(self) -> MovingCollections:
        """The collections of Moving Features."""
        return await self._call("GET", "/ogc/mf/collections")

    async def get_collection_of_moving_trackables(self) -> MovingCollection:
        """The collection of trackables."""
        return await self._call("GET", "/ogc/mf/collections/trackables")

    async def get_moving_trackables(self, *, bbox: str | None = None, datetime: str | None = None, limit: int | None = None, cursor: str | None = None) -> Any:
        """The trackables with positions."""
        return await self._call("GET", "/ogc/mf/collections/trackables/items", query={"bbox": bbox, "datetime": datetime, "limit": limit, "cursor": cursor})

    async def get_moving_trackable_by_id(self, trackable_id: str) -> Any:
        """A trackable as a moving feature."""
        return await self._call("GET", f"/ogc/mf/collections/trackables/items/{quote(trackable_id, safe='')}")

    async def get_way_of_moving_trackable(self, trackable_id: str, *, bbox: str | None = None, datetime: str | None = None, leaf: str | None = None, subTrajectory: bool | None = None, limit: int | None = None, cursor: str | None = None) -> TemporalGeometrySequence:
        """The path of a trackable as temporal geometries."""
        return await self._call("GET", f"/ogc/mf/collections/trackables/items/{quote(trackable_id, safe='')}/tgsequence", query={"bbox": bbox, "datetime": datetime, "leaf": leaf, "subTrajectory": subTrajectory, "limit": limit, "cursor": cursor})

    async def get_collection_of_moving_providers(self) -> MovingCollection:
        """The collection of providers."""
        return await self._call("GET", "/ogc/mf/collections/providers")

    async def get_moving_providers(self, *, bbox: str | None = None, datetime: str | None = None, limit: int | None = None, cursor: str | None = None) -> Any:
        """The providers with positions."""
        return await self._call("GET", "/ogc/mf/collections/providers/items", query={"bbox": bbox, "datetime": datetime, "limit": limit, "cursor": cursor})

    async def get_moving_provider_by_id(self, provider_id: str) -> Any:
        """A provider as a moving feature."""
        return await self._call("GET", f"/ogc/mf/collections/providers/items/{quote(provider_id, safe='')}")

    async def get_way_of_moving_provider(self, provider_id: str, *, bbox: str | None = None, datetime: str | None = None, leaf: str | None = None, subTrajectory: bool | None = None, limit: int | None = None, cursor: str | None = None) -> TemporalGeometrySequence:
        """The path of a provider as temporal geometries."""
        return await self._call("GET", f"/ogc/mf/collections/providers/items/{quote(provider_id, safe='')}/tgsequence", query={"bbox": bbox, "datetime": datetime, "leaf": leaf, "subTrajectory": subTrajectory, "limit": limit, "cursor": cursor})

    async def get_import(self) -> Import:
        """The running import, or the last one since the start of the hub."""
        return await self._call("GET", "/import")

    async def import_entities(self, body: EntityDocument, *, dry_run: bool | None = None, delete_others: bool | None = None, delete_members: bool | None = None) -> Import:
        """Import a document of entities, all of it or nothing."""
        return await self._call("POST", "/import", query={"dry_run": dry_run, "delete_others": delete_others, "delete_members": delete_members}, body=body)

    async def cancel_import(self) -> None:
        """Cancel the running import."""
        await self._call("DELETE", "/import")

    async def get_demo(self) -> Demo:
        """State of the demo."""
        return await self._call("GET", "/demo")

    async def start_demo(self, *, beside: bool | None = None) -> Demo:
        """Start the demo: a simulated warehouse with 40 tags and 13 fences."""
        return await self._call("POST", "/demo", query={"beside": beside})

    async def stop_demo(self) -> None:
        """Stop the demo and remove its entities."""
        await self._call("DELETE", "/demo")

    async def get_health(self) -> Health:
        """Whether the hub is ready."""
        return await self._call("GET", "/health")

    async def get_version(self) -> Version:
        """Versions of the hub and of its API."""
        return await self._call("GET", "/version")

    async def get_health_of_system(self) -> SystemHealth:
        """Uptime of the hub, and its configuration without secrets."""
        return await self._call("GET", "/health/system")

    async def get_health_of_websocket(self) -> SocketHealth:
        """WebSocket clients, their subscriptions, and the times of the last events."""
        return await self._call("GET", "/health/ws")

    async def get_health_of_mqtt(self) -> MqttHealth:
        """The connection to the MQTT broker, and its counters."""
        return await self._call("GET", "/health/mqtt")

    async def get_health_of_history(self) -> HistoryHealth:
        """Health of the history."""
        return await self._call("GET", "/health/history")

    async def get_health_of_all_zones(self) -> HealthSourceArray:
        """Input from each zone."""
        return await self._call("GET", "/health/zones/summary")

    async def get_health_of_zone(self, zone_id: str) -> HealthSource:
        """Input from a zone."""
        return await self._call("GET", f"/health/zones/{quote(zone_id, safe='')}")

    async def get_health_of_all_sources(self) -> HealthSourceArray:
        """Input from each source of locations."""
        return await self._call("GET", "/health/sources/summary")

    async def get_health_of_source(self, source_id: str) -> HealthSource:
        """Input from a source of locations."""
        return await self._call("GET", f"/health/sources/{quote(source_id, safe='')}")

    async def get_cluster_owners(self) -> ClusterOwners:
        """Owners of the partitions, for clients that send locations directly to the owner."""
        return await self._call("GET", "/cluster/owners")

    async def get_cluster_provider(self, provider_id: str) -> ProviderOwner:
        """Hub that owns a provider."""
        return await self._call("GET", f"/cluster/owners/{quote(provider_id, safe='')}")

    async def get_all_consumption(self) -> ConsumptionArray:
        """Usage by month."""
        return await self._call("GET", "/stats/consumption/summary")

    async def get_current_consumption(self) -> Consumption:
        """Usage of the current month."""
        return await self._call("GET", "/stats/consumption/current")

    async def get_consumption_of_month(self, year: str, month: str) -> ConsumptionArray:
        """Usage of a month."""
        return await self._call("GET", f"/stats/consumption/{quote(year, safe='')}/{quote(month, safe='')}")

    async def get_license_info(self) -> LicenseInfo:
        """Information about the license; the hub needs none."""
        return await self._call("GET", "/license/info")

    async def update_license_key(self, body: LicenseKeyBody) -> None:
        """Set the license key."""
        await self._call("PUT", "/license/key", body=body)

    async def get_license_lease(self) -> Lease:
        """The effective license: that of the key, or a trial."""
        return await self._call("GET", "/license/lease")

    async def delete_license_lease(self) -> None:
        """Delete the license key and the trial."""
        await self._call("DELETE", "/license/lease")

    async def start_trial(self) -> Lease:
        """Start a trial of 30 days, unless one was started before."""
        return await self._call("GET", "/license/starttrial")

    async def get_open_api(self) -> Document:
        """The REST API as an OpenAPI 3.1 document."""
        return await self._call("GET", "/openapi.json")

    async def get_open_api30(self) -> Document:
        """The same as an OpenAPI 3.0 document."""
        return await self._call("GET", "/openapi-3.0.json")

    async def get_async_api(self) -> Document:
        """The WebSocket API as an AsyncAPI 3.0 document, with MQTT where the hub has a broker."""
        return await self._call("GET", "/asyncapi.json")
