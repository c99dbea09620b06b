import { LIVE_TOPICS, type Sink, type SinkDelivery, type SinkStatus } from '../../model/sink.ts';
import { durationText } from '../controls/time.ts';
import { t } from '../languages/language.ts';

export const STATE_LOOKS = {
  active: { label: t('Active'), tone: 'ok' },
  failing: { label: t('Failing'), tone: 'danger' },
  paused: { label: t('Paused'), tone: 'neutral' },
  disabled: { label: t('Disabled'), tone: 'danger' },
} as const satisfies Readonly<Record<SinkStatus['state'], object>>;

export const DELIVERY_LOOKS = {
  waiting: { label: t('Waiting'), tone: 'neutral' },
  sending: { label: t('Sending'), tone: 'info' },
  delivered: { label: t('Delivered'), tone: 'ok' },
  failed: { label: t('Failed'), tone: 'warn' },
  rejected: { label: t('Rejected'), tone: 'danger' },
} as const satisfies Readonly<Record<SinkDelivery['state'], object>>;

const TYPE_LABELS: Readonly<Record<string, string>> = {
  webhook: t('Webhook'),
  nats: 'NATS',
  email: t('E-mail'),
  kafka: 'Kafka',
  hub: t('Other hub'),
};

/** Name of a type of sinks. */
export function typeLabel(type: Sink['type']): string {
  return TYPE_LABELS[type] ?? type;
}

/** Explains a state in a sentence. */
export function meaningOf({ state, waiting = 0, retry_at: retryAt, error }: SinkStatus, nowMs: number): string {
  switch (state) {
    case 'active':
      // The hub clears the error with the next success.
      if (error !== undefined) return t('Events cannot be delivered.');
      return waiting === 0 ? t('All events are delivered.') : t('Events are being delivered.');
    case 'paused':
      return t('Nothing is sent until it is resumed. Events of the event log wait.');
    case 'disabled':
      return t('The hub has given up. Resume it when the target accepts events again.');
    case 'failing':
      return retryAt === undefined
        ? t('Events cannot be delivered.')
        : t('The last attempt failed. The next one is in {long}.', {
            long: durationText(Math.max(0, Date.parse(retryAt) - nowMs)),
          });
  }
}

/** Whether a topic is delivered from memory, not from the event log. */
export function isLive(topic: Sink['topics'][number]): boolean {
  return LIVE_TOPICS.some((live) => live === topic);
}
