import type { Location } from '../../../model/location.ts';
import type { LocatingRule } from '../../../model/rule.ts';
import type { Trackable } from '../../../model/trackable.ts';
import { Badge } from '../../controls/badge.tsx';
import { ago } from '../../controls/time.ts';
import typography from '../../controls/typography.module.css';
import { useLoaded } from '../../controls/use_loaded.ts';
import { entityPath, get } from '../../hub/rest.ts';
import { storeOf } from '../../hub/stores.ts';
import { t } from '../../languages/language.ts';
import { metersText } from '../../languages/numbers.ts';
import styles from './location_explanation.module.css';
import { type RankedLocation, type Ranked, ranked, type WinningReason } from './winner.ts';

const EVERY_MS = 2_000;

/** Explains which location of a trackable with several providers wins, with all candidates. */
export function LocationExplanation({ id }: { readonly id: string }) {
  const trackable = storeOf('trackables').items.value.get(id);
  const found = useRanked(id, trackable);
  if (found === undefined || found.candidates.length === 0) return null;
  return (
    <section class={styles.box} aria-label={t('Location priority')}>
      <h3 class={typography.caption}>{t('Why this location')}</h3>
      <ol class={styles.candidates}>
        {found.candidates.map((candidate) => (
          <CandidateRow key={candidate.location.provider_id} candidate={candidate} />
        ))}
      </ol>
      {found.why !== undefined && <p class={styles.why}>{whyText(found.why, found.candidates[0])}</p>}
    </section>
  );
}

function CandidateRow({
  candidate: { location, facts, priority, rule, isWinner },
}: {
  readonly candidate: RankedLocation;
}) {
  const { provider_id: provider, provider_type: type, accuracy } = location;
  return (
    <li class={styles.candidate} data-winner={isWinner || undefined}>
      <div class={styles.name}>
        <strong>{storeOf('providers').items.value.get(provider ?? '')?.name || provider}</strong>
        {isWinner ? <Badge tone="ok">{t('counts')}</Badge> : <Badge>{t('priority {priority}', { priority })}</Badge>}
      </div>
      <div class={typography.faint}>
        <span>{type}</span>
        {accuracy != null && <span>{` · ${metersText(accuracy)}`}</span>}
        <span>{` · ${ago(facts.timestamp_diff ?? Number.NaN)}`}</span>
      </div>
      {rule !== undefined && <code class={styles.rule}>{rule}</code>}
    </li>
  );
}

function whyText(why: WinningReason, winner: RankedLocation | undefined): string {
  switch (why) {
    case 'only':
      return t('It is the only location.');
    case 'rule':
      return winner?.rule === undefined
        ? t('No rule with a priority above 0 matches any location.')
        : t('Its rule has the highest priority of all matching rules: {priority}.', { priority: winner.priority });
    case 'newest':
      return t('No rule with a priority above 0 matches, so the newest location counts.');
    case 'newest_of_equals':
      return t('Several have priority {priority}, so the newest of them counts.', { priority: winner?.priority ?? 0 });
  }
}

/** Polls the ranking: it changes with the age of locations. */
function useRanked(id: string, trackable: Trackable | undefined): Ranked | undefined {
  const own = trackable?.locating_rules;
  const load = async (): Promise<Ranked | undefined> => {
    try {
      const [locations, rules] = await Promise.all([
        get<readonly Location[]>(`${entityPath('trackables', id)}/locations`),
        own != null && own.length > 0 ? own : get<readonly LocatingRule[]>('/trackables/rules/locating'),
      ]);
      return ranked(locations, rules, Date.now());
    } catch {
      return undefined;
    }
  };
  return useLoaded(load, [id, own], { everyMs: EVERY_MS });
}
