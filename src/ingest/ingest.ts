import { HubError } from '../errors.ts';
import type { Bounds } from '../model/bounds.ts';
import type { WayIn } from '../model/health.ts';
import type { ProviderType, Proximity } from '../model/location.ts';
import type { Zone } from '../model/zone.ts';
import { type Checked, checkLocation, type Expected } from './check_location.ts';
import { checkProximity } from './check_proximity.ts';
import { Rejections } from './rejections.ts';

/** What the one way in needs of the hub. */
export interface IngestOptions {
  /** The time of day. */
  now(): number;
  /** Finds a zone by id or foreign id, among those that the shards know. */
  zone(name: string): Zone | undefined;
  /** Whether locations can be kept, where they must be. True when left out. */
  canKeep?(): boolean;
  /** Whether the shards can take that many more. */
  hasRoom(count: number): boolean;
  /** Hands a location to its shard. */
  location(location: Checked['location'], times: { readonly generatedMs: number; readonly receivedMs: number }): void;
  /** Told of each location that was taken, once its provider is known. hot */
  arrived?(location: Checked['location'], receivedMs: number, via: WayIn): void;
  /** The id that a provider was created with: a UUID may come in another case. */
  providerId(id: string): string;
  /** Creates the provider if it is unknown; resolves once it is kept. */
  ensureProvider(id: string, type: ProviderType): Promise<void> | undefined;
  /** Tells subscribers of a proximity as it came in. */
  announce(proximity: Proximity & { provider_id: string }): void;
  /** Resolves when the locations so far are kept; undefined where a reply need not wait for that. */
  kept(): Promise<void> | undefined;
  /** Levels that properties may be nested; 200 when left out. */
  readonly depthMax?: number;
  /** DEFAULT_BOUNDS when left out. */
  readonly bounds?: Bounds;
}

export interface Incoming {
  /** Name of the list in messages, or empty for a single value. */
  readonly root: string;
  /** Provider that the path names. */
  readonly providerId?: string;
  /** `rest` when left out. */
  readonly via?: WayIn;
}

/** Counters: received = those that went to shards + rejected. */
export interface IngestCounts {
  received: number;
  rejected: number;
}

/** What has become of values that were taken one by one. */
export interface TakenEach {
  /** What is wrong with those that were not accepted. */
  readonly problems: readonly string[];
  /** Settles when the accepted ones are kept, or cannot be; undefined where nobody need wait for that. */
  readonly kept: Promise<void> | undefined;
}

/** The one way in for locations and proximities, whatever brings them. */
export class Ingest {
  readonly counts: IngestCounts = { received: 0, rejected: 0 };
  readonly #options: IngestOptions;
  readonly #rejections = new Rejections();
  #proximities = 0;

  constructor(options: IngestOptions) {
    this.#options = options;
  }

  /** Rejected values by reason, and by `other` where there was none. Their sum is `counts.rejected`. */
  rejections(): ReadonlyMap<string, number> {
    const byReason = new Map(this.#rejections.counts());
    let other = this.counts.rejected;
    for (const values of byReason.values()) other -= values;
    return other > 0 ? byReason.set('other', other) : byReason;
  }

  /** Proximities that were taken. */
  get proximitiesTaken(): number {
    return this.#proximities;
  }

  /**
   * Accepts all of the locations or none. Throws HUB_BAD_REQUEST that names index, field and value, HUB_UNAVAILABLE
   * when the shards are full. Returns what a reply must wait for, if anything.
   */
  locations(values: readonly unknown[], incoming: Incoming): Promise<void> | undefined {
    return this.#all(values, incoming, checkLocation);
  }

  /** Accepts all of the proximities or none, as locations does. */
  proximities(values: readonly unknown[], incoming: Incoming): Promise<void> | undefined {
    const checked: Proximity[] = [];
    const work = this.#all(values, incoming, (value, expected) => {
      const found = checkProximity(value, expected);
      if (typeof found !== 'string') checked.push(found.proximity);
      return found;
    });
    this.#proximities += checked.length;
    for (const proximity of checked) this.#options.announce(proximity as Proximity & { provider_id: string });
    return work;
  }

  /**
   * Accepts the locations that can be, and says what is wrong with the others, by the names that they have where they
   * come from. Throws HUB_UNAVAILABLE when full.
   */
  locationsEach(values: readonly unknown[], via: WayIn = 'ws', nameOf?: (index: number) => string): TakenEach {
    return this.#each(values, via, checkLocation, nameOf);
  }

  /** Accepts the proximities that can be, as locationsEach does. */
  proximitiesEach(values: readonly unknown[], via: WayIn = 'ws'): TakenEach {
    return this.#each(values, via, (value, expected) => {
      const found = checkProximity(value, expected);
      if (typeof found === 'string') return found;
      this.#proximities++;
      this.#options.announce(found.proximity);
      return found;
    });
  }

  #all(values: readonly unknown[], incoming: Incoming, check: Check): Promise<void> | undefined {
    const { root, providerId, via = 'rest' } = incoming;
    const { zone, providerId: knownId, depthMax, bounds } = this.#options;
    const receivedMs = this.#options.now();
    this.#count(values.length);
    const checked: Checked[] = [];
    for (let index = 0; index < values.length; index++) {
      const at = root === '' ? '' : `${root}[${index}]`;
      const found = check(values[index], { at, providerId, receivedMs, zone, knownId, depthMax, bounds });
      if (typeof found === 'string') {
        this.#rejections.countProblem(found, at);
        // The others are refused for its sake.
        this.#rejections.count('list', values.length - 1);
        throw new HubError('HUB_BAD_REQUEST', found);
      }
      checked.push(found);
    }
    this.#needRoom(checked.length);
    return this.#pass(checked, receivedMs, via);
  }

  #each(values: readonly unknown[], via: WayIn, check: Check, nameOf = nameInPayload): TakenEach {
    const { zone, providerId: knownId, depthMax, bounds } = this.#options;
    const receivedMs = this.#options.now();
    this.#count(values.length);
    const problems: string[] = [];
    const checked: Checked[] = [];
    this.#needRoom(values.length);
    for (let index = 0; index < values.length; index++) {
      const at = nameOf(index);
      const found = check(values[index], { at, receivedMs, zone, knownId, depthMax, bounds });
      if (typeof found === 'string') {
        this.#rejections.countProblem(found, at);
        problems.push(found);
      } else checked.push(found);
    }
    return { problems, kept: this.#pass(checked, receivedMs, via) };
  }

  /** Values count as rejected until they are passed on, whatever is thrown meanwhile. */
  #count(values: number): void {
    this.counts.received += values;
    this.counts.rejected += values;
  }

  #needRoom(count: number): void {
    const { canKeep, hasRoom } = this.#options;
    if (canKeep?.() === false) {
      this.#rejections.count('database', count);
      throw new HubError('HUB_UNAVAILABLE', 'Cannot accept locations: the database does not take them at the moment');
    }
    if (hasRoom(count)) return;
    this.#rejections.count('full', count);
    throw new HubError('HUB_UNAVAILABLE', 'Cannot accept locations: too many are waiting to be processed, try again');
  }

  #pass(checked: readonly Checked[], receivedMs: number, via: WayIn): Promise<void> | undefined {
    const works: Promise<void>[] = [];
    this.counts.rejected -= checked.length;
    for (const { location, generatedMs } of checked) {
      const work = this.#options.ensureProvider(location.provider_id, location.provider_type);
      if (work !== undefined) works.push(work);
      this.#options.arrived?.(location, receivedMs, via);
      this.#options.location(location, { generatedMs, receivedMs });
    }
    const kept = this.#options.kept();
    if (kept !== undefined) works.push(kept);
    return works.length === 0 ? undefined : Promise.all(works).then(() => undefined);
  }
}

function nameInPayload(index: number): string {
  return `payload[${index}]`;
}

type Check = (value: unknown, expected: Expected) => Checked | string;
