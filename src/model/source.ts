import Type, { type Static } from 'typebox';
import { Maybe, Named, OneOf, Time } from './schema.ts';

/** Ways by which payloads arrive. */
export const SOURCE_KINDS = ['http', 'mqtt', 'udp', 'tcp', 'websocket', 'poll'] as const;
export type SourceKind = (typeof SOURCE_KINDS)[number];

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

const field = (description: string) => Maybe(Type.Union([SourcePath, SourceValue], { description }));

/** Compiled once per source; see src/mapping/compile_map.ts. */
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
  provider_type: field('Kind of the provider; unknown by default.'),
  x: field('Longitude, easting or local x.'),
  y: field('Latitude, northing or local y.'),
  z: field('Height in meters.'),
  source: field('Id or foreign id of the zone.'),
  crs: field('Coordinate reference system; local by default.'),
  timestamp_generated: field('Time of the measurement; the time of receipt by default.'),
  accuracy: field('Horizontal accuracy in meters; of a proximity: the distance.'),
  floor: field('Floor of the building.'),
  speed: field('Speed in meters per second.'),
  course: field('Course in degrees clockwise from true north.'),
  true_heading: field('Degrees clockwise from true north.'),
  magnetic_heading: field('Degrees clockwise from magnetic north.'),
  heading_accuracy: field('Accuracy of the heading in degrees.'),
  elevation_ref: field('Reference of z: floor or wgs84.'),
  associated: field('Whether the provider is connected to its network.'),
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

/** A new token of a source. */
export const SourceToken = Named('SourceToken', {
  token: Type.String({ description: 'The token, which cannot be read again. Former ones are no longer valid.' }),
});
