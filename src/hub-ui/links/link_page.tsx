import type { LinkState } from '../../model/link.ts';
import { Button } from '../controls/button.tsx';
import { Card } from '../controls/card.tsx';
import { Facts } from '../controls/facts.tsx';
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
import { LinkDialog } from './link_dialog.tsx';
import { linkPath, type LinkWithState, meaningOf, outageText, STATUS_LOOKS, statusOf } from './link_text.ts';

const EVERY_MS = 2_000;

function count(value: number | null | undefined): string | undefined {
  return value == null ? undefined : countText(value);
}

/** One link: state, counters, definition, and the actions that the user may take. */
export function LinkPage({ id }: { readonly id: string }) {
  const { value: link, problem, refresh } = usePolled<LinkWithState>(linkPath(id), EVERY_MS);
  const nowMs = useNow(1_000);
  const frame = { kind: t('Link'), list: { path: '/links', label: t('All links') }, problem };
  if (link === undefined) return <ExchangePage {...frame} name={undefined} />;
  const { label, tone } = STATUS_LOOKS[statusOf(link)];
  return (
    <ExchangePage {...frame} name={link.name} actions={<Actions link={link} onActed={refresh} />}>
      <Columns>
        <Card title={t('State')}>
          <Headline tone={tone} label={label} meaning={meaningOf(link, nowMs)} />
          {link.state !== undefined && <StateFacts state={link.state} nowMs={nowMs} />}
        </Card>
        {link.state !== undefined && <Counters state={link.state} />}
        <Definition link={link} />
      </Columns>
      {urlParam('edit') !== undefined && (
        <LinkDialog link={link} onClose={() => setUrlParams({ edit: undefined })} onSaved={refresh} />
      )}
    </ExchangePage>
  );
}

function Actions({ link, onActed }: { readonly link: LinkWithState; readonly onActed: () => void }) {
  const { state: _state, ...stored } = link;
  const { name } = link;
  const path = linkPath(link.id);
  const isOn = link.enabled !== false;
  const toggle = async (): Promise<void> => {
    await request('PUT', path, { body: { ...stored, enabled: !isOn } }).catch(toastError);
    onActed();
  };
  const question = {
    title: t('Delete the link {name}?', { name }),
    text: t('The providers that it has created stay. Mirrored zones, fences and trackables become ordinary ones.'),
    action: t('Delete link'),
  };
  return (
    <>
      {can('UPDATE', path) && (
        <Button icon={isOn ? 'pause' : 'play'} onClick={() => void toggle()}>
          {isOn ? t('Pause') : t('Resume')}
        </Button>
      )}
      <EditAndDelete name={name} path={path} listPath="/links" question={question} />
    </>
  );
}

interface StateProps {
  readonly state: LinkState;
}

function StateFacts({ state, nowMs }: StateProps & { readonly nowMs: number }) {
  const time = (at: string | null | undefined) =>
    at == null ? undefined : (
      <time dateTime={at} title={wholeText(Date.parse(at))}>
        {ago(Math.max(0, nowMs - Date.parse(at)))}
      </time>
    );
  return (
    <Facts
      rows={[
        [t('Other hub'), state.hub_name ?? state.hub_id],
        [t('Since'), time(state.since)],
        [t('Last received'), time(state.last_received)],
        [t('Lag'), state.lag_ms == null ? undefined : durationText(state.lag_ms)],
        [t('Last outage'), outageText(state)],
        [t('Locations read'), time(state.read_at)],
        [t('Mirrored entities'), count(state.mirrored)],
        [t('Not mirrored'), count(state.not_mirrored || undefined)],
        [t('Entities compared'), time(state.mirrored_at)],
        [t('Last error'), failureText(state.last_error, state)],
        [t('Time of the error'), time(state.last_error_at)],
      ]}
    />
  );
}

function Counters({ state }: StateProps) {
  return (
    <Card title={t('Counters')}>
      <Facts
        rows={[
          [t('Received'), count(state.received)],
          [t('Accepted'), count(state.accepted)],
          [t('Duplicates'), count(state.duplicates)],
          [t('Loops'), count(state.looped)],
          [t('Replaced by newer ones'), count(state.superseded)],
          [t('Rejected'), count(state.rejected)],
          [t('Dropped'), count(state.dropped)],
          [t('Waiting'), count(state.queued)],
          [t('Malformed messages'), count(state.malformed)],
          [t('Changes of the hub of origin'), count(state.origin_changes)],
          [t('Gaps in the events'), count(state.event_gaps)],
        ]}
      />
    </Card>
  );
}

function Definition({ link }: { readonly link: LinkWithState }) {
  const { params, sources, oidc } = link;
  const pairs = (values: object | null | undefined): string =>
    Object.entries(values ?? {})
      .map(([name, value]) => `${name} = ${String(value)}`)
      .join(', ');
  return (
    <Card title={t('Settings')}>
      <Facts
        rows={[
          [t('URL'), <code key="url">{link.url}</code>],
          [t('Topics'), (link.topics ?? ['location_updates']).join(', ')],
          [t('Entities'), link.entities === 'mirror' ? t('mirrored') : t('not mirrored')],
          [t('Prefix of ids'), link.id_prefix ?? undefined],
          [t('Minimum interval'), link.min_interval == null ? undefined : durationText(link.min_interval)],
          [t('Client id'), oidc?.client_id],
          [t('Filters'), pairs(params)],
          [t('Sources'), pairs(sources)],
        ]}
      />
    </Card>
  );
}
