import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Fence } from '../../model/fence.ts';
import { Chart, type Line, rangeOf } from '../charts/chart.tsx';
import { Sparkline } from '../charts/sparkline.tsx';
import { ButtonLink, Choice, IconLink, ShowMore } from '../controls/button.tsx';
import { Card } from '../controls/card.tsx';
import flow from '../controls/flow.module.css';
import { Empty, Spinner } from '../controls/notice.tsx';
import { SearchInput } from '../controls/search_input.tsx';
import type { Option } from '../controls/select.tsx';
import { sortedBy } from '../controls/sort_and_page.ts';
import { useNow } from '../controls/time.ts';
import typography from '../controls/typography.module.css';
import { setUrlParams, urlParam } from '../controls/url_state.ts';
import { labelOf } from '../hub/entity_kinds.ts';
import { isMatch, wordsOf } from '../hub/entity_search.ts';
import { loggedEvents, loggedSinceMs } from '../hub/event_log.ts';
import { mapPath } from '../hub/page_paths.ts';
import { entityPath, get } from '../hub/rest.ts';
import { runAll } from '../hub/run_all.ts';
import { storeOf, useEntities } from '../hub/stores.ts';
import { t } from '../languages/language.ts';
import { countedText, countText } from '../languages/numbers.ts';
import { type Contents, type Counted, countAt, passagesOf, type Step, stepsOf } from './occupancy.ts';
import styles from './occupancy_view.module.css';

const SHOWN_STEP = 24;
/** Maximum number of lines in one chart that a reader can distinguish. */
const CHARTED_MAX = 8;
const CHARTED_FIRST = 4;

const WINDOWS = [
  { value: '5', label: t('5 min') },
  { value: '15', label: t('15 min') },
  { value: '60', label: '1 h' },
] as const;
const COUNTED: readonly Option<Counted>[] = [
  { value: 'trackables', label: t('Trackables') },
  { value: 'providers', label: t('Providers') },
];

/** Occupancy of each fence, now and since the page was opened. */
export function OccupancyView() {
  const fences = useEntities('fences');
  const trackables = useEntities('trackables');
  const text = urlParam('q') ?? '';
  const [most, setMost] = useState(SHOWN_STEP);
  const counted =
    COUNTED.find(({ value }) => value === urlParam('of'))?.value ?? (trackables.size > 0 ? 'trackables' : 'providers');
  const minutes = WINDOWS.find(({ value }) => value === urlParam('window'))?.value ?? '5';
  const found = useMemo(() => {
    const words = wordsOf(text);
    return sortedBy(
      [...fences.values()].filter((fence) => isMatch(fence, words)),
      labelOf,
      false,
    );
  }, [fences, text]);
  const shown = useMemo(() => found.slice(0, most), [found, most]);
  const charted = useCharted();
  const ids = useMemo(() => [...new Set([...shown.map(({ id }) => id), ...(charted ?? [])])], [shown, charted]);
  const contents = useContentsOf(ids, counted);
  const nowMs = useNow(1_000);
  const passages = useMemo(() => passagesOf(loggedEvents.value, counted), [loggedEvents.value, counted]);
  const sinceMs = loggedSinceMs.value;
  const steps = useMemo(() => {
    return new Map(
      [...contents].map(([id, each]) => [id, stepsOf(each, passages.get(id) ?? [], { sinceMs })] as const),
    );
  }, [contents, passages, sinceMs]);
  if (storeOf('fences').state.value === 'waiting') return <Spinner />;
  if (fences.size === 0) return <Nothing />;
  const range = rangeOf(Number(minutes), nowMs, sinceMs);
  const fullest = (): string[] => {
    const snapshot = sortedBy([...contents], ([, { ids: inside }]) => inside.length, true);
    return snapshot.slice(0, CHARTED_FIRST).map(([id]) => id);
  };
  const inChart = (charted ?? fullest()).filter((id) => fences.has(id));
  const toggle = (id: string): void => {
    const next = inChart.includes(id) ? inChart.filter((each) => each !== id) : [...inChart, id].slice(-CHARTED_MAX);
    setUrlParams({ fences: next.join(',') || 'none' });
  };
  return (
    <>
      <div class={flow.row}>
        <SearchInput
          label={t('Search fences')}
          hint={t('Search fences')}
          text={text}
          isInToolbar
          onInput={(q) => setUrlParams({ q })}
        />
        <span class={flow.space} />
        <Choice label={t('Counted')} value={counted} options={COUNTED} onChange={(of) => setUrlParams({ of })} />
        <Choice label={t('Time')} value={minutes} options={WINDOWS} onChange={(window) => setUrlParams({ window })} />
      </div>
      <Card title={t('Inside, over time')}>
        <OccupancyChart
          lines={inChart.map((id) => ({ label: nameOf(fences.get(id), id), steps: steps.get(id) ?? [] }))}
          range={range}
          firstMs={sinceMs}
        />
      </Card>
      <ul class={styles.tiles}>
        {shown.map((fence) => (
          <Tile
            key={fence.id}
            fence={fence}
            steps={steps.get(fence.id)}
            range={range}
            isCharted={inChart.includes(fence.id)}
            onToggle={() => toggle(fence.id)}
          />
        ))}
      </ul>
      {found.length === 0 && <Empty icon="search" title={t('No fence matches')} />}
      {found.length > most && (
        <ShowMore
          label={t('Show more of {what}', { what: countedText(found.length, 'fence') })}
          onClick={() => setMost(most + SHOWN_STEP)}
        />
      )}
    </>
  );
}

/** Returns the ids of the fences selected for the chart; undefined if the user has not selected any. */
function useCharted(): readonly string[] | undefined {
  const text = urlParam('fences');
  return useMemo(() => (text === undefined ? undefined : text.split(',').filter((id) => id !== 'none')), [text]);
}

function nameOf(fence: Fence | undefined, id: string): string {
  return fence === undefined ? id : labelOf(fence);
}

function OccupancyChart({
  lines,
  range,
  firstMs,
}: {
  readonly lines: readonly { readonly label: string; readonly steps: readonly Step[] }[];
  readonly range: readonly [number, number];
  readonly firstMs: number;
}) {
  const [fromMs, toMs] = range;
  if (lines.length === 0) return <p class={typography.soft}>{t('Choose fences below to see them here.')}</p>;
  const within = lines.flatMap(({ steps }) => steps.map(({ atMs }) => atMs)).filter((ms) => ms > fromMs && ms < toMs);
  const times = [...new Set([Math.max(fromMs, firstMs), ...within, toMs])].sort((a, b) => a - b);
  const drawn: Line[] = lines.map(({ label, steps }) => {
    return { label, isStepped: true, values: times.map((ms) => countAt(steps, ms)) };
  });
  return (
    <Chart
      label={t('Inside fences over time')}
      height={220}
      times={times.map((ms) => ms / 1_000)}
      lines={drawn}
      range={[fromMs / 1_000, toMs / 1_000]}
      format={(count) => (Number.isInteger(count) ? countText(count) : '')}
    />
  );
}

function Tile({
  fence,
  steps,
  range,
  isCharted,
  onToggle,
}: {
  readonly fence: Fence;
  readonly steps: readonly Step[] | undefined;
  readonly range: readonly [number, number];
  readonly isCharted: boolean;
  readonly onToggle: () => void;
}) {
  const label = labelOf(fence);
  const now = steps?.at(-1)?.count;
  const peak = Math.max(0, ...(steps ?? []).map(({ count }) => count));
  return (
    <li class={styles.tile} data-charted={isCharted || undefined}>
      <div class={styles.head}>
        <button
          type="button"
          class={styles.name}
          aria-pressed={isCharted}
          title={isCharted ? t('Remove from the chart') : t('Show in the chart')}
          onClick={onToggle}
        >
          {label}
        </button>
        <IconLink
          href={mapPath('fences', fence.id)}
          icon="map"
          label={t('Show {name} on the map', { name: label })}
          title={t('Show on the map')}
        />
      </div>
      <div class={styles.body}>
        <span class={styles.count}>
          <strong>{now === undefined ? '–' : countText(now)}</strong>{' '}
          <span class={typography.faint}>{t('inside')}</span>
        </span>
        <span class={typography.faint}>{t('most {count}', { count: countText(peak) })}</span>
      </div>
      <Sparkline steps={steps ?? []} range={range} />
    </li>
  );
}

function Nothing() {
  return (
    <Empty icon="fence" title={t('No fences yet')}>
      <p>{t('Once there are fences, this page shows how many are inside each, and how that changes.')}</p>
      <ButtonLink href="/fences/new" kind="main" icon="plus">
        {t('New fence')}
      </ButtonLink>
    </Empty>
  );
}

/** Objects in each fence according to the hub; requested again after a reconnect. */
function useContentsOf(ids: readonly string[], counted: Counted): ReadonlyMap<string, Contents> {
  const sinceMs = loggedSinceMs.value;
  const epoch = `${counted} ${sinceMs}`;
  const [known, setKnown] = useState<{ epoch: string; contents: ReadonlyMap<string, Contents> }>({
    epoch,
    contents: new Map(),
  });
  const queried = useRef(new Set<string>());
  const queriedIn = useRef(epoch);
  useEffect(() => {
    if (queriedIn.current !== epoch) queried.current.clear();
    queriedIn.current = epoch;
    const missing = ids.filter((id) => !queried.current.has(id));
    if (missing.length === 0) return;
    for (const id of missing) queried.current.add(id);
    const found = new Map<string, Contents>();
    const query = async (id: string): Promise<void> => {
      const inside = await get<readonly { readonly id: string }[]>(`${entityPath('fences', id)}/${counted}`);
      // Later events are newer than the response, or already part of it.
      found.set(id, { ids: inside.map((each) => each.id), key: loggedEvents.peek().at(-1)?.key ?? 0 });
    };
    const { signal } = new AbortController();
    void runAll(missing, query, { signal, onDone: () => undefined }).then((failures) => {
      if (queriedIn.current !== epoch) return;
      for (const { item } of failures) queried.current.delete(item);
      setKnown((before) => {
        const contents = before.epoch === epoch ? [...before.contents, ...found] : found;
        return { epoch, contents: new Map(contents) };
      });
    });
  }, [ids, epoch]);
  return known.contents;
}
