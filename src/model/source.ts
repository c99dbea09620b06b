import Type, { type Static } from 'typebox';
import { REASON_MEMBERS } from './error_body.ts';
import { Maybe, Named, OneOf, Time } from './schema.ts';

/** Ways by which payloads arrive. */
export const SOURCE_KINDS = ['http', 'mqtt', 'udp', 'tcp', 'websocket', 'poll'] as const;

export const SOURCE_FORMATS = ['json', 'csv', 'nmea'] as const;

/** Default of `rate_limit`. */
export const RATE_LIMIT = 2000;
/** Maximum bytes of a payload. */
export const SOURCE_PAYLOAD_BYTES_MAX = 1 << 20;

const PATH_MAX = 500;

const SourcePath = Type.String({
  maxLength: PATH_MAX,
  description:
    'JSON Pointer from the item; after $ from the payload, after a number from that many levels above the item. ' +
    '0# is the name or index of the item, $topic/2 a level of the MQTT topic, $sender the address of the sender.',
});

/** How one member of a location is computed. */
const SourceValue = Named('SourceValue', {
  path: Maybe(SourcePath),
  or: Maybe(
    Type.Array(SourcePath, {
      maxItems: 10,
      description: 'Paths of other values, the first of which that exists counts.',
    }),
  ),
  template: Maybe(
    Type.String({
      maxLength: PATH_MAX,
      description: 'A string with paths in braces, such as {/manufacturer}-{/serial}.',
    }),
  ),
  value: Maybe(Type.Unknown({ description: 'A constant.' })),
  default: Maybe(Type.Unknown({ description: 'Value if the payload has none.' })),
  unit: Maybe(
    OneOf(['ms', 's', 'iso'], {
      title: 'SourceTimeUnit',
      description: 'Of a time: milliseconds or seconds since 1970, or a date and time (default).',
    }),
  ),
  scale: Maybe(Type.Number({ description: 'Factor of a number; 1 by default.' })),
  offset: Maybe(Type.Number({ description: 'Added to the number after scaling; 0 by default.' })),
  lookup: Maybe(
    Type.Record(Type.String(), Type.String({ maxLength: 1000 }), {
      title: 'SourceLookup',
      maxProperties: 1000,
      description:
        'Replacements by value, such as ids of maps and the foreign ids of zones. Other values are unchanged.',
    }),
  ),
});

const SourceField = Type.Union([SourcePath, SourceValue], {
  title: 'SourceField',
  description: 'A path, or an object with a path, a template or a constant.',
});
export type SourceField = Static<typeof SourceField>;
export type SourceValue = Static<typeof SourceValue>;

/**
 * Compiled once per source; see src/mapping/compile_map.ts. After the first members come those of a location. x and y are
 * longitude and latitude, easting and northing, or local coordinates; lengths are in meters, speeds in meters per second,
 * and angles in degrees clockwise from north.
 */
export const SourceMap = Named('SourceMap', {
  items: Maybe(
    Type.String({
      maxLength: PATH_MAX,
      description:
        'JSON Pointer of the items in a payload; a segment * is every element. By default the payload is the item, or ' +
        'each element of a list.',
    }),
  ),
  as: Maybe(
    OneOf(['location', 'proximity'], {
      title: 'SourceItemKind',
      description: 'What an item reports; location by default.',
    }),
  ),
  when: Maybe(
    Type.Array(
      Named('SourceCondition', {
        path: SourcePath,
        in: Type.Array(Type.Unknown(), { minItems: 1, maxItems: 100, description: 'Accepted values.' }),
      }),
      { maxItems: 10, description: 'Conditions of items; other items are skipped.' },
    ),
  ),
  time_zone: Maybe(
    Type.String({
      maxLength: 60,
      description: 'Time zone of times without an offset, such as Europe/Berlin; default UTC.',
    }),
  ),
  provider_id: SourceField,
  provider_type: Maybe(SourceField),
  x: Maybe(SourceField),
  y: Maybe(SourceField),
  z: Maybe(SourceField),
  source: Maybe(SourceField),
  crs: Maybe(SourceField),
  timestamp_generated: Maybe(SourceField),
  accuracy: Maybe(SourceField),
  floor: Maybe(SourceField),
  speed: Maybe(SourceField),
  course: Maybe(SourceField),
  true_heading: Maybe(SourceField),
  magnetic_heading: Maybe(SourceField),
  heading_accuracy: Maybe(SourceField),
  elevation_ref: Maybe(SourceField),
  associated: Maybe(SourceField),
  properties: Maybe(
    Type.Record(Type.String(), SourceField, {
      title: 'SourceProperties',
      maxProperties: 100,
      description: 'Properties of the location by name.',
    }),
  ),
});
export type SourceMap = Static<typeof SourceMap>;

const writeOnly = { writeOnly: true };

/** A system whose payloads the hub maps to locations. */
export const Source = Named('Source', {
  id: Type.String({ description: 'Id of the source, assigned by the hub.' }),
  name: Type.String({ minLength: 1, maxLength: 200, description: 'Display name of the source.' }),
  enabled: Maybe(Type.Boolean({ description: 'Whether payloads are accepted; true by default.' })),
  kind: OneOf(SOURCE_KINDS, {
    title: 'SourceKind',
    description:
      'http: the system posts to /v2/sources/{id}/data. udp: it sends datagrams to a port of the hub. mqtt, tcp, ' +
      'websocket: the hub connects to it. poll: the hub requests a URL repeatedly.',
  }),
  url: Maybe(
    Type.String({
      minLength: 1,
      maxLength: 2000,
      description:
        'mqtt://host, mqtts://host, tcp://host:port, tls://host:port, ws://…, wss://…, http://… or https://….',
    }),
  ),
  topic: Maybe(
    Type.String({ minLength: 1, maxLength: 1000, description: 'Topic filter of an mqtt source, such as tags/#.' }),
  ),
  port: Maybe(Type.Integer({ minimum: 1, maximum: 65_535, description: 'Port of a udp source.' })),
  interval: Maybe(
    Type.Integer({
      minimum: 100,
      maximum: 86_400_000,
      description: 'Milliseconds between the requests of a poll source; 1,000 by default.',
    }),
  ),
  username: Maybe(Type.String({ maxLength: 1000, description: 'User name for the broker or the server.' })),
  password: Maybe(
    Type.String({
      minLength: 1,
      maxLength: 8000,
      ...writeOnly,
      description:
        'Password for the broker or the server; without username the bearer token. Never returned; a request without ' +
        'it retains the stored one; null deletes it.',
    }),
  ),
  open_message: Maybe(
    Type.String({
      minLength: 1,
      maxLength: 8000,
      ...writeOnly,
      description:
        'Message that a websocket source sends when it is connected, such as a subscription with a key. Never returned; ' +
        'a request without it retains the stored one; null deletes it.',
    }),
  ),
  format: OneOf(SOURCE_FORMATS, {
    title: 'SourceFormat',
    description: 'Format of the payloads. Over tcp, each line is a payload. nmea: sentences RMC and GGA.',
  }),
  columns: Maybe(
    Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
      minItems: 1,
      maxItems: 200,
      description: 'Names of the columns of csv; without them, the first row has the names.',
    }),
  ),
  map: SourceMap,
  rate_limit: Maybe(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: 1_000_000,
      description: `Maximum items, or kilobytes, per second; ${RATE_LIMIT.toLocaleString('en')} by default. More are dropped.`,
    }),
  ),
  token: Type.Optional(
    Type.String({ readOnly: true, description: 'Token of an http source. Returned only when it is created.' }),
  ),
});
export type Source = Static<typeof Source>;

const count = (description: string) => Type.Integer({ minimum: 0, description });

export const SOURCE_STATES = ['disabled', 'elsewhere', 'connecting', 'receiving', 'failing'] as const;

/** State of a source at the replying hub. Counters begin with the start of the hub or a change of the source. */
export const SourceStatus = Named('SourceStatus', {
  id: Type.String({ description: 'Id of the source.' }),
  state: OneOf(SOURCE_STATES, {
    title: 'SourceState',
    description:
      'receiving: the hub is connected, or accepts payloads; failing: the connection failed and is retried; elsewhere: ' +
      'another hub of the cluster is connected.',
  }),
  received: count('Received payloads.'),
  mapped: count('Items mapped to a location or proximity that the hub has accepted.'),
  skipped: count('Items that do not meet the conditions of the map.'),
  refused: count('Payloads and items that are malformed, do not fit the map, or are invalid.'),
  refused_by: Type.Record(Type.String(), Type.Integer({ minimum: 0 }), {
    title: 'SourceRefusals',
    description: 'Number of refused payloads and items by reason.',
  }),
  throttled: count('Payloads and items dropped because of rate_limit, or because the hub was busy.'),
  failures: count('Failed connections and requests.'),
  last_received_at: Type.Optional(Time('Time of the last payload.')),
  last_source_time: Type.Optional(Time('Latest time of the locations of the last payload.')),
  clock_offset: Type.Optional(
    Type.Integer({ description: 'Milliseconds by which the time of the source is ahead of the clock of the hub.' }),
  ),
  last_refused: Type.Optional(
    Named('SourceRefusal', {
      at: Time('Time of receipt.'),
      message: Type.String({ description: 'Path, problem and value found.' }),
      payload: Type.String({ description: 'Beginning of the payload, with secrets redacted.' }),
    }),
  ),
  retry_at: Type.Optional(Time('Time of the next attempt, if the source is failing.')),
  error: Type.Optional(Type.String({ description: 'Why it is failing, or the last error of the connection.' })),
});
export type SourceStatus = Static<typeof SourceStatus>;

/** A source, and a sample of its payloads. */
export const SourceSample = Named('SourceSample', {
  source: Type.Unknown({ description: 'A source as in POST /sources. Its name may be absent.' }),
  payload: Type.String({ maxLength: SOURCE_PAYLOAD_BYTES_MAX, description: 'A payload as the system sends it.' }),
  topic: Maybe(Type.String({ maxLength: 1000, description: 'Topic of the MQTT message.' })),
  sender: Maybe(Type.String({ maxLength: 200, description: 'Address of the sender.' })),
});

const SourceProblem = Named('SourceProblem', {
  message: Type.String({ description: 'The problem, with the path and the value found.' }),
  ...REASON_MEMBERS,
});

/** What a map makes of a sample. */
export const SourcePreview = Named('SourcePreview', {
  items: Type.Array(
    Named('SourcePreviewItem', {
      at: Type.String({ description: 'Position of the item in the payload, such as $/tags/3.' }),
      location: Type.Optional(Type.Unknown({ description: 'The location, as a client would send it.' })),
      proximity: Type.Optional(Type.Unknown({ description: 'The proximity, as a client would send it.' })),
      position: Type.Optional(
        Type.Array(Type.Number(), { description: 'Longitude and latitude at which the location would be.' }),
      ),
      problem: Type.Optional(SourceProblem),
      warnings: Type.Array(SourceProblem, { description: 'Signs of a wrong map or a wrong unit.' }),
    }),
    { description: 'The first 100 items.' },
  ),
  count: Type.Integer({ minimum: 0, description: 'Number of mapped items.' }),
  skipped: Type.Integer({ minimum: 0, description: 'Items that do not meet the conditions of the map.' }),
  problems: Type.Array(SourceProblem, {
    description: 'Problems of the payload, and of items that do not fit the map. The first 100.',
  }),
});
export type SourcePreview = Static<typeof SourcePreview>;

/** A source of a known system, without address and credentials. */
export const SourcePreset = Named('SourcePreset', {
  id: Type.String({ description: 'Id of the preset.' }),
  name: Type.String({ description: 'Name of the system.' }),
  note: Type.String({ description: 'What the user must know or do.' }),
  source: Type.Unknown({ description: 'The members of a source that the format determines.' }),
  sample: Type.String({ description: 'A payload in the format, with made-up values.' }),
  topic: Type.Optional(Type.String({ description: 'Topic of the sample.' })),
});
export type SourcePreset = Static<typeof SourcePreset>;

/** A new token of a source. */
export const SourceToken = Named('SourceToken', {
  token: Type.String({ description: 'The token, which cannot be read again. Former ones are no longer valid.' }),
});
