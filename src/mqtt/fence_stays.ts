import type { EventSubscriber } from '../fanout/batch.ts';
import type { Fanout } from '../fanout/fanout.ts';
import { compileFilter } from '../fanout/filter.ts';
import { DIRECTION_PROPERTY, DIRECTIONS } from '../model/alert.ts';
import type { FenceEvent } from '../model/events.ts';
import { parseJson } from '../model/json.ts';

/** A trackable inside of a fence, for `ageMs`. */
export type FenceStay = readonly [fenceId: string, trackableId: string, ageMs: number];

export interface FenceStaysDeps {
  readonly fanout: Pick<Fanout, 'subscribe' | 'unsubscribe'>;
  /** Returns the trackables that are inside of fences, of all hubs. */
  stays(): Promise<readonly FenceStay[]>;
  schedule(delayMs: number, callback: () => void): () => void;
  warn(message: string, facts: object): void;
}

export interface FenceStaysHandlers {
  /** Called when all stays have been read. */
  read(): void;
  /** Called when a trackable has entered or left a fence. */
  crossed(fenceId: string, trackableId: string): void;
}

/** Delay before a failed query is repeated. */
const RETRY_MS = 2000;

interface Crossing {
  readonly fenceId: string;
  readonly trackableId: string;
  readonly isEntry: boolean;
}

/**
 * The trackables inside of fences, in all hubs of a cluster: reads them once, and applies each fence event. They are
 * read again if events were lost.
 */
export class FenceStays {
  readonly #deps: FenceStaysDeps;
  readonly #on: FenceStaysHandlers;
  /** Fences of each trackable, in order of entry. */
  readonly #fences = new Map<string, Set<string>>();
  readonly #counts = new Map<string, number>();
  /** Events received while stays are read; undefined after that. */
  #early: Crossing[] | undefined = [];
  #subscription: number | undefined;
  #reading = 0;
  #cancelRetry = (): void => undefined;

  constructor(deps: FenceStaysDeps, on: FenceStaysHandlers) {
    this.#deps = deps;
    this.#on = on;
  }

  /** Whether the stays have been read. */
  get isRead(): boolean {
    return this.#early === undefined;
  }

  start(): void {
    const subscriber: EventSubscriber = {
      deliver: (_, batch) => {
        for (const json of batch.strings) this.#event(json);
      },
      missed: () => void this.#read(),
    };
    this.#subscription = this.#deps.fanout.subscribe(subscriber, {
      topic: 'fence_events',
      view: { crs: 'EPSG:4326' },
      filter: compileFilter('fence_events', { object_type: 'trackable' }),
    });
    void this.#read();
  }

  close(): void {
    this.#cancelRetry();
    this.#reading++;
    if (this.#subscription !== undefined) this.#deps.fanout.unsubscribe(this.#subscription);
  }

  /** Returns the fences that a trackable is in, in order of entry. */
  fencesOf(trackableId: string): readonly string[] {
    return [...(this.#fences.get(trackableId) ?? [])];
  }

  /** Returns the number of trackables in a fence. */
  countIn(fenceId: string): number {
    return this.#counts.get(fenceId) ?? 0;
  }

  /** Removes a deleted trackable. Returns the fences that it was in. */
  removeTrackable(trackableId: string): readonly string[] {
    const fences = this.fencesOf(trackableId);
    for (const fenceId of fences) this.#apply({ fenceId, trackableId, isEntry: false });
    return fences;
  }

  /** Removes a deleted fence. Returns the trackables that were in it. */
  removeFence(fenceId: string): readonly string[] {
    const trackables = this.trackablesIn(fenceId);
    for (const trackableId of trackables) this.#apply({ fenceId, trackableId, isEntry: false });
    return trackables;
  }

  /** Returns the trackables in a fence. */
  trackablesIn(fenceId: string): readonly string[] {
    if (this.countIn(fenceId) === 0) return [];
    return [...this.#fences].flatMap(([id, fences]) => (fences.has(fenceId) ? [id] : []));
  }

  async #read(): Promise<void> {
    this.#reading++;
    const reading = this.#reading;
    this.#early ??= [];
    try {
      const stays = await this.#deps.stays();
      if (this.#reading !== reading) return;
      this.#fences.clear();
      this.#counts.clear();
      const byAge = stays.toSorted(([, , a], [, , b]) => b - a);
      for (const [fenceId, trackableId] of byAge) this.#apply({ fenceId, trackableId, isEntry: true });
      const early = this.#early;
      this.#early = undefined;
      for (const crossing of early) this.#apply(crossing);
      this.#on.read();
    } catch (error) {
      if (this.#reading !== reading) return;
      this.#deps.warn('Cannot read which trackables are inside of fences', { error: String(error) });
      this.#cancelRetry = this.#deps.schedule(RETRY_MS, () => void this.#read());
    }
  }

  #event(json: string): void {
    const {
      fence_id: fenceId,
      trackable_id: trackableId,
      event_type: type,
      properties,
    } = parseJson(json) as FenceEvent;
    const isGate = DIRECTIONS.some((each) => properties?.[DIRECTION_PROPERTY] === each);
    // A gate contains no trackables.
    if (trackableId == null || isGate) return;
    const crossing = { fenceId, trackableId, isEntry: type === 'region_entry' };
    if (this.#early !== undefined) this.#early.push(crossing);
    else if (this.#apply(crossing)) this.#on.crossed(fenceId, trackableId);
  }

  /** Returns whether the crossing changes anything. */
  #apply({ fenceId, trackableId, isEntry }: Crossing): boolean {
    const fences = this.#fences.get(trackableId) ?? new Set();
    if (fences.has(fenceId) === isEntry) return false;
    if (isEntry) fences.add(fenceId);
    else fences.delete(fenceId);
    if (fences.size === 0) this.#fences.delete(trackableId);
    else this.#fences.set(trackableId, fences);
    const count = this.countIn(fenceId) + (isEntry ? 1 : -1);
    if (count === 0) this.#counts.delete(fenceId);
    else this.#counts.set(fenceId, count);
    return true;
  }
}
