import fine from 'world-atlas/countries-50m.json?url';
import coarse from 'world-atlas/countries-110m.json?url';
import { type Topology, worldOf } from './world.ts';
import { WorldPicture } from './world_draw.ts';

/** The world in two grades of detail: 33 and 205 KB as they are sent. */
const GRADES = [
  { fromZoom: 0, url: coarse },
  { fromZoom: 4, url: fine },
] as const;

/** The map asks with every frame: a hub that has gone does not come back that fast. */
const AGAIN_MS = 5_000;

const loaded = new Map<string, WorldPicture>();
const loading = new Set<string>();
/** Told once of whatever comes next. */
const waiting = new Set<() => void>();

/**
 * The best picture of the world that there is for a level of zoom; undefined where there is none yet. What is missing is
 * fetched, and `onLoaded` called once it is there.
 */
export function pictureAt(zoom: number, onLoaded: () => void): WorldPicture | undefined {
  const fitting = GRADES.findLast(({ fromZoom }) => zoom >= fromZoom) ?? GRADES[0];
  const picture = loaded.get(fitting.url);
  if (picture !== undefined) return picture;
  waiting.add(onLoaded);
  if (!loading.has(fitting.url)) void load(fitting.url);
  return GRADES.map(({ url }) => loaded.get(url)).find((other) => other !== undefined);
}

/** Fetches a grade; if it cannot be had, again with the first question after a while. */
async function load(url: string): Promise<void> {
  loading.add(url);
  try {
    const response = await fetch(url);
    if (!response.ok) throw new Error(`The world cannot be had: ${response.status}`);
    loaded.set(url, new WorldPicture(worldOf((await response.json()) as Topology)));
  } catch {
    setTimeout(() => loading.delete(url), AGAIN_MS);
    return;
  }
  const told = [...waiting];
  waiting.clear();
  for (const onLoaded of told) onLoaded();
}
