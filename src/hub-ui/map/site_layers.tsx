import Fill from 'ol/style/Fill.js';
import Stroke from 'ol/style/Stroke.js';
import Style, { type StyleFunction } from 'ol/style/Style.js';
import Text from 'ol/style/Text.js';
import { useMemo } from 'preact/hooks';
import type { Fence } from '../../model/fence.ts';
import type { Zone } from '../../model/zone.ts';
import { labelOf } from '../hub/kinds.ts';
import { useMap } from './map_view.tsx';
import { type Palette, palette } from './palette.ts';
import { fenceFeature, zoneFeature } from './shapes.ts';
import { useVectorLayer, Z } from './vector_layer.ts';

/** What has just happened at a fence. */
export type FenceGlow = 'entry' | 'exit';

const FONT = '12px Inter, system-ui, sans-serif';
/** Labels of areas that are smaller than this on the screen would only be in the way. */
const LABEL_MIN_PIXELS = 46;

/** Zones: the outline of their ground control points; proximity zones are circles of another colour. */
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
  const colours = palette();
  const features = useMemo(() => zones.flatMap((zone) => zoneFeature(zone, plane) ?? []), [zones, plane]);
  const style = useMemo<StyleFunction>(
    () => (feature, resolution) => {
      const zone = feature.get('zone') as Zone;
      const isProximity = zone.ground_control_points == null;
      const isSelected = zone.id === selectedId;
      const colour = isSelected ? colours.selected : isProximity ? colours.proximity : colours.zone;
      return new Style({
        stroke: new Stroke({ color: colour, width: isSelected ? 2.5 : 1.25, lineDash: isProximity ? [2, 4] : [7, 4] }),
        fill: new Fill({ color: isProximity ? colours.proximityFill : colours.zoneFill }),
        ...textOf(labels, { text: labelOf(zone), colour, colours, feature, resolution, atTop: !isProximity }),
      });
    },
    [colours, selectedId, labels],
  );
  useVectorLayer(features, style, Z.zones);
  return null;
}

/** Fences, whose regions are given in the plane's coordinates. */
export function FenceLayer({
  fences,
  selectedId,
  glows,
  labels = true,
}: {
  readonly fences: readonly Fence[];
  readonly selectedId?: string | undefined;
  /** Fences by their ids that something has just entered or left. */
  readonly glows?: ReadonlyMap<string, FenceGlow>;
  readonly labels?: boolean;
}) {
  const { plane } = useMap();
  const colours = palette();
  const features = useMemo(() => fences.flatMap((fence) => fenceFeature(fence, plane) ?? []), [fences, plane]);
  const style = useMemo<StyleFunction>(
    () => (feature, resolution) => {
      const fence = feature.get('fence') as Fence;
      const glow = glows?.get(fence.id);
      const isSelected = fence.id === selectedId;
      const base = isSelected ? colours.selected : colours.fence;
      const colour = glow === undefined ? base : colours[glow];
      return new Style({
        stroke: new Stroke({ color: colour, width: glow !== undefined || isSelected ? 3 : 1.5 }),
        fill: new Fill({ color: glow === undefined ? colours.fenceFill : faint(colour) }),
        ...textOf(labels, { text: labelOf(fence), colour: base, colours, feature, resolution, atTop: false }),
        zIndex: glow === undefined ? 0 : 1,
      });
    },
    [colours, selectedId, glows, labels],
  );
  useVectorLayer(features, style, Z.fences);
  return null;
}

interface Label {
  readonly text: string;
  readonly colour: string;
  readonly colours: Palette;
  readonly feature: Parameters<StyleFunction>[0];
  readonly resolution: number;
  readonly atTop: boolean;
}

function textOf(isOn: boolean, { text, colour, colours, feature, resolution, atTop }: Label): { text?: Text } {
  const extent = feature.getGeometry()?.getExtent();
  if (!isOn || extent === undefined) return {};
  const [left = 0, bottom = 0, right = 0, top = 0] = extent;
  const width = (right - left) / resolution;
  if (width < LABEL_MIN_PIXELS) return {};
  return {
    text: new Text({
      text: shortened(text, width),
      font: `${atTop ? 600 : 500} ${FONT}`,
      fill: new Fill({ color: colour }),
      stroke: new Stroke({ color: colours.halo, width: 3 }),
      overflow: true,
      // The name of a zone stands below its upper edge: in the middle it would be among what it is about.
      ...(atTop ? { offsetY: -((top - bottom) / resolution / 2) + 12 } : {}),
    }),
  };
}

function shortened(text: string, widthPixels: number): string {
  const most = Math.max(4, Math.floor(widthPixels / 6.5));
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

/** A colour of the palette, as thin as glass. */
function faint(colour: string): string {
  return `${colour}1c`;
}
