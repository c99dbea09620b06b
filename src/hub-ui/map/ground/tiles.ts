import MVT from 'ol/format/MVT.js';
import type Layer from 'ol/layer/Layer.js';
import TileLayer from 'ol/layer/Tile.js';
import VectorTileLayer from 'ol/layer/VectorTile.js';
import type RenderFeature from 'ol/render/Feature.js';
import ImageTile from 'ol/source/ImageTile.js';
import type TileSource from 'ol/source/Tile.js';
import VectorTileSource from 'ol/source/VectorTile.js';
import XYZ from 'ol/source/XYZ.js';
import TileState from 'ol/TileState.js';
import type VectorTile from 'ol/VectorTile.js';
import type { MapTileSettings } from '../../hub/settings.ts';
import { t } from '../../languages/language.ts';
import { mapX, mapY } from '../plane/plane.ts';
import type { Palette } from '../view/palette.ts';
import { Z } from '../view/vector_layer.ts';
import { type MapFile, openMapFile, UnreachableError } from './map_file.ts';
import { vectorStyle } from './vector_style.ts';
import type { MapExtent } from './world.ts';

/** Opened map tiles. */
export interface Tiles {
  readonly layer: Layer;
  /** Attribution from the configuration, or from the tiles themselves. */
  readonly attribution: string;
  /** Covered part of the earth; undefined for all of it. */
  readonly box: MapExtent | undefined;
  /** Zoom level from which the tiles are visible. */
  readonly fromZoom: number;
  /** Applies a palette to vector tiles. */
  paint(colors: Palette): void;
}

/** Called without an argument after each tile that has loaded, or with an error message. */
export type ReportHealth = (problem: string | undefined) => void;

/** Usual maximum zoom of vector tile servers. Higher levels add no detail. */
const VECTOR_ZOOM_MAX = 14;

const EVERYWHERE = { box: undefined, fromZoom: 0 } as const;

/** Opens the configured tiles. Rejects with an Error that states the reason. */
export async function openTiles(settings: MapTileSettings, report: ReportHealth): Promise<Tiles> {
  const { url, kind, attribution, max_zoom } = settings;
  if (kind === 'pmtiles') return tilesOfFile(await openMapFile(url), { attribution, report });
  const limit = max_zoom ?? (kind === 'vector' ? VECTOR_ZOOM_MAX : undefined);
  const common = { url, ...(limit !== undefined && { maxZoom: limit }) };
  if (kind === 'images') {
    const source = watched(new XYZ(common), url, report);
    return { layer: new TileLayer({ source, zIndex: Z.tiles }), attribution, ...EVERYWHERE, paint: () => undefined };
  }
  const source = watched(new VectorTileSource({ ...common, format: new MVT() }), url, report);
  return { ...vectorLayer(source), attribution, ...EVERYWHERE };
}

function tilesOfFile(
  file: MapFile,
  { attribution, report }: { readonly attribution: string; readonly report: ReportHealth },
): Tiles {
  const { minZoom, maxZoom, minLon, minLat, maxLon, maxLat } = file.header;
  const box: MapExtent = [mapX(minLon), mapY(minLat), mapX(maxLon), mapY(maxLat)];
  const read = watchedFile(file, report);
  const layer = file.areImages
    ? imagesLayer(read, { minZoom, maxZoom })
    : vectorLayer(vectorSource(read, { minZoom, maxZoom }));
  // Farther out, far too many tiles would be in view.
  const fromZoom = minZoom === 0 ? 0 : minZoom - 1;
  layer.layer.setMinZoom(fromZoom);
  layer.layer.setExtent([...box]);
  const isAll = fromZoom === 0 && maxLon - minLon > 359;
  return { ...layer, attribution: attribution || file.attribution, box: isAll ? undefined : box, fromZoom };
}

/** Reports the state of the tiles of a file. Damage is permanent; an unreachable server may respond later. */
function watchedFile(file: MapFile, report: ReportHealth): ReadTile {
  let [hasAny, isDamaged] = [false, false];
  return async (z, x, y) => {
    try {
      const bytes = await file.tile(z, x, y);
      hasAny = true;
      if (!isDamaged) report(undefined);
      return bytes;
    } catch (error) {
      const isAway = error instanceof UnreachableError;
      isDamaged ||= !isAway;
      if (isDamaged || !hasAny) report(error instanceof Error ? error.message : String(error));
      throw error;
    }
  };
}

type ReadTile = (z: number, x: number, y: number) => Promise<ArrayBuffer | undefined>;
type Zooms = { readonly minZoom: number; readonly maxZoom: number };

function imagesLayer(read: ReadTile, zooms: Zooms): Pick<Tiles, 'layer' | 'paint'> {
  const loader = async (z: number, x: number, y: number): Promise<ImageBitmap> => {
    const bytes = await read(z, x, y);
    return bytes === undefined ? createImageBitmap(new ImageData(1, 1)) : createImageBitmap(new Blob([bytes]));
  };
  const source = new ImageTile({ ...zooms, loader });
  return { layer: new TileLayer({ source, zIndex: Z.tiles }), paint: () => undefined };
}

function vectorSource(read: ReadTile, zooms: Zooms): VectorTileSource {
  const format = new MVT();
  return new VectorTileSource({
    ...zooms,
    format,
    url: '{z}/{x}/{y}',
    tileLoadFunction(given) {
      const tile = given as VectorTile<RenderFeature>;
      const [z = 0, x = 0, y = 0] = tile.tileCoord;
      tile.setLoader((extent, _resolution, featureProjection) => {
        read(z, x, y)
          .then((bytes) => (bytes === undefined ? [] : format.readFeatures(bytes, { extent, featureProjection })))
          .then(
            (features) => tile.setFeatures(features),
            () => tile.setState(TileState.ERROR),
          );
      });
    },
  });
}

function vectorLayer(source: VectorTileSource): Pick<Tiles, 'layer' | 'paint'> {
  const layer = new VectorTileLayer({ source, zIndex: Z.tiles, declutter: 'ground' });
  return { layer, paint: (colors) => layer.setStyle(vectorStyle(colors)) };
}

/** Reports the state of the tiles of a server. Single missing tiles are a problem only if no tile has loaded. */
function watched<Source extends TileSource>(source: Source, url: string, report: ReportHealth): Source {
  const host = URL.parse(url.replaceAll(/\{[^}]*\}\.?/g, ''), location.origin)?.host ?? url;
  let hasAny = false;
  const on = source.on.bind(source) as (type: string, listener: () => void) => unknown;
  on('tileloadend', () => {
    hasAny = true;
    report(undefined);
  });
  on('tileloaderror', () => {
    if (!hasAny) report(t('{host} has not answered with any', { host }));
  });
  return source;
}
