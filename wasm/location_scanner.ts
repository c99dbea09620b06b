import { readFileSync } from 'node:fs';

const MODULE = new WebAssembly.Module(readFileSync(new URL('location_scanner/scanner.wasm', import.meta.url)));

const QUOTE = 0x22;
/** Maximum bytes of an id in a path. */
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
  /** Maximum bytes of ids, sources and times. */
  readonly nameBytes: number;
  /** Maximum bytes of the properties of a location. */
  readonly propertiesBytes: number;
}

/**
 * Scanner of JSON locations in WebAssembly: validates the bytes against the Location schema and writes the records of
 * src/core/location/record.ts, in one pass. Unusual input is left to the parser: escapes and exponents, other
 * projections, duplicate names, and any invalid input, for which the parser explains the problem.
 */
export class LocationScanner {
  /** Memory of the records. */
  readonly bytes: Buffer;
  readonly view: DataView;
  /** Offset of the first record. */
  readonly start: number;
  readonly #exports: Exports;
  readonly #input: number;
  readonly #inputMax: number;
  readonly #path: number;
  /** The id last written to PATH, and its length in bytes with quotes. */
  #pathId = '';
  #pathLength = 0;

  constructor({ nameBytes, propertiesBytes }: ScannerBounds) {
    let value = 0;
    const isShortest = (at: number, length: number): boolean => {
      const text = this.bytes.toString('latin1', at, at + length);
      value = Number(text);
      return String(value) === text;
    };
    // Named after the importing files.
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

  /**
   * Scans a list. Returns the number of its locations, whose records are valid until the next call; -1 if the parser
   * must read it.
   */
  // hot
  list(body: Uint8Array, receivedMs: number): number {
    if (body.length > this.#inputMax) return -1;
    this.bytes.set(body, this.#input);
    return this.#exports.readList(body.length, receivedMs);
  }

  /** Scans a WebSocket message that publishes locations, like `list`. */
  // hot
  message(frame: Uint8Array, receivedMs: number): number {
    if (frame.length > this.#inputMax) return -1;
    this.bytes.set(frame, this.#input);
    return this.#exports.readMessage(frame.length, receivedMs);
  }

  /** Scans one location of a provider. Returns 1, or -1 like `list`. */
  // hot
  one(body: Uint8Array, receivedMs: number, providerId: string): number {
    if (body.length > this.#inputMax) return -1;
    if (providerId !== this.#pathId && !this.#setPath(providerId)) return -1;
    this.bytes.set(body, this.#input);
    return this.#exports.readOne(body.length, receivedMs, this.#pathLength);
  }

  /** Offset after the last record. */
  get end(): number {
    return this.#exports.recordsEnd();
  }

  /** Maximum number of names with numbers. */
  readonly namesMax: number;

  /** Number of names with numbers, which start at 0. */
  get nameCount(): number {
    return this.#exports.nameCount();
  }

  /** Whether the table of names is full, so that the numbers should be reset. */
  get areNamesFull(): boolean {
    return this.#exports.areNamesFull() !== 0;
  }

  /** Returns the name of a number. */
  nameOf(number: number): string {
    const at = this.#exports.placeOfName(number);
    return this.bytes.toString('utf8', at + 4, at + 4 + this.view.getUint32(at, true));
  }

  /** Resets all numbers. */
  forgetNames(): void {
    this.#exports.forgetNames();
  }

  /** Writes an id to PATH. Returns false if the id is not ASCII, is too long, or needs escapes in JSON. */
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
