import type { ComponentProps } from 'preact';
import type { ApiKey } from '../../model/api_key.ts';
import { Button } from '../controls/button.tsx';
import { confirm } from '../controls/dialog.tsx';
import flow from '../controls/flow.module.css';
import { useNow } from '../controls/time.ts';
import { toastError } from '../controls/toasts.tsx';
import { type ExchangeColumn, ExchangeList, nothing, StateBadge } from '../exchange/exchange_list.tsx';
import { can } from '../hub/access.ts';
import { request } from '../hub/rest.ts';
import { t } from '../languages/language.ts';
import { wholeText } from '../languages/times.ts';
import { usePolled } from '../operations/polled.tsx';
import { KeyDialog } from './key_dialog.tsx';

const EVERY_MS = 5_000;

interface Row {
  readonly key: ApiKey;
  readonly nowMs: number;
  readonly onActed: () => void;
}

/** The API keys of the hub, without their secrets. */
export function KeysPage() {
  const { value: keys, problem, refresh } = usePolled<readonly ApiKey[]>('/keys', EVERY_MS);
  const nowMs = useNow(1_000);
  return (
    <ExchangeList
      title={t('API keys')}
      lead={t('Secrets with which programs and screens sign in without an identity server.')}
      path="/keys"
      add={t('New API key')}
      empty={{
        icon: 'lock',
        title: t('No API keys yet'),
        text: t('A key has roles, like a user, and can expire.'),
      }}
      rows={keys?.map((key): Row => ({ key, nowMs, onActed: refresh }))}
      problem={problem}
      columns={COLUMNS}
      keyOf={({ key: { id } }) => id}
      dialog={(onClose) => <KeyDialog onClose={onClose} onCreated={refresh} />}
    />
  );
}

const COLUMNS: readonly ExchangeColumn<Row>[] = [
  {
    key: 'name',
    title: t('Name'),
    sorts: true,
    isHeading: true,
    value: ({ key }) => key.name,
    cell: ({ key }) => key.name,
  },
  {
    key: 'state',
    title: t('State'),
    sorts: true,
    value: (row) => stateOf(row).label,
    cell: (row) => <StateBadge {...stateOf(row)} />,
  },
  {
    key: 'roles',
    title: t('Roles'),
    value: ({ key }) => key.roles.join(', '),
    cell: ({ key }) => key.roles.join(', '),
  },
  timeColumn('expires', t('Expires'), ({ key }) => key.expires_at),
  timeColumn('created', t('Created'), ({ key }) => key.created_at),
  {
    key: 'id',
    title: t('Id'),
    class: flow.wideOnly,
    value: ({ key }) => key.id,
    cell: ({ key }) => <code>{key.id}</code>,
  },
  { key: 'act', title: t('Actions'), value: () => undefined, cell: (row) => <Actions {...row} /> },
];

/** Column with a time, which is shown on wide pages only. */
function timeColumn(key: string, title: string, timeOf: (row: Row) => string | null | undefined): ExchangeColumn<Row> {
  return {
    ...{ key, title, sorts: true, class: flow.wideOnly, value: (row) => timeOf(row) ?? undefined },
    cell: (row) => {
      const time = timeOf(row);
      return time == null ? nothing : wholeText(Date.parse(time));
    },
  };
}

function stateOf({ key, nowMs }: Row): ComponentProps<typeof StateBadge> {
  if (key.revoked_at != null) return { label: t('Revoked'), tone: 'danger' };
  if (key.expires_at != null && Date.parse(key.expires_at) <= nowMs) return { label: t('Expired'), tone: 'warn' };
  return { label: t('Valid'), tone: 'ok' };
}

/** Revokes a valid key; deletes another one. */
function Actions(row: Row) {
  const { id, name, revoked_at: revoked } = row.key;
  const path = `/keys/${encodeURIComponent(id)}`;
  const isRevoked = revoked != null;
  if (!(isRevoked ? can('DELETE', path) : can('UPDATE', `${path}/revoke`))) return null;
  const act = async (): Promise<void> => {
    const question = isRevoked
      ? {
          title: t('Delete the API key {name}?', { name }),
          text: t('It disappears from the list. The audit log still names it.'),
          action: t('Delete API key'),
        }
      : {
          title: t('Revoke the API key {name}?', { name }),
          text: t('Its clients are signed out at once. A revoked key cannot become valid again.'),
          action: t('Revoke API key'),
        };
    if (!(await confirm(question))) return;
    const done = isRevoked ? request('DELETE', path) : request('POST', `${path}/revoke`);
    await done.then(row.onActed, toastError);
  };
  return (
    <Button onClick={() => void act()} aria-label={`${isRevoked ? t('Delete') : t('Revoke')}: ${name}`}>
      {isRevoked ? t('Delete') : t('Revoke')}
    </Button>
  );
}
