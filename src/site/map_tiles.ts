/** Where the page gets what lies below its map. */
export interface MapTiles {
  /** With {z}, {x} and {y} but for a PMTiles file. */
  readonly url: string;
  readonly kind: 'images' | 'vector' | 'pmtiles';
  /** What the map says of their origin. */
  readonly attribution: string;
  /** Nearer than this level of zoom they are enlarged; null where nobody has said. */
  readonly max_zoom: number | null;
}

/** What tiles are by the address that is configured for them: its path ends in .pmtiles, or in .mvt or .pbf. */
export function kindOfTiles(url: string): MapTiles['kind'] {
  const [path = ''] = url.split(/[?#]/);
  if (/\.pmtiles$/i.test(path)) return 'pmtiles';
  return /\.(mvt|pbf)$/i.test(path) ? 'vector' : 'images';
}

/** Whether the configuration names a file that lies beside it, and no address. */
export function isFileName(url: string): boolean {
  return !/^(https?:\/\/|\/)/.test(url);
}

/** What the content security policy has to allow for tiles: nothing for those of the hub itself. */
export function tileOrigins({ url }: Pick<MapTiles, 'url'>): readonly string[] {
  if (url.startsWith('/')) return [];
  // A template such as https://{a-c}.tiles.example/{z}/{x}/{y}.png stands for any host of that name.
  const origin = url.replace(/^([a-z]+:\/\/)(?:\{[^}/]*\}\.)?([^/{]+).*$/i, (whole, scheme: string, host: string) =>
    whole.includes(`${scheme}{`) ? `${scheme}*.${host}` : `${scheme}${host}`,
  );
  return [origin];
}
