import LineString from 'ol/geom/LineString.js';
import Point from 'ol/geom/Point.js';
import Polygon from 'ol/geom/Polygon.js';
import Fill from 'ol/style/Fill.js';
import RegularShape from 'ol/style/RegularShape.js';
import Stroke from 'ol/style/Stroke.js';
import Style, { type StyleFunction } from 'ol/style/Style.js';
import Text from 'ol/style/Text.js';
import { useMemo } from 'preact/hooks';
import type { Fence } from '../../../model/fence.ts';
import type { Zone } from '../../../model/zone.ts';
import { labelOf } from '../../hub/entity_kinds.ts';
import { areaName } from '../plane/label_position.ts';
import { useMap } from '../view/map_view.tsx';
import { type AlarmSeverity, type Palette, palette } from '../view/palette.ts';
import { useVectorLayer, Z } from '../view/vector_layer.ts';
import { fenceFeature, zoneFeature } from './features.ts';

/** Highlight of the edge of a fence: a recent event, or an alert. */
export interface FenceGlow {
  readonly is: 'entry' | 'exit' | AlarmSeverity;
  /** 0 to 1; events fade. */
  readonly strength: number;
}

/** Opacity of fills in the color of a property, in hexadecimal digits. */
const SOFT = '33';

const FONT = '12px Inter, system-ui, sans-serif';

/** Layer of zones: outlines of their ground control points. Proximity zones are circles in another color. */
export function ZoneLayer({
  zones,
  selectedId,
  labels = true,
}: {
  readonly zones: readonly Zone[];
  readonly selectedId?: string | undefined;
  readonly labels?: boolean;
}) {
  const { plane } = useMap();
  const colors = palette();
  const features = useMemo(() => zones.flatMap((zone) => zoneFeature(zone, plane) ?? []), [zones, plane]);
  const style = useMemo<StyleFunction>(
    () => (feature, resolution) => {
      const zone = feature.get('zone') as Zone;
      const isProximity = zone.ground_control_points == null;
      const isSelected = zone.id === selectedId;
      const color = isSelected ? colors.selected : isProximity ? colors.proximity : colors.zone;
      const area = new Style({
        stroke: new Stroke({ color, width: isSelected ? 2.5 : 1.25, lineDash: isProximity ? [2, 4] : [7, 4] }),
        fill: new Fill({ color: isProximity ? colors.proximityFill : colors.zoneFill }),
      });
      const label = { text: labelOf(zone), color, colors, feature, resolution, isZone: true };
      return [area, ...labelOn(labels, label)];
    },
    [colors, selectedId, labels],
  );
  useVectorLayer(features, style, Z.zones);
  return null;
}

/** Layer of fences with regions in the plane's coordinates. */
export function FenceLayer({
  fences,
  selectedId,
  glows,
  colorsOf,
  labels = true,
}: {
  readonly fences: readonly Fence[];
  readonly selectedId?: string | undefined;
  /** Colors of fences by id; all others have the same color. */
  readonly colorsOf?: ReadonlyMap<string, string> | undefined;
  /** Fences with a recent entry, exit or alert, by id. */
  readonly glows?: ReadonlyMap<string, FenceGlow>;
  readonly labels?: boolean;
}) {
  const { plane } = useMap();
  const colors = palette();
  const features = useMemo(() => fences.flatMap((fence) => fenceFeature(fence, plane) ?? []), [fences, plane]);
  const style = useMemo<StyleFunction>(
    () => (feature, resolution) => {
      const fence = feature.get('fence') as Fence;
      const glow = glows?.get(fence.id);
      const isSelected = fence.id === selectedId;
      const own = colorsOf?.get(fence.id);
      const color = isSelected ? colors.selected : (own ?? colors.fence);
      const area = new Style({
        stroke: new Stroke({ color, width: isSelected ? 3 : 1.5 }),
        fill: new Fill({ color: own === undefined ? colors.fenceFill : `${own}${SOFT}` }),
      });
      const label = { text: labelOf(fence), color, colors, feature, resolution, isZone: false };
      return [area, ...glowOn(glow, colors), ...arrowOn(feature, color), ...labelOn(labels, label)];
    },
    [colors, selectedId, glows, colorsOf, labels],
  );
  useVectorLayer(features, style, Z.fences);
  return null;
}

/** Style of the arrow at the end of a gate's line, which points along it; none for other fences. */
function arrowOn(feature: Parameters<StyleFunction>[0], color: string): Style[] {
  const geometry = feature.getGeometry();
  if (!(geometry instanceof LineString)) return [];
  const [[fromX = 0, fromY = 0] = [], [x = 0, y = 0] = []] = geometry.getCoordinates().slice(-2);
  const rotation = Math.atan2(x - fromX, y - fromY);
  const image = new RegularShape({ points: 3, radius: 7, rotation, rotateWithView: true, fill: new Fill({ color }) });
  return [new Style({ geometry: new Point([x, y]), image })];
}

interface Label {
  readonly text: string;
  readonly color: string;
  readonly colors: Palette;
  readonly feature: Parameters<StyleFunction>[0];
  readonly resolution: number;
  readonly isZone: boolean;
}

/** Style of a label; none if it does not fit. */
function labelOn(isOn: boolean, { text, color, colors, feature, resolution, isZone }: Label): Style[] {
  const geometry = feature.getGeometry();
  const name = isOn && geometry instanceof Polygon ? areaName(geometry, { text, isZone, resolution }) : undefined;
  if (name === undefined) return [];
  return [
    new Style({
      geometry: new Point([...name.at]),
      text: new Text({
        text: name.text,
        textAlign: name.align,
        font: `${isZone ? 600 : 500} ${FONT}`,
        fill: new Fill({ color }),
        stroke: new Stroke({ color: colors.halo, width: 3 }),
      }),
    }),
  ];
}

/** Style of a highlighted edge, above the edges of other fences. The fill stays: it would hide what is inside. */
function glowOn(glow: FenceGlow | undefined, colors: Palette): Style[] {
  if (glow === undefined) return [];
  const alpha = Math.round(255 * glow.strength)
    .toString(16)
    .padStart(2, '0');
  return [new Style({ stroke: new Stroke({ color: `${colors[glow.is]}${alpha}`, width: 3.5 }), zIndex: 1 })];
}
