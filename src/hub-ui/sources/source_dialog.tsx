import { useState } from 'preact/hooks';
import type { Source, SourcePreset } from '../../model/source.ts';
import { Button } from '../controls/button.tsx';
import { copyText } from '../controls/clipboard.ts';
import { confirm, Dialog } from '../controls/dialog.tsx';
import { AreaField, SelectField, TextField } from '../controls/field.tsx';
import { Notice } from '../controls/notice.tsx';
import { toast } from '../controls/toasts.tsx';
import { useLoaded } from '../controls/use_loaded.ts';
import { can } from '../hub/access.ts';
import { get, request } from '../hub/rest.ts';
import { t } from '../languages/language.ts';
import { errorText } from '../problems/sentences.ts';
import { SourcePreviewSection } from './source_preview.tsx';

/** A new source, which posts JSON. */
const FIRST = {
  kind: 'http',
  format: 'json',
  map: {
    items: '/tags/*',
    provider_id: '/id',
    provider_type: { value: 'uwb' },
    x: '/x',
    y: '/y',
    source: { value: 'hall-1' },
    timestamp_generated: { path: '/time', unit: 'ms' },
  },
};
const SAMPLE = '{"tags":[{"id":"7","x":12.5,"y":7.85,"time":1795169047120}]}';

/** Dialog that creates or changes a source. It previews what the source makes of a sample. */
export function SourceDialog({
  source,
  onClose,
  onSaved,
}: {
  /** The source to change; undefined for a new one. */
  readonly source: Source | undefined;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}) {
  const presets = useLoaded(() => get<readonly SourcePreset[]>('/sources/presets'), []);
  const [name, setName] = useState(source?.name ?? '');
  const [preset, setPreset] = useState('');
  const [json, setJson] = useState(() => jsonOf(source ?? FIRST));
  const [sample, setSample] = useState(source === undefined ? SAMPLE : '');
  const [topic, setTopic] = useState('');
  const [error, setError] = useState<unknown>();
  const [token, setToken] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const parsed = parse(json);
  const path = `/sources/${encodeURIComponent(source?.id ?? '')}`;
  const choose = (id: string): void => {
    const chosen = presets?.find((each) => each.id === id);
    setPreset(id);
    if (chosen === undefined) return;
    setJson(jsonOf(chosen.source as object));
    setSample(chosen.sample);
    setTopic(chosen.topic ?? '');
    if (name === '') setName(chosen.name);
  };
  const act = async (work: () => Promise<string | undefined>): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      const given = await work();
      onSaved();
      if (given === undefined) onClose();
      else setToken(given);
    } catch (problem) {
      setError(problem);
    }
    setBusy(false);
  };
  const save = async (): Promise<string | undefined> => {
    const body = { ...parsed, name };
    const saved =
      source === undefined
        ? await request<Source>('POST', '/sources', { body })
        : await request<Source>('PUT', path, { body });
    toast(t('{name} is saved', { name: saved.name }));
    return saved.token;
  };
  const rotate = async (): Promise<string> => (await request<{ token: string }>('POST', `${path}/token`)).token;
  const remove = async (): Promise<undefined> => {
    await request('DELETE', path);
    toast(t('{name} is deleted', { name }));
  };
  const askToRemove = async (): Promise<void> => {
    const question = {
      title: t('Delete the source {name}?', { name }),
      text: t('The hub accepts no more payloads of it. Its objects remain.'),
      action: t('Delete source'),
    };
    if (await confirm(question)) await act(remove);
  };
  return (
    <Dialog
      wide
      title={source === undefined ? t('New source') : t('Change {name}', { name: source.name })}
      onClose={onClose}
      foot={
        token !== undefined ? (
          <Button kind="main" onClick={onClose}>
            {t('Close')}
          </Button>
        ) : (
          <>
            {source !== undefined && can('DELETE', path) && (
              <Button kind="quiet" icon="trash" disabled={isBusy} onClick={() => void askToRemove()}>
                {t('Delete')}
              </Button>
            )}
            {source?.kind === 'http' && can('UPDATE', `${path}/token`) && (
              <Button disabled={isBusy} onClick={() => void act(rotate)}>
                {t('New token')}
              </Button>
            )}
            <Button onClick={onClose}>{t('Cancel')}</Button>
            <Button kind="main" disabled={isBusy || parsed === undefined || name === ''} onClick={() => void act(save)}>
              {t('Save')}
            </Button>
          </>
        )
      }
    >
      {token !== undefined && (
        <Notice>
          <p>{t('This token is shown only once. The system sends it with each payload.')}</p>
          <p>
            <code>{token}</code>
          </p>
          <Button onClick={() => void copyText(token, t('The token'))}>{t('Copy token')}</Button>
        </Notice>
      )}
      {error !== undefined && (
        <div role="alert">
          <Notice tone="danger">{errorText(error)}</Notice>
        </div>
      )}
      {source === undefined && (
        <SelectField
          label={t('System')}
          help={presets?.find(({ id }) => id === preset)?.note}
          value={preset}
          options={[
            { value: '', label: t('Other system') },
            ...(presets ?? []).map((each) => ({ value: each.id, label: each.name })),
          ]}
          onChange={choose}
        />
      )}
      <TextField label={t('Name')} value={name} onInput={setName} maxLength={200} />
      <AreaField
        label={t('Source as JSON')}
        error={parsed === undefined ? t('This is not a JSON object.') : undefined}
        value={json}
        onInput={setJson}
        mono
        rows={14}
      />
      <AreaField label={t('Sample payload')} value={sample} onInput={setSample} mono rows={5} />
      <TextField label={t('Topic of the sample')} value={topic} onInput={setTopic} maxLength={1000} />
      <SourcePreviewSection source={parsed} payload={sample} topic={topic} />
    </Dialog>
  );
}

/** The members of a source that are edited as JSON. */
function jsonOf(source: object): string {
  const { id: _id, name: _name, ...members } = source as Partial<Source>;
  return JSON.stringify(members, undefined, 2);
}

function parse(json: string): object | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
