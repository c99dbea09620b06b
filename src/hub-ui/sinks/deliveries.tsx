import { useState } from 'preact/hooks';
import { type SinkDelivery, SINK_DELIVERY_STATES } from '../../model/sink.ts';
import { Badge } from '../controls/badge.tsx';
import { IconButton, ShowMore } from '../controls/button.tsx';
import cardStyles from '../controls/card.module.css';
import { Card } from '../controls/card.tsx';
import flow from '../controls/flow.module.css';
import { Empty, Spinner } from '../controls/notice.tsx';
import { Select } from '../controls/select.tsx';
import { type Column, Table } from '../controls/table.tsx';
import typography from '../controls/typography.module.css';
import { setUrlParams, urlParam } from '../controls/url_state.ts';
import exchange from '../exchange/exchange.module.css';
import { can } from '../hub/access.ts';
import { t } from '../languages/language.ts';
import { countText, millisecondsText } from '../languages/numbers.ts';
import { clockText, wholeText } from '../languages/times.ts';
import { ProblemNotice, usePolled } from '../operations/polled.tsx';
import { failureText } from '../problems/sentences.ts';
import { sinkPath } from './sink_test.tsx';
import { DELIVERY_LOOKS } from './sink_text.ts';
import styles from './sinks.module.css';

const EVERY_MS = 2_000;
/** Number of deliveries shown at a time. */
const SHOWN_STEP = 100;

/** Events that wait for delivery, and the last deliveries, newest first. */
export function Deliveries({ sinkId }: { readonly sinkId: string }) {
  const [most, setMost] = useState(SHOWN_STEP);
  const state = SINK_DELIVERY_STATES.find((each) => each === urlParam('state'));
  const path = `${sinkPath(sinkId)}/deliveries`;
  const { value: found, problem } = usePolled<readonly SinkDelivery[]>(
    state === undefined ? path : `${path}?state=${state}`,
    EVERY_MS,
  );
  return (
    <Card
      flush
      title={t('Deliveries')}
      actions={
        <Select
          class={styles.filter}
          aria-label={t('State of the deliveries')}
          value={state ?? ''}
          options={[
            { value: '', label: t('Any state') },
            ...SINK_DELIVERY_STATES.map((value) => ({ value, label: DELIVERY_LOOKS[value].label })),
          ]}
          onChange={(next) => setUrlParams({ state: next })}
        />
      }
    >
      <ProblemNotice problem={problem} />
      {found === undefined && problem === undefined && (
        <div class={cardStyles.padded}>
          <Spinner />
        </div>
      )}
      {found?.length === 0 && (
        <Empty icon="sink" title={t('No deliveries')}>
          <p>
            {state === undefined
              ? t('Events appear here as soon as they wait for delivery.')
              : t('No delivery has this state.')}
          </p>
        </Empty>
      )}
      {found !== undefined && found.length > 0 && (
        <Table
          label={t('Table of {title}', { title: t('Deliveries').toLowerCase() })}
          columns={columnsFor(can('UPDATE', `${sinkPath(sinkId)}/replay`))}
          rows={found.slice(0, most)}
          keyOf={({ event_id: id, cursor, attempted_at: at }) => `${id} ${cursor ?? ''} ${at ?? ''}`}
        />
      )}
      {found !== undefined && found.length > most && (
        <ShowMore label={t('Show older')} onClick={() => setMost(most + SHOWN_STEP)} />
      )}
    </Card>
  );
}

function columnsFor(mayReplay: boolean): readonly Column<SinkDelivery>[] {
  return mayReplay ? [...COLUMNS, REPLAY] : COLUMNS;
}

const COLUMNS: readonly Column<SinkDelivery>[] = [
  {
    key: 'time',
    title: t('Time'),
    cell: ({ timestamp }) => {
      const atMs = Date.parse(timestamp);
      return (
        <time dateTime={timestamp} title={wholeText(atMs)}>
          {clockText(atMs)}
        </time>
      );
    },
  },
  {
    key: 'state',
    title: t('State'),
    class: exchange.name,
    cell: ({ state, error, ...failure }) => (
      <>
        <Badge tone={DELIVERY_LOOKS[state].tone}>{DELIVERY_LOOKS[state].label}</Badge>
        {error !== undefined && <p class={exchange.error}>{failureText(error, failure)}</p>}
      </>
    ),
  },
  { key: 'topic', title: t('Topic'), class: flow.wideOnly, cell: ({ topic }) => <code>{topic}</code> },
  {
    key: 'object',
    title: t('Object'),
    class: flow.wideOnly,
    cell: ({ key }) => (
      <span class={`${typography.cut} ${typography.mono} ${styles.key}`} title={key}>
        {key}
      </span>
    ),
  },
  {
    key: 'attempts',
    title: t('Attempts'),
    isNumber: true,
    class: flow.wideOnly,
    cell: ({ attempts }) => countText(attempts),
  },
  {
    key: 'duration',
    title: t('Duration'),
    isNumber: true,
    class: flow.wideOnly,
    cell: ({ duration }) => (duration === undefined ? '–' : millisecondsText(duration)),
  },
];

const REPLAY: Column<SinkDelivery> = {
  key: 'replay',
  title: t('Actions'),
  head: <span class={typography.hidden}>{t('Actions')}</span>,
  cell: ({ timestamp, cursor }) =>
    cursor !== undefined && (
      <IconButton
        icon="redo"
        label={t('Replay from {time}', { time: clockText(Date.parse(timestamp)) })}
        onClick={() => setUrlParams({ replay: timestamp })}
      />
    ),
};
