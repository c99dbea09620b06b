import type { ByteRange } from '../core/history_rows.ts';

const [SLOTS_AT_FIRST, BYTES_AT_FIRST] = [1 << 12, 1 << 16] as const;

/**
 * Interned strings, numbered in order of arrival. Number 0 is the empty string and means none. Strings are looked up by
 * their UTF-8 in a hash table with open addressing (FNV-1a, linear probing, at most half full), so looking up an
 * interned string creates no string.
 */
export class InternedStrings {
  #texts: string[] = [''];
  /** Numbers by hash; 0 in empty slots. */
  #slots = new Int32Array(SLOTS_AT_FIRST);
  /** UTF-8 of all strings, and their end offsets. */
  #bytes = new Uint8Array(BYTES_AT_FIRST);
  #ends = new Uint32Array(SLOTS_AT_FIRST);

  get all(): readonly string[] {
    return this.#texts;
  }

  /** Approximate size in bytes. */
  get size(): number {
    return 3 * (this.#ends[this.#texts.length - 1] as number) + 8 * this.#texts.length;
  }

  /** Returns the number of the string in a range of bytes, adding it if necessary. */
  // hot
  numberOf(bytes: Uint8Array, from: number, to: number): number {
    if (from === to) return 0;
    const mask = this.#slots.length - 1;
    let slot = hashOf(bytes, from, to) & mask;
    for (let number = this.#slots[slot] as number; number > 0; number = this.#slots[slot] as number) {
      if (this.#is(number, bytes, from, to)) return number;
      slot = (slot + 1) & mask;
    }
    return this.#add(slot, bytes, from, to);
  }

  // hot
  #is(number: number, bytes: Uint8Array, from: number, to: number): boolean {
    const start = this.#ends[number - 1] as number;
    if ((this.#ends[number] as number) - start !== to - from) return false;
    for (let i = from; i < to; i++) if (bytes[i] !== this.#bytes[start + i - from]) return false;
    return true;
  }

  #add(slot: number, bytes: Uint8Array, from: number, to: number): number {
    const number = this.#texts.length;
    const start = this.#ends[number - 1] as number;
    const end = start + to - from;
    if (end > this.#bytes.length) this.#bytes = copied(this.#bytes, new Uint8Array(Math.max(end, 2 * start)));
    this.#bytes.set(bytes.subarray(from, to), start);
    this.#texts.push(Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString());
    this.#ends[number] = end;
    this.#slots[slot] = number;
    if (2 * this.#texts.length >= this.#slots.length) this.#grow();
    return number;
  }

  #grow(): void {
    this.#ends = copied(this.#ends, new Uint32Array(2 * this.#ends.length));
    this.#slots = new Int32Array(2 * this.#slots.length);
    const mask = this.#slots.length - 1;
    for (let number = 1; number < this.#texts.length; number++) {
      let slot = hashOf(this.#bytes, this.#ends[number - 1] as number, this.#ends[number] as number) & mask;
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
      this.#slots[slot] = number;
    }
  }
}

/** Names of a shard by the numbers that it has assigned. */
export class ShardNames {
  #count = 0;
  /** UTF-8 of all names, and their end offsets. */
  #bytes = new Uint8Array(BYTES_AT_FIRST);
  #ends = new Uint32Array(SLOTS_AT_FIRST);

  get count(): number {
    return this.#count;
  }

  get bytes(): Uint8Array {
    return this.#bytes;
  }

  /** Adds the names in a range. Each is its length as u32, then UTF-8. */
  add(from: { readonly bytes: Uint8Array; readonly view: DataView }, { from: start, to }: ByteRange): void {
    for (let at = start; at < to; ) {
      const size = from.view.getUint32(at, true);
      this.#add(from.bytes.subarray(at + 4, at + 4 + size));
      at += 4 + size;
    }
  }

  /** Returns the start offset in `bytes` of the name with a number above 0; `end` returns its end offset. */
  start(number: number): number {
    return this.#ends[number - 1] as number;
  }

  end(number: number): number {
    return this.#ends[number] as number;
  }

  text(number: number): string {
    return Buffer.from(this.#bytes.buffer, this.start(number), this.end(number) - this.start(number)).toString();
  }

  #add(name: Uint8Array): void {
    const start = this.#ends[this.#count] as number;
    const end = start + name.length;
    if (end > this.#bytes.length) this.#bytes = copied(this.#bytes, new Uint8Array(Math.max(end, 2 * start)));
    this.#bytes.set(name, start);
    if (++this.#count === this.#ends.length) this.#ends = copied(this.#ends, new Uint32Array(2 * this.#ends.length));
    this.#ends[this.#count] = end;
  }
}

// hot
function hashOf(bytes: Uint8Array, from: number, to: number): number {
  let hash = 0x811c9dc5;
  for (let i = from; i < to; i++) hash = Math.imul(hash ^ (bytes[i] as number), 0x01000193);
  return hash ^ (hash >>> 15);
}

function copied<Numbers extends Uint8Array | Uint32Array>(from: Numbers, to: Numbers): Numbers {
  to.set(from);
  return to;
}
