import { useMemo } from 'preact/hooks';
import { type Alert, SEVERITIES } from '../../../model/alert.ts';
import type { Fence } from '../../../model/fence.ts';
import { groupAlerts } from '../../alerts/alert_groups.ts';
import { alerts, isSnoozed } from '../../alerts/alert_store.ts';
import { nameOf, SEVERITY_LOOKS } from '../../alerts/alert_text.ts';
import { ago, useNow } from '../../controls/time.ts';
import { labelOf } from '../../hub/entity_kinds.ts';
import type { Inside } from './fence_counts.ts';
import { t } from '../../languages/language.ts';
import { countText } from '../../languages/numbers.ts';
import styles from './wall_scenes.module.css';

/** Maximum number of groups of alerts that are legible from a distance on one screen. */
const GROUPS_MAX = 7;
const AGE_MS = 2_000;

export interface NumbersProps {
  /** Numbers of trackables and providers that have a location. */
  readonly trackables: number;
  readonly providers: number;
  readonly fences: readonly Fence[];
  readonly inside: Inside;
}

/** Scene with the numbers of the site. */
export function NumbersScene({ trackables, providers, fences, inside }: NumbersProps) {
  const open = useOpenAlerts();
  const busiest = fences
    .map((fence) => ({ fence, count: inside.get(fence.id)?.size ?? 0 }))
    .reduce<{ fence: Fence; count: number } | undefined>((most, each) => {
      return each.count > (most?.count ?? 0) ? each : most;
    }, undefined);
  const within = new Set([...inside.values()].flatMap((ids) => [...ids])).size;
  return (
    <section class={styles.scene} aria-label={t('Numbers')}>
      <dl class={styles.tiles}>
        {trackables > 0 && <Tile label={t('Trackables on the map')} value={countText(trackables)} />}
        {providers > 0 && <Tile label={t('Providers on the map')} value={countText(providers)} />}
        <Tile label={t('In fences')} value={countText(within)} />
        {busiest !== undefined && (
          <Tile label={t('Fullest: {fence}', { fence: labelOf(busiest.fence) })} value={countText(busiest.count)} />
        )}
        {SEVERITIES.toReversed().map((severity) => {
          const count = open.filter((alert) => alert.severity === severity).length;
          const label = t('Open alerts: {severity}', { severity: SEVERITY_LOOKS[severity].label });
          return <Tile key={severity} label={label} value={countText(count)} tone={count > 0 ? severity : undefined} />;
        })}
      </dl>
    </section>
  );
}

function Tile({
  label,
  value,
  tone,
}: {
  readonly label: string;
  readonly value: string;
  readonly tone?: Alert['severity'] | undefined;
}) {
  return (
    <div class={styles.tile} data-tone={tone}>
      <dt>{label}</dt>
      <dd>{value}</dd>
    </div>
  );
}

/** Scene with the open alerts in groups, the most severe first. */
export function AlertsScene() {
  const open = useOpenAlerts();
  const nowMs = useNow(AGE_MS);
  const groups = useMemo(() => groupAlerts(open), [open]);
  return (
    <section class={styles.scene} aria-label={t('Open alerts')}>
      {groups.length === 0 && <p class={styles.nothing}>{t('No open alerts')}</p>}
      <ol class={styles.groups}>
        {groups.slice(0, GROUPS_MAX).map(({ key, newest, severity, times }) => (
          <li key={key} data-tone={severity}>
            <span class={styles.severity}>{SEVERITY_LOOKS[severity].label}</span>
            <strong>
              {newest.fence_id == null ? newest.name : `${newest.name} · ${nameOf('fences', newest.fence_id)}`}
            </strong>
            <span class={styles.times}>×{countText(times)}</span>
            <time dateTime={newest.raised_at}>{ago(nowMs - Date.parse(newest.raised_at))}</time>
          </li>
        ))}
      </ol>
      {groups.length > GROUPS_MAX && (
        <p class={styles.more}>{t('{count} more', { count: countText(groups.length - GROUPS_MAX) })}</p>
      )}
    </section>
  );
}

function useOpenAlerts(): readonly Alert[] {
  return [...alerts.value.values()].filter((alert) => alert.state !== 'cleared' && !isSnoozed(alert));
}
