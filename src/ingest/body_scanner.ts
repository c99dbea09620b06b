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

/** Names of providers and sources by the numbers that the scanner gives them, so that each becomes a text once. */
export class ScannedNames {
  #names: string[] = [];
  /** When a name was last seen to be that of a kept provider: how often any had gone until then. */
  readonly #keptAt: Int32Array;
  /** Whether one of them may be a UUID, which may have been written in another case before. */
  hasUuids = false;

  constructor({ namesMax }: NameTable) {
    this.#keptAt = new Int32Array(namesMax).fill(NEVER);
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

  /** Whether the name is that of a provider that is kept, as was noted since the last one has gone. */
  // hot
  isKept(number: number, gone: number): boolean {
    return this.#keptAt[number] === gone;
  }

  noteKept(number: number, gone: number): void {
    this.#keptAt[number] = gone;
  }

  // hot
  of(number: number): string {
    return this.#names[number] as string;
  }

  /** Begins anew once there was no room: the body that lacked it is read by the parser. */
  makeRoom(table: NameTable): void {
    if (!table.areNamesFull) return;
    table.forgetNames();
    this.#names = [];
    this.#keptAt.fill(NEVER);
    this.hasUuids = false;
  }
}
