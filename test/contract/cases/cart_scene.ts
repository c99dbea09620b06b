import assert from 'node:assert/strict';
import { HALL, square } from '../../support/hall.ts';
import type { TestHub } from '../../support/running_hub.ts';
import type { Event, Recorder } from '../../support/socket_client.ts';

/** A cart in a fence of a hall, whose tag then stops sending. */

export const CART = '0c5c1b0e-54b5-4b64-8d5f-0b0a3d5a6f01';
export const LIFT = '0c5c1b0e-54b5-4b64-8d5f-0b0a3d5a6f02';
export const FENCE = square();
export const BOTH_EXIT: readonly string[] = ['exit tag', 'exit cart'];

/** A location in meters of the hall. */
export function at(x: number, provider = 'tag', more: object = {}) {
  const position = { type: 'Point', coordinates: [x, 5] };
  return { position, source: HALL.id, provider_type: 'uwb', provider_id: provider, ...more };
}

export async function send(hub: TestHub, ...locations: readonly object[]): Promise<void> {
  assert.equal((await hub.put('/providers/locations', locations)).status, 204);
}

export function cart(more: object = {}) {
  return { id: CART, type: 'omlox', location_providers: ['tag'], ...more };
}

/** Sets up the scene, and returns the fence events from then on. */
export async function withCartInside(hub: TestHub, fence: object = {}, more: object = {}): Promise<Recorder> {
  assert.equal((await hub.post('/zones', HALL)).status, 201);
  assert.equal((await hub.post('/fences', { ...FENCE, ...fence })).status, 201);
  assert.equal((await hub.post('/trackables', cart(more))).status, 201);
  const events = await hub.subscribe('fence_events');
  await send(hub, at(5));
  await hears(hub, events, ['entry tag', 'entry cart']);
  return events;
}

/** Waits for the events since the previous call, formatted as `exit tag`. Fails if there are others. */
export async function hears(hub: TestHub, recorder: Recorder, expected: readonly string[]): Promise<void> {
  const { takenCount } = recorder;
  if (expected.length > 0)
    await recorder.next((event) => recorder.events.indexOf(event) >= takenCount + expected.length - 1);
  await hub.settle();
  assert.deepEqual(recorder.take().map(brief), expected);
}

/** Formats an event as `exit tag`. */
export function brief({ event_type: type, trackable_id: trackable, provider_id: provider }: Event): string {
  return `${type.slice('region_'.length)} ${trackable === CART ? 'cart' : (trackable ?? provider)}`;
}

/** The hall, shifted east by this many meters. */
export function hallMoved(meters: number) {
  const rows = (HALL.ground_control_points as number[][]).map((row, i) =>
    i % 2 === 0 ? row : [(row[0] as number) - meters, row[1] as number],
  );
  return { ...HALL, ground_control_points: rows };
}
