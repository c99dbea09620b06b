// hot: run for each location that is sent
/**
 * Updates of Tile38 in its own protocol (RESP): one SET per location. Its due time is a field, so that the event
 * returns it. Coordinates and times are in slots of fixed width, as in bodies for the hub.
 */
import { COORDINATE_BYTES, type Slots, type Stamp } from './slots.ts';

/** Collection of Tile38 that stores the objects and that its fences watch. */
export const COLLECTION = 'fleet';
/** Field with the time at which an update was due, in microseconds since 1970. */
export const DUE_FIELD = 'due';

const DECIMALS = 7;
const [ZERO, POINT, PLUS, MINUS] = [0x30, 0x2e, 0x2b, 0x2d];
const COORDINATE = '+000.0000000';
const DUE = '0'.repeat(16);
const PING = respCommand('PING');

/** A command in the wire format of a client: an array of strings with their lengths. */
export function respCommand(...words: readonly string[]): string {
  return `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`;
}

/** Commands as one pipeline. The final PING is answered after all of them. */
export function pipelineOf(commands: readonly string[]): Buffer {
  return Buffer.from(commands.join('') + PING);
}

/**
 * A pipeline that sets the positions of the providers' objects, and its slots. `ids` are in the order of the providers.
 */
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

/** Writes the position, in units of 10^-7 degrees, and the due time into the slots of an object. */
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

/** Writes degrees with a sign and leading zeros: unlike JSON, Tile38 accepts no spaces before a number. */
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
