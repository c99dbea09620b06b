// hot: run for each location that is sent
/**
 * The updates that Tile38 gets, in its own protocol (RESP): one SET per location, with the time at which it was due as a
 * field, so that the event brings it back. Coordinates and times stand in slots of fixed width, as in bodies for the hub.
 */
import { COORDINATE_BYTES, type Slots, type Stamp } from './slots.ts';

/** Collection of Tile38 that stores the objects and that its fences watch. */
export const COLLECTION = 'fleet';
/** The field that has the time at which an update was due, in microseconds since 1970. */
export const DUE_FIELD = 'due';

const DECIMALS = 7;
const [ZERO, POINT, PLUS, MINUS] = [0x30, 0x2e, 0x2b, 0x2d];
const COORDINATE = '+000.0000000';
const DUE = '0'.repeat(16);
const PING = respCommand('PING');

/** A command as a client sends it: an array of texts of known length. */
export function respCommand(...words: readonly string[]): string {
  return `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`;
}

/** Commands as one pipeline. The PING after them is answered after all of them. */
export function pipelineOf(commands: readonly string[]): Buffer {
  return Buffer.from(commands.join('') + PING);
}

/** A pipeline that sets the objects of the providers, and its slots. `ids` are theirs, in the same order. */
export function setPipeline(
  providers: readonly number[],
  ids: readonly string[],
): { readonly bytes: Buffer; readonly slots: readonly Slots[] } {
  const commands = ids.map((id) =>
    respCommand('SET', COLLECTION, id, 'FIELD', DUE_FIELD, DUE, 'POINT', COORDINATE, COORDINATE),
  );
  let from = 0;
  const slots = commands.map((command, i): Slots => {
    const stampAt = from + command.indexOf(DUE);
    const latAt = from + command.indexOf(COORDINATE);
    const lonAt = from + command.lastIndexOf(COORDINATE);
    from += command.length;
    return { stampAt, latAt, lonAt, provider: providers[i]! };
  });
  return { bytes: pipelineOf(commands), slots };
}

/** Writes into the slots of an object where it is, in units of 10^-7 degrees, and when that was due. */
export function writeSet(
  bytes: Buffer,
  { lonAt, latAt, stampAt }: Slots,
  lon: number,
  lat: number,
  stamp: Stamp,
): void {
  writeSigned(bytes, lonAt, lon);
  writeSigned(bytes, latAt, lat);
  bytes.set(stamp.micros, stampAt);
}

/** Writes degrees with a sign and leading zeros: Tile38 takes no blanks before a number, as JSON does. */
function writeSigned(bytes: Buffer, offset: number, units: number): void {
  let rest = units < 0 ? -units : units;
  const pointAt = offset + COORDINATE_BYTES - 1 - DECIMALS;
  for (let at = offset + COORDINATE_BYTES - 1; at > offset; at--) {
    if (at === pointAt) continue;
    const tenth = (rest / 10) | 0;
    bytes[at] = ZERO + rest - tenth * 10;
    rest = tenth;
  }
  bytes[pointAt] = POINT;
  bytes[offset] = units < 0 ? MINUS : PLUS;
}
