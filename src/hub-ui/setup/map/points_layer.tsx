import Feature from 'ol/Feature.js';
import Point from 'ol/geom/Point.js';
import Translate from 'ol/interaction/Translate.js';
import type MapBrowserEvent from 'ol/MapBrowserEvent.js';
import CircleStyle from 'ol/style/Circle.js';
import Fill from 'ol/style/Fill.js';
import Stroke from 'ol/style/Stroke.js';
import Style, { type StyleFunction } from 'ol/style/Style.js';
import Text from 'ol/style/Text.js';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { MapPoint } from '../../map/plane/plane.ts';
import { useMap } from '../../map/view/map_view.tsx';
import { palette } from '../../map/view/palette.ts';
import { useVectorLayer, Z } from '../../map/view/vector_layer.ts';

export interface PlacedPoint {
  readonly at: MapPoint;
  readonly label: string;
  /** Whether its counterpart is missing. */
  readonly isPending?: boolean;
}

const HIT_PIXELS = 12;

/** Layer of numbered, draggable points. With `onPlace`, a click elsewhere adds a point. */
export function PointsLayer({
  points,
  selected,
  onMove,
  onSelect,
  onPlace,
  isFixed = false,
}: {
  readonly points: readonly PlacedPoint[];
  readonly selected?: number | undefined;
  readonly onMove: (index: number, to: MapPoint) => void;
  readonly onSelect?: ((index: number) => void) | undefined;
  readonly onPlace?: ((at: MapPoint) => void) | undefined;
  /** Read-only. */
  readonly isFixed?: boolean;
}) {
  const { map } = useMap();
  const colors = palette();
  const features = useMemo(
    () =>
      points.map(
        ({ at, label, isPending }, index) => new Feature({ geometry: new Point(at), index, label, isPending }),
      ),
    [points],
  );
  const style = useMemo<StyleFunction>(() => {
    return (feature) => {
      const isSelected = feature.get('index') === selected;
      const color = feature.get('isPending') ? colors.exit : colors.selected;
      return new Style({
        image: new CircleStyle({
          radius: isSelected ? 11 : 9,
          fill: new Fill({ color }),
          stroke: new Stroke({ color: colors.halo, width: isSelected ? 3.5 : 2 }),
        }),
        text: new Text({
          text: String(feature.get('label')),
          font: '600 11px Inter, system-ui, sans-serif',
          fill: new Fill({ color: colors.ground }),
          offsetY: 0.5,
        }),
      });
    };
  }, [colors, selected]);
  const source = useVectorLayer(features, style, Z.edit + 1);
  const handlers = useRef({ onMove, onSelect, onPlace });
  handlers.current = { onMove, onSelect, onPlace };
  // Before paint, so that the tool works as soon as it is visible.
  useLayoutEffect(() => {
    if (isFixed) return;
    const isOurs = (feature: unknown): boolean => source.getFeatures().includes(feature as Feature);
    const translate = new Translate({ filter: isOurs, hitTolerance: HIT_PIXELS });
    translate.on('translateend', ({ features: moved }) => {
      for (const feature of moved.getArray()) {
        const [x = 0, y = 0] = (feature.getGeometry() as Point).getCoordinates();
        handlers.current.onMove(feature.get('index') as number, [x, y]);
      }
    });
    const click = ({ pixel, coordinate }: MapBrowserEvent): void => {
      const hit = map.getFeaturesAtPixel(pixel, { hitTolerance: HIT_PIXELS }).find(isOurs);
      if (hit !== undefined) handlers.current.onSelect?.(hit.get('index') as number);
      else handlers.current.onPlace?.([coordinate[0] ?? 0, coordinate[1] ?? 0]);
    };
    map.addInteraction(translate);
    map.on('click', click);
    return () => {
      map.removeInteraction(translate);
      map.un('click', click);
    };
  }, [map, source, isFixed]);
  return null;
}
