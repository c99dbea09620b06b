import type { Location } from '../../../model/location.ts';
import type { LocatingRule } from '../../../model/rule.ts';
import type { Trackable } from '../../../model/trackable.ts';
import { Badge } from '../../controls/badge.tsx';
import { Card } from '../../controls/card.tsx';
import { Table } from '../../controls/table.tsx';
import typography from '../../controls/typography.module.css';
import { labelOf } from '../../hub/entity_kinds.ts';
import { useEntities } from '../../hub/stores.ts';
import { t } from '../../languages/language.ts';
import { countText } from '../../languages/numbers.ts';
import styles from './rule_list.module.css';
import { useLive } from './use_live.ts';
import { type RankedLocation, ranked } from './winner.ts';

type Rules = readonly LocatingRule[];

const SHOWN_MAX = 20;

/** Card with the effect of edited rules, compared to the saved ones, on trackables with several live locations. */
export function RuleEffect({ rules, saved }: { readonly rules: Rules; readonly saved: Rules }) {
  const trackables = useEntities('trackables');
  const live = useLive();
  if (live === undefined) return null;
  const nowMs = Date.now();
  const rows = severalOf([...trackables.values()], live).flatMap(({ trackable, locations }) => {
    const winner = ranked(locations, rules, nowMs).candidates[0];
    const before = ranked(locations, saved, nowMs).candidates[0];
    if (winner === undefined || before === undefined) return [];
    return [{ trackable, winner, isOther: winner.location.provider_id !== before.location.provider_id }];
  });
  const others = rows.filter(({ isOther }) => isOther).length;
  const shown = rows.toSorted((one, other) => Number(other.isOther) - Number(one.isOther)).slice(0, SHOWN_MAX);
  return (
    <Card title={t('Effect of the rules')} flush={rows.length > 0}>
      {rows.length === 0 ? (
        <p class={typography.soft}>{t('Currently, no trackable without its own rules has several live locations.')}</p>
      ) : (
        <>
          <Table
            label={t('Locations in use now')}
            rows={shown}
            keyOf={({ trackable }) => trackable.id}
            columns={[
              { key: 'trackable', title: t('Trackable'), cell: ({ trackable }) => labelOf(trackable) },
              { key: 'provider', title: t('Location in use'), cell: ({ winner }) => winner.location.provider_id },
              { key: 'type', title: t('Type'), cell: ({ winner }) => winner.location.provider_type },
              { key: 'rule', title: t('By'), cell: ({ winner }) => <By winner={winner} /> },
              {
                key: 'other',
                title: t('Effect'),
                cell: ({ isOther }) =>
                  isOther ? <Badge tone="warn">{t('changes when saved')}</Badge> : <Badge>{t('unchanged')}</Badge>,
              },
            ]}
          />
          <p class={styles.foot}>
            {t('Trackables with several live locations: {count}. Affected by these rules: {others}.', {
              count: countText(rows.length),
              others: countText(others),
            })}
          </p>
        </>
      )}
    </Card>
  );
}

function By({ winner: { rule } }: { readonly winner: RankedLocation }) {
  return rule === undefined ? <span class={typography.faint}>{t('the newest')}</span> : <code>{rule}</code>;
}

/** Trackables without rules of their own that have several live locations. */
function severalOf(trackables: readonly Trackable[], live: readonly Location[]) {
  const byProvider = new Map(live.map((location) => [location.provider_id, location]));
  return trackables.flatMap((trackable) => {
    if ((trackable.locating_rules ?? []).length > 0) return [];
    const locations = (trackable.location_providers ?? []).flatMap((id) => byProvider.get(id) ?? []);
    return locations.length > 1 ? [{ trackable, locations }] : [];
  });
}
