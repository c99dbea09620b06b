import { readFileSync } from 'node:fs';

const MODULE = new WebAssembly.Module(readFileSync(new URL('location_scanner/scanner.wasm', import.meta.url)));

const QUOTE = 0x22;
/** Bytes of an id that a path may name. */
const PATH_MAX = 0x7f00;

interface Exports {
  readonly memory: WebAssembly.Memory;
  readonly INPUT: WebAssembly.Global;
  readonly INPUT_MAX: WebAssembly.Global;
  readonly PATH: WebAssembly.Global;
  readonly RECORDS: WebAssembly.Global;
  setUp(longestName: number, longestProperties: number): void;
  readList(length: number, receivedMs: number): number;
  readMessage(length: number, receivedMs: number): number;
  readOne(length: number, receivedMs: number, pathLength: number): number;
  recordsEnd(): number;
  readonly NAMES_MAX: WebAssembly.Global;
  nameCount(): number;
  areNamesFull(): number;
  placeOfName(number: number): number;
  forgetNames(): void;
}

export interface ScannerBounds {
  /** Bytes of ids, sources and times. */
  readonly nameBytes: number;
  /** Bytes of the properties of a location. */
  readonly propertiesBytes: number;
}

/**
 * Reads JSON of locations from its bytes, in WebAssembly: checks it against the Location schema and writes the records of
 * src/core/location/record.ts, in one pass. What is unusual is left to the parser: escapes and exponents, other projections,
 * names twice, and everything that is wrong, for the parser says what.
 */
export class LocationScanner {
  /** The memory in which the records are. */
  readonly bytes: Buffer;
  readonly view: DataView;
  /** Where the records begin. */
  readonly start: number;
  readonly #exports: Exports;
  readonly #input: number;
  readonly #inputMax: number;
  readonly #path: number;
  /** The id that was put there last, and how many bytes it has with its quotes. */
  #pathId = '';
  #pathLength = 0;

  constructor({ nameBytes, propertiesBytes }: ScannerBounds) {
    let value = 0;
    const isShortest = (at: number, length: number): boolean => {
      const text = this.bytes.toString('latin1', at, at + length);
      value = Number(text);
      return String(value) === text;
    };
    // Named after the files that ask.
    const json = { isShortest, valueOfShortest: () => value };
    const location = {
      writeTime: (at: number, ms: number) => void this.bytes.write(new Date(ms).toISOString(), at, 'latin1'),
    };
    this.#exports = new WebAssembly.Instance(MODULE, { json, location }).exports as unknown as Exports;
    const { memory, INPUT, INPUT_MAX, PATH, RECORDS, NAMES_MAX } = this.#exports;
    this.bytes = Buffer.from(memory.buffer);
    this.view = new DataView(memory.buffer);
    this.#input = INPUT.value;
    this.#inputMax = INPUT_MAX.value - 16;
    this.#path = PATH.value;
    this.start = RECORDS.value;
    this.namesMax = NAMES_MAX.value;
    this.#exports.setUp(nameBytes, propertiesBytes);
  }

  /** Reads a list. Returns how many locations it has, whose records are there until the next call; -1 for the parser. */
  // hot
  list(body: Uint8Array, receivedMs: number): number {
    if (body.length > this.#inputMax) return -1;
    this.bytes.set(body, this.#input);
    return this.#exports.readList(body.length, receivedMs);
  }

  /** Reads a message of a WebSocket that publishes locations, as list does. */
  // hot
  message(frame: Uint8Array, receivedMs: number): number {
    if (frame.length > this.#inputMax) return -1;
    this.bytes.set(frame, this.#input);
    return this.#exports.readMessage(frame.length, receivedMs);
  }

  /** Reads one location of a provider. Returns 1, or -1 as list does. */
  // hot
  one(body: Uint8Array, receivedMs: number, providerId: string): number {
    if (body.length > this.#inputMax) return -1;
    if (providerId !== this.#pathId && !this.#setPath(providerId)) return -1;
    this.bytes.set(body, this.#input);
    return this.#exports.readOne(body.length, receivedMs, this.#pathLength);
  }

  /** Where the records end. */
  get end(): number {
    return this.#exports.recordsEnd();
  }

  /** How many names may have numbers. */
  readonly namesMax: number;

  /** How many names have numbers, which begin at 0. */
  get nameCount(): number {
    return this.#exports.nameCount();
  }

  /** Whether there was no room for a name, so that numbers should begin anew. */
  get areNamesFull(): boolean {
    return this.#exports.areNamesFull() !== 0;
  }

  /** The name of a number. */
  nameOf(number: number): string {
    const at = this.#exports.placeOfName(number);
    return this.bytes.toString('utf8', at + 4, at + 4 + this.view.getUint32(at, true));
  }

  /** Takes all numbers from their names. */
  forgetNames(): void {
    this.#exports.forgetNames();
  }

  /** Puts an id where the scanner finds it; false for one that is not ASCII, is too long, or has escapes in JSON. */
  #setPath(id: string): boolean {
    if (id.length > PATH_MAX || Buffer.byteLength(id) !== id.length || JSON.stringify(id).length !== id.length + 2) {
      return false;
    }
    const at = this.#path;
    this.bytes[at] = QUOTE;
    const length = this.bytes.write(id, at + 1, 'latin1');
    this.bytes[at + 1 + length] = QUOTE;
    this.#pathId = id;
    this.#pathLength = length + 2;
    return true;
  }
}
