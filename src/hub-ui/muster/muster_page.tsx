import { useMemo } from 'preact/hooks';
import type { TrackableMotion } from '../../model/events.ts';
import type { Fence } from '../../model/fence.ts';
import { Badge } from '../controls/badge.tsx';
import { Button, IconLink } from '../controls/button.tsx';
import { Card } from '../controls/card.tsx';
import { confirm } from '../controls/dialog.tsx';
import { Disclosure } from '../controls/disclosure.tsx';
import { Checks } from '../controls/field.tsx';
import flow from '../controls/flow.module.css';
import { Empty, Spinner } from '../controls/notice.tsx';
import { Page } from '../controls/page.tsx';
import { SearchInput } from '../controls/search_input.tsx';
import { sortedBy } from '../controls/sort_and_page.ts';
import { type Column, Table } from '../controls/table.tsx';
import { ago, useNow } from '../controls/time.ts';
import { setUrlParams, urlParam } from '../controls/url_state.ts';
import { labelOf } from '../hub/entity_kinds.ts';
import { isMatch, wordsOf } from '../hub/entity_search.ts';
import { useInsideOf } from '../map_page/wall/fence_counts.ts';
import { mapPath } from '../hub/page_paths.ts';
import { storeOf, useEntities } from '../hub/stores.ts';
import { t } from '../languages/language.ts';
import { countText } from '../languages/numbers.ts';
import { shortClockText, wholeText } from '../languages/times.ts';
import { ProblemNotice, usePolled } from '../operations/polled.tsx';
import { checkedOff, checkOff, resetChecked } from './checked.ts';
import { type Mustered, musterList } from './muster_list.ts';
import styles from './muster.module.css';

const EVERY_MS = 5_000;
const AGE_MS = 2_000;

/** Property of fences that makes them muster points by default. */
const MUSTER_PROPERTY = 'muster';

/** Muster list for an evacuation: who is at a muster point, and where the others were last seen. */
export function MusterPage() {
  const fences = useEntities('fences');
  const trackables = useEntities('trackables');
  const motions = usePolled<readonly TrackableMotion[]>('/trackables/motions', EVERY_MS);
  const nowMs = useNow(AGE_MS);
  const text = urlParam('q') ?? '';
  const named = urlParam('points');
  const all = useMemo(() => sortedBy([...fences.values()], labelOf, false), [fences]);
  const points = useMemo(
    () => new Set(named?.split(',') ?? all.filter(isMusterPoint).map(({ id }) => id)),
    [named, all],
  );
  // Muster points first, because the number of counted fences is limited.
  const ids = useMemo(() => [...points, ...all.map(({ id }) => id).filter((id) => !points.has(id))], [points, all]);
  const inside = useInsideOf(ids, 'trackables');
  const people = useMemo(() => {
    const words = wordsOf(text);
    return sortedBy(
      [...trackables.values()].filter((each) => isMatch(each, words)),
      labelOf,
      false,
    );
  }, [trackables, text]);
  const list = musterList({
    ...{ trackables: people, fences: all, points, inside },
    motions: motions.value ?? [],
    checked: checkedOff.value,
  });
  if (storeOf('trackables').state.value === 'waiting') return <Spinner />;
  const missing = list.filter(({ safe }) => safe === undefined).length;
  return (
    <Page
      title={t('Muster list')}
      lead={t('Who is at a muster point, and where the others were last seen.')}
      actions={<Actions />}
    >
      <ProblemNotice problem={motions.problem} />
      <div class={styles.counts} role="status">
        <span class={styles.count} data-tone={missing > 0 ? 'danger' : 'ok'}>
          <strong>{countText(missing)}</strong> {t('missing')}
        </span>
        <span class={styles.count}>
          <strong>{countText(list.length - missing)}</strong> {t('safe')}
        </span>
        <span class={styles.printed}>{wholeText(nowMs)}</span>
      </div>
      <div class={`${flow.row} ${styles.screenOnly}`}>
        <SearchInput
          label={t('Search people')}
          hint={t('Search names and properties')}
          text={text}
          isInToolbar
          onInput={(q) => setUrlParams({ q })}
        />
      </div>
      <div class={styles.screenOnly}>
        <Disclosure title={t('Muster points: {count}', { count: countText(points.size) })} isOpen={points.size === 0}>
          <Checks
            label={t('Fences that are muster points')}
            options={all.map((fence) => ({ value: fence.id, label: labelOf(fence) }))}
            values={[...points]}
            onChange={(next) => setUrlParams({ points: next.join(',') })}
          />
        </Disclosure>
      </div>
      <Card flush>
        {list.length === 0 ? (
          <Empty icon="trackable" title={t('No trackables')} />
        ) : (
          <Table
            label={t('Muster list')}
            columns={columnsAt(nowMs)}
            rows={list}
            keyOf={({ trackable }) => trackable.id}
          />
        )}
      </Card>
    </Page>
  );
}

function isMusterPoint({ properties }: Fence): boolean {
  const value = (properties as Readonly<Record<string, unknown>> | null | undefined)?.[MUSTER_PROPERTY];
  return value === true || value === 'true';
}

function Actions() {
  const reset = async (): Promise<void> => {
    const question = {
      title: t('Start a new muster?'),
      text: t('All marks by hand on this device are removed.'),
      action: t('Start a new muster'),
    };
    if (await confirm(question)) resetChecked();
  };
  return (
    <div class={`${flow.row} ${styles.screenOnly}`}>
      <Button onClick={() => print()}>{t('Print')}</Button>
      <Button disabled={checkedOff.value.size === 0} onClick={() => void reset()}>
        {t('Start a new muster')}
      </Button>
    </div>
  );
}

function columnsAt(nowMs: number): readonly Column<Mustered>[] {
  return [
    { key: 'check', title: t('Checked off'), cell: (each) => <CheckOff mustered={each} /> },
    { key: 'name', title: t('Name'), isHeading: true, cell: ({ trackable }) => labelOf(trackable) },
    { key: 'state', title: t('State'), cell: (each) => <State mustered={each} /> },
    { key: 'place', title: t('Last seen in'), cell: (each) => <Place mustered={each} /> },
    {
      key: 'seen',
      title: t('Last seen'),
      cell: ({ lastSeenMs }) =>
        lastSeenMs === undefined ? (
          t('Never')
        ) : (
          <time dateTime={new Date(lastSeenMs).toISOString()} title={wholeText(lastSeenMs)}>
            {ago(nowMs - lastSeenMs)}
          </time>
        ),
    },
  ];
}

function State({ mustered: { safe } }: { readonly mustered: Mustered }) {
  return safe === undefined ? <Badge tone="danger">{t('Missing')}</Badge> : <Badge tone="ok">{t('Safe')}</Badge>;
}

function Place({ mustered: { trackable, safe, fences } }: { readonly mustered: Mustered }) {
  const names = safe !== undefined && 'at' in safe ? [labelOf(safe.at)] : fences.map(labelOf);
  return (
    <span class={styles.place}>
      {names.length === 0 ? t('In no fence') : names.join(', ')}
      <span class={styles.screenOnly}>
        <IconLink
          href={mapPath('trackables', trackable.id, { isFollowed: true })}
          icon="map"
          label={t('Show on the map: {name}', { name: labelOf(trackable) })}
        />
      </span>
    </span>
  );
}

function CheckOff({ mustered: { trackable, safe } }: { readonly mustered: Mustered }) {
  if (safe !== undefined && 'at' in safe) return <>–</>;
  const checkedMs = safe?.checkedMs;
  return (
    <label class={styles.check}>
      <input
        type="checkbox"
        aria-label={t('{name} is safe', { name: labelOf(trackable) })}
        checked={checkedMs !== undefined}
        onChange={({ currentTarget }) => checkOff(trackable.id, currentTarget.checked)}
      />
      {checkedMs !== undefined && shortClockText(checkedMs)}
    </label>
  );
}
