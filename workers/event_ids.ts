// hot: runs for each event of a fence or a collision

import { createHash, randomFillSync } from 'node:crypto';

const RANDOM_BYTES = 16;
/** Number of ids for which random bytes are generated at once. */
const IDS = 128;
/** Offset of each byte's two digits in the string, which also contains dashes. */
const PLACES = Uint8Array.of(0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34);
/** 00 to ff as two characters, the first digit in the low byte. */
const TWO_DIGITS = Uint16Array.from({ length: 256 }, (_, byte) => {
  return Buffer.from(byte.toString(16).padStart(2, '0')).readUInt16LE();
});

const random = new Uint8Array(IDS * RANDOM_BYTES);
let used = random.length;
const text = Buffer.alloc(36, '-');
const view = new DataView(text.buffer, text.byteOffset);

/**
 * Returns a random UUID, like Node's randomUUID, but as a flat string. Node's string is a rope of some twenty strings.
 * Flattening it when the event is written takes longer than this whole function and creates more garbage.
 */
export function newEventId(): string {
  if (used === random.length) {
    randomFillSync(random);
    used = 0;
  }
  for (let i = 0; i < RANDOM_BYTES; i++) view.setUint16(PLACES[i]!, TWO_DIGITS[random[used + i]!]!, true);
  // Version 4, and the variant of RFC 9562.
  view.setUint16(PLACES[6]!, TWO_DIGITS[(random[used + 6]! & 0x0f) | 0x40]!, true);
  view.setUint16(PLACES[8]!, TWO_DIGITS[(random[used + 8]! & 0x3f) | 0x80]!, true);
  used += RANDOM_BYTES;
  return text.toString('latin1');
}

/** Returns a UUID of version 8 that is derived from a name: equal names yield equal ids. */
export function namedEventId(name: string): string {
  const digits = createHash('sha256').update(name).digest('hex');
  const variant = ((Number.parseInt(digits.charAt(16), 16) & 0x3) | 0x8).toString(16);
  const parts = [digits.slice(0, 8), digits.slice(8, 12), `8${digits.slice(13, 16)}`];
  return [...parts, `${variant}${digits.slice(17, 20)}`, digits.slice(20, 32)].join('-');
}
