import { useState } from 'preact/hooks';
import { type Link, LINK_TOPICS } from '../../model/link.ts';
import { Button } from '../controls/button.tsx';
import { Dialog } from '../controls/dialog.tsx';
import { Disclosure } from '../controls/disclosure.tsx';
import fieldStyles from '../controls/field.module.css';
import { AreaField, Check, Checks, SecondsField, TextField } from '../controls/field.tsx';
import flow from '../controls/flow.module.css';
import { Notice } from '../controls/notice.tsx';
import { toast } from '../controls/toasts.tsx';
import typography from '../controls/typography.module.css';
import { errorAt, RequestError, request } from '../hub/rest.ts';
import { t } from '../languages/language.ts';
import { errorText } from '../problems/sentences.ts';
import { Credentials } from './credentials.tsx';
import { bodyOf, EXAMPLES, formOf, type LinkForm, problemOf } from './link_form.ts';
import { linkPath } from './link_text.ts';

/** Members whose inputs show their errors. */
const SHOWN = [
  ...['name', 'url', 'topics', 'params', 'sources', 'id_prefix', 'min_interval'],
  ...['token', 'oidc.token_url', 'oidc.client_id', 'oidc.client_secret', 'oidc.scope'],
];

interface PartProps {
  readonly form: LinkForm;
  readonly error: unknown;
  /** Whether the link exists and may have a secret. */
  readonly isStored: boolean;
  readonly change: (changed: Partial<LinkForm>) => void;
}

/** Dialog that creates or changes a link. */
export function LinkDialog({
  link,
  onClose,
  onSaved,
}: {
  /** The link to change; undefined for a new one. */
  readonly link: Link | undefined;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}) {
  // The page reads the link again while the dialog is open.
  const [stored] = useState(link);
  const [form, setForm] = useState(() => formOf(link));
  const [error, setError] = useState<unknown>();
  const change = (changed: Partial<LinkForm>): void => {
    setError(undefined);
    setForm({ ...form, ...changed });
  };
  const save = async (): Promise<void> => {
    const problem = problemOf(form);
    if (problem !== undefined) {
      setError(new RequestError(400, problem));
      return;
    }
    const body = bodyOf(form, stored);
    try {
      if (stored === undefined) await request('POST', '/links', { body });
      else await request('PUT', linkPath(stored.id), { body });
      toast(t('{name} is saved', { name: form.name.trim() }));
      onSaved();
      onClose();
    } catch (failure) {
      setError(failure);
    }
  };
  const part = { form, error, isStored: stored !== undefined, change };
  const isAtField = SHOWN.some((field) => errorAt(error, field) !== undefined);
  return (
    <Dialog
      wide
      title={stored === undefined ? t('New link') : t('Change {name}', { name: stored.name })}
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>{t('Cancel')}</Button>
          <Button kind="main" onClick={() => void save()}>
            {t('Save')}
          </Button>
        </>
      }
    >
      <div class={fieldStyles.fields}>
        <TextField
          label={t('Name')}
          error={errorAt(error, 'name')}
          value={form.name}
          onInput={(name) => change({ name })}
        />
        <TextField
          label={t('URL')}
          type="url"
          placeholder={EXAMPLES.url}
          error={errorAt(error, 'url')}
          value={form.url}
          onInput={(url) => change({ url })}
        />
      </div>
      <Checks
        label={t('Topics')}
        error={errorAt(error, 'topics')}
        options={LINK_TOPICS.map((value) => ({ value, label: <code>{value}</code> }))}
        values={form.topics}
        onChange={(topics) => change({ topics })}
      />
      <div>
        <Check
          label={t('Mirror its zones, fences and trackables')}
          checked={form.isMirror}
          onChange={(isMirror) => change({ isMirror })}
        />
        <p class={fieldStyles.help}>{t('They exist here, too, and can only be changed at the other hub.')}</p>
      </div>
      <Credentials {...part} tokenField="token" />
      <More {...part} />
      {error !== undefined && !isAtField && <Notice tone="danger">{errorText(error)}</Notice>}
    </Dialog>
  );
}

function More({ form, error, change }: PartProps) {
  const names = ['params', 'sources', 'id_prefix', 'min_interval'];
  const isSet = form.params !== '' || form.sources !== '' || form.id_prefix !== '' || form.min_interval !== undefined;
  return (
    <Disclosure title={t('More')} isOpen={isSet || names.some((name) => errorAt(error, name) !== undefined)}>
      <div class={flow.stack}>
        <div class={fieldStyles.fields}>
          <TextField
            label={t('Prefix of ids')}
            help={t('Set it if both hubs use the same ids for different objects.')}
            placeholder={EXAMPLES.prefix}
            error={errorAt(error, 'id_prefix')}
            value={form.id_prefix}
            onInput={(id_prefix) => change({ id_prefix })}
          />
          <SecondsField
            label={t('Minimum interval')}
            help={t('Between two locations of an object. The latest one always arrives.')}
            error={errorAt(error, 'min_interval')}
            placeholder="0"
            value={form.min_interval}
            onInput={(min_interval) => change({ min_interval })}
          />
        </div>
        <AreaField
          label={t('Filters')}
          help={t('One per line, such as {example}.', { example: EXAMPLES.params })}
          error={errorAt(error, 'params')}
          mono
          rows={2}
          value={form.params}
          onInput={(params) => change({ params })}
        />
        <AreaField
          label={t('Sources')}
          help={t('Sources or zones of the other hub, and the corresponding ones here: {example}.', {
            example: EXAMPLES.sources,
          })}
          error={errorAt(error, 'sources')}
          mono
          rows={2}
          value={form.sources}
          onInput={(sources) => change({ sources })}
        />
        <p class={typography.faint}>{t('Local positions need the zone here that corresponds to theirs.')}</p>
      </div>
    </Disclosure>
  );
}
