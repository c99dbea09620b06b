import type { Config } from '../config/schema.ts';
import type { CollisionRow } from '../core/collision/row.ts';
import type { StoredFacts, EntityWrite } from '../core/entity_write.ts';
import type { StoredRow } from '../core/item.ts';
import type { PackedRows, RowHead } from '../core/row_bytes.ts';
import { RULES_SETTING } from '../entities/locating_rules.ts';
import { EntitiesByKind, storedSetting } from '../store/entity_json.ts';
import type { StoreReading } from '../store/store.ts';
import { newRecordBuffer } from '../wire/location_record.ts';
import type { Parts } from './parts.ts';

const KINDS = ['zone', 'fence', 'provider', 'trackable'] as const;
/** With at least this many entities, the hub will need the memory allocated during its start. */
const MANY = 10_000;

/** Loads the stored state: first the entities, then, as they are read, the rows of existing objects. */
export async function loadState(parts: Parts, reading: StoreReading, config: Config): Promise<StoredFacts> {
  const entities = new EntitiesByKind();
  const settings: EntityWrite[] = [];
  const rows = new RowLoader(parts, config);
  let areLoaded = false;
  for await (const part of reading.parts) {
    entities.add(part.entities);
    settings.push(...part.entities.filter(({ kind }) => kind === 'setting'));
    if (part.rows.count === 0) continue;
    if (!areLoaded) await loadEntities(parts, entities, settings);
    areLoaded = true;
    await rows.add(part.rows);
  }
  if (!areLoaded) await loadEntities(parts, entities, settings);
  await rows.finish();
  await startWorkers(parts);
  return { hubId: await reading.hubId, settings, lastReceived: rows.lastReceived };
}

/** Starts the workers early, since the first location should not wait some 400 ms for a worker to start. */
export async function startWorkers(parts: Parts): Promise<void> {
  for (const lane of [...parts.shards.lanes.map(({ lane }) => lane), parts.collisions.lane]) lane.wake();
  await settled(parts);
}

/** Loads stored entities and settings, and propagates them. */
export async function loadEntities(
  parts: Parts,
  stored: EntitiesByKind,
  settings: readonly EntityWrite[],
): Promise<void> {
  const { entities, rules, tell, applyDefined } = parts;
  entities.load(stored);
  rules.load(storedSetting(settings, RULES_SETTING));
  for (const { id, text } of settings) applyDefined(id, text ?? null);
  // KINDS lists providers before trackables.
  tell(KINDS.flatMap((kind) => entities.list(kind).map((after) => ({ kind, id: after.id, before: undefined, after }))));
  if (stored.trackable.length + stored.provider.length >= MANY) return;
  await settled(parts);
  // Collects the garbage of the start, which would stay until the engine needs memory. In a small hub, that may never
  // happen.
  parts.machine.collectGarbage();
}

async function settled({ shards, collisions }: Parts): Promise<void> {
  await Promise.all([shards.settled(), collisions.settled()]);
}

/** Returns the settings of a store that contains nothing else. */
export async function loadSettings({ parts, hubId }: StoreReading): Promise<StoredFacts> {
  const settings: EntityWrite[] = [];
  for await (const { entities } of parts) settings.push(...entities);
  return { hubId: await hubId, settings, lastReceived: [] };
}

const [PAIR, WANTED, UNWANTED] = [0, 1, 2] as const;

/** Passes stored rows to the shards and to the collision stage. */
class RowLoader {
  readonly #parts: Parts;
  readonly #config: Config;
  readonly #pairs: CollisionRow[] = [];
  readonly lastReceived: (readonly [providerId: string, receivedMs: number])[] = [];
  /** Resolves when the shards have restored all rows but those of the last part. */
  #restored: Promise<void> = Promise.resolve();

  constructor(parts: Parts, config: Config) {
    this.#parts = parts;
    this.#config = config;
  }

  /** Passes rows to the shards. Resolves when the rows before these are restored. */
  async add(rows: PackedRows): Promise<void> {
    const { shards, writer } = this.#parts;
    const [pairs, wanted, unwanted] = rows.divided(3, (head) => this.#groupOf(head), newRecordBuffer);
    for (const row of pairs ?? []) if (row.kind === 'collision') this.#pairs.push(row);
    const tombstones = Array.from(unwanted?.heads() ?? [], ({ kind, id }): StoredRow => ({ kind, id, gone: true }));
    if (tombstones.length > 0) void writer.writeRows(tombstones);
    if (wanted === undefined || wanted.count === 0) return;
    shards.restore(wanted, this.#config.restart_event_delay);
    const before = this.#restored;
    this.#restored = shards.settled();
    this.#restored.catch(() => undefined);
    // The shards restore a part while the next one is prepared. If all parts were sent at once, all rows would be alive
    // in the shards and copied by each garbage collection.
    await before;
  }

  #groupOf({ kind, id, receivedMs }: RowHead): number {
    if (kind === 'provider') this.lastReceived.push([id, receivedMs]);
    if (!this.#config.persist_locations) return UNWANTED;
    // A pair of deleted objects is retained, because it needs an end event. Other rows of deleted objects were left by a
    // crash or belong to a provider that was never stored.
    if (kind === 'collision') return PAIR;
    return this.#parts.entities.has(kind, id) ? WANTED : UNWANTED;
  }

  /** Passes the colliding pairs to the collision stage, after all rows. */
  async finish(): Promise<void> {
    const { clock, collisions } = this.#parts;
    await this.#restored;
    // A start may be in the future if the clock was ahead.
    const nowMs = clock.monotonic();
    const past = this.#pairs.map((row) => {
      return row.gone === true ? row : { ...row, startMs: Math.min(row.startMs, nowMs) };
    });
    collisions.restore(past, this.#config.restart_event_delay);
  }
}
