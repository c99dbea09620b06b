import { existsSync, readFileSync } from 'node:fs';
import { openCollisionStage } from '../../src/core/collision/stage.ts';
import type { Item } from '../../src/core/item.ts';
import type { Motion } from '../../src/core/motion/motion.ts';
import { openShard } from '../../src/core/shard.ts';
import { openFenceIndex } from '../../src/fence_index/fence_index.ts';
import { lend, look } from '../../src/model/borrowed.ts';
import type { Fence } from '../../src/model/fence.ts';
import type { Topic, Variant } from '../../src/model/topics.ts';
import type { Trackable } from '../../src/model/trackable.ts';
import { newRecordBuffer } from '../../src/wire/location_record.ts';
import { packInto, unpackBatch, unpackMotions } from '../../src/wire/messages.ts';
import { newEventId } from '../../workers/event_ids.ts';
import { shardReply } from '../../workers/shard_reply.ts';
import { type Feed, MovingFeed } from '../load/feed.ts';
import { RecordingFeed } from '../load/recording_feed.ts';
import { flightPlan, heavyScene, RECORDINGS, stormScene } from '../profiles/scenes.ts';
import type { FencedScene } from '../profiles/site.ts';
import { Bodies } from './bodies.ts';
import { type Calls, inBatches, type Kernel } from './kernel.ts';

interface Scene {
  readonly feed: Feed;
  readonly connections: number;
  readonly fences: Iterable<object>;
  readonly trackables: Iterable<object>;
}

const TOPICS: readonly Topic[] = ['location_updates', 'fence_events', 'collision_events'];
const VARIANTS = TOPICS.map((topic, i): Variant => ({ id: i + 1, topic, crs: 'EPSG:4326' }));
/** Bodies of a batch, and a shard's memory for the answer. */
const [BODIES, ANSWER_BYTES] = [6, 1 << 24] as const;
const ROWS_OF_STEP = 64;

/** Work of a shard and of the collision stage, from bytes to bytes, in the scenes of the profiles with these names. */
export const SCENES: readonly Kernel[] = [
  { name: 'shard_heavy', summary: 'a location of `heavy`', prepare: () => shardCalls(moving(heavyScene)) },
  { name: 'shard_storm', summary: 'a location of `storm`', prepare: () => shardCalls(moving(stormScene)) },
  ...(existsSync(RECORDINGS)
    ? [
        { name: 'shard_opensky', summary: 'a location of `opensky`', prepare: () => shardCalls(flights()) },
        { name: 'stage_opensky', summary: 'a motion of `opensky`, unpacked', prepare: () => stageCalls(flights()) },
      ]
    : []),
];

function moving(sceneOf: typeof heavyScene): Scene {
  const scene: FencedScene = sceneOf({ scale: 1 });
  const plan = { ...scene.plan, connections: 1 };
  return { feed: new MovingFeed(plan), connections: 1, fences: scene.fences(), trackables: [] };
}

function flights(): Scene {
  const plan = flightPlan();
  const read = (name: string): object[] => JSON.parse(readFileSync(new URL(name, RECORDINGS), 'utf8'));
  const { connections } = plan;
  const [fences, trackables] = [read('fences.json'), read('trackables.json')];
  return { feed: new RecordingFeed(plan), connections, fences, trackables };
}

async function openScene({ feed, connections, fences, trackables }: Scene) {
  const shard = openShard({
    ...{ index: await openFenceIndex(), newBuffer: newRecordBuffer, newId: newEventId },
    ...{ collisionsByDefault: true, providerInTrackableEvents: false, detachedStay: true, parentsMax: 32 },
  });
  const bodies = new Bodies({ feed, connections });
  const at = { seq: 0, receivedMs: bodies.nowMs };
  const items: Item[] = [{ ...at, kind: 'variants', variants: VARIANTS }];
  for (const [i, fence] of [...fences].entries()) {
    const id = `fence-${i}`;
    items.push({ ...at, kind: 'fence', id, entity: { ...fence, id } as Fence });
  }
  for (const [i, trackable] of [...trackables].entries()) {
    const id = `trackable-${i}`;
    items.push({ ...at, kind: 'trackable', id, entity: { ...trackable, id } as Trackable });
  }
  shard.step({ nowMs: bodies.nowMs, items, flushBudget: 0 });
  const answer = new Uint8Array(new SharedArrayBuffer(ANSWER_BYTES));
  const step = (bytes: Uint8Array) => {
    const reply = shardReply(shard, unpackBatch(lend(bytes)), lend(bytes));
    packInto(answer, reply);
    return reply.motions;
  };
  return { step, next: () => bodies.batch(BODIES, ROWS_OF_STEP), bodies };
}

const locationsIn = (batch: Uint8Array): number => unpackBatch(lend(batch)).items.length;
const unpacked = (motions: Uint8Array): Motion[] => (motions.length === 0 ? [] : unpackMotions(motions));

async function shardCalls(scene: Scene): Promise<Calls> {
  const { step, next } = await openScene(scene);
  return inBatches(locationsIn, next, step);
}

async function stageCalls(scene: Scene): Promise<Calls> {
  const { step, next, bodies } = await openScene(scene);
  let ids = 0;
  const newId = (): string => String(ids++);
  const stage = openCollisionStage({ newId, namedId: newId, zones: () => undefined, newBuffer: newRecordBuffer });
  stage.step({ nowMs: bodies.nowMs, motions: [], variants: VARIANTS.slice(2) });
  return inBatches(
    (motions) => unpacked(motions).length,
    () => Uint8Array.from(look(step(next())?.packed ?? lend(new Uint8Array(0)))),
    (motions) => stage.step({ nowMs: bodies.nowMs, motions: unpacked(motions) }),
  );
}
