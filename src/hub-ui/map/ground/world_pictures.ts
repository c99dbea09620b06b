import fine from 'world-atlas/countries-50m.json?url';
import coarse from 'world-atlas/countries-110m.json?url';
import { type Topology, worldOf } from './world.ts';
import { WorldPicture } from './world_draw.ts';

/** The world in two grades of detail: 33 and 205 KB as they are sent. */
const GRADES = [
  { fromZoom: 0, url: coarse },
  { fromZoom: 4, url: fine },
] as const;

const loaded = new Map<string, WorldPicture>();
const loading = new Map<string, Promise<void>>();

/**
 * The best picture of the world that there is for a level of zoom; undefined where there is none yet. What is missing is
 * fetched, and `onLoaded` called once it is there.
 */
export function pictureAt(zoom: number, onLoaded: () => void): WorldPicture | undefined {
  const fitting = GRADES.findLast(({ fromZoom }) => zoom >= fromZoom) ?? GRADES[0];
  const picture = loaded.get(fitting.url);
  if (picture !== undefined) return picture;
  void load(fitting.url).then(onLoaded, () => undefined);
  return GRADES.map(({ url }) => loaded.get(url)).find((other) => other !== undefined);
}

/** Fetches a grade once; again with the next question if it cannot be had. */
function load(url: string): Promise<void> {
  const known = loading.get(url);
  if (known !== undefined) return known;
  const fetching = fetchWorld(url).finally(() => loading.delete(url));
  loading.set(url, fetching);
  return fetching;
}

async function fetchWorld(url: string): Promise<void> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`The world cannot be had: ${response.status}`);
  loaded.set(url, new WorldPicture(worldOf((await response.json()) as Topology)));
}
