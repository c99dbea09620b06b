import { useCallback, useEffect, useState } from 'preact/hooks';
import type { LicenseLease, LicenseInfo } from '../../model/license.ts';
import { Button } from '../controls/button.tsx';
import { Card } from '../controls/card.tsx';
import { confirm } from '../controls/dialog.tsx';
import { Facts } from '../controls/facts.tsx';
import { AreaField } from '../controls/field.tsx';
import flow from '../controls/flow.module.css';
import { Notice, Spinner } from '../controls/notice.tsx';
import { toast, toastError } from '../controls/toasts.tsx';
import { can } from '../hub/access.ts';
import { get, request } from '../hub/rest.ts';
import { t } from '../languages/language.ts';
import { longDayText } from '../languages/times.ts';
import { errorText } from '../problems/sentences.ts';
import { ProblemNotice } from './polled.tsx';
import { type RequestProblem, problemOf } from './problem.ts';
import columnStyles from './columns.module.css';

interface LicenseState {
  readonly info: LicenseInfo;
  /** Undefined if no license is in force. */
  readonly lease: LicenseLease | undefined;
}

/** License tab, for systems that expect a license; the hub does not need one. */
export function License() {
  const [license, setLicense] = useState<LicenseState>();
  const [problem, setProblem] = useState<RequestProblem>();
  const load = useCallback(async () => {
    try {
      const info = await get<LicenseInfo>('/license/info');
      const lease = await get<LicenseLease>('/license/lease').catch(() => undefined);
      setLicense({ info, lease });
    } catch (error) {
      setProblem(problemOf(error));
    }
  }, []);
  useEffect(() => void load(), [load]);
  if (problem !== undefined) return <ProblemNotice problem={problem} />;
  if (license === undefined) return <Spinner />;
  return (
    <div class={columnStyles.columns}>
      <LicenseFacts {...license} onChanged={load} />
      {can('UPDATE', '/license/key') && <KeyForm onChanged={load} />}
    </div>
  );
}

type Changed = { readonly onChanged: () => Promise<void> };

function LicenseFacts({ info, lease, onChanged }: LicenseState & Changed) {
  const act = async (work: () => Promise<unknown>, done: string): Promise<void> => {
    try {
      await work();
      toast(done);
    } catch (error) {
      toastError(error);
    }
    await onChanged();
  };
  const giveUp = async (): Promise<void> => {
    const title = t('Remove the license?');
    const text = t('This removes the key that was set here, and the trial. The hub keeps working as before.');
    if (!(await confirm({ title, text, action: t('Remove') }))) return;
    await act(() => request('DELETE', '/license/lease'), t('License removed'));
  };
  const warning = warningText(info);
  return (
    <Card stack title={t('License')}>
      <p>{infoText(info)}</p>
      {warning !== undefined && <Notice tone="warn">{warning}</Notice>}
      <Facts
        rows={[
          [t('Trial'), trialText(info)],
          [t('Licensee'), lease?.customer_email],
          [t('Ends'), lease && longDayText(Date.parse(lease.lease_end_timestamp))],
          [t('Grace period until'), lease && longDayText(Date.parse(lease.grace_period_timestamp))],
          [t('For development'), info.development_info],
          [t('Further information'), info.custom_info],
          [t('Hub id'), lease && <code key="id">{lease.hub_instance_id}</code>],
        ]}
      />
      <div class={flow.row}>
        {lease === undefined && can('READ', '/license/starttrial') && (
          <Button onClick={() => void act(() => get('/license/starttrial'), t('Trial started'))}>
            {t('Start a trial')}
          </Button>
        )}
        {lease !== undefined && can('DELETE', '/license/lease') && (
          <Button kind="danger" onClick={() => void giveUp()}>
            {t('Remove')}
          </Button>
        )}
      </div>
    </Card>
  );
}

function infoText({ state, begins_at: begins = '', ends_at: ends = '' }: LicenseInfo): string {
  if (state === 'none') return t('No license key is set; the hub needs none.');
  if (state === 'not_begun') return t('The license begins on {time}; the hub needs none.', { time: begins });
  if (state === 'valid' || state === 'expiring') return t('The license is valid until {time}.', { time: ends });
  return t('The hub needs no license key. All features work without one.');
}

function warningText({ state, ends_at: time = '', grace_ends_at: other = '' }: LicenseInfo): string | undefined {
  if (state === 'invalid') return t('The license key does not verify.');
  if (state === 'unverifiable') return t('The license key cannot be verified while license_public_keys is empty.');
  if (state === 'expiring') return t('The license expires on {time}.', { time });
  if (state === 'in_grace')
    return t('The license expired on {time}; its grace period ends on {other}.', { time, other });
  return state === 'expired' ? t('The license expired on {time}.', { time }) : undefined;
}

function trialText({ trial_ends_at: time }: LicenseInfo): string | undefined {
  if (time === undefined) return undefined;
  return Date.parse(time) > Date.now()
    ? t('The trial ends on {time}.', { time })
    : t('The trial ended on {time}.', { time });
}

function KeyForm({ onChanged }: Changed) {
  const [key, setKey] = useState('');
  const [problem, setProblem] = useState<string>();
  const set = async (): Promise<void> => {
    try {
      await request('PUT', '/license/key', { body: { license_key: key.trim() } });
      toast(t('License key set'));
      setKey('');
      setProblem(undefined);
      await onChanged();
    } catch (error) {
      setProblem(errorText(error));
    }
  };
  return (
    <Card title={t('License key')}>
      <form
        class={flow.stack}
        onSubmit={(event) => {
          event.preventDefault();
          void set();
        }}
      >
        <AreaField
          label={t('New key')}
          help={t('A license key for this hub. It is verified and displayed; no feature depends on it.')}
          mono
          value={key}
          onInput={setKey}
          error={problem}
        />
        <div class={`${flow.row} ${flow.end}`}>
          <Button kind="main" type="submit" disabled={key.trim() === ''}>
            {t('Set license key')}
          </Button>
        </div>
      </form>
    </Card>
  );
}
