import { type Client, types } from 'cassandra-driver';
import type { WideColumnDeps } from './settings.ts';

/** Number of ticks reserved at once: ten seconds. */
const RESERVED = 10_000_000;
const MICROSECONDS = 1000;
const ATTEMPTS = 10;

const ASK = "SELECT id, holder, ticks FROM hub WHERE name = 'hub'";
const MAKE = "INSERT INTO hub (name, id, holder, ticks) VALUES ('hub', ?, '', 0) IF NOT EXISTS";
const TAKE = "UPDATE hub SET holder = ?, ticks = ? WHERE name = 'hub' IF holder = ? AND ticks = ?";
const RESERVE = "UPDATE hub SET ticks = ? WHERE name = 'hub' IF holder = ?";
const CONDITIONAL = { isIdempotent: false };

interface Row {
  readonly id: string;
  readonly holder: string;
  readonly ticks: types.Long;
}

/**
 * Lease of a keyspace by one hub, and the source of its write timestamps.
 *
 * Of two writes to a cell, these databases retain the one with the later timestamp. So timestamps are ticks: at least
 * the clock's microseconds, and strictly increasing across all holders. A row stores the end of the reserved ticks, and
 * a new holder starts after it, whatever its clock says. A hub takes the lease with its first write and puts its name
 * into that row. A previous holder that is still alive detects this at its next reservation and stops writing. A hub
 * that never writes does not affect the holder.
 */
export class KeyspaceLease {
  readonly hubId: string;
  readonly #client: Client;
  readonly #now: () => number;
  readonly #holder: string;
  #isTaken = false;
  #last = 0;
  #reserved = 0;

  private constructor(client: Client, { now, newId }: Pick<WideColumnDeps, 'now' | 'newId'>, hubId: string) {
    this.#client = client;
    this.#now = now;
    this.#holder = newId();
    this.hubId = hubId;
  }

  /** Reads the row of the lease, creating it if necessary. */
  static async open(client: Client, deps: Pick<WideColumnDeps, 'now' | 'newId'>): Promise<KeyspaceLease> {
    const found = await rowOf(client);
    if (found !== undefined) return new KeyspaceLease(client, deps, found.id);
    await client.execute(MAKE, [deps.newId()], CONDITIONAL);
    // Another hub may have created the row concurrently.
    return KeyspaceLease.open(client, deps);
  }

  /**
   * Allocates `count` consecutive ticks and returns the first, in microseconds since 1970. Rejects if another hub holds
   * the keyspace, or the database does not reply.
   */
  async ticks(count: number): Promise<number> {
    if (!this.#isTaken) await this.#take();
    const first = Math.max(this.#last + 1, this.#now() * MICROSECONDS);
    const last = first + count - 1;
    if (last > this.#reserved) {
      const until = last + RESERVED;
      const result = await this.#client.execute(RESERVE, [long(until), this.#holder], CONDITIONAL);
      if (!result.wasApplied()) throw new Error('another hub has taken over the keyspace');
      this.#reserved = until;
    }
    this.#last = last;
    return first;
  }

  /** Takes the lease from its current holder. */
  async #take(): Promise<void> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const found = await rowOf(this.#client);
      if (found === undefined) throw new Error('another program has emptied the table hub');
      const ticks = Math.max(this.#now() * MICROSECONDS, found.ticks.toNumber());
      const reserved = ticks + RESERVED;
      const values = [this.#holder, long(reserved), found.holder, found.ticks];
      const result = await this.#client.execute(TAKE, values, CONDITIONAL);
      if (!result.wasApplied()) continue;
      this.#last = ticks;
      this.#reserved = reserved;
      this.#isTaken = true;
      return;
    }
    throw new Error('other hubs are taking over the keyspace at the same time');
  }
}

async function rowOf(client: Client): Promise<Row | undefined> {
  const found = (await client.execute(ASK, [], { consistency: types.consistencies.serial })).first();
  if (found === null) return undefined;
  return { id: found.get('id'), holder: found.get('holder'), ticks: found.get('ticks') };
}

function long(value: number): types.Long {
  return types.Long.fromNumber(value);
}
