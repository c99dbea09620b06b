import { useState } from 'preact/hooks';
import type { LocatingRule } from '../../model/rule.ts';
import { Button } from '../controls/button.tsx';
import { Dialog } from '../controls/dialog.tsx';
import { Check } from '../controls/field.tsx';
import flow from '../controls/flow.module.css';
import { toast, toastError } from '../controls/toasts.tsx';
import typography from '../controls/typography.module.css';
import { KINDS, type Kind } from '../hub/kinds.ts';
import { get } from '../hub/rest.ts';
import { storeOf } from '../hub/stores.ts';
import { documentText } from './entity_document.ts';
import { listKept } from './exportable.ts';
import kindStyles from './kind.module.css';
import { Progress } from './progress.tsx';

/** Everything in one file, or the kinds that are chosen. */
export function ExportDialog({ onClose }: { readonly onClose: () => void }) {
  const [kinds, setKinds] = useState<ReadonlySet<Kind>>(new Set(KINDS));
  const [withRules, setWithRules] = useState(true);
  const [done, setDone] = useState<number>();
  const total = kinds.size + Number(withRules);
  const toggle = (kind: Kind, isOn: boolean): void => {
    const next = new Set(kinds);
    if (isOn) next.add(kind);
    else next.delete(kind);
    setKinds(next);
  };
  const write = async (): Promise<void> => {
    setDone(0);
    try {
      const lists = new Map();
      for (const kind of kinds) {
        lists.set(kind, await listKept(kind));
        setDone(lists.size);
      }
      const rules = withRules ? await get<readonly LocatingRule[]>('/trackables/rules/locating') : undefined;
      const now = new Date().toISOString();
      const name = `location-hub-${now.slice(0, 19).replaceAll(':', '')}.json`;
      download(documentText({ lists, rules }, now), name);
      toast(`Exported to ${name}`);
      onClose();
    } catch (error) {
      toastError(error);
      setDone(undefined);
    }
  };
  return (
    <Dialog
      title="Export to a file"
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="main" icon="download" disabled={total === 0 || done !== undefined} onClick={() => void write()}>
            Export
          </Button>
        </>
      }
    >
      <div class={flow.stack}>
        <p class={typography.soft}>The file can be imported here or into another hub, also by the command line.</p>
        <div>
          {KINDS.map((kind) => (
            <Check
              key={kind}
              label={
                <>
                  <span class={kindStyles.kind}>{kind}</span>{' '}
                  <span class={typography.faint}>{storeOf(kind).items.value.size}</span>
                </>
              }
              checked={kinds.has(kind)}
              onChange={(isOn) => toggle(kind, isOn)}
            />
          ))}
          <Check label="Locating rules of the hub" checked={withRules} onChange={setWithRules} />
        </div>
        {done !== undefined && <Progress label="Exporting" done={done} total={total} />}
      </div>
    </Dialog>
  );
}

function download(text: string, name: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
