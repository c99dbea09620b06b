import { t } from '../languages/language.ts';
import { decodeText } from './decode_text.ts';
import { type Drawing, Layers } from './drawing.ts';
import { type Json, objectOf } from './features.ts';
import { parsed, readFeatures } from './geojson.ts';
import { unzip } from './zip.ts';

/** Reads an archive of the Indoor Mapping Data Format: one layer per file; floors come from the levels. */
export function readImdf(archive: Uint8Array): Drawing {
  const files = unzip(archive, (name) => /(^|\/)[^/.][^/]*\.geojson$/i.test(name));
  if (files.length === 0) throw new Error(t('The archive contains no GeoJSON, so it is not IMDF'));
  const collections = files.map(({ name, bytes }) => {
    const kind = name.replace(/^.*\//, '').replace(/\.geojson$/i, '');
    const collection = objectOf(parsed(decodeText(bytes).text));
    const { features } = collection;
    return { kind, collection, features: Array.isArray(features) ? features.map(objectOf) : [] };
  });
  const floors = new Map<string, number>();
  for (const { kind, features } of collections) {
    if (kind !== 'level') continue;
    for (const { id, properties } of features) {
      const { ordinal } = objectOf(properties);
      if (typeof id === 'string' && typeof ordinal === 'number') floors.set(id, ordinal);
    }
  }
  const layers = new Layers();
  for (const { kind, collection, features } of collections) {
    const drawn = features.filter(({ geometry }) => geometry !== null && geometry !== undefined);
    const others = features.length - drawn.length;
    if (others > 0)
      layers.reject(
        kind,
        t('{count} of {total} features have no geometry.', { count: others, total: features.length }),
      );
    readFeatures({ ...collection, type: 'FeatureCollection', features: drawn }, layers, {
      from: kind,
      isSwapped: false,
      layerOf: () => kind,
      floorOf: (properties) => floorOf(properties, floors),
    });
  }
  return layers.drawing('earth');
}

function floorOf({ level_id: level, ordinal }: Json, floors: ReadonlyMap<string, number>): number | undefined {
  return typeof ordinal === 'number' ? ordinal : floors.get(String(level));
}
