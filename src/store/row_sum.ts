import type Database from 'better-sqlite3';

/**
 * A 32-bit checksum of a row, to detect changes by a failing disk or another program. It protects against accidents,
 * not against an attacker, who could update the checksum.
 *
 * The input is the two times, the lengths of the strings and the strings, as little-endian words dealt to four lanes.
 * Each lane mixes its words by invertible steps. So a change of one word is always detected, and a change of several
 * words is missed in one of four billion cases. CRC-32 (node:zlib) would be equivalent, but each call takes 200 ns of
 * the 4,000 ns per row; this takes 100 ns.
 *
 * The algorithm is part of the file format and never changes.
 */

/** Two times and four lengths. */
const HEAD_BYTES = 32;
/** Bytes that the lanes consume at once. */
const GROUP_BYTES = 16;
const BYTES_PER_CHARACTER_MAX = 3;
/** Bytes per block in block-wise sums. */
const BLOCK_BYTES = 1 << 15;
/** Most rows have no memberships. They need no encoding: their length is zero. */
const NO_MEMBERSHIPS = '[]';

let bytes = Buffer.alloc(1 << 16);
let words = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2);
let times = new Float64Array(bytes.buffer, bytes.byteOffset, 2);

/**
 * Returns the checksum of a row: its kind and id, its JSON, additional content, and times in milliseconds.
 *
 * hot: once for each row written or read, see bench/kernel/store.bench.ts
 */
export function rowSum(kind: string, id: string, text: string, more = '', firstMs = 0, secondMs = 0): number {
  const needed = HEAD_BYTES + (id.length + text.length + more.length) * BYTES_PER_CHARACTER_MAX + GROUP_BYTES;
  // Only long rows, which are rare, are measured exactly.
  if (needed > bytes.length) grow(HEAD_BYTES + [id, text, more].reduce(addBytes, GROUP_BYTES));
  // SQLite does not store the sign of a zero.
  times[0] = firstMs + 0;
  times[1] = secondMs + 0;
  const idEnd = HEAD_BYTES + bytes.write(id, HEAD_BYTES);
  const moreEnd = more === '' || more === NO_MEMBERSHIPS ? idEnd : idEnd + bytes.write(more, idEnd);
  const end = moreEnd + bytes.write(text, moreEnd);
  words[4] = numberOf(kind);
  words[5] = idEnd;
  words[6] = moreEnd;
  words[7] = end;
  for (let at = end; (at & (GROUP_BYTES - 1)) !== 0; at++) bytes[at] = 0;
  return mixed(words, (end + GROUP_BYTES - 1) >> 4);
}

// hot
function numberOf(kind: string): number {
  let number = kind.length;
  for (let at = 0; at < kind.length; at++) number = Math.imul(number, 0x01000193) ^ kind.charCodeAt(at);
  return number;
}

// hot
function mixed(all: Int32Array, groups: number): number {
  let a = 1;
  let b = 2;
  let c = 3;
  let d = 4;
  for (let group = 0; group < groups; group++) {
    const at = group << 2;
    a = Math.imul(a ^ all[at]!, 0x9e3779b1);
    b = Math.imul(b ^ all[at + 1]!, 0x85ebca6b);
    c = Math.imul(c ^ all[at + 2]!, 0xc2b2ae35);
    d = Math.imul(d ^ all[at + 3]!, 0x27d4eb2f);
    a ^= a >>> 15;
    b ^= b >>> 15;
    c ^= c >>> 15;
    d ^= d >>> 15;
  }
  return Math.imul(a ^ Math.imul(b ^ Math.imul(c ^ Math.imul(d, 31), 31), 31), 31);
}

/** Returns the checksum of any bytes, computed block by block. */
export function bytesSum(of: Uint8Array): number {
  let sum = of.length;
  for (let start = 0; start < of.length; start += BLOCK_BYTES) {
    const block = of.subarray(start, start + BLOCK_BYTES);
    const end = HEAD_BYTES + block.length;
    words.fill(0, 0, HEAD_BYTES >> 2);
    words[0] = sum;
    bytes.set(block, HEAD_BYTES);
    for (let at = end; (at & (GROUP_BYTES - 1)) !== 0; at++) bytes[at] = 0;
    sum = mixed(words, (end + GROUP_BYTES - 1) >> 4);
  }
  return sum;
}

/** Defines the SQL function `row_sum(…)` with the same arguments, for queries over whole tables. */
export function defineRowSum(db: Database.Database): void {
  db.function('row_sum', { deterministic: true, varargs: true }, (...of: unknown[]) =>
    rowSum(...(of as [string, string, string, string, number, number])),
  );
}

function addBytes(sum: number, text: string): number {
  return sum + Buffer.byteLength(text);
}

function grow(needed: number): void {
  if (needed <= bytes.length) return;
  bytes = Buffer.alloc(2 ** Math.ceil(Math.log2(needed)));
  words = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2);
  times = new Float64Array(bytes.buffer, bytes.byteOffset, 2);
}
