/**
 * Reasons of errors: one table for their codes, English messages and parameters. A reason and its parameters are what
 * clients compare, so a reason is never renamed or removed. `{name}` is a parameter; `{detail}` is text of a library or
 * of the operating system, which only the message has. `npm run generate` writes docs/errors.md from here.
 */
const REASONS_OF_CODE = {
  HUB_BAD_REQUEST: {
    above_maximum: 'must be <= {maximum}',
    axis_out_of_range: 'must be a {axis} from {minimum} to {maximum}',
    bad_cursor: 'must be the next_cursor of another reply',
    batch: 'must be an object, found a batch of {count}',
    bbox_too_large: 'must be smaller, or the span or the area smaller: there are more than {limit} cells',
    below_minimum: 'must be >= {minimum}',
    call_timeout:
      'Cannot finish the call of "{method}": {count} of {handlers} handlers have answered within {limit} ms',
    carried_by_itself: 'must not be carried by the {kind} itself',
    cell_too_small:
      'must be greater than {minimum}, or the span or the area smaller: there are more than {limit} cells',
    check_too_long:
      'must be found valid within {limit} ms, as max_geometry_check_time says, found that it takes longer',
    collinear: 'must outline an area, found {count} pairs of rows on one line',
    control_characters: 'must have no control characters',
    cursor_of_other_hub: 'must be a cursor of this hub, found one of another hub: {found}',
    cursor_unknown: 'must be a cursor of the event log, found {found}',
    empty: 'must not be empty',
    empty_body: 'must be JSON, found nothing',
    empty_list: 'must have at least one id or be absent, found none',
    ends_before_start: 'must not be before started_at',
    exit_before_entry: 'must not be before entry_time',
    expected_here: 'expected {token} at column {column}',
    expected_property: 'expected one of {allowed} at column {column}',
    expected_sign: 'expected {sign} at column {column}',
    fence_not_in_crs: '{kind} "{id}" cannot be shown in {crs}: found a region in {fence_crs} of zone "{zone_id}"',
    handler_left: 'handler "{handler_id}" of "{method}" has left before it answered',
    handler_unreachable: 'handler "{handler_id}" of "{method}" cannot be reached',
    holes: 'must not be set for a region with holes',
    import_being_stored: 'Cannot cancel the import {import_id}: it is being stored',
    import_too_large: 'Cannot import all or nothing in a cluster: changes may have {limit} bytes as JSON',
    invalid_polygon: 'must be a valid polygon, found {defect} at {position}',
    keyword_mismatch: 'does not match the schema: {keyword}',
    limit_reached: 'must be at most {limit}, found {count} before this one',
    line_touches_itself: 'must be on a line that does not cross or touch itself',
    missing: 'is required, but is missing',
    missing_entity_id: 'must be the id of the entity',
    missing_for: 'is required for {purpose}',
    missing_for_kind: 'is required for a rule of kind {rule_kind}',
    missing_for_type: 'are required for a zone of type {type}, found none',
    missing_provider: 'is required, but is {found}',
    missing_unless_all: 'are required unless all is true',
    missing_without_zone: 'is required without zone_id',
    nested_too_deep: 'expected at most {limit} nested levels at column {column}',
    no_area: 'must enclose an area',
    no_event_log: 'Cannot replay events: the hub has no event log, see the setting event_retention',
    no_geojson_of_log: 'must not be true with after: the event log has no GeoJSON',
    no_handler: 'Cannot call "{method}": it has no handler',
    no_handler_in_zone: 'Cannot call "{method}": it has no handler in this zone',
    no_handler_of_id: 'Cannot call "{method}": _handler_id: no handler of it has the id "{handler_id}"',
    no_location: 'is no location',
    no_match: 'must match a schema in anyOf',
    no_outline: 'must outline an area, found that zone "{zone_id}" is not placed by them',
    no_pattern_match: 'must match pattern "{pattern}"',
    no_placement: 'must place a zone, found {detail}',
    no_proximity: 'is no proximity',
    no_ring: 'must have at least one ring',
    no_success: 'Cannot call "{method}" with success: all of {count} handlers have answered an error',
    not_a_bbox: 'must be west,south,east,north in degrees with south up to north',
    not_a_bbox_with_heights: 'must be four numbers, west,south,east,north in degrees, or six with heights',
    not_a_boolean: 'must be true or false',
    not_a_count: 'must be an integer from {minimum}',
    not_a_crs:
      'must be one of local, EPSG:4326, EPSG:32601 to EPSG:32660, EPSG:32701 to EPSG:32760, EPSG:32661 or EPSG:32761',
    not_a_datetime: 'must be an RFC 3339 date and time, or two of them in their order with a slash between',
    not_a_filled_string: 'must be a string that is not empty',
    not_a_foreign_id: 'must be the foreign_id of a zone',
    not_a_header: 'must be the name of a header that the hub does not set',
    not_a_json_pointer: 'must be a JSON Pointer',
    not_a_certificate: 'must have certificates in PEM: {detail}',
    not_a_mechanism: 'must have a mechanism of SASL as its parameter sasl: {allowed}',
    not_a_number: 'must be a number',
    not_a_parent: 'must be the id of a trackable or of a proximity zone',
    not_a_position: 'must be a position of 2 or 3 numbers',
    not_a_projected_crs: 'must be one of EPSG:32601 to EPSG:32660, EPSG:32701 to EPSG:32760, EPSG:32661 or EPSG:32761',
    not_a_query: 'must begin with ?',
    not_a_ring: 'must be a ring, a list of positions',
    not_a_signing_key: 'must be whsec_ and {minimum} to {maximum} bytes in base64',
    not_a_sink_url: 'must be a URL with {allowed} for a sink of type {sink_type}',
    not_a_string: 'must be a string',
    not_a_string_or_number: 'must be a string or a number',
    not_a_subject: 'must have a subject of NATS as its path, such as /rtls.events',
    not_a_time: 'must be an RFC 3339 date and time',
    not_a_time_zone: 'must be a time zone, such as Europe/Berlin',
    not_a_timeout: 'must be a whole number of milliseconds from 1 to {limit}',
    not_a_topic: 'must have a topic of Kafka as its path, such as /rtls.events',
    not_a_trackable: 'must be the id of a trackable',
    not_a_uuid: 'must be a UUID',
    not_a_walk_point: 'must be the id of a point of the walk test',
    not_above: 'must be > {minimum}',
    not_addressed_method: 'must be "{expected}" as it was addressed',
    not_an_api_url: 'must be an http or https URL without user name, password, query and fragment',
    not_an_address: 'must be an e-mail address, such as rtls@example.com',
    not_an_array: 'must be an array',
    not_accepted: 'must include {media_type}, found {found}',
    not_an_expression: 'must be an expression or its JSON, found {detail}',
    not_an_integer: 'must be an integer',
    not_an_object: 'must be an object',
    not_as_in_path: 'must be "{expected}" as in the path',
    not_before: 'must be before to, found "{from}" and "{to}"',
    not_below: 'must be < {maximum}',
    not_exactly_one: 'exactly one of {member} and {other_member} is required',
    not_finite: 'must be a finite number',
    not_for_kind: 'must be absent from a rule of kind {rule_kind}',
    not_for_object_type: 'must be absent from a rule about objects of type {type}',
    not_for_proximity: 'must be absent from a proximity zone, found {count} rows',
    not_for_sink_type: 'must be absent from a sink of type {sink_type}',
    not_geojson: 'must be a GeoJSON {type}',
    not_geojson_of: 'must be a GeoJSON geometry of one of the types {allowed}',
    not_geojson_of_two: 'must be a GeoJSON {type} or {other_type}',
    not_in_range: 'must be a number from {minimum} to {maximum}',
    not_json: 'must be JSON, found {detail}',
    not_json_pointers: 'must be a list of JSON Pointers',
    not_local: 'must be local or absent',
    not_local_or_wgs84: 'must be local or EPSG:4326',
    not_on_earth: 'must be a place on the earth',
    not_percent_encoded: 'must be percent-encoded UTF-8',
    not_placed_zone: 'must name a zone with ground control points when crs is local',
    not_positions: 'must be a list of at least {limit} positions',
    not_positive: 'must be greater than 0',
    not_positive_for: 'must be greater than 0 for {purpose}',
    not_proximity_zone: 'must name a proximity zone',
    not_registered: 'is not registered on this connection: "{method}"',
    not_rfid_or_ibeacon: 'must name a proximity zone (rfid or ibeacon), found {found} of type {type}',
    not_rings: 'must be a list of rings',
    not_text: 'must be text, found bytes that are not UTF-8',
    not_user_and_password: 'must be a user name and a password, with a colon between',
    not_utf8: 'must be JSON, found bytes that are not UTF-8',
    not_value: 'must be {expected}',
    not_well_formed: 'must be well-formed Unicode, found half of a surrogate pair',
    not_with: 'must not be given together with {member}',
    not_with_update: 'must not be set together with the automatic update in properties',
    not_zone: 'must name a zone when crs is local',
    number_too_large: 'must be a finite number, found one too large',
    odd_rows: 'must have an even number of rows',
    open_datetime: 'requires a datetime with both ends',
    open_ring: 'must have at least {limit} positions, the last the same as the first',
    out_of_choices: 'must be one of {allowed}',
    out_of_crs: 'must lie within reach of the crs',
    out_of_crs_range: '{kind} "{id}" cannot be shown in {crs}: {axis} must be from {minimum} to {maximum}',
    out_of_reach: 'must lie within reach of {crs}',
    out_of_zone: 'must lie within reach of zone "{zone_id}"',
    params_used_up:
      'must have at most {limit} characters on one connection, found {count} with those of other subscriptions',
    parents_too_deep: 'must be at most {limit} levels deep, found {count} or more',
    patch_bad_index: 'must end with - or a number up to {maximum}',
    patch_differs: 'must equal the value at "{pointer}"',
    patch_into_itself: 'must not be moved into itself',
    patch_leads_nowhere: 'must lead to a value, found none at "{pointer}"',
    patch_no_container: 'must lead into an object or an array',
    patch_too_deep: 'must not lead deeper than {limit} levels',
    patch_too_large: 'must not add more to the operations before it',
    proximity_only: 'is for proximity zones only',
    query_exceeds_memory:
      'Cannot look into the past: it takes more than {limit} MiB (history_query_memory): ask for a shorter span, fewer objects or a smaller area',
    query_exceeds_time:
      'Cannot look into the past: it takes more than {limit} ms (history_query_timeout): ask for a shorter span, fewer objects or a smaller area',
    renamed: 'was renamed {member}',
    repeated: 'must differ from {member}',
    repeated_value: 'must have each value once',
    reserved_method: 'must not be a reserved name',
    reserved_name: 'is a name that cannot be stored',
    resolution_too_high:
      'must be less than {maximum}, or the span or the area smaller: there are more than {limit} cells',
    response_invalid: 'handler "{handler_id}" of "{method}" has answered what is no response of JSON-RPC 2.0',
    response_too_large: 'response of handler "{handler_id}" of "{method}": must have at most {limit} bytes',
    schema_mismatch: 'does not fit its schema',
    several_collections: 'stream, aggregate and _aggregation: only one of them may be set',
    singular_fit: 'must decide a map from local to geographic points, found {count} pairs with a singular fit',
    site_exists: 'must be true if the hub already has a site, found {count} {unit}',
    link_host_not_allowed: 'must name a host that link_allowed_hosts allows: {detail}',
    sink_host_not_allowed: 'must name a host that sink_allowed_hosts allows: {detail}',
    source_not_in_crs: '{kind} "{id}" cannot be shown in {crs}: found source "{source}"',
    span_has_too_many_rows:
      'the {hours} hours between them have {rows} rows, and {limit} can be looked at: ask for {fewer_hours} hours at once',
    span_too_long: 'must be closer, since there are more than {limit} places between them',
    span_too_long_between_hubs: 'must be closer: another hub of the cluster has more than {limit} MiB of rows there',
    step_too_small: 'must be at least {minimum} for that span, which would have {count} samples',
    step_too_small_for_fences: 'must be at least {minimum} for {count} fences, or name some with fence_id',
    subscription_exists: 'Cannot subscribe to {topic}: a subscription with equal params exists',
    subscription_unknown: 'Cannot unsubscribe {subscription_id}: the connection has no such subscription',
    subscriptions_used_up: 'Cannot subscribe: the connection has {limit} subscriptions',
    taken_id: '{kind} "{id}" already exists',
    taken_zone_name: 'must differ from ids and foreign ids of other zones',
    text_too_long: 'must have texts of at most {limit} bytes',
    too_deep: 'must be nested at most {limit} levels deep, found more',
    too_few: 'must have at least {limit} {unit}',
    too_many: 'must have at most {limit} {unit}',
    too_many_left: 'must leave at most {limit} {unit} in the hub',
    too_many_renderings:
      'must be of at most {limit} different renderings (topic, GeoJSON, crs and zone_id), as {setting} says',
    too_many_stored: 'must be one of at most {limit} {unit}, found as many already',
    topic_unknown: 'there is no topic {found}',
    unclosed_string: 'expected a closing quote for the string at column {column}, found the end',
    unknown_list: 'is no list of entities',
    unknown_parameter: 'is no parameter of this path, which has {allowed}',
    unknown_zone: 'must be the id or foreign id of a zone',
    unreadable_change: 'must fit what was sent, found what the access token may not read',
    url_with_credentials: 'must have no user name and password',
    url_with_fragment: 'must have no fragment',
    zone_not_placed: 'must be a zone with local coordinates',
    zone_not_placed_itself: 'must be a zone with local coordinates of its own',
    zone_without_position: 'must be a zone with a position, found {found} without one',
  },
  HUB_NOT_AUTHENTICATED: {
    no_token: 'Cannot {request}: there is no access token',
    subscription_expired: 'The access token of subscription {subscription_ids} has expired: nothing more is sent there',
    token_algorithm: 'The access token is not valid: its algorithm is not accepted',
    token_claim: 'The access token is not valid: its claim {claim} is missing or does not fit',
    token_client:
      'The access token is not valid: openid_client_name "{client}" must be in aud, azp or cid, or without aud in client_id or appid',
    token_expired: 'The access token is not valid: it has expired',
    token_issuer: 'The access token is not valid: it is of another issuer',
    token_key_unknown: 'The access token is not valid: no key of the identity server fits it',
    token_key_unusable:
      'The access token is not valid: the key of the identity server that fits it cannot be used: {detail}',
    token_malformed: 'The access token is not valid: it is no JSON Web Token that the hub understands',
    token_not_for_access: 'The access token is not valid: it is no access token',
    token_not_yet_valid: 'The access token is not valid: its time has not come',
    token_signature: 'The access token is not valid: its signature does not verify',
    token_too_long: 'The access token is not valid: it has {count} characters',
  },
  HUB_NOT_AUTHORIZED: {
    mirrored: 'Cannot change {kind} "{id}": it is mirrored from another hub by the link "{link}"',
    body_not_owned:
      'Cannot {request}: the access token permits what its holder owns alone, and the {member} of the body is not owned',
    id_not_owned: 'the access token permits what its holder owns alone',
    items_not_owned:
      'Cannot {request}: the access token permits what its holder owns alone, and not every {member} of the body is owned',
    never_owned:
      'Cannot {request}: the access token permits what its holder owns alone, and it is no matter of ownership',
    not_owned: 'Cannot {request}: the access token permits what its holder owns alone, and it is not owned',
    not_permitted: 'Cannot {request}: the access token does not permit it',
    permitted_if_owned: 'Cannot {request}: the access token permits it for what is owned only',
    read_only_topic: 'Cannot publish to {topic}: it can only be read',
    topic_never_owned: 'the access token permits what its holder owns alone, and nothing of {topic} has an owner',
    unreadable_anchor: 'must name an anchor that the access token may read',
    unreadable_anchors: 'must name a zone whose anchors the access token may read',
    unreadable_carrier: 'must name a zone that follows nothing but what the access token may read',
    unreadable_kind: 'must name a {kind} that the access token may read',
    unreadable_kinds: 'must name a {kind} or a {other_kind} that the access token may read',
  },
  HUB_FOREIGN_PAGE: {
    foreign_page:
      'Cannot take the request: it comes from a web page of another origin, {origin}, to Host "{host}"; allowed_origins names those that may, trusted_proxies the proxies whose X-Forwarded-Host counts',
  },
  HUB_HOST_UNKNOWN: {
    wrong_host: 'must be a name of this hub, found {found}; allowed_hosts names them',
  },
  HUB_NOT_FOUND: {
    event_log_off: 'Cannot read events: the hub logs none, see the setting event_retention',
    map_file_missing: 'Cannot read the map file {file}: there is no such file in the folder of hub_config.yaml',
    map_file_unreadable: 'Cannot read the map file {file}: {detail}',
    no_file: 'Cannot get {file}: there is no such file',
    no_history: 'Cannot look into the past: the hub records no history, see the setting history',
    no_sensors: 'Cannot get sensors of provider "{id}": it has none',
    no_value: 'Cannot get {kind} "{id}": it has not been reported',
    not_found: 'Cannot {action} {kind} "{id}": no {kind} has that id',
    not_recorded: 'Cannot find {kind} "{id}": there is neither such a {kind} nor its history',
    unknown_month: 'Cannot find the month {month}: nothing is known of it',
    unknown_path: 'Cannot {request}: there is no such path',
    unknown_source: 'Cannot find source "{id}": no location has come from it',
  },
  HUB_METHOD_NOT_ALLOWED: {
    method_not_allowed: 'Cannot {request}: the path allows {allowed}',
  },
  HUB_GONE: {
    cursor_too_old: 'Cannot read events after this cursor: they were removed, the oldest cursor is {oldest}',
  },
  HUB_PAYLOAD_TOO_LARGE: {
    body_too_large: 'must have at most {limit} bytes',
    hub_request_too_large: 'Cannot {operation}: it must have at most {limit} bytes between hubs, but has {count}',
    map_file_too_large: 'Cannot get the map file {file} as a whole: ask for ranges of at most 4 MiB',
  },
  HUB_ENCODING_UNKNOWN: {
    encoding_unknown: 'must be identity',
  },
  HUB_TOO_MANY_REQUESTS: {
    too_many_requests: 'Cannot take the request: this address sends too many of them',
  },
  HUB_HEADERS_TOO_LARGE: {
    headers_too_large: 'must have at most {limit} bytes',
  },
  HUB_UPGRADE_REQUIRED: {
    https_only: 'Cannot answer over HTTP: this hub serves HTTPS only',
    upgrade_required: 'Cannot answer {request}: it is a WebSocket address, and the request asks for no upgrade',
  },
  HUB_INTERNAL: {
    hub_failed: 'Cannot import: the hub has failed',
    hub_protocol: '{detail}',
    internal_error: 'Cannot answer {request}: an internal error occurred',
    payload_failed: 'Cannot take the payload: an internal error occurred',
    query_failed: 'Cannot look into the past: the query has failed, see the log of the hub',
    worker_failed: 'Cannot {operation}: it makes a worker thread fail',
  },
  HUB_LICENSE_INVALID: {
    license_key_invalid: 'Cannot {operation}: the license key does not verify: {detail}',
    license_unverifiable: 'Cannot get the lease: nothing can verify the license key while license_public_keys is empty',
  },
  HUB_LICENSE_EXPIRED: {
    license_expired: 'Cannot get the lease: the license expired on {time}',
    trial_ended: 'Cannot get the lease: the trial ended on {time}',
  },
  HUB_LICENSE_NOT_STARTED: {
    no_license: 'Cannot get the lease: there is no license key and no trial',
  },
  HUB_UNAVAILABLE: {
    bodies_waiting: 'Cannot take the request: bodies of {limit} bytes, which is as many as may, are being read',
    cannot_serve_joining: 'This hub cannot serve: it has not joined its cluster',
    cannot_serve_journal: 'This hub cannot serve: it has appended nothing to its journal for {count} ms',
    cannot_serve_journal_full:
      'This hub cannot serve: it has appended nothing to its journal for {count} ms: the stream is full',
    cannot_serve_nats:
      'This hub cannot serve: it has appended nothing to its journal for {count} ms: NATS cannot be reached',
    cannot_serve_out: 'This hub cannot serve: it is out of its cluster',
    changes_outrun: 'Cannot change entities together: others came first {count} times',
    client_left: 'Cannot {operation}: the client no longer waits for the answer',
    closing: 'Cannot {operation}: this hub is closing',
    cluster_queries_waiting:
      'Cannot look into the past: other questions asked the cluster for {limit} ms ({factor} × history_query_timeout)',
    config_changes_waiting: 'Cannot change the configuration: {count} changes of {bytes} bytes are waiting already',
    config_full: 'Cannot change the configuration: its stream is full',
    config_outrun: 'Cannot change the configuration: other changes came first, and did not arrive in time',
    config_queue_slow: 'Cannot change the configuration: the changes before it took all of its time',
    config_record_late:
      'Cannot wait for configuration record {sequence} any longer: after {limit} ms the last one is {last}',
    config_stopped: 'Cannot use the configuration log: {detail}',
    config_unavailable: 'Cannot change the configuration: {detail}',
    config_unknown: 'Cannot say whether the configuration was changed: the log did not answer in time',
    database_unavailable: 'Cannot {operation}: the database does not take writes at the moment',
    demo_failed: '{detail}',
    demo_stopping: 'Cannot start the demo: it is being removed',
    frames_waiting: 'Cannot verify the access token: too many frames wait for theirs',
    geometry_changing: 'Cannot check a geometry: it changes all the time',
    history_files_unavailable: 'Cannot look into the past: its files cannot be had now, see the log of the hub',
    identity_server_silent: 'Cannot verify the access token: the identity server has not answered the hub yet',
    import_in_progress: 'Cannot import: the import {import_id} is in progress',
    in_transition: 'Cannot {operation}: this hub is {state} already',
    interest_late: 'Cannot subscribe: not all hubs have acknowledged it in {limit} ms',
    journal_late: 'Cannot {operation}: the journal has not stored it in time; it may still be done',
    link_entities_invalid: 'not all entities of the other hub can be mirrored: {detail}',
    link_events_waiting: 'too many events wait: this hub cannot store them in time',
    link_malformed: '{count} messages in sequence are not of the protocol',
    link_no_answer: 'no answer for {seconds} s',
    link_rejected: 'items of the other hub are not accepted: {detail}',
    link_reported: 'the other hub reports: {detail}',
    locations_waiting: 'Cannot accept locations: too many are waiting to be processed, try again',
    member_left: 'Cannot {operation}: {member} is no member any more',
    members_late: 'Cannot wait for configuration record {sequence} any longer: after {limit} ms the last is {members}',
    migrating: 'Cannot change assignments: objects are migrating between hubs',
    no_owner_in_time: 'Cannot {operation}: no hub has done it in time',
    no_query_process:
      'Cannot look into the past: no process was free for {limit} ms ({factor} × history_query_timeout)',
    not_a_member: 'Cannot {operation}: this hub is no member of the cluster',
    not_done_in_time: 'Cannot {operation}: not done in {limit} ms',
    out_of_cluster: 'Cannot {operation}: this hub is out of its cluster',
    shutting_down: 'Cannot {operation}: the hub is shutting down',
    sink_not_here: 'Cannot list deliveries to sink "{id}": another hub delivers to it',
    target_answered: 'the target answered {status}',
    target_certificate: 'the certificate of the server is not trusted: {detail}',
    target_connection_lost: 'the connection was lost: {detail}',
    target_credentials: 'the server does not accept the user and the password',
    target_failed: 'the request has failed: {detail}',
    target_gone: 'the target answered 410 Gone',
    target_host_unknown: 'the host has no known address: {detail}',
    target_is_self: 'the URL leads to this hub itself',
    target_mechanism: 'the broker does not support {mechanism}, the mechanism of SASL in the URL',
    target_not_allowed: 'the host is not an allowed target: {detail}',
    target_redirects: 'the target answered the redirect {status}',
    target_refused: 'the connection was refused: {detail}',
    target_rejects: 'the target does not accept the event: {detail}',
    target_too_slow: 'no complete response within {timeout} ms',
    target_unreachable: 'the host cannot be reached: {detail}',
    too_many_waiting: 'Cannot {operation}: {count} requests are waiting already',
  },
} as const;

type ReasonsOfCode = typeof REASONS_OF_CODE;

/** Code of an error, which determines its HTTP status and type (errors.ts). */
export type ErrorCode = keyof ReasonsOfCode;

type TemplateOf<R> = { [C in ErrorCode]: R extends keyof ReasonsOfCode[C] ? ReasonsOfCode[C][R] : never }[ErrorCode];

export type Reason = { [C in ErrorCode]: keyof ReasonsOfCode[C] }[ErrorCode];

/** English messages of the reasons. */
export const REASONS = Object.assign({}, ...Object.values(REASONS_OF_CODE)) as Readonly<Record<Reason, string>>;

const CODES = new Map(
  Object.entries(REASONS_OF_CODE).flatMap(([code, reasons]) =>
    Object.keys(reasons).map((reason) => [reason, code as ErrorCode] as const),
  ),
);

/** Returns the code of a reason. A later version may have sent a reason that is not in the table. */
export function codeOf(reason: string): ErrorCode {
  return CODES.get(reason) ?? 'HUB_INTERNAL';
}

const KINDS = {
  alert: 'alert',
  alert_rule: 'alert rule',
  anchor: 'anchor',
  fence: 'fence',
  link: 'link',
  provider: 'provider',
  provider_location: 'location of provider',
  sink: 'sink',
  walk_test: 'walk test',
  trackable: 'trackable',
  trackable_location: 'location of trackable',
  trackable_motion: 'motion of trackable',
  view: 'view',
  zone: 'zone',
} as const;

/** Display texts of the values of enum parameters. */
export const PARAM_VALUES = {
  action: { delete: 'delete', find: 'find', replace: 'replace' },
  axis: { latitude: 'latitude', longitude: 'longitude' },
  defect: {
    duplicate_rings: 'Duplicate Rings',
    hole_lies_outside_shell: 'Hole lies outside shell',
    holes_are_nested: 'Holes are nested',
    interior_is_disconnected: 'Interior is disconnected',
    ring_self_intersection: 'Ring Self-intersection',
    self_intersection: 'Self-intersection',
  },
  kind: KINDS,
  operation: {
    accept_locations: 'accept locations',
    answer: 'answer',
    ask_all_hubs: 'ask all hubs',
    call: 'finish the call',
    change_entities: 'change entities now',
    check_geometry: 'check a large geometry now',
    delete_locations: 'delete locations',
    get_lease: 'get the lease',
    join_cluster: 'join the cluster',
    keep_data: 'keep data',
    keep_locations: 'keep locations',
    leave_cluster: 'leave the cluster',
    open_socket: 'open a WebSocket',
    process_locations: 'process locations',
    query_history: 'look into the past',
    read: 'read',
    set_license_key: 'set license_key',
    subscribe: 'subscribe',
    take_released: 'take what another hub releases',
    take_request: 'take the request',
    wait_for_configuration: 'wait for the configuration',
    wait_for_locations: 'wait for locations',
  },
  other_kind: KINDS,
  purpose: {
    benchmark_zone: 'a benchmark zone',
    fence: 'a fence without radius and zone_id',
    fence_of_zone: 'a fence of a proximity zone',
    local_fences: 'fences in crs local',
    local_region: 'a local region',
    other_server: 'another server',
    point: 'a region of type Point',
    proximity_zone: 'a proximity zone',
    radius: 'a radius',
    zone: 'a zone',
  },
  token: {
    end: 'AND, OR or the end',
    like_or_null: 'LIKE or NULL after NOT',
    number: 'a number',
    value: 'a value',
    value_or_operator: 'a value or an operator',
  },
  unit: {
    alert_rules: 'alert rules',
    anchors: 'anchors',
    bytes: 'bytes',
    bytes_of_json: 'bytes of JSON',
    characters: 'characters',
    containers: 'arrays and objects',
    different_points: 'different points',
    elements: 'elements',
    fences: 'fences',
    items: 'items',
    links: 'links',
    members: 'members',
    moments: 'moments',
    operations: 'operations',
    pairs_of_rows: 'pairs of rows',
    positions: 'positions',
    providers: 'providers',
    rings: 'rings',
    sinks: 'sinks',
    walk_tests: 'walk tests',
    trackables: 'trackables',
    views: 'views',
    zones: 'zones',
  },
} as const;

export type EnumParam = keyof typeof PARAM_VALUES;
export type ParamValue<N extends EnumParam> = keyof (typeof PARAM_VALUES)[N];

export type Param = string | number | readonly string[];
export type ReasonParams = Readonly<Record<string, Param>>;

type Names<T extends string> = T extends `${string}{${infer Name}}${infer Rest}` ? Name | Names<Rest> : never;

/** Parameters of a reason: those of its message, and which value was found where. */
type Params<R extends Reason> = {
  readonly [N in Exclude<Names<TemplateOf<R>>, 'detail'>]: N extends EnumParam ? ParamValue<N> : Param;
} & {
  /** The invalid field, such as `region.coordinates[0]`. */
  readonly path?: string;
  /** The value of the field as shortened JSON, `nothing` if it is absent; or the number found, for a limit. */
  readonly found?: string | number;
  /** `partial`: a part of the request was executed; `unknown`: it may have been. */
  readonly outcome?: 'partial' | 'unknown';
};

export type ParamsGiven<R extends Reason> =
  Record<never, never> extends Params<R> ? [params?: Params<R>] : [params: Params<R>];

/** Reason and parameters of an error, as clients and other hubs receive them. */
export interface ErrorReason {
  readonly reason: Reason;
  readonly params: ReasonParams;
}
