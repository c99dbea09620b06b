import type { RecoveredState } from '../cluster/migration/shard_adoption.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Config } from '../config/schema.ts';
import { storedStage } from '../core/collision/progress.ts';
import type { EntityWrite } from '../core/entity_write.ts';
import { RULES_SETTING } from '../entities/locating_rules.ts';
import {
  announceFenceEvent,
  announceProximity,
  redeliverFenceEvent,
  type ResolvedProximity,
} from '../fanout/front_events.ts';
import type { FenceEvent } from '../model/events.ts';
import { parseJson } from '../model/json.ts';
import { remotePairs, remoteRows } from '../shards/row_times.ts';
import { storedByKind } from '../store/entity_json.ts';
import { startWorkers, loadEntities } from './load_state.ts';
import { AUDIT_SETTING, auditIn } from './connect_audit.ts';
import type { Parts } from './parts.ts';

export interface LoadOptions {
  readonly config: Config;
  /** Called when this hub is out of its cluster. */
  out(error: Error): void;
  /** Called when the hub elected for singleton tasks may have changed. */
  elect(): void;
}

/** Loads the entities of a cluster. Then applies changes by other hubs, and adopts objects that migrate to this hub. */
export async function loadClusterState(
  parts: Parts,
  cluster: Cluster,
  { config, out, elect }: LoadOptions,
): Promise<void> {
  const { clock, entities, rules, shards, collisions, zoneMoves, fanout, sources } = parts;
  const { entities: stored, catchUp } = cluster.attach({
    remoteChanges: (changes) => entities.applyRemote(changes),
    setting(name, text) {
      if (name === RULES_SETTING) rules.apply(text === null ? [] : JSON.parse(text));
      else if (name === AUDIT_SETTING) {
        for (const part of text === null ? [] : auditIn(text)) cluster.audit?.change(cluster.config.configured, part);
      } else parts.applyDefined(name, text);
    },
    committed: () => entities.committed(),
    entities: () => entities.written(),
    adopt: (left) => adopt(parts, left, { self: cluster.memberId, delayMs: config.restart_event_delay }),
    release: (objects, sequence) => shards.release(objects, sequence),
    objects: () => shards.objects(),
    async rewrite(objects) {
      await shards.touchAll(objects);
      await shards.committed();
    },
    arrived: () => shards.applyDeferred(),
    force(trackables) {
      const commands = trackables.flatMap((id) => {
        const entity = entities.get('trackable', id);
        return entity === undefined ? [] : [{ kind: 'trackable' as const, id, entity, force: true }];
      });
      if (commands.length > 0) shards.entities(commands);
    },
    owned: {
      hasCapacity: (count) => parts.hasCapacity(count),
      async take(runs) {
        const receivedMs = clock.monotonic();
        for (const run of runs) shards.received(run, { receivedMs, eventTime: clock.eventTime });
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
    published: () => shards.published(),
    announce: {
      proximity: (text) => announceProximity(fanout, parseJson(text) as ResolvedProximity, clock.now()),
      fenceEvent(text) {
        const event = parseJson(text) as FenceEvent;
        const fence = entities.get('fence', event.fence_id);
        if (fence !== undefined) announceFenceEvent(fanout, { fence, event, zones: (id) => entities.zoneBy(id) });
      },
      fenceEventAgain({ event }, to) {
        const [[fenceId]] = event;
        const fence = typeof fenceId === 'string' ? entities.get('fence', fenceId) : undefined;
        redeliverFenceEvent(fanout, { event, fence, zones: (id) => entities.zoneBy(id) }, to);
      },
    },
    servesOther() {
      sources.start();
      parts.alerts.refresh();
      elect();
    },
    stage: { clock, shards, collisions },
    out(error) {
      elect();
      out(error);
    },
  });
  // Must run synchronously, because the next record is applied to the entities directly.
  const settings = [...cluster.config.settings].map(([id, text]): EntityWrite => ({ kind: 'setting', id, text }));
  const loaded = loadEntities(parts, storedByKind(stored), settings);
  catchUp();
  await loaded;
  await startWorkers(parts);
}

/** Passes recovered objects to the shards, and pairs to the collision stage. */
async function adopt(
  parts: Parts,
  left: RecoveredState,
  { self, delayMs }: { readonly self: string; readonly delayMs: number },
): Promise<void> {
  const { clock, machine, shards, collisions, outcomes } = parts;
  const { objects, rows, pairs, steps, config, isLate } = left;
  const wanted = { provider: new Set(objects.providers), trackable: new Set(objects.trackables) };
  const own = rows.filter(({ kind, id }) => wanted[kind].has(id));
  // Without a failure of the former owner, nothing is delayed.
  await shards.adopt({ rows: remoteRows(own, clock), steps, config, objects }, isLate ? delayMs : 0);
  // The owner of the collision stage receives the current positions of the objects.
  if (!collisions.isPaused) await shards.standing();
  if (pairs !== undefined) {
    // The delay gives subscribers of the failed hub time to reconnect.
    if (isLate) outcomes.holdCollisions(new Promise((resolve) => void machine.schedule(delayMs, resolve)));
    const stored = storedStage(pairs);
    const from = { progress: stored.progress, self };
    outcomes.continueStage(stored);
    collisions.restore(remotePairs(stored.pairs, clock), delayMs, from);
  }
  await shards.committed();
}
