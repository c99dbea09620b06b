import { useId, useMemo, useRef } from 'preact/hooks';
import { ButtonLink } from '../controls/button.tsx';
import { Check } from '../controls/field.tsx';
import flow from '../controls/flow.module.css';
import { Select } from '../controls/select.tsx';
import { durationText, useNow } from '../controls/time.ts';
import typography from '../controls/typography.module.css';
import { setUrlParams, urlParam } from '../controls/url_state.ts';
import { trackablesByProvider } from '../hub/carriers.ts';
import type { Entities, Kind } from '../hub/entity_kinds.ts';
import { t } from '../languages/language.ts';
import { filtered, type TagKind, activityProblem, isTagKind, type TagFilter, useTagActivity } from './fleet_summary.ts';
import styles from './tag_filter.module.css';

/** Interval at which the silent tags are determined again. */
const LOOK_MS = 2_000;
/** Options in seconds. The URL may contain any other number. */
const SILENT_SECONDS: readonly number[] = [60, 300, 900, 3_600, 86_400];

/** URL parameters that clear the filter. */
export const NO_FILTER = { silent: undefined, unassigned: undefined, battery: undefined, page: undefined } as const;

/** Filter from the URL. */
function filterFromUrl(): TagFilter {
  const seconds = Number(urlParam('silent') ?? Number.NaN);
  return {
    silentMs: Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : undefined,
    isUnassigned: urlParam('unassigned') !== undefined,
    isBatteryLow: urlParam('battery') === 'low',
  };
}

/** Entities that pass the filter in the URL. Subscribes to the activity of tags while mounted. */
export function useFiltered<K extends Kind>(kind: K, matching: readonly Entities[K][]): readonly Entities[K][] {
  const times = useTagActivity(isTagKind(kind));
  const nowMs = useNow(LOOK_MS);
  const assigned = trackablesByProvider.value;
  const { silentMs, isUnassigned, isBatteryLow } = filterFromUrl();
  const isLive = silentMs !== undefined || isBatteryLow;
  const before = useRef<readonly Entities[K][]>(matching);
  const found = useMemo(
    () => filtered(kind, matching, { silentMs, isUnassigned, isBatteryLow }, Date.now()),
    [
      kind,
      matching,
      isUnassigned,
      isUnassigned && assigned,
      isBatteryLow,
      silentMs,
      isLive && [nowMs, times].join(' '),
    ],
  );
  // Keep the array if nothing has changed: sorting thousands of rows takes time.
  const isSame = found.length === before.current.length && found.every((each, index) => each === before.current[index]);
  if (!isSame) before.current = found;
  return before.current;
}

/** Filter bar for tags that need attention: silent or unassigned. */
export function TagFilterBar({ kind }: { readonly kind: TagKind }) {
  const silentId = useId();
  const { silentMs, isUnassigned, isBatteryLow } = filterFromUrl();
  const seconds = silentMs === undefined ? undefined : silentMs / 1_000;
  const offered =
    seconds === undefined || SILENT_SECONDS.includes(seconds) ? SILENT_SECONDS : [seconds, ...SILENT_SECONDS];
  return (
    <div class={styles.bar}>
      <label htmlFor={silentId} class={styles.silent}>
        <span class={typography.soft}>{t('Not seen for')}</span>
        <Select
          id={silentId}
          value={seconds === undefined ? '' : String(seconds)}
          options={[
            { value: '', label: t('any time') },
            ...offered.map((each) => ({ value: String(each), label: durationText(each * 1_000) })),
          ]}
          onChange={(silent) => setUrlParams({ silent, page: undefined })}
        />
      </label>
      <Check
        label={kind === 'providers' ? t('Unassigned') : t('Without providers')}
        checked={isUnassigned}
        onChange={(isOn) => setUrlParams({ unassigned: isOn ? 1 : undefined, page: undefined })}
      />
      <Check
        label={t('Low battery')}
        checked={isBatteryLow}
        onChange={(isOn) => setUrlParams({ battery: isOn ? 'low' : undefined, page: undefined })}
      />
      {activityProblem.value !== undefined && <span class={typography.faint}>{activityProblem.value}</span>}
      <span class={flow.space} />
      {kind === 'providers' && isUnassigned && (
        <ButtonLink kind="quiet" icon="map" href="/?layers=unassigned,zones,fences,plans,labels,tails,clusters">
          {t('Show unassigned on the map')}
        </ButtonLink>
      )}
    </div>
  );
}
