import { DeadlineHeap, type Scheduled } from '../core/deadline_heap.ts';
import type { Alert, AlertRule } from '../model/alert.ts';
import type { BySeverity, Severity } from './alert_room.ts';
import { isClosed, type MovingObject, type AlertSubject, subjectKey, subjectOf } from './alert_state.ts';
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
  rules: readonly CompiledRule[];
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
  lastSeen: LastSeen;
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

/** Times at which objects were last seen, by id, without objects that were never seen. */
export interface LastSeen {
  readonly trackables: ReadonlyMap<string, number>;
  /** Empty if no rule applies to providers. */
  readonly providers: ReadonlyMap<string, number>;
}

export const NONE_SEEN: LastSeen = { trackables: new Map(), providers: new Map() };

export type WatchEvent =
  /** All enabled rules, and all objects inside of their fences. */
  | { readonly what: 'rules'; readonly rules: readonly AlertRule[]; readonly stays: readonly FenceStay[] }
  | ({ readonly what: 'entered' | 'left' } & FenceCrossing)
  | { readonly what: 'collided' | 'parted'; readonly trackableId: string; readonly otherId: string }
  | { readonly what: 'lastSeen'; readonly lastSeen: LastSeen }
  /** Fences or objects have changed. */
  | { readonly what: 'changed' }
  | { readonly what: 'acknowledge' | 'clear'; readonly ids: readonly string[] };

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
    rules: [],
    alerts: new Map(),
    current: new Map(),
    holding: new Map(),
    inside: new Map(),
    counts: new Map(),
    waiting: new Map(),
    deadlines: new DeadlineHeap<WaitingStay>(),
    lastSeen: NONE_SEEN,
    unraised: { info: new Map(), warning: new Map(), critical: new Map() },
    raisedTotal: 0,
    dropped: 0,
    displaced: 0,
  };
  for (const alert of [...stored].sort((one, other) => (one.raised_at < other.raised_at ? -1 : 1))) {
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

/** Returns the next deadline at which a condition may begin without an event; Infinity without a deadline. */
export function nextMs(state: WatchState): number {
  return state.deadlines.nextMs;
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
