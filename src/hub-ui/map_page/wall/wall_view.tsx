import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Fence } from '../../../model/fence.ts';
import { STATES } from '../../controls/connection_status.tsx';
import { lazyPart } from '../../controls/lazy.tsx';
import { useNow } from '../../controls/time.ts';
import { urlParam } from '../../controls/url_state.ts';
import { labelOf } from '../../hub/entity_kinds.ts';
import { connection } from '../../hub/live.ts';
import { storeOf } from '../../hub/stores.ts';
import { loadPageTexts, t } from '../../languages/language.ts';
import { countedText, countText } from '../../languages/numbers.ts';
import { clock24Text, dayText } from '../../languages/times.ts';
import type { LayerName } from '../../map/view/map_url.ts';
import { useAwake, useIdle, useWallExit } from '../../map/view/wall_mode.ts';
import type { MovingKindLayer } from '../layers/live_layers.tsx';
import { WallLegend } from '../tools/legend.tsx';
import { type Counted, type Inside, useInsideOf } from './fence_counts.ts';
import { everyFrom, type Scene, scenesFrom } from './scenes.ts';
import styles from './wall_view.module.css';

const NumbersScene = lazyPart(async () => {
  await loadPageTexts();
  return (await import('./wall_scenes.tsx')).NumbersScene;
});
const AlertsScene = lazyPart(async () => {
  await loadPageTexts();
  return (await import('./wall_scenes.tsx')).AlertsScene;
});

/** Maximum number of listed fences, the fullest first; the screen shows as many as fit. */
const LISTED_MAX = 40;

/**
 * Wall view of the map, for a display without input: time, number of objects per fence, and legend. Scenes with numbers and with
 * alerts replace the map in turn. It reconnects by itself, and Escape leaves it.
 */
export function WallView({
  layers,
  fences,
  trackables,
  providers,
}: {
  readonly layers: ReadonlySet<LayerName>;
  readonly fences: readonly Fence[];
  readonly trackables: MovingKindLayer;
  readonly providers: MovingKindLayer;
}) {
  useWallExit();
  useAwake();
  useIdle();
  const scene = useScene();
  const counted = storeOf('trackables').items.value.size > 0 ? 'trackables' : 'providers';
  const ids = useMemo(() => fences.map(({ id }) => id), [fences]);
  const inside = useInsideOf(ids, counted);
  const nowMs = useNow(1_000);
  const { label, tone } = STATES[connection.value.state];
  const seen = layers.has('trackables') ? countedText(trackables.seen.value.seen, 'trackable') : undefined;
  const seenProviders = layers.has('providers') ? countedText(providers.seen.value.seen, 'provider') : undefined;
  return (
    <>
      {scene === 'numbers' && (
        <NumbersScene
          trackables={layers.has('trackables') ? trackables.seen.value.seen : 0}
          providers={layers.has('providers') ? providers.seen.value.seen : 0}
          fences={fences}
          inside={inside}
        />
      )}
      {scene === 'alerts' && <AlertsScene />}
      <aside class={styles.column} aria-label={t('Wall')}>
        <div class={styles.card}>
          <time
            class={styles.clock}
            dateTime={new Date(nowMs).toISOString()}
            style={{ '--characters': clock24Text(nowMs).length }}
          >
            {clock24Text(nowMs)}
          </time>
          <div class={styles.day}>{dayText(nowMs)}</div>
          <div class={styles.state}>
            <span class={styles.dot} data-tone={tone} />
            {label}
            {[seen, seenProviders].map((text) => text !== undefined && <span key={text}>{text}</span>)}
          </div>
        </div>
        <FenceCounts {...{ fences, counted, inside }} />
        <div class={`${styles.card} ${styles.legend}`}>
          <WallLegend layers={layers} />
        </div>
      </aside>
    </>
  );
}

/** Returns the scene to show now, which changes by the parameters `scenes` and `every` of the URL. */
function useScene(): Scene {
  const scenes = scenesFrom(urlParam('scenes'));
  const everyMs = everyFrom(urlParam('every'));
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    if (scenes.length < 2) return undefined;
    const timer = setInterval(() => setTurn((before) => before + 1), everyMs);
    return () => clearInterval(timer);
  }, [scenes.length, everyMs]);
  return scenes[turn % scenes.length] ?? 'map';
}

function FenceCounts({
  fences,
  counted,
  inside,
}: {
  readonly fences: readonly Fence[];
  readonly counted: Counted;
  readonly inside: Inside;
}) {
  if (fences.length === 0) return null;
  const counts = fences
    .map((fence) => ({ fence, count: inside.get(fence.id)?.size }))
    .sort((a, b) => (b.count ?? -1) - (a.count ?? -1) || labelOf(a.fence).localeCompare(labelOf(b.fence)));
  const most = Math.max(1, ...counts.map(({ count }) => count ?? 0));
  return (
    <section class={`${styles.card} ${styles.fences}`} aria-label={t('Inside fences now')}>
      <h2>{counted === 'trackables' ? t('Trackables in fences') : t('Providers in fences')}</h2>
      <ul>
        {counts.slice(0, LISTED_MAX).map(({ fence, count }) => (
          <li key={fence.id} data-empty={count === 0 || undefined}>
            <span class={styles.share} style={{ width: `${(100 * (count ?? 0)) / most}%` }} />
            <span class={styles.name}>{labelOf(fence)}</span>
            <strong>{count === undefined ? '–' : countText(count)}</strong>
          </li>
        ))}
      </ul>
    </section>
  );
}
