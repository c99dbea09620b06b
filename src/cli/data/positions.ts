import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { HubError, messageOf } from '../../errors.ts';
import { compileMap, type CompiledMap } from '../../mapping/compile_map.ts';
import { CsvError, csvRecords, separatorOf } from '../../model/csv_records.ts';
import { checker } from '../../model/check.ts';
import { decodeUnicode } from '../../model/decode_unicode.ts';
import { pointerOf } from '../../model/json_tree.ts';
import { type SourceField, SourceMap } from '../../model/source.ts';
import { formatTime } from '../../model/time.ts';
import { CliError } from '../command_error.ts';
import { describePlaced, placeEntities } from '../entities.ts';
import { historyOf, NOT_RECORDED } from '../history_of.ts';
import { type HubClient, hubClient, parsedReply } from '../hub_client.ts';
import { interruption } from '../options.ts';
import { deliver, type DeliveryTally } from '../replay/deliver.ts';
import { paced } from '../replay/pace.ts';
import { generatedMs, readRecording, type RecordedFrame } from '../replay/recording.ts';
import { bar, StatusLine } from '../status_line.ts';
import { withDuck } from './history_files.ts';
import type { PositionOptions } from './position_options.ts';

const PROBLEMS_SHOWN = 5;
const mapChecker = checker(SourceMap);

/** A row of a file, by the names of its columns. */
interface Row {
  /** From 1, without the headings. */
  readonly number: number;
  readonly value: unknown;
}

/**
 * `import positions.csv`: maps the rows of a file to locations, and sends these to a running hub in the order of their
 * times, so that it evaluates fences and records the history as if they came from a positioning system.
 */
export async function importPositions(path: string, options: PositionOptions): Promise<void> {
  const { hub, batch, speed, makeTrackables } = options;
  const signal = interruption();
  const client = hubClient(hub, { signal });
  const status = new StatusLine(process.stderr);
  const map = await mapOf(options);
  const { frames, refused } = await locationsIn(path, { map, columns: namedColumns(options), status });
  if (frames.length === 0) throw new CliError(`Cannot import ${path}: it contains no positions`);
  if (options.intoHistory === true) {
    const { importIntoHistory } = await import('./history_import.ts');
    await importIntoHistory(frames, { path, refused, makeTrackables: makeTrackables === true });
    return;
  }
  const tally: DeliveryTally = { sent: 0, accepted: 0, rejected: 0 };
  try {
    const { recordedSinceMs } = await historyOf(client);
    const firstMs = frames[0]?.atMs ?? 0;
    if (firstMs < recordedSinceMs)
      status.print(`Warning: locations before ${formatTime(recordedSinceMs)} ${NOT_RECORDED}`);
    if (makeTrackables === true) status.print(await addTrackables(client, frames));
    const wait = (ms: number) => delay(ms, undefined, { signal });
    for await (const due of paced(frames, { speed, batch, nowMs: () => performance.now(), wait })) {
      await deliver(client, { batch: due, tally, onRejection: (text) => status.print(`Rejected: ${text}`) });
      status.show(performance.now(), () => `${bar(tally.sent / frames.length)}  ${tally.sent}/${frames.length}`);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    status.print('Interrupted');
  }
  console.log(`Read ${frames.length + refused} rows, ${refused} of them without a position`);
  console.log(`Sent ${tally.sent} locations: accepted ${tally.accepted}, rejected ${tally.rejected}`);
}

interface Mapped {
  /** In the order of their times. */
  readonly frames: readonly RecordedFrame[];
  readonly refused: number;
}

async function locationsIn(
  path: string,
  {
    map,
    columns,
    status,
  }: {
    readonly map: CompiledMap;
    readonly columns: readonly string[];
    readonly status: StatusLine;
  },
): Promise<Mapped> {
  const frames: RecordedFrame[] = [];
  let refused = 0;
  for await (const { number, value } of rowsOf(path)) {
    if (number === 1) requireColumns(path, value, columns);
    const { mapped, problems } = map.run({ value });
    for (const { value: location } of mapped) {
      frames.push({ line: number, atMs: generatedMs(location) ?? 0, location });
    }
    refused += problems.length;
    const [problem] = problems;
    if (problem !== undefined && refused <= PROBLEMS_SHOWN) status.print(`Refused: row ${number}: ${problem}`);
  }
  // The sort is stable: rows of one time stay in their order.
  return { frames: frames.sort((a, b) => a.atMs - b.atMs), refused };
}

/** Columns that the user names, rather than those by default. */
function namedColumns({ map, id, x, y, z, time }: PositionOptions): readonly string[] {
  return map === undefined ? [id, x, y, z, time].filter((name) => name !== undefined) : [];
}

/** Throws a CliError if a table lacks a column. Lines of JSON may each have other members. */
function requireColumns(path: string, row: unknown, columns: readonly string[]): void {
  if (!['.csv', '.parquet'].includes(extname(path).toLowerCase())) return;
  const present = Object.keys(row as object);
  const missing = columns.find((name) => !present.includes(name));
  if (missing === undefined) return;
  throw new CliError(`Cannot import ${path}: it has no column "${missing}", only ${present.join(', ')}`);
}

/** Throws a CliError for a file that cannot be read or parsed. */
async function* rowsOf(path: string): AsyncGenerator<Row> {
  const extension = extname(path).toLowerCase();
  if (extension === '.parquet') {
    yield* (await parquetRows(path)).map((value, index) => ({ number: index + 1, value }));
  } else if (extension === '.csv') {
    yield* csvRows(await textOf(path), path);
  } else {
    for await (const { line, location } of readRecording(path)) yield { number: line, value: location };
  }
}

function* csvRows(text: string, path: string): Generator<Row> {
  const source = text.replace(/^\uFEFF/, '');
  let names: readonly string[] | undefined;
  let number = 0;
  try {
    for (const record of csvRecords(source, separatorOf(source))) {
      if (record.every((field) => field === '')) continue;
      if (names === undefined) {
        names = record;
        continue;
      }
      yield { number: ++number, value: Object.fromEntries(names.map((name, i) => [name, record[i] ?? ''])) };
    }
  } catch (error) {
    if (error instanceof CsvError) throw new CliError(`${path}: ${error.message}`);
    throw error;
  }
}

/** All columns as strings: times in the form of DuckDB, which is a date and time with a blank between. */
async function parquetRows(path: string): Promise<readonly object[]> {
  try {
    return await withDuck(undefined, (duck) =>
      duck.rows(`SELECT CAST(COLUMNS(*) AS VARCHAR) FROM read_parquet('${path.replaceAll("'", "''")}')`),
    );
  } catch (error) {
    // DuckDB appends the query to its message, after an empty line.
    throw new CliError(`Cannot read ${path}: ${messageOf(error).split('\n', 1)[0]}`);
  }
}

async function textOf(path: string): Promise<string> {
  try {
    return decodeUnicode(await readFile(path));
  } catch (error) {
    throw new CliError(`Cannot read ${path}: ${messageOf(error)}`);
  }
}

/** The map of a file, or of the columns. Throws a CliError. */
async function mapOf(options: PositionOptions): Promise<CompiledMap> {
  try {
    const map = options.map === undefined ? mapOfColumns(options) : (JSON.parse(await textOf(options.map)) as unknown);
    return compileMap(mapChecker.parse(map, 'map'));
  } catch (error) {
    if (error instanceof HubError) throw new CliError(error.message);
    if (error instanceof SyntaxError) throw new CliError(`${options.map}: is not JSON: ${error.message}`);
    throw error;
  }
}

function mapOfColumns(options: PositionOptions): SourceMap {
  const { id = 'id', x = 'x', y = 'y', z, time = 'time', timeUnit, timeZone, crs, zone, type } = options;
  const column = (name: string): SourceField => pointerOf(name);
  return {
    ...(timeZone !== undefined && { time_zone: timeZone }),
    provider_id: column(id),
    provider_type: { value: type },
    x: column(x),
    y: column(y),
    ...(z !== undefined && { z: column(z) }),
    timestamp_generated: { path: pointerOf(time), unit: timeUnit },
    ...(zone === undefined ? { crs: { value: crs } } : { source: { value: zone } }),
  };
}

/** Creates a trackable with the name of the provider for each provider that has none. */
async function addTrackables(client: HubClient, frames: readonly RecordedFrame[]): Promise<string> {
  const trackables = parsedReply(await client.send('GET', '/trackables/summary')) as readonly {
    readonly location_providers?: readonly string[] | null;
  }[];
  const assigned = new Set(trackables.flatMap(({ location_providers: ids }) => ids ?? []));
  const ids = new Set(frames.map(({ location }) => String(location['provider_id'])));
  const added = [...ids].filter((id) => !assigned.has(id));
  return describePlaced(
    await placeEntities(
      client,
      'trackables',
      added.map((id) => ({ type: 'virtual', name: id, location_providers: [id] })),
    ),
  );
}
