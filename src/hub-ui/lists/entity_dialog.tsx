import { useState } from 'preact/hooks';
import { Button, Choice } from '../controls/button.tsx';
import { copyText } from '../controls/clipboard.ts';
import { Dialog } from '../controls/dialog.tsx';
import { AreaField } from '../controls/field.tsx';
import flow from '../controls/flow.module.css';
import { Notice } from '../controls/notice.tsx';
import type { Option } from '../controls/select.tsx';
import { toast } from '../controls/toasts.tsx';
import {
  type Resolutions,
  isUndecided,
  keyOf,
  type RemoteChange,
  type DraftMembers,
  memberChanges,
  merged,
  type ConflictSide,
  withMember,
} from '../drafts/member_changes.ts';
import { useLoaded } from '../controls/use_loaded.ts';
import { can } from '../hub/access.ts';
import { type Entities, type Kind, labelOf } from '../hub/entity_kinds.ts';
import { entityPath, replaceEntity } from '../hub/rest.ts';
import { readWritable } from '../hub/writable_entities.ts';
import jsonStyles from '../json/json.module.css';
import { Json, jsonText } from '../json/json.tsx';
import { t } from '../languages/language.ts';
import { errorText } from '../problems/sentences.ts';
import { WhoseValue } from '../setup/editor/editor_notices.tsx';
import { readAgain } from '../setup/editor/use_editor.ts';
import { type CurlVerb, curlOf } from './curl.ts';

type View = 'json' | 'curl';

const VIEWS: readonly Option<View>[] = [
  { value: 'json', label: 'JSON' },
  { value: 'curl', label: 'curl' },
];
const VERBS: readonly Option<CurlVerb>[] = [
  { value: 'GET', label: t('Read') },
  { value: 'PUT', label: t('Replace') },
  { value: 'DELETE', label: t('Delete') },
];

/** Dialog with the JSON of an entity: view, copy, edit. */
export function EntityDialog<K extends Kind>({
  kind,
  entity,
  onClose,
}: {
  readonly kind: K;
  readonly entity: Entities[K];
  readonly onClose: () => void;
}) {
  const [view, setView] = useState<View>('json');
  const [verb, setVerb] = useState<CurlVerb>('GET');
  const [draft, setDraft] = useState<string>();
  const writable = useWritable(kind, entity);
  const text = view === 'json' ? jsonText(writable) : curlOf(verb, kind, writable);
  if (draft !== undefined) {
    const hub: JsonSource<Entities[K]> = {
      first: JSON.parse(draft) as Entities[K],
      read: () => readAgain(kind, writable).then((found) => readWritable(kind, found)),
      save: (next) => replaceEntity(kind, { ...next, id: entity.id }),
    };
    const title = t('Edit {name}', { name: labelOf(entity) });
    return <JsonEditor title={title} hub={hub} onClose={onClose} onCancel={() => setDraft(undefined)} />;
  }
  return (
    <Dialog
      wide
      title={labelOf(entity)}
      onClose={onClose}
      foot={
        <>
          {can('UPDATE', entityPath(kind, entity.id)) && (
            <Button icon="edit" onClick={() => setDraft(jsonText(writable))}>
              {t('Edit as JSON')}
            </Button>
          )}
          <Button kind="main" icon="copy" onClick={() => void copyText(text, view === 'json' ? 'JSON' : t('Command'))}>
            {view === 'json' ? t('Copy JSON') : t('Copy as curl')}
          </Button>
        </>
      }
    >
      <div class={flow.row}>
        <Choice label={t('Show as')} value={view} options={VIEWS} onChange={setView} />
        {view === 'curl' && <Choice label={t('Action')} value={verb} options={VERBS} onChange={setVerb} />}
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region needs keyboard focus */}
      <pre class={jsonStyles.box} tabIndex={0}>
        {view === 'json' ? <Json text={text} /> : text}
      </pre>
    </Dialog>
  );
}

/** Source and destination of a JSON document. */
interface JsonSource<E extends object> {
  /** Version on the hub when the edit began. */
  readonly first: E;
  /** Reads the current version. */
  read(): Promise<E>;
  save(entity: E): Promise<void>;
}

function JsonEditor<E extends object>({
  title,
  hub,
  onClose,
  onCancel,
}: {
  readonly title: string;
  readonly hub: JsonSource<E>;
  readonly onClose: () => void;
  readonly onCancel: () => void;
}) {
  // A state, since a change of the entity must not change the text under edit.
  const [first] = useState(hub.first as DraftMembers);
  const [draft, setDraft] = useState(() => jsonText(first));
  const [problem, setProblem] = useState<string>();
  const [theirs, setTheirs] = useState<DraftMembers>();
  const [answers, setAnswers] = useState<Resolutions>(new Map());
  const mine = readMembers(draft);
  const both =
    theirs === undefined || mine === undefined
      ? []
      : memberChanges({ first, mine, theirs }, answers).filter(({ isMine }) => isMine);
  const choose = (change: RemoteChange, whose: ConflictSide): void => {
    if (mine === undefined) return;
    setAnswers(new Map(answers).set(keyOf(change.path), change));
    setDraft(jsonText(withMember(mine, change.path, change[whose])));
  };
  const save = async (): Promise<void> => {
    try {
      const three = { first, mine: JSON.parse(draft) as DraftMembers, theirs: (await hub.read()) as DraftMembers };
      const changes = memberChanges(three, answers);
      setTheirs(three.theirs);
      if (changes.some(isUndecided)) return;
      await hub.save(merged(three, changes) as E);
      toast(t('Saved'));
      onClose();
    } catch (error) {
      setProblem(errorText(error));
    }
  };
  return (
    <Dialog
      wide
      title={title}
      onClose={onClose}
      foot={
        <>
          <Button onClick={onCancel}>{t('Cancel')}</Button>
          <Button kind="main" onClick={() => void save()}>
            {t('Save')}
          </Button>
        </>
      }
    >
      {both.length > 0 && (
        <div role="status">
          <Notice tone="warn">
            <p>{t('Another user has changed this in the meantime. Choose which values to keep, then save again.')}</p>
            {both.map((change) => (
              <WhoseValue key={keyOf(change.path)} change={change} onChoose={(whose) => choose(change, whose)} />
            ))}
          </Notice>
        </div>
      )}
      <AreaField label="JSON" mono rows={18} value={draft} onInput={setDraft} error={problem} />
    </Dialog>
  );
}

/** Parses the editor's text; undefined while it is not a JSON object. */
function readMembers(text: string): DraftMembers | undefined {
  try {
    return JSON.parse(text) as DraftMembers;
  } catch {
    return undefined;
  }
}

/** Returns an entity in its writable form, or as displayed until that has loaded. */
function useWritable<K extends Kind>(kind: K, entity: Entities[K]): Entities[K] {
  const found = useLoaded(async () => ({ entity, writable: await readWritable(kind, entity) }), [kind, entity]);
  return found?.entity === entity ? found.writable : entity;
}
