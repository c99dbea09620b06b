import type { TestContext } from 'node:test';
import { openUiHub } from '../support/browser.ts';
import type { TestHub } from '../support/running_hub.ts';
import { createSite, DOCK, FORKLIFT } from './ui_site.ts';

/** Number of trackables with a tag each, which are in the hall in the hour of `CROWD_MS`. */
export const CROWD = 200;
/** A minute at the dock, then four at the gate, and away. */
export const CROWD_MS = Date.parse('2026-03-03T08:00:00Z');
/** Start of the recorded hour. */
export const START_MS = Date.parse('2026-03-01T10:00:00Z');
/** Another hour, of files that a test may damage. */
export const DAMAGED_MS = Date.parse('2026-03-02T08:00:00Z');

export const GATE = {
  ...DOCK,
  id: '9d2c4f7e-52b6-4c0b-8a0e-3a1f6a1de003',
  name: 'Gate',
  region: {
    type: 'Polygon',
    coordinates: [
      [
        [70, 10],
        [90, 10],
        [90, 30],
        [70, 30],
        [70, 10],
      ],
    ],
  },
};

export const PALLET = {
  id: '0b680db2-b39b-45be-be77-40d7d2296cb5',
  type: 'omlox',
  name: 'Pallet 3',
  location_providers: ['tag-2'],
};

/** A time of the recorded hour, in the format of URLs. */
export function at(seconds: number, startMs = START_MS): string {
  return `${new Date(startMs + seconds * 1_000).toISOString().slice(0, 19)}Z`;
}

/**
 * Position of the forklift after this number of seconds, in meters of the hall: five minutes at the dock, five on the way to the
 * gate, five there, five on the way back, and away.
 */
export function forkliftAt(seconds: number): [number, number] {
  const way = Math.min(1, Math.max(0, (seconds - 300) / 300)) - Math.min(1, Math.max(0, (seconds - 900) / 300));
  return [20 + 60 * way, 20];
}

/** Rows are flushed before each query, and never expire. */
const RECORDED = { history: true, history_retention_days: 36_500, history_flush_interval: 600_000 };

const recorded = new WeakSet<TestHub>();

/** A hub with one hour of history, which is recorded once per test file. */
export async function openRecordedHub(t: TestContext): Promise<TestHub> {
  const hub = await openUiHub(t, RECORDED);
  await createSite(hub);
  await hub.post('/fences', GATE);
  await hub.post('/trackables', PALLET);
  if (recorded.has(hub)) return hub;
  recorded.add(hub);
  const locations: object[] = [];
  for (let seconds = 0; seconds <= 1_200; seconds += 5) {
    locations.push(locationOf('tag-1', forkliftAt(seconds), START_MS + seconds * 1_000));
    if (seconds % 60 === 0) locations.push(locationOf('tag-2', [50, 40], START_MS + seconds * 1_000));
  }
  for (let seconds = 0; seconds < 60; seconds += 5) {
    locations.push(locationOf('tag-1', [20, 20], DAMAGED_MS + seconds * 1_000));
  }
  for (const location of locations) {
    const { status, text } = await hub.put('/providers/locations', [location]);
    if (status !== 204) throw new Error(text);
  }
  await hub.settle();
  return hub;
}

function locationOf(provider: string, coordinates: readonly number[], atMs: number): object {
  return {
    provider_id: provider,
    provider_type: 'uwb',
    source: 'hall',
    crs: 'local',
    position: { type: 'Point', coordinates },
    timestamp_generated: new Date(atMs).toISOString(),
  };
}

/** Records `CROWD` trackables with a tag each. */
export async function recordCrowd(hub: TestHub): Promise<void> {
  const tags = Array.from({ length: CROWD }, (_, i) => `crowd-${i}`);
  const type = 'virtual';
  await Promise.all(tags.map((tag) => hub.post('/trackables', { type, name: tag, location_providers: [tag] })));
  for (let seconds = 0; seconds <= 300; seconds += 60) {
    const coordinates = seconds === 0 ? [20, 20] : [80, seconds === 300 ? 40 : 20];
    const locations = tags.map((tag) => locationOf(tag, coordinates, CROWD_MS + seconds * 1_000));
    const { status, text } = await hub.put('/providers/locations', locations);
    if (status !== 204) throw new Error(text);
  }
  await hub.settle();
}

export { FORKLIFT };
