import type Database from 'better-sqlite3';

/**
 * The checksum of a row, of 32 bits: what a disk or somebody else changes in a row is found when that is read. It guards
 * against accidents, not against somebody who also writes the checksum that fits.
 *
 * The bytes of a row, behind its two times and the lengths of its texts, are taken as words (little-endian, as all machines
 * are that the hub runs on), dealt to four lanes. Each lane mixes its words by steps that can be undone, so that a change
 * of one word is always found, and one of more words but once in four thousand million times. CRC-32 (node:zlib) would do as well, but each call takes 200 ns of the 4,000 that a row takes; this takes 100.
 *
 * Files of version 4 and later hold what it gives: it is history as the steps of the migration are, and never changed.
 */

/** Two times and four lengths. */
const HEAD_BYTES = 32;
/** What the lanes take at once. */
const GROUP_BYTES = 16;
const BYTES_PER_CHARACTER_MAX = 3;
/** Of what is summed up in blocks. */
const BLOCK_BYTES = 1 << 15;
/** Most rows have these, which need not be looked at: they have no length. */
const NO_MEMBERSHIPS = '[]';

let bytes = Buffer.alloc(1 << 16);
let words = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2);
let times = new Float64Array(bytes.buffer, bytes.byteOffset, 2);

/**
 * The sum of a row: of its kind and id, its text, what else it holds, and its times in milliseconds.
 *
 * hot: once for each row that is written or read, see bench/kernel/store.bench.ts
 */
export function rowSum(kind: string, id: string, text: string, more = '', firstMs = 0, secondMs = 0): number {
  const needed = HEAD_BYTES + (id.length + text.length + more.length) * BYTES_PER_CHARACTER_MAX + GROUP_BYTES;
  // Few are so long that it is worth while to count.
  if (needed > bytes.length) grow(HEAD_BYTES + [id, text, more].reduce(addBytes, GROUP_BYTES));
  // SQLite keeps no sign of a zero.
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

/** The sum of any bytes, a block at a time. */
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

/** `row_sum(…)` with the same arguments in statements, for what looks at whole tables. */
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
