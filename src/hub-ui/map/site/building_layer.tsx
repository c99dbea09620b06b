import Feature from 'ol/Feature.js';
import Point from 'ol/geom/Point.js';
import Polygon from 'ol/geom/Polygon.js';
import Fill from 'ol/style/Fill.js';
import Stroke from 'ol/style/Stroke.js';
import Style, { type StyleFunction } from 'ol/style/Style.js';
import Text from 'ol/style/Text.js';
import { useMemo } from 'preact/hooks';
import type { Fence } from '../../../model/fence.ts';
import type { Zone } from '../../../model/zone.ts';
import { labelOf } from '../../hub/entity_kinds.ts';
import { nameSize } from '../plane/label_position.ts';
import type { Plane } from '../plane/plane.ts';
import { useMap } from '../view/map_view.tsx';
import { palette } from '../view/palette.ts';
import { useVectorLayer, Z } from '../view/vector_layer.ts';
import { fenceFeature, zoneFeature } from './features.ts';

/**
 * Layer of buildings and rooms: soft fills of zones, and names of zones and fences in sizes that fit their areas. A building
 * of several zones has its name once, on the largest.
 */
export function BuildingLayer({
  zones,
  fences,
}: {
  readonly zones: readonly Zone[];
  readonly fences: readonly Fence[];
}) {
  const { plane } = useMap();
  const { building, country } = palette();
  const fills = useMemo(
    () => zones.flatMap((zone) => (zone.ground_control_points == null ? [] : (zoneFeature(zone, plane) ?? []))),
    [zones, plane],
  );
  const fill = useMemo<StyleFunction>(() => {
    const style = new Style({ fill: new Fill({ color: building }) });
    return () => style;
  }, [building]);
  useVectorLayer(fills, fill, Z.building);
  const names = useMemo(() => namesOf(zones, fences, plane), [zones, fences, plane]);
  const style = useMemo<StyleFunction>(() => nameStyle(country, palette().halo), [country]);
  useVectorLayer(names, style, Z.areaNames);
  return null;
}

/** Features at the middle of areas, with the name and the size of the area. */
function namesOf(zones: readonly Zone[], fences: readonly Fence[], plane: Plane): Feature[] {
  const buildings = new Map<string, Feature>();
  for (const zone of zones) {
    const name = zone.building || labelOf(zone);
    const feature = nameOf(name, zone.ground_control_points == null ? undefined : zoneFeature(zone, plane));
    const before = buildings.get(name);
    if (feature !== undefined && (before === undefined || areaOf(feature) > areaOf(before)))
      buildings.set(name, feature);
  }
  return [
    ...buildings.values(),
    ...fences.flatMap((fence) => nameOf(labelOf(fence), fenceFeature(fence, plane)) ?? []),
  ];
}

function nameOf(name: string, area: Feature | undefined): Feature | undefined {
  const polygon = area?.getGeometry();
  if (!(polygon instanceof Polygon)) return undefined;
  const [left = 0, bottom = 0, right = 0, top = 0] = polygon.getExtent();
  const [x = 0, y = 0] = polygon.getInteriorPoint().getCoordinates();
  return new Feature({ geometry: new Point([x, y]), name, width: right - left, height: top - bottom });
}

function areaOf(feature: Feature): number {
  return (feature.get('width') as number) * (feature.get('height') as number);
}

function nameStyle(color: string, halo: string): StyleFunction {
  return (feature, resolution) => {
    const name = feature.get('name') as string;
    const size = nameSize(name, {
      width: (feature.get('width') as number) / resolution,
      height: (feature.get('height') as number) / resolution,
    });
    if (size === undefined) return [];
    return new Style({
      text: new Text({
        text: name,
        font: `600 ${size}px Inter, system-ui, sans-serif`,
        fill: new Fill({ color }),
        stroke: new Stroke({ color: halo, width: 3 }),
        overflow: true,
      }),
    });
  };
}
