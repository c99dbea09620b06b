import { type Door, type DoorOptions, openDoor } from '../../src/cluster/door.ts';
import { RemoteShards } from '../../src/cluster/remote_shards.ts';
import { openRouter, type Router, type RouterOptions } from '../../src/cluster/router.ts';
import type { Answer, Query } from '../../src/core/item.ts';
import type { AcceptedLocation } from '../../src/core/location/accepted.ts';
import { ReceivedLocation } from '../../src/core/location/received.ts';
import { HubError } from '../../src/errors.ts';
import { type CountedRun, recordsIn } from '../../src/wire/received_run.ts';
import type { SimulatedCluster } from './simulated_bus.ts';

export const T0 = Date.UTC(2026, 0, 1);

/** Of a provider, with a text by which it is known again. */
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

/** A location that an owner has taken. */
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

/** What of a hub a test sets. */
interface Given {
  readonly cluster: SimulatedCluster;
  readonly hub: string;
  readonly holdMs?: number;
  readonly capacity?: number;
  /** How long the shards need. */
  readonly stepMs?: () => number;
}

/** A hub with a router and a door, whose shards note what they are told. Its incarnation is its name. */
export class TestHub {
  readonly hub: string;
  readonly router: Router;
  readonly door: Door;
  readonly shards: RemoteShards;
  readonly taken: Taken[] = [];
  readonly forgotten: string[] = [];
  /** Locations that were taken before the first deletion. */
  takenBefore = 0;
  readonly notices: string[] = [];
  readonly asked: Query[] = [];
  /** What this hub has applied. */
  applied = 0;
  owner: string | undefined;
  /** Whether another hub has sealed its lanes: nothing that it takes is kept any more. */
  isSealed = false;
  isFull = false;
  /** Locations that are being taken. */
  taking = 0;
  answer: (query: Query) => Promise<readonly Answer[]> = async ({ ask }) => [{ ids: [ask] }];
  unrecorded: DoorOptions['unrecorded'] = (runs) => runs;
  readonly #marks = new Set<() => void>();
  readonly #schedule: (delayMs: number, callback: () => void) => () => void;

  constructor({ cluster, hub, holdMs = 6000, capacity = 100_000, stepMs = () => 2 }: Given) {
    this.hub = hub;
    const bus = cluster.bus(hub);
    const { elapsed } = cluster.clock;
    const schedule = (ms: number, callback: () => void) => cluster.schedule(hub, ms, callback);
    this.#schedule = schedule;
    const shared = { bus, name: 'hub', incarnation: hub, schedule, applied: () => this.applied };
    const reached = (sequence: number, timeoutMs: number) => this.#reached(sequence, timeoutMs);
    const doorOptions: DoorOptions = {
      ...{ ...shared, reached, owns: () => this.owner === hub && !this.isSealed },
      unrecorded: (runs) => this.unrecorded(runs),
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
      settled: () => this.#later(stepMs()),
      notice: (text) => this.notices.push(text),
    };
    this.door = openDoor(doorOptions);
    const routerOptions: RouterOptions = { ...shared, reached, elapsed, holdMs, capacity } as RouterOptions;
    this.router = openRouter({ ...routerOptions, owner: () => this.owner, ownDoor: this.door });
    this.shards = new RemoteShards(this.router);
  }

  /** Hands a location to the owner, as ingest does, and resolves when it is kept. */
  send(provider: string, text: string): Promise<void> {
    this.shards.location(locationOf(provider, text), { generatedMs: T0, receivedMs: T0 });
    return this.shards.kept() ?? Promise.reject(new Error('Nothing waits'));
  }

  /** Applies a configuration record that names the owner. */
  apply(sequence: number, owner: string | undefined): void {
    if (sequence <= this.applied) return;
    this.applied = sequence;
    this.owner = owner;
    for (const mark of this.#marks) mark();
    this.router.ownerChanged();
  }

  async #take(runs: readonly CountedRun[], stepMs: number): Promise<void> {
    const taken = runs.flatMap(takenOf);
    this.taking += taken.length;
    await this.#later(stepMs);
    this.taking -= taken.length;
    // What was sealed is not kept.
    if (this.isSealed) throw new HubError('HUB_UNAVAILABLE', 'Cannot keep a step: the lane is sealed');
    this.taken.push(...taken);
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
        reject(new HubError('HUB_UNAVAILABLE', `Cannot wait for configuration record ${sequence}`));
      });
      this.#marks.add(mark);
    });
  }
}
