import type { Cluster, LeftBehind } from '../cluster/cluster.ts';
import type { Config } from '../config/schema.ts';
import type { LastKnownRow } from '../core/item.ts';
import type { EntityWrite } from '../core/kept.ts';
import { RULES_SETTING } from '../entities/locating_rules.ts';
import { announceFenceEvent, announceProximity } from '../fanout/front_events.ts';
import type { FenceEvent } from '../model/events.ts';
import { foreignRows } from '../shards/row_times.ts';
import { startWorkers, tellEntities } from './fill.ts';
import type { Parts } from './parts.ts';

/** Brings in the entities of a cluster, and from then on what others change, and what they leave to this hub. */
export async function fillFromCluster(
  parts: Parts,
  cluster: Cluster,
  { config, out }: { readonly config: Config; out(error: Error): void },
): Promise<void> {
  const { clock, entities, rules, shards, zoneMoves, fanout, sources } = parts;
  const { entities: kept, catchUp } = cluster.attach({
    foreign: (changes) => entities.applyForeign(changes),
    setting(name, text) {
      if (name === RULES_SETTING) rules.apply(text === null ? [] : JSON.parse(text));
    },
    kept: () => entities.kept(),
    entities: () => entities.written(),
    takeOver: (left) => takeOver(parts, left, config.restart_event_delay),
    owned: {
      hasCapacity: (count) => parts.hasCapacity(count),
      async take(runs) {
        const receivedMs = clock.running();
        const isStranger = (id: string): boolean => !entities.has('provider', id);
        for (const run of runs) shards.received(run, { receivedMs, runningTime: clock.runningTime, isStranger });
        await shards.settled();
      },
      ask: (query) => shards.ask(query),
      async forget(ids) {
        for (const id of ids) shards.forget(id);
        await shards.settled();
      },
      async settled() {
        await shards.settled();
        await zoneMoves.settled();
      },
    },
    fanout,
    announce: {
      proximity: (text) => announceProximity(fanout, JSON.parse(text), clock.now()),
      fenceEvent(text) {
        const event = JSON.parse(text) as FenceEvent;
        const fence = entities.get('fence', event.fence_id);
        if (fence !== undefined) announceFenceEvent(fanout, { fence, event, zones: (id) => entities.zoneBy(id) });
      },
    },
    owns: () => sources.start(),
    out,
  });
  const rulesText = cluster.settings.get(RULES_SETTING);
  // Nothing may come in between: the next record is told to the entities themselves.
  const told = tellEntities(parts, rulesText === undefined ? kept : [...kept, settingOf(rulesText)]);
  catchUp();
  await told;
  await startWorkers(parts);
}

function settingOf(text: string): EntityWrite {
  return { kind: 'setting', id: RULES_SETTING, text };
}

/** Gives the shards what was left of their objects, and the collision stage its pairs. */
async function takeOver(parts: Parts, { rows, pairs, steps, config }: LeftBehind, delayMs: number): Promise<void> {
  const { clock, entities, shards, collisions } = parts;
  // The end of what was deleted after it is still to be told.
  const changed = shards.changedSince(config);
  const wanted: LastKnownRow[] = [];
  const unwanted: LastKnownRow[] = [];
  for (const row of rows) {
    if (entities.has(row.kind, row.id) || changed.has(`${row.kind} ${row.id}`)) wanted.push(row);
    else unwanted.push({ kind: row.kind, id: row.id, gone: true });
  }
  void parts.keepRows(unwanted);
  shards.takeOver({ rows: foreignRows(wanted, clock), steps, config }, delayMs);
  await shards.settled();
  await shards.standing();
  collisions.restore(pairs, delayMs);
  await shards.kept();
}
