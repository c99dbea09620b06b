import type { RecordBuffer } from '../core/location/record.ts';

/** Numbers the names in the bodies that are scanned. */
export interface NameTable {
  readonly nameCount: number;
  readonly namesMax: number;
  /** Whether a name found no room. */
  readonly areNamesFull: boolean;
  nameOf(number: number): string;
  forgetNames(): void;
}

/** Reads the locations of a body from its bytes: see wasm/location_scanner.ts. */
export interface BodyScanner extends RecordBuffer, NameTable {
  /** Where the records of the last body begin and end. */
  readonly start: number;
  readonly end: number;
  list(body: Uint8Array, receivedMs: number): number;
  /** A message of a WebSocket that publishes locations. */
  message(frame: Uint8Array, receivedMs: number): number;
  one(body: Uint8Array, receivedMs: number, providerId: string): number;
}

const UUID_LENGTH = 36;
const NEVER = -1;

/**
 * Names of providers and sources by the numbers that the scanner gives them, so that each becomes a text once, and what
 * was found out about a provider is found again without a look-up.
 */
export class ScannedNames {
  #names: string[] = [];
  /** When a name was last seen to be that of a known provider: how often something had changed until then. */
  readonly #knownAt: Int32Array;
  readonly #homes: Uint16Array;
  /** Whether one of them may be a UUID, which may have been written in another case before. */
  hasUuids = false;

  constructor({ namesMax }: NameTable) {
    this.#knownAt = new Int32Array(namesMax).fill(NEVER);
    this.#homes = new Uint16Array(namesMax);
  }

  /** Takes note of the names that are new. */
  // hot
  learn(table: NameTable): void {
    const { nameCount } = table;
    while (this.#names.length < nameCount) {
      const name = table.nameOf(this.#names.length);
      this.#names.push(name);
      if (name.length === UUID_LENGTH) this.hasUuids = true;
    }
  }

  /** Whether the name is that of a known provider, as was noted since the last change. */
  // hot
  isKnown(number: number, changes: number): boolean {
    return this.#knownAt[number] === changes;
  }

  noteKnown(number: number, changes: number): void {
    this.#knownAt[number] = changes;
  }

  /** The shard of a provider, as it was noted last. */
  // hot
  readonly homeOf = (number: number): number => this.#homes[number] as number;

  noteHome(number: number, home: number): void {
    this.#homes[number] = home;
  }

  // hot
  readonly of = (number: number): string => this.#names[number] as string;

  /** Begins anew once there was no room: the body that lacked it is read by the parser. */
  makeRoom(table: NameTable): void {
    if (!table.areNamesFull) return;
    table.forgetNames();
    this.#names = [];
    this.#knownAt.fill(NEVER);
    this.hasUuids = false;
  }
}
