/**
 * Names as numbers: ids of providers and names of sources, in a hash table with open addressing (FNV-1a over words).
 * The host caches facts by number and need not create a string. A full table must be reset, which restarts the numbers.
 */

/** In memory: the slots of the table, then the names, each after its number of bytes. */
const TABLE: usize = 0x900000;
const SLOTS: u32 = 1 << 18;
const SLOT_BYTES: usize = 8;
export const NAMES_MAX: u32 = 1 << 17;
/** Maximum steps of a search, even for maliciously chosen names. */
const PROBES_MAX: i32 = 128;
/** Offsets of the names, by number. */
const PLACES: usize = TABLE + <usize>SLOTS * SLOT_BYTES;
const BYTES: usize = PLACES + <usize>NAMES_MAX * 4;
const BYTES_END: usize = 0x1000000;

export const NO_NAME: u32 = 0xffffffff;

let count: u32 = 0;
let used: usize = BYTES;
let isFull: bool = false;

/** Returns the number of a name; NO_NAME if it has none and there is no room. */
export function numberOf(at: usize, length: i32): u32 {
  const hash = hashOf(at, length);
  let slot = hash & (SLOTS - 1);
  let place = TABLE + <usize>slot * SLOT_BYTES;
  let known = load<u32>(place);
  for (let probes = 1; known !== 0; probes++) {
    if (load<u32>(place + 4) === hash && isName(known - 1, at, length)) return known - 1;
    if (probes === PROBES_MAX) return NO_NAME;
    slot = (slot + 1) & (SLOTS - 1);
    place = TABLE + <usize>slot * SLOT_BYTES;
    known = load<u32>(place);
  }
  if (count === NAMES_MAX || used + 4 + <usize>length > BYTES_END) {
    isFull = true;
    return NO_NAME;
  }
  store<u32>(place, count + 1);
  store<u32>(place + 4, hash);
  store<u32>(PLACES + <usize>count * 4, <u32>used);
  store<i32>(used, length);
  memory.copy(used + 4, at, length);
  used = (used + 4 + <usize>length + 3) & ~3;
  count++;
  return count - 1;
}

/** Whether a name found no room. */
export function areNamesFull(): bool {
  return isFull;
}

/** Number of names. */
export function nameCount(): u32 {
  return count;
}

/** Returns the offset of a name: its number of bytes, as a word, then the bytes. */
export function placeOfName(number: u32): usize {
  return load<u32>(PLACES + <usize>number * 4);
}

export function forgetNames(): void {
  memory.fill(TABLE, 0, <usize>SLOTS * SLOT_BYTES);
  count = 0;
  used = BYTES;
  isFull = false;
}

function isName(number: u32, at: usize, length: i32): bool {
  const name = placeOfName(number);
  if (load<i32>(name) !== length) return false;
  let left = length;
  let own = name + 4;
  let other = at;
  while (left >= 4) {
    if (load<u32>(own) !== load<u32>(other)) return false;
    own += 4;
    other += 4;
    left -= 4;
  }
  return left === 0 || rest(own, left) === rest(other, left);
}

function hashOf(at: usize, length: i32): u32 {
  let hash: u32 = 0x811c9dc5 ^ <u32>length;
  let place = at;
  let left = length;
  while (left >= 4) {
    hash = (hash ^ load<u32>(place)) * 0x01000193;
    hash ^= hash >>> 15;
    place += 4;
    left -= 4;
  }
  if (left > 0) hash = (hash ^ rest(place, left)) * 0x01000193;
  hash ^= hash >>> 13;
  hash *= 0x2c1b3c6d;
  return hash ^ (hash >>> 16);
}

/** Returns the last bytes of a name, fewer than four. Bytes after it are read and masked out. */
function rest(at: usize, length: i32): u32 {
  return load<u32>(at) & (((<u32>1) << ((<u32>length) << 3)) - 1);
}
