import type { EventLogHealth, SystemHealth } from '../../model/health.ts';
import { Button } from '../controls/button.tsx';
import { Card } from '../controls/card.tsx';
import { copyText } from '../controls/clipboard.ts';
import { STATES } from '../controls/connection_status.tsx';
import { Facts } from '../controls/facts.tsx';
import flow from '../controls/flow.module.css';
import { durationText, useNow } from '../controls/time.ts';
import { connection, reconnect, traffic } from '../hub/live.ts';
import { settings } from '../hub/settings.ts';
import jsonStyles from '../json/json.module.css';
import { t } from '../languages/language.ts';
import { bytesText, millisecondsText } from '../languages/numbers.ts';
import { wholeText } from '../languages/times.ts';
import { Cluster } from './cluster.tsx';
import { Headline } from './headline.tsx';
import styles from './overview.module.css';
import { type Polled, usePolled } from './polled.tsx';
import type { RequestProblem } from './problem.ts';
import { RateCharts } from './rate_charts.tsx';

interface Version {
  readonly hub_version: string;
  readonly vendor: string;
  readonly api_version: string;
}

/** Health and performance of the hub. */
export function Overview() {
  const system = usePolled<SystemHealth>('/health/system', 5_000);
  return (
    <>
      <div class={flow.cards}>
        <ConnectionCard />
        <HubCard system={system} />
        <DatabaseCard system={system} />
      </div>
      <Cluster system={system} />
      <RateCharts />
      {system.value !== undefined && <Configuration text={system.value.config} />}
    </>
  );
}

const MEANINGS = {
  connecting: t('The page is connecting to the hub for the first time.'),
  connected: t('The hub answers. The page is up to date.'),
  stale: t('The hub has not answered for a few seconds. The page may be out of date.'),
  reconnecting: t('The connection is lost. The page is out of date.'),
} as const;

function ConnectionCard() {
  const { state, sinceMs, retryAtMs } = connection.value;
  const nowMs = useNow(500);
  const { label, tone } = STATES[state];
  const roundTripMs = state === 'connected' ? traffic.value.at(-1)?.roundTripMs : undefined;
  return (
    <Card title={t('Connection')}>
      <Headline tone={tone} label={label} meaning={MEANINGS[state]} />
      <Facts
        rows={[
          [t('Since'), durationText(Math.max(0, nowMs - sinceMs))],
          [t('Round trip'), roundTripMs === undefined ? undefined : millisecondsText(roundTripMs)],
          [t('Next attempt'), retryAtMs === undefined ? undefined : nextText(retryAtMs - nowMs)],
        ]}
      />
      {state !== 'connected' && (
        <div class={`${flow.row} ${styles.action}`}>
          <Button kind="main" onClick={reconnect}>
            {t('Connect now')}
          </Button>
        </div>
      )}
    </Card>
  );
}

function nextText(milliseconds: number): string {
  return milliseconds <= 0 ? t('now') : t('in {seconds} s', { seconds: Math.ceil(milliseconds / 1_000) });
}

function HubCard({ system: { value: system, problem } }: { readonly system: Polled<SystemHealth> }) {
  const version = usePolled<Version>('/version', 60_000).value;
  const isUp = system !== undefined && problem === undefined;
  return (
    <Card title={t('Hub')}>
      {isUp && system.cluster?.problem !== undefined ? (
        <Headline
          tone="warn"
          label={t('Not serving')}
          meaning={t('The other hubs handle the requests now: see Cluster.')}
        />
      ) : (
        <Headline
          tone={isUp ? 'ok' : problem === undefined || problem.isForbidden ? 'neutral' : 'danger'}
          label={isUp ? t('Running') : labelOf(problem)}
          meaning={problem?.text ?? t('The hub accepts requests.')}
        />
      )}
      <Facts
        rows={[
          [t('Uptime'), system && isUp ? durationText(system.uptime * 1_000) : undefined],
          [t('Version'), version?.hub_version ?? settings.value.hub_version],
          [t('omlox API'), version?.api_version],
          [
            t('Streams'),
            system && system.iso_24730_connections > 0
              ? t('{count} ISO 24730', { count: system.iso_24730_connections })
              : undefined,
          ],
        ]}
      />
    </Card>
  );
}

function labelOf(problem: RequestProblem | undefined): string {
  if (problem === undefined) return t('Checking');
  return problem.isForbidden ? t('No access') : t('No answer');
}

function DatabaseCard({ system: { value: system, problem } }: { readonly system: Polled<SystemHealth> }) {
  const database = system?.database;
  const isCurrent = database !== undefined && problem === undefined;
  const isFailing = database?.state === 'failing';
  return (
    <Card title={t('Database')}>
      <Headline
        tone={!isCurrent ? 'neutral' : isFailing ? 'danger' : 'ok'}
        label={
          isCurrent ? (isFailing ? t('Failing') : t('Writing')) : problem?.isForbidden ? t('No access') : t('Unknown')
        }
        meaning={
          !isCurrent
            ? problem?.isForbidden
              ? problem.text
              : t('The state of the database is unknown while the hub does not answer.')
            : isFailing
              ? t('New data may be lost in a restart.')
              : t('The hub writes all data to its database.')
        }
      />
      <Facts
        rows={[
          [t('Rows to write'), isCurrent ? database.pending_rows : undefined],
          [t('Failing since'), database?.failing_since && wholeText(Date.parse(database.failing_since))],
          [t('Why'), database?.error],
          [t('Event log'), isCurrent && system?.events !== undefined ? eventLogText(system.events) : undefined],
        ]}
      />
    </Card>
  );
}

/** Reach and size of the event log. */
function eventLogText({ oldest, bytes }: EventLogHealth): string {
  if (oldest === undefined) return t('no events yet');
  return t('{size}, since {time}', { size: bytesText(bytes), time: wholeText(Date.parse(String(oldest))) });
}

function Configuration({ text }: { readonly text: string }) {
  return (
    <Card
      title={t('Configuration')}
      actions={
        <Button icon="copy" onClick={() => void copyText(text, t('Configuration'))}>
          {t('Copy')}
        </Button>
      }
    >
      <details>
        <summary>{t('Current configuration, without secrets')}</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region needs keyboard focus */}
        <pre class={jsonStyles.box} tabIndex={0}>
          {text}
        </pre>
      </details>
    </Card>
  );
}
