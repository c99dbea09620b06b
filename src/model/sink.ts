import { MAYBE_REASON } from './error_body.ts';
import Type, { type Static } from 'typebox';
import { LinkOidc } from './link.ts';
import { Maybe, Named, OneOf, Time, TimeOfDay } from './schema.ts';
import { EVENT_TOPICS } from './logged_event.ts';

/** Kinds of targets. */
export const SINK_TYPES = ['webhook', 'hub', 'kafka', 'nats', 'email'] as const;

export const SINK_FORMATS = ['cloudevents', 'cloudevents_batch', 'plain'] as const;

/** Topics whose events are not in the event log. A sink delivers the newest ones. */
export const LIVE_TOPICS = ['location_updates', 'trackable_motions', 'proximity_updates'] as const;
export type LiveTopic = (typeof LIVE_TOPICS)[number];

const OVERFLOWS = ['newest_per_object', 'drop_oldest'] as const;

const writeOnly = { writeOnly: true };

/** A target to which the hub delivers events. */
export const Sink = Named('Sink', {
  id: Type.String({ description: 'Id of the sink, assigned by the hub.' }),
  name: Type.String({ minLength: 1, maxLength: 200, description: 'Display name of the sink.' }),
  type: OneOf(SINK_TYPES, { title: 'SinkType', description: 'Kind of the target.' }),
  url: Type.String({
    minLength: 1,
    maxLength: 2000,
    description:
      'URL of the target: https://…, that of the API of another hub, kafka://host/topic, nats://host/subject, or smtp://host.',
  }),
  topics: Type.Array(
    OneOf([...EVENT_TOPICS, ...LIVE_TOPICS], { title: 'SinkTopic', description: 'A topic of the WebSocket.' }),
    {
      maxItems: 20,
      description:
        'Topics to deliver. Events of location_updates, trackable_motions and proximity_updates are delivered at most ' +
        'once, events of all other topics at least once. Empty for a sink that only receives the alerts of rules that ' +
        'name it.',
    },
  ),
  params: Maybe(
    Type.Record(
      Type.String(),
      Type.Union([Type.String(), Type.Number(), Type.Boolean()], {
        title: 'SinkParam',
        description: 'A filter, or crs.',
      }),
      {
        title: 'SinkParams',
        description: 'Filters and crs as in the params of a WebSocket subscription.',
      },
    ),
  ),
  format: Maybe(
    OneOf(SINK_FORMATS, {
      title: 'SinkFormat',
      description:
        'cloudevents (default): one CloudEvent per message; cloudevents_batch: a JSON array of CloudEvents; plain: the ' +
        'event as the WebSocket sends it.',
    }),
  ),
  secret: Maybe(
    Type.String({
      minLength: 1,
      maxLength: 1000,
      ...writeOnly,
      description:
        'Of a webhook: key of the signatures, whsec_ and 24 to 64 bytes in base64. Of another hub: an access token. Of Kafka, NATS and SMTP servers: ' +
        'user:password, of NATS servers also a token. Replies never contain it. A request without it retains the ' +
        'stored one; null deletes it.',
    }),
  ),
  ca_certificate: Maybe(
    Type.String({
      minLength: 1,
      maxLength: 100_000,
      description:
        'Of Kafka with TLS: certificates of authorities, in PEM, that are trusted instead of those of the system.',
    }),
  ),
  oidc: Maybe(LinkOidc),
  headers: Maybe(
    Type.Record(Type.String(), Type.String({ maxLength: 8000 }), {
      title: 'SinkHeaders',
      ...writeOnly,
      description:
        'HTTP headers of each request, such as Authorization. Replies never contain them. A request without them ' +
        'retains the stored ones; null deletes them.',
    }),
  ),
  concurrency: Maybe(
    Type.Integer({ minimum: 1, maximum: 16, description: 'Maximum number of concurrent requests; 4 by default.' }),
  ),
  batch_max: Maybe(
    Type.Integer({ minimum: 1, maximum: 1000, description: 'Maximum number of events in a batch; 100 by default.' }),
  ),
  timeout: Maybe(
    Type.Integer({
      minimum: 1000,
      maximum: 60_000,
      description: 'Milliseconds in which a request must be answered completely; 15,000 by default.',
    }),
  ),
  sender: Maybe(Type.String({ maxLength: 300, description: 'Address from which an email sink sends.' })),
  recipients: Maybe(
    Type.Array(Type.String({ minLength: 3, maxLength: 300 }), {
      maxItems: 50,
      description: 'Addresses to which an email sink sends.',
    }),
  ),
  digest_interval: Maybe(
    Type.Integer({
      minimum: 0,
      maximum: 86_400_000,
      description: 'Milliseconds that an event waits for others to share its mail; 60,000 by default.',
    }),
  ),
  quiet_hours: Maybe(
    Named('SinkQuietHours', {
      from: TimeOfDay('Begin of the time in which no mail is sent, such as 22:00.'),
      to: TimeOfDay('End of this time, such as 06:00.'),
      time_zone: Maybe(
        Type.String({ maxLength: 60, description: 'Time zone, such as Europe/Berlin; UTC by default.' }),
      ),
    }),
  ),
  overflow: Maybe(
    OneOf(OVERFLOWS, {
      title: 'SinkOverflow',
      description:
        'Which events of location_updates, trackable_motions and proximity_updates are dropped: all but the newest of ' +
        'each object (default), or the oldest when too many wait.',
    }),
  ),
});
export type Sink = Static<typeof Sink>;

export const SINK_STATES = ['active', 'failing', 'paused', 'disabled'] as const;

const count = (description: string) => Type.Integer({ minimum: 0, description });

/** State of the delivery to a sink. */
export const SinkStatus = Named('SinkStatus', {
  id: Type.String({ description: 'Id of the sink.' }),
  state: OneOf(SINK_STATES, {
    title: 'SinkState',
    description:
      'active; failing: the last attempt failed, and the hub retries; paused: by a user; disabled: the target answered ' +
      '410, or the last retry failed. Nothing is sent until the sink is resumed.',
  }),
  /** Whether this hub delivers to the sink. */
  delivering: Type.Boolean({
    description: 'Whether the replying hub delivers to the sink; in a cluster one hub does.',
  }),
  cursor: Type.Optional(Type.String({ description: 'Position in the event log before the oldest undelivered event.' })),
  lag: Type.Optional(count('Milliseconds since the time of the oldest undelivered event in the queue; 0 without one.')),
  waiting: Type.Optional(count('Events in the queue.')),
  added: Type.Optional(count('Events taken from the log and the live topics since the start of the delivery.')),
  delivered: Type.Optional(count('Delivered events.')),
  rejected: Type.Optional(count('Events that the target will never accept, such as events that are too large.')),
  dropped: Type.Optional(count('Live events dropped because the target is too slow, paused or disabled.')),
  replayed: Type.Optional(count('Queued events discarded because a replay reads them again.')),
  failures: Type.Optional(count('Failed requests.')),
  retry_at: Type.Optional(Time('Time of the next attempt, if the sink is failing.')),
  last_delivered_at: Type.Optional(Time('Time of the last successful request.')),
  error: Type.Optional(Type.String({ description: 'Why it is failing or disabled, or the last error.' })),
  ...MAYBE_REASON,
});
export type SinkStatus = Static<typeof SinkStatus>;

export const SINK_DELIVERY_STATES = ['waiting', 'sending', 'delivered', 'failed', 'rejected'] as const;

export const SinkDeliveryState = OneOf(SINK_DELIVERY_STATES, {
  title: 'SinkDeliveryState',
  description: 'failed: the last attempt failed, and the event waits for the next one.',
});

/** An event and its delivery. */
export const SinkDelivery = Named('SinkDelivery', {
  event_id: Type.String({ description: 'Id of the event.' }),
  topic: Type.String({ description: 'Topic of the event.' }),
  key: Type.String({ description: 'Id of the object of the event. Events with the same key are delivered in order.' }),
  timestamp: Time('Time of the event.'),
  cursor: Type.Optional(Type.String({ description: 'Position of the event in the log; absent for live topics.' })),
  state: SinkDeliveryState,
  attempts: count('Number of attempts.'),
  attempted_at: Type.Optional(Time('Time of the end of the last attempt.')),
  duration: Type.Optional(count('Milliseconds that the last attempt took.')),
  error: Type.Optional(Type.String({ description: 'Why the last attempt failed.' })),
  ...MAYBE_REASON,
});
export type SinkDelivery = Static<typeof SinkDelivery>;

/** Result of a test delivery. */
export const SinkTest = Named('SinkTest', {
  delivered: Type.Boolean({ description: 'Whether the target accepted the test event.' }),
  duration: count('Milliseconds that the request took.'),
  error: Type.Optional(Type.String({ description: 'Why it was not accepted.' })),
  ...MAYBE_REASON,
});
export type SinkTest = Static<typeof SinkTest>;

/** Position of a replay. */
export const SinkReplay = Named('SinkReplay', {
  after: Maybe(Type.String({ minLength: 1, description: 'Cursor of the event after which the delivery continues.' })),
  from: Maybe(Time('Time from which events are delivered.')),
});
export type SinkReplay = Static<typeof SinkReplay>;
