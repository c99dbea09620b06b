/** Source of the page's background map. */
export interface MapTiles {
  /** URL template with {z}, {x} and {y}, except for a PMTiles file. */
  readonly url: string;
  readonly kind: 'images' | 'vector' | 'pmtiles';
  /** Attribution shown on the map. */
  readonly attribution: string;
  /** Maximum zoom level of tiles, above which they are enlarged; null if unknown. */
  readonly max_zoom: number | null;
}

/** Returns the kind of tiles by the configured address, whose path may end in .pmtiles, .mvt or .pbf. */
export function kindOfTiles(url: string): MapTiles['kind'] {
  const [path = ''] = url.split(/[?#]/);
  if (/\.pmtiles$/i.test(path)) return 'pmtiles';
  return /\.(mvt|pbf)$/i.test(path) ? 'vector' : 'images';
}

/** Whether the setting is the name of a file next to the configuration instead of an address. */
export function isFileName(url: string): boolean {
  return !/^(https?:\/\/|\/)/.test(url);
}

/** Returns the origins that the content security policy must allow for tiles; none for tiles of the hub itself. */
export function tileOrigins({ url }: Pick<MapTiles, 'url'>): readonly string[] {
  if (url.startsWith('/')) return [];
  // A template such as https://{a-c}.tiles.example/{z}/{x}/{y}.png stands for any host of that name.
  const origin = url.replace(/^([a-z]+:\/\/)(?:\{[^}/]*\}\.)?([^/{]+).*$/i, (whole, scheme: string, host: string) =>
    whole.includes(`${scheme}{`) ? `${scheme}*.${host}` : `${scheme}${host}`,
  );
  return [origin];
}
