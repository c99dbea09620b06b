import type { TestHub } from '../support/test_hub.ts';

export const [ANNA, BERND] = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'] as const;
const GATE = '33333333-3333-4333-8333-333333333333';

/** Two people meet and separate, and each enters and exits a fence, this many times. A forklift accompanies them. */
export async function walk(hub: TestHub, times: number): Promise<void> {
  await hub.post('/trackables', { id: ANNA, type: 'omlox', location_providers: ['a'], radius: 1 });
  await hub.post('/trackables', { id: BERND, type: 'omlox', location_providers: ['b'], radius: 1 });
  await hub.post('/fences', { region: { type: 'Point', coordinates: [8, 50] }, radius: 10, name: 'Gate', id: GATE });
  for (let i = 0; i < times; i++) {
    const locations = ['a', 'b', 'c'].map((id) => ({
      provider_id: id,
      provider_type: 'uwb',
      source: 'hall',
      crs: 'EPSG:4326',
      position: { type: 'Point', coordinates: [8 + (i % 2) * 0.01, 50] },
      properties: { turn: i },
    }));
    await hub.put('/providers/locations', locations);
  }
  await hub.settle();
}
