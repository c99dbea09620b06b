import type { FenceIndex } from '../../src/core/fence/fence_index.ts';
import type { QueryResult, ExportedState, Item, LastKnownRow, Query } from '../../src/core/item.ts';
import { type AcceptedLocation, accept } from '../../src/core/location/accepted.ts';
import { received } from '../../src/core/location/received.ts';
import type { Outcome } from '../../src/core/outcome.ts';
import { openShard, type Shard } from '../../src/core/shard.ts';
import type { FilterDefaults } from '../../src/core/tracking/filter_settings.ts';
import type { CrossingSettings } from '../../src/core/state.ts';
import { DeliveryBatch } from '../../src/fanout/batch.ts';
import { openFenceIndex } from '../../src/fence_index/fence_index.ts';
import { copied, lend, look } from '../../src/model/borrowed.ts';
import { NO_FIELDS, type StepPosition } from '../../src/model/event_batch.ts';
import type { FenceEvent, TrackableMotion } from '../../src/model/events.ts';
import type { Fence } from '../../src/model/fence.ts';
import type { Location } from '../../src/model/location.ts';
import type { LocationProvider } from '../../src/model/provider.ts';
import { NO_CLOCK_STEPS, type ClockStep } from '../../src/model/clock_steps.ts';
import type { SerializedEvent, Variant } from '../../src/model/topics.ts';
import type { Trackable } from '../../src/model/trackable.ts';
import type { Zone } from '../../src/model/zone.ts';
import type { ShardCommand as OtherCommand } from '../../src/shards/shard_commands.ts';
import { newRecordBuffer } from '../../src/wire/location_record.ts';
import { HALL } from './hall.ts';

/** Start of simulated time. */
export const T0 = Date.parse('2026-03-01T12:00:00Z');

/** ISO timestamp of `second` seconds after the start. */
export function iso(second: number): string {
  return new Date(T0 + second * 1000).toISOString();
}

/** Variants of events that the harness requests. */
export const VARIANTS: readonly Variant[] = [
  { id: 1, topic: 'location_updates', crs: 'EPSG:4326' },
  { id: 2, topic: 'trackable_motions', crs: 'EPSG:4326' },
  { id: 3, topic: 'fence_events', crs: 'EPSG:4326' },
  { id: 4, topic: 'collision_events', crs: 'EPSG:4326' },
];

export interface ObservedEvents {
  readonly locations: Location[];
  readonly motions: TrackableMotion[];
  readonly fenceEvents: FenceEvent[];
}

/** An outcome with copies of its rows: first those that a caller waits for, then the background rows. */
export type ObservedOutcome = Omit<Outcome, 'rows'> & { readonly rows: readonly LastKnownRow[] };

export interface HarnessOptions {
  readonly providerInTrackableEvents?: boolean;
  readonly collisionsByDefault?: boolean;
  readonly detachedStay?: boolean;
  readonly filters?: FilterDefaults;
  readonly crossing?: CrossingSettings;
  /** The real index by default. */
  readonly index?: FenceIndex;
}

/** Returns the events of a step individually, ordered by variant. */
export function eventsOf({ events }: Pick<Outcome, 'events'>): SerializedEvent[] {
  return events
    .toSorted((a, b) => a.variant - b.variant)
    .flatMap(({ variant, bytes, ends, fields }) =>
      new DeliveryBatch(look(bytes), ends).strings.map((text, i) => ({
        variant,
        text,
        fields: fields?.[i] ?? NO_FIELDS,
      })),
    );
}

/** An isolated shard in simulated time that collects its outcomes. */
export class ShardHarness {
  readonly outcomes: ObservedOutcome[] = [];
  readonly #events: SerializedEvent[] = [];
  readonly #observed: ObservedEvents = { locations: [], motions: [], fenceEvents: [] };
  /** Numbers of outcomes already read into the events, and of events already read into `observed`. */
  #outcomesRead = 0;
  #eventsRead = 0;
  readonly shard: Shard;
  rows: 'all' | 'urgent' = 'urgent';
  /** Clock steps of the hub. */
  clockSteps: readonly ClockStep[] = NO_CLOCK_STEPS;
  /** Position of the next steps in a journal. */
  position: StepPosition | undefined;
  #seq = 0;
  #ids = 0;

  constructor(shard: (newId: () => string) => Shard) {
    this.#ids = 0;
    this.shard = shard(() => `event-${++this.#ids}`);
    this.tell(0, { kind: 'variants', variants: VARIANTS });
  }

  static async open(options: HarnessOptions = {}): Promise<ShardHarness> {
    const index = options.index ?? (await openFenceIndex());
    return new ShardHarness((newId) =>
      openShard({
        index,
        newBuffer: newRecordBuffer,
        newId,
        collisionsByDefault: options.collisionsByDefault ?? true,
        providerInTrackableEvents: options.providerInTrackableEvents ?? false,
        detachedStay: options.detachedStay ?? true,
        parentsMax: 32,
        filters: options.filters,
        crossing: options.crossing,
      }),
    );
  }

  /** All events so far, in order. Outcomes are decoded on demand, because most tests read only a few. */
  get events(): readonly SerializedEvent[] {
    for (const outcome of this.outcomes.slice(this.#outcomesRead)) this.#events.push(...eventsOf(outcome));
    this.#outcomesRead = this.outcomes.length;
    return this.#events;
  }

  /** All events so far, parsed, except those taken by `takeFenceEvents` and `takeMotions`. */
  get observed(): ObservedEvents {
    for (const { variant, text } of this.events.slice(this.#eventsRead)) {
      const event = JSON.parse(text);
      if (variant === 1) this.#observed.locations.push(event);
      if (variant === 2) this.#observed.motions.push(event);
      if (variant === 3) this.#observed.fenceEvents.push(event);
    }
    this.#eventsRead = this.#events.length;
    return this.#observed;
  }

  /** Numbers commands that are received `second` seconds after T0. */
  items(second: number, ...commands: readonly ShardCommand[]): Item[] {
    return commands.map((command) => itemOf(command, ++this.#seq, T0 + second * 1000));
  }

  /** Runs one step. */
  step(second: number, items: readonly Item[] = []): ObservedOutcome {
    const { clockSteps, position } = this;
    const flushBudget = this.rows === 'all' ? Infinity : 0;
    const all = this.shard.step({ nowMs: T0 + second * 1000, items, clockSteps, flushBudget, position });
    // The next step overwrites these bytes.
    const kept = all.events.map((batch) => ({ ...batch, bytes: lend(copied(batch.bytes)) }));
    const rows = [...all.rows, ...all.backgroundRows] as LastKnownRow[];
    const outcome = { ...all, effects: lend(copied(all.effects)), events: kept, rows };
    this.outcomes.push(outcome);
    return outcome;
  }

  /** Applies commands in one step at `second`. */
  tell(second: number, ...commands: readonly ShardCommand[]): ObservedOutcome {
    return this.step(second, this.items(second, ...commands));
  }

  ask(second: number, query: Query): QueryResult | ExportedState {
    const { answers } = this.tell(second, { kind: 'read', id: 1, query });
    const answer = answers[0]?.[1];
    if (answer === undefined) throw new Error('The shard has not answered');
    return answer;
  }

  /** Returns and removes the fence events so far. */
  takeFenceEvents(): FenceEvent[] {
    return this.observed.fenceEvents.splice(0);
  }

  /** Returns and removes the motions so far. */
  takeMotions(): TrackableMotion[] {
    return this.observed.motions.splice(0);
  }
}

/** A location as received from ingest. */
export interface LocationCommand {
  readonly kind: 'location';
  readonly generatedMs: number;
  readonly location: AcceptedLocation;
}

/** A shard command without sequence and time of receipt. */
export type ShardCommand = OtherCommand | LocationCommand;

/** Creates a shard item from a command, its sequence and its time of receipt in Unix milliseconds. */
export function itemOf(command: ShardCommand, seq: number, receivedMs: number): Item {
  if (command.kind !== 'location') return { ...command, seq, receivedMs } as Item;
  return received(command.location, { seq, receivedMs, generatedMs: command.generatedMs }, newRecordBuffer);
}

/** Creates a location in EPSG:4326 as received from ingest, generated at `second`. */
export function locationAt(second: number, lon: number, lat: number, more: Partial<Location> = {}): LocationCommand {
  const position = { type: 'Point' as const, coordinates: [lon, lat] };
  const value: Location = { position, provider_type: 'uwb', timestamp_generated: iso(second), ...more };
  const { provider_id: providerId, source, crs } = { provider_id: 'tag', source: 'test', crs: 'EPSG:4326', ...more };
  const generatedMs = T0 + second * 1000;
  const filledIn = { providerId: providerId ?? 'tag', source: source ?? 'test', crs: crs ?? 'EPSG:4326', generatedMs };
  return { kind: 'location', generatedMs, location: accept(value, filledIn) };
}

/** Creates a location in meters of the hall, generated at `second`. */
export function inHall(
  second: number,
  [x, y, z]: readonly [x: number, y: number, z?: number],
  more: Partial<Location> = {},
): LocationCommand {
  const coordinates = z === undefined ? [x, y] : [x, y, z];
  const local = { crs: 'local', source: HALL.id, position: { type: 'Point' as const, coordinates } };
  return locationAt(second, 0, 0, { ...local, ...more });
}

export function zone(entity: Zone = HALL): ShardCommand {
  return { kind: 'zone', id: entity.id, entity };
}

export function fence(entity: Fence): ShardCommand {
  return { kind: 'fence', id: entity.id, entity };
}

export function provider(id: string, more: Partial<LocationProvider> = {}): ShardCommand {
  return { kind: 'provider', id, entity: { id, type: 'uwb', ...more } };
}

/** Creates a trackable with providers. */
export function trackable(id: string, providers: readonly string[], more: Partial<Trackable> = {}): ShardCommand {
  return { kind: 'trackable', id, entity: { id, type: 'omlox', location_providers: [...providers], ...more } };
}

/** Creates a location with `force_location_update`. */
export function forced(command: ShardCommand): ShardCommand {
  return { ...command, force: true } as ShardCommand;
}

export function deleted(kind: 'zone' | 'fence' | 'trackable' | 'provider', id: string): ShardCommand {
  return { kind, id, entity: undefined };
}
