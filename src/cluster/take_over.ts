import { zstdDecompressSync } from 'node:zlib';
import { type LaneRecord, type PackedStep, unpackLaneRecord } from '../wire/lane_record.ts';
import type { Bus } from './bus.ts';
import { type JournalPlaces, readLane } from './journal_lane.ts';
import { JournalFormatError } from './journal_message.ts';
import { journalStreams, lanePlaces } from './lane_places.ts';
import { recordsOf } from './record_pieces.ts';

/**
 * What an incarnation has left behind in its journal: the steps that are not in the state.
 *
 * A lane says in a record `done` that everything up to some message is in the state, and is trimmed up to there some time
 * later. So what counts begins behind the last `done` that was kept, wherever the lane begins by now.
 */

/** A step. `order` rises from step to step of a lane, and says which of two steps of one incarnation came first. */
export type OrderedStep = Pick<LaneRecord & { readonly kind: 'step' }, 'order' | 'nowMs' | 'step'>;

/** The steps of each lane of one incarnation, in the lane's order. */
export type LanesLeft = readonly (readonly OrderedStep[])[];

export interface DeadIncarnation {
  readonly bus: Bus;
  /** Of the cluster. */
  readonly name: string;
  readonly incarnation: string;
  /** How many lanes it has. */
  readonly shards: number;
}

/**
 * Reads what the lanes of an incarnation hold that is not in the state. All of it lies in memory then, as it does in the
 * streams. Rejects with a BusError where they cannot be read, with a JournalFormatError where a lane is not sealed, or a
 * message is missing.
 */
export async function readLanes({ bus, name, incarnation, shards }: DeadIncarnation): Promise<LanesLeft> {
  const lanes: OrderedStep[][] = [];
  // One after the other: each is read as fast as the bus can.
  for (let shard = 0; shard < shards; shard++) {
    lanes.push(await readSteps(bus, lanePlaces(name, incarnation, shard)));
  }
  return lanes;
}

/** The steps of incarnations, one incarnation behind the other; of each the steps of all lanes by their order. */
export function stepsOf(incarnations: readonly LanesLeft[]): PackedStep[] {
  return incarnations.flatMap((lanes) => merged(lanes).map(({ step }) => step));
}

/** Deletes the streams of an incarnation; they may be gone already. */
export async function dropIncarnation(bus: Bus, name: string, incarnation: string): Promise<void> {
  for (const stream of journalStreams(name, incarnation)) await bus.deleteStream(stream.name);
}

async function readSteps(bus: Bus, places: JournalPlaces): Promise<OrderedStep[]> {
  const lane = places[0].subject;
  const { messages, isSealed } = await readLane(bus, places);
  if (!isSealed) throw new JournalFormatError(`Cannot take over lane "${lane}": it is not sealed`);
  const numbers = [...messages.keys()].sort((a, b) => a - b);
  const all = recordsOf(numbers.flatMap((number) => messages.get(number) ?? [])).map(unpacked);
  const upTo = all.reduce((most, record) => Math.max(most, record.kind === 'done' ? record.upTo : -1), -1);
  const last = numbers.at(-1) ?? -1;
  const pieces: Uint8Array[] = [];
  for (let number = upTo + 1; number <= last; number++) {
    const found = messages.get(number);
    if (found === undefined) throw new JournalFormatError(`Message ${number} of lane "${lane}" is missing`);
    pieces.push(...found);
  }
  return recordsOf(pieces)
    .map(unpacked)
    .filter((record) => record.kind === 'step');
}

function unpacked(record: Uint8Array): LaneRecord {
  return unpackLaneRecord(zstdDecompressSync(record));
}

/** Joins lanes by order, each in its own; of equal ones the lane with the smaller index comes first. */
function merged(lanes: LanesLeft): OrderedStep[] {
  const at = lanes.map(() => 0);
  const count = lanes.reduce((sum, { length }) => sum + length, 0);
  const next = (lane: number): OrderedStep | undefined => lanes[lane]?.[at[lane] as number];
  return Array.from({ length: count }, () => {
    let first = -1;
    for (let lane = 0; lane < lanes.length; lane++) {
      if ((next(lane)?.order ?? Infinity) < (next(first)?.order ?? Infinity)) first = lane;
    }
    const step = next(first) as OrderedStep;
    at[first] = (at[first] as number) + 1;
    return step;
  });
}
