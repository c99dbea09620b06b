import { hubError } from '../errors.ts';
import type { QueryResult, Query } from '../core/item.ts';
import { type AuditedWrites, type DefinedWrite, Documents, type DocumentsDeps } from '../entities/documents.ts';
import type { Fanout } from '../fanout/fanout.ts';
import type { AuditedChange } from '../entities/audited.ts';
import type { Author } from '../model/audit.ts';
import {
  type Alert,
  type AlertAction,
  type AlertChangeEvent,
  type AlertPreview,
  type AlertRule,
  type AlertSnooze,
  type AlertSummary,
  COMMENTS_MAX,
  SEVERITIES,
} from '../model/alert.ts';
import { formatTime } from '../model/time.ts';
import type { FilterFields } from '../model/topics.ts';
import { AlertWriter } from './alert_writer.ts';
import { type BySeverity, NONE } from './alert_room.ts';
import { actionName, afterAction, PendingActions, type StoredAction } from './actions.ts';
import { byRaised, isOpen } from './alert_state.ts';
import { type PastEvents, pastRateOf, type PastTopic, pastTopicOf } from './past_rate.ts';
import { previewOf } from './preview.ts';
import { rulesOn } from './gate_rules.ts';
import { dependsOnSamples, dependsOnStays, type EntityLookup } from './rule_match.ts';
import { AlertSnoozes, isAbout } from './snoozes.ts';
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
  /** All recent events of a topic; undefined without any. Rejects with HUB_UNAVAILABLE. Absent without an event log. */
  readonly recentEvents?: ((topic: PastTopic) => Promise<PastEvents | undefined>) | undefined;
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

/** Maximum number of alerts that the hub stores. */
const ALERTS_MAX = 1000;
const ALERT = 'alert ';
/**
 * Name of the setting with the numbers of conditions that hold without an alert, as counted by the evaluating member.
 * Stored unless all are zero.
 */
const NOT_RAISED = 'alerts_not_raised';
/** Maximum delay of a timer. A timer for a later deadline fires early and is set again. */
const TIMER_MOST_MS = 3_600_000;

export class Alerts {
  readonly rules: Documents<AlertRule>;
  readonly snoozes: AlertSnoozes;
  readonly #deps: AlertsDeps;
  readonly #watcher: Watcher;
  readonly #stored = new Map<string, Alert>();
  readonly #actions = new PendingActions();
  #notRaised: BySeverity = NONE;
  /** Counts of the last step, which are stored or marked to be stored. */
  #counted: BySeverity = NONE;
  #state: WatchState | undefined;
  #isStarted = false;
  #cancelTimer: () => void = () => undefined;
  readonly #writer: AlertWriter;

  constructor(deps: AlertsDeps) {
    this.#deps = deps;
    this.#watcher = new Watcher(deps, { step: (events) => this.#step(events), missed: () => this.refresh() });
    this.#writer = new AlertWriter({
      documentsOf: (name) => this.#documentsOf(name),
      commit: (documents, logged) => this.#commit(documents, logged),
      schedule: deps.schedule,
    });
    this.rules = new Documents(rulesOn(deps.entities), {
      newId: deps.newId,
      commit: deps.commit,
      changed: () => {
        this.refresh();
        deps.rulesChanged?.();
      },
    });
    this.snoozes = new AlertSnoozes({
      newId: deps.newId,
      commit: deps.commit,
      now: deps.now,
      rule: (id) => this.rules.get(id),
      changed: (snoozes) => this.#publishSnoozed(snoozes),
    });
  }

  /** Applies a stored setting; null if it was deleted. Returns false if the setting is not about alerts. */
  apply(name: string, json: string | null): boolean {
    if (this.rules.apply(name, json) || this.snoozes.documents.apply(name, json)) return true;
    if (name === NOT_RAISED) {
      this.#notRaised = json === null ? NONE : (JSON.parse(json) as BySeverity);
      return true;
    }
    if (name.startsWith(ALERT)) {
      this.#applyAlert(name.slice(ALERT.length), json === null ? undefined : (JSON.parse(json) as Alert));
      return true;
    }
    const acted = this.#actions.apply(name, json);
    if (acted === undefined) return false;
    if (json !== null) this.#acted(acted);
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
      this.#writer.discard();
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
   * Carries out an action on alerts; on all open alerts if `ids` is absent. Rejects with HUB_BAD_REQUEST if an alert has the
   * maximum number of comments, and with HUB_NOT_FOUND or HUB_UNAVAILABLE.
   */
  async act(action: AlertAction, ids: readonly string[] | undefined, by: Author): Promise<void> {
    const concerned = ids?.map((id) => this.get(id)) ?? this.list().filter(isOpen);
    if (concerned.length === 0) return;
    if (action.act === 'comment' && concerned.some(({ comments }) => (comments?.length ?? 0) >= COMMENTS_MAX)) {
      throw hubError('too_many_stored', { path: 'text', limit: COMMENTS_MAX, unit: 'comments' });
    }
    const at = this.#deps.now();
    const audited = concerned.map(
      (before): AuditedChange => ({ kind: 'alert', id: before.id, by, before, after: afterAction(before, action, at) }),
    );
    if (this.#state !== undefined) {
      this.#writer.audit(audited);
      this.#step([{ what: 'acted', action, ids: concerned.map(({ id }) => id) }]);
      await this.#writer.flushed();
      return;
    }
    const acted: StoredAction = { ...action, at };
    await this.#deps.commit(
      concerned.map(({ id }) => [actionName(id, action), acted]),
      { audited },
    );
  }

  /** Previews the alerts that a rule would have now, and how often it would have raised them. Rejects with HUB_BAD_REQUEST or HUB_UNAVAILABLE. */
  async preview(body: unknown): Promise<AlertPreview> {
    const rule = this.rules.checked(body);
    const { monotonicMs, now, entities } = this.#deps;
    const pastTopic = pastTopicOf(rule);
    const [stays, lastSeen, sample, past] = await Promise.all([
      dependsOnStays(rule) ? this.#watcher.stays([rule]) : [],
      rule.kind === 'silent' ? this.#watcher.lastSeen([rule]) : NONE_SEEN,
      dependsOnSamples(rule) ? this.#watcher.sample([rule]) : undefined,
      pastTopic === undefined ? undefined : this.#deps.recentEvents?.(pastTopic),
    ]);
    const nowMs = monotonicMs();
    const toWallClockMs = now() - nowMs;
    const preview = previewOf(rule, { nowMs, toWallClockMs, stays, lastSeen, sample, entities });
    if (past === undefined) return preview;
    const since = stays.map((stay) => ({ ...stay, sinceMs: stay.sinceMs + toWallClockMs }));
    return { ...preview, rate: pastRateOf(rule, past, { stays: since, entities }) };
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
    await this.#writer.close();
  }

  #current(alert: Alert): Alert {
    const acted = this.#actions.of(alert.id).reduce((each, action) => afterAction(each, action, action.at), alert);
    const until = isOpen(acted) ? this.snoozes.until(acted) : undefined;
    return until === undefined ? acted : { ...acted, snoozed_until: until };
  }

  #applyAlert(id: string, alert: Alert | undefined): void {
    const before = this.#stored.get(id);
    if (alert === undefined) this.#stored.delete(id);
    else this.#stored.set(id, alert);
    const changed = alert ?? before;
    if (changed === undefined) return;
    this.#publish(changed, alert === undefined ? 'delete' : before === undefined ? 'create' : 'update');
  }

  /** Handles a stored action. */
  #acted(id: string): void {
    const alert = this.#stored.get(id);
    if (alert !== undefined) this.#publish(alert, 'update');
    if (this.#state !== undefined) this.#carryOut();
  }

  /** Publishes the open alerts to which these snoozes apply. */
  #publishSnoozed(snoozes: readonly AlertSnooze[]): void {
    for (const alert of this.#stored.values()) {
      if (isOpen(alert) && snoozes.some((snooze) => isAbout(snooze, alert))) this.#publish(alert, 'update');
    }
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
    for (const id of this.#actions.ids) {
      this.#step(this.#actions.of(id).map((action) => ({ what: 'acted', action, ids: [id] })));
      this.#writer.changed(ALERT + id);
    }
    this.#writer.flushSoon();
  }

  #step(events: readonly WatchEvent[]): void {
    if (this.#state === undefined) return;
    const { monotonicMs, now, newId, entities, schedule } = this.#deps;
    const nowMs = monotonicMs();
    const input = { nowMs, wallClockMs: now(), events, entities, newId, alertsMax: ALERTS_MAX };
    const { state, changes } = step(this.#state, input);
    this.#state = state;
    for (const id of changes.keys()) this.#writer.changed(ALERT + id);
    this.#updateNotRaised(unraisedCounts(state));
    this.#writer.flushSoon();
    this.#cancelTimer();
    const waitMs = nextMs(state) - nowMs;
    const isDue = this.#watcher.isWatching && waitMs < Number.POSITIVE_INFINITY;
    this.#cancelTimer = isDue ? schedule(Math.min(waitMs, TIMER_MOST_MS), () => this.#step([])) : () => undefined;
  }

  #updateNotRaised(counts: BySeverity): void {
    const before = this.#counted;
    if (SEVERITIES.every((severity) => counts[severity] === before[severity])) return;
    this.#counted = counts;
    this.#writer.changed(NOT_RAISED);
    if (isNone(before)) {
      const message =
        'Conditions hold without an alert: open alerts use up the room of their severity. Clear alerts to make room';
      this.#deps.warn(message, { ...counts });
    }
  }

  /** Stores documents with the events of the alerts that they change. Rejects with HUB_UNAVAILABLE. */
  async #commit(documents: readonly DefinedWrite[], logged: AuditedWrites): Promise<void> {
    if ((await this.#deps.commit(documents, { ...logged, events: this.#eventsOf(documents) })) === 'applied') return;
    for (const [name, document] of documents) {
      this.apply(name, document === undefined ? null : JSON.stringify(document));
    }
  }

  /** Returns the writes for a document. Writing an alert also deletes the actions that it carries out. */
  #documentsOf(name: string): readonly DefinedWrite[] {
    const state = this.#state;
    if (state === undefined) return [];
    if (name === NOT_RAISED) {
      const counts = unraisedCounts(state);
      return [[name, isNone(counts) ? undefined : counts]];
    }
    const id = name.slice(ALERT.length);
    const alert = [name, state.alerts.get(id)] as const;
    return [alert, ...this.#actions.namesOf(id).map((each) => [each, undefined] as const)];
  }

  #stopWatching(): void {
    this.#watcher.stop();
    this.#cancelTimer();
  }
}

function isNone(counts: BySeverity): boolean {
  return SEVERITIES.every((severity) => counts[severity] === 0);
}
