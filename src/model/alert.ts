import Type, { type Static } from 'typebox';
import { CHANGE_TYPES } from './events.ts';
import { Choice, Maybe, Named, OneOf, Time } from './schema.ts';

/** What an alert rule watches for. */
export const ALERT_KINDS = ['entry', 'exit', 'inside_longer', 'more_inside', 'silent', 'collision'] as const;
export type AlertKind = (typeof ALERT_KINDS)[number];

/** How much an alert matters, the least first. */
export const SEVERITIES = ['info', 'warning', 'critical'] as const;

/** What rules may be about. */
export const OBJECT_TYPES = ['trackable', 'location_provider', 'any'] as const;
export type ObjectType = (typeof OBJECT_TYPES)[number];

export const ALERT_STATES = ['raised', 'acknowledged', 'cleared'] as const;

const AlertKindWord = OneOf(ALERT_KINDS, {
  title: 'AlertKind',
  description: 'What is watched for: entry, exit, a stay, a number of objects inside, silence, or a collision.',
});

const SeverityWord = OneOf(SEVERITIES, { title: 'Severity', description: 'How much it matters.' });

const ObjectTypeWord = OneOf(OBJECT_TYPES, {
  title: 'ObjectType',
  description:
    'What is watched: trackables, location providers, or both. Trackables when left out. Of providers, those that are ' +
    'assigned to no trackable, or those that are named.',
});

/** Which objects have a property of that value. */
const PropertyCondition = Named('AlertProperty', {
  name: Type.String({ minLength: 1, description: 'Name of a member of the properties of objects.' }),
  value: Choice([Type.String(), Type.Number(), Type.Boolean()], {
    title: 'PropertyValue',
    description: 'What a property must be: a text, a number, true or false.',
  }),
});

/** What people want to be alerted of. It is evaluated in the hub, whether a page is open or not. */
export const AlertRule = Named('AlertRule', {
  id: Type.String({ description: 'Id of the rule. The hub makes it.' }),
  name: Type.String({ minLength: 1, maxLength: 200, description: 'What people call it.' }),
  kind: AlertKindWord,
  enabled: Maybe(Type.Boolean({ description: 'Whether it is evaluated. True when left out.' })),
  severity: Maybe(SeverityWord),
  fence_ids: Maybe(
    Type.Array(Type.String(), { maxItems: 1000, description: 'Any of these fences. All fences when left out.' }),
  ),
  object_type: Maybe(ObjectTypeWord),
  trackable_ids: Maybe(
    Type.Array(Type.String(), { maxItems: 1000, description: 'These trackables alone. All when left out.' }),
  ),
  provider_ids: Maybe(
    Type.Array(Type.String(), {
      maxItems: 1000,
      description: 'These providers alone, of trackables too. All without a trackable when left out.',
    }),
  ),
  property: Maybe(PropertyCondition),
  longer_than: Maybe(
    Type.Integer({ minimum: 1000, maximum: 2_592_000_000, description: 'How long, in milliseconds; up to 30 days.' }),
  ),
  more_than: Maybe(Type.Integer({ minimum: 0, maximum: 1_000_000, description: 'How many may be inside at once.' })),
});
export type AlertRule = Static<typeof AlertRule>;

const time = Time('RFC 3339 date and time.');

/** A condition of a rule that holds, or held, of some fence and some objects, and what people have done about it. */
export const Alert = Named('Alert', {
  id: Type.String({ description: 'Id of the alert.' }),
  rule_id: Type.String({ description: 'Id of the rule that raised it.' }),
  name: Type.String({ description: 'Name of the rule when it was raised.' }),
  kind: AlertKindWord,
  severity: SeverityWord,
  state: OneOf(ALERT_STATES, { title: 'AlertState', description: 'What has become of the alert.' }),
  fence_id: Maybe(Type.String({ description: 'The fence, where the rule is about fences.' })),
  trackable_id: Maybe(Type.String({ description: 'The trackable; left out where it is about a number of objects.' })),
  other_trackable_id: Maybe(Type.String({ description: 'The other trackable of a collision.' })),
  provider_id: Maybe(Type.String({ description: 'The location provider, where it is about one.' })),
  count: Maybe(Type.Integer({ description: 'How many were inside when it was raised.' })),
  times: Type.Integer({ minimum: 1, description: 'How often its condition has begun while it was open.' }),
  raised_at: time,
  acknowledged_at: Maybe(time),
  cleared_at: Maybe(time),
  over_at: Maybe(Time('When its condition ended, RFC 3339. Left out while it holds.')),
});
export type Alert = Static<typeof Alert>;

/** What a rule would alert of at this moment. */
export const AlertMatch = Named('AlertMatch', {
  fence_id: Maybe(Type.String({ description: 'The fence.' })),
  trackable_id: Maybe(Type.String({ description: 'The trackable.' })),
  provider_id: Maybe(Type.String({ description: 'The location provider.' })),
  since: Maybe(Time('Since when it is inside, or when it was last heard of. RFC 3339.')),
  count: Maybe(Type.Integer({ description: 'How many are inside.' })),
});
export type AlertMatch = Static<typeof AlertMatch>;

export const AlertPreview = Named('AlertPreview', {
  watched: Type.Integer({ description: 'How many objects the rule is about.' }),
  matches: Type.Array(AlertMatch, { description: 'What holds now, at most 100 of it.' }),
  total: Type.Integer({ description: 'How much of it there is.' }),
});
export type AlertPreview = Static<typeof AlertPreview>;

const AlertCounts = Named('AlertCounts', {
  info: Type.Integer({ minimum: 0, description: 'Of severity info.' }),
  warning: Type.Integer({ minimum: 0, description: 'Of severity warning.' }),
  critical: Type.Integer({ minimum: 0, description: 'Of severity critical.' }),
});

/** The room for alerts, and the conditions that have found none. */
export const AlertSummary = Named('AlertSummary', {
  max: Type.Integer({ description: 'The most alerts that the hub stores.' }),
  /** Alerts that are raised or acknowledged. */
  open: AlertCounts,
  /** Conditions that hold without an open alert, because open alerts leave no room. */
  not_raised: AlertCounts,
});
export type AlertSummary = Static<typeof AlertSummary>;

/** Alerts by their ids, or all that are open. */
export const AlertSelection = Named('AlertSelection', {
  ids: Maybe(Type.Array(Type.String(), { maxItems: 1000, description: 'These alone.' })),
  all: Maybe(Type.Boolean({ description: 'All that are open, where no ids are given.' })),
});

/** An alert was raised, has changed, or is kept no more. */
export const AlertChangeEvent = Named('AlertChangeEvent', {
  timestamp: time,
  event_type: OneOf(CHANGE_TYPES, { title: 'ChangeType', description: 'What happened to an entity.' }),
  id: Type.String({ description: 'Id of the alert.' }),
  object: Alert,
});
export type AlertChangeEvent = Static<typeof AlertChangeEvent>;
