import type { RecordBuffer } from '../core/location/record.ts';

/** Names in scanned bodies, by number. */
export interface NameTable {
  readonly nameCount: number;
  readonly namesMax: number;
  /** Whether the table was full when a name was added. */
  readonly areNamesFull: boolean;
  nameOf(number: number): string;
  forgetNames(): void;
}

/** Scanner of locations in a body's bytes (wasm/location_scanner.ts). */
export interface BodyScanner extends RecordBuffer, NameTable {
  /** Offset of the last body's first record, and offset after its last record. */
  readonly start: number;
  readonly end: number;
  list(body: Uint8Array, receivedMs: number): number;
  /** Scans a WebSocket message that publishes locations. */
  message(frame: Uint8Array, receivedMs: number): number;
  one(body: Uint8Array, receivedMs: number, providerId: string): number;
}

const UUID_LENGTH = 36;
const NEVER = -1;

/**
 * Names of providers and sources, by the numbers that the scanner assigns. Each name is converted to a string once, and
 * facts about a provider are cached by its number.
 */
export class ScannedNames {
  #names: string[] = [];
  /** For each name, the value of `providersChanged` when it was last confirmed as a registered provider. */
  readonly #knownAt: Int32Array;
  readonly #homes: Uint16Array;
  /** Whether a name may be a UUID, which may have been sent in another case before. */
  hasUuids = false;

  constructor({ namesMax }: NameTable) {
    this.#knownAt = new Int32Array(namesMax).fill(NEVER);
    this.#homes = new Uint16Array(namesMax);
  }

  /** Adds the new names of the scanner. */
  // hot
  learn(table: NameTable): void {
    const { nameCount } = table;
    while (this.#names.length < nameCount) {
      const name = table.nameOf(this.#names.length);
      this.#names.push(name);
      if (name.length === UUID_LENGTH) this.hasUuids = true;
    }
  }

  /** Whether the name was confirmed as a registered provider since the last change. */
  // hot
  isKnown(number: number, changes: number): boolean {
    return this.#knownAt[number] === changes;
  }

  noteKnown(number: number, changes: number): void {
    this.#knownAt[number] = changes;
  }

  /** Returns the cached shard of a provider. */
  // hot
  readonly homeOf = (number: number): number => this.#homes[number] as number;

  noteHome(number: number, home: number): void {
    this.#homes[number] = home;
  }

  // hot
  readonly of = (number: number): string => this.#names[number] as string;

  /** Resets the table if it is full. The parser reads the body that caused this. */
  makeRoom(table: NameTable): void {
    if (!table.areNamesFull) return;
    table.forgetNames();
    this.#names = [];
    this.#knownAt.fill(NEVER);
    this.hasUuids = false;
  }
}
