import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { FenceEvent } from '../../src/model/events.ts';
import { type Expected, VECTORS, type Vector } from '../scenarios/vectors.ts';
import { HALL, square } from '../support/hall.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import type { Recorder, SocketClient } from '../support/socket_client.ts';

/** Duration of one second of a vector in this test. */
const SECOND_MS = 250;
/** Timers of the vectors leave at least half a second for an observation. */
const LATE_MS = SECOND_MS / 3;
const ATTEMPTS_MAX = 4;
/** Silence after the last expected event, in seconds of a vector. */
const SILENCE = 2;

/** Time at which an observation was sent, and time by which the hub had certainly received it. */
interface Sent {
  readonly second: number;
  readonly fromMs: number;
  toMs: number;
}

/** A run of a vector on its own floor, with a single fence and a single provider. */
interface Run {
  readonly vector: Vector;
  readonly floor: number;
  readonly fenceId: string;
  readonly providerId: string;
  readonly trackableId: string;
  readonly sent: Sent[];
  startMs: number;
  events: Recorder;
}

let hub: TestHub;
let publisher: SocketClient;
/** By index of their vectors. */
const runs: Run[] = [];

before(async () => {
  hub = await openTestHub();
  publisher = await hub.socket();
  await hub.post('/zones', HALL);
  await Promise.all(VECTORS.map(runOnTime));
  await hub.settle();
});
after(() => hub.close());

/** Repeats the vector if a busy machine has delivered an observation after a timer expired. */
async function runOnTime(vector: Vector, index: number): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const run = await prepare(vector, index + attempt * VECTORS.length);
    runs[index] = run;
    await play(run);
    if (run.sent.every(({ second, toMs }) => toMs - timeOf(run, second) < LATE_MS)) return;
  }
}

async function prepare(vector: Vector, floor: number): Promise<Run> {
  const digits = String(floor).padStart(12, '0');
  const fenceId = `aaaaaaaa-0000-4000-8000-${digits}`;
  const trackableId = `bbbbbbbb-0000-4000-8000-${digits}`;
  const providerId = `tag-${floor}`;
  const created = [
    await hub.post('/fences', { ...square(scaled(vector.fence)), id: fenceId, floor }),
    await hub.post('/providers', { id: providerId, type: 'uwb', ...scaled(vector.provider) }),
  ];
  if (vector.trackable !== undefined) {
    const trackable = { id: trackableId, type: 'omlox', location_providers: [providerId], ...scaled(vector.trackable) };
    created.push(await hub.post('/trackables', trackable));
  }
  for (const { status, text } of created) assert.equal(status, 201, text);
  const events = await hub.subscribe('fence_events', { provider_id: providerId });
  return { vector, floor, fenceId, providerId, trackableId, sent: [], startMs: 0, events };
}

/** Scales the durations of an entity to the pace of this test. */
function scaled<T extends object>(entity: T | undefined): object {
  const scale = ([name, value]: [string, unknown]) => {
    const isDuration = /(timeout|delay)$/.test(name) && typeof value === 'number' && value > 0;
    return [name, isDuration ? ((value as number) / 1000) * SECOND_MS : value];
  };
  return Object.fromEntries(Object.entries(entity ?? {}).map(scale));
}

/** Sends observations at their times, alternately by REST and by WebSocket, and then waits in silence. */
async function play(run: Run): Promise<void> {
  const { vector, floor, providerId, sent } = run;
  run.startMs = Date.now();
  for (const [index, [second, east]] of vector.seen.entries()) {
    await until(timeOf(run, second));
    const location = {
      position: { type: 'Point', coordinates: [10 + east, 5] },
      crs: 'local',
      source: HALL.foreign_id,
      floor,
      provider_id: providerId,
      provider_type: 'uwb',
      timestamp_generated: iso(timeOf(run, second)),
    };
    const observation: Sent = { second, fromMs: Date.now(), toMs: 0 };
    sent.push(observation);
    if (index % 2 === 0) assert.equal((await hub.put(`/providers/${providerId}/location`, location)).status, 204);
    else publisher.publish('location_updates', location);
    if (index % 2 === 1) await publisher.settle();
    observation.toMs = Date.now();
  }
  const last = Math.max(...vector.seen.map(([second]) => second), ...lists(vector).flat().map(secondOf));
  await until(timeOf(run, last + SILENCE));
}

async function until(timeMs: number): Promise<void> {
  // A timer may be a millisecond early.
  while (Date.now() < timeMs) await delay(timeMs - Date.now());
}

function timeOf({ startMs }: Run, second: number): number {
  return startMs + second * SECOND_MS;
}

function lists({ events, trackableEvents = events }: Vector): (readonly Expected[])[] {
  return [events, trackableEvents];
}

function secondOf(event: Expected): number {
  return 'entry' in event ? event.entry : event.exit;
}

function iso(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

function assertEvents(run: Run, found: readonly FenceEvent[], expected: readonly Expected[]): void {
  const types = expected.map((event) => ('entry' in event ? 'region_entry' : 'region_exit'));
  assert.deepEqual(
    found.map(({ event_type: type }) => type),
    types,
  );
  let entryTime = '';
  for (const [index, event] of expected.entries()) {
    const { entry_time: entry, exit_time: exit } = found[index] as FenceEvent;
    if ('entry' in event) entryTime = iso(timeOf(run, event.entryTime ?? event.entry));
    assert.equal(entry, entryTime);
    if ('entry' in event) assert.equal(exit, undefined);
    else assertExitTime(run, exit, event.exitTime ?? event.exit);
  }
}

/** An exit caused by an observation has its time; a deadline is a duration after the receipt of an observation. */
function assertExitTime(run: Run, found: string | null | undefined, second: number): void {
  const foundMs = Date.parse(found ?? '');
  if (run.sent.some((sent) => sent.second === second)) {
    assert.equal(foundMs, timeOf(run, second));
    return;
  }
  const { fence, trackable, provider } = run.vector;
  const durations = [fence, trackable, provider].flatMap((entity) => Object.values(entity ?? {}));
  const starts = run.sent.filter((sent) => durations.includes((second - sent.second) * 1000));
  assert.notEqual(starts.length, 0, `nothing causes an exit at ${second}`);
  const fits = starts.some((sent) => {
    const durationMs = (second - sent.second) * SECOND_MS;
    return foundMs >= sent.fromMs + durationMs && foundMs <= sent.toMs + durationMs;
  });
  assert.ok(fits, `exit at ${(foundMs - run.startMs) / SECOND_MS}, not at ${second}`);
}

describe('a fence of a running hub', () => {
  for (const [index, vector] of VECTORS.entries()) {
    test(vector.name, () => {
      const run = runs[index] as Run;
      const { events, fenceId, providerId, trackableId } = run;
      const ofProvider = events.events.filter((event) => event.trackable_id === null);
      const ofTrackable = events.events.filter((event) => event.trackable_id !== null);
      assertEvents(run, ofProvider, vector.events);
      assertEvents(run, ofTrackable, vector.trackable === undefined ? [] : (vector.trackableEvents ?? vector.events));
      const trackables = vector.trackable === undefined ? [] : [trackableId];
      for (const event of events.events) {
        assert.equal(event.fence_id, fenceId);
        assert.deepEqual(event.trackables, trackables);
      }
      for (const event of ofProvider) assert.equal(event.provider_id, providerId);
      for (const event of ofTrackable) assert.deepEqual([event.provider_id, event.trackable_id], [null, trackableId]);
    });
  }

  test('was tested with every kind of event', () => {
    const all = VECTORS.flatMap((vector) => lists(vector).flat());
    assert.ok(all.some((event) => 'exit' in event) && all.some((event) => 'entry' in event));
    assert.deepEqual(hub.logged, []);
  });
});
