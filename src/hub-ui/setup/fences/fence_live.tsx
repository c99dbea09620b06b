import { useEffect, useState } from 'preact/hooks';
import type { FenceEvent } from '../../../model/events.ts';
import { Badge } from '../../controls/badge.tsx';
import { Card } from '../../controls/card.tsx';
import { Link } from '../../controls/link.tsx';
import { ago, useNow } from '../../controls/time.ts';
import typography from '../../controls/typography.module.css';
import { labelOf } from '../../hub/entity_kinds.ts';
import { crossingsToday, type GateCrossings } from '../../hub/gate_crossings.ts';
import { subscribe } from '../../hub/live.ts';
import { mapPath } from '../../hub/page_paths.ts';
import { useEntities } from '../../hub/stores.ts';
import { t } from '../../languages/language.ts';
import styles from './fence_live.module.css';

const SHOWN = 5;

interface LiveFenceEvent {
  readonly event: FenceEvent;
  readonly receivedMs: number;
}

/** Live entries and exits of the edited fence, to check its settings. */
export function FenceLive({ id, isGate }: { readonly id: string; readonly isGate: boolean }) {
  const [events, setEvents] = useState<readonly LiveFenceEvent[]>([]);
  const trackables = useEntities('trackables');
  const nowMs = useNow(1_000);
  useEffect(() => {
    const events = (payload: readonly FenceEvent[]): void => {
      const receivedMs = Date.now();
      setEvents((before) => [...payload.map((event) => ({ event, receivedMs })).reverse(), ...before].slice(0, SHOWN));
    };
    return subscribe('fence_events', { fence_id: id }, { events });
  }, [id]);
  const nameOf = ({ trackable_id: trackable, provider_id: provider }: FenceEvent): string => {
    const found = trackables.get(trackable ?? '');
    return found === undefined ? (provider ?? trackable ?? t('Something')) : labelOf(found);
  };
  return (
    <Card title={t('Now')} actions={<Link href={mapPath('fences', id)}>{t('On the live map')}</Link>}>
      {isGate && <GateCounts id={id} newest={events[0]?.event.id} />}
      {events.length === 0 && <p class={typography.faint}>{t('Entries and exits appear here as they happen')}</p>}
      <ul class={styles.events} aria-label={t('Entries and exits')} aria-live="polite">
        {events.map(({ event, receivedMs }) => (
          <li key={event.id}>
            <EventBadge event={event} />
            <span class={`${typography.cut} ${styles.name}`}>{nameOf(event)}</span>
            <span class={typography.faint}>{ago(nowMs - receivedMs)}</span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function EventBadge({ event }: { readonly event: FenceEvent }) {
  const direction = event.properties?.['hub.direction'];
  if (direction === 'left') return <Badge tone="ok">{t('To the left')}</Badge>;
  if (direction === 'right') return <Badge tone="ok">{t('To the right')}</Badge>;
  if (event.event_type === 'region_entry') return <Badge tone="ok">{t('Entry')}</Badge>;
  return <Badge tone="warn">{t('Exit')}</Badge>;
}

/** Crossings of a gate since midnight. Counted again after each event; `newest` is its id. */
function GateCounts({ id, newest }: { readonly id: string; readonly newest: string | undefined }) {
  const [counts, setCounts] = useState<GateCrossings>();
  useEffect(() => {
    let isShown = true;
    crossingsToday(id).then(
      (found) => isShown && setCounts(found),
      () => undefined,
    );
    return () => {
      isShown = false;
    };
  }, [id, newest]);
  if (counts === undefined) return null;
  return <p>{t('Today {left} to the left and {right} to the right', { left: counts.left, right: counts.right })}</p>;
}
