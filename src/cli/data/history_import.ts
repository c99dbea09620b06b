import { randomUUID } from 'node:crypto';
import { projection } from '../../core/geo/crs.ts';
import { roundDegrees } from '../../core/geo/rounding.ts';
import { POSITION_TOPICS, type PositionTopic } from '../../core/history_rows.ts';
import { zoneTransform } from '../../core/zone/zone_transform.ts';
import { FORMAT, FORMAT_VERSION, readDocument } from '../../entities/import_document.ts';
import { copyTo, inOrder, POSITION_COLUMNS } from '../../history/columns.ts';
import type { Duck } from '../../history/duck.ts';
import type { ColumnValue } from '../../history/event_rows.ts';
import { HistoryFiles } from '../../history/files.ts';
import { HOUR_MS, hourOf } from '../../history/layout.ts';
import { microseconds } from '../../history/queries/sql.ts';
import { type CheckedLocation, checkLocation } from '../../ingest/check_location.ts';
import { idKey } from '../../model/id.ts';
import { formatTime } from '../../model/time.ts';
import type { Trackable } from '../../model/trackable.ts';
import type { Zone } from '../../model/zone.ts';
import { Problem } from '../../problem.ts';
import { lockFile } from '../../store/lock.ts';
import { readEntities } from '../../store/read_entities.ts';
import { CliError } from '../command_error.ts';
import type { RecordedFrame } from '../replay/recording.ts';
import { refused as refusedDocument } from './document.ts';
import { withDuck } from './history_files.ts';
import { importDocument } from './import.ts';
import { configHere, databaseHere, historyHere } from './place.ts';
import { Steps } from './steps.ts';

interface HistoryImport {
  /** File of the positions. */
  readonly path: string;
  /** Number of rows without a position. */
  readonly refused: number;
  readonly makeTrackables: boolean;
}

/** Entities on which the rows depend. */
interface Site {
  readonly zones: ReadonlyMap<string, Zone>;
  /** Ids of the trackables of each provider. */
  readonly trackablesOf: ReadonlyMap<string, readonly string[]>;
  readonly providers: ReadonlySet<string>;
}

type Row = Readonly<Record<string, ColumnValue>>;

const PROBLEMS_SHOWN = 5;
const DAY_MS = 86_400_000;
const TABLE = 'imported';

/**
 * Writes locations, and the motions of their trackables, to the history of a stopped hub. The hub has not evaluated them: there
 * are no fence events, and last locations stay. Creates the providers that do not exist, as the hub would. Throws a
 * CliError if the hub records no history, and a StartupError if it runs.
 */
export async function importIntoHistory(
  frames: readonly RecordedFrame[],
  { path, refused, makeTrackables }: HistoryImport,
): Promise<void> {
  const { history, history_topics: recorded, history_retention_days: days } = configHere();
  const database = databaseHere();
  const topics = POSITION_TOPICS.filter((topic) => recorded.includes(topic));
  if (!history || topics.length === 0) {
    throw new CliError(
      `Cannot import ${path} into the history: the hub records no positions (history, history_topics)`,
    );
  }
  const steps = new Steps();
  const { checked, rejected } = checkedOf(frames, siteIn(database).zones);
  if (checked.length === 0) throw new CliError(`Cannot import ${path}: it contains no valid locations`);
  const [first] = checked;
  const retainedMs = days === null ? Number.NEGATIVE_INFINITY : Date.now() - days * DAY_MS;
  if (first !== undefined && first.generatedMs < retainedMs) {
    console.error(`Warning: the hub will delete positions before ${formatTime(retainedMs)} (history_retention_days)`);
  }
  await addEntities(checked, { database, makeTrackables, steps, path });
  const { unlock } = lockFile(database, database);
  try {
    const counts = await write(checked, { topics, site: siteIn(database), steps });
    const written = topics.map((topic) => `${counts[topic]} ${topic}`).join(' and ');
    console.log(`Read ${frames.length + refused} rows, ${refused} of them without a position`);
    console.log(`Wrote ${written} to ${historyHere()}, rejected ${rejected} locations`);
  } finally {
    unlock();
  }
}

function siteIn(database: string): Site {
  const entities = readEntities(database);
  try {
    const zones = [...entities.texts('zone')].map((text) => JSON.parse(text) as Zone);
    const trackablesOf = new Map<string, string[]>();
    for (const text of entities.texts('trackable')) {
      const { id, location_providers: ids } = JSON.parse(text) as Trackable;
      for (const provider of ids ?? []) {
        const key = idKey(provider);
        trackablesOf.set(key, [...(trackablesOf.get(key) ?? []), id]);
      }
    }
    const providers = [...entities.texts('provider')].map((text) => idKey((JSON.parse(text) as { id: string }).id));
    return {
      zones: new Map(zones.flatMap((zone) => [zone.foreign_id, zone.id].flatMap((id) => (id ? [[id, zone]] : [])))),
      trackablesOf,
      providers: new Set(providers),
    };
  } finally {
    entities.close();
  }
}

interface Checked {
  readonly checked: readonly CheckedLocation[];
  readonly rejected: number;
}

/** Checks the locations as a hub would, and prints the first problems. */
function checkedOf(frames: readonly RecordedFrame[], zones: Site['zones']): Checked {
  const checked: CheckedLocation[] = [];
  let rejected = 0;
  const receivedMs = Date.now();
  for (const { line, location } of frames) {
    const found = checkLocation(location, {
      at: '',
      receivedMs,
      zone: (name) => zones.get(name),
      knownId: (id) => id,
    });
    if (!(found instanceof Problem)) checked.push(found);
    else if (++rejected <= PROBLEMS_SHOWN) console.error(`Rejected: row ${line}: ${found}`);
  }
  return { checked, rejected };
}

/** Creates missing providers, and with `makeTrackables` a trackable for each provider without one. */
async function addEntities(
  checked: readonly CheckedLocation[],
  {
    database,
    makeTrackables,
    steps,
    path,
  }: { readonly database: string; readonly makeTrackables: boolean; readonly steps: Steps; readonly path: string },
): Promise<void> {
  const { providers, trackablesOf } = siteIn(database);
  const types = new Map(checked.map(({ location }) => [location.provider_id, location.provider_type]));
  const added = [...types].filter(([id]) => !providers.has(idKey(id)));
  const unassigned = makeTrackables ? [...types.keys()].filter((id) => !trackablesOf.has(idKey(id))) : [];
  if (added.length + unassigned.length === 0) return;
  const document = readDocument({
    format: FORMAT,
    version: FORMAT_VERSION,
    providers: added.map(([id, type]) => ({ id, type })),
    trackables: unassigned.map((id) => ({ id: randomUUID(), type: 'virtual', name: id, location_providers: [id] })),
  });
  if (!('entities' in document)) throw refusedDocument(path, document);
  await importDocument({ document, replace: false, from: `the providers of ${path}`, steps });
}

interface Writing {
  readonly topics: readonly PositionTopic[];
  readonly site: Site;
  readonly steps: Steps;
}

/** Writes a file per topic and hour, and returns the number of rows of each topic. */
async function write(
  checked: readonly CheckedLocation[],
  { topics, site, steps }: Writing,
): Promise<Readonly<Record<PositionTopic, number>>> {
  const counts = { locations: 0, motions: 0 };
  const receivedMs = Date.now();
  const hours = [...Map.groupBy(checked, ({ generatedMs }) => hourOf(generatedMs))].sort(([a], [b]) => a - b);
  const files = new HistoryFiles(historyHere());
  await withDuck(undefined, async (duck) => {
    await files.open(
      async () => 0,
      () => undefined,
    );
    const columns = Object.entries(POSITION_COLUMNS).map(([name, type]) => `${name} ${type}`);
    await duck.run(`CREATE TABLE ${TABLE}(${columns.join()})`);
    for (const [i, [hourMs, located]] of hours.entries()) {
      steps.show({ text: `Writing hour ${i + 1} of ${hours.length}`, part: i / hours.length });
      const rows = located.flatMap((each) => rowOf(each, { receivedMs, zones: site.zones }));
      for (const topic of topics) {
        const wanted = topic === 'locations' ? rows : rows.flatMap((row) => motionsOf(row, site));
        if (wanted.length === 0) continue;
        counts[topic] += wanted.length;
        await writeHour(duck, { files, topic, hourMs, rows: wanted });
      }
    }
  });
  steps.done(`Wrote files of ${hours.length === 1 ? 'one hour' : `${hours.length} hours`} in ${steps.seconds}`);
  return counts;
}

interface Hour {
  readonly files: HistoryFiles;
  readonly topic: PositionTopic;
  readonly hourMs: number;
  readonly rows: readonly Row[];
}

async function writeHour(duck: Duck, { files, topic, hourMs, rows }: Hour): Promise<void> {
  await duck.appendRows(TABLE, POSITION_COLUMNS, rows);
  const span = `time >= ${microseconds(hourMs)} AND time < ${microseconds(hourMs + HOUR_MS)}`;
  const table = `(SELECT * FROM ${TABLE} WHERE ${span})`;
  await files.write(
    { topic, hourMs },
    { rows: rows.length, write: (path) => duck.run(copyTo(path, inOrder(topic, table))) },
  );
  await duck.run(`TRUNCATE ${TABLE}`);
}

/** Returns the row of a location; none if its coordinates have no position. */
function rowOf(
  { location, generatedMs }: CheckedLocation,
  { receivedMs, zones }: { readonly receivedMs: number; readonly zones: Site['zones'] },
): readonly Row[] {
  const { crs, coordinates, source, provider_id: id, accuracy, speed, course } = location;
  const [x = Number.NaN, y = Number.NaN, z] = coordinates;
  const zone = zones.get(source);
  const out: [number, number] = [x, y];
  if (crs !== 'EPSG:4326') {
    const plane = crs === 'local' ? zone && zoneTransform(zone) : projection(crs);
    out.fill(Number.NaN);
    plane?.toWgs84(x, y, out);
  }
  const [longitude, latitude] = out;
  if (!Number.isFinite(longitude) || !Number.isFinite(latitude)) return [];
  const isLocal = crs === 'local' && zone !== undefined;
  return [
    {
      ...{ time: generatedMs, received: receivedMs, id, provider_id: id, source },
      ...{ longitude: roundDegrees(longitude), latitude: roundDegrees(latitude) },
      floor: location.floor ?? zone?.floor ?? 0,
      ...(z !== undefined && { z }),
      ...(isLocal && { zone_id: zone.id, x, y }),
      ...(accuracy !== null && { accuracy }),
      ...(speed !== null && { speed }),
      ...(course !== null && { course }),
    },
  ];
}

/** Returns the motions that a location causes: one for each trackable of its provider. */
function motionsOf(row: Row, { trackablesOf }: Site): readonly Row[] {
  return (trackablesOf.get(idKey(String(row['id']))) ?? []).map((id) => ({ ...row, id }));
}
