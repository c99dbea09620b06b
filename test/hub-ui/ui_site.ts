import type { TestContext } from 'node:test';
import { openUiHub } from '../support/browser.ts';
import { openLine } from '../support/line.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';

/** Degrees per meter, approximately, at the hall. */
const METER_NORTH = 1 / 111_229;
const METER_EAST = 1 / 71_700;

/** A hall of 100 m by 60 m, rotated by 90 degrees: its x axis points north, its y axis west. */
export const HALL = {
  id: '6f1f4d3e-6a53-4a3e-9a43-0d8f4a4f2b11',
  type: 'uwb',
  name: 'Hall',
  foreign_id: 'hall',
  floor: 0,
  ground_control_points: [...corner(0, 0), ...corner(100, 0), ...corner(100, 60), ...corner(0, 60)],
};

export const DOCK = {
  id: '9d2c4f7e-52b6-4c0b-8a0e-3a1f6a1de001',
  name: 'Dock A',
  crs: 'local',
  zone_id: 'hall',
  floor: 0,
  region: {
    type: 'Polygon',
    coordinates: [
      [
        [10, 10],
        [30, 10],
        [30, 30],
        [10, 30],
        [10, 10],
      ],
    ],
  },
};

export const CELLAR = {
  id: '9d2c4f7e-52b6-4c0b-8a0e-3a1f6a1de002',
  name: 'Cellar',
  floor: -2,
  region: { type: 'Point', coordinates: earth(50, 30) },
  radius: 8,
};

export const FORKLIFT = {
  id: '0b680db2-b39b-45be-be77-40d7d2296cb4',
  type: 'omlox',
  name: 'Forklift 7',
  location_providers: ['tag-1'],
  radius: 1.5,
  properties: { driver: 'Kim' },
};

/** Longitude and latitude of a position in the hall. */
export function earth(x: number, y: number): [number, number] {
  return [8.68 - y * METER_EAST, 50.11 + x * METER_NORTH];
}

function corner(x: number, y: number): number[][] {
  return [earth(x, y), [x, y]];
}

export async function createSite(hub: TestHub): Promise<void> {
  await hub.post('/zones', HALL);
  await hub.post('/fences', DOCK);
  await hub.post('/fences', CELLAR);
  await hub.post('/trackables', FORKLIFT);
}

/** Sends a position of a tag, in meters of the hall. */
export async function move(hub: TestHub, provider: string, at: readonly number[], more: object = {}): Promise<void> {
  const position = { type: 'Point', coordinates: at };
  const { status, text } = await hub.put(`/providers/${provider}/location`, {
    provider_type: 'uwb',
    source: 'hall',
    crs: 'local',
    position,
    ...more,
  });
  if (status !== 204) throw new Error(text);
}

/**
 * A hub with the site and a tag, and a proxy to its port that can be cut. A replacement hub has the same
 * folder.
 */
export async function openSiteByLine(t: TestContext) {
  const folder = temporaryFolder();
  // It builds the web UI if necessary.
  await openUiHub(t);
  const hub = await openTestHub({}, { folder });
  await createSite(hub);
  await move(hub, 'tag-1', [20, 20]);
  return { folder, hub, line: await openLine(t, hub.hub.port) };
}
