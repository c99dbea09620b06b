import { hubError } from '../errors.ts';
import type { QueryResult, Query } from '../core/item.ts';
import { ALERT_RULES } from '../entities/alert_rules.ts';
import { type AuditedWrites, type DefinedWrite, Documents, type DocumentsDeps } from '../entities/documents.ts';
import type { Fanout } from '../fanout/fanout.ts';
import {
  type Alert,
  type AlertChangeEvent,
  type AlertPreview,
  type AlertRule,
  type AlertSummary,
  SEVERITIES,
} from '../model/alert.ts';
import { formatTime } from '../model/time.ts';
import type { FilterFields } from '../model/topics.ts';
import { type BySeverity, NONE } from './alert_room.ts';
import { after, byRaised, isOpen } from './alert_state.ts';
import { previewOf } from './preview.ts';
import { dependsOnSamples, dependsOnStays, type EntityLookup } from './rule_match.ts';
import { step } from './watch.ts';
import { NONE_SEEN, nextMs, unraisedCounts, type WatchEvent, type WatchState, watchState } from './watch_state.ts';
import { Watcher } from './watcher.ts';

/**
 * Alert rules and alerts of a hub. Both are stored as settings: in the database, or in the configuration log of a
 * cluster.
 *
 *   rules ──▶ Watcher: subscriptions, objects inside of fences, last-seen times
 *                │ events                                            timer ──┐
 *                ▼                                                           ▼
 *             step ──▶ changed alerts ──▶ committed ──▶ apply ──▶ listed, published
 *
 * Without an enabled rule, the hub subscribes to nothing, queries nothing and sets no timer.
 *
 * In a cluster exactly one member evaluates the rules: the owner of the collision stage. All members apply its commits,
 * so all list the same alerts. A user's action at another member is committed as an action, which all members
 * immediately apply to their lists. The evaluating member carries it out and, in one commit, deletes the action and
 * stores the resulting alert. When that member fails, the ownership map names a successor. It starts from the committed
 * alerts, reads which objects are inside of fences and when objects were last seen, and continues. An entry or
 * collision that begins during this gap of some seconds raises no alert; lasting conditions do.
 *
 * A restart works the same way: open alerts are stored and close when their conditions no longer hold. A condition
 * whose alert was cleared while it held raises no new alert.
 */
export interface AlertsDeps {
  monotonicMs(): number;
  /** Wall-clock time. */
  now(): number;
  schedule(delayMs: number, callback: () => void): () => void;
  newId(): string;
  readonly fanout: Pick<Fanout, 'subscribe' | 'unsubscribe' | 'announce'>;
  readonly entities: EntityLookup;
  /** Queries the shards. */
  read(query: Query): Promise<readonly QueryResult[]>;
  /** Stores documents, and logs the events of changed alerts with them. */
  commit(documents: readonly DefinedWrite[], logged?: LoggedWrites): ReturnType<DocumentsDeps['commit']>;
  /** Called when rules have changed. */
  rulesChanged?(): void;
  /** Whether this hub is the member that evaluates the rules. */
  isWatcher(): boolean;
  warn(message: string, facts: object): void;
}

interface LoggedWrites extends AuditedWrites {
  readonly events?: readonly AlertEvent[];
}

/** The event of a changed alert. */
export interface AlertEvent {
  readonly fields: FilterFields;
  json(): string;
}

export type AlertAction = 'acknowledge' | 'clear';

/** Maximum number of alerts that the hub stores. */
const ALERTS_MAX = 1000;
const ALERT = 'alert ';
const ACT = 'alert_act ';
/**
 * Name of the setting with the numbers of conditions that hold without an alert, as counted by the evaluating member.
 * Stored unless all are zero.
 */
const NOT_RAISED = 'alerts_not_raised';
const RETRY_MS = 2000;
/** Maximum delay of a timer. A timer for a later deadline fires early and is set again. */
const TIMER_MOST_MS = 3_600_000;

/** A stored action of a user on an alert, from a member that does not evaluate the rules. */
interface StoredAction {
  readonly act: AlertAction;
  readonly at: number;
}

export class Alerts {
  readonly rules: Documents<AlertRule>;
  readonly #deps: AlertsDeps;
  readonly #watcher: Watcher;
  readonly #stored = new Map<string, Alert>();
  readonly #acts = new Map<string, StoredAction>();
  #notRaised: BySeverity = NONE;
  /** Counts of the last step, which are stored or marked to be stored. */
  #counted: BySeverity = NONE;
  #state: WatchState | undefined;
  #isStarted = false;
  #cancelTimer: () => void = () => undefined;
  /** Names of documents that differ from their stored versions. */
  readonly #dirty = new Set<string>();
  #flushing: Promise<void> | undefined;
  #cancelRetry: (() => void) | undefined;

  constructor(deps: AlertsDeps) {
    this.#deps = deps;
    this.#watcher = new Watcher(deps, { step: (events) => this.#step(events), missed: () => this.refresh() });
    this.rules = new Documents(ALERT_RULES, {
      newId: deps.newId,
      commit: deps.commit,
      changed: () => {
        this.refresh();
        deps.rulesChanged?.();
      },
    });
  }

  /** Applies a stored setting; null if it was deleted. Returns false if the setting is not about alerts. */
  apply(name: string, json: string | null): boolean {
    if (this.rules.apply(name, json)) return true;
    if (name === NOT_RAISED) {
      this.#notRaised = json === null ? NONE : (JSON.parse(json) as BySeverity);
      return true;
    }
    if (name.startsWith(ALERT)) {
      this.#applyAlert(name.slice(ALERT.length), json === null ? undefined : (JSON.parse(json) as Alert));
      return true;
    }
    if (!name.startsWith(ACT)) return false;
    this.#applyAct(name.slice(ACT.length), json === null ? undefined : (JSON.parse(json) as StoredAction));
    return true;
  }

  /** Starts the evaluation. All stored settings must have been applied. */
  start(): void {
    this.#isStarted = true;
    this.refresh();
  }

  /** Re-evaluates which rules are enabled, and whether this hub evaluates them. */
  refresh(): void {
    if (!this.#isStarted) return;
    if (!this.#deps.isWatcher()) {
      this.#stopWatching();
      this.#state = undefined;
      this.#dirty.clear();
      return;
    }
    if (this.#state === undefined) this.#takeOver();
    const rules = this.rules.list.filter(({ enabled }) => enabled !== false);
    if (rules.length > 0) this.#watcher.watch(rules);
    else {
      this.#stopWatching();
      this.#step([{ what: 'rules', rules: [], stays: [] }]);
    }
  }

  /** Handles changes of fences, trackables or providers. */
  entitiesChanged(): void {
    if (this.#watcher.isWatching) this.#watcher.receive([{ what: 'changed' }]);
  }

  /** Returns all alerts with pending actions applied, newest first. */
  list(): readonly Alert[] {
    const alerts = [...this.#stored.values()].map((alert) => this.#current(alert));
    return alerts.sort((one, other) => byRaised(other, one));
  }

  /** Returns an alert. Throws HUB_NOT_FOUND. */
  get(id: string): Alert {
    const alert = this.#stored.get(id);
    if (alert !== undefined) return this.#current(alert);
    throw hubError('not_found', { action: 'find', kind: 'alert', id });
  }

  /**
   * Acknowledges or clears alerts; all open alerts if `ids` is absent. Rejects with HUB_NOT_FOUND or HUB_UNAVAILABLE.
   */
  async act(act: AlertAction, ids?: readonly string[]): Promise<void> {
    for (const id of ids ?? []) this.get(id);
    const concerned = ids ?? this.list().flatMap((alert) => (isOpen(alert) ? [alert.id] : []));
    if (concerned.length === 0) return;
    if (this.#state !== undefined) {
      this.#step([{ what: act, ids: concerned }]);
      await this.#flushed();
      return;
    }
    const acted: StoredAction = { act, at: this.#deps.now() };
    await this.#deps.commit(concerned.map((id) => [ACT + id, acted]));
  }

  /** Previews the alerts that a rule would have now. Rejects with HUB_BAD_REQUEST or HUB_UNAVAILABLE. */
  async preview(body: unknown): Promise<AlertPreview> {
    const rule = this.rules.checked(body);
    const { monotonicMs, now, entities } = this.#deps;
    const [stays, lastSeen, sample] = await Promise.all([
      dependsOnStays(rule) ? this.#watcher.stays([rule]) : [],
      rule.kind === 'silent' ? this.#watcher.lastSeen([rule]) : NONE_SEEN,
      dependsOnSamples(rule) ? this.#watcher.sample([rule]) : undefined,
    ]);
    const nowMs = monotonicMs();
    return previewOf(rule, { nowMs, toWallClockMs: now() - nowMs, stays, lastSeen, sample, entities });
  }

  /** Returns the number of open alerts, the capacity, and the number of conditions that hold without an alert. */
  summary(): AlertSummary {
    const open = { ...NONE };
    for (const alert of this.#stored.values()) {
      const { state, severity } = this.#current(alert);
      if (state !== 'cleared') open[severity]++;
    }
    return { max: ALERTS_MAX, open, not_raised: this.#notRaised };
  }

  counts() {
    const states = { raised: 0, acknowledged: 0, cleared: 0 };
    for (const alert of this.#stored.values()) states[this.#current(alert).state]++;
    const { raisedTotal = 0, dropped = 0, displaced = 0 } = this.#state ?? {};
    const notRaised = this.#state === undefined ? NONE : unraisedCounts(this.#state);
    return { rules: this.rules.list.length, states, raisedTotal, dropped, displaced, notRaised };
  }

  /** Stops the evaluation. Resolves when pending changes are committed, or their commit has failed. */
  async close(): Promise<void> {
    this.#isStarted = false;
    this.#stopWatching();
    this.#cancelRetry?.();
    await this.#flushing;
  }

  #current(alert: Alert): Alert {
    const acted = this.#acts.get(alert.id);
    return acted === undefined ? alert : after(alert, acted.act, acted.at);
  }

  #applyAlert(id: string, alert: Alert | undefined): void {
    const before = this.#stored.get(id);
    if (alert === undefined) this.#stored.delete(id);
    else this.#stored.set(id, alert);
    const changed = alert ?? before;
    if (changed === undefined) return;
    this.#publish(changed, alert === undefined ? 'delete' : before === undefined ? 'create' : 'update');
  }

  #applyAct(id: string, acted: StoredAction | undefined): void {
    if (acted === undefined) {
      this.#acts.delete(id);
      return;
    }
    this.#acts.set(id, acted);
    const alert = this.#stored.get(id);
    if (alert !== undefined) this.#publish(alert, 'update');
    if (this.#state !== undefined) this.#carryOut();
  }

  #publish(stored: Alert, type: AlertChangeEvent['event_type']): void {
    if (!this.#isStarted) return;
    const { fields, json } = this.#eventOf(this.#current(stored), type);
    this.#deps.fanout.announce('alert_changes', fields, json);
  }

  #eventOf(alert: Alert, type: AlertChangeEvent['event_type']): AlertEvent {
    const { id, rule_id, state, fence_id, trackable_id, other_trackable_id, provider_id } = alert;
    const about = [fence_id, trackable_id, other_trackable_id, provider_id].map((each) => each ?? undefined);
    return {
      fields: [id, type, rule_id, state, ...about],
      json: () => {
        const timestamp = formatTime(this.#deps.now());
        return JSON.stringify({ timestamp, event_type: type, id, object: alert } satisfies AlertChangeEvent);
      },
    };
  }

  /** Returns the events of alerts that documents change when they are stored. */
  #eventsOf(documents: readonly DefinedWrite[]): readonly AlertEvent[] {
    return documents.flatMap(([name, document]) => {
      if (!name.startsWith(ALERT)) return [];
      const before = this.#stored.get(name.slice(ALERT.length));
      const alert = (document as Alert | undefined) ?? before;
      if (alert === undefined) return [];
      return [this.#eventOf(alert, document === undefined ? 'delete' : before === undefined ? 'create' : 'update')];
    });
  }

  /** Makes this hub the evaluating member. */
  #takeOver(): void {
    this.#state = watchState(this.#stored.values());
    this.#counted = this.#notRaised;
    this.#carryOut();
  }

  /** Carries out actions that users took at other members. */
  #carryOut(): void {
    for (const [id, { act }] of this.#acts) {
      this.#step([{ what: act, ids: [id] }]);
      this.#dirty.add(ALERT + id);
    }
    this.#flushSoon();
  }

  #step(events: readonly WatchEvent[]): void {
    if (this.#state === undefined) return;
    const { monotonicMs, now, newId, entities, schedule } = this.#deps;
    const nowMs = monotonicMs();
    const input = { nowMs, wallClockMs: now(), events, entities, newId, alertsMax: ALERTS_MAX };
    const { state, changes } = step(this.#state, input);
    this.#state = state;
    for (const id of changes.keys()) this.#dirty.add(ALERT + id);
    this.#updateNotRaised(unraisedCounts(state));
    this.#flushSoon();
    this.#cancelTimer();
    const waitMs = nextMs(state) - nowMs;
    const isDue = this.#watcher.isWatching && waitMs < Number.POSITIVE_INFINITY;
    this.#cancelTimer = isDue ? schedule(Math.min(waitMs, TIMER_MOST_MS), () => this.#step([])) : () => undefined;
  }

  #updateNotRaised(counts: BySeverity): void {
    const before = this.#counted;
    if (SEVERITIES.every((severity) => counts[severity] === before[severity])) return;
    this.#counted = counts;
    this.#dirty.add(NOT_RAISED);
    if (isNone(before)) {
      const message =
        'Conditions hold without an alert: open alerts use up the room of their severity. Clear alerts to make room';
      this.#deps.warn(message, { ...counts });
    }
  }

  #flushSoon(): void {
    if (this.#dirty.size > 0 && this.#cancelRetry === undefined) this.#flushed().catch(() => undefined);
  }

  /**
   * Resolves when all changes so far are committed. Rejects with HUB_UNAVAILABLE if a commit fails, which is then
   * retried.
   */
  async #flushed(): Promise<void> {
    while (this.#dirty.size > 0 || this.#flushing !== undefined) {
      this.#flushing ??= this.#flush().finally(() => {
        this.#flushing = undefined;
      });
      await this.#flushing;
    }
  }

  async #flush(): Promise<void> {
    const names = [...this.#dirty];
    this.#dirty.clear();
    const state = this.#state;
    if (state === undefined) return;
    const documents = names.flatMap((name) => this.#documentsOf(name, state));
    try {
      if ((await this.#deps.commit(documents, { events: this.#eventsOf(documents) })) === 'applied') return;
      for (const [name, document] of documents) {
        this.apply(name, document === undefined ? null : JSON.stringify(document));
      }
    } catch (error) {
      for (const name of names) this.#dirty.add(name);
      this.#cancelRetry ??= this.#deps.schedule(RETRY_MS, () => {
        this.#cancelRetry = undefined;
        this.#flushSoon();
      });
      throw error;
    }
  }

  /** Returns the writes for a document. Writing an alert also deletes the action that it carries out. */
  #documentsOf(name: string, state: WatchState): readonly DefinedWrite[] {
    if (name === NOT_RAISED) {
      const counts = unraisedCounts(state);
      return [[name, isNone(counts) ? undefined : counts]];
    }
    const id = name.slice(ALERT.length);
    const alert = [name, state.alerts.get(id)] as const;
    return this.#acts.has(id) ? [alert, [ACT + id, undefined]] : [alert];
  }

  #stopWatching(): void {
    this.#watcher.stop();
    this.#cancelTimer();
  }
}

function isNone(counts: BySeverity): boolean {
  return SEVERITIES.every((severity) => counts[severity] === 0);
}
