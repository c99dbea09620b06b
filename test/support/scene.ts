import assert from 'node:assert/strict';
import { HALL, square } from './hall.ts';
import type { TestHub } from './running_hub.ts';

/** The hall with its fence, and two circular trackables with one provider each, which can collide. */
export const FENCE = {
  ...square(),
  foreign_id: 'dock',
  name: 'Dock',
  floor: 0,
  properties: { colour: 'red' },
} as const;
export const CART = {
  id: '11111111-0000-4000-8000-000000000001',
  type: 'omlox',
  name: 'Cart',
  location_providers: ['cart-tag'],
  radius: 1,
  extrusion: 2,
  properties: { load: 5 },
} as const;
export const LIFT = {
  id: '22222222-0000-4000-8000-000000000002',
  type: 'omlox',
  name: 'Lift',
  location_providers: ['lift-tag'],
  radius: 1,
} as const;

/** Creates the hall, the fence and the two trackables. */
export async function createScene(hub: TestHub): Promise<void> {
  const created = [
    await hub.post('/zones', HALL),
    await hub.post('/fences', FENCE),
    await hub.post('/trackables', CART),
    await hub.post('/trackables', LIFT),
  ];
  for (const { status, text } of created) assert.equal(status, 201, text);
}

/** Creates a location in the plane of the hall. */
export function inHall(providerId: string, x: number, y: number, more: object = {}) {
  return {
    position: { type: 'Point', coordinates: [x, y] },
    source: HALL.id,
    provider_type: 'uwb',
    provider_id: providerId,
    crs: 'local',
    ...more,
  };
}

/** Sends locations in one request. */
export async function send(hub: TestHub, ...locations: readonly object[]): Promise<void> {
  const { status, text } = await hub.put('/providers/locations', locations);
  assert.equal(status, 204, text);
}
