import { type Client, types } from 'cassandra-driver';
import type { Surroundings } from './settings.ts';

/** Ticks that are reserved at a time: ten seconds. */
const RESERVED = 10_000_000;
const MICROSECONDS = 1000;
const ATTEMPTS = 10;

const ASK = "SELECT id, holder, ticks FROM hub WHERE name = 'hub'";
const MAKE = "INSERT INTO hub (name, id, holder, ticks) VALUES ('hub', ?, ?, ?) IF NOT EXISTS";
const TAKE = "UPDATE hub SET holder = ?, ticks = ? WHERE name = 'hub' IF holder = ? AND ticks = ?";
const RESERVE = "UPDATE hub SET ticks = ? WHERE name = 'hub' IF holder = ?";
const CONDITIONAL = { isIdempotent: false };

/**
 * Holds a keyspace for one hub, and hands out the times of its writes.
 *
 * A database of this kind keeps, of two writes of one cell, the one with the later time. So times are ticks, at least
 * the clock's microseconds and each later than all before, also those of earlier holders: a row says up to where ticks
 * are reserved, and a new holder begins behind that, whatever its clock says. Whoever takes a hold puts its name into
 * that row. An earlier holder that is still alive finds that at its next reservation, and writes no more.
 */
export class Hold {
  readonly hubId: string;
  readonly #client: Client;
  readonly #now: () => number;
  readonly #holder: string;
  #last: number;
  #reserved: number;

  private constructor(client: Client, now: () => number, taken: { hubId: string; holder: string; ticks: number }) {
    this.#client = client;
    this.#now = now;
    this.#holder = taken.holder;
    this.hubId = taken.hubId;
    this.#last = taken.ticks;
    this.#reserved = taken.ticks + RESERVED;
  }

  /** Takes the hold from whoever has it. */
  static async take(client: Client, { now, newId }: Pick<Surroundings, 'now' | 'newId'>): Promise<Hold> {
    const holder = newId();
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const found = (await client.execute(ASK, [], { consistency: types.consistencies.serial })).first();
      const ticks = Math.max(now() * MICROSECONDS, found?.get('ticks')?.toNumber() ?? 0);
      const hubId: string = found?.get('id') ?? newId();
      const [query, values] =
        found === null
          ? [MAKE, [hubId, holder, long(ticks + RESERVED)]]
          : [TAKE, [holder, long(ticks + RESERVED), found.get('holder'), found.get('ticks')]];
      const result = await client.execute(query, values, CONDITIONAL);
      if (result.wasApplied()) return new Hold(client, now, { hubId, holder, ticks });
    }
    throw new Error('Cannot take hold of the keyspace: other hubs are doing the same');
  }

  /**
   * Takes so many ticks in a row and returns the first, in microseconds since 1970. Rejects when the keyspace has another
   * holder, or when the database does not answer.
   */
  async ticks(count: number): Promise<number> {
    const first = Math.max(this.#last + 1, this.#now() * MICROSECONDS);
    const last = first + count - 1;
    if (last > this.#reserved) {
      const until = last + RESERVED;
      const result = await this.#client.execute(RESERVE, [long(until), this.#holder], CONDITIONAL);
      if (!result.wasApplied()) throw new Error('Cannot write to the keyspace: another hub has taken it over');
      this.#reserved = until;
    }
    this.#last = last;
    return first;
  }
}

function long(value: number): types.Long {
  return types.Long.fromNumber(value);
}
