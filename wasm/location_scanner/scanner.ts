import {
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COMMA,
  FAIL,
  nameLength,
  OPEN_ARRAY,
  OPEN_OBJECT,
  separator,
  skipBlanks,
  skipName,
  skipSeparator,
} from './json';
import { beginRecords, readLocation, recordsEnd, setUp } from './location';

/**
 * Scans bodies of locations: see location.ts. Compiled to WebAssembly by `npm run build:wasm`; src/ has the interface.
 *
 * Memory layout: the compiler's data, then the id of the path, the input, its records, and the names.
 */

/** Offset and maximum length of the input. */
export const INPUT: usize = 0x10000;
export const INPUT_MAX: i32 = 0x80000;
/** Offset of the id in the request's path, in quotes. */
export const PATH: usize = 0x8000;
/** Offset of the first record. */
export const RECORDS: usize = 0x100000;

export { areNamesFull, forgetNames, NAMES_MAX, nameCount, placeOfName } from './names';
export { recordsEnd, setUp };

/** Number of locations since it was reset. */
let count = 0;

/** Reads a list of locations. Returns their number; -1 if the parser must read it. */
export function readList(length: i32, receivedMs: f64): i32 {
  beginRecords();
  const end = endOf(length);
  count = 0;
  const at = readItems(skipBlanks(INPUT), receivedMs);
  return at !== FAIL && skipBlanks(at) === end ? count : -1;
}

/**
 * Reads a WebSocket message that publishes locations, with event, topic and payload in any order and nothing else.
 * Returns as readList does.
 */
export function readMessage(length: i32, receivedMs: f64): i32 {
  beginRecords();
  const end = endOf(length);
  count = 0;
  let at = skipBlanks(INPUT);
  if (<u32>load<u8>(at) !== OPEN_OBJECT) return -1;
  at = skipBlanks(at + 1);
  let seen = 0;
  do {
    const name = at;
    at = skipName(name);
    if (at === FAIL) return -1;
    if (nameLength === 5 && isText(name, '"event"')) {
      if ((seen & 1) !== 0 || !isText(at, '"message"')) return -1;
      seen |= 1;
      at += 9;
    } else if (nameLength === 5 && isText(name, '"topic"')) {
      if ((seen & 2) !== 0 || !isText(at, '"location_updates"')) return -1;
      seen |= 2;
      at += 18;
    } else if (nameLength === 7 && isText(name, '"payload"')) {
      if ((seen & 4) !== 0) return -1;
      seen |= 4;
      at = readItems(at, receivedMs);
      if (at === FAIL) return -1;
    } else return -1;
    at = skipSeparator(at);
  } while (separator === COMMA);
  return separator === CLOSE_OBJECT && seen === 7 && skipBlanks(at) === end ? count : -1;
}

function isText(at: usize, text: string): bool {
  for (let i = 0; i < text.length; i++) {
    if (<i32>load<u8>(at + i) !== text.charCodeAt(i)) return false;
  }
  return true;
}

/** Reads a list and returns the offset after it. */
function readItems(start: usize, receivedMs: f64): usize {
  if (<u32>load<u8>(start) !== OPEN_ARRAY) return FAIL;
  let at = skipBlanks(start + 1);
  if (<u32>load<u8>(at) === CLOSE_ARRAY) return at + 1;
  do {
    at = readLocation(at, receivedMs, 0, 0);
    if (at === FAIL) return FAIL;
    count++;
    at = skipSeparator(at);
  } while (separator === COMMA);
  return separator === CLOSE_ARRAY ? at : FAIL;
}

/** Reads one location of the provider whose id is at PATH, in quotes. Returns 1, or -1 as readList does. */
export function readOne(length: i32, receivedMs: f64, pathLength: i32): i32 {
  beginRecords();
  const end = endOf(length);
  const at = readLocation(skipBlanks(INPUT), receivedMs, PATH, pathLength);
  return at !== FAIL && skipBlanks(at) === end ? 1 : -1;
}

/** Terminates the input and returns its end. */
function endOf(length: i32): usize {
  const end = INPUT + <usize>length;
  store<u64>(end, 0);
  return end;
}
