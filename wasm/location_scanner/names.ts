/**
 * Names as numbers: ids of providers and names of sources, in a hash table with open addressing (FNV-1a over words). Who
 * gets a number can look up by it what it knows of the name, and need not make a text of it. A full table is to be emptied,
 * and all numbers begin anew.
 */

/** In the memory: places of the table, and behind it the bytes of the names, each behind its number of bytes. */
const TABLE: usize = 0x900000;
const SLOTS: u32 = 1 << 18;
const SLOT_BYTES: usize = 8;
export const NAMES_MAX: u32 = 1 << 17;
/** A search takes no more steps, whatever names somebody has made up. */
const PROBES_MAX: i32 = 128;
/** Where the bytes of each name are, by its number. */
const PLACES: usize = TABLE + <usize>SLOTS * SLOT_BYTES;
const BYTES: usize = PLACES + <usize>NAMES_MAX * 4;
const BYTES_END: usize = 0x1000000;

export const NO_NAME: u32 = 0xffffffff;

let count: u32 = 0;
let used: usize = BYTES;
let isFull: bool = false;

/** The number of a name; NO_NAME where it has none and there is no room for more. */
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

/** Whether there was no room for a name. */
export function areNamesFull(): bool {
  return isFull;
}

/** How many names have a number. */
export function nameCount(): u32 {
  return count;
}

/** Where a name is: its number of bytes, as a word, then these. */
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

/** The last bytes of a name, fewer than four. Bytes behind it are read, and left out. */
function rest(at: usize, length: i32): u32 {
  return load<u32>(at) & (((<u32>1) << ((<u32>length) << 3)) - 1);
}
