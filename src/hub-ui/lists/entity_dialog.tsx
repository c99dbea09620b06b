import { useEffect, useState } from 'preact/hooks';
import { Button, Choice } from '../controls/button.tsx';
import { copyText } from '../controls/clipboard.ts';
import { Dialog } from '../controls/dialog.tsx';
import { AreaField } from '../controls/field.tsx';
import flow from '../controls/flow.module.css';
import { toast } from '../controls/toasts.tsx';
import { can } from '../hub/access.ts';
import { type Entities, type Kind, labelOf } from '../hub/kinds.ts';
import { entityPath, replaceEntity } from '../hub/rest.ts';
import jsonStyles from '../json/json.module.css';
import { Json, jsonText } from '../json/json.tsx';
import { errorText } from '../problems/sentences.ts';
import { type CurlVerb, curlOf } from './curl.ts';
import { readKept } from './exportable.ts';

type View = 'json' | 'curl';

const VIEWS: readonly { value: View; label: string }[] = [
  { value: 'json', label: 'JSON' },
  { value: 'curl', label: 'curl' },
];
const VERBS: readonly { value: CurlVerb; label: string }[] = [
  { value: 'GET', label: 'Read' },
  { value: 'PUT', label: 'Replace' },
  { value: 'DELETE', label: 'Delete' },
];

/** An entity as the API has it: to read, to copy, and to change. */
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
  const kept = useKept(kind, entity);
  const text = view === 'json' ? jsonText(kept) : curlOf(verb, kind, kept);
  if (draft !== undefined) {
    const save = (next: Entities[K]): Promise<void> => replaceEntity(kind, { ...next, id: entity.id });
    const title = `Edit ${labelOf(entity)}`;
    return (
      <JsonEditor title={title} text={draft} onSave={save} onClose={onClose} onCancel={() => setDraft(undefined)} />
    );
  }
  return (
    <Dialog
      wide
      title={labelOf(entity)}
      onClose={onClose}
      foot={
        <>
          {can('UPDATE', entityPath(kind, entity.id)) && (
            <Button icon="edit" onClick={() => setDraft(jsonText(kept))}>
              Edit as JSON
            </Button>
          )}
          <Button kind="main" icon="copy" onClick={() => void copyText(text, view === 'json' ? 'JSON' : 'Command')}>
            {view === 'json' ? 'Copy JSON' : 'Copy as curl'}
          </Button>
        </>
      }
    >
      <div class={flow.stack}>
        <div class={flow.row}>
          <Choice label="Show as" value={view} options={VIEWS} onChange={setView} />
          {view === 'curl' && <Choice label="What the command does" value={verb} options={VERBS} onChange={setVerb} />}
        </div>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable */}
        <pre class={jsonStyles.box} tabIndex={0}>
          {view === 'json' ? <Json text={text} /> : text}
        </pre>
      </div>
    </Dialog>
  );
}

function JsonEditor<E>({
  title,
  text,
  onSave,
  onClose,
  onCancel,
}: {
  readonly title: string;
  readonly text: string;
  readonly onSave: (entity: E) => Promise<void>;
  readonly onClose: () => void;
  readonly onCancel: () => void;
}) {
  const [draft, setDraft] = useState(text);
  const [problem, setProblem] = useState<string>();
  const save = async (): Promise<void> => {
    try {
      await onSave(JSON.parse(draft) as E);
      toast('Saved');
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
          <Button onClick={onCancel}>Cancel</Button>
          <Button kind="main" onClick={() => void save()}>
            Save
          </Button>
        </>
      }
    >
      <AreaField label="JSON" mono rows={18} value={draft} onInput={setDraft} error={problem} />
    </Dialog>
  );
}

/** The entity as it can be sent back; as it is shown until that is known. */
function useKept<K extends Kind>(kind: K, entity: Entities[K]): Entities[K] {
  const [kept, setKept] = useState<Entities[K]>();
  useEffect(() => {
    let isOver = false;
    setKept(undefined);
    readKept(kind, entity).then(
      (found) => {
        if (!isOver) setKept(found);
      },
      () => undefined,
    );
    return () => {
      isOver = true;
    };
  }, [kind, entity]);
  return kept ?? entity;
}
