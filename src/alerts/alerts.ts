import type { QueryResult, Query } from '../core/item.ts';
import { ALERT_RULES } from '../entities/alert_rules.ts';
import { type DefinedWrite, Documents, type DocumentsDeps } from '../entities/documents.ts';
import { HubError } from '../errors.ts';
import type { Batch, Subscriber } from '../fanout/batch.ts';
import type { Fanout } from '../fanout/fanout.ts';
import { compileFilter } from '../fanout/filter.ts';
import {
  type Alert,
  type AlertChangeEvent,
  type AlertPreview,
  type AlertRule,
  type AlertSummary,
  SEVERITIES,
} from '../model/alert.ts';
import type { CollisionEvent, FenceEvent } from '../model/events.ts';
import { parseJson } from '../model/json.ts';
import { formatTime } from '../model/time.ts';
import { type BySeverity, NONE } from './alert_room.ts';
import { after, isOpen, type Moving, movingKey } from './alert_state.ts';
import { previewOf } from './preview.ts';
import {
  type Crossing,
  FENCE_KINDS,
  type Heard,
  type KnownObjects,
  NOBODY_HEARD,
  nextMs,
  type Stay,
  step,
  unraisedCounts,
  type WatchEvent,
  type WatchState,
  watchesProviders,
  watchesTrackables,
  watchState,
} from './watch.ts';

/**
 * Alerts of a hub. Rules, and alerts themselves, are kept among the settings: in the database, or in the log that several
 * hubs share. What follows from what happens is decided in watch.ts; here it is told what does, and what it decides is
 * kept, then shown and announced.
 *
 *   rules ──▶ watch: subscriptions of the fan-out, what is inside, what was last heard of, a timer
 *                │ events
 *                ▼
 *             step ──▶ changed alerts ──▶ kept ──▶ apply ──▶ shown, announced
 *
 * Without a rule that is enabled nothing is subscribed to, asked or timed.
 *
 * Of several hubs exactly one watches: the owner of the collision stage, as the map of the cluster says. All apply what
 * it has kept, so all show the same. What people do at another hub is kept as an act, which all apply to what they show
 * at once; who watches carries it out and deletes it with the alert that follows. When the hub that watches ends, the map
 * names another one, which begins with the kept alerts, asks who is inside and who was heard of, and goes on. An entry or
 * a collision that begins in between, some seconds, is not alerted of; what lasts is.
 *
 * So it is at a restart: open alerts are kept, and end when what they are about is no more. What was cleared while it
 * held is not raised anew.
 */
export interface AlertsDeps {
  /** Running time, and time of day. */
  running(): number;
  now(): number;
  schedule(delayMs: number, callback: () => void): () => void;
  newId(): string;
  readonly fanout: Pick<Fanout, 'subscribe' | 'unsubscribe' | 'announce'>;
  readonly known: KnownObjects;
  read(query: Query): Promise<readonly QueryResult[]>;
  /** Keeps documents as those of Documents. */
  readonly commit: DocumentsDeps['commit'];
  /** Whether this hub is the one that watches. */
  isWatcher(): boolean;
  notice(text: string, facts: object): void;
}

export type Act = 'acknowledge' | 'clear';

/** The most alerts that the hub stores. */
const ALERTS_MAX = 1000;
const ALERT = 'alert ';
const ACT = 'alert_act ';
/** Counts of conditions that hold without an alert, by the hub that watches. Stored unless all are zero. */
const NOT_RAISED = 'alerts_not_raised';
const RETRY_MS = 2000;
/** How often it is asked who was last heard of: a quarter of what is allowed, within these bounds. */
const [POLL_LEAST_MS, POLL_MOST_MS] = [1000, 30_000] as const;
/** A timer for a later time comes earlier, and is set again. */
const TIMER_MOST_MS = 3_600_000;
const WGS84 = { crs: 'EPSG:4326' } as const;

/** What somebody has done about an alert at a hub that does not watch. */
interface Acted {
  readonly act: Act;
  readonly at: number;
}

/** What is on while this hub watches. */
interface Watching {
  readonly subscriptions: readonly number[];
  /** What was heard before it is known who is inside; undefined once that is. */
  early: WatchEvent[] | undefined;
  /** Whether it was watched before, by other rules, which go on until then. */
  readonly goesOn: boolean;
  cancelPoll: () => void;
}

export class Alerts {
  readonly rules: Documents<AlertRule>;
  readonly #deps: AlertsDeps;
  readonly #kept = new Map<string, Alert>();
  readonly #acts = new Map<string, Acted>();
  #notRaised: BySeverity = NONE;
  #state: WatchState | undefined;
  /** Whether conditions hold without an alert, as of the last step. */
  #isFull = false;
  #watching: Watching | undefined;
  #isStarted = false;
  #cancelTimer: () => void = () => undefined;
  /** Names of documents that differ from what is stored. */
  readonly #dirty = new Set<string>();
  #flushing: Promise<void> | undefined;
  #cancelRetry: (() => void) | undefined;

  constructor(deps: AlertsDeps) {
    this.#deps = deps;
    this.rules = new Documents(ALERT_RULES, {
      newId: deps.newId,
      commit: deps.commit,
      changed: () => this.look(),
    });
  }

  /** Takes a setting that is kept; null: it is deleted. False where it is none of alerts. */
  apply(name: string, text: string | null): boolean {
    if (this.rules.apply(name, text)) return true;
    if (name === NOT_RAISED) {
      this.#notRaised = text === null ? NONE : (JSON.parse(text) as BySeverity);
      return true;
    }
    if (name.startsWith(ALERT)) {
      this.#applyAlert(name.slice(ALERT.length), text === null ? undefined : (JSON.parse(text) as Alert));
      return true;
    }
    if (!name.startsWith(ACT)) return false;
    this.#applyAct(name.slice(ACT.length), text === null ? undefined : (JSON.parse(text) as Acted));
    return true;
  }

  /** Everything that was kept is there: what happens from now on counts. */
  start(): void {
    this.#isStarted = true;
    this.look();
  }

  /** Rules, or who watches, have changed perhaps. */
  look(): void {
    if (!this.#isStarted) return;
    if (!this.#deps.isWatcher()) {
      this.#stopWatching();
      this.#state = undefined;
      this.#dirty.clear();
      return;
    }
    if (this.#state === undefined) this.#takeOver();
    const isNeeded = this.rules.list.some(({ enabled }) => enabled !== false);
    if (isNeeded) this.#watch();
    else {
      this.#stopWatching();
      this.#step([{ what: 'rules', rules: [], stays: [] }]);
    }
  }

  /** Fences, trackables or providers have changed. */
  entitiesChanged(): void {
    if (this.#watching !== undefined) this.#hear([{ what: 'changed' }]);
  }

  /** All alerts as they are shown, the newest first. */
  list(): readonly Alert[] {
    const shown = [...this.#kept.values()].map((alert) => this.#shown(alert));
    return shown.sort((one, other) => (one.raised_at < other.raised_at ? 1 : -1));
  }

  /** Throws HUB_NOT_FOUND. */
  get(id: string): Alert {
    const alert = this.#kept.get(id);
    if (alert !== undefined) return this.#shown(alert);
    throw new HubError('HUB_NOT_FOUND', `Cannot find alert "${id}": none has that id`);
  }

  /** Acknowledges or clears alerts; all that are open when left out. Rejects with HUB_NOT_FOUND and HUB_UNAVAILABLE. */
  async act(act: Act, ids?: readonly string[]): Promise<void> {
    for (const id of ids ?? []) this.get(id);
    const concerned = ids ?? this.list().flatMap((alert) => (isOpen(alert) ? [alert.id] : []));
    if (concerned.length === 0) return;
    if (this.#state !== undefined) {
      this.#step([{ what: act, ids: concerned }]);
      await this.#flushed();
      return;
    }
    const acted: Acted = { act, at: this.#deps.now() };
    await this.#deps.commit(concerned.map((id) => [ACT + id, acted]));
  }

  /** What a rule would alert of now. Rejects with HUB_BAD_REQUEST and HUB_UNAVAILABLE. */
  async preview(body: unknown): Promise<AlertPreview> {
    const rule = this.rules.checked(body);
    const { running, now, known } = this.#deps;
    const [stays, heard] = await Promise.all([
      FENCE_KINDS.has(rule.kind) ? this.#stays([rule]) : [],
      rule.kind === 'silent' ? this.#heard([rule]) : NOBODY_HEARD,
    ]);
    const nowMs = running();
    return previewOf(rule, { nowMs, toDayMs: now() - nowMs, stays, heard, known });
  }

  /** How many alerts are open, how many fit, and how many conditions hold without an alert. */
  summary(): AlertSummary {
    const open = { ...NONE };
    for (const alert of this.#kept.values()) {
      const { state, severity } = this.#shown(alert);
      if (state !== 'cleared') open[severity]++;
    }
    return { max: ALERTS_MAX, open, not_raised: this.#notRaised };
  }

  counts() {
    const states = { raised: 0, acknowledged: 0, cleared: 0 };
    for (const alert of this.#kept.values()) states[this.#shown(alert).state]++;
    const { raisedTotal = 0, dropped = 0, displaced = 0 } = this.#state ?? {};
    const notRaised = this.#state === undefined ? NONE : unraisedCounts(this.#state);
    return { rules: this.rules.list.length, states, raisedTotal, dropped, displaced, notRaised };
  }

  /** Ends it; resolves when what is decided is kept, or cannot be. */
  async close(): Promise<void> {
    this.#isStarted = false;
    this.#stopWatching();
    this.#cancelRetry?.();
    await this.#flushing;
  }

  #shown(alert: Alert): Alert {
    const acted = this.#acts.get(alert.id);
    return acted === undefined ? alert : after(alert, acted.act, acted.at);
  }

  #applyAlert(id: string, alert: Alert | undefined): void {
    const before = this.#kept.get(id);
    if (alert === undefined) this.#kept.delete(id);
    else this.#kept.set(id, alert);
    const told = alert ?? before;
    if (told === undefined) return;
    this.#announce(told, alert === undefined ? 'delete' : before === undefined ? 'create' : 'update');
  }

  #applyAct(id: string, acted: Acted | undefined): void {
    if (acted === undefined) {
      this.#acts.delete(id);
      return;
    }
    this.#acts.set(id, acted);
    const alert = this.#kept.get(id);
    if (alert !== undefined) this.#announce(alert, 'update');
    if (this.#state !== undefined) this.#carryOut();
  }

  #announce(kept: Alert, type: AlertChangeEvent['event_type']): void {
    if (!this.#isStarted) return;
    const alert = this.#shown(kept);
    const { id, rule_id, state, fence_id, trackable_id, other_trackable_id, provider_id } = alert;
    const about = [fence_id, trackable_id, other_trackable_id, provider_id].map((each) => each ?? undefined);
    this.#deps.fanout.announce('alert_changes', [id, type, rule_id, state, ...about], () => {
      const timestamp = formatTime(this.#deps.now());
      return JSON.stringify({ timestamp, event_type: type, id, object: alert } satisfies AlertChangeEvent);
    });
  }

  /** This hub watches from now on. */
  #takeOver(): void {
    this.#state = watchState(this.#kept.values());
    this.#carryOut();
  }

  /** Carries out what was done at other hubs. */
  #carryOut(): void {
    for (const [id, { act }] of this.#acts) {
      this.#step([{ what: act, ids: [id] }]);
      this.#dirty.add(ALERT + id);
    }
    this.#flushSoon();
  }

  /** Begins to watch by the rules as they are now; what is on already goes on until it is known who is inside. */
  #watch(): void {
    const rules = this.rules.list.filter(({ enabled }) => enabled !== false);
    const before = this.#watching;
    const watching: Watching = {
      subscriptions: this.#subscribe(rules),
      early: [...(before?.early ?? [])],
      goesOn: before !== undefined && (before.early === undefined || before.goesOn),
      cancelPoll: () => undefined,
    };
    this.#watching = watching;
    if (before !== undefined) this.#end(before);
    void this.#begin(watching, rules);
  }

  async #begin(watching: Watching, rules: readonly AlertRule[]): Promise<void> {
    try {
      const stays = rules.some(({ kind }) => FENCE_KINDS.has(kind)) ? await this.#stays(rules) : [];
      if (this.#watching !== watching) return;
      const early = watching.early ?? [];
      watching.early = undefined;
      // What was heard meanwhile has been acted on, or is to be: shards answer one after the other.
      if (watching.goesOn)
        this.#step([{ what: 'rules', rules, stays: withCrossings(stays, early, this.#deps.running()) }]);
      else this.#step([{ what: 'rules', rules, stays: beforeCrossings(stays, early) }, ...early]);
      const silent = rules.filter(({ kind }) => kind === 'silent');
      if (silent.length > 0) await this.#poll(watching, silent);
    } catch (error) {
      if (this.#watching !== watching) return;
      this.#deps.notice('Cannot tell who is inside of fences, which alerts are about', { error: String(error) });
      watching.cancelPoll = this.#deps.schedule(RETRY_MS, () => void this.#begin(watching, rules));
    }
  }

  async #poll(watching: Watching, silent: readonly AlertRule[]): Promise<void> {
    const shortestMs = Math.min(...silent.map(({ longer_than: ms }) => ms ?? 0));
    const pollMs = Math.min(POLL_MOST_MS, Math.max(POLL_LEAST_MS, shortestMs / 4));
    try {
      const heard = await this.#heard(silent);
      if (this.#watching !== watching) return;
      this.#step([{ what: 'heard', heard }]);
    } catch (error) {
      if (this.#watching !== watching) return;
      this.#deps.notice('Cannot tell who was last heard of, which alerts are about', { error: String(error) });
    }
    watching.cancelPoll = this.#deps.schedule(pollMs, () => void this.#poll(watching, silent));
  }

  async #stays(rules: readonly AlertRule[]): Promise<readonly Stay[]> {
    const fences = fencesOf(rules);
    const answers = await this.#deps.read({ ask: 'stays', ...(fences && { fences }), ...alsoProviders(rules) });
    const nowMs = this.#deps.running();
    return answers.flatMap((answer) => {
      if (!('stays' in answer)) return [];
      const { stays, providerStays = [] } = answer;
      return [
        ...stays.map(([fenceId, trackableId, ageMs]) => ({ fenceId, trackableId, sinceMs: nowMs - ageMs })),
        ...providerStays.map(([fenceId, providerId, ageMs]) => ({ fenceId, providerId, sinceMs: nowMs - ageMs })),
      ];
    });
  }

  async #heard(rules: readonly AlertRule[]): Promise<Heard> {
    const answers = await this.#deps.read({ ask: 'heard', ...alsoProviders(rules) });
    const nowMs = this.#deps.running();
    const found = answers.filter((answer) => 'heard' in answer);
    const timesOf = (ages: readonly (readonly [string, number])[]): ReadonlyMap<string, number> =>
      new Map(ages.map(([id, ageMs]) => [id, nowMs - ageMs]));
    return {
      trackables: timesOf(found.flatMap(({ heard }) => heard)),
      providers: timesOf(found.flatMap(({ heardProviders = [] }) => heardProviders)),
    };
  }

  /** Subscribes to what rules need to hear of, and to no more: what nobody wants is not rendered. */
  #subscribe(rules: readonly AlertRule[]): readonly number[] {
    const { fanout } = this.#deps;
    const subscriptions: number[] = [];
    const fenceRules = rules.filter(({ kind }) => FENCE_KINDS.has(kind));
    if (fenceRules.length > 0) {
      const fences = fencesOf(fenceRules);
      const object = objectTypeOf(fenceRules);
      const filter = compileFilter('fence_events', {
        ...(object && { object_type: object }),
        ...(fences && { fence_id: fences }),
      });
      subscriptions.push(fanout.subscribe(this.#listener(fenceEvent), { topic: 'fence_events', view: WGS84, filter }));
    }
    if (rules.some(({ kind }) => kind === 'collision')) {
      for (const type of ['collision_start', 'collision_end']) {
        const filter = compileFilter('collision_events', { collision_type: type });
        const interest = { topic: 'collision_events', view: WGS84, filter } as const;
        subscriptions.push(fanout.subscribe(this.#listener(collisionEvent), interest));
      }
    }
    return subscriptions;
  }

  #listener(eventOf: (text: string) => readonly WatchEvent[]): Subscriber {
    return {
      deliver: (_, batch: Batch) => this.#hear(batch.texts.flatMap(eventOf)),
      // What was lost is asked for.
      missed: () => this.look(),
    };
  }

  #hear(events: readonly WatchEvent[]): void {
    const watching = this.#watching;
    watching?.early?.push(...events);
    if (watching !== undefined && (watching.early === undefined || watching.goesOn)) this.#step(events);
  }

  #step(events: readonly WatchEvent[]): void {
    if (this.#state === undefined) return;
    const { running, now, newId, known, schedule } = this.#deps;
    const nowMs = running();
    const input = { nowMs, dayMs: now(), events, known, newId, alertsMax: ALERTS_MAX };
    const { state, changes } = step(this.#state, input);
    this.#state = state;
    for (const id of changes.keys()) this.#dirty.add(ALERT + id);
    this.#noteUnraised(unraisedCounts(state));
    this.#flushSoon();
    this.#cancelTimer();
    const waitMs = nextMs(state) - nowMs;
    const isDue = this.#watching !== undefined && waitMs < Number.POSITIVE_INFINITY;
    this.#cancelTimer = isDue ? schedule(Math.min(waitMs, TIMER_MOST_MS), () => this.#step([])) : () => undefined;
  }

  #noteUnraised(counts: BySeverity): void {
    const stored = this.#notRaised;
    if (SEVERITIES.every((severity) => counts[severity] === stored[severity])) return;
    this.#dirty.add(NOT_RAISED);
    if (isNone(stored) && !this.#isFull) {
      const text =
        'Conditions hold without an alert: open alerts use up the room of their severity. Clear alerts to make room';
      this.#deps.notice(text, { ...counts });
    }
    this.#isFull = !isNone(counts);
  }

  #flushSoon(): void {
    if (this.#dirty.size > 0 && this.#cancelRetry === undefined) this.#flushed().catch(() => undefined);
  }

  /** Resolves when all that has changed so far is kept. Rejects with HUB_UNAVAILABLE; it is tried again. */
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
      if ((await this.#deps.commit(documents)) === 'applied') return;
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

  /** What is stored under a name, with what that replaces. */
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
    const watching = this.#watching;
    this.#watching = undefined;
    this.#cancelTimer();
    if (watching !== undefined) this.#end(watching);
  }

  #end({ subscriptions, cancelPoll }: Watching): void {
    cancelPoll();
    for (const id of subscriptions) this.#deps.fanout.unsubscribe(id);
  }
}

function isNone(counts: BySeverity): boolean {
  return SEVERITIES.every((severity) => counts[severity] === 0);
}

/** The fences that rules are about; undefined where one is about all. */
function fencesOf(rules: readonly AlertRule[]): readonly string[] | undefined {
  const named = rules.filter(({ kind }) => FENCE_KINDS.has(kind)).map(({ fence_ids: ids }) => ids);
  return named.some((ids) => ids == null) ? undefined : [...new Set(named.flatMap((ids) => ids ?? []))];
}

/** The kind of objects that all rules are about; undefined where that is not one. */
function objectTypeOf(rules: readonly AlertRule[]): 'trackable' | 'location_provider' | undefined {
  if (!rules.some(watchesProviders)) return 'trackable';
  return rules.some(watchesTrackables) ? undefined : 'location_provider';
}

/** What a question about trackables has to say to be one about providers, too. */
function alsoProviders(rules: readonly AlertRule[]): { readonly providers?: true } {
  return rules.some(watchesProviders) ? { providers: true } : {};
}

/** Who is inside after what was heard. */
function withCrossings(stays: readonly Stay[], events: readonly WatchEvent[], nowMs: number): readonly Stay[] {
  const inside = new Map(stays.map((stay) => [pairOf(stay), stay]));
  for (const event of events) {
    if (event.what === 'left') inside.delete(pairOf(event));
    if (event.what !== 'entered' || inside.has(pairOf(event))) continue;
    const { what: _what, ...crossing } = event;
    inside.set(pairOf(event), { ...crossing, sinceMs: nowMs });
  }
  return [...inside.values()];
}

/** Who was inside before it: who has entered meanwhile is to be seen to enter. */
function beforeCrossings(stays: readonly Stay[], events: readonly WatchEvent[]): readonly Stay[] {
  const entered = new Set(events.flatMap((event) => (event.what === 'entered' ? [pairOf(event)] : [])));
  return stays.filter((stay) => !entered.has(pairOf(stay)));
}

function pairOf(crossing: Crossing): string {
  return `${crossing.fenceId} ${movingKey(crossing)}`;
}

function fenceEvent(text: string): readonly WatchEvent[] {
  const event = parseJson(text) as FenceEvent;
  const object = objectOf(event);
  if (object === undefined) return [];
  return [{ what: event.event_type === 'region_entry' ? 'entered' : 'left', fenceId: event.fence_id, ...object }];
}

/** Whose event it is. That of a trackable may name the provider that has moved it. */
function objectOf({ trackable_id: trackableId, provider_id: providerId }: FenceEvent): Moving | undefined {
  if (trackableId != null) return { trackableId };
  return providerId == null ? undefined : { providerId };
}

function collisionEvent(text: string): readonly WatchEvent[] {
  const { collision_type: type, collisions } = parseJson(text) as CollisionEvent;
  const [one, other] = collisions;
  if (one === undefined || other === undefined) return [];
  return [{ what: type === 'collision_end' ? 'parted' : 'collided', trackableId: one.id, otherId: other.id }];
}
