import { zstdDecompressSync } from 'node:zlib';
import { type EffectPosition, effectsIn } from '../../core/effects.ts';
import { objectOfFenceEvent } from '../../core/fence/fence_event.ts';
import type { ReceivedLocation } from '../../core/location/received.ts';
import type { ObjectKind } from '../../model/id.ts';
import { wallClockOfEventTime } from '../../model/clock_steps.ts';
import type { FailedFenceEvent } from '../../wire/fence_events.ts';
import {
  type JournalRecord,
  type NumberedRequest,
  type PackedStep,
  readStoredRecord,
} from '../../wire/journal_record.ts';
import { asBuffer, locationsOf } from '../../wire/location_record.ts';
import { locationsIn } from '../../wire/messages.ts';
import type { CountedRun } from '../../wire/received_run.ts';
import type { Bus } from '../nats/bus.ts';
import { type JournalRange, readJournal } from './journal_reader.ts';
import { JournalFormatError } from './journal_message.ts';
import { journalSubjects, journalStreams } from './journal_streams.ts';
import { recordsIn } from './record_pieces.ts';

/** A step in the journal of a removed member, or the state of objects released with one. */
export type RecoveredStep = Pick<JournalRecord & { readonly kind: 'step' | 'released' }, 'endMs' | 'step'> &
  Partial<Pick<JournalRecord & { readonly kind: 'step' }, 'fenceEvents'>>;

/** State that a member has released because of a record. */
export type JournaledRelease = JournalRecord & { readonly kind: 'released' };

/** Contents of the journal of a removed member. */
export interface RecoveredJournal {
  /** Steps that are not in the state. */
  readonly steps: readonly RecoveredStep[];
  /** Steps that are in the state, as far as they remain. */
  readonly earlier: readonly RecoveredStep[];
  /** Objects, as "kind id", that it had released when it was removed, by the sequence of the record. */
  readonly departed: ReadonlyMap<string, number>;
  /** State that it had released. */
  readonly released: readonly JournaledRelease[];
  /** Those whose owner may have answered where they are: each hub had delivered all events of the objects. */
  readonly delivered: ReadonlySet<JournalRecord>;
  /** Last record of the configuration log that the steps and earlier ones reflect; 0 if unknown. */
  readonly config: number;
  /** By ingress hub: the last request whose locations it had journaled before it trimmed the journal. */
  readonly requests: ReadonlyMap<string, number>;
}

export interface JournalSource {
  readonly bus: Bus;
  /** Name of the cluster. */
  readonly name: string;
  readonly incarnation: string;
}

/**
 * Reads the steps of a removed member, in order, into memory. The journal is trimmed some time after a record has stated which
 * messages are not needed: so the steps that are not in the state follow the last such record, wherever the journal begins.
 * Rejects with a BusError if it cannot be read, and with a JournalFormatError if it is not sealed, or a message is missing.
 */
export async function readSteps({ bus, name, incarnation }: JournalSource): Promise<RecoveredJournal> {
  const places = journalSubjects(name, incarnation);
  const journal = places[0].subject;
  const { messages, isSealed } = await readJournal(bus, places);
  if (!isSealed) throw new JournalFormatError(`Cannot take over journal "${journal}": it is not sealed`);
  const numbers = [...messages.keys()].sort((a, b) => a - b);
  // Trimming may leave one stream longer than the other. A record never spans a gap.
  const runs = numbers.reduce<number[][]>((before, number) => {
    const run = before.at(-1);
    if (run?.at(-1) === number - 1) run.push(number);
    else before.push([number]);
    return before;
  }, []);
  const recordsFrom = (first: number) => (run: readonly number[]) =>
    recordsIn(run.flatMap((number) => (number < first ? [] : [[number, messages.get(number) ?? []] as const])));
  const all = runs.flatMap(recordsFrom(0)).map(({ record }) => unpacked(record));
  const upTo = all.reduce((most, record) => Math.max(most, record.kind === 'done' ? record.upTo : -1), -1);
  const last = numbers.at(-1) ?? -1;
  for (let number = upTo + 1; number <= last; number++) {
    if (!messages.has(number)) throw new JournalFormatError(`Message ${number} of journal "${journal}" is missing`);
  }
  const earlier = all.length - runs.flatMap(recordsFrom(upTo + 1)).length;
  return {
    steps: stepsIn(all.slice(earlier)),
    earlier: stepsIn(all.slice(0, earlier)),
    departed: departuresIn(all),
    released: releasesIn(all),
    delivered: deliveredIn(all),
    config: all.reduce((latest, record) => Math.max(latest, record.config), 0),
    requests: requestsIn(all),
  };
}

/**
 * Reads the state in a range of the journal of a member, which may have failed since. Rejects with a BusError if it cannot be
 * read, and resolves with undefined if the last messages cannot be read yet.
 */
export async function readReleased(
  { bus, name, incarnation }: JournalSource,
  range: JournalRange,
): Promise<readonly JournaledRelease[] | undefined> {
  const { messages } = await readJournal(bus, journalSubjects(name, incarnation), range);
  if (messages.size < range.before - range.from) return undefined;
  const inOrder = [...messages].sort(([one], [other]) => one - other);
  return releasesIn(recordsIn(inOrder).map(({ record }) => unpacked(record)));
}

/** Deletes the streams of a member; they may be deleted already. */
export async function dropIncarnation(bus: Bus, name: string, incarnation: string): Promise<void> {
  for (const stream of journalStreams(name, incarnation)) await bus.deleteStream(stream.name);
}

function requestsIn(records: readonly JournalRecord[]): ReadonlyMap<string, number> {
  const requests = new Map<string, number>();
  for (const record of records) {
    if (record.kind !== 'done') continue;
    for (const { ingress, number } of record.requests) requests.set(ingress, number);
  }
  return requests;
}

function stepsIn(records: readonly JournalRecord[]): RecoveredStep[] {
  return records.filter((record) => record.kind === 'step' || record.kind === 'released');
}

function releasesIn(records: readonly JournalRecord[]): readonly JournaledRelease[] {
  return records.filter((record) => record.kind === 'released');
}

function deliveredIn(records: readonly JournalRecord[]): RecoveredJournal['delivered'] {
  const sequences = new Set<number>();
  return new Set(
    records.toReversed().filter((record) => {
      if (record.kind === 'delivered') sequences.add(record.sequence);
      return record.kind === 'released' && sequences.has(record.sequence);
    }),
  );
}

/** A step that adopts an object states it, even if the object leaves with the same step. */
function departuresIn(records: readonly JournalRecord[]): RecoveredJournal['departed'] {
  const departed = new Map<string, number>();
  for (const record of records) {
    if (record.kind === 'released') {
      for (const { kind, id } of objectsStatedIn(record.step)) departed.set(`${kind} ${id}`, record.sequence);
    }
    if (record.kind !== 'step' || departed.size === 0) continue;
    for (const { kind, id, at } of objectsStatedIn(record.step)) {
      if (at !== 'elsewhere') departed.delete(`${kind} ${id}`);
    }
  }
  return departed;
}

/** Objects whose state is in steps. Those that are only elsewhere have left with released state, or for another shard. */
export function statedIn(steps: readonly PackedStep[]): Readonly<Record<ObjectKind, ReadonlySet<string>>> {
  const objects = { provider: new Set<string>(), trackable: new Set<string>() };
  for (const step of steps) {
    for (const { kind, id, at } of objectsStatedIn(step)) if (at !== 'elsewhere') objects[kind].add(id);
  }
  return objects;
}

/** Providers that have a position after steps. */
export function locatedIn(steps: readonly PackedStep[]): Set<string> {
  const located = new Set<string>();
  for (const step of steps) {
    for (const { kind, id, at } of objectsStatedIn(step)) {
      if (kind !== 'provider' || at === 'elsewhere') continue;
      if (at === 'nowhere') located.delete(id);
      else located.add(id);
    }
  }
  return located;
}

interface StatedObject {
  readonly kind: ObjectKind;
  readonly id: string;
  readonly at: EffectPosition['at'];
}

/** Objects whose state is in a step. The effect of a provider that was located in the step has only the number of its location. */
function* objectsStatedIn(step: PackedStep): Generator<StatedObject> {
  let locations: ReadonlyMap<number, ReceivedLocation> | undefined;
  for (const { kind, id, place } of effectsIn(asBuffer(step.effects))) {
    if (id !== undefined) yield { kind, id, at: place.at };
    if (id !== undefined || place.at !== 'location') continue;
    locations ??= new Map(locationsIn(step).map((location) => [location.seq, location]));
    const located = locations.get(place.seq);
    if (located === undefined) throw new JournalFormatError(`Cannot read a step: it has no location ${place.seq}`);
    yield { kind, id: located.providerId, at: place.at };
  }
}

function unpacked(record: Uint8Array): JournalRecord {
  return readStoredRecord(record, zstdDecompressSync);
}

/**
 * Fence events in the journal of a removed member, in order, for redelivery: it is unknown which of them the subscribers of
 * each hub have received. Before an object's new owner starts, every hub has received the old owner's events for it: after
 * those of the new owner, they would be in the wrong order.
 * `isPending`: whether an object, as "kind id", that was released because of a record has not arrived.
 */
export function journaledFenceEvents(
  of: string,
  { earlier, steps, released, delivered }: Pick<RecoveredJournal, 'earlier' | 'steps' | 'released' | 'delivered'>,
  isPending: (name: string, sequence: number) => boolean,
): FailedFenceEvent[] {
  const releases = new Map<unknown, JournaledRelease>(released.map((record) => [record, record]));
  const left = new Set<FailedFenceEvent>();
  let arrived = new Set<string>();
  let leftMs = Number.NaN;
  const drop = (): void => {
    if (arrived.size === 0) return;
    for (const each of left) if (arrived.has(objectOfFenceEvent(each.event[0]).join(' '))) left.delete(each);
    arrived = new Set();
  };
  for (const record of [...earlier, ...steps]) {
    const { endMs, step, fenceEvents = [] } = record;
    const release = releases.get(record);
    // A release precedes the step that it belongs to, which ends at the same time, and has no record without changes.
    if (endMs !== leftMs) drop();
    if (release !== undefined) {
      leftMs = endMs;
      for (const { kind, id } of objectsStatedIn(step)) {
        const name = `${kind} ${id}`;
        if (delivered.has(release) || !isPending(name, release.sequence)) arrived.add(name);
      }
      continue;
    }
    for (const each of fenceEvents) left.add({ ...each, of: each.of ?? of, recordedMs: each.recordedMs ?? endMs });
    drop();
  }
  drop();
  return [...left];
}

/**
 * Locations that a previous owner has recorded. An ingress hub that got no answer to a request sends its locations to the next
 * owner, where the recorded ones count as processed.
 *
 * The journal has them, or names the request: see taken_requests.ts. In the journal a location is identified by its content and
 * its event time. Of two that agree in all of that the second changes nothing, so it does not matter which of them was recorded.
 */
export class RecordedLocations {
  readonly #steps: readonly RecoveredStep[];
  readonly #requests: ReadonlyMap<string, number>;
  /** Made at the first lookup, which is rare. */
  #keys: Set<string> | undefined;

  constructor({ earlier, steps, requests }: Pick<RecoveredJournal, 'earlier' | 'steps' | 'requests'>) {
    this.#steps = [...earlier, ...steps];
    this.#requests = requests;
  }

  /** Runs of a request, in wall-clock time, without recorded locations. Unchanged runs are not copied. */
  without(runs: readonly CountedRun[], { ingress, number }: NumberedRequest): readonly CountedRun[] {
    return this.#requests.get(ingress) === number ? [] : this.#withoutRecorded(runs);
  }

  #withoutRecorded(runs: readonly CountedRun[]): readonly CountedRun[] {
    this.#keys ??= this.#keysOfAll();
    const keys = this.#keys;
    return runs.flatMap((run) => {
      const locations = locationsOf(run);
      const left = locations.filter((location) => !keys.has(keyOf(location, location.generatedMs)));
      if (left.length === locations.length) return [run];
      const bytes = Buffer.concat(left.map((location) => location.bytes));
      return left.length === 0 ? [] : [{ names: run.names, bytes, count: left.length }];
    });
  }

  #keysOfAll(): Set<string> {
    const keys = new Set<string>();
    for (const { step } of this.#steps) {
      for (const location of locationsIn(step)) {
        keys.add(keyOf(location, wallClockOfEventTime(location.generatedMs, step.clockSteps ?? [])));
      }
    }
    return keys;
  }
}

function keyOf({ source, crs, content }: ReceivedLocation, generatedMs: number): string {
  return `${generatedMs} ${crs} ${content} ${source}`;
}
