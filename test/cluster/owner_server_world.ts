import { errorWith } from '../support/errors.ts';
import { OwnerServer, type OwnerServerOptions } from '../../src/cluster/rpc/owner_server.ts';
import { TakenRequests } from '../../src/cluster/journal/taken_requests.ts';
import { Ownership } from '../../src/cluster/routing/ownership.ts';
import { RemoteShards } from '../../src/cluster/routing/remote_shards.ts';
import { OwnerClient, type OwnerClientOptions } from '../../src/cluster/rpc/owner_client.ts';
import type { QueryResult, Query } from '../../src/core/item.ts';
import type { AcceptedLocation } from '../../src/core/location/accepted.ts';
import { ReceivedLocation } from '../../src/core/location/received.ts';
import { PARTITIONS, partitionOf } from '../../src/shards/affinity.ts';
import { type CountedRun, recordsIn } from '../../src/wire/received_run.ts';
import type { SimulatedCluster } from './simulated_bus.ts';

export const T0 = Date.UTC(2026, 0, 1);

/** Location of a provider, identified by a string. */
export function locationOf(provider: string, text: string): AcceptedLocation {
  return {
    provider_id: provider,
    source: 'zone',
    provider_type: 'uwb',
    crs: 'EPSG:4326',
    coordinates: [8, 50],
    associated: null,
    accuracy: null,
    floor: null,
    elevation_ref: null,
    speed: null,
    course: null,
    hasSentTime: false,
    positionText: '',
    text,
  };
}

/** A location that an owner has processed. */
export interface Taken {
  readonly provider: string;
  readonly text: string;
}

export function takenOf({ names, bytes }: CountedRun): Taken[] {
  const taken: Taken[] = [];
  const records = recordsIn(bytes);
  for (let at = 0; at < bytes.length; ) {
    const location = new ReceivedLocation(records, at, names);
    taken.push({ provider: location.providerId, text: location.text });
    at += location.recordBytes;
  }
  return taken;
}

/** Parameters of a test hub. */
interface Given {
  readonly cluster: SimulatedCluster;
  readonly hub: string;
  readonly holdMs?: number;
  readonly capacity?: number;
  /** Processing time of the shards. */
  readonly stepMs?: () => number;
  /** Called with each location when it is journaled. */
  readonly committed?: (taken: Taken, hub: string) => void;
}

/** A record of the configuration log about ownership. */
export interface ServingRecord {
  /** Owner of each partition; an empty string for none. Fewer than there are partitions repeat. */
  readonly owners: readonly string[];
  readonly open?: readonly number[];
  readonly migrating?: readonly string[];
  /** Hubs that are no longer members. */
  readonly gone?: readonly string[];
}

/** A hub with an owner client and an owner server, whose shards record their input. Its member id is its name. */
export class TestHub {
  readonly hub: string;
  readonly router: OwnerClient;
  readonly door: OwnerServer;
  readonly shards: RemoteShards;
  readonly taken: Taken[] = [];
  readonly forgotten: string[] = [];
  /** Locations that were taken before the first deletion. */
  takenBefore = 0;
  readonly notices: string[] = [];
  readonly asked: Query[] = [];
  /** Sequence that this hub has applied. */
  applied = 0;
  readonly ownership = new Ownership((_, id) => partitionOf(id));
  #gone: readonly string[] = [];
  /** Whether another hub has sealed its journal: nothing is journaled any more. */
  isSealed = false;
  isFull = false;
  /** Number of locations in progress. */
  taking = 0;
  answer: (query: Query) => Promise<readonly QueryResult[]> = async ({ ask }) => [{ ids: [ask] }];
  unrecorded: OwnerServerOptions['unrecorded'] = async ({ runs }) => runs;
  readonly requests = new TakenRequests(() => this.taken.length);
  readonly #committed: Given['committed'];
  #last: Promise<void> = Promise.resolve();
  readonly #marks = new Set<() => void>();
  readonly #schedule: (delayMs: number, callback: () => void) => () => void;

  constructor({ cluster, hub, holdMs = 6000, capacity = 100_000, stepMs = () => 2, committed }: Given) {
    this.#committed = committed;
    this.hub = hub;
    const bus = cluster.bus(hub);
    const { elapsed } = cluster.clock;
    const schedule = (ms: number, callback: () => void) => cluster.schedule(hub, ms, callback);
    this.#schedule = schedule;
    const shared = { bus, name: 'hub', incarnation: hub, schedule, applied: () => this.applied };
    const reached = (sequence: number, timeoutMs: number) => this.#reached(sequence, timeoutMs);
    const { ownership } = this;
    const doorOptions: OwnerServerOptions = {
      ...{ ...shared, reached, ownership, isServing: () => !this.isSealed },
      unrecorded: (request) => this.unrecorded(request),
      requests: this.requests,
      hasCapacity: () => !this.isFull,
      take: (runs) => this.#take(runs, stepMs()),
      ask: (query) => {
        this.asked.push(query);
        return this.answer(query);
      },
      forget: async (ids) => {
        if (this.forgotten.length === 0) this.takenBefore = this.taken.length;
        this.forgotten.push(...ids);
      },
      released: () => Promise.reject(new Error('Nothing is released here')),
      settled: () => this.#later(stepMs()),
      notice: (text) => this.notices.push(text),
    };
    this.door = new OwnerServer(doorOptions);
    const routerOptions: OwnerClientOptions = { ...shared, reached, elapsed, holdMs, capacity } as OwnerClientOptions;
    const isMember = (incarnation: string): boolean => !this.#gone.includes(incarnation);
    this.router = new OwnerClient({ ...routerOptions, ownership, isMember, localOwner: this.door });
    this.shards = new RemoteShards(this.router);
  }

  /** Sends a location to the owner, as ingest does, and resolves when it is journaled. */
  send(provider: string, text: string): Promise<void> {
    this.shards.location(locationOf(provider, text), { generatedMs: T0, receivedMs: T0 });
    return this.shards.committed() ?? Promise.reject(new Error('Nothing waits'));
  }

  /** Applies a configuration record with one owner of everything; the previous one is no longer a member. */
  apply(sequence: number, owner: string | undefined): void {
    const gone = this.ownership.servers.filter((before) => before !== owner);
    this.applyServing(sequence, { owners: [owner ?? ''], gone });
  }

  /** Applies an ownership record. */
  applyServing(sequence: number, { owners, open = [], migrating = [], gone = [] }: ServingRecord): void {
    if (sequence <= this.applied) return;
    this.applied = sequence;
    this.#gone = gone;
    const all = Array.from({ length: PARTITIONS }, (_, partition) => owners[partition % owners.length] ?? '');
    const map = { epoch: sequence, owners: all, collisions: '' };
    this.ownership.set({ version: sequence, map, open: new Set(open), migrating: new Set(migrating) });
    for (const mark of this.#marks) mark();
    this.router.ownershipChanged();
  }

  /** Resolves when everything taken so far is done. */
  get drained(): Promise<void> {
    return this.#last.catch(() => undefined);
  }

  async #take(runs: readonly CountedRun[], stepMs: number): Promise<void> {
    const taken = runs.flatMap(takenOf);
    this.taking += taken.length;
    // In order of arrival, as a lane does.
    this.#last = Promise.all([this.#last, this.#later(stepMs)]).then(() => undefined);
    await this.#last;
    this.taking -= taken.length;
    // A sealed hub journals nothing.
    if (this.isSealed) throw errorWith('HUB_UNAVAILABLE', 'Cannot keep a step: the lane is sealed');
    this.taken.push(...taken);
    for (const each of taken) this.#committed?.(each, this.hub);
  }

  #later(ms: number): Promise<void> {
    return new Promise((resolve) => this.#schedule(ms, resolve));
  }

  #reached(sequence: number, timeoutMs: number): Promise<void> {
    if (this.applied >= sequence) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const end = (): void => {
        this.#marks.delete(mark);
        cancel();
      };
      const mark = (): void => {
        if (this.applied < sequence) return;
        end();
        resolve();
      };
      const cancel = this.#schedule(timeoutMs, () => {
        end();
        reject(errorWith('HUB_UNAVAILABLE', `Cannot wait for configuration record ${sequence}`));
      });
      this.#marks.add(mark);
    });
  }
}
