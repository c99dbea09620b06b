import Type, { type Static } from 'typebox';
import { CHANGE_TYPES } from './events.ts';
import { Choice, Maybe, Named, OneOf, Time, TimeOfDay } from './schema.ts';
import { WEEKDAYS } from './weekdays.ts';

/** Conditions that an alert rule can watch. */
export const ALERT_KINDS = [
  'entry',
  'exit',
  'inside_longer',
  'more_inside',
  'silent',
  'collision',
  'count_below',
  'gate',
  'speed',
  'separated',
  'together',
] as const;
export type AlertKind = (typeof ALERT_KINDS)[number];

/** Severities, ascending. */
export const SEVERITIES = ['info', 'warning', 'critical'] as const;

/** Object types that a rule can watch. */
export const OBJECT_TYPES = ['trackable', 'location_provider', 'any'] as const;
export type ObjectType = (typeof OBJECT_TYPES)[number];

export const ALERT_STATES = ['raised', 'acknowledged', 'cleared'] as const;

const AlertKindWord = OneOf(ALERT_KINDS, {
  title: 'AlertKind',
  description:
    'Watched condition: an entry, an exit, a stay, a number of objects inside (more_inside, count_below), silence, a ' +
    'collision, the crossing of a gate, a speed, or the distance of trackables (separated, together).',
});

/** Sides of a gate to which an object crosses it, looking along its line. */
export const DIRECTIONS = ['left', 'right'] as const;
/** Property of the fence event of a gate: the direction of the crossing. */
export const DIRECTION_PROPERTY = 'hub.direction';

/** Times at which a rule is in effect. */
const AlertSchedule = Named('AlertSchedule', {
  days: Maybe(
    Type.Array(OneOf(WEEKDAYS, { title: 'Weekday', description: 'A day of the week.' }), {
      minItems: 1,
      maxItems: WEEKDAYS.length,
      description: 'Days on which the time begins; all days by default.',
    }),
  ),
  from: Maybe(TimeOfDay('Begin, such as 22:00; 00:00 by default.')),
  to: Maybe(TimeOfDay('End, such as 06:00; 00:00 by default. Unless it is after the begin, it is on the next day.')),
  time_zone: Maybe(Type.String({ maxLength: 60, description: 'Time zone, such as Europe/Berlin; UTC by default.' })),
});
export type AlertSchedule = Static<typeof AlertSchedule>;

const SeverityWord = OneOf(SEVERITIES, { title: 'Severity', description: 'Severity of the alert.' });

const ObjectTypeWord = OneOf(OBJECT_TYPES, {
  title: 'ObjectType',
  description:
    'Watched objects: trackables, location providers, or both. Trackables by default. Of providers, those that are ' +
    'assigned to no trackable, or those in provider_ids.',
});

/** Selects objects by the value of a property. */
const PropertyCondition = Named('AlertProperty', {
  name: Type.String({ minLength: 1, description: 'Name of a member of the properties of objects.' }),
  value: Choice([Type.String(), Type.Number(), Type.Boolean()], {
    title: 'PropertyValue',
    description: 'Required value of the property: a string, a number, true or false.',
  }),
});

/** A rule that raises alerts. The hub evaluates it, whether a page is open or not. */
export const AlertRule = Named('AlertRule', {
  id: Type.String({ description: 'Id of the rule, assigned by the hub.' }),
  name: Type.String({ minLength: 1, maxLength: 200, description: 'Display name of the rule.' }),
  kind: AlertKindWord,
  enabled: Maybe(Type.Boolean({ description: 'Whether the rule is evaluated; true by default.' })),
  severity: Maybe(SeverityWord),
  fence_ids: Maybe(
    Type.Array(Type.String(), { maxItems: 1000, description: 'Only these fences; all fences by default.' }),
  ),
  object_type: Maybe(ObjectTypeWord),
  trackable_ids: Maybe(
    Type.Array(Type.String(), { maxItems: 1000, description: 'Only these trackables; all by default.' }),
  ),
  provider_ids: Maybe(
    Type.Array(Type.String(), {
      maxItems: 1000,
      description: 'Only these providers, including those of trackables. By default all without a trackable.',
    }),
  ),
  property: Maybe(PropertyCondition),
  longer_than: Maybe(
    Type.Integer({ minimum: 1000, maximum: 2_592_000_000, description: 'Duration in milliseconds; at most 30 days.' }),
  ),
  sinks: Maybe(
    Type.Array(Type.String(), { maxItems: 100, description: 'Ids of sinks that receive the changes of its alerts.' }),
  ),
  more_than: Maybe(
    Type.Integer({
      minimum: 0,
      maximum: 1_000_000,
      description: 'Number of objects inside above which an alert is raised.',
    }),
  ),
  fewer_than: Maybe(
    Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      description: 'Number of objects inside below which an alert is raised.',
    }),
  ),
  direction: Maybe(
    OneOf(DIRECTIONS, { title: 'GateDirection', description: 'Side to which an object crosses a gate.' }),
  ),
  speed_above: Maybe(
    Type.Number({ minimum: 0, maximum: 10_000, description: 'Speed in meters per second above which it is raised.' }),
  ),
  other_trackable_ids: Maybe(
    Type.Array(Type.String(), {
      maxItems: 1000,
      description: 'Trackables to which distances are measured; the other ones of trackable_ids by default.',
    }),
  ),
  distance: Maybe(
    Type.Number({ exclusiveMinimum: 0, maximum: 100_000, description: 'Horizontal distance in meters.' }),
  ),
  schedule: Maybe(AlertSchedule),
});
export type AlertRule = Static<typeof AlertRule>;

const time = Time('RFC 3339 date and time.');

/** Maximum number of comments on an alert. */
export const COMMENTS_MAX = 20;
const NAME_MAX = 100;

const AlertComment = Named('AlertComment', {
  id: Type.String({ description: 'Id of the comment.' }),
  text: Type.String({ minLength: 1, maxLength: 500, description: 'The comment.' }),
  author: Maybe(Type.String({ minLength: 1, maxLength: NAME_MAX, description: 'Name that the author has given.' })),
  subject: Maybe(Type.String({ description: 'Subject of the access token of the author; absent without a token.' })),
  at: time,
});
export type AlertComment = Static<typeof AlertComment>;

/** Action of a user on alerts. */
export type AlertAction =
  | { readonly act: 'acknowledge' | 'clear' }
  | { readonly act: 'assign'; readonly assignee: string | undefined }
  | { readonly act: 'comment'; readonly comment: AlertComment };

/** A condition of a rule that holds or held for a fence and some objects, with the reaction of operators. */
export const Alert = Named('Alert', {
  id: Type.String({ description: 'Id of the alert.' }),
  rule_id: Type.String({ description: 'Id of the rule that raised it.' }),
  name: Type.String({ description: 'Name of the rule when it was raised.' }),
  kind: AlertKindWord,
  severity: SeverityWord,
  state: OneOf(ALERT_STATES, { title: 'AlertState', description: 'State of the alert.' }),
  fence_id: Maybe(Type.String({ description: 'The fence; absent if the rule does not concern fences.' })),
  trackable_id: Maybe(Type.String({ description: 'The trackable; absent if the alert concerns a number of objects.' })),
  other_trackable_id: Maybe(Type.String({ description: 'The other trackable of a collision or a distance.' })),
  provider_id: Maybe(Type.String({ description: 'The location provider, if the alert concerns one.' })),
  count: Maybe(Type.Integer({ minimum: 0, description: 'Number of objects inside when the alert was raised.' })),
  times: Type.Integer({ minimum: 1, description: 'Number of times its condition began while the alert was open.' }),
  raised_at: time,
  acknowledged_at: Maybe(time),
  cleared_at: Maybe(time),
  over_at: Maybe(Time('End of its condition, RFC 3339. Absent while it holds.')),
  assignee: Maybe(Type.String({ description: 'Name of the person who handles it.' })),
  comments: Maybe(Type.Array(AlertComment, { maxItems: COMMENTS_MAX, description: 'Comments, the oldest first.' })),
  snoozed_until: Maybe(Time('End of its snooze, RFC 3339. Absent if it is not snoozed.')),
});
export type Alert = Static<typeof Alert>;

/** A condition of a rule that holds now. */
export const AlertMatch = Named('AlertMatch', {
  fence_id: Maybe(Type.String({ description: 'The fence.' })),
  trackable_id: Maybe(Type.String({ description: 'The trackable.' })),
  other_trackable_id: Maybe(Type.String({ description: 'The other trackable of a distance.' })),
  provider_id: Maybe(Type.String({ description: 'The location provider.' })),
  since: Maybe(Time('Time of its entry, or of its last location. RFC 3339.')),
  count: Maybe(Type.Integer({ description: 'Number of objects inside.' })),
});
export type AlertMatch = Static<typeof AlertMatch>;

const AlertRate = Named('AlertRate', {
  from: Time('Start of the span, RFC 3339.'),
  to: Time('End of the span, RFC 3339.'),
  times: Type.Integer({ minimum: 0, description: 'Number of times that the condition began in the span.' }),
});
export type AlertRate = Static<typeof AlertRate>;

export const AlertPreview = Named('AlertPreview', {
  watched: Type.Integer({ description: 'Number of objects to which the rule applies.' }),
  matches: Type.Array(AlertMatch, { description: 'Conditions that hold now, at most 100.' }),
  total: Type.Integer({ description: 'Number of all conditions that hold now.' }),
  rate: Type.Optional(AlertRate),
});
export type AlertPreview = Static<typeof AlertPreview>;

const AlertCounts = Named('AlertCounts', {
  info: Type.Integer({ minimum: 0, description: 'Number with severity info.' }),
  warning: Type.Integer({ minimum: 0, description: 'Number with severity warning.' }),
  critical: Type.Integer({ minimum: 0, description: 'Number with severity critical.' }),
});

/** Capacity for alerts, and conditions without an alert because it is exhausted. */
export const AlertSummary = Named('AlertSummary', {
  max: Type.Integer({ description: 'Maximum number of alerts that the hub stores.' }),
  /** Alerts that are raised or acknowledged. */
  open: AlertCounts,
  /** Conditions that hold without an open alert because the maximum of open alerts is reached. */
  not_raised: AlertCounts,
});
export type AlertSummary = Static<typeof AlertSummary>;

/** Selects alerts by id, or all open ones. */
export const AlertSelection = Named('AlertSelection', {
  ids: Maybe(Type.Array(Type.String(), { maxItems: 1000, description: 'Only these alerts.' })),
  all: Maybe(Type.Boolean({ description: 'All open alerts; used if no ids are given.' })),
});

export type AlertSelection = Static<typeof AlertSelection>;

/** Assigns alerts to a person. */
export const AlertAssignment = Named('AlertAssignment', {
  ...AlertSelection.properties,
  assignee: Maybe(
    Type.String({ minLength: 1, maxLength: NAME_MAX, description: 'Name of the person; absent for no person.' }),
  ),
});

/** Adds a comment to alerts. */
export const AlertRemark = Named('AlertRemark', {
  ...AlertSelection.properties,
  text: AlertComment.properties.text,
  author: AlertComment.properties.author,
});

/** A time until which alerts of a rule need no attention, for one subject or for several. */
export const AlertSnooze = Named('AlertSnooze', {
  id: Type.String({ description: 'Id of the snooze, assigned by the hub.' }),
  name: Type.Optional(Type.String({ readOnly: true, description: 'Name of the rule when it was snoozed.' })),
  rule_id: Type.String({ description: 'Rule whose alerts are snoozed.' }),
  fence_id: Maybe(Type.String({ description: 'Only alerts of this fence; any by default.' })),
  trackable_id: Maybe(Type.String({ description: 'Only alerts of this trackable; any by default.' })),
  other_trackable_id: Maybe(Type.String({ description: 'Only alerts of this other trackable; any by default.' })),
  provider_id: Maybe(Type.String({ description: 'Only alerts of this location provider; any by default.' })),
  until: Time('End of the snooze, RFC 3339; in the future.'),
});
export type AlertSnooze = Static<typeof AlertSnooze> & { readonly name: string };

/** An alert was raised, changed, or removed. */
export const AlertChangeEvent = Named('AlertChangeEvent', {
  timestamp: time,
  event_type: OneOf(CHANGE_TYPES, { title: 'ChangeType', description: 'What happened to an entity.' }),
  id: Type.String({ description: 'Id of the alert.' }),
  object: Alert,
});
export type AlertChangeEvent = Static<typeof AlertChangeEvent>;
