import { closeSync, existsSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { extname } from 'node:path';
import { COLUMNS, copyTo, inOrder, sqlText } from '../../history/columns.ts';
import { parquet } from '../../history/damaged.ts';
import type { Duck } from '../../history/duck.ts';
import { HOUR_MS } from '../../history/layout.ts';
import { microseconds } from '../../history/queries/sql.ts';
import { GUARDED } from '../../model/csv.ts';
import type { HistoryTopic } from '../../model/history.ts';
import { formatTime } from '../../model/time.ts';
import { replaceByPrivate } from '../../store/private_files.ts';
import { CliError } from '../command_error.ts';
import { interruption } from '../options.ts';
import { onFiles, withDuck } from './history_files.ts';
import { EXPORT_FORMATS, type ExportFormat, type ExportOptions } from './history_options.ts';
import { keyOf, pseudonymized } from './pseudonyms.ts';
import { historyHere, lockedByHub, refuseOwnFiles } from './place.ts';
import { Steps } from './steps.ts';

/** Columns that contain JSON. */
const JSON_COLUMNS: readonly string[] = ['properties', 'trackables', 'event'];

/** `history export`: writes the rows of a time range into a file, which appears when it is complete. */
export async function historyExportCommand(options: ExportOptions): Promise<void> {
  const { out, topic, from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY, force } = options;
  if (from >= to) {
    throw new CliError(`--from must be before --to, found ${formatTime(from)} and ${formatTime(to)}`);
  }
  const database = lockedByHub();
  if (database !== undefined) refuseOwnFiles(out, database);
  if (existsSync(out) && force !== true) {
    throw new CliError(`Cannot write ${out}: it exists already; --force replaces it`);
  }
  const { pseudonymize } = options;
  const key = pseudonymize === undefined ? undefined : keyOf(pseudonymize === true ? undefined : pseudonymize);
  const format = formatOf(options);
  const folder = historyHere();
  const unfinished = `${out}.writing`;
  const spillFolder = `${out}.spill`;
  const signal = interruption();
  const steps = new Steps();
  try {
    const { rows, damaged } = await withDuck(spillFolder, async (duck) => {
      signal.addEventListener('abort', () => duck.interrupt());
      return await onFiles(folder, {
        duck,
        async work({ files, damaged }) {
          const isWanted = (file: { topic: HistoryTopic; hourMs: number }): boolean =>
            file.topic === topic && file.hourMs < to && file.hourMs + HOUR_MS > from;
          const wanted = files.filter(isWanted);
          if (wanted.length === 0) throw new CliError(`Nothing to export: no ${topic} of this time in ${folder}`);
          const span = [
            ...(Number.isFinite(from) ? [`time >= ${microseconds(from)}`] : []),
            ...(Number.isFinite(to) ? [`time < ${microseconds(to)}`] : []),
          ];
          const recorded = `(SELECT * FROM ${parquet(wanted)}${span.length === 0 ? '' : ` WHERE ${span.join(' AND ')}`})`;
          const table = key === undefined ? recorded : pseudonymized(recorded, topic, key);
          replaceByPrivate(unfinished);
          await write(duck, { topic, format, table, path: unfinished });
          const [row] = await duck.rows(`SELECT count(*)::VARCHAR AS rows FROM ${table}`);
          return { rows: Number(row?.['rows']), damaged: damaged.filter(isWanted).length };
        },
      });
    });
    signal.throwIfAborted();
    renameSync(unfinished, out);
    const left = damaged === 0 ? '' : `; left out what is in ${damaged} damaged files: history info names them`;
    steps.done(`Exported ${rows} rows of ${topic} to ${out} in ${steps.seconds}${left}`);
  } catch (error) {
    if (signal.aborted) throw new CliError(`Interrupted: ${out} was not written`);
    if (error instanceof CliError) throw error;
    throw new CliError(`Cannot write ${out}: ${(error as Error).message}`, { cause: error });
  } finally {
    rmSync(unfinished, { force: true });
    rmSync(spillFolder, { recursive: true, force: true });
  }
}

function formatOf({ out, format }: ExportOptions): ExportFormat {
  if (format !== undefined) return format;
  const ending = extname(out).slice(1).toLowerCase();
  const found = EXPORT_FORMATS.find((each) => each === ending || (each === 'geojson' && ending === 'json'));
  if (found !== undefined) return found;
  throw new CliError(`--format is needed: ${out} ends in none of .${EXPORT_FORMATS.join(', .')}`);
}

async function write(
  duck: Duck,
  { topic, format, table, path }: { topic: HistoryTopic; format: ExportFormat; table: string; path: string },
): Promise<void> {
  if (format === 'parquet') return await duck.run(copyTo(path, inOrder(topic, table)));
  const columns = Object.entries(COLUMNS[topic]).map(([name, type]) => {
    if (type === 'TIMESTAMPTZ') return `strftime(${name}, '%Y-%m-%dT%H:%M:%S.%fZ') AS ${name}`;
    return format === 'csv' && type === 'VARCHAR' ? guardedColumn(name) : name;
  });
  const sql = `SELECT ${columns.join()} FROM (${inOrder(topic, table)})`;
  if (format === 'csv') return await duck.run(`COPY (${sql}) TO ${sqlText(path)} (FORMAT csv, HEADER)`);
  await writeGeoJson(duck, { sql, path });
}

/** Guards strings against evaluation by spreadsheets, like `guarded` of csv.ts. */
function guardedColumn(name: string): string {
  return `CASE WHEN regexp_matches(${name}, ${sqlText(GUARDED)}) THEN '''' || ${name} ELSE ${name} END AS ${name}`;
}

/** A feature for each row; a fence event has no position of its own. */
async function writeGeoJson(duck: Duck, { sql, path }: { sql: string; path: string }): Promise<void> {
  const file = openSync(path, 'w');
  try {
    writeSync(file, '{"type":"FeatureCollection","features":[');
    let before = '\n';
    for await (const rows of duck.stream(sql)) {
      if (rows.length === 0) continue;
      writeSync(file, before + rows.map(featureOf).join(',\n'));
      before = ',\n';
    }
    writeSync(file, '\n]}\n');
  } finally {
    closeSync(file);
  }
}

function featureOf(row: Readonly<Record<string, unknown>>): string {
  const { longitude, latitude, z, ...rest } = row;
  const isPlaced = longitude != null && latitude != null;
  const coordinates = [longitude, latitude, ...(z == null ? [] : [z])];
  const members = Object.entries(rest)
    .filter(([, value]) => value !== null)
    // JSON stays as written, so that its numbers are not rounded.
    .map(([name, value]) => `${JSON.stringify(name)}:${JSON_COLUMNS.includes(name) ? value : JSON.stringify(value)}`);
  const geometry = isPlaced ? `{"type":"Point","coordinates":${JSON.stringify(coordinates)}}` : 'null';
  return `{"type":"Feature","geometry":${geometry},"properties":{${members.join()}}}`;
}
