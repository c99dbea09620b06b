import { zstdDecompressSync } from 'node:zlib';
import type { StreamSettings } from '../../../src/cluster/bus.ts';
import { type ConfigBody, unpackRecord } from '../../../src/cluster/config_record.ts';
import { journalMessage } from '../../../src/cluster/journal_message.ts';
import { recordsOf } from '../../../src/cluster/record_pieces.ts';
import { lend } from '../../../src/model/borrowed.ts';
import { unpackLaneRecord } from '../../../src/wire/lane_record.ts';
import { SimulatedCluster } from '../simulated_bus.ts';
import type { SimulatedStream } from '../simulated_stream.ts';

/** A lane of an incarnation, as it was kept: whatever was removed of it later. */
class KeptLane {
  /** By number; kept in A, or in B, or in both. */
  readonly #messages = new Map<number, readonly Uint8Array[]>();
  readonly seals = new Set<string>();

  /** How many steps are in it. */
  get steps(): number {
    const numbers = [...this.#messages.keys()].sort((a, b) => a - b);
    const pieces = numbers.flatMap((number) => this.#messages.get(number) ?? []);
    return recordsOf(pieces).filter((record) => unpackLaneRecord(zstdDecompressSync(record)).kind === 'step').length;
  }

  keep(number: number, records: readonly Uint8Array[]): void {
    if (!this.#messages.has(number)) this.#messages.set(number, records);
  }
}

/** Sees what the servers keep, in the moment in which they do. */
export class WitnessedCluster extends SimulatedCluster {
  readonly wrongs: string[] = [];
  /** The records of the configuration, by sequence less one. */
  readonly config: ConfigBody[] = [];
  /** Who has recorded steps, in this order. */
  readonly owners: string[] = [];
  /** By incarnation and shard. */
  readonly #lanes = new Map<string, KeptLane>();

  override addStream(settings: StreamSettings): SimulatedStream {
    const stream = super.addStream(settings);
    const append = stream.append.bind(stream);
    stream.append = (entry) => {
      const appended = append(entry);
      if (appended.at !== 'kept') return appended;
      const [, kind, incarnation = '', place = '', shard = '0'] = entry.subject.split('.');
      for (const bytes of entry.messages) {
        if (kind === 'cfg') this.config.push(unpackRecord(lend(bytes), appended.sequence).body);
        if (kind === 'j') this.#keep(bytes, { incarnation, place, shard: Number(shard) });
      }
      return appended;
    };
    return stream;
  }

  /** How many steps a shard of an incarnation has recorded. */
  steps(incarnation: string, shard: number): number {
    return this.#lanes.get(`${incarnation} ${shard}`)?.steps ?? 0;
  }

  /** The sequence of the record that has ended the membership of an incarnation. */
  endOf(incarnation: string): number | undefined {
    const at = this.config.findIndex((body) => {
      return (body.kind === 'expel' || body.kind === 'leave') && body.incarnation === incarnation;
    });
    return at < 0 ? undefined : at + 1;
  }

  #keep(bytes: Uint8Array, { incarnation, place, shard }: { incarnation: string; place: string; shard: number }): void {
    const key = `${incarnation} ${shard}`;
    let lane = this.#lanes.get(key);
    if (lane === undefined) {
      lane = new KeptLane();
      this.#lanes.set(key, lane);
    }
    const message = journalMessage(bytes);
    if (message.kind === 'seal') {
      lane.seals.add(place);
      return;
    }
    if (lane.seals.has(place)) this.wrongs.push(`${key}: message ${message.number} is behind the seal of ${place}`);
    lane.keep(message.number, message.records);
    if (message.records.length === 0 || this.owners.at(-1) === incarnation) return;
    if (this.owners.includes(incarnation)) this.wrongs.push(`${incarnation} records behind ${this.owners.at(-1)}`);
    for (const owner of this.owners) if (!this.#isSealed(owner)) this.wrongs.push(`${owner} was not sealed`);
    this.owners.push(incarnation);
  }

  #isSealed(incarnation: string): boolean {
    return [...this.#lanes].every(([key, { seals }]) => !key.startsWith(`${incarnation} `) || seals.size === 2);
  }
}
