import { FlateErrorCode, type UnzipFileInfo, unzipSync } from 'fflate';
import { t } from '../languages/language.ts';
import { type Drawing, Layers } from './drawing.ts';
import { objectOf, parsed, readFeatures } from './geojson.ts';

type Json = Readonly<Record<string, unknown>>;

const [STORED, DEFLATED] = [0, 8];
/** What is read of an archive at most, unpacked: a small one may be a very large one packed. */
const UNPACKED_MAX = 200_000_000;
/** What a file takes in the list of an archive at least. */
const ENTRY_BYTES = 46;

/** What an archive of the Indoor Mapping Data Format draws: a layer for each of its files, on the floors of its levels. */
export function readImdf(archive: Uint8Array): Drawing {
  const files = unzip(archive, (name) => /(^|\/)[^/.][^/]*\.geojson$/i.test(name));
  if (files.length === 0) throw new Error(t('The archive has no GeoJSON in it, as IMDF has'));
  const collections = files.map(({ name, bytes }) => {
    const kind = name.replace(/^.*\//, '').replace(/\.geojson$/i, '');
    const { features } = objectOf(parsed(new TextDecoder().decode(bytes)));
    return { kind, features: Array.isArray(features) ? features.map(objectOf) : [] };
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
  for (const { kind, features } of collections) {
    const drawn = features.filter(({ geometry }) => geometry !== null && geometry !== undefined);
    const others = features.length - drawn.length;
    if (others > 0)
      layers.refuse(
        kind,
        t('{count} of {total} features have no geometry.', { count: others, total: features.length }),
      );
    readFeatures({ type: 'FeatureCollection', features: drawn }, layers, {
      from: kind,
      layerOf: () => kind,
      floorOf: (properties) => floorOf(properties, floors),
    });
  }
  return layers.drawing('earth');
}

function floorOf({ level_id: level, ordinal }: Json, floors: ReadonlyMap<string, number>): number | undefined {
  return typeof ordinal === 'number' ? ordinal : floors.get(String(level));
}

/** A file in an archive. */
interface ZippedFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** The files of a zip archive whose names fit. Throws an Error for what is none, or has too much in it. */
function unzip(archive: Uint8Array, isWanted: (name: string) => boolean): readonly ZippedFile[] {
  let listed = 0;
  let unpacked = 0;
  const filter = ({ name, size, originalSize, compression: method }: UnzipFileInfo): boolean => {
    listed++;
    // The library reads on behind the end of a list that is said to be longer than it is.
    if (name === '' || listed * ENTRY_BYTES > archive.length) throw new Error(t('The archive is damaged'));
    if (!isWanted(name)) return false;
    if (method !== STORED && method !== DEFLATED) {
      throw new Error(t('The archive is packed by method {method}, which cannot be read', { method }));
    }
    // The library makes room for as much as the list says, and drops what is more.
    unpacked += Math.max(size, originalSize);
    if (unpacked > UNPACKED_MAX) throw new Error(t('The archive has more than 200,000,000 bytes in it'));
    return true;
  };
  try {
    return Object.entries(unzipSync(archive, { filter })).map(([name, bytes]) => ({ name, bytes }));
  } catch (cause) {
    const isOfLibrary = cause instanceof RangeError || (cause instanceof Error && 'code' in cause);
    if (!isOfLibrary) throw cause;
    const isNone = listed === 0 && 'code' in cause && cause.code === FlateErrorCode.InvalidZipData;
    throw new Error(isNone ? t('The file is no zip archive') : t('The archive is damaged'), { cause });
  }
}
