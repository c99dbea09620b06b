import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { copyTo, inOrder } from '../../src/history/columns.ts';
import { Duck } from '../../src/history/duck.ts';
import { HOUR_MS, pathOf, writingPathOf } from '../../src/history/layout.ts';
import type { HistoryTopic } from '../../src/model/history.ts';

/**
 * Creates the files of a recorded day of a site: for each hour two of positions, since one would exceed the number of
 * rows that are merged, and one of fence events. DuckDB generates the rows.
 */

export const DAY_START_MS = Date.parse('2026-03-01T00:00:00Z');
/** Each is located once a second: 100 million rows. */
export const OBJECTS = 1160;
export const FENCES = 100;
/** Entries, and exits, of each object in an hour. */
const VISITS = 20;
const SECONDS = 3600;
/** Position files in an hour. */
const PARTS = 2;
const MEMORY_MB = 1024;

/** Id of one of the objects. */
export function objectId(index: number): string {
  return `${String(index).padStart(8, '0')}-0000-4000-8000-000000000000`;
}

export function fenceId(index: number): string {
  return `fence-${index}`;
}

/** Writes the missing hours of the day into the folder of a history. Calls `onHour` for each hour. Returns the number of position rows. */
export async function writeDay(
  folder: string,
  { objects, onHour }: { readonly objects: number; onHour(hour: number): void },
): Promise<number> {
  const duck = await Duck.open({ memoryMb: MEMORY_MB, spillFolder: undefined });
  try {
    for (let hour = 0; hour < 24; hour++) {
      const hourMs = DAY_START_MS + hour * HOUR_MS;
      const write = async (topic: HistoryTopic, number: number, sql: string): Promise<void> => {
        const path = join(folder, pathOf({ topic, hourMs, first: number, last: number }));
        if (existsSync(path)) return;
        onHour(hour);
        mkdirSync(dirname(path), { recursive: true });
        await duck.run(copyTo(writingPathOf(path), sql));
        renameSync(writingPathOf(path), path);
      };
      for (let part = 0; part < PARTS; part++) await write('motions', part + 1, placesSql(hourMs, { objects, part }));
      await write('fence_events', 1, inOrder('fence_events', `(${eventsSql(hourMs, objects)})`));
    }
  } finally {
    duck.close();
  }
  return objects * 24 * SECONDS;
}

const ID = "printf('%08d-0000-4000-8000-000000000000', o)";

/**
 * Each object walks in its own circle, and is located at its own millisecond. Rows are in the order of ids and times.
 */
function placesSql(hourMs: number, { objects, part }: { readonly objects: number; readonly part: number }): string {
  const seconds = SECONDS / PARTS;
  const micros = `${1000 * hourMs} + 1000000 * s + 1000 * (o * 997 % 1000)`;
  const angle = '(s / 300.0 + o)';
  return `
    SELECT make_timestamptz(${micros}) AS time, ${ID} AS id, 'tag-' || o AS provider_id, 'hall' AS source, 'zone-1' AS zone_id,
      (o % 3)::DOUBLE AS floor, round(8.68 + 0.001 * sin(${angle}), 7) AS longitude,
      round(50.11 + 0.001 * cos(${angle}), 7) AS latitude, NULL::DOUBLE AS z, round(50 + 50 * sin(${angle}), 3) AS x,
      round(50 + 50 * cos(${angle}), 3) AS y, 0.5::DOUBLE AS accuracy, 1::DOUBLE AS speed, NULL::DOUBLE AS course,
      NULL::VARCHAR AS properties, make_timestamptz(${micros} + 20000) AS received
    FROM (SELECT i // ${seconds} AS o, ${part * seconds} + i % ${seconds} AS s FROM range(${objects * seconds}) rows(i))`;
}

/** An object moves from fence to fence, and is in each of them for two of three minutes. */
function eventsSql(hourMs: number, objects: number): string {
  const lengthMicros = (SECONDS / VISITS) * 1_000_000;
  const hour = (hourMs - DAY_START_MS) / HOUR_MS;
  return `
    SELECT make_timestamptz(CASE e WHEN 0 THEN entry ELSE exit END) AS time,
      printf('%08d-%04d-%04d-8000-000000000000', o, ${hour * VISITS} + v, e) AS id,
      CASE e WHEN 0 THEN 'region_entry' ELSE 'region_exit' END AS event_type,
      'fence-' || ((o + v + ${hour}) % ${FENCES}) AS fence_id, NULL::VARCHAR AS foreign_id, 'trackable' AS object_type,
      ${ID} AS object_id, ${ID} AS trackable_id, 'tag-' || o AS provider_id, NULL::VARCHAR AS trackables,
      make_timestamptz(entry) AS entry_time, CASE e WHEN 1 THEN make_timestamptz(exit) END AS exit_time,
      NULL::VARCHAR AS properties, json_object('trackable_id', ${ID}, 'provider_id', 'tag-' || o)::VARCHAR AS event
    FROM (SELECT o, v, entry, entry + ${(lengthMicros * 2) / 3} AS exit FROM (SELECT o, v,
        ${1000 * hourMs} + v * ${lengthMicros} + 1000 * (o * 997 % 1000) AS entry
      FROM range(${objects}) objects(o) CROSS JOIN range(${VISITS}) visits(v))) CROSS JOIN range(2) events(e)`;
}
