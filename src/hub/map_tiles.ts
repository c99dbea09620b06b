import { resolve } from 'node:path';
import type { Config } from '../config/schema.ts';
import { whyNoMap } from '../site/map_file.ts';
import { isFileName, kindOfTiles, type MapTiles } from '../site/map_tiles.ts';
import { MAP_FILE_URL } from '../site/site.ts';
import type { Log } from './log.ts';

/** What the page is told of the map tiles. */
export function mapTilesOf(config: Config): MapTiles | null {
  const { map_tile_url: url, map_tile_attribution: attribution, map_tile_max_zoom: max_zoom } = config;
  if (url === null) return null;
  return { url: isFileName(url) ? MAP_FILE_URL : url, kind: kindOfTiles(url), attribution, max_zoom };
}

/** The map file beside the configuration, absolute, if it names one. The log says where it cannot be read. */
export function mapFileOf({ config_path, map_tile_url: url }: Config, log: Log): string | undefined {
  if (url === null || !isFileName(url)) return undefined;
  const path = resolve(config_path, url);
  void whyNoMap(path).then((problem) => {
    if (problem !== undefined) log.warn('The map file of map_tile_url cannot be read', { path, problem });
  });
  return path;
}
