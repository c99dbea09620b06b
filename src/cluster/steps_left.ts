import { zstdDecompressSync } from 'node:zlib';
import type { ReceivedLocation } from '../core/location/received.ts';
import { timeOfDay } from '../model/set_back.ts';
import { type JournalRecord, unpackJournalRecord } from '../wire/journal_record.ts';
import { locationsOf } from '../wire/location_record.ts';
import { locationsIn } from '../wire/messages.ts';
import type { CountedRun } from '../wire/received_run.ts';
import type { Bus } from './bus.ts';
import { readJournal } from './hub_journal.ts';
import { JournalFormatError } from './journal_message.ts';
import { journalPlaces, journalStreams } from './journal_places.ts';
import { recordsOf } from './record_pieces.ts';

/** A step that an incarnation has left behind in its journal. */
export type StepLeft = Pick<JournalRecord & { readonly kind: 'step' }, 'endMs' | 'step'>;

/** What an incarnation has left behind. */
export interface JournalLeft {
  /** What is not in the state. */
  readonly steps: readonly StepLeft[];
  /** What is, as far as it is still there. */
  readonly earlier: readonly StepLeft[];
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
  const recordsFrom = (first: number): Uint8Array[] =>
    runs.flatMap((run) => recordsOf(run.flatMap((number) => (number < first ? [] : (messages.get(number) ?? [])))));
  const all = recordsFrom(0).map(unpacked);
  const upTo = all.reduce((most, record) => Math.max(most, record.kind === 'done' ? record.upTo : -1), -1);
  const last = numbers.at(-1) ?? -1;
  for (let number = upTo + 1; number <= last; number++) {
    if (!messages.has(number)) throw new JournalFormatError(`Message ${number} of journal "${journal}" is missing`);
  }
  const earlier = all.length - recordsFrom(upTo + 1).length;
  return {
    steps: stepsIn(all.slice(earlier)),
    earlier: stepsIn(all.slice(0, earlier)),
    config: all.reduce((latest, record) => Math.max(latest, record.config), 0),
  };
}

/** Deletes the streams of an incarnation; they may be gone already. */
export async function dropIncarnation(bus: Bus, name: string, incarnation: string): Promise<void> {
  for (const stream of journalStreams(name, incarnation)) await bus.deleteStream(stream.name);
}

function stepsIn(records: readonly JournalRecord[]): StepLeft[] {
  return records.filter((record) => record.kind === 'step');
}

function unpacked(record: Uint8Array): JournalRecord {
  return unpackJournalRecord(zstdDecompressSync(record));
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
        keys.add(keyOf(location, timeOfDay(location.generatedMs, step.setBacks ?? [])));
      }
    }
    return keys;
  }
}

function keyOf({ source, crs, content }: ReceivedLocation, generatedMs: number): string {
  return `${generatedMs} ${crs} ${content} ${source}`;
}
