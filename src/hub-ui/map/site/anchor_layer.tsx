import Feature from 'ol/Feature.js';
import Point from 'ol/geom/Point.js';
import Fill from 'ol/style/Fill.js';
import RegularShape from 'ol/style/RegularShape.js';
import Stroke from 'ol/style/Stroke.js';
import Style, { type StyleFunction } from 'ol/style/Style.js';
import Text from 'ol/style/Text.js';
import { useMemo } from 'preact/hooks';
import type { Anchor } from '../../../model/anchor.ts';
import type { Zone } from '../../../model/zone.ts';
import { labelOf } from '../../hub/entity_kinds.ts';
import { anchorPosition } from '../plane/anchor_position.ts';
import { unitsPerMeter } from '../plane/plane.ts';
import { useMap } from '../view/map_view.tsx';
import { palette } from '../view/palette.ts';
import { useVectorLayer, Z } from '../view/vector_layer.ts';
import type { Drawn } from './features.ts';

/**
 * Meters per pixel below which anchors have labels and large symbols, which would otherwise cover each other and the site.
 */
const NAMED_BELOW_METERS = 0.1;
const LARGE_BELOW_METERS = 0.5;

/** Layer of anchors, the fixed devices of a locating system. */
export function AnchorLayer({
  anchors,
  zoneOf,
  selectedId,
  labels = true,
}: {
  readonly anchors: readonly Anchor[];
  readonly zoneOf: (anchor: Anchor) => Zone | undefined;
  readonly selectedId?: string | undefined;
  readonly labels?: boolean;
}) {
  const { plane } = useMap();
  const colors = palette();
  const features = useMemo(
    () =>
      anchors.flatMap((anchor) => {
        const at = anchorPosition(anchor, zoneOf(anchor), plane);
        const drawn: Drawn = { kind: 'anchors', id: anchor.id };
        return at === undefined ? [] : new Feature({ geometry: new Point(at), drawn, label: labelOf(anchor) });
      }),
    [anchors, zoneOf, plane],
  );
  const style = useMemo<StyleFunction>(
    () => (feature, resolution) => {
      const [x = 0, y = 0] = (feature.getGeometry() as Point).getCoordinates();
      const meters = resolution / unitsPerMeter(plane, [x, y]);
      const isSelected = (feature.get('drawn') as Drawn).id === selectedId;
      const color = isSelected ? colors.selected : colors.zone;
      const text = new Text({
        text: String(feature.get('label')),
        font: '11px Inter, system-ui, sans-serif',
        offsetY: 14,
        fill: new Fill({ color }),
        stroke: new Stroke({ color: colors.halo, width: 3 }),
      });
      return new Style({
        image: new RegularShape({
          points: 4,
          radius: isSelected ? 8 : meters < LARGE_BELOW_METERS ? 6 : 3,
          fill: new Fill({ color }),
          stroke: new Stroke({ color: colors.halo, width: 1.5 }),
        }),
        ...((isSelected || (labels && meters < NAMED_BELOW_METERS)) && { text }),
      });
    },
    [colors, plane, selectedId, labels],
  );
  useVectorLayer(features, style, Z.fences + 0.5);
  return null;
}
