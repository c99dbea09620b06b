import Feature from 'ol/Feature.js';
import LineString from 'ol/geom/LineString.js';
import MultiPoint from 'ol/geom/MultiPoint.js';
import Point from 'ol/geom/Point.js';
import type MapBrowserEvent from 'ol/MapBrowserEvent.js';
import CircleStyle from 'ol/style/Circle.js';
import Fill from 'ol/style/Fill.js';
import RegularShape from 'ol/style/RegularShape.js';
import Stroke from 'ol/style/Stroke.js';
import Style, { type StyleFunction } from 'ol/style/Style.js';
import { useEffect, useLayoutEffect, useMemo, useState } from 'preact/hooks';
import type { TrackableMotion } from '../../../model/events.ts';
import type { Filter } from '../../../model/filter.ts';
import type { Location } from '../../../model/location.ts';
import { Button, IconButton } from '../../controls/button.tsx';
import typography from '../../controls/typography.module.css';
import { trackablesByProvider } from '../../hub/carriers.ts';
import { subscribe } from '../../hub/live.ts';
import { storeOf } from '../../hub/stores.ts';
import { t } from '../../languages/language.ts';
import { countText, metersText } from '../../languages/numbers.ts';
import { clockText } from '../../languages/times.ts';
import { type Plane, unitsPerMeter, viewParams } from '../../map/plane/plane.ts';
import { explainedBy } from '../../map/site/features.ts';
import type { MapSelection } from '../../map/view/map_url.ts';
import { useMap } from '../../map/view/map_view.tsx';
import { palette } from '../../map/view/palette.ts';
import { useVectorLayer, Z } from '../../map/view/vector_layer.ts';
import styles from './filter_layer.module.css';
import { type FilterPreview, previewOf } from './filter_preview.ts';
import { acceptedPaths, FilterTrack, type OutlierReason, type RawPoint } from './filter_track.ts';
import { PreviewForm } from './preview_form.tsx';

/** Interval between drawings, since a provider may send hundreds of locations a second. */
const REDRAW_MS = 200;

const REASONS: Readonly<Record<NonNullable<OutlierReason> | 'unknown', string>> = {
  gate: t('It is farther from the expected position than the gate of the filter permits.'),
  max_speed: t('The object would have moved faster than the maximum speed of the filter.'),
  unknown: t('The filter has rejected this location.'),
};

/** Raw and filtered track of the selected object since the layer was shown, with the outliers as crosses. */
export function FilterLayer({ selection }: { readonly selection: MapSelection }) {
  const { map, plane } = useMap();
  const track = useTrack(selection);
  const [explained, setExplained] = useState<RawPoint>();
  const [tried, setTried] = useState<Filter>();
  const preview = useMemo(() => tried && previewNow(track.raw, tried, plane), [track, tried, plane]);
  const features = useMemo(() => featuresOf(track, preview), [track, preview]);
  useVectorLayer(features, useTrackStyle(explained), Z.labels + 0.25);
  // Runs before the first paint, because the user may click at once. The same event as that of the selection, which
  // ignores clicks on crosses: a redraw between two events would have removed the cross.
  useLayoutEffect(() => {
    const click = ({ pixel }: MapBrowserEvent): void => {
      setExplained(map.forEachFeatureAtPixel(pixel, explainedBy, { hitTolerance: 6 }) as RawPoint | undefined);
    };
    map.on('singleclick', click);
    return () => {
      map.un('singleclick', click);
    };
  }, [map]);
  const outliers = track.raw.filter(({ outlier }) => outlier !== undefined).length;
  const colors = palette();
  return (
    <aside
      class={`${styles.card} ${tried === undefined ? '' : styles.aside}`}
      aria-label={t('Raw and filtered track')}
      data-filter-track
    >
      <ul class={styles.signs}>
        <Sign
          color={colors.provider}
          path="M4 8h16M9.500 8a2.500 2.500 0 1 0 5 0 2.500 2.500 0 1 0-5 0"
          text={t('Raw')}
        />
        <Sign color={colors.selected} path="M2 8h20" text={track.isFiltered ? t('Filtered') : t('Not filtered')} />
        {preview !== undefined && <Sign color={colors.warning} path="M2 8h7m6 0h7" text={t('Preview')} />}
        <Sign color={colors.critical} path="m7 3 10 10M17 3 7 13" text={t('Outlier')} />
      </ul>
      <p class={typography.soft} role="status">
        {track.raw.length === 0
          ? t('Locations appear as they arrive.')
          : t('{outliers} of {locations} locations are outliers', {
              outliers: countText(outliers),
              locations: countText(track.raw.length),
            })}
      </p>
      {preview === undefined || tried === undefined ? (
        <Button onClick={() => setTried(filterOf(selection))}>{t('Preview other settings')}</Button>
      ) : (
        <>
          <PreviewForm filter={tried} preview={preview} onChange={setTried} />
          <Button onClick={() => setTried(undefined)}>{t('End preview')}</Button>
        </>
      )}
      {explained?.outlier !== undefined && (
        <Explanation point={explained} outlier={explained.outlier} onClose={() => setExplained(undefined)} />
      )}
    </aside>
  );
}

function Sign({ color, path, text }: { readonly color: string; readonly path: string; readonly text: string }) {
  return (
    <li>
      <svg viewBox="0 0 24 16" width="24" height="16" aria-hidden="true">
        <path d={path} fill="none" stroke={color} stroke-width="2.5" />
      </svg>
      {text}
    </li>
  );
}

function Explanation({
  point: { timeMs, providerId },
  outlier: { reason, meters },
  onClose,
}: {
  readonly point: RawPoint;
  readonly outlier: NonNullable<RawPoint['outlier']>;
  readonly onClose: () => void;
}) {
  return (
    <section class={styles.reason} aria-label={t('Outlier')}>
      <div>
        <strong>
          {clockText(timeMs)} · {providerId}
        </strong>
        <p>{REASONS[reason ?? 'unknown']}</p>
        {meters !== undefined && (
          <p class={typography.soft}>{t('{distance} from the last position', { distance: metersText(meters) })}</p>
        )}
      </div>
      <IconButton icon="close" label={t('Close')} onClick={onClose} />
    </section>
  );
}

/** The track of an object, collected while its layer is shown. A new object identity follows each change. */
function useTrack({ kind, id }: MapSelection): Pick<FilterTrack, 'raw' | 'filtered' | 'isFiltered'> {
  const { plane } = useMap();
  const providers = providersOf(kind, id).join('\n');
  const trackable = kind === 'trackables' ? id : trackablesByProvider.value.get(id)?.[0]?.id;
  const [shown, setShown] = useState<Pick<FilterTrack, 'raw' | 'filtered' | 'isFiltered'>>({
    ...{ raw: [], filtered: [], isFiltered: false },
  });
  useEffect(() => {
    const track = new FilterTrack(plane);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const show = (): void => {
      timer = undefined;
      setShown({ raw: [...track.raw], filtered: [...track.filtered], isFiltered: track.isFiltered });
    };
    const showSoon = (): void => {
      timer ??= setTimeout(show, REDRAW_MS);
    };
    show();
    const view = viewParams(plane);
    const ends = [
      ...(providers === ''
        ? []
        : [
            subscribe(
              'location_updates',
              { ...view, provider_id: providers.split('\n') },
              {
                events(locations: readonly Location[]) {
                  for (const location of locations) track.addLocation(location, Date.now());
                  showSoon();
                },
              },
            ),
          ]),
      ...(trackable === undefined
        ? []
        : [
            subscribe(
              'trackable_motions',
              { ...view, id: trackable },
              {
                events(motions: readonly TrackableMotion[]) {
                  for (const { location } of motions) track.addMotion(location, Date.now());
                  showSoon();
                },
              },
            ),
          ]),
    ];
    return () => {
      clearTimeout(timer);
      for (const end of ends) end();
    };
  }, [plane, providers, trackable]);
  return shown;
}

/** Ids of the providers of an object. */
function providersOf(kind: MapSelection['kind'], id: string): readonly string[] {
  if (kind === 'providers') return [id];
  return storeOf('trackables').items.value.get(id)?.location_providers ?? [];
}

/** The settings of an object as far as it sets them itself, with the filter on. */
function filterOf({ kind, id }: MapSelection): Filter {
  const [provider] = providersOf(kind, id);
  const trackable =
    kind === 'trackables' ? storeOf('trackables').items.value.get(id) : trackablesByProvider.value.get(id)?.[0];
  const own = provider === undefined ? undefined : storeOf('providers').items.value.get(provider)?.filter;
  const isSet = ([, value]: readonly [string, unknown]): boolean => value != null;
  const members = [trackable?.filter, own].flatMap((filter) => Object.entries(filter ?? {}).filter(isSet));
  return { ...Object.fromEntries(members), kind: 'cv' };
}

function previewNow(raw: readonly RawPoint[], filter: Filter, plane: Plane): FilterPreview {
  const metersPerUnit = 1 / unitsPerMeter(plane, raw.at(-1)?.at ?? [0, 0]);
  return previewOf(raw, filter, { nowMs: Date.now(), metersPerUnit });
}

/** With a preview, its path is drawn too, and its outliers instead of those of the hub. */
function featuresOf(
  { raw, filtered }: Pick<FilterTrack, 'raw' | 'filtered'>,
  preview: FilterPreview | undefined,
): Feature[] {
  const paths = acceptedPaths(raw).map((path) => path.map((at) => [...at]));
  const outliers = preview?.outliers ?? raw.filter(({ outlier }) => outlier !== undefined);
  const tried = (preview?.paths ?? []).map((path) => path.map((at) => [...at]));
  return [
    ...paths.map((path) => new Feature({ geometry: new LineString(path), part: 'raw' })),
    ...paths.map((path) => new Feature({ geometry: new MultiPoint(path), part: 'raw' })),
    new Feature({ geometry: new LineString(filtered.map(({ at }) => at)), part: 'filtered' }),
    ...tried.map((path) => new Feature({ geometry: new LineString(path), part: 'tried' })),
    ...outliers.map((point) => new Feature({ geometry: new Point(point.at), part: 'outlier', explains: point })),
  ];
}

function useTrackStyle(explained: RawPoint | undefined): StyleFunction {
  const colors = palette();
  return useMemo<StyleFunction>(() => {
    const { provider, selected, critical, halo, warning } = colors;
    const dot = new CircleStyle({ radius: 2.5, fill: new Fill({ color: provider }) });
    const cross = (radius: number, color: string, width: number) =>
      new Style({
        zIndex: 2,
        image: new RegularShape({
          ...{ points: 4, radius, radius2: 0, angle: Math.PI / 4 },
          stroke: new Stroke({ color, width }),
        }),
      });
    const crosses = (radius: number): Style[] => [cross(radius, halo, 5), cross(radius, critical, 2.5)];
    const parts: Readonly<Record<string, Style[]>> = {
      raw: [new Style({ stroke: new Stroke({ color: provider, width: 1 }), image: dot })],
      filtered: [
        new Style({ zIndex: 1, stroke: new Stroke({ color: halo, width: 5 }) }),
        new Style({ zIndex: 1, stroke: new Stroke({ color: selected, width: 2.5 }) }),
      ],
      tried: [new Style({ zIndex: 1, stroke: new Stroke({ color: warning, width: 2.5, lineDash: [8, 5] }) })],
      outlier: crosses(7),
      explained: crosses(11),
    };
    return (feature) => {
      const point = explainedBy(feature);
      return parts[point !== undefined && point === explained ? 'explained' : String(feature.get('part'))] ?? [];
    };
  }, [colors, explained]);
}
