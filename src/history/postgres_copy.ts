import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { HistoryTopic } from '../model/history.ts';
import { COLUMNS, type ColumnType, sqlText } from './columns.ts';
import type { Duck } from './duck.ts';
import type { HistoryFile } from './files.ts';

/**
 * Copies files of the history to a PostgreSQL database, each in one transaction that also records the file in
 * `omlox_history.parts`, so that no row is copied twice or missed. A merged file replaces rows of files that were
 * copied before: the rows of its hour are deleted first. So does a file that an erasure has rewritten (erasure.ts).
 *
 * With the extension TimescaleDB the tables are hypertables, otherwise they are partitioned by day.
 */
export interface PostgresSettings {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly isEncrypted: boolean;
  /** Distinguishes the rows of this hub from those of others. */
  readonly hub: string;
  readonly retentionMs: number;
}

const SCHEMA = 'omlox_history';
const TYPES: Readonly<Record<ColumnType, string>> = {
  TIMESTAMPTZ: 'timestamptz',
  VARCHAR: 'text',
  DOUBLE: 'double precision',
};
const DAY_MS = 86_400_000;
const CONNECT_MS = 5000;
/** Statement timeout, after which the connection is closed. */
const STATEMENT_MS = 60_000;
const ROWS_AT_ONCE = 10_000;

/** One connection to the database, until its first error. */
export class PostgresCopy {
  readonly #client: pg.Client;
  readonly #duck: Duck;
  readonly #hub: string;
  readonly #isTimescale: boolean;
  readonly #days = new Set<string>();

  private constructor(client: pg.Client, duck: Duck, { hub, isTimescale }: { hub: string; isTimescale: boolean }) {
    this.#client = client;
    this.#duck = duck;
    this.#hub = hub;
    this.#isTimescale = isTimescale;
  }

  /** Connects, and creates missing tables. Rejects if the database is not available. */
  static async open(settings: PostgresSettings, duck: Duck, failed: (error: Error) => void): Promise<PostgresCopy> {
    const { host, port, database, user, password, isEncrypted, hub } = settings;
    const client = new pg.Client({
      ...{ host, port, database, ssl: isEncrypted, application_name: 'omlox-hub' },
      ...(user !== undefined && { user }),
      ...(password !== undefined && { password }),
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: STATEMENT_MS,
      statement_timeout: STATEMENT_MS,
      keepAlive: true,
    });
    client.on('error', failed);
    try {
      await client.connect();
      return new PostgresCopy(client, duck, { hub, isTimescale: await setUp(client) });
    } catch (error) {
      await client.end().catch(() => undefined);
      throw error;
    }
  }

  /** Returns the files that were not copied yet. */
  async missing(files: readonly HistoryFile[]): Promise<readonly HistoryFile[]> {
    const { rows } = await this.#client.query(
      `SELECT topic, (extract(epoch FROM hour) * 1000)::bigint AS hour, first, last, revision FROM ${SCHEMA}.parts WHERE hub = $1`,
      [this.#hub],
    );
    const there = new Map<string, { first: number; last: number; revision: number }[]>();
    for (const { topic, hour, first, last, revision } of rows) {
      const key = `${topic} ${hour}`;
      there.set(key, [...(there.get(key) ?? []), { first, last, revision }]);
    }
    return files.filter(({ topic, hourMs, first, last, revision = 0 }) => {
      const parts = there.get(`${topic} ${hourMs}`) ?? [];
      return !parts.some((part) => {
        if (part.first > first || part.last < last) return false;
        return part.last - part.first > last - first || part.revision >= revision;
      });
    });
  }

  /** Copies a file. Returns its number of rows. */
  async copy({ topic, hourMs, first, last, revision = 0, path }: HistoryFile): Promise<number> {
    const client = this.#client;
    await this.#partition(topic, hourMs);
    const hour = new Date(hourMs).toISOString();
    await client.query('BEGIN');
    try {
      const own = [this.#hub, topic, hour] as const;
      const within = 'hub = $1 AND topic = $2 AND hour = $3 AND first >= $4 AND last <= $5';
      const { rowCount } = await client.query(`DELETE FROM ${SCHEMA}.parts WHERE ${within}`, [...own, first, last]);
      // This also deletes late rows of the hour from other files, so these files are copied again.
      if (rowCount !== null && rowCount > 0) {
        const rows = `hub = $1 AND time >= $2 AND time < $2::timestamptz + interval '1 hour'`;
        await client.query(`DELETE FROM ${SCHEMA}.${topic} WHERE ${rows}`, [this.#hub, hour]);
        await client.query(`DELETE FROM ${SCHEMA}.parts WHERE hub = $1 AND topic = $2 AND hour = $3`, [...own]);
      }
      const rows = await this.#copyRows(topic, path);
      await client.query(`INSERT INTO ${SCHEMA}.parts VALUES ($1, $2, $3, $4, $5, $6)`, [
        ...own,
        first,
        last,
        revision,
      ]);
      await client.query('COMMIT');
      return rows;
    } catch (error) {
      await client.query('ROLLBACK').catch(() => undefined);
      throw error;
    }
  }

  /** Removes rows beyond the retention. */
  async expire(beforeMs: number): Promise<void> {
    const before = new Date(beforeMs).toISOString();
    for (const topic of Object.keys(COLUMNS)) {
      if (this.#isTimescale)
        await this.#client.query(`SELECT drop_chunks('${SCHEMA}.${topic}', $1::timestamptz)`, [before]);
      else await this.#dropDays(topic, before.slice(0, 10).replaceAll('-', ''));
    }
    await this.#client.query(`DELETE FROM ${SCHEMA}.parts WHERE hour < $1`, [before]);
  }

  async close(): Promise<void> {
    await this.#client.end().catch(() => undefined);
  }

  async #copyRows(topic: HistoryTopic, path: string): Promise<number> {
    const columns = Object.entries(COLUMNS[topic]);
    const shown = columns.map(([name, type]) =>
      type === 'TIMESTAMPTZ' ? `strftime(${name}, '%Y-%m-%dT%H:%M:%S.%fZ') AS ${name}` : name,
    );
    const file = `read_parquet(${sqlText(path)}, hive_partitioning = false, file_row_number = true)`;
    const names = ['hub', ...columns.map(([name]) => name)].join();
    const stream = this.#client.query(copyFrom(`COPY ${SCHEMA}.${topic} (${names}) FROM STDIN`));
    const [duck, hub] = [this.#duck, copyText(this.#hub)];
    let rows = 0;
    async function* lines(): AsyncGenerator<string> {
      for (let at = 0; ; at += ROWS_AT_ONCE) {
        const some = await duck.columns(
          `SELECT ${shown.join()} FROM ${file} WHERE file_row_number >= ${at} AND file_row_number < ${at + ROWS_AT_ONCE}`,
        );
        const count = some.time?.length ?? 0;
        if (count === 0) return;
        let text = '';
        for (let i = 0; i < count; i++) {
          text += hub;
          for (const [name] of columns) text += `\t${copyValue(some[name]?.[i])}`;
          text += '\n';
        }
        rows += count;
        yield text;
      }
    }
    await pipeline(Readable.from(lines()), stream);
    return rows;
  }

  async #partition(topic: HistoryTopic, hourMs: number): Promise<void> {
    const day = new Date(hourMs).toISOString().slice(0, 10);
    if (this.#isTimescale || this.#days.has(topic + day)) return;
    const next = new Date(Date.parse(day) + DAY_MS).toISOString().slice(0, 10);
    const name = `${SCHEMA}.${topic}_${day.replaceAll('-', '')}`;
    await this.#client.query(
      `CREATE TABLE IF NOT EXISTS ${name} PARTITION OF ${SCHEMA}.${topic} FOR VALUES FROM ('${day}Z') TO ('${next}Z')`,
    );
    this.#days.add(topic + day);
  }

  async #dropDays(topic: string, before: string): Promise<void> {
    const { rows } = await this.#client.query(
      'SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = $1::regclass',
      [`${SCHEMA}.${topic}`],
    );
    for (const { name } of rows as readonly { name: string }[]) {
      if (name.slice(-8) < before) await this.#client.query(`DROP TABLE ${SCHEMA}.${name}`);
    }
  }
}

/** Creates missing tables. Returns whether they are hypertables. */
async function setUp(client: pg.Client): Promise<boolean> {
  await client.query("SET TimeZone = 'UTC'");
  await client.query(`CREATE SCHEMA IF NOT EXISTS ${SCHEMA}`);
  await client.query(
    `CREATE TABLE IF NOT EXISTS ${SCHEMA}.parts (hub text, topic text, hour timestamptz, first integer, last integer,` +
      ' revision integer NOT NULL, PRIMARY KEY (hub, topic, hour, first, last))',
  );
  const { rowCount } = await client.query("SELECT 1 FROM pg_extension WHERE extname = 'timescaledb'");
  const isTimescale = rowCount === 1;
  for (const [topic, columns] of Object.entries(COLUMNS)) {
    const all = Object.entries(columns).map(
      ([name, type]) => `${name} ${TYPES[type]}${name === 'time' ? ' NOT NULL' : ''}`,
    );
    const table = `${SCHEMA}.${topic}`;
    const partitioned = isTimescale ? '' : ' PARTITION BY RANGE (time)';
    await client.query(`CREATE TABLE IF NOT EXISTS ${table} (hub text, ${all.join(', ')})${partitioned}`);
    if (isTimescale) await client.query(`SELECT create_hypertable('${table}', 'time', if_not_exists => true)`);
    const by =
      topic === 'locations' || topic === 'motions' ? 'id' : topic === 'fence_events' ? 'fence_id' : 'trackable_1';
    await client.query(`CREATE INDEX IF NOT EXISTS ${topic}_by_object ON ${table} (${by}, time)`);
  }
  return isTimescale;
}

function copyValue(value: unknown): string {
  return value === null || value === undefined ? '\\N' : copyText(String(value));
}

/** Escapes a string for COPY. PostgreSQL cannot store NUL. */
function copyText(text: string): string {
  if (!/[\\\t\n\r\0]/.test(text)) return text;
  const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r', '\0': '' };
  return text.replaceAll(/[\\\t\n\r\0]/g, (character) => escapes[character] as string);
}
