import type { ComponentChildren } from 'preact';
import type { Location } from '../../../model/location.ts';
import type { Trackable } from '../../../model/trackable.ts';
import { Badge, type Tone } from '../../controls/badge.tsx';
import { type FactRow, Facts } from '../../controls/facts.tsx';
import flow from '../../controls/flow.module.css';
import { lazyPart } from '../../controls/lazy.tsx';
import { ago, durationText, useNow } from '../../controls/time.ts';
import typography from '../../controls/typography.module.css';
import { batteryText } from '../../hub/battery.ts';
import { labelOf } from '../../hub/entity_kinds.ts';
import { storeOf } from '../../hub/stores.ts';
import { t, tParts } from '../../languages/language.ts';
import { countText, metersText, positionText } from '../../languages/numbers.ts';
import { clockText, wholeText } from '../../languages/times.ts';
import { STALE_MS } from '../../map/objects/moving_screen.ts';
import { pastFromUrl, type MapSelection } from '../../map/view/map_url.ts';
import { Chip } from '../../map/view/selection_chip.tsx';
import {
  type EnteredFence,
  type FenceContents,
  type NamedSelection,
  useContents,
  useFencesOf,
  usePosition,
} from './live_facts.ts';
import { Deleted, Properties } from './properties.tsx';
import styles from './selection_panel.module.css';

const LocationExplanation = lazyPart(
  async () => (await import('../../setup/rules/location_explanation.tsx')).LocationExplanation,
);

/**
 * Card of an entity: its state in one line, its actions, and its facts. Ids and coordinates are under "Technical". A moving object
 * in the past has only its actions.
 */
export function SelectionFacts({
  selection,
  actions,
}: {
  readonly selection: MapSelection;
  readonly actions: ComponentChildren;
}) {
  const { kind, id } = selection;
  const isMoving = kind === 'trackables' || kind === 'providers';
  if (isMoving && pastFromUrl() === undefined) return <MovingFacts selection={selection} actions={actions} />;
  return (
    <>
      {actions}
      {kind === 'zones' && <ZoneFacts id={id} />}
      {kind === 'anchors' && <AnchorFacts id={id} />}
      {kind === 'fences' && <FenceFacts id={id} />}
    </>
  );
}

/** Facts that only engineers need, hidden at first. */
function Technical({ rows }: { readonly rows: readonly FactRow[] }) {
  return (
    <details>
      <summary class={typography.caption}>{t('Technical')}</summary>
      <Facts rows={rows} />
    </details>
  );
}

function ZoneFacts({ id }: { readonly id: string }) {
  const zone = storeOf('zones').items.value.get(id);
  if (zone === undefined) return <Deleted />;
  const points = zone.ground_control_points?.length ?? 0;
  return (
    <>
      <Facts
        rows={[
          [t('Floor'), zone.floor ?? undefined],
          [t('Radius'), zone.radius == null ? undefined : metersText(zone.radius)],
          [t('Site'), [zone.site, zone.building].filter(Boolean).join(', ')],
        ]}
      />
      <Properties properties={zone.properties} />
      <Technical
        rows={[
          idRow(id),
          [t('External ID'), zone.foreign_id ?? undefined],
          [t('Placed by'), points > 0 ? t('{count} control points', { count: points / 2 }) : t('its position')],
        ]}
      />
    </>
  );
}

function AnchorFacts({ id }: { readonly id: string }) {
  const anchor = storeOf('anchors').items.value.get(id);
  if (anchor === undefined) return <Deleted />;
  const { zone_id: zoneId, local_position: local, georeferenced_position: earth } = anchor;
  return (
    <>
      <Facts rows={[[t('Zone'), sourceName(zoneId)]]} />
      <Properties properties={anchor.properties} />
      <Technical
        rows={[
          idRow(id),
          [t('In its meters'), local == null ? undefined : positionText(local.coordinates, 'zone')],
          [t('On the earth'), earth == null ? undefined : positionText(earth.coordinates, 'earth')],
        ]}
      />
    </>
  );
}

function FenceFacts({ id }: { readonly id: string }) {
  const fence = storeOf('fences').items.value.get(id);
  const inside = useContents(id);
  if (fence === undefined) return <Deleted />;
  const isPast = pastFromUrl() !== undefined;
  return (
    <>
      <Facts
        rows={[
          [t('Floor'), fence.floor ?? t('all')],
          [t('Radius'), fence.region.type === 'Point' ? metersText(fence.radius ?? 0) : undefined],
          [
            isPast ? t('Trackables inside now') : t('Trackables inside'),
            <Contents key="trackables" of="trackables" inside={inside} />,
          ],
          [
            isPast ? t('Providers inside now') : t('Providers inside'),
            <Contents key="providers" of="providers" inside={inside} />,
          ],
        ]}
      />
      <Properties properties={fence.properties} />
      <Technical rows={[idRow(id), [t('External ID'), fence.foreign_id ?? undefined]]} />
    </>
  );
}

function idRow(id: string): FactRow {
  return [
    t('Id'),
    <span key="id" class={typography.mono}>
      {id}
    </span>,
  ];
}

/**
 * Number of objects and the first of them. `inside` is null if the hub rejects the query, and undefined before its response.
 */
function Contents({
  of,
  inside,
}: {
  readonly of: keyof FenceContents;
  readonly inside: FenceContents | null | undefined;
}) {
  if (inside == null) return <span class={typography.faint}>{inside === null ? t('not known') : '…'}</span>;
  const all = inside[of];
  if (all.length === 0) return <Chips selections={all} />;
  return (
    <span class={flow.row}>
      <strong>{countText(all.length)}</strong>
      {all.slice(0, 12).map(({ kind, id, label }) => (
        <Chip key={`${kind} ${id}`} selection={{ kind, id }}>
          <Badge tone={kind === 'trackables' ? 'accent' : 'neutral'}>{label}</Badge>
        </Chip>
      ))}
      {all.length > 12 && (
        <span class={typography.faint}>{t('and {count} more', { count: countText(all.length - 12) })}</span>
      )}
    </span>
  );
}

function MovingFacts({
  selection,
  actions,
}: {
  readonly selection: MapSelection;
  readonly actions: ComponentChildren;
}) {
  const location = usePosition(selection);
  const fences = useFencesOf(selection);
  const entity = storeOf(selection.kind).items.value.get(selection.id);
  return (
    <>
      <StatusLine
        location={location}
        fence={fences[0]}
        battery={batteryText(location?.properties, entity?.properties)}
      />
      {actions}
      <Facts
        rows={[
          [t('Last seen'), <LastSeen key="last_seen" location={location} />],
          ...relativesOf(selection, entity),
          [t('Floor'), location?.floor ?? undefined],
          [t('Speed'), location?.speed == null ? undefined : `${metersText(location.speed)}/s`],
          [t('In fences'), location == null ? undefined : <Chips key="fences" selections={fences} tone="info" />],
        ]}
      />
      {hasSeveral(selection.kind, entity) && pastFromUrl() === undefined && <LocationExplanation id={selection.id} />}
      <Properties properties={entity?.properties} />
      <Properties title={t('Sent with its position')} properties={location?.properties} />
      <Technical rows={[idRow(selection.id), ...(location == null ? [] : positionRows(location, selection))]} />
    </>
  );
}

/** State of an object in one line, such as "In Racks for 4 min · battery 82 %". */
function StatusLine({
  location,
  fence,
  battery,
}: {
  readonly location: Location | null | undefined;
  readonly fence: EnteredFence | undefined;
  readonly battery: string | undefined;
}) {
  const nowMs = useNow(1_000);
  if (location === undefined) return <p class={typography.faint}>…</p>;
  const silentMs = nowMs - Date.parse(location?.timestamp_generated ?? '');
  const parts = [
    location === null ? t('No position yet') : placeText(fence, nowMs),
    silentMs > STALE_MS ? t('silent for {long}', { long: durationText(silentMs) }) : undefined,
    battery === undefined ? undefined : t('battery {level}', { level: battery }),
  ];
  return (
    <p class={styles.status} data-status>
      {parts.filter((part) => part !== undefined).join(' · ')}
    </p>
  );
}

function placeText(fence: EnteredFence | undefined, nowMs: number): string {
  if (fence === undefined) return t('In no fence');
  const { label, sinceMs } = fence;
  if (sinceMs === undefined) return t('In {fence}', { fence: label });
  return t('In {fence} for {long}', { fence: label, long: durationText(Math.max(0, nowMs - sinceMs)) });
}

/** Whether an entity has several locations, of which the hub selects one. */
function hasSeveral(kind: MapSelection['kind'], entity: object | undefined): boolean {
  return kind === 'trackables' && ((entity as Trackable | undefined)?.location_providers?.length ?? 0) > 1;
}

/** Time since the last location, and the time of that location. */
function LastSeen({ location }: { readonly location: Location | null | undefined }) {
  const nowMs = useNow(1_000);
  if (location === undefined) return <span class={typography.faint}>…</span>;
  if (location === null) return <span class={typography.faint}>{t('no position yet')}</span>;
  const atMs = Date.parse(location.timestamp_generated ?? '');
  if (!Number.isFinite(atMs)) return <span>{ago(nowMs - atMs)}</span>;
  return (
    <span>
      {tParts('{ago}, at {time}', {
        ago: ago(nowMs - atMs),
        time: (
          <time dateTime={new Date(atMs).toISOString()} title={wholeText(atMs)}>
            {clockText(atMs)}
          </time>
        ),
      })}
    </span>
  );
}

/** Providers of a trackable, and trackables of a provider. */
function relativesOf({ kind, id }: MapSelection, entity: object | undefined): readonly FactRow[] {
  if (kind === 'trackables') {
    const ids = (entity as Trackable | undefined)?.location_providers ?? [];
    const known = storeOf('providers').items.value;
    const tags = ids.map((each) => ({ kind: 'providers' as const, id: each, label: known.get(each)?.name || each }));
    return tags.length === 0 ? [] : [[t('Providers'), <Chips key="providers" selections={tags} />]];
  }
  const all = [...storeOf('trackables').items.value.values()];
  const its = all.filter(({ location_providers: ids }) => ids?.includes(id));
  const owners = its.map((each) => ({ kind: 'trackables' as const, id: each.id, label: labelOf(each) }));
  return [[t('Belongs to'), owners.length === 0 ? t('no trackable') : <Chips key="owners" selections={owners} />]];
}

function Chips({
  selections,
  tone = 'neutral',
}: {
  readonly selections: readonly NamedSelection[];
  readonly tone?: Tone;
}) {
  if (selections.length === 0) return <span class={typography.faint}>{t('none')}</span>;
  return (
    <span class={flow.row}>
      {selections.map(({ kind, id, label }) => (
        <Chip key={`${kind} ${id}`} selection={{ kind, id }}>
          <Badge tone={tone}>{label}</Badge>
        </Chip>
      ))}
    </span>
  );
}

function positionRows(location: Location, { kind }: MapSelection): readonly FactRow[] {
  const { position, accuracy, course, source, provider_id: provider } = location;
  const [x = 0, y = 0, z] = position.coordinates;
  return [
    [
      t('Position'),
      <span key="position" class={typography.mono}>
        {positionText([x, y], 'earth')}
      </span>,
    ],
    [t('Height'), z === undefined ? undefined : metersText(z)],
    [t('Accuracy'), accuracy == null ? undefined : metersText(accuracy)],
    [t('Course'), course == null ? undefined : `${Math.round(course)}°`],
    [t('Received from'), kind === 'providers' ? undefined : (provider ?? undefined)],
    [t('Source'), sourceName(source)],
  ];
}

/** Name of the zone that is the source of a location or area; otherwise the source as sent. */
function sourceName(source: string | null | undefined): string | undefined {
  if (source == null) return undefined;
  const zones = storeOf('zones').items.value;
  const zone = zones.get(source) ?? [...zones.values()].find(({ foreign_id: foreignId }) => foreignId === source);
  return zone === undefined ? source : labelOf(zone);
}
