import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Spinner } from '../controls/notice.tsx';
import { isDark } from '../controls/theme.ts';
import { useNow } from '../controls/time.ts';
import typography from '../controls/typography.module.css';
import { t } from '../languages/language.ts';
import { lengthOfTime, rangeText } from '../languages/times.ts';
import { unitsPerMeter } from '../map/plane/plane.ts';
import { CanvasLayer, type CanvasFrame } from '../map/view/canvas_layer.ts';
import { lengthText } from '../map/view/map_tools.tsx';
import { useMap } from '../map/view/map_view.tsx';
import { useLayer, Z } from '../map/view/vector_layer.ts';
import { boxOf, cellFor, cornersOf, HEAT_DARK, HEAT_LIGHT, levelOf, thresholdsOf } from './heat.ts';
import styles from './heat_layer.module.css';
import { fetchHeatmap, type ObjectKind } from './history_api.ts';
import { rangeFromUrl } from './past.ts';
import { QueryResult, useHistoryQuery } from './query.tsx';

/** Geometry of the layer: corners of the cells, by color. */
interface Heat {
  readonly levels: readonly Float64Array[];
}

/** Heat map of time spent in the range of the time bar, with a legend. */
export function HeatLayer({ floor, kind }: { readonly floor: number | undefined; readonly kind: ObjectKind }) {
  const { plane } = useMap();
  const view = useView();
  const { fromMs, toMs } = rangeFromUrl(useNow(60_000));
  const cellMeters = view === undefined ? undefined : cellFor(view.metersPerPixel);
  const box = view?.extent && boxOf(view.extent, plane);
  const key = JSON.stringify([cellMeters, box, floor, kind, fromMs, toMs]);
  const query = useHistoryQuery(key, (signal) => {
    if (cellMeters === undefined || box === undefined) return new Promise<never>(() => undefined);
    return fetchHeatmap({ fromMs, toMs, cellMeters, box, floor, kind }, signal);
  });
  const value = query.last?.value;
  const thresholds = useMemo(() => thresholdsOf(value?.cells.map(({ seconds }) => seconds) ?? []), [value]);
  const colors = isDark() ? HEAT_DARK : HEAT_LIGHT;
  const drawn = useRef<Heat & { readonly colors: readonly string[] }>({ levels: [], colors });
  const layer = useMemo(() => new CanvasLayer((frame) => drawHeat(frame, drawn.current), Z.heat), []);
  const levels = useMemo(() => {
    return colors.map((_, level) => {
      const cells = value?.cells.filter(({ seconds }) => levelOf(seconds, thresholds) === level) ?? [];
      return cornersOf(cells, value?.cell_metres ?? 1, plane);
    });
  }, [value, thresholds, plane]);
  drawn.current = { levels, colors };
  useLayer(layer);
  useEffect(() => layer.redraw(), [layer, levels, colors]);
  return (
    <section class={styles.legend} aria-label={t('Heat map')}>
      <h2>{t('Time spent per {length} square', { length: lengthText(value?.cell_metres ?? cellMeters ?? 1) })}</h2>
      <p class={typography.faint}>{rangeText({ fromMs, toMs })}</p>
      {query.state === 'waiting' && query.last !== undefined && <Spinner />}
      <QueryResult
        query={query}
        isEmpty={({ cells }) => cells.length === 0}
        emptyMessage={t('Nothing was recorded here during this time.')}
      >
        {() => (
          <ul class={styles.scale}>
            {[...thresholds, undefined].map((threshold, level) => (
              <li key={colors[level]}>
                <span class={styles.swatch} style={{ background: colors[level] }} />
                {threshold === undefined
                  ? t('{long} or more', { long: lengthOfTime((thresholds.at(-1) ?? 0) * 1_000) })
                  : t('less than {long}', { long: lengthOfTime(threshold * 1_000) })}
              </li>
            ))}
          </ul>
        )}
      </QueryResult>
    </section>
  );
}

/** Visible extent of the map, updated when it stops moving. */
function useView(): { readonly extent: readonly number[]; readonly metersPerPixel: number } | undefined {
  const { map, plane } = useMap();
  const [view, setView] = useState<{ extent: readonly number[]; metersPerPixel: number }>();
  useEffect(() => {
    const look = (): void => {
      const size = map.getSize();
      if (size === undefined) return;
      const extent = map.getView().calculateExtent(size);
      const resolution = map.getView().getResolution() ?? 1;
      const metersPerPixel = resolution / unitsPerMeter(plane, map.getView().getCenter() ?? [0, 0]);
      setView({ extent, metersPerPixel });
    };
    look();
    map.on('moveend', look);
    return () => {
      map.un('moveend', look);
    };
  }, [map, plane]);
  return view;
}

function drawHeat(
  { context, toPixel }: CanvasFrame,
  { levels, colors }: Heat & { readonly colors: readonly string[] },
): void {
  const [a, b, c, d, e, f] = toPixel;
  context.globalAlpha = 0.72;
  levels.forEach((corners, level) => {
    context.fillStyle = colors[level] ?? '';
    context.beginPath();
    for (let at = 0; at < corners.length; at += 2) {
      const px = a * corners[at]! + c * corners[at + 1]! + e;
      const py = b * corners[at]! + d * corners[at + 1]! + f;
      if (at % 8 === 0) context.moveTo(px, py);
      else context.lineTo(px, py);
    }
    context.fill();
  });
  context.globalAlpha = 1;
}
