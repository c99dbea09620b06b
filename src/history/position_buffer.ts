import { geodesicMeters } from '../core/geo/geodesic.ts';
import type { PositionSection, PositionTopic } from '../core/history_rows.ts';
import { parseJson } from '../model/json.ts';
import { copyQuicklyTo, positionsForFile } from './columns.ts';
import { type Duck, ROWS_TO_WRITE } from './duck.ts';
import type { HistoryFiles } from './files.ts';
import type { RecorderSettings } from './messages.ts';
import type { ShardNames } from './names.ts';
import { type PositionMemory, PositionRows, rowsSince, Thinning } from './position_rows.ts';

/** Maximum number of rows of a new file. */
const FILE_ROWS = 1_000_000;

interface PositionBufferOptions extends Pick<RecorderSettings, 'minIntervalMs' | 'minDistanceMeters'> {
  /** Maximum number of bytes of the buffer. Beyond it, later positions are dropped. */
  readonly bytesMax: number;
}

/** Positions of a section that were not buffered. */
interface Omitted {
  /** For lack of memory. */
  readonly dropped: number;
  readonly tooOld: number;
  /** Omitted by thinning. */
  readonly leftOut: number;
}

/** Positions of one topic that wait to be written. */
export class PositionBuffer {
  readonly #topic: PositionTopic;
  readonly #bytesMax: number;
  readonly #thinning: Thinning | undefined;
  /** Arriving rows, and rows being written or to be retried. */
  #coming = new PositionRows();
  #leaving = new PositionRows();

  constructor(topic: PositionTopic, { minIntervalMs, minDistanceMeters, bytesMax }: PositionBufferOptions) {
    this.#topic = topic;
    this.#bytesMax = bytesMax;
    const isThinned = minIntervalMs > 0 || minDistanceMeters > 0;
    this.#thinning = isThinned ? new Thinning({ minIntervalMs, minDistanceMeters, meters: geodesicMeters }) : undefined;
  }

  /** Number of buffered positions. */
  get waiting(): number {
    return this.#coming.count + this.#leaving.count;
  }

  /** Number of positions that have arrived since the last write began. */
  get arrived(): number {
    return this.#coming.count;
  }

  /** Adds a section, without positions before `sinceMs()` and without those that thinning omits. */
  add(
    memory: PositionMemory,
    section: PositionSection,
    { names, sinceMs }: { readonly names: ShardNames; sinceMs(): number },
  ): Omitted {
    const { count } = section;
    if (this.#coming.bytes + this.#leaving.bytes >= this.#bytesMax) return { dropped: count, tooOld: 0, leftOut: 0 };
    // Thinning does not see rows that are too old, so they are counted separately.
    const recent = rowsSince(memory, section, sinceMs());
    const recentCount = recent?.length ?? count;
    const rows = this.#thinning?.kept(memory, section, { names, rows: recent }) ?? recent;
    if (rows?.length !== 0) this.#coming.add(memory, section, { names, properties: propertiesOf, rows });
    return { dropped: 0, tooOld: count - recentCount, leftOut: recentCount - (rows?.length ?? count) };
  }

  /**
   * Writes the positions of each hour to a file and reports their number. Positions that cannot be written stay in the
   * buffer.
   */
  async write(duck: Duck, files: HistoryFiles, recorded: (count: number) => void): Promise<void> {
    await this.#writeLeaving(duck, files, recorded);
    [this.#coming, this.#leaving] = [this.#leaving, this.#coming];
    await this.#writeLeaving(duck, files, recorded);
  }

  async #writeLeaving(duck: Duck, files: HistoryFiles, recorded: (count: number) => void): Promise<void> {
    const topic = this.#topic;
    const rows = this.#leaving;
    if (rows.count === 0) return;
    const columns = rows.columns();
    const hours = rows.byHour(FILE_ROWS);
    const copy = (path: string) =>
      copyQuicklyTo(
        path,
        positionsForFile(
          `${ROWS_TO_WRITE}()`,
          columns.map(({ name }) => name),
        ),
      );
    let written = 0;
    try {
      await duck.appendTexts('properties', rows.properties);
      for (const { hourMs, order } of hours) {
        const all = { columns, names: rows.names, order };
        await files.write({ topic, hourMs }, { rows: order.length, write: (path) => duck.runWith(all, copy(path)) });
        recorded(order.length);
        written++;
      }
    } finally {
      rows.keepOnly(hours.slice(written));
      await duck.run('TRUNCATE properties').catch(() => undefined);
    }
  }
}

/** Returns the properties of a location as JSON, given its members without braces. */
function propertiesOf(members: string): string {
  const { properties } = parseJson(`{${members}}`) as { readonly properties?: unknown };
  return properties == null ? '' : JSON.stringify(properties);
}
