import Feature from 'ol/Feature.js';
import LineString from 'ol/geom/LineString.js';
import Point from 'ol/geom/Point.js';
import Fill from 'ol/style/Fill.js';
import RegularShape from 'ol/style/RegularShape.js';
import Stroke from 'ol/style/Stroke.js';
import Style, { type StyleFunction } from 'ol/style/Style.js';
import Text from 'ol/style/Text.js';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { FenceEvent } from '../../../model/events.ts';
import type { Fence } from '../../../model/fence.ts';
import { crossingsToday, type GateCrossings } from '../../hub/gate_crossings.ts';
import { subscribe } from '../../hub/live.ts';
import { countText } from '../../languages/numbers.ts';
import { sideOf } from '../../map/plane/label_position.ts';
import { regionGeometry } from '../../map/site/features.ts';
import { useMap } from '../../map/view/map_view.tsx';
import { palette } from '../../map/view/palette.ts';
import { useVectorLayer, Z } from '../../map/view/vector_layer.ts';

/** Maximum number of gates with counts: each needs a request. */
const GATES_MAX = 50;
/** Delay that combines crossings in quick succession into one request. */
const TOGETHER_MS = 1_000;
/** Interval after which all are counted again: a new day begins. */
const REPEAT_MS = 60_000;
/** Shorter gates have no counts. */
const LINE_MIN_PIXELS = 24;
/** Distances from the line. */
const [ARROW_PIXELS, COUNT_PIXELS] = [12, 30] as const;
const FONT = '600 12px Inter, system-ui, sans-serif';

/** Today's crossings of each gate: an arrow and a count on both sides of its line. */
export function GateCounts({ fences }: { readonly fences: readonly Fence[] }) {
  const { plane } = useMap();
  const colors = palette();
  const gates = useMemo(
    () => fences.filter(({ region }) => region.type === 'LineString').slice(0, GATES_MAX),
    [fences],
  );
  const counts = useCounts(gates.map(({ id }) => id));
  const features = useMemo(
    () =>
      gates.flatMap((gate) => {
        const geometry = regionGeometry(gate, plane);
        return geometry === undefined ? [] : new Feature({ geometry, crossings: counts.get(gate.id) });
      }),
    [gates, plane, counts],
  );
  const style = useMemo<StyleFunction>(() => {
    const { fence: color, halo } = colors;
    return (feature, resolution) => {
      const [line, crossings] = [feature.getGeometry(), feature.get('crossings') as GateCrossings | undefined];
      if (!(line instanceof LineString) || crossings === undefined) return [];
      if (line.getLength() < LINE_MIN_PIXELS * resolution) return [];
      return (['left', 'right'] as const).flatMap((side) => {
        const to = sideOf(line.getCoordinates(), side);
        const at = (pixels: number): Point => new Point(to.from(pixels * resolution));
        const arrow = { points: 3, radius: 6, rotation: to.bearing, rotateWithView: true };
        return [
          new Style({ geometry: at(ARROW_PIXELS), image: new RegularShape({ ...arrow, fill: new Fill({ color }) }) }),
          new Style({
            geometry: at(COUNT_PIXELS),
            text: new Text({
              text: countText(crossings[side]),
              font: FONT,
              fill: new Fill({ color }),
              stroke: new Stroke({ color: halo, width: 4 }),
            }),
          }),
        ];
      });
    };
  }, [colors]);
  useVectorLayer(features, style, Z.labels + 0.1);
  return null;
}

/** Today's crossings by gate. A gate is counted again after an event, and all every minute. */
function useCounts(ids: readonly string[]): ReadonlyMap<string, GateCrossings> {
  const [counts, setCounts] = useState<ReadonlyMap<string, GateCrossings>>(new Map());
  const key = ids.join('\n');
  useEffect(() => {
    if (key === '') return;
    let isShown = true;
    const waiting = new Set(ids);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const count = async (): Promise<void> => {
      timer = undefined;
      const due = [...waiting];
      waiting.clear();
      // A gate that cannot be counted, for example for lack of a permission, has no counts.
      const found = await Promise.all(due.map((id) => crossingsToday(id).catch(() => undefined)));
      if (!isShown) return;
      setCounts((before) => {
        const next = new Map(before);
        for (const [i, id] of due.entries()) {
          const crossings = found[i];
          if (crossings !== undefined) next.set(id, crossings);
        }
        return next;
      });
    };
    void count();
    const repeated = setInterval(() => {
      for (const id of ids) waiting.add(id);
      void count();
    }, REPEAT_MS);
    const end = subscribe(
      'fence_events',
      { fence_id: ids },
      {
        events(events: readonly FenceEvent[]) {
          for (const { fence_id: id } of events) if (id != null) waiting.add(id);
          timer ??= setTimeout(() => void count(), TOGETHER_MS);
        },
      },
    );
    return () => {
      isShown = false;
      clearTimeout(timer);
      clearInterval(repeated);
      end();
    };
  }, [key]);
  return counts;
}
