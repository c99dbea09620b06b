import type { FeatureLike } from 'ol/Feature.js';
import Fill from 'ol/style/Fill.js';
import Stroke from 'ol/style/Stroke.js';
import Style, { type StyleFunction } from 'ol/style/Style.js';
import Text from 'ol/style/Text.js';
import type { Palette } from '../view/palette.ts';
import { zoomOf } from './world_fade.ts';

/** Kind of a layer of vector tiles, independent of the schema. */
type Theme = 'land' | 'water' | 'cover' | 'building' | 'road' | 'roadName' | 'border' | 'place' | 'nothing';

/** Themes of the layers of the OpenMapTiles and Protomaps schemas. Other layers are drawn as outlines. */
const THEMES: Readonly<Record<string, Theme>> = {
  earth: 'land',
  water: 'water',
  waterway: 'water',
  ocean: 'water',
  landcover: 'cover',
  landuse: 'cover',
  park: 'cover',
  aeroway: 'road',
  building: 'building',
  buildings: 'building',
  transportation: 'road',
  roads: 'road',
  transit: 'road',
  transportation_name: 'roadName',
  boundary: 'border',
  boundaries: 'border',
  place: 'place',
  places: 'place',
  water_name: 'nothing',
  physical_point: 'nothing',
  physical_line: 'nothing',
  poi: 'nothing',
  pois: 'nothing',
  housenumber: 'nothing',
  mountain_peak: 'nothing',
  aerodrome_label: 'nothing',
};

const GREEN =
  /^(wood|forest|grass|grassland|park|national_park|nature_reserve|meadow|garden|cemetery|scrub|pitch|golf)/;

/** Widths of roads by their kind, in pixels at zoom 16, and the zoom from which they are drawn. */
const ROADS: readonly (readonly [kinds: RegExp, width: number, fromZoom: number])[] = [
  [/^(motorway|highway|trunk)/, 9, 5],
  [/^(primary|major)/, 7, 8],
  [/^(secondary|tertiary|medium)/, 6, 10],
  [/^(minor|residential|street|unclassified|runway|taxiway)/, 4.5, 12],
  [/^(service|track|other|raceway)/, 2.5, 14],
  [/^(rail|transit|subway|tram)/, 1.2, 12],
  [/^(path|footway|pedestrian|cycleway|steps)/, 1, 15],
];

const ORDER = { land: 0, cover: 1, water: 2, building: 3, casing: 4, road: 5, border: 6, name: 7 } as const;

/** Returns a muted style for vector tiles below a site, in the colors of the theme. */
export function vectorStyle(colors: Palette): StyleFunction {
  const looks = looksIn(colors);
  return (feature, resolution) => {
    const zoom = zoomOf(resolution);
    const theme = THEMES[String(feature.get('layer'))];
    const isArea = feature.getGeometry()?.getType().endsWith('Polygon') === true;
    switch (theme) {
      case 'land':
        return isArea ? looks.land : undefined;
      case 'cover':
        return isArea && GREEN.test(kindOf(feature)) ? looks.green : undefined;
      case 'water':
        return isArea ? looks.water : looks.river;
      case 'building':
        return isArea && zoom >= 13 ? looks.building : undefined;
      case 'border':
        return isArea ? undefined : looks.border;
      case 'road':
        return isArea ? undefined : roadLook(feature, zoom, colors);
      case 'roadName':
        return zoom >= 15 ? nameAlong(feature, colors) : undefined;
      case 'place':
        return placeLook(feature, zoom, colors);
      case 'nothing':
        return undefined;
      default:
        return looks.other;
    }
  };
}

function looksIn(colors: Palette) {
  const area = (color: string, zIndex: number): Style => new Style({ fill: new Fill({ color }), zIndex });
  return {
    land: area(colors.ground, ORDER.land),
    green: area(colors.green, ORDER.cover),
    water: area(colors.water, ORDER.water),
    river: new Style({ stroke: new Stroke({ color: colors.water, width: 1.5 }), zIndex: ORDER.water }),
    building: new Style({
      fill: new Fill({ color: colors.building }),
      stroke: new Stroke({ color: colors.buildingEdge, width: 0.75 }),
      zIndex: ORDER.building,
    }),
    border: new Style({ stroke: new Stroke({ color: colors.border, width: 1 }), zIndex: ORDER.border }),
    other: new Style({ stroke: new Stroke({ color: colors.border, width: 1 }), zIndex: ORDER.building }),
  };
}

function kindOf(feature: FeatureLike): string {
  return String(feature.get('kind') ?? feature.get('class') ?? feature.get('subclass') ?? '');
}

/** Finds the road row of a feature. More specific attributes take precedence over general ones. */
function roadKind(feature: FeatureLike): (typeof ROADS)[number] | undefined {
  const names = [feature.get('kind_detail'), feature.get('class'), feature.get('kind')].map((name) =>
    String(name ?? ''),
  );
  return names.map((name) => ROADS.find(([kinds]) => kinds.test(name))).find((row) => row !== undefined);
}

function roadLook(feature: FeatureLike, zoom: number, colors: Palette): Style[] {
  const [, widest, fromZoom] = roadKind(feature) ?? [undefined, 2.5, 14];
  if (zoom < fromZoom) return [];
  const width = Math.max(0.8, Math.min(widest * 3, widest * 2 ** ((zoom - 16) * 0.55)));
  const line = (color: string, wide: number, zIndex: number): Style =>
    new Style({ stroke: new Stroke({ color, width: wide, lineCap: 'round', lineJoin: 'round' }), zIndex });
  if (width < 1.6) return [line(colors.roadEdge, width, ORDER.road)];
  const name = zoom >= 15.5 && width >= 5 ? nameAlong(feature, colors) : undefined;
  return [
    line(colors.roadEdge, width + 1.5, ORDER.casing),
    line(colors.road, width, ORDER.road),
    ...(name === undefined ? [] : [name]),
  ];
}

function nameAlong(feature: FeatureLike, colors: Palette): Style | undefined {
  const name = feature.get('name');
  if (typeof name !== 'string' || name === '') return undefined;
  return new Style({ text: textOf(name, { colors, isAlong: true }), zIndex: ORDER.name });
}

/** Zoom levels and font sizes by kind of place. Population and rank differ between schemas; the kind is common to all. */
const PLACES: readonly (readonly [kinds: RegExp, fromZoom: number, size: number])[] = [
  [/^(country|continent)/, 2, 12],
  [/^(state|region|province)/, 5, 11],
  [/^(city|locality)/, 5, 13],
  [/^town/, 9, 12],
  [/^(village|macrohood|suburb)/, 12, 11],
  [/./, 14, 11],
];

function placeLook(feature: FeatureLike, zoom: number, colors: Palette): Style | undefined {
  const name = feature.get('name');
  if (typeof name !== 'string') return undefined;
  const kind = String(feature.get('kind_detail') ?? feature.get('class') ?? feature.get('kind') ?? 'other');
  const [, fromZoom, size] = PLACES.find(([kinds]) => kinds.test(kind)) ?? [undefined, 14, 11];
  if (zoom < fromZoom) return undefined;
  return new Style({ text: textOf(name, { colors, size }), zIndex: ORDER.name });
}

function textOf(
  text: string,
  { colors, size = 11, isAlong = false }: { colors: Palette; size?: number; isAlong?: boolean },
): Text {
  return new Text({
    text,
    font: `500 ${size}px Inter, system-ui, sans-serif`,
    placement: isAlong ? 'line' : 'point',
    fill: new Fill({ color: colors.place }),
    stroke: new Stroke({ color: colors.placeHalo, width: 3 }),
  });
}
