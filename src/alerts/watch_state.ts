import { DeadlineHeap, type Scheduled } from '../core/deadline_heap.ts';
import type { Alert, AlertAction, AlertRule } from '../model/alert.ts';
import type { BySeverity, Severity } from './alert_room.ts';
import {
  type AlertSubject,
  byRaised,
  isClosed,
  type MovingObject,
  objectKey,
  subjectKey,
  subjectOf,
} from './alert_state.ts';
import type { EntityLookup, CompiledRule } from './rule_match.ts';

/**
 * State of alert evaluation: the conditions of rules that hold, and the alerts.
 *
 *   kind            holds from                                       until
 *   --------------  -----------------------------------------------  ---------------------------------------
 *   entry           an object enters a fence                         it leaves
 *   exit            an object leaves a fence                         it enters again
 *   inside_longer   an object has been inside for `longer_than`      it leaves
 *   more_inside     more than `more_than` objects are in a fence     the number falls to `more_than` or less
 *   silent          an object has sent nothing for `longer_than`     it sends a location
 *   collision       two trackables begin to collide                  the collision ends
 *   count_below     fewer than `fewer_than` objects are in a fence   the number rises to `fewer_than`
 *   gate            an object crosses a gate in `direction`          at once
 *   speed           an object moves faster than `speed_above`        it is slower, or its last location is old
 *   separated       no other trackable is within `distance`          one is
 *   together        two trackables are within `distance`             they are not
 *
 * Conditions of count_below, speed, separated and together hold as soon as they have lasted for `longer_than`, if it is
 * set. A rule with a schedule is evaluated only while the schedule is in effect; at its end all its conditions end.
 *
 * Objects are trackables unless the rule has another `object_type`. A provider that moves a trackable counts as an
 * object only for rules that list it.
 *
 * At start, and whenever events may have been missed, the objects inside of fences and the last-seen times are replaced
 * as a whole. An object found inside this way does not count as an entry. Conditions that cannot be derived from this
 * state (entry, exit, collision) are taken from their alerts and hold until the opposite event arrives. A change of a
 * rule, a fence or an object re-evaluates all conditions.
 */
export interface WatchState {
  /** All enabled rules. */
  enabled: readonly CompiledRule[];
  /** The enabled rules whose schedule is in effect. */
  rules: readonly CompiledRule[];
  /** When schedules are evaluated next: the wall-clock time, and the last evaluation. */
  schedules: { readonly evaluatedMs: number; readonly untilMs: number };
  /** Monotonic time of the next evaluation of schedules. */
  schedulesDueMs: number;
  /** Alerts by id, oldest first. */
  readonly alerts: Map<string, Alert>;
  /** Ids of alerts that are not closed, by subject. */
  readonly current: Map<string, string>;
  /** Conditions that hold, by subject. */
  readonly holding: Map<string, HeldCondition>;
  /** Objects inside of fences and their entry times, by fence id and object key. */
  readonly inside: Map<string, Map<string, FenceStay>>;
  /** Number of objects inside of a fence to which a rule applies, by subject. */
  readonly counts: Map<string, number>;
  /** Stays that are not long enough yet, by subject. */
  readonly waiting: Map<string, WaitingStay>;
  readonly deadlines: DeadlineHeap<WaitingStay>;
  /** Since when conditions that must last have been true, by subject. */
  readonly since: Map<string, { readonly ruleId: string; readonly sinceMs: number }>;
  lastSeen: LastSeen;
  /** Undefined until the first sample for the current rules. */
  sample: Sample | undefined;
  /** Conditions that hold without an open alert for lack of capacity, by subject. */
  readonly unraised: Readonly<Record<Severity, Map<string, UnraisedCondition>>>;
  raisedTotal: number;
  /** Number of conditions that began without capacity for an alert. */
  dropped: number;
  /** Number of open alerts that were removed to make room for others. */
  displaced: number;
}

/** An object in a fence. */
export interface FenceStay extends FenceCrossing {
  readonly sinceMs: number;
}

/** An object that enters or leaves a fence. */
export interface FenceCrossing extends MovingObject {
  readonly fenceId: string;
}

/** Returns the map key of an object in a fence. */
export function crossingKey(crossing: FenceCrossing): string {
  return `${crossing.fenceId} ${objectKey(crossing)}`;
}

/** Times at which objects were last seen, by id, without objects that were never seen. */
export interface LastSeen {
  readonly trackables: ReadonlyMap<string, number>;
  /** Empty if no rule applies to providers. */
  readonly providers: ReadonlyMap<string, number>;
}

export const NONE_SEEN: LastSeen = { trackables: new Map(), providers: new Map() };

/** Speeds and positions of objects at one time. */
export interface Sample {
  /** Objects that move faster than the lowest limit of a rule, and their speeds in meters per second. */
  readonly speeds: readonly (readonly [object: MovingObject, speed: number])[];
  /** Last positions of the trackables named by rules on distances. */
  readonly positions: ReadonlyMap<string, SampledPosition>;
}

/** A position in EPSG:4326. */
export interface SampledPosition {
  readonly lon: number;
  readonly lat: number;
  readonly floor: number;
}

export type WatchEvent =
  /** All enabled rules, and all objects inside of their fences as the shards know them. */
  | {
      readonly what: 'rules';
      readonly rules: readonly AlertRule[];
      readonly stays: readonly FenceStay[];
      /** Whether no event was missed since the previous rules, whose fences the events describe completely. */
      readonly isComplete?: boolean;
    }
  | ({ readonly what: 'entered' | 'left' } & FenceCrossing)
  | { readonly what: 'collided' | 'parted'; readonly trackableId: string; readonly otherId: string }
  /** An object has crossed a gate. */
  | ({ readonly what: 'crossed'; readonly direction: 'left' | 'right' } & FenceCrossing)
  | { readonly what: 'lastSeen'; readonly lastSeen: LastSeen }
  | { readonly what: 'sampled'; readonly sample: Sample }
  /** Fences or objects have changed. */
  | { readonly what: 'changed' }
  /** A user has acted on alerts. */
  | { readonly what: 'acted'; readonly action: AlertAction; readonly ids: readonly string[] };

/** Returns the time at which an object was last seen. */
export function lastSeenMs(
  { trackables, providers }: LastSeen,
  { trackableId, providerId }: MovingObject,
): number | undefined {
  return providerId === undefined ? trackables.get(trackableId ?? '') : providers.get(providerId);
}

export interface StepInput {
  /** Monotonic time, by which stays, silence and deadlines are measured. */
  readonly nowMs: number;
  /** The same moment as wall-clock time, for the times in alerts. */
  readonly wallClockMs: number;
  readonly events: readonly WatchEvent[];
  readonly entities: EntityLookup;
  newId(): string;
  /** Maximum number of stored alerts. `alert_room.ts` defines which ones are removed beyond it. */
  readonly alertsMax: number;
}

/** Changed alerts by id; undefined for removed ones. */
export type AlertChanges = ReadonlyMap<string, Alert | undefined>;

/** Returns the initial state, given the stored alerts. */
export function watchState(stored: Iterable<Alert> = []): WatchState {
  const state: WatchState = {
    enabled: [],
    rules: [],
    schedules: { evaluatedMs: 0, untilMs: Number.POSITIVE_INFINITY },
    schedulesDueMs: Number.POSITIVE_INFINITY,
    alerts: new Map(),
    current: new Map(),
    holding: new Map(),
    inside: new Map(),
    counts: new Map(),
    waiting: new Map(),
    deadlines: new DeadlineHeap<WaitingStay>(),
    since: new Map(),
    lastSeen: NONE_SEEN,
    sample: undefined,
    unraised: { info: new Map(), warning: new Map(), critical: new Map() },
    raisedTotal: 0,
    dropped: 0,
    displaced: 0,
  };
  for (const alert of [...stored].sort(byRaised)) {
    state.alerts.set(alert.id, alert);
    const subject = subjectOf(alert);
    const key = subjectKey(alert.rule_id, subject);
    if (!isClosed(alert)) state.current.set(key, alert.id);
    if (alert.over_at == null) state.holding.set(key, { ruleId: alert.rule_id, subject });
  }
  return state;
}

/** Returns the number of conditions that hold without an open alert for lack of capacity. */
export function unraisedCounts({ unraised: { info, warning, critical } }: WatchState): BySeverity {
  return { info: info.size, warning: warning.size, critical: critical.size };
}

/** Returns the next deadline at which a condition may begin or end without an event; Infinity without a deadline. */
export function nextMs(state: WatchState): number {
  return Math.min(state.deadlines.nextMs, state.schedulesDueMs);
}

/** A condition that holds. */
export interface HeldCondition {
  readonly ruleId: string;
  readonly subject: AlertSubject;
}

/** A condition that holds without an open alert. */
export interface UnraisedCondition {
  readonly rule: AlertRule;
  readonly subject: AlertSubject;
  readonly count?: number | undefined;
}

/** A stay that is not long enough yet. */
export interface WaitingStay extends Scheduled {
  readonly key: string;
  readonly watched: CompiledRule;
  readonly subject: AlertSubject;
}

/** Input of a step, and the alerts changed so far. */
export interface StepContext extends StepInput {
  readonly changes: Map<string, Alert | undefined>;
}
