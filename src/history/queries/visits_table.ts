import { parquet } from '../damaged.ts';
import type { Duck } from '../duck.ts';
import type { HistoryFile } from '../files.ts';
import { HOUR_MS } from '../layout.ts';
import { type LastFixesNeeded, lastFixes } from './last_fixes.ts';
import { type CountedObjects, EVER, LOOK_BACK_MS, type VisitFilter, type Timeouts } from './query.ts';
import { filesOf } from './spans.ts';
import { microseconds, Values } from './sql.ts';

/**
 * Temporary table with the visits around a span: `id`, `fence_id`, `object_type`, `object_id`, `entry_time`,
 * `exit_time`, `end_time`, `is_open`.
 *
 *     fence events           visit
 *     ---------------------  ------------------------------------------------------------------------------
 *     an exit                closed: an exit contains its entry time, so it is a complete visit
 *     an entry, no exit      open: ends at the object's last fix plus its fence timeout, which counts as 0 if
 *                            it is infinite, and LOOK_BACK_MS after the entry at the latest
 *     an entry, no exit,     none: the exit was not recorded, so its duration is unknown
 *     entry again later
 *
 * A visit does not depend on the span, since later events and fixes are read as well. So the contributions of a visit
 * to adjacent spans add up to its contribution to the whole.
 */
export const VISITS = 'visits';

const VISITOR = 'fence_id, object_type, object_id';

interface Asked extends VisitFilter {
  readonly trackableId?: string | undefined;
}

/**
 * Fills the table with all visits that started before the end of the span and did not end more than LOOK_BACK_MS before
 * it.
 */
export async function fillVisits(duck: Duck, files: readonly HistoryFile[], asked: Asked): Promise<void> {
  const openSinceMs = await fillClosedVisits(duck, files, asked);
  if (openSinceMs !== undefined) await endOpenVisits(duck, filesSince(files, openSinceMs), asked.timeouts);
}

/** Returns the objects whose last fixes end open visits. */
export async function soughtByVisits(
  duck: Duck,
  files: readonly HistoryFile[],
  asked: Asked,
): Promise<readonly LastFixesNeeded[]> {
  const openSinceMs = await fillClosedVisits(duck, files, asked);
  if (openSinceMs === undefined) return [];
  const rows = await duck.rows(`SELECT DISTINCT object_type, object_id FROM ${VISITS} WHERE is_open`);
  return (['trackable', 'provider'] as const).map((type) => ({
    ...{ topic: TOPIC_OF[type], fromMs: openSinceMs },
    ids: rows.filter((row) => row.object_type === type).map((row) => String(row.object_id)),
  }));
}

/** Fills the table, except for the ends of open visits. Returns the start of the first open visit. */
async function fillClosedVisits(duck: Duck, files: readonly HistoryFile[], asked: Asked): Promise<number | undefined> {
  const { fromMs, toMs, counted } = asked;
  const first = microseconds(fromMs - LOOK_BACK_MS);
  const events = parquet(filesOf(files, 'fence_events', { fromMs: fromMs - LOOK_BACK_MS, toMs: EVER.toMs }));
  const values = new Values();
  await duck.run(
    `CREATE OR REPLACE TEMP TABLE ${VISITS} AS` +
      ` SELECT *, coalesce(exit_time, entry_time) AS end_time, exit_time IS NULL AS is_open FROM (` +
      ` SELECT coalesce(min(id) FILTER (event_type = 'region_entry'), min(id)) AS id, ${VISITOR}, entry_time,` +
      ` max(exit_time) FILTER (event_type = 'region_exit') AS exit_time` +
      ` FROM ${events} WHERE time >= ${first} AND entry_time < ${microseconds(toMs)} AND ${subjects(asked, values)}` +
      ` GROUP BY ${VISITOR}, entry_time HAVING ${COUNTED[counted]})`,
    values,
  );
  const [row] = await duck.rows(`SELECT epoch_ms(min(entry_time)) AS first FROM ${VISITS} WHERE is_open`);
  if (row?.first == null) return undefined;
  const same = VISITOR.split(', ').map((column) => `later.${column} = ${VISITS}.${column}`);
  await duck.run(
    `DELETE FROM ${VISITS} WHERE is_open AND EXISTS` +
      ` (FROM ${events} later WHERE ${same.join(' AND ')} AND later.entry_time > ${VISITS}.entry_time)`,
  );
  return Number(row.first);
}

/** Conditions for visits that count. The event of a provider lists the trackables to which it is assigned. */
const COUNTED: Readonly<Record<CountedObjects, string>> = {
  object: `object_type = 'trackable' OR NOT bool_or(coalesce(trackables, '[]') <> '[]')`,
  trackable: `object_type = 'trackable'`,
  provider: `object_type = 'provider'`,
  all: 'true',
};

function subjects({ fenceIds, trackableId }: Asked, values: Values): string {
  const fences = fenceIds === undefined ? 'true' : `fence_id IN ${values.list(fenceIds)}`;
  if (trackableId === undefined) return fences;
  return `${fences} AND object_type = 'trackable' AND object_id = ${values.text(trackableId)}`;
}

/** Topic with the fixes of an object. */
const TOPIC_OF = { trackable: 'motions', provider: 'locations' } as const;
type ObjectType = keyof typeof TOPIC_OF;

/** Ends open visits by the last fixes of their objects, and by timeouts. */
async function endOpenVisits(duck: Duck, files: readonly HistoryFile[], timeouts: Timeouts): Promise<void> {
  for (const type of ['trackable', 'provider'] as const) {
    const own = files.filter(({ topic }) => topic === TOPIC_OF[type]);
    const open = `SELECT rowid AS visit, * FROM ${VISITS} WHERE is_open AND object_type = '${type}'`;
    const fixes = await lastFixes(duck, own, { ids: `SELECT object_id AS id FROM (${open})` });
    const rows = await duck.rows(
      `SELECT visit, fence_id, object_id, fix.provider_id FROM (${open}) LEFT JOIN ${fixes} fix ON object_id = fix.id`,
    );
    const timed = rows.map((row) => ({ visit: Number(row.visit), timeout: timeoutOf(timeouts, type, row) }));
    await duck.run('CREATE OR REPLACE TEMP TABLE timeouts(visit DOUBLE, timeout DOUBLE)');
    await duck.appendRows('timeouts', { visit: 'DOUBLE', timeout: 'DOUBLE' }, timed);
    const lastUs = 'greatest(epoch_us(entry_time), coalesce(epoch_us(fix.time), epoch_us(entry_time)))';
    const endUs = `least(${lastUs} + 1000 * timeout, epoch_us(entry_time) + ${1000 * LOOK_BACK_MS})`;
    await duck.run(
      `UPDATE ${VISITS} SET end_time = ends.time FROM (` +
        `SELECT visit, make_timestamptz((${endUs})::BIGINT) AS time FROM (${open}) JOIN timeouts USING (visit)` +
        ` LEFT JOIN ${fixes} fix ON object_id = fix.id) ends WHERE ${VISITS}.rowid = ends.visit`,
    );
  }
}

/** Returns the timeout after which an object without fixes leaves a fence; 0 if it never leaves. */
function timeoutOf(
  { fences, trackables, providers }: Timeouts,
  type: ObjectType,
  { fence_id, object_id, provider_id }: Readonly<Record<string, unknown>>,
): number {
  const own = type === 'trackable' ? trackables.get(String(object_id)) : undefined;
  const provider = providers.get(String(type === 'trackable' ? provider_id : object_id));
  const timeoutMs = provider ?? own ?? fences.get(String(fence_id)) ?? 0;
  return Number.isFinite(timeoutMs) ? timeoutMs : 0;
}

function filesSince(files: readonly HistoryFile[], fromMs: number): readonly HistoryFile[] {
  return files.filter(({ hourMs }) => hourMs + HOUR_MS > fromMs);
}
