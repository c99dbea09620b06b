import { zstdDecompressSync } from 'node:zlib';
import type { StreamSettings } from '../../../src/cluster/nats/bus.ts';
import { type ConfigBody, unpackRecord } from '../../../src/cluster/config/config_record.ts';
import { journalMessage } from '../../../src/cluster/journal/journal_message.ts';
import { recordsOf } from '../../../src/cluster/journal/record_pieces.ts';
import { lend } from '../../../src/model/borrowed.ts';
import { readStoredRecord } from '../../../src/wire/journal_record.ts';
import { SimulatedCluster } from '../simulated_bus.ts';
import type { SimulatedStream } from '../simulated_stream.ts';
import { LogOwners } from './log_owners.ts';
import { recordText } from './thread.ts';

/** Streams of a journal. Messages are in both, or in one while the other cannot be reached. */
const PLACES = 2;

/** Complete journal of an incarnation, including messages that were removed later. */
class KeptJournal {
  /** By number; stored in A, in B, or in both. */
  readonly #messages = new Map<number, readonly Uint8Array[]>();
  readonly seals = new Set<string>();
  /** Time of the second seal; Infinity before. */
  sealedAtMs = Infinity;

  /** Its records, including those of steps, as strings. */
  get steps(): ReadonlySet<string> {
    return new Set(this.#records.map(recordText));
  }

  get #records(): readonly Uint8Array[] {
    const numbers = [...this.#messages.keys()].sort((a, b) => a - b);
    return recordsOf(numbers.flatMap((number) => this.#messages.get(number) ?? []));
  }

  /** Last record of the configuration log that is reported as evaluated. */
  get evaluated(): number {
    return Math.max(0, ...this.#records.map((record) => readStoredRecord(record, zstdDecompressSync).config));
  }

  keep(number: number, records: readonly Uint8Array[]): void {
    if (!this.#messages.has(number)) this.#messages.set(number, records);
  }
}

function isStep(record: Uint8Array): boolean {
  return readStoredRecord(record, zstdDecompressSync).kind === 'step';
}

/** Observes everything that the servers store, at the time of storing. */
export class WitnessedCluster extends SimulatedCluster {
  readonly wrongs: string[] = [];
  /** The records of the configuration, by sequence less one. */
  readonly config: ConfigBody[] = [];
  /** Ownership after the last record. */
  readonly owning = new LogOwners();
  /** Incarnations that have recorded steps, in this order. */
  readonly owners: string[] = [];
  /** By incarnation. */
  readonly #journals = new Map<string, KeptJournal>();

  override addStream(settings: StreamSettings): SimulatedStream {
    const stream = super.addStream(settings);
    const append = stream.append.bind(stream);
    stream.append = (entry) => {
      const appended = append(entry);
      if (appended.at !== 'committed') return appended;
      const [, kind, incarnation = '', place = ''] = entry.subject.split('.');
      for (const bytes of entry.messages) {
        if (kind === 'cfg') this.#apply(unpackRecord(lend(bytes), appended.sequence).body);
        if (kind === 'j') this.#keep(bytes, { incarnation, place });
      }
      return appended;
    };
    return stream;
  }

  /** Records of steps that an incarnation has stored, see recordText. */
  steps(incarnation: string): ReadonlySet<string> {
    return this.#journals.get(incarnation)?.steps ?? new Set();
  }

  /** Last record of the configuration log that an incarnation has reported as evaluated in its steps. */
  evaluated(incarnation: string): number {
    return this.#journals.get(incarnation)?.evaluated ?? 0;
  }

  /** The sequence of the record that has ended the membership of an incarnation. */
  endOf(incarnation: string): number | undefined {
    const at = this.config.findIndex((body) => {
      return (body.kind === 'expel' || body.kind === 'leave') && body.incarnation === incarnation;
    });
    return at < 0 ? undefined : at + 1;
  }

  /** Time at which the journal of an incarnation was sealed, which blocks further appends; Infinity if it is open. */
  sealedAtMs(incarnation: string): number {
    return this.#journals.get(incarnation)?.sealedAtMs ?? Infinity;
  }

  #apply(body: ConfigBody): void {
    this.config.push(body);
    this.owning.apply(body);
  }

  #keep(bytes: Uint8Array, { incarnation, place }: { incarnation: string; place: string }): void {
    const journal = this.#journals.get(incarnation) ?? new KeptJournal();
    this.#journals.set(incarnation, journal);
    const message = journalMessage(bytes);
    if (message.kind === 'seal') {
      journal.seals.add(place);
      if (journal.seals.size === PLACES) journal.sealedAtMs = Math.min(journal.sealedAtMs, this.clock.nowMs);
      return;
    }
    if (journal.seals.has(place))
      this.wrongs.push(`${incarnation}: message ${message.number} follows the seal of ${place}`);
    journal.keep(message.number, message.records);
    const isKnown = this.owners.at(-1) === incarnation || (this.owning.areSeveral && this.owners.includes(incarnation));
    // A hub without partitions may report that its barriers have completed.
    if (isKnown || !recordsOf(message.records).some(isStep)) return;
    if (this.owning.areSeveral) {
      this.owners.push(incarnation);
      return;
    }
    if (this.owners.includes(incarnation)) this.wrongs.push(`${incarnation} records after ${this.owners.at(-1)}`);
    for (const owner of this.owners)
      if (this.sealedAtMs(owner) === Infinity) this.wrongs.push(`${owner} was not sealed`);
    this.owners.push(incarnation);
  }
}
