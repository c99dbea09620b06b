/** Moving objects on the map of a benchmark, and alert rules of the hub. */

/** Side of the square with the objects, in meters. */
const SIDE_METERS = 400;
/** Number of rows of fences, and of fences in a row. Objects cross their edges. */
const FENCES_IN_ROW = 4;
const FENCE_METERS = 60;
const SILENT_MS = 5_000;
const BATCH = 500;

export interface Scene {
  readonly objects: number;
  /** Updates per second of each object. */
  readonly rate: number;
  /** Number of further trackables with a single location, which soon count as silent. */
  readonly silent: number;
}

/** Creates trackables, fences, and rules for entries, silence and crowds. */
export async function createScene(base: string, { objects, silent }: Scene): Promise<void> {
  for (let i = 0; i < objects + silent; i += 50) {
    const some = Array.from({ length: Math.min(50, objects + silent - i) }, (_, k) => i + k);
    await Promise.all(some.map((index) => post(`${base}/trackables`, trackableOf(index))));
  }
  for (let i = 0; i < FENCES_IN_ROW ** 2; i++) await post(`${base}/fences`, fenceOf(i));
  const last = Array.from({ length: silent }, (_, k) => locationOf(objects + k, 0, objects));
  await put(`${base}/providers/locations`, last);
  for (const rule of [
    { name: 'Entry', kind: 'entry', severity: 'info' },
    { name: 'Silent', kind: 'silent', longer_than: SILENT_MS, severity: 'critical' },
    { name: 'Crowded', kind: 'more_inside', more_than: Math.round(objects / 60), severity: 'critical' },
  ]) {
    await post(`${base}/alerts/rules`, rule);
  }
}

export interface Sender {
  readonly sent: () => number;
  readonly stop: () => void;
}

/** Moves every object on its own circle at this rate, in batches that are spread evenly over time. */
export function startSending(base: string, { objects, rate }: Scene): Sender {
  let sent = 0;
  let next = 0;
  let isOver = false;
  const startMs = performance.now();
  const batch = Math.min(BATCH, objects);
  const pump = async (): Promise<void> => {
    while (!isOver) {
      const dueMs = startMs + (sent / (objects * rate)) * 1_000;
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, dueMs - performance.now())));
      const moved = Array.from({ length: batch }, (_, k) =>
        locationOf((next + k) % objects, performance.now(), objects),
      );
      next = (next + batch) % objects;
      sent += batch;
      await put(`${base}/providers/locations`, moved);
    }
  };
  pump().catch((error: unknown) => {
    if (!isOver) throw error;
  });
  return {
    sent: () => sent,
    stop() {
      isOver = true;
    },
  };
}

/** Number of open alerts. */
export async function countAlerts(base: string): Promise<number> {
  const alerts = (await (await fetch(`${base}/alerts?state=raised`)).json()) as readonly unknown[];
  return alerts.length;
}

function trackableOf(index: number): object {
  return {
    type: 'virtual',
    name: `Thing ${index}`,
    location_providers: [`tag-${index}`],
    calculate_collisions: false,
  };
}

function fenceOf(index: number): object {
  const step = SIDE_METERS / FENCES_IN_ROW;
  const [west, south] = [(index % FENCES_IN_ROW) * step + 20, Math.floor(index / FENCES_IN_ROW) * step + 20];
  const [east, north] = [west + FENCE_METERS, south + FENCE_METERS];
  const ring = [earth(west, south), earth(east, south), earth(east, north), earth(west, north), earth(west, south)];
  return { name: `Area ${index + 1}`, region: { type: 'Polygon', coordinates: [ring] } };
}

/** Location of an object at a time, in a square with this side in meters. Each object walks on its own circle. */
export function locationOf(index: number, nowMs: number, objects: number, side = SIDE_METERS): object {
  const columns = Math.ceil(Math.sqrt(objects));
  const angle = nowMs / 4_000 + index;
  const east = ((index % columns) / columns) * side + 3 * Math.cos(angle);
  const north = (Math.floor(index / columns) / columns) * side + 3 * Math.sin(angle);
  return {
    provider_id: `tag-${index}`,
    provider_type: 'uwb',
    crs: 'EPSG:4326',
    position: { type: 'Point', coordinates: earth(east, north) },
  };
}

function earth(east: number, north: number): [number, number] {
  return [8.6 + east / 71_700, 50.05 + north / 111_200];
}

function post(url: string, body: object): Promise<void> {
  return send('POST', url, body);
}

function put(url: string, body: object): Promise<void> {
  return send('PUT', url, body);
}

async function send(method: string, url: string, body: object): Promise<void> {
  const answer = await fetch(url, { method, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`Cannot ${method} ${url}: ${answer.status} ${await answer.text()}`);
  await answer.arrayBuffer();
}
