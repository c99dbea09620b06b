import { useCallback, useEffect, useState } from 'preact/hooks';
import type { Lease, LicenseInfo } from '../../model/license.ts';
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
import { errorText } from '../problems/sentences.ts';
import columnStyles from './columns.module.css';

interface Known {
  readonly info: LicenseInfo;
  /** Undefined where there is no license in force. */
  readonly lease: Lease | undefined;
}

/** The license, for systems that expect one: the hub needs none. */
export function License() {
  const [known, setKnown] = useState<Known>();
  const [problem, setProblem] = useState<string>();
  const load = useCallback(async () => {
    try {
      const info = await get<LicenseInfo>('/license/info');
      const lease = await get<Lease>('/license/lease').catch(() => undefined);
      setKnown({ info, lease });
    } catch (error) {
      setProblem(errorText(error));
    }
  }, []);
  useEffect(() => void load(), [load]);
  if (problem !== undefined) return <Notice tone="danger">{problem}</Notice>;
  if (known === undefined) return <Spinner />;
  return (
    <div class={columnStyles.columns}>
      <LicenseFacts {...known} onChanged={load} />
      {can('UPDATE', '/license/key') && <KeyForm onChanged={load} />}
    </div>
  );
}

type Changed = { readonly onChanged: () => Promise<void> };

function LicenseFacts({ info, lease, onChanged }: Known & Changed) {
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
    const title = 'Remove the license?';
    const text = 'This removes the key that was set here, and the trial. The hub keeps working as before.';
    if (!(await confirm({ title, text, action: 'Remove' }))) return;
    await act(() => request('DELETE', '/license/lease'), 'Given up');
  };
  return (
    <Card title="License">
      <div class={flow.stack}>
        <p>{info.info}</p>
        {info.warning !== undefined && <Notice tone="warn">{info.warning}</Notice>}
        <Facts
          rows={[
            ['Trial', info.trial_info],
            ['Given to', lease?.customer_email],
            ['Ends', lease && dateText(lease.lease_end_timestamp)],
            ['Grace until', lease && dateText(lease.grace_period_timestamp)],
            ['For development', info.development_info],
            ['Says', info.custom_info],
            ['Hub id', lease && <code key="id">{lease.hub_instance_id}</code>],
          ]}
        />
        <div class={flow.row}>
          {lease === undefined && can('READ', '/license/starttrial') && (
            <Button onClick={() => void act(() => get('/license/starttrial'), 'Trial started')}>Start a trial</Button>
          )}
          {lease !== undefined && can('DELETE', '/license/lease') && (
            <Button kind="danger" onClick={() => void giveUp()}>
              Remove
            </Button>
          )}
        </div>
      </div>
    </Card>
  );
}

function KeyForm({ onChanged }: Changed) {
  const [key, setKey] = useState('');
  const [problem, setProblem] = useState<string>();
  const set = async (): Promise<void> => {
    try {
      await request('PUT', '/license/key', { body: { license_key: key.trim() } });
      toast('License key set');
      setKey('');
      setProblem(undefined);
      await onChanged();
    } catch (error) {
      setProblem(errorText(error));
    }
  };
  return (
    <Card title="License key">
      <form
        class={flow.stack}
        onSubmit={(event) => {
          event.preventDefault();
          void set();
        }}
      >
        <AreaField
          label="New key"
          help="A key that somebody has given you. It is verified, and shown; nothing depends on it."
          mono
          value={key}
          onInput={setKey}
          error={problem}
        />
        <div class={`${flow.row} ${flow.end}`}>
          <Button kind="main" type="submit" disabled={key.trim() === ''}>
            Set the key
          </Button>
        </div>
      </form>
    </Card>
  );
}

function dateText(time: string): string {
  return new Date(time).toLocaleDateString(undefined, { dateStyle: 'long' });
}
