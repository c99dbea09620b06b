import Feature from 'ol/Feature.js';
import Point from 'ol/geom/Point.js';
import CircleStyle from 'ol/style/Circle.js';
import Fill from 'ol/style/Fill.js';
import RegularShape from 'ol/style/RegularShape.js';
import Stroke from 'ol/style/Stroke.js';
import Style, { type StyleFunction } from 'ol/style/Style.js';
import Text from 'ol/style/Text.js';
import { useMemo } from 'preact/hooks';
import { fromMap, type Plane, type Position, toMap } from '../../map/plane/plane.ts';
import { circleGeometry } from '../../map/site/features.ts';
import { drawnAreaStyle } from '../../map/view/draw_shape.ts';
import { useMap } from '../../map/view/map_view.tsx';
import { palette } from '../../map/view/palette.ts';
import { useVectorLayer, Z } from '../../map/view/vector_layer.ts';
import type { FoundObject, Place } from './find_here.ts';

/** Objects with a number on the map, as in the list. */
const NUMBERED_MAX = 20;
const FONT = '600 11px Inter, system-ui, sans-serif';

/** Marks the place of a search and the objects that it has found. */
export function FoundLayer({
  place,
  radius,
  objects,
}: {
  readonly place: Place | undefined;
  /** Greatest distance from a point in meters. */
  readonly radius: number | undefined;
  readonly objects: readonly FoundObject[];
}) {
  const { plane } = useMap();
  const colors = palette();
  const areas = useMemo(() => (place === undefined ? [] : areaOf(place, radius, plane)), [place, radius, plane]);
  const areaStyle = useMemo(() => () => drawnAreaStyle(colors), [colors]);
  const marks = useMemo(
    () => [...(place?.kind === 'point' ? [pointFeature(place.at)] : []), ...objectFeatures(objects, plane)],
    [place, objects, plane],
  );
  const markStyle = useMemo<StyleFunction>(() => {
    const { selected: color, halo } = colors;
    const wide = new Stroke({ color: halo, width: 5 });
    const ring = [
      new Style({ image: new CircleStyle({ radius: 9, stroke: wide }) }),
      new Style({ image: new CircleStyle({ radius: 9, stroke: new Stroke({ color, width: 2 }) }) }),
    ];
    const cross = { points: 4, radius: 9, radius2: 0 };
    const point = [
      new Style({ image: new RegularShape({ ...cross, stroke: wide }) }),
      new Style({ image: new RegularShape({ ...cross, stroke: new Stroke({ color, width: 2 }) }) }),
    ];
    const numbered = (number: number): Style =>
      new Style({
        text: new Text({
          text: String(number),
          font: FONT,
          offsetX: 13,
          offsetY: -13,
          fill: new Fill({ color }),
          stroke: new Stroke({ color: halo, width: 4 }),
        }),
      });
    return (feature) => {
      const number: unknown = feature.get('number');
      if (typeof number === 'number') return number > NUMBERED_MAX ? ring : [...ring, numbered(number)];
      return point;
    };
  }, [colors]);
  useVectorLayer(areas, areaStyle, Z.tails - 0.5);
  useVectorLayer(marks, markStyle, Z.labels + 0.5);
  return null;
}

function areaOf(place: Place, radius: number | undefined, plane: Plane): Feature[] {
  if (place.kind === 'area') return [new Feature(place.area)];
  return radius === undefined ? [] : [new Feature(circleGeometry(fromMap(plane, place.at), radius, plane))];
}

function pointFeature(at: Position): Feature {
  return new Feature(new Point([...at]));
}

function objectFeatures(objects: readonly FoundObject[], plane: Plane): Feature[] {
  return objects.map(({ position }, i) => new Feature({ geometry: new Point(toMap(plane, position)), number: i + 1 }));
}
