import { Packr, RESET_BUFFER_MODE } from 'msgpackr';
import { type Borrowed, look } from '../../model/borrowed.ts';
import { PARTITIONS } from '../../shards/affinity.ts';
import type { Heartbeat } from './members.ts';

/**
 * Messages in which members report their own state, as msgpack:
 *
 *   heartbeat   [version, incarnation, applied, clockMs, room, [partition, load, partition, load, …]]
 *   applied     [version, incarnation, sequence]
 *
 * A receiver ignores a message that it cannot read. These messages only decide when a member is suspected.
 */
const VERSION = 1;

/** Configuration sequence that a member has applied, sent between its heartbeats. */
export interface Applied {
  readonly incarnation: string;
  readonly sequence: number;
}

/** A message is malformed or has another version. */
export class HeartbeatError extends Error {
  override name = 'BeatError';
}

const packr = new Packr({ useRecords: false, useToJSON: false });

/** Leaves out invalid loads and room, because a heartbeat must arrive whatever a hub measures. */
export function packHeartbeat({ incarnation, applied, clockMs, room, loads }: Heartbeat): Uint8Array {
  const pairs = [...loads].filter((pair) => isPairs(pair)).flat();
  return packed([VERSION, incarnation, applied, clockMs, isAmount(room) ? room : 0, pairs]);
}

/** Reads a heartbeat. Throws a HeartbeatError that names the field and the value found. */
export function unpackHeartbeat(bytes: Borrowed): Heartbeat {
  const [incarnation, applied, clockMs, room, loads] = unpacked('a beat', bytes, [
    ['incarnation', isText],
    ['applied', isCount],
    ['clockMs', Number.isFinite],
    ['room', isAmount],
    ['loads', isPairs],
  ]) as [string, number, number, number, readonly number[]];
  const pairs = new Map<number, number>();
  for (let i = 0; i < loads.length; i += 2) pairs.set(loads[i] ?? 0, loads[i + 1] ?? 0);
  return { incarnation, applied, clockMs, room, loads: pairs };
}

export function packApplied({ incarnation, sequence }: Applied): Uint8Array {
  return packed([VERSION, incarnation, sequence]);
}

/** Reads an applied sequence. Throws a HeartbeatError that names the field and the value found. */
export function unpackApplied(bytes: Borrowed): Applied {
  const [incarnation, sequence] = unpacked('what a member has applied', bytes, [
    ['incarnation', isText],
    ['sequence', isCount],
  ]) as [string, number];
  return { incarnation, sequence };
}

type FieldCheck = readonly [field: string, fits: (value: unknown) => boolean];

function packed(values: readonly unknown[]): Uint8Array {
  return new Uint8Array(packr.pack(values, RESET_BUFFER_MODE));
}

function unpacked(what: string, bytes: Borrowed, shapes: readonly FieldCheck[]): readonly unknown[] {
  let list: unknown;
  try {
    list = packr.unpack(look(bytes));
  } catch (cause) {
    throw new HeartbeatError(`Cannot read ${what}: ${look(bytes).length} bytes are not msgpack`, { cause });
  }
  if (!Array.isArray(list)) throw new HeartbeatError(`Cannot read ${what}: it is not a list`);
  const checks: readonly FieldCheck[] = [['version', (value) => value === VERSION], ...shapes];
  for (const [at, [field, fits]] of checks.entries()) {
    if (fits(list[at])) continue;
    throw new HeartbeatError(`Cannot read ${what}: ${field} does not fit, found ${shown(list[at])}`);
  }
  return list.slice(1);
}

const SHOWN_MAX = 100;

function shown(value: unknown): string {
  const text = typeof value === 'bigint' ? `${value}` : (JSON.stringify(value) ?? 'nothing');
  return text.length <= SHOWN_MAX ? text : `${text.slice(0, SHOWN_MAX)}…`;
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isAmount(value: unknown): boolean {
  return Number.isFinite(value) && (value as number) >= 0;
}

/** Whether `value` lists partitions, each with its load. */
function isPairs(value: unknown): boolean {
  if (!Array.isArray(value) || value.length % 2 !== 0) return false;
  return value.every((each, at) => isAmount(each) && (at % 2 === 1 || (isCount(each) && each < PARTITIONS)));
}
