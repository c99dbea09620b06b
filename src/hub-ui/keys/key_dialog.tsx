import { useState } from 'preact/hooks';
import type { ApiKey } from '../../model/api_key.ts';
import { Button } from '../controls/button.tsx';
import { copyText } from '../controls/clipboard.ts';
import { Dialog } from '../controls/dialog.tsx';
import { TextField } from '../controls/field.tsx';
import { Notice } from '../controls/notice.tsx';
import { errorAt, request } from '../hub/rest.ts';
import { t } from '../languages/language.ts';
import { inputTime } from '../languages/times.ts';
import { errorText } from '../problems/sentences.ts';

/** Dialog that creates an API key, and then displays it once. */
export function KeyDialog({ onClose, onCreated }: { readonly onClose: () => void; readonly onCreated: () => void }) {
  const [created, setCreated] = useState<ApiKey>();
  const show = (key: ApiKey): void => {
    setCreated(key);
    onCreated();
  };
  return created === undefined ? (
    <NewKey onClose={onClose} onCreated={show} />
  ) : (
    <CreatedKey created={created} onClose={onClose} />
  );
}

function NewKey({ onClose, onCreated }: { readonly onClose: () => void; readonly onCreated: (key: ApiKey) => void }) {
  const [name, setName] = useState('');
  const [roles, setRoles] = useState('');
  const [expires, setExpires] = useState('');
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const create = async (): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      const expiresMs = inputTime(expires);
      const body = {
        name,
        roles: roles.split(',').flatMap((role) => role.trim() || []),
        ...(Number.isFinite(expiresMs) && { expires_at: new Date(expiresMs).toISOString() }),
      };
      onCreated(await request<ApiKey>('POST', '/keys', { body }));
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={t('New API key')}
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>{t('Cancel')}</Button>
          <Button
            kind="main"
            disabled={isBusy || name.trim() === '' || roles.trim() === ''}
            onClick={() => void create()}
          >
            {t('Create API key')}
          </Button>
        </>
      }
    >
      <TextField
        label={t('Name')}
        help={t('Such as the program or the screen that uses the key.')}
        value={name}
        onInput={setName}
        error={errorAt(error, 'name')}
      />
      <TextField
        label={t('Roles')}
        help={t('Names of roles in permissions.yaml, separated by commas.')}
        value={roles}
        onInput={setRoles}
        error={errorAt(error, 'roles')}
      />
      <TextField
        label={t('Expires')}
        help={t('Without a time, the key is valid until it is revoked.')}
        type="datetime-local"
        value={expires}
        onInput={setExpires}
        error={errorAt(error, 'expires_at')}
      />
      {error !== undefined && <Notice tone="danger">{errorText(error)}</Notice>}
    </Dialog>
  );
}

function CreatedKey({ created, onClose }: { readonly created: ApiKey; readonly onClose: () => void }) {
  const { name, key = '' } = created;
  return (
    <Dialog
      title={t('API key {id}', { id: name })}
      onClose={onClose}
      foot={
        <>
          <Button icon="copy" onClick={() => void copyText(key, t('API key'))}>
            {t('Copy')}
          </Button>
          <Button kind="main" onClick={onClose}>
            {t('Close')}
          </Button>
        </>
      }
    >
      <Notice tone="warn">{t('Copy the key now. The hub stores only a hash of it and cannot show it again.')}</Notice>
      <TextField label={t('API key')} value={key} onInput={() => undefined} readOnly />
    </Dialog>
  );
}
