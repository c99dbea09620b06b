import type { Config } from '../config/schema.ts';
import type { CollisionRow } from '../core/collision/row.ts';
import type { StoredRow, LastKnownRow } from '../core/item.ts';
import type { EntityWrite } from '../core/entity_write.ts';
import { RULES_SETTING } from '../entities/locating_rules.ts';
import { storedByKind, storedSetting } from '../store/entity_json.ts';
import type { StoreReading } from '../store/store.ts';
import type { Parts } from './parts.ts';

const KINDS = ['zone', 'fence', 'provider', 'trackable'] as const;
/** With at least this many entities, the hub will need the memory allocated during its start. */
const MANY = 10_000;

/** Loads the stored state: first the entities, then, as they are read, the rows of existing objects. */
export async function loadState(parts: Parts, reading: StoreReading, config: Config): Promise<void> {
  await bringEntities(parts, reading);
  // The clock runs from here on.
  await bringRows(parts, reading, config);
  await startWorkers(parts);
}

/** Starts the workers early, since the first location should not wait some 400 ms for a worker to start. */
export async function startWorkers(parts: Parts): Promise<void> {
  for (const lane of [...parts.shards.lanes.map(({ lane }) => lane), parts.collisions.lane]) lane.wake();
  await settled(parts);
}

async function bringEntities(parts: Parts, reading: StoreReading): Promise<void> {
  await loadEntities(parts, await reading.entities);
}

/** Loads stored entities and settings, and propagates them. */
export async function loadEntities(parts: Parts, kept: readonly EntityWrite[]): Promise<void> {
  const { entities, rules, tell, applyDefined } = parts;
  entities.load(storedByKind(kept));
  rules.load(storedSetting(kept, RULES_SETTING));
  for (const { kind, id, text } of kept) if (kind === 'setting') applyDefined(id, text ?? null);
  // KINDS lists providers before trackables.
  tell(KINDS.flatMap((kind) => entities.list(kind).map((after) => ({ kind, id: after.id, before: undefined, after }))));
  await settled(parts);
  // Collects the garbage of the start, which would stay until the engine needs memory. In a small hub, that may never
  // happen.
  if (kept.length < MANY) parts.machine.collectGarbage();
}

async function bringRows(parts: Parts, reading: StoreReading, config: Config): Promise<void> {
  const { entities, shards, collisions, writer } = parts;
  const { persist_locations: isKept, restart_event_delay: delayMs } = config;
  const pairs: CollisionRow[] = [];
  for await (const rows of reading.rows) {
    const wanted: LastKnownRow[] = [];
    const unwanted: StoredRow[] = [];
    for (const row of rows) {
      // A pair of deleted objects is retained, because it needs an end event. Other rows of deleted objects were left
      // by a crash or belong to a provider that was never stored.
      if (isKept && row.kind === 'collision') pairs.push(row);
      else if (isKept && row.kind !== 'collision' && entities.has(row.kind, row.id)) wanted.push(row);
      else unwanted.push({ kind: row.kind, id: row.id, gone: true });
    }
    if (unwanted.length > 0) void writer.writeRows(unwanted);
    shards.restore(wanted, delayMs);
    // Waits after each part: if sent at once, all rows would be alive in the shard and copied by each garbage
    // collection.
    await shards.settled();
  }
  // A start may be in the future if the clock was ahead.
  const nowMs = parts.clock.monotonic();
  const past = pairs.map((row) => (row.gone === true ? row : { ...row, startMs: Math.min(row.startMs, nowMs) }));
  collisions.restore(past, delayMs);
}

async function settled({ shards, collisions }: Parts): Promise<void> {
  await Promise.all([shards.settled(), collisions.settled()]);
}
