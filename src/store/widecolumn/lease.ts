import { type Client, types } from 'cassandra-driver';
import type { WideColumnDeps } from './settings.ts';

/** Ticks that are reserved at a time: ten seconds. */
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
 * Holds a keyspace for one hub, and hands out the times of its writes.
 *
 * A database of this kind keeps, of two writes of one cell, the one with the later time. So times are ticks, at least
 * the clock's microseconds and each later than all before, also those of earlier holders: a row says up to where ticks
 * are reserved, and a new holder begins behind that, whatever its clock says. Whoever takes the lease, with the first
 * write, puts its name into that row. An earlier holder that is still alive finds that at its next reservation, and
 * writes no more. A hub that does not come as far as a write disturbs nobody.
 */
export class Lease {
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

  /** Makes the row where there is none. */
  static async open(client: Client, deps: Pick<WideColumnDeps, 'now' | 'newId'>): Promise<Lease> {
    const found = await rowOf(client);
    if (found !== undefined) return new Lease(client, deps, found.id);
    await client.execute(MAKE, [deps.newId()], CONDITIONAL);
    // Another hub may have been quicker.
    return Lease.open(client, deps);
  }

  /**
   * Takes so many ticks in a row and returns the first, in microseconds since 1970. Rejects when the keyspace has another
   * holder, or when the database does not answer.
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

  /** Takes the lease from whoever has it. */
  async #take(): Promise<void> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const found = await rowOf(this.#client);
      if (found === undefined) throw new Error('somebody has emptied the table hub');
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
