// hot: run for each location that is sent
/**
 * Bodies are created once, as bytes. Values that change with each message are in slots of fixed width and are
 * overwritten: a coordinate in COORDINATE_BYTES, right-aligned after spaces, which JSON permits before a number, and a
 * time in STAMP_BYTES.
 */

/** Width of a coordinate: sign, three digits, point, seven digits. */
export const COORDINATE_BYTES = 12;
/** Width of a time: `2026-11-20T10:00:00.123456Z`. */
export const STAMP_BYTES = 27;

/** Placeholders for a coordinate and for a time until a body is first sent. */
export const COORDINATE_SLOT = '0'.padStart(COORDINATE_BYTES);
export const STAMP_SLOT = '2000-01-01T00:00:00.000000Z';

const DECIMALS = 7;
const [ZERO, BLANK, POINT, MINUS] = [0x30, 0x20, 0x2e, 0x2d];

/** Writes degrees, given in units of 10^-7, between -180 and 180. */
export function writeCoordinate(bytes: Buffer, offset: number, units: number): void {
  let rest = units < 0 ? -units : units;
  let at = offset + COORDINATE_BYTES - 1;
  for (let decimal = 0; decimal < DECIMALS; decimal++) {
    const tenth = (rest / 10) | 0;
    bytes[at--] = ZERO + rest - tenth * 10;
    rest = tenth;
  }
  bytes[at--] = POINT;
  do {
    const tenth = (rest / 10) | 0;
    bytes[at--] = ZERO + rest - tenth * 10;
    rest = tenth;
  } while (rest > 0);
  if (units < 0) bytes[at--] = MINUS;
  while (at >= offset) bytes[at--] = BLANK;
}

/** Time of a message as bytes, shared by all its locations. The string of the current second is cached. */
export class Stamp {
  readonly bytes: Buffer = Buffer.from(STAMP_SLOT);
  /** The same time as microseconds since 1970, in sixteen digits. */
  readonly micros: Buffer = Buffer.alloc(16);
  #second = -1;

  /**
   * Sets the time, in whole microseconds since 1970. The hub returns six digits only if the time is not a whole number
   * of milliseconds, so whole milliseconds are avoided.
   */
  set(timeUs: number): void {
    const second = Math.floor(timeUs / 1e6);
    if (second !== this.#second) {
      this.bytes.write(new Date(second * 1000).toISOString().slice(0, 20), 0, 'latin1');
      this.micros.write(String(second).padStart(10, '0'), 0, 'latin1');
      this.#second = second;
    }
    let rest = timeUs - second * 1e6;
    if (rest % 1000 === 0) rest += 1;
    for (let at = 25; at >= 20; at--) {
      const tenth = (rest / 10) | 0;
      this.bytes[at] = ZERO + rest - tenth * 10;
      rest = tenth;
    }
    this.bytes.copy(this.micros, 10, 20, 26);
  }
}

/** Offsets of the slots of one location, and its provider. */
export interface Slots {
  readonly stampAt: number;
  readonly lonAt: number;
  readonly latAt: number;
  readonly provider: number;
}

/** Finds the slots of the locations in a body, in order. `providers` lists their providers. */
export function findSlots(bytes: Buffer, providers: readonly number[]): Slots[] {
  let from = 0;
  const next = (slot: string): number => {
    const at = bytes.indexOf(slot, from, 'latin1');
    if (at < 0) throw new Error(`A body has too few slots: there is no ${JSON.stringify(slot)} after byte ${from}`);
    from = at + slot.length;
    return at;
  };
  return providers.map((provider) => {
    const lonAt = next(COORDINATE_SLOT);
    const latAt = next(COORDINATE_SLOT);
    return { lonAt, latAt, stampAt: next(STAMP_SLOT), provider };
  });
}

/** Writes the position, in units of 10^-7 degrees, and the time into the slots of a location. */
export function writeLocation(
  bytes: Buffer,
  { lonAt, latAt, stampAt }: Slots,
  lon: number,
  lat: number,
  stamp: Stamp,
): void {
  writeCoordinate(bytes, lonAt, lon);
  writeCoordinate(bytes, latAt, lat);
  bytes.set(stamp.bytes, stampAt);
}
