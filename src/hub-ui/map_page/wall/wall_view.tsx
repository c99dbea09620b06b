import { useMemo } from 'preact/hooks';
import type { Fence } from '../../../model/fence.ts';
import { IconButton } from '../../controls/button.tsx';
import { STATES } from '../../controls/connection_status.tsx';
import { useNow } from '../../controls/time.ts';
import { labelOf } from '../../hub/entity_kinds.ts';
import { connection } from '../../hub/live.ts';
import { storeOf } from '../../hub/stores.ts';
import { t } from '../../languages/language.ts';
import { countedText, countText } from '../../languages/numbers.ts';
import { clockText, dayText } from '../../languages/times.ts';
import type { LayerName } from '../../map/view/map_url.ts';
import { leaveWall, useAwake, useIdle, useWallExit } from '../../map/view/wall_mode.ts';
import type { MovingKindLayer } from '../layers/live_layers.tsx';
import { WallLegend } from '../tools/legend.tsx';
import { useInsideOf } from './fence_counts.ts';
import styles from './wall_view.module.css';

/** Maximum number of listed fences, the fullest first; the screen shows as many as fit. */
const LISTED_MAX = 40;

/**
 * Wall view of the map, for a display without input: time, number of objects per fence, and legend. It reconnects by itself.
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
  const isIdle = useIdle();
  const nowMs = useNow(1_000);
  const { label, tone } = STATES[connection.value.state];
  const seen = layers.has('trackables') ? countedText(trackables.seen.value.seen, 'trackable') : undefined;
  const seenProviders = layers.has('providers') ? countedText(providers.seen.value.seen, 'provider') : undefined;
  return (
    <aside class={styles.column} aria-label={t('Wall')}>
      <div class={styles.card}>
        <time
          class={styles.clock}
          dateTime={new Date(nowMs).toISOString()}
          style={{ '--characters': clockText(nowMs).length }}
        >
          {clockText(nowMs)}
        </time>
        <div class={styles.day}>
          {dayText(nowMs)}
          <span class={styles.out} data-idle={isIdle || undefined}>
            <IconButton icon="close" label={t('Leave the wall view')} onClick={leaveWall} />
          </span>
        </div>
        <div class={styles.state}>
          <span class={styles.dot} data-tone={tone} />
          {label}
          {[seen, seenProviders].map((text) => text !== undefined && <span key={text}>{text}</span>)}
        </div>
      </div>
      <FenceCounts fences={fences} />
      <div class={`${styles.card} ${styles.legend}`}>
        <WallLegend layers={layers} />
      </div>
    </aside>
  );
}

function FenceCounts({ fences }: { readonly fences: readonly Fence[] }) {
  const counted = storeOf('trackables').items.value.size > 0 ? 'trackables' : 'providers';
  const ids = useMemo(() => fences.map(({ id }) => id), [fences]);
  const inside = useInsideOf(ids, counted);
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
