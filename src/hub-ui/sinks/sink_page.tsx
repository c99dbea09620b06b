import { useState } from 'preact/hooks';
import type { Sink, SinkStatus, SinkTest } from '../../model/sink.ts';
import { Button } from '../controls/button.tsx';
import { Card } from '../controls/card.tsx';
import { type FactRow, Facts } from '../controls/facts.tsx';
import { Notice } from '../controls/notice.tsx';
import { ago, durationText, useNow } from '../controls/time.ts';
import { toastError } from '../controls/toasts.tsx';
import { setUrlParams, urlParam } from '../controls/url_state.ts';
import { Columns, EditAndDelete, ExchangePage } from '../exchange/exchange_page.tsx';
import { can } from '../hub/access.ts';
import { request } from '../hub/rest.ts';
import { t } from '../languages/language.ts';
import { countText } from '../languages/numbers.ts';
import { wholeText } from '../languages/times.ts';
import { Headline } from '../operations/headline.tsx';
import { usePolled } from '../operations/polled.tsx';
import { failureText } from '../problems/sentences.ts';
import { Deliveries } from './deliveries.tsx';
import { ReplayDialog } from './replay_dialog.tsx';
import { SinkDialog } from './sink_dialog.tsx';
import { sinkPath, TestNotice } from './sink_test.tsx';
import { meaningOf, STATE_LOOKS, typeLabel } from './sink_text.ts';

const EVERY_MS = 2_000;

/** One sink: state, definition, deliveries, and the actions that the user may take. */
export function SinkPage({ id }: { readonly id: string }) {
  const path = sinkPath(id);
  const sink = usePolled<Sink>(path, 5_000);
  const status = usePolled<SinkStatus>(`${path}/status`, EVERY_MS);
  const [tested, setTested] = useState<SinkTest>();
  const replay = urlParam('replay');
  const stored = sink.value;
  const frame = { kind: t('Sink'), list: { path: '/sinks', label: t('All sinks') } };
  if (stored === undefined) return <ExchangePage {...frame} name={undefined} problem={sink.problem} />;
  return (
    <ExchangePage
      {...frame}
      name={stored.name}
      problem={sink.problem ?? status.problem}
      actions={<Actions sink={stored} status={status.value} onActed={status.refresh} onTested={setTested} />}
    >
      {tested !== undefined && <TestNotice result={tested} />}
      <Columns>
        {status.value !== undefined && <StateCard status={status.value} />}
        <TargetCard sink={stored} />
      </Columns>
      {status.value?.delivering === false ? (
        <Notice>{t('Another hub of the cluster delivers to this sink. Its page lists the deliveries.')}</Notice>
      ) : (
        <Deliveries sinkId={id} />
      )}
      {urlParam('edit') !== undefined && (
        <SinkDialog sink={stored} onClose={() => setUrlParams({ edit: undefined })} onSaved={sink.refresh} />
      )}
      {replay !== undefined && (
        <ReplayDialog
          sink={stored}
          from={replay}
          onClose={() => setUrlParams({ replay: undefined })}
          onReplayed={status.refresh}
        />
      )}
    </ExchangePage>
  );
}

function Actions({
  sink: { id, name },
  status,
  onActed,
  onTested,
}: {
  readonly sink: Sink;
  readonly status: SinkStatus | undefined;
  readonly onActed: () => void;
  readonly onTested: (result: SinkTest | undefined) => void;
}) {
  const [isTesting, setTesting] = useState(false);
  const path = sinkPath(id);
  const act = async (verb: 'pause' | 'resume'): Promise<void> => {
    await request('POST', `${path}/${verb}`).catch(toastError);
    onActed();
  };
  const test = async (): Promise<void> => {
    setTesting(true);
    onTested(undefined);
    try {
      onTested(await request<SinkTest>('POST', `${path}/test`));
    } catch (error) {
      toastError(error);
    }
    setTesting(false);
  };
  const question = {
    title: t('Delete the sink {name}?', { name }),
    text: t('The hub delivers nothing more to it. Events that wait for it are not delivered.'),
    action: t('Delete sink'),
  };
  const isActive = status?.state === 'active' || status?.state === 'failing';
  return (
    <>
      {can('UPDATE', `${path}/test`) && (
        <Button icon="send" disabled={isTesting} onClick={() => void test()}>
          {t('Send test')}
        </Button>
      )}
      {isActive && can('UPDATE', `${path}/pause`) && (
        <Button icon="pause" onClick={() => void act('pause')}>
          {t('Pause')}
        </Button>
      )}
      {status !== undefined && status.state !== 'active' && can('UPDATE', `${path}/resume`) && (
        <Button icon="play" onClick={() => void act('resume')}>
          {status.state === 'failing' ? t('Retry now') : t('Resume')}
        </Button>
      )}
      {can('UPDATE', `${path}/replay`) && (
        <Button icon="redo" onClick={() => setUrlParams({ replay: 'now' })}>
          {t('Replay')}
        </Button>
      )}
      <EditAndDelete name={name} path={path} listPath="/sinks" question={question} />
    </>
  );
}

function StateCard({ status }: { readonly status: SinkStatus }) {
  const nowMs = useNow(1_000);
  const { label, tone } = STATE_LOOKS[status.state];
  const number = (value: number | undefined): string | undefined =>
    value === undefined ? undefined : countText(value);
  // Counts of rare events are left out while they are zero.
  const rare = (value: number | undefined): string | undefined => (value === 0 ? undefined : number(value));
  const { last_delivered_at: last } = status;
  return (
    <Card title={t('State')}>
      <Headline tone={tone} label={label} meaning={meaningOf(status, nowMs)} />
      <Facts
        rows={[
          [t('Waiting'), number(status.waiting)],
          [t('Lag'), status.lag === undefined ? undefined : durationText(status.lag)],
          [t('Delivered'), number(status.delivered)],
          [t('Failed requests'), number(status.failures)],
          [t('Rejected'), rare(status.rejected)],
          [t('Dropped'), rare(status.dropped)],
          [t('Discarded by replays'), rare(status.replayed)],
          [
            t('Last delivery'),
            last && (
              <time dateTime={last} title={wholeText(Date.parse(last))}>
                {ago(Math.max(0, nowMs - Date.parse(last)))}
              </time>
            ),
          ],
          [t('Error'), failureText(status.error, status)],
        ]}
      />
    </Card>
  );
}

function TargetCard({ sink }: { readonly sink: Sink }) {
  const { quiet_hours: quiet, recipients, params } = sink;
  const rows: readonly FactRow[] = [
    [t('Type'), typeLabel(sink.type)],
    [t('URL'), <code key="url">{sink.url}</code>],
    [t('Topics'), sink.topics.length === 0 ? t('only alerts of rules that name it') : sink.topics.join(', ')],
    [
      t('Filters'),
      Object.entries(params ?? {})
        .map(([name, value]) => `${name} = ${value}`)
        .join(', '),
    ],
    [t('Format'), sink.format ?? undefined],
    [t('Sender'), sink.sender ?? undefined],
    [t('Recipients'), recipients?.join(', ')],
    [t('Quiet hours'), quiet == null ? undefined : `${quiet.from} – ${quiet.to}, ${quiet.time_zone ?? 'UTC'}`],
  ];
  return (
    <Card title={t('Target')}>
      <Facts rows={rows} />
    </Card>
  );
}
