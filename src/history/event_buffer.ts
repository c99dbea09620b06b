import { COLUMNS, copyTo, inOrder } from './columns.ts';
import type { Duck } from './duck.ts';
import { type EventRow, type EventTopic, eventRow } from './event_rows.ts';
import { referenceTo } from './fence_properties.ts';
import type { HistoryFiles } from './files.ts';
import { hourOf } from './layout.ts';

/** Maximum number of characters of the buffered events of a topic. */
const EVENT_CHARACTERS_MAX = 32 << 20;

/** Events of one topic that wait to be written. */
export class EventBuffer {
  readonly #topic: EventTopic;
  #rows: EventRow[] = [];
  /** Number of characters in all strings of the buffered rows. */
  #characters = 0;

  constructor(topic: EventTopic) {
    this.#topic = topic;
  }

  /** Number of buffered events. */
  get waiting(): number {
    return this.#rows.length;
  }

  /** Adds a published event, unless the buffer is full or the event is older than `sinceMs`. */
  add(json: string, propertiesHash: string | undefined, sinceMs: number): 'added' | 'full' | 'tooOld' {
    if (this.#characters + json.length > EVENT_CHARACTERS_MAX) return 'full';
    const row = eventRow(this.#topic, json, propertiesHash && referenceTo(propertiesHash));
    if (row.timeMs < sinceMs) return 'tooOld';
    this.#characters += charactersOf(row);
    this.#rows.push(row);
    return 'added';
  }

  /**
   * Writes the events of each hour to a file and reports their number. Events that cannot be written stay in the
   * buffer.
   */
  async write(duck: Duck, files: HistoryFiles, recorded: (count: number) => void): Promise<void> {
    const topic = this.#topic;
    const byHour = Map.groupBy(this.#rows.splice(0), ({ timeMs }) => hourOf(timeMs));
    try {
      for (const [hourMs, rows] of byHour) {
        await duck.appendRows(
          topic,
          COLUMNS[topic],
          rows.map(({ values }) => values),
        );
        await files.write(
          { topic, hourMs },
          { rows: rows.length, write: (path) => duck.run(copyTo(path, inOrder(topic, topic))) },
        );
        recorded(rows.length);
        byHour.delete(hourMs);
        await duck.run(`TRUNCATE ${topic}`);
      }
    } finally {
      // Rows that were not written come before rows that arrived in the meantime.
      if (byHour.size > 0) this.#rows = [...[...byHour.values()].flat(), ...this.#rows];
      this.#characters = this.#rows.reduce((sum, row) => sum + charactersOf(row), 0);
      await duck.run(`TRUNCATE ${topic}`).catch(() => undefined);
    }
  }
}

/** Returns the number of characters in the strings of a row. */
function charactersOf({ values }: EventRow): number {
  return Object.values(values).reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 8), 0);
}
