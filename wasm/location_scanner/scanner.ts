import { FAIL, skipBlanks } from './json';
import { beginRecords, readLocation, recordsEnd, setUp } from './location';

/**
 * Reads bodies of locations: see location.ts. Compiled to WebAssembly by `npm run build:wasm`; src/ has the interface.
 *
 * The memory, in bytes: what the compiler keeps, then the id of the path, the text that is read, the records that are
 * made of it, and the names.
 */

/** Where the text is put, and how long it may be. */
export const INPUT: usize = 0x10000;
export const INPUT_MAX: i32 = 0x80000;
/** Where the id of a request's path is put, in quotes. */
export const PATH: usize = 0x8000;
/** Where the records begin. */
export const RECORDS: usize = 0x100000;

export { forgetNames, nameCount, placeOfName } from './names';
export { recordsEnd, setUp };

/** Reads a list of locations. Returns how many there are; -1 where it is for the parser to read. */
export function readList(length: i32, receivedMs: f64): i32 {
  beginRecords();
  const end = endOf(length);
  let at = skipBlanks(INPUT);
  if (load<u8>(at) !== 0x5b) return -1;
  at = skipBlanks(at + 1);
  let count = 0;
  if (load<u8>(at) === 0x5d) at++;
  else {
    let byte: u32 = 0x2c;
    while (byte === 0x2c) {
      at = readLocation(at, receivedMs, 0, 0);
      if (at === FAIL) return -1;
      count++;
      at = skipBlanks(at);
      byte = load<u8>(at);
      at++;
      if (byte === 0x2c) at = skipBlanks(at);
    }
    if (byte !== 0x5d) return -1;
  }
  return skipBlanks(at) === end ? count : -1;
}

/** Reads one location, of the provider whose id is at PATH, in quotes. Returns 1, or -1 as readList does. */
export function readOne(length: i32, receivedMs: f64, pathLength: i32): i32 {
  beginRecords();
  const end = endOf(length);
  const at = readLocation(skipBlanks(INPUT), receivedMs, PATH, pathLength);
  return at !== FAIL && skipBlanks(at) === end ? 1 : -1;
}

/** What is behind the text ends it. */
function endOf(length: i32): usize {
  const end = INPUT + <usize>length;
  store<u64>(end, 0);
  return end;
}
