import type { ComponentChildren } from 'preact';
import type { HealthSource } from '../../model/health.ts';
import { Badge, type Tone } from '../controls/badge.tsx';
import cardStyles from '../controls/card.module.css';
import { Card } from '../controls/card.tsx';
import flow from '../controls/flow.module.css';
import { Link } from '../controls/link.tsx';
import { Empty, Spinner } from '../controls/notice.tsx';
import { sortedBy } from '../controls/sort_and_page.ts';
import { type Column, type Sorting, Table } from '../controls/table.tsx';
import { ago, useNow } from '../controls/time.ts';
import typography from '../controls/typography.module.css';
import { setUrlParams, urlParam } from '../controls/url_state.ts';
import { labelOf } from '../hub/entity_kinds.ts';
import { editorPath } from '../hub/page_paths.ts';
import { useEntities } from '../hub/stores.ts';
import { t, tParts } from '../languages/language.ts';
import { countText, rateText } from '../languages/numbers.ts';
import { type Polled, ProblemNotice, usePolled } from './polled.tsx';

const EVERY_MS = 3_000;
/** Sources that are silent for longer than this need attention. */
const QUIET_MS = 60_000;

interface Row extends HealthSource {
  readonly label: string;
  readonly href: string | undefined;
  readonly perSecond: number | undefined;
  readonly agoMs: number;
}

/** Updates by zone and by source of locations. */
export function Sources() {
  const zones = useEntities('zones');
  const ofZones = usePolled<readonly HealthSource[]>('/health/zones/summary', EVERY_MS);
  const ofOthers = usePolled<readonly HealthSource[]>('/health/sources/summary', EVERY_MS);
  const nowMs = useNow(1_000);
  const zoneRows = rowsOf(ofZones, nowMs).map((row) => {
    const zone = zones.get(row.id);
    return { ...row, label: zone === undefined ? row.id : labelOf(zone), href: editorPath('zones', row.id) };
  });
  // Senders choose the source freely; many use the id of a zone.
  const otherRows = rowsOf(ofOthers, nowMs).map((row) => {
    const zone = zones.get(row.id);
    return zone === undefined ? row : { ...row, label: labelOf(zone) };
  });
  return (
    <>
      <ProblemNotice problem={ofZones.problem ?? ofOthers.problem} />
      <SourceTable title={t('Zones')} param="zonesort" rows={zoneRows} isLoaded={ofZones.value !== undefined}>
        {tParts('Create a {zone} to see its updates here.', { zone: <Link href="/zones">{t('zone')}</Link> })}
      </SourceTable>
      <SourceTable title={t('Sources')} param="sort" rows={otherRows} isLoaded={ofOthers.value !== undefined}>
        {t('Sources appear with the first location that names them. None has arrived since the hub was started.')}
      </SourceTable>
    </>
  );
}

function rowsOf({ value = [], atMs, before }: Polled<readonly HealthSource[]>, nowMs: number): Row[] {
  const earlier = new Map(before?.value.map((source) => [source.id, source.number_of_updates]));
  return value.map((source) => {
    const risen = source.number_of_updates - (earlier.get(source.id) ?? 0);
    const seconds = (atMs - (before?.atMs ?? atMs)) / 1_000;
    const last = source.last_update_received;
    return {
      ...source,
      label: source.id,
      href: undefined,
      perSecond: seconds > 0 && risen >= 0 ? risen / seconds : undefined,
      agoMs: last === undefined ? Number.POSITIVE_INFINITY : Math.max(0, nowMs - Date.parse(last)),
    };
  });
}

function stateOf({ agoMs, reconnects, connection_established: established }: Row): { label: string; tone: Tone } {
  // Only streams have a connection of their own that can be down.
  if (reconnects !== undefined && established === undefined) return { label: t('Disconnected'), tone: 'danger' };
  if (agoMs === Number.POSITIVE_INFINITY) return { label: t('Never seen'), tone: 'neutral' };
  return agoMs > QUIET_MS ? { label: t('Quiet'), tone: 'warn' } : { label: t('Active'), tone: 'ok' };
}

const VALUES: Readonly<Record<string, (row: Row) => string | number | undefined>> = {
  name: ({ label }) => label,
  state: (row) => stateOf(row).label,
  type: ({ type }) => type,
  updates: ({ number_of_updates: updates }) => updates,
  rate: ({ perSecond }) => perSecond,
  last: ({ agoMs }) => agoMs,
};

const COLUMNS: readonly Column<Row>[] = [
  { key: 'name', title: t('Name'), sorts: true, cell: (row) => <Name row={row} /> },
  {
    key: 'state',
    title: t('State'),
    sorts: true,
    cell: (row) => (
      <Badge tone={stateOf(row).tone} dot>
        {stateOf(row).label}
      </Badge>
    ),
  },
  { key: 'type', title: t('Type'), sorts: true, class: flow.wideOnly, cell: ({ type }) => type },
  {
    key: 'rate',
    title: t('Rate'),
    sorts: true,
    isNumber: true,
    cell: ({ perSecond }) => (perSecond === undefined ? '–' : rateText(perSecond)),
  },
  {
    key: 'updates',
    title: t('Updates'),
    sorts: true,
    isNumber: true,
    class: flow.wideOnly,
    cell: ({ number_of_updates: updates }) => countText(updates),
  },
  {
    key: 'last',
    title: t('Last'),
    sorts: true,
    class: flow.wideOnly,
    cell: ({ agoMs }) => (Number.isFinite(agoMs) ? ago(agoMs) : <span class={typography.faint}>{t('never')}</span>),
  },
  {
    key: 'way',
    title: t('By'),
    class: flow.wideOnly,
    cell: ({ last_update_type: way }) => way ?? <span class={typography.faint}>–</span>,
  },
  {
    key: 'connection',
    title: t('Connection'),
    class: flow.wideOnly,
    cell: (row) => connectionText(row) ?? <span class={typography.faint}>–</span>,
  },
];

function Name({ row: { label, href } }: { readonly row: Row }) {
  return href === undefined ? <span class={typography.cut}>{label}</span> : <Link href={href}>{label}</Link>;
}

function connectionText({ reconnects, uptime, hub }: Row): string | undefined {
  if (reconnects === undefined) return undefined;
  const again = reconnects === 1 ? t('1 reconnect') : t('{count} reconnects', { count: reconnects });
  const at = hub === undefined ? [] : [t('at {hub}', { hub })];
  return [...at, ...(uptime === undefined ? [] : [t('up {seconds} s', { seconds: Math.round(uptime) })]), again].join(
    ', ',
  );
}

function SourceTable({
  title,
  param,
  rows,
  isLoaded,
  children,
}: {
  readonly title: string;
  /** URL parameter of its sort order. */
  readonly param: string;
  readonly rows: readonly Row[];
  readonly isLoaded: boolean;
  readonly children: ComponentChildren;
}) {
  const text = urlParam(param) ?? 'name';
  const sorting: Sorting = { key: text.replace(/^-/, ''), descending: text.startsWith('-') };
  const value = VALUES[sorting.key] ?? (({ label }: Row) => label);
  return (
    <Card title={title} flush>
      {!isLoaded ? (
        <div class={cardStyles.padded}>
          <Spinner />
        </div>
      ) : rows.length === 0 ? (
        <Empty icon="provider" title={t('Nothing here')}>
          <p>{children}</p>
        </Empty>
      ) : (
        <Table
          label={t('Table of {title}', { title: title.toLowerCase() })}
          columns={COLUMNS}
          rows={sortedBy(rows, value, sorting.descending)}
          keyOf={({ id }) => id}
          sorting={sorting}
          onSort={({ key, descending }) => setUrlParams({ [param]: descending ? `-${key}` : key })}
        />
      )}
    </Card>
  );
}
