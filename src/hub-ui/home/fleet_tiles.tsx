import { useMemo } from 'preact/hooks';
import type { LocationProvider } from '../../model/provider.ts';
import type { Trackable } from '../../model/trackable.ts';
import { useNow } from '../controls/time.ts';
import { can } from '../hub/access.ts';
import { LOW_BATTERY_PERCENT } from '../hub/battery.ts';
import { useEntities } from '../hub/stores.ts';
import { t } from '../languages/language.ts';
import { countText, percentText } from '../languages/numbers.ts';
import { isActivityLoaded, isSilent, lowBatteryOf, SILENT_MS, useTagActivity } from '../lists/fleet_summary.ts';
import { type Sample, sampledRange } from './samples.ts';
import { type SeenBefore, useSeenBefore } from './seen_before.ts';
import { Tile } from './tile.tsx';

/** Interval at which the tags are counted again. */
const COUNT_MS = 2_000;

/** Tiles about the tags and the objects that carry them: present, silent, low batteries. */
export function FleetTiles() {
  const trackables = useEntities('trackables');
  const providers = useEntities('providers');
  const mayRead = can('READ', '/providers/summary');
  useTagActivity(mayRead);
  const nowMs = useNow(COUNT_MS);
  const isLoaded = isActivityLoaded.value;
  const fleet = useMemo(
    () => ({ trackables: [...trackables.values()], providers: [...providers.values()] }),
    [trackables, providers],
  );
  const counts = useMemo(() => countsOf(fleet, Date.now()), [fleet, nowMs, isLoaded]);
  const range = sampledRange(nowMs);
  const before = useSeenBefore(range);
  const past = useMemo(() => pastOf(fleet, before), [fleet, before]);
  if (!mayRead) return null;
  const ends = [range.fromMs, nowMs] as const;
  const { present, objects, silent, low } = counts;
  const now = (count: number): Sample => ({ atMs: nowMs, count });
  const value = (count: number): string | undefined => (isLoaded ? countText(count) : undefined);
  const total = fleet.providers.length;
  return (
    <>
      <Tile
        name={t('Present')}
        value={value(present)}
        about={
          fleet.trackables.length > 0
            ? t('of trackables: {count}', { count: countText(objects) })
            : t('of providers: {count}', { count: countText(objects) })
        }
        href={fleet.trackables.length > 0 ? '/lists/trackables' : '/lists/providers'}
        steps={[...past.map(({ atMs, present: count }) => ({ atMs, count })), now(present)]}
        range={ends}
      />
      <Tile
        name={t('Silent tags')}
        value={value(silent)}
        about={t('not seen for {minutes} min', { minutes: SILENT_MS / 60_000 })}
        href={`/lists/providers?silent=${SILENT_MS / 1_000}`}
        tone={isLoaded && silent > 0 ? 'warn' : undefined}
        steps={[...past.map(({ atMs, seen }) => ({ atMs, count: Math.max(0, total - seen) })), now(silent)]}
        range={ends}
      />
      <Tile
        name={t('Low battery')}
        value={value(low.length)}
        about={
          low.length > 0
            ? t('lowest {level}', { level: percentText(Math.min(...low)) })
            : t('at most {level}', { level: percentText(LOW_BATTERY_PERCENT) })
        }
        href="/lists/providers?battery=low"
        tone={low.length > 0 ? 'warn' : undefined}
      />
    </>
  );
}

interface Fleet {
  readonly trackables: readonly Trackable[];
  readonly providers: readonly LocationProvider[];
}

/** Figures of the fleet at a time: present objects, all objects, silent tags, and the levels of low batteries in percent. */
function countsOf({ trackables, providers }: Fleet, nowMs: number) {
  const silent = providers.filter((provider) => isSilent('providers', provider, SILENT_MS, nowMs)).length;
  const present =
    trackables.length > 0
      ? trackables.filter((trackable) => !isSilent('trackables', trackable, SILENT_MS, nowMs)).length
      : providers.length - silent;
  const low = providers.flatMap((provider) => lowBatteryOf('providers', provider) ?? []);
  return { present, objects: trackables.length > 0 ? trackables.length : providers.length, silent, low };
}

/** Numbers of today's objects and tags that were present at each sample, in chronological order. */
function pastOf({ trackables, providers }: Fleet, before: SeenBefore) {
  return [...before]
    .sort(([a], [b]) => a - b)
    .map(([atMs, ids]) => {
      const seen = providers.filter(({ id }) => ids.has(id)).length;
      const carriers = trackables.filter((each) => (each.location_providers ?? []).some((id) => ids.has(id))).length;
      return { atMs, seen, present: trackables.length > 0 ? carriers : seen };
    });
}
