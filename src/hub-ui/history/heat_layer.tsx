import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Button } from '../controls/button.tsx';
import { download, downloadBlob } from '../controls/download.ts';
import flow from '../controls/flow.module.css';
import { SelectField } from '../controls/field.tsx';
import { Spinner } from '../controls/notice.tsx';
import { isDark } from '../controls/theme.ts';
import { useNow } from '../controls/time.ts';
import { toastError } from '../controls/toasts.tsx';
import typography from '../controls/typography.module.css';
import { setUrlParams, urlParam } from '../controls/url_state.ts';
import { t } from '../languages/language.ts';
import { inputText, rangeText } from '../languages/times.ts';
import { unitsPerMeter } from '../map/plane/plane.ts';
import { CanvasLayer, type CanvasFrame } from '../map/view/canvas_layer.ts';
import { imageOfMap } from '../map/view/map_image.ts';
import { lengthText } from '../map/view/map_tools.tsx';
import { useMap } from '../map/view/map_view.tsx';
import { palette } from '../map/view/palette.ts';
import { useLayer, Z } from '../map/view/vector_layer.ts';
import { boxOf, cellFor, cornersOf } from './heat.ts';
import styles from './heat_layer.module.css';
import { recordedIn, type Scale, scaleOf } from './heat_scales.ts';
import type { ObjectKind, Range } from './history_api.ts';
import { rangeFromUrl, timeParam, versusFromUrl } from './past.ts';
import { QUALITY_FIGURES } from './quality_cells.ts';
import { QueryResult, useHistoryQuery } from './query.tsx';
import { UntilField } from './until_field.tsx';

/** Geometry of the layer: corners of the cells, by color. */
interface Heat {
  readonly levels: readonly Float64Array[];
  readonly colors: readonly string[];
}

/**
 * Heat map of the time spent in the range of the time bar, of the difference to another range, or of the quality of positions,
 * with a legend and as files.
 */
export function HeatLayer({ floor, kind }: { readonly floor: number | undefined; readonly kind: ObjectKind }) {
  const { plane } = useMap();
  const view = useView();
  const range = rangeFromUrl(useNow(60_000));
  const figure = QUALITY_FIGURES.get(urlParam('heat') ?? '');
  const versus = figure === undefined ? versusFromUrl(range) : undefined;
  const cellMeters = view === undefined ? undefined : cellFor(view.metersPerPixel);
  const box = view?.extent && boxOf(view.extent, plane);
  const key = JSON.stringify([cellMeters, box, floor, kind, range, versus, figure === undefined]);
  const query = useHistoryQuery(key, async (signal) => {
    if (cellMeters === undefined || box === undefined) return new Promise<never>(() => undefined);
    return recordedIn({ ...range, cellMeters, box, floor, kind }, { versus, isQuality: figure !== undefined }, signal);
  });
  const value = query.last?.value;
  const meters = value?.meters ?? cellMeters ?? 1;
  const scale = useMemo(() => scaleOf(value, figure), [value, figure, isDark()]);
  const drawn = useRef<Heat>({ levels: [], colors: [] });
  const layer = useMemo(
    () => new CanvasLayer((frame) => drawHeat(frame, drawn.current), { zIndex: Z.heat, isStill: true }),
    [],
  );
  const levels = useMemo(() => scale.levels.map((cells) => cornersOf(cells, meters, plane)), [scale, meters, plane]);
  drawn.current = { levels, colors: scale.legend.map(({ color }) => color) };
  useLayer(layer);
  useEffect(() => layer.redraw(), [layer, levels]);
  const length = lengthText(meters);
  const timeTitle = versus
    ? t('Difference in time per {length} square', { length })
    : t('Time spent per {length} square', { length });
  const title = figure?.title(length) ?? timeTitle;
  const ranges = versus
    ? t('{range} compared with {other}', { range: rangeText(range), other: rangeText(versus) })
    : rangeText(range);
  return (
    <section class={styles.legend} aria-label={t('Heat map')}>
      <h2>{title}</h2>
      <p class={typography.faint}>{ranges}</p>
      {query.state === 'waiting' && query.last !== undefined && <Spinner />}
      <QueryResult
        query={query}
        isEmpty={() => scale.levels.every(({ length: count }) => count === 0)}
        emptyMessage={
          figure === undefined
            ? t('Nothing was recorded here during this time.')
            : t('No position here has a value for this time.')
        }
      >
        {() => (
          <>
            <ul class={styles.scale}>
              {scale.legend.map(({ color, text }) => (
                <li key={color}>
                  <span class={styles.swatch} style={{ background: color }} />
                  {text}
                </li>
              ))}
            </ul>
            <SaveHeat {...{ scale, range }} caption={`${title} · ${ranges}`} />
          </>
        )}
      </QueryResult>
      <SelectField
        label={t('Color by')}
        value={figure === undefined ? '' : (urlParam('heat') ?? '')}
        options={[
          { value: '', label: t('Time spent') },
          ...Array.from(QUALITY_FIGURES, ([name, { label }]) => ({ value: name, label })),
        ]}
        onChange={(heat) => setUrlParams({ heat })}
      />
      {figure === undefined && <Comparison range={range} versus={versus} />}
    </section>
  );
}

/** Buttons that save the heat map as an image of the map with its legend, and as a table. */
function SaveHeat({
  scale,
  range,
  caption,
}: {
  readonly scale: Scale;
  readonly range: Range;
  readonly caption: string;
}) {
  const { map } = useMap();
  const name = `heat-map-${inputText(range.toMs).replaceAll(':', '')}`;
  const saveImage = async (): Promise<void> => {
    try {
      downloadBlob(await imageOfMap(map, { caption, legend: scale.legend }, palette()), `${name}.png`);
    } catch (error) {
      toastError(error);
    }
  };
  return (
    <div class={flow.row}>
      <Button icon="download" onClick={() => void saveImage()}>
        {t('Save as PNG')}
      </Button>
      <Button icon="download" onClick={() => download(scale.csv(), `${name}.csv`, 'text/csv')}>
        {t('Save as CSV')}
      </Button>
    </div>
  );
}

const DAY_SECONDS = 86_400;
const OFFSETS = [DAY_SECONDS, 7 * DAY_SECONDS].map(String);

/** Choice of the range that the heat map is compared with. */
function Comparison({ range, versus }: { readonly range: Range; readonly versus: Range | undefined }) {
  const requested = urlParam('versus') ?? '';
  const isOffset = OFFSETS.includes(requested);
  return (
    <>
      <SelectField
        label={t('Compare with')}
        value={versus === undefined ? '' : isOffset ? requested : 'other'}
        options={[
          { value: '', label: t('Nothing') },
          { value: OFFSETS[0] ?? '', label: t('One day earlier') },
          { value: OFFSETS[1] ?? '', label: t('One week earlier') },
          { value: 'other', label: t('Another time') },
        ]}
        onChange={(next) =>
          setUrlParams({ versus: next === 'other' ? timeParam((versus ?? range).toMs - DAY_SECONDS * 1_000) : next })
        }
      />
      {versus !== undefined && !isOffset && <UntilField param="versus" toMs={versus.toMs} />}
    </>
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

function drawHeat({ context, toPixel }: CanvasFrame, { levels, colors }: Heat): void {
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
