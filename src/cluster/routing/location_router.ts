import type { AcceptedLocation } from '../../core/location/accepted.ts';
import { PROVIDER_NAME, recordSize } from '../../core/location/record.ts';
import type { ScannedBody } from '../../core/location/scanned_body.ts';
import type { LocationTimes } from '../../wire/location_record.ts';
import type { ClusterContext } from '../context.ts';
import { allDone } from './waiting_request.ts';
import type { Ownership } from './ownership.ts';
import type { PartitionLoads } from './partition_loads.ts';
import { HERE, type RemoteShards } from './remote_shards.ts';

/** Target of ingest for locations. */
export interface LocationTarget {
  hasCapacity(count: number): boolean;
  /** Number of the target of a provider, valid as long as `homesChanged` stays the same. */
  homeOf(provider: string): number;
  readonly homesChanged: number;
  location(location: AcceptedLocation, times: LocationTimes): void;
  /** Takes a scanned body, whose records may be changed. */
  scanned(body: ScannedBody): void;
  /** Deletes the location of a provider. */
  forget(id: string): Promise<void> | undefined;
  /** Resolves when the locations handed over since the last call are processed and committed; undefined if there were none. */
  committed(): Promise<void> | undefined;
}

export interface LocationRouterOptions extends Pick<ClusterContext, 'incarnation'> {
  readonly ownership: Ownership;
  readonly remote: RemoteShards;
  /** The shards of this hub. */
  readonly local: LocationTarget & { readonly count: number };
  /** Whether they have the state of what this hub serves. */
  isServing(): boolean;
  /** Counts the locations that go to them, if several hubs serve something. */
  readonly loads: Pick<PartitionLoads, 'isSample' | 'count'>;
}

/** Share of locations that count as most. */
const MOST = 0.75;

/**
 * Router of locations in a hub of a cluster:
 *
 *     its provider is served by     and                                    the location goes
 *     ----------------------------  -------------------------------------  -----------------------
 *     this hub                      no locations for this hub wait         to the shards
 *     this hub                      some do, or may                        to the router, after them
 *     another hub, or none                                                 to the router
 *
 * The home of a provider is its shard, or a number beyond all shards: first that of unserved providers, then those of all hubs
 * that serve something.
 */
export class LocationRouter implements LocationTarget {
  readonly #options: LocationRouterOptions;
  #version = -1;
  #changes = 0;
  #isAllHere = false;
  /** Whether the shards of this hub were given locations since the last call of `committed`. */
  #hasLocal = false;
  /** Number of locations since then that are served, and that each of `ownership.servers` serves if it is another hub. */
  #served = 0;
  #servedBy: number[] = [];
  #preferred: string | undefined;

  constructor(options: LocationRouterOptions) {
    this.#options = options;
  }

  get homesChanged(): number {
    this.#follow();
    return this.#options.local.homesChanged + this.#changes;
  }

  hasCapacity(count: number): boolean {
    const { local, remote } = this.#options;
    if (!this.#isServingAny() || !remote.isClear()) return remote.hasCapacity(count);
    return local.hasCapacity(count) && (this.#isAllHere || remote.hasCapacity(count));
  }

  homeOf(provider: string): number {
    const { ownership, incarnation, local } = this.#options;
    const server = ownership.serverOf('provider', provider);
    if (server === incarnation) return local.homeOf(provider);
    return local.count + (server === undefined ? 0 : 1 + ownership.servers.indexOf(server));
  }

  // hot
  location(location: AcceptedLocation, times: LocationTimes): void {
    const { local, remote, loads } = this.#options;
    if (!this.#isHere(location.provider_id)) {
      this.#countAway(this.homeOf(location.provider_id));
      remote.location(location, times);
    } else {
      this.#served++;
      if (loads.isSample()) loads.count(location.provider_id);
      this.#hasLocal = true;
      local.location(location, times);
    }
  }

  // hot
  scanned(body: ScannedBody): void {
    const { local, remote, isServing, ownership, incarnation } = this.#options;
    const isOpen = isServing() && remote.isClear();
    const here = isOpen ? this.#countHere(body) : 'none';
    this.#hasLocal ||= here !== 'none';
    if (here === 'all') {
      local.scanned(body);
      return;
    }
    if (here === 'some') {
      const newProviders = body.newProviders.filter((id) => ownership.serverOf('provider', id) === incarnation);
      local.scanned({ ...body, newProviders, isPartial: true });
    }
    remote.scanned(body, (name) => {
      const place = body.homeOf(name) - local.count;
      if (place < 0) return isOpen ? HERE : incarnation;
      return place === 0 ? undefined : ownership.servers[place - 1];
    });
  }

  forget(id: string): Promise<void> | undefined {
    const { local, remote } = this.#options;
    return this.#isHere(id) ? local.forget(id) : remote.forget(id);
  }

  committed(): Promise<void> | undefined {
    const { local, remote } = this.#options;
    this.#preferred = this.#servedMost();
    const elsewhere = remote.committed();
    const here = this.#hasLocal ? local.committed() : undefined;
    this.#hasLocal = false;
    return elsewhere === undefined || here === undefined ? (elsewhere ?? here) : allDone([elsewhere, here]);
  }

  /**
   * Member id of the other hub that serves most of the locations between the last two calls of `committed`, once; undefined if none
   * does.
   */
  takePreferred(): string | undefined {
    const preferred = this.#preferred;
    this.#preferred = undefined;
    return preferred;
  }

  #servedMost(): string | undefined {
    const [served, servedBy] = [this.#served, this.#servedBy];
    this.#served = 0;
    if (servedBy.length === 0) return undefined;
    this.#servedBy = [];
    const index = servedBy.findIndex((count) => count >= served * MOST);
    return this.#options.ownership.servers[index];
  }

  /** Counts a location by the home of its provider, which is not a shard of this hub. */
  // hot
  #countAway(home: number): void {
    const place = home - this.#options.local.count;
    this.#served++;
    if (place > 0) this.#servedBy[place - 1] = (this.#servedBy[place - 1] ?? 0) + 1;
  }

  #follow(): void {
    const { ownership, incarnation } = this.#options;
    if (this.#version === ownership.version) return;
    this.#version = ownership.version;
    this.#changes++;
    this.#servedBy = [];
    this.#isAllHere = ownership.isWhole && ownership.servers.every((server) => server === incarnation);
  }

  #isServingAny(): boolean {
    const { ownership, incarnation, isServing } = this.#options;
    this.#follow();
    return isServing() && (this.#isAllHere || ownership.servers.includes(incarnation));
  }

  // hot
  #isHere(provider: string): boolean {
    const { ownership, incarnation, remote, isServing } = this.#options;
    return isServing() && ownership.serverOf('provider', provider) === incarnation && remote.isClear();
  }

  /** Counts how much of a body is for the shards of this hub. */
  // hot
  #countHere({ records, start, end, homeOf, nameOf }: ScannedBody): 'all' | 'some' | 'none' {
    const { local, loads } = this.#options;
    this.#follow();
    if (this.#isAllHere) return 'all';
    let [isAny, isAll] = [false, true];
    for (let at = start; at < end; at += recordSize(records, at)) {
      const name = records.view.getUint32(at + PROVIDER_NAME, true);
      const home = homeOf(name);
      if (home < local.count) {
        isAny = true;
        this.#served++;
        if (loads.isSample()) loads.count(nameOf(name));
      } else {
        isAll = false;
        this.#countAway(home);
      }
    }
    return isAll ? 'all' : isAny ? 'some' : 'none';
  }
}
