import Feature from 'ol/Feature.js';
import Circle from 'ol/geom/Circle.js';
import MultiPolygon from 'ol/geom/MultiPolygon.js';
import Stroke from 'ol/style/Stroke.js';
import Style from 'ol/style/Style.js';
import { useMemo } from 'preact/hooks';
import type { Zone } from '../../model/zone.ts';
import flow from '../controls/flow.module.css';
import { Notice } from '../controls/notice.tsx';
import { NumberInput } from '../controls/number_input.tsx';
import { t } from '../languages/language.ts';
import { metersText } from '../languages/numbers.ts';
import { type MapPoint, type Plane, planeOfZone } from '../map/plane/plane.ts';
import { ScaleBar } from '../map/view/map_tools.tsx';
import { MapView, useMap } from '../map/view/map_view.tsx';
import { palette } from '../map/view/palette.ts';
import { useVectorLayer, Z } from '../map/view/vector_layer.ts';
import positionStyles from '../setup/fields/position_fields.module.css';
import { PositionTable } from '../setup/fields/position_fields.tsx';
import { ContextMap } from '../setup/map/context_map.tsx';
import { MapHint } from '../setup/map/map_hint.tsx';
import { type PlacedPoint, PointsLayer } from '../setup/map/points_layer.tsx';
import { extentAround, FitExtent } from '../setup/zones/image_layer.tsx';
import { type Drawing, type FilePosition, type FileShape, positionsOf } from './drawing.ts';
import { type PlaneChoice, placed } from './drawn_entities.ts';
import styles from './match.module.css';
import { cornerAt, knownOf, placeByPoints, type PointPair } from './two_points.ts';

export type Points = readonly [PointPair, PointPair];
type Side = keyof PointPair;

interface PointMapsProps {
  readonly drawing: Drawing;
  readonly zone: Zone;
  readonly points: Points;
  readonly onChange: (points: Points) => void;
}

/** Drawing and zone side by side, for two control points: click, drag, or enter numbers. */
export function PointMaps({ drawing, zone, points, onChange }: PointMapsProps) {
  const sitePlane = useMemo(() => planeOfZone(zone), [zone.id]);
  const drawnPlane = useMemo<Plane>(() => ({ kind: 'zone', id: `${zone.id} drawing`, zone }), [zone.id]);
  const shapes = useMemo(() => drawing.layers.flatMap((layer) => layer.shapes), [drawing]);
  const corners = useMemo(() => cornersOf(shapes), [shapes]);
  const found = placeByPoints(points);
  const move = (on: Side, index: number, [x, y]: readonly [number, number]): void => {
    const [one, other] = points;
    const next = (point: PointPair): PointPair => ({ ...point, [on]: [rounded(x), rounded(y)] });
    onChange(index === 0 ? [next(one), other] : [one, next(other)]);
  };
  const place = (on: Side, at: readonly [number, number]): void => {
    const index = points.findIndex((point) => knownOf(point[on]) === undefined);
    if (index >= 0) move(on, index, at);
  };
  const side = { points, onMove: move, onPlace: place };
  return (
    <div class={flow.stack}>
      <div class={styles.maps}>
        <div class={styles.map}>
          <MapView plane={drawnPlane} label={t('Map: points in the drawing')}>
            <ShapesLayer shapes={shapes} />
            <FitExtent extent={extentAround(corners)} />
            <ScaleBar />
            <SidePoints {...side} on="drawn" corners={corners} />
          </MapView>
          <MapHint>{hintOf(points, 'drawn')}</MapHint>
        </div>
        <div class={styles.map}>
          <ContextMap plane={sitePlane} label={t('Map: points in the zone')} zone={zone}>
            {found !== undefined && <ShapesLayer shapes={shapes} plane={{ zoneId: zone.id, ...found }} />}
            <SidePoints {...side} on="site" />
          </ContextMap>
          <MapHint>{hintOf(points, 'site')}</MapHint>
        </div>
      </div>
      <PointTable points={points} onChange={onChange} />
      <Fitting points={points} />
    </div>
  );
}

/** Instruction for one of the two maps. */
function hintOf(points: Points, on: Side): string {
  const other = on === 'drawn' ? 'site' : 'drawn';
  const count = (side: Side): number => points.filter((point) => knownOf(point[side]) !== undefined).length;
  if (count(on) < count(other)) return t('Now click the same point here');
  if (count(on) === points.length) return t('Drag a point to where it belongs');
  if (on === 'drawn') return t('Click a point here …');
  return t('… and the same one on {other}', { other: t('the map of the zone') });
}

interface SideProps {
  readonly on: Side;
  readonly points: Points;
  /** Points to which clicks snap. */
  readonly corners?: readonly FilePosition[];
  readonly onMove: (on: Side, index: number, at: readonly [number, number]) => void;
  readonly onPlace: (on: Side, at: readonly [number, number]) => void;
}

const NEAR_PIXELS = 12;

/** Points on one of the two maps. */
function SidePoints({ on, points, corners = [], onMove, onPlace }: SideProps) {
  const { map } = useMap();
  const shown = useMemo(
    () =>
      points.flatMap((point, i): (PlacedPoint & { readonly index: number })[] => {
        const at = knownOf(point[on]);
        if (at === undefined) return [];
        const isPending = knownOf(point[on === 'drawn' ? 'site' : 'drawn']) === undefined;
        return [{ at: [...at], label: String(i + 1), index: i, isPending }];
      }),
    [points, on],
  );
  const read = (at: MapPoint): readonly [number, number] => {
    return cornerAt(corners, at, NEAR_PIXELS * (map.getView().getResolution() ?? 0));
  };
  return (
    <PointsLayer
      points={shown}
      onMove={(index, to) => onMove(on, shown[index]?.index ?? 0, read(to))}
      onPlace={(at) => onPlace(on, read(at))}
    />
  );
}

/** Layer with the outlines of a drawing, in its own meters or in those of a zone. */
function ShapesLayer({ shapes, plane }: { readonly shapes: readonly FileShape[]; readonly plane?: PlaneChoice }) {
  const colors = palette();
  const features = useMemo(() => featuresOf(shapes, plane), [shapes, plane?.x, plane?.y, plane?.turn]);
  const style = useMemo(() => {
    const outline = new Style({ stroke: new Stroke({ color: colors.ink, width: 1.25 }) });
    return () => outline;
  }, [colors]);
  useVectorLayer(features, style, Z.edit);
  return null;
}

/** Merges all shapes into few features, since a drawing may have very many shapes. */
function featuresOf(shapes: readonly FileShape[], plane: PlaneChoice | undefined): readonly Feature[] {
  const at = (position: FilePosition): number[] => (plane === undefined ? [...position] : placed(position, plane));
  const areas = shapes.flatMap(({ geometry }) =>
    geometry.type === 'Polygon' ? [geometry.coordinates.map((ring) => ring.map(at))] : [],
  );
  const circles = shapes.flatMap(({ geometry, radius = 0 }) =>
    geometry.type === 'Point' ? [new Feature(new Circle(at(geometry.coordinates), radius))] : [],
  );
  return [new Feature(new MultiPolygon(areas)), ...circles];
}

const COLUMNS = [
  ['drawn', 0, t('x in the drawing')],
  ['drawn', 1, t('y in the drawing')],
  ['site', 0, t('x in the zone')],
  ['site', 1, t('y in the zone')],
] as const;

/** Table of the points in meters, for exact coordinates and for use without a pointer. */
function PointTable({ points, onChange }: Pick<PointMapsProps, 'points' | 'onChange'>) {
  const [one, other] = points;
  const set = (point: PointPair, [side, axis]: (typeof COLUMNS)[number], value: number | undefined): PointPair => {
    const [x, y] = point[side];
    return { ...point, [side]: axis === 0 ? [value, y] : [x, value] };
  };
  return (
    <PositionTable label={t('Points')} columns={COLUMNS.map(([, , label]) => label)}>
      {points.map((point, i) => (
        <tr key={i}>
          <th scope="row">{i + 1}</th>
          {COLUMNS.map((column) => (
            <td key={column[2]}>
              <NumberInput
                class={positionStyles.cell}
                aria-label={t('{column} of point {number}', { column: column[2], number: i + 1 })}
                step="any"
                value={point[column[0]][column[1]]}
                onInput={(value) => {
                  const changed = set(point, column, value);
                  onChange(i === 0 ? [changed, other] : [one, changed]);
                }}
              />
            </td>
          ))}
        </tr>
      ))}
    </PositionTable>
  );
}

/** Relative difference of the distances above which the units differ or a point is wrong. */
const OFF_PART = 0.01;

function Fitting({ points }: { readonly points: Points }) {
  const isComplete = points.every(({ drawn, site }) => knownOf(drawn) !== undefined && knownOf(site) !== undefined);
  if (!isComplete) return null;
  const found = placeByPoints(points);
  if (found === undefined) return <Notice tone="danger">{t('These points determine no position')}</Notice>;
  const { drawnMeters, siteMeters } = found;
  const isOff = Math.abs(drawnMeters - siteMeters) > OFF_PART * siteMeters;
  return (
    <Notice tone={isOff ? 'warn' : 'info'}>
      {t('The points are {drawn} apart in the drawing, and {site} in the zone.', {
        drawn: metersText(drawnMeters),
        site: metersText(siteMeters),
      })}
    </Notice>
  );
}

function cornersOf(shapes: readonly FileShape[]): readonly FilePosition[] {
  return shapes.flatMap(({ geometry }) => positionsOf(geometry));
}

function rounded(meters: number): number {
  return Math.round(meters * 1e3) / 1e3 + 0;
}
