import type { Query, QueryResult } from '../core/item.ts';
import type { DeliveryBatch, EventSubscriber } from '../fanout/batch.ts';
import type { Fanout } from '../fanout/fanout.ts';
import { compileFilter } from '../fanout/filter.ts';
import type { AlertRule } from '../model/alert.ts';
import {
  dependsOnFenceEvents,
  dependsOnSamples,
  dependsOnStays,
  type EntityLookup,
  watchesProviders,
  watchesTrackables,
} from './rule_match.ts';
import { collisionEvent, fenceEvent } from './watch_events.ts';
import { crossingKey, type LastSeen, type FenceStay, type Sample, type WatchEvent } from './watch_state.ts';

export interface WatcherDeps {
  monotonicMs(): number;
  schedule(delayMs: number, callback: () => void): () => void;
  readonly fanout: Pick<Fanout, 'subscribe' | 'unsubscribe'>;
  readonly entities: Pick<EntityLookup, 'trackable'>;
  /** Queries the shards. */
  read(query: Query): Promise<readonly QueryResult[]>;
  warn(message: string, facts: object): void;
}

export interface WatcherHandlers {
  /** Called with all events that affect the rules, in order. */
  step(events: readonly WatchEvent[]): void;
  /** Called when events were lost, so that the owner must call `watch` again. */
  missed(): void;
}

/** Delay before a failed query is repeated. */
const RETRY_MS = 2000;
/**
 * Bounds of the polling interval of last-seen times, which is a quarter of the shortest silence that raises an alert.
 */
const [POLL_LEAST_MS, POLL_MOST_MS] = [1000, 30_000] as const;
/** Interval at which speeds and positions are sampled. */
const SAMPLE_MS = 1000;
const WGS84 = { crs: 'EPSG:4326' } as const;

/** State of watching one set of rules. */
interface Watching {
  readonly subscriptions: readonly number[];
  /** Events buffered until the objects inside of fences have been read; undefined after that. */
  early: WatchEvent[] | undefined;
  /** Whether other rules were watched before. They stay in effect until the objects inside have been read. */
  readonly goesOn: boolean;
  /** Whether no event was missed while the other rules were watched. */
  readonly isComplete: boolean;
  hasMissed: boolean;
  cancelPoll: () => void;
  cancelSample: () => void;
}

/**
 * Collects the events on which alert rules depend. Subscribes to fence events and collisions, reads which objects are
 * inside of fences, and polls when objects were last seen, all only as far as a rule needs it.
 */
export class Watcher {
  readonly #deps: WatcherDeps;
  readonly #on: WatcherHandlers;
  #watching: Watching | undefined;

  constructor(deps: WatcherDeps, on: WatcherHandlers) {
    this.#deps = deps;
    this.#on = on;
  }

  get isWatching(): boolean {
    return this.#watching !== undefined;
  }

  /**
   * Watches these rules, which must all be enabled. The previous rules stay in effect until the objects inside have
   * been read.
   */
  watch(rules: readonly AlertRule[]): void {
    const before = this.#watching;
    const watching: Watching = {
      subscriptions: this.#subscribe(rules),
      early: [...(before?.early ?? [])],
      goesOn: before !== undefined && (before.early === undefined || before.goesOn),
      isComplete: before !== undefined && !before.hasMissed && (before.early === undefined || before.isComplete),
      hasMissed: false,
      cancelPoll: () => undefined,
      cancelSample: () => undefined,
    };
    this.#watching = watching;
    if (before !== undefined) this.#close(before);
    void this.#begin(watching, rules);
  }

  stop(): void {
    const watching = this.#watching;
    this.#watching = undefined;
    if (watching !== undefined) this.#close(watching);
  }

  /** Passes on events, or buffers them until the objects inside of fences have been read. */
  receive(events: readonly WatchEvent[]): void {
    const watching = this.#watching;
    watching?.early?.push(...events);
    if (watching !== undefined && (watching.early === undefined || watching.goesOn)) this.#on.step(events);
  }

  /** Reads which objects are inside of the fences of rules. */
  async stays(rules: readonly AlertRule[]): Promise<readonly FenceStay[]> {
    const fences = fencesOf(rules);
    const answers = await this.#deps.read({ ask: 'stays', ...(fences && { fences }), ...alsoProviders(rules) });
    const nowMs = this.#deps.monotonicMs();
    return answers.flatMap((answer) => {
      if (!('stays' in answer)) return [];
      const { stays, providerStays = [] } = answer;
      return [
        ...stays.map(([fenceId, trackableId, ageMs]) => ({ fenceId, trackableId, sinceMs: nowMs - ageMs })),
        ...providerStays.map(([fenceId, providerId, ageMs]) => ({ fenceId, providerId, sinceMs: nowMs - ageMs })),
      ];
    });
  }

  /** Reads when objects were last seen. */
  async lastSeen(rules: readonly AlertRule[]): Promise<LastSeen> {
    const answers = await this.#deps.read({ ask: 'lastSeen', ...alsoProviders(rules) });
    const nowMs = this.#deps.monotonicMs();
    const found = answers.filter((answer) => 'lastSeen' in answer);
    const timesOf = (ages: readonly (readonly [string, number])[]): ReadonlyMap<string, number> =>
      new Map(ages.map(([id, ageMs]) => [id, nowMs - ageMs]));
    return {
      trackables: timesOf(found.flatMap(({ lastSeen }) => lastSeen)),
      providers: timesOf(found.flatMap(({ lastSeenProviders = [] }) => lastSeenProviders)),
    };
  }

  /** Reads speeds above the lowest limit of the rules, and the positions of the trackables to measure distances of. */
  async sample(rules: readonly AlertRule[]): Promise<Sample> {
    const [speedRules, distanceRules] = [rules.filter(({ kind }) => kind === 'speed'), rules.filter(measuresDistance)];
    const ids = new Set(
      distanceRules.flatMap(({ trackable_ids: own, other_trackable_ids: others }) =>
        [...(own ?? []), ...(others ?? [])].flatMap((id) => this.#deps.entities.trackable(id)?.id ?? []),
      ),
    );
    const answers = await this.#deps.read({
      ask: 'sample',
      ...(speedRules.length > 0 && { above: Math.min(...speedRules.map(({ speed_above: limit }) => limit ?? 0)) }),
      only: [...ids],
      ...alsoProviders(speedRules),
    });
    const found = answers.filter((answer) => 'positions' in answer);
    return {
      speeds: found.flatMap(({ speeds, providerSpeeds = [] }) => [
        ...speeds.map(([trackableId, speed]) => [{ trackableId }, speed] as const),
        ...providerSpeeds.map(([providerId, speed]) => [{ providerId }, speed] as const),
      ]),
      positions: new Map(
        found.flatMap(({ positions }) => positions.map(([id, lon, lat, floor]) => [id, { lon, lat, floor }] as const)),
      ),
    };
  }

  async #begin(watching: Watching, rules: readonly AlertRule[]): Promise<void> {
    try {
      const stays = rules.some(dependsOnStays) ? await this.stays(rules) : [];
      if (this.#watching !== watching) return;
      const early = watching.early ?? [];
      watching.early = undefined;
      // Shards answer at different times, so a buffered event may be older or newer than the answer. If other rules
      // were watched before, buffered events have been evaluated already; otherwise they are evaluated now.
      if (watching.goesOn) {
        const known = withCrossings(stays, early, this.#deps.monotonicMs());
        this.#on.step([{ what: 'rules', rules, stays: known, isComplete: watching.isComplete }]);
      } else this.#on.step([{ what: 'rules', rules, stays: beforeCrossings(stays, early) }, ...early]);
      const sampled = rules.filter(dependsOnSamples);
      if (sampled.length > 0) void this.#sample(watching, sampled);
      const silent = rules.filter(({ kind }) => kind === 'silent');
      if (silent.length > 0) await this.#poll(watching, silent);
    } catch (error) {
      if (this.#watching !== watching) return;
      this.#deps.warn('Cannot read which objects are inside of fences with alert rules', { error: String(error) });
      watching.cancelPoll = this.#deps.schedule(RETRY_MS, () => void this.#begin(watching, rules));
    }
  }

  async #poll(watching: Watching, silent: readonly AlertRule[]): Promise<void> {
    const shortestMs = Math.min(...silent.map(({ longer_than: ms }) => ms ?? 0));
    const pollMs = Math.min(POLL_MOST_MS, Math.max(POLL_LEAST_MS, shortestMs / 4));
    try {
      const lastSeen = await this.lastSeen(silent);
      if (this.#watching !== watching) return;
      this.#on.step([{ what: 'lastSeen', lastSeen }]);
    } catch (error) {
      if (this.#watching !== watching) return;
      this.#deps.warn('Cannot read when the objects of alert rules were last seen', { error: String(error) });
    }
    watching.cancelPoll = this.#deps.schedule(pollMs, () => void this.#poll(watching, silent));
  }

  async #sample(watching: Watching, rules: readonly AlertRule[]): Promise<void> {
    try {
      const sample = await this.sample(rules);
      if (this.#watching !== watching) return;
      this.#on.step([{ what: 'sampled', sample }]);
    } catch (error) {
      if (this.#watching !== watching) return;
      this.#deps.warn('Cannot read the speeds and positions for alert rules', { error: String(error) });
    }
    watching.cancelSample = this.#deps.schedule(SAMPLE_MS, () => void this.#sample(watching, rules));
  }

  /** Subscribes only to the events that rules need, since events without a subscriber are not rendered. */
  #subscribe(rules: readonly AlertRule[]): readonly number[] {
    const { fanout } = this.#deps;
    const subscriptions: number[] = [];
    const fenceRules = rules.filter(dependsOnFenceEvents);
    if (fenceRules.length > 0) {
      const fences = fencesOf(fenceRules);
      const object = objectTypeOf(fenceRules);
      const filter = compileFilter('fence_events', {
        ...(object && { object_type: object }),
        ...(fences && { fence_id: fences }),
      });
      const interest = { topic: 'fence_events', view: WGS84, filter } as const;
      subscriptions.push(fanout.subscribe(this.#subscriber(fenceEvent), interest));
    }
    if (rules.some(({ kind }) => kind === 'collision')) {
      for (const type of ['collision_start', 'collision_end']) {
        const filter = compileFilter('collision_events', { collision_type: type });
        const interest = { topic: 'collision_events', view: WGS84, filter } as const;
        subscriptions.push(fanout.subscribe(this.#subscriber(collisionEvent), interest));
      }
    }
    return subscriptions;
  }

  #subscriber(eventOf: (json: string) => readonly WatchEvent[]): EventSubscriber {
    return {
      deliver: (_, batch: DeliveryBatch) => this.receive(batch.strings.flatMap(eventOf)),
      missed: () => {
        if (this.#watching !== undefined) this.#watching.hasMissed = true;
        this.#on.missed();
      },
    };
  }

  #close({ subscriptions, cancelPoll, cancelSample }: Watching): void {
    cancelPoll();
    cancelSample();
    for (const id of subscriptions) this.#deps.fanout.unsubscribe(id);
  }
}

/** Returns the fences to which rules apply; undefined if a rule applies to all fences. */
function fencesOf(rules: readonly AlertRule[]): readonly string[] | undefined {
  const named = rules.filter(dependsOnFenceEvents).map(({ fence_ids: ids }) => ids);
  return named.some((ids) => ids == null) ? undefined : [...new Set(named.flatMap((ids) => ids ?? []))];
}

/** Returns the object type to which all rules apply; undefined if they apply to several. */
function objectTypeOf(rules: readonly AlertRule[]): 'trackable' | 'location_provider' | undefined {
  if (!rules.some(watchesProviders)) return 'trackable';
  return rules.some(watchesTrackables) ? undefined : 'location_provider';
}

/** Returns the query option that also includes location providers, if a rule applies to them. */
function alsoProviders(rules: readonly AlertRule[]): { readonly providers?: true } {
  return rules.some(watchesProviders) ? { providers: true } : {};
}

/** Applies buffered crossings to the stays that were read. */
function withCrossings(
  stays: readonly FenceStay[],
  events: readonly WatchEvent[],
  nowMs: number,
): readonly FenceStay[] {
  const inside = new Map(stays.map((stay) => [crossingKey(stay), stay]));
  for (const event of events) {
    if (event.what === 'left') inside.delete(crossingKey(event));
    if (event.what !== 'entered' || inside.has(crossingKey(event))) continue;
    const { what: _what, ...crossing } = event;
    inside.set(crossingKey(event), { ...crossing, sinceMs: nowMs });
  }
  return [...inside.values()];
}

/** Removes stays of objects that entered while stays were being read, so that their entries count as events. */
function beforeCrossings(stays: readonly FenceStay[], events: readonly WatchEvent[]): readonly FenceStay[] {
  const entered = new Set(events.flatMap((event) => (event.what === 'entered' ? [crossingKey(event)] : [])));
  return stays.filter((stay) => !entered.has(crossingKey(stay)));
}

/** Whether a rule depends on distances between trackables. */
function measuresDistance({ kind }: AlertRule): boolean {
  return kind === 'separated' || kind === 'together';
}
