import { zstdDecompressSync } from 'node:zlib';
import { effectsIn } from '../core/effects.ts';
import { objectOfFenceEvent } from '../core/fence/fence_event.ts';
import type { ReceivedLocation } from '../core/location/received.ts';
import type { ObjectKind } from '../model/id.ts';
import { eventTimeOfDay } from '../model/set_back.ts';
import { type JournalRecord, type PackedStep, unpackJournalRecord } from '../wire/journal_record.ts';
import { asBuffer, locationsOf } from '../wire/location_record.ts';
import { locationsIn } from '../wire/messages.ts';
import type { CountedRun } from '../wire/received_run.ts';
import type { Bus } from './bus.ts';
import type { FenceEventLeft } from './fan_out_message.ts';
import { isSentBefore, readJournal } from './hub_journal.ts';
import { JournalFormatError, type JournalRecords } from './journal_message.ts';
import { journalPlaces, journalStreams } from './journal_places.ts';
import { recordsIn } from './record_pieces.ts';

/** A step that an incarnation has left behind in its journal, or the state of objects that have left with one. */
export type StepLeft = Pick<JournalRecord & { readonly kind: 'step' | 'released' }, 'endMs' | 'step'> &
  Partial<Pick<JournalRecord & { readonly kind: 'step' }, 'fenceEvents'>> &
  Dated;

/** When a record was kept at the latest, by time of day: long behind the end of its step, where nothing could be kept. */
interface Dated {
  /** Infinity where the journal does not say. */
  readonly keptByMs: number;
}

/** What an incarnation has left behind. */
export interface JournalLeft {
  /** What is not in the state. */
  readonly steps: readonly StepLeft[];
  /** What is, as far as it is still there. */
  readonly earlier: readonly StepLeft[];
  /** Objects, as "kind id", that had left it at its end, by the sequence of the record that said so. */
  readonly departed: ReadonlyMap<string, number>;
  /** The same of objects that had left owners before it, and had not come to it since. */
  readonly relayed: ReadonlyMap<string, number>;
  /** What it had released, or owners before it. */
  readonly released: readonly (JournalRecord & { readonly kind: 'released' })[];
  /** The last record of the configuration log that is evaluated in the steps and in what came before them; 0 if unknown. */
  readonly config: number;
}

export interface DeadIncarnation {
  readonly bus: Bus;
  /** Of the cluster. */
  readonly name: string;
  readonly incarnation: string;
}

/**
 * Reads the steps of an incarnation, in their order. The journal is trimmed some time after a record has said what it is
 * done with: so what is not in the state begins behind the last such record that was kept, wherever the journal begins by
 * now. All of it lies in memory then. Rejects with a BusError where it cannot be read, with a JournalFormatError where it is
 * not sealed, or a message is missing.
 */
export async function readSteps({ bus, name, incarnation }: DeadIncarnation): Promise<JournalLeft> {
  const places = journalPlaces(name, incarnation);
  const journal = places[0].subject;
  const { messages, isSealed } = await readJournal(bus, places);
  if (!isSealed) throw new JournalFormatError(`Cannot take over journal "${journal}": it is not sealed`);
  const numbers = [...messages.keys()].sort((a, b) => a - b);
  // Of what was trimmed, one of the streams may have some more: no record goes on behind a gap.
  const runs = numbers.reduce<number[][]>((before, number) => {
    const run = before.at(-1);
    if (run?.at(-1) === number - 1) run.push(number);
    else before.push([number]);
    return before;
  }, []);
  const all = runs.flatMap((run, i) => dated(run, messages, i === runs.length - 1));
  const upTo = all.reduce((most, record) => Math.max(most, record.kind === 'done' ? record.upTo : -1), -1);
  const last = numbers.at(-1) ?? -1;
  for (let number = upTo + 1; number <= last; number++) {
    if (!messages.has(number)) throw new JournalFormatError(`Message ${number} of journal "${journal}" is missing`);
  }
  const behind = runs.map(
    (run) =>
      recordsIn(run.flatMap((number) => (number > upTo ? [[number, messages.get(number) ?? []] as const] : []))).length,
  );
  const earlier = all.length - behind.reduce((sum, count) => sum + count, 0);
  return {
    steps: stepsIn(all.slice(earlier)),
    earlier: stepsIn(all.slice(0, earlier)),
    ...departuresIn(all),
    released: all.filter((record) => record.kind === 'released'),
    config: all.reduce((latest, record) => Math.max(latest, record.config), 0),
  };
}

/** Deletes the streams of an incarnation; they may be gone already. */
export async function dropIncarnation(bus: Bus, name: string, incarnation: string): Promise<void> {
  for (const stream of journalStreams(name, incarnation)) await bus.deleteStream(stream.name);
}

/**
 * Reads the records of messages without a gap, and when they were kept at the latest. Messages are sent one after the other: a
 * message was kept when the one behind it had been sent, and what came after that is in those behind that one. `isLast`: with
 * others behind it, all of it was done with long ago, and each record counts as kept when its step ended.
 */
function dated(run: readonly number[], messages: JournalMessages, isLast: boolean): (JournalRecord & Dated)[] {
  const kept = recordsIn(run.map((number) => [number, messages.get(number) ?? []]));
  const records = kept.map(({ record, number }) => ({ number, ...unpacked(record) }));
  const steps = Map.groupBy(records, ({ kind, number }) => (kind === 'step' ? number : undefined));
  const keptByMs = new Map<number, number>();
  let [nextMs, sentMs] = [Infinity, Infinity];
  for (const at of isLast ? run.toReversed() : []) {
    const [step] = steps.get(at) ?? [];
    if (step?.kind === 'step') nextMs = step.endMs;
    if (isSentBefore(messages.get(at - 1), messages.get(at))) sentMs = nextMs;
    keptByMs.set(at - 2, sentMs);
  }
  return records.map(({ number, ...record }) => {
    const atOnceMs = isLast || record.kind === 'done' ? Infinity : record.endMs;
    return { ...record, keptByMs: keptByMs.get(number) ?? atOnceMs };
  });
}

type JournalMessages = ReadonlyMap<number, JournalRecords>;

/** What it has relayed says nothing of what it has had. */
function stepsIn(records: readonly (JournalRecord & Dated)[]): StepLeft[] {
  return records.filter((record) => record.kind !== 'done').filter((step) => step.kind === 'step' || !step.isRelayed);
}

/** One that has come, or come back, is stated by the step with which it came, even where it has left everything in that. */
function departuresIn(records: readonly JournalRecord[]): Pick<JournalLeft, 'departed' | 'relayed'> {
  const departed = new Map<string, number>();
  const relayed = new Map<string, number>();
  for (const record of records) {
    if (record.kind === 'released') {
      const left = record.isRelayed ? relayed : departed;
      for (const { kind, id } of effectsIn(asBuffer(record.step.effects))) left.set(`${kind} ${id}`, record.sequence);
    }
    if (record.kind !== 'step' || departed.size + relayed.size === 0) continue;
    for (const { kind, id, place } of effectsIn(asBuffer(record.step.effects))) {
      if (place.at === 'elsewhere') continue;
      departed.delete(`${kind} ${id}`);
      relayed.delete(`${kind} ${id}`);
    }
  }
  return { departed, relayed };
}

/** The objects of which steps tell. */
export function statedIn(steps: readonly PackedStep[]): Readonly<Record<ObjectKind, ReadonlySet<string>>> {
  const objects = { provider: new Set<string>(), trackable: new Set<string>() };
  for (const step of steps) {
    let isNamedByLocation = false;
    for (const { kind, id } of effectsIn(asBuffer(step.effects))) {
      if (id === undefined) isNamedByLocation = true;
      else objects[kind].add(id);
    }
    if (isNamedByLocation) for (const { providerId } of locationsIn(step)) objects.provider.add(providerId);
  }
  return objects;
}

function unpacked(record: Uint8Array): JournalRecord {
  return unpackJournalRecord(zstdDecompressSync(record));
}

/** What was kept in an owner's last seconds may not have come to all who wanted to hear of it. */
const UNTOLD_MS = 5000;

/**
 * The last fence events that an incarnation has recorded, in order: to be announced again, as nobody knows who has got them.
 * Whoever has got an object from it has seen to it that all heard before what it had said of that. `isPending`: whether an
 * object, as "kind id", that was released because of a record has not arrived.
 */
export function lastFenceEvents(
  of: string,
  { earlier, steps, released }: Pick<JournalLeft, 'earlier' | 'steps' | 'released'>,
  isPending: (name: string, sequence: number) => boolean,
): FenceEventLeft[] {
  const all = [...earlier, ...steps];
  const latestMs = all.reduce((latest, { endMs }) => Math.max(latest, endMs), 0);
  const own = released.filter(({ isRelayed }) => !isRelayed);
  const sequences = new Map<unknown, number>(own.map((record) => [record, record.sequence]));
  const left = new Set<FenceEventLeft>();
  let told = new Set<string>();
  let leftMs = Number.NaN;
  const drop = (): void => {
    if (told.size === 0) return;
    for (const each of left) if (told.has(objectOfFenceEvent(each.event[0]).join(' '))) left.delete(each);
    told = new Set();
  };
  for (const record of all.filter(({ keptByMs }) => keptByMs >= latestMs - UNTOLD_MS)) {
    const { endMs, step, fenceEvents = [] } = record;
    const sequence = sequences.get(record);
    // What has left comes before the step with which it did: that ends at the same time, and has no record if it says nothing.
    if (endMs !== leftMs) drop();
    if (sequence !== undefined) {
      leftMs = endMs;
      for (const { kind, id } of effectsIn(asBuffer(step.effects))) {
        if (!isPending(`${kind} ${id}`, sequence)) told.add(`${kind} ${id}`);
      }
      continue;
    }
    for (const event of fenceEvents) left.add({ event, recordedMs: endMs, of });
    drop();
  }
  drop();
  return [...left];
}

/** A location that nobody has answered was recorded in the last seconds of its owner: until then it was asked for again. */
const LATEST_MS = 10_000;

/**
 * The locations that owners before have recorded at last. A front door that has handed them in and got no answer hands them
 * to the next owner, where they count as processed.
 *
 * A location is known by all that was sent, and by when it was true. Of two that do not differ in any of that the second
 * changes nothing, so it does not matter which of them was recorded.
 */
export class RecordedLocations {
  readonly #steps: readonly StepLeft[];
  /** Made when somebody asks: hardly anybody does. */
  #keys: Set<string> | undefined;

  constructor(steps: readonly StepLeft[]) {
    const latestMs = steps.reduce((latest, { endMs }) => Math.max(latest, endMs), 0);
    this.#steps = steps.filter(({ endMs }) => endMs >= latestMs - LATEST_MS);
  }

  /** Runs, with times of day, without what is recorded. Those that stay as they are are not copied. */
  without(runs: readonly CountedRun[]): readonly CountedRun[] {
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
        keys.add(keyOf(location, eventTimeOfDay(location.generatedMs, step.setBacks ?? [])));
      }
    }
    return keys;
  }
}

function keyOf({ source, crs, content }: ReceivedLocation, generatedMs: number): string {
  return `${generatedMs} ${crs} ${content} ${source}`;
}
