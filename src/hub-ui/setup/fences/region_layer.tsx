import Collection from 'ol/Collection.js';
import { altKeyOnly, singleClick } from 'ol/events/condition.js';
import type Feature from 'ol/Feature.js';
import type Geometry from 'ol/geom/Geometry.js';
import LineString from 'ol/geom/LineString.js';
import MultiPoint from 'ol/geom/MultiPoint.js';
import Polygon from 'ol/geom/Polygon.js';
import Modify from 'ol/interaction/Modify.js';
import CircleStyle from 'ol/style/Circle.js';
import Fill from 'ol/style/Fill.js';
import Stroke from 'ol/style/Stroke.js';
import Style, { type StyleFunction } from 'ol/style/Style.js';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { Fence } from '../../../model/fence.ts';
import { positionLists, withPositionLists } from '../../../model/position_lists.ts';
import { type MapPoint, type Plane, toMap, unitsPerMeter } from '../../map/plane/plane.ts';
import { fenceFeature } from '../../map/site/features.ts';
import { useMap } from '../../map/view/map_view.tsx';
import { palette } from '../../map/view/palette.ts';
import { useVectorLayer, Z } from '../../map/view/vector_layer.ts';
import { PointsLayer } from '../map/points_layer.tsx';
import { carried } from './heights.ts';

type Region = Fence['region'];

interface RegionProps {
  readonly fence: Fence;
  /** Vertex selected in the table, as ring and index. */
  readonly selectedCorner: readonly [number, number] | undefined;
  /** False while a new shape is drawn. */
  readonly isEditable: boolean;
  readonly onChange: (change: { readonly region: Region; readonly radius?: number }) => void;
}

/** Editable region: drag corners or edges; Alt-click removes a corner. */
export function RegionLayer({ fence, selectedCorner, isEditable, onChange }: RegionProps) {
  const { map, plane } = useMap();
  const colors = palette();
  const features = useMemo(() => {
    const feature = fenceFeature(fence, plane);
    return feature === undefined ? [] : [feature];
  }, [fence, plane]);
  const selectedPoint = useMemo(() => selectedPosition(fence, selectedCorner, plane), [fence, selectedCorner, plane]);
  const style = useMemo<StyleFunction>(() => {
    const area = new Style({
      stroke: new Stroke({ color: colors.selected, width: 2.5 }),
      fill: new Fill({ color: `${colors.selected}1f` }),
    });
    const corner = (radius: number, color: string, points: () => MultiPoint): Style =>
      new Style({
        image: new CircleStyle({
          radius,
          fill: new Fill({ color }),
          stroke: new Stroke({ color: colors.selected, width: 2 }),
        }),
        geometry: points,
      });
    return (feature) => {
      const geometry = feature.getGeometry();
      const isRound = (feature.get('fence') as Fence).region.type === 'Point';
      const corners = isRound ? undefined : cornersOf(geometry as Geometry | undefined);
      if (corners === undefined) return area;
      const styles = [area, corner(5, colors.ground, () => new MultiPoint(corners))];
      if (selectedPoint !== undefined) styles.push(corner(7, colors.selected, () => new MultiPoint([selectedPoint])));
      return styles;
    };
  }, [colors, selectedPoint]);
  const source = useVectorLayer(features, style, Z.edit);
  const latest = useRef({ fence, onChange });
  latest.current = { fence, onChange };
  const hasCorners = fence.region.type !== 'Point';
  // Before paint, so that the tool works as soon as it is visible.
  useLayoutEffect(() => {
    if (!isEditable || !hasCorners || features.length === 0) return;
    const modify = new Modify({
      features: new Collection(features as Feature[]),
      pixelTolerance: 10,
      deleteCondition: (event) => altKeyOnly(event) && singleClick(event),
    });
    modify.on('modifyend', () => {
      const geometry = features[0]?.getGeometry();
      const { region } = latest.current.fence;
      if (!(geometry instanceof Polygon || geometry instanceof LineString)) return;
      const lists = geometry instanceof Polygon ? geometry.getCoordinates() : [geometry.getCoordinates()];
      latest.current.onChange({
        region: withPositionLists(region, (before, i) => {
          return carried(
            before,
            (lists[i] ?? []).map(([x = 0, y = 0]): MapPoint => [x, y]),
            plane,
          );
        }),
      });
    });
    map.addInteraction(modify);
    return () => {
      map.removeInteraction(modify);
    };
  }, [map, source, features, plane, isEditable, hasCorners]);
  return isEditable && !hasCorners ? <CircleHandles fence={fence} onChange={onChange} /> : null;
}

function cornersOf(geometry: Geometry | undefined): number[][] | undefined {
  if (geometry instanceof Polygon) return geometry.getCoordinates().flat();
  return geometry instanceof LineString ? geometry.getCoordinates() : undefined;
}

/** Handles of a circle: the center moves it, the edge resizes it. */
function CircleHandles({ fence, onChange }: Pick<RegionProps, 'fence' | 'onChange'>) {
  const { plane } = useMap();
  const { region, radius } = fence;
  const handles = useMemo(() => {
    if (region.type !== 'Point') return [];
    const [x, y] = toMap(plane, region.coordinates);
    const edge: MapPoint = [x + (radius ?? 0) * unitsPerMeter(plane, [x, y]), y];
    return [
      { at: [x, y] as MapPoint, label: '' },
      { at: edge, label: '↔' },
    ];
  }, [region, radius, plane]);
  const move = (index: number, to: MapPoint): void => {
    if (region.type !== 'Point') return;
    const center = handles[0]?.at ?? to;
    if (index === 1) onChange({ region, radius: radiusBetween(center, to, plane) });
    else onChange({ region: { type: 'Point', coordinates: carried([region.coordinates], [to], plane)[0] ?? [] } });
  };
  return <PointsLayer points={handles} onMove={move} />;
}

/** Radius of a circle in meters, rounded to centimeters. */
export function radiusBetween(center: MapPoint, edge: MapPoint, plane: Plane): number {
  const meters = Math.hypot(edge[0] - center[0], edge[1] - center[1]) / unitsPerMeter(plane, center);
  return Math.max(0.01, Math.round(meters * 100) / 100);
}

function selectedPosition(
  { region }: Fence,
  selectedCorner: RegionProps['selectedCorner'],
  plane: Plane,
): MapPoint | undefined {
  if (selectedCorner === undefined || region.type === 'Point') return undefined;
  const position = positionLists(region)[selectedCorner[0]]?.[selectedCorner[1]];
  return position && toMap(plane, position);
}
