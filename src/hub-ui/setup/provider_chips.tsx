import { useId, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { labelOf } from '../hub/kinds.ts';
import { errorAt } from '../hub/rest.ts';
import { useEntities } from '../hub/stores.ts';
import { Button } from '../parts/button.tsx';
import { Field } from '../parts/field.tsx';
import { Icon } from '../parts/icons.tsx';
import type { EntityDraft } from './draft.ts';
import { editorPath } from './use_editor.ts';

const OFFERED_MAX = 200;

/** The providers of a trackable: those that the hub knows are offered, others may be written. */
export function ProviderChips({ draft }: { readonly draft: EntityDraft<'trackables'> }) {
  const known = useEntities('providers');
  const [text, setText] = useState('');
  const listId = useId();
  const ids = draft.value.value.location_providers ?? [];
  const add = (): void => {
    const id = text.trim();
    if (id === '') return;
    setText('');
    draft.change({ location_providers: [...ids, id] });
  };
  const remove = (index: number): void => {
    const left = ids.filter((_, i) => i !== index);
    draft.change({ location_providers: left.length === 0 ? undefined : left });
  };
  const offered = [...known.values()].filter(({ id }) => !ids.includes(id)).slice(0, OFFERED_MAX);
  return (
    <div class="stack">
      <Field
        label="Add a provider"
        help="The id that a tag, phone or reader reports. Unknown ones wait for their first position."
        error={errorAt(draft.error.value, 'location_providers')}
      >
        {(attributes) => (
          <form
            class="duration"
            onSubmit={(event) => {
              event.preventDefault();
              add();
            }}
          >
            <input
              {...attributes}
              class="input"
              list={listId}
              value={text}
              onInput={(event) => setText(event.currentTarget.value)}
            />
            <datalist id={listId}>
              {offered.map((provider) => (
                <option key={provider.id} value={provider.id}>
                  {labelOf(provider)}
                </option>
              ))}
            </datalist>
            <Button type="submit" disabled={text.trim() === ''}>
              Add
            </Button>
          </form>
        )}
      </Field>
      {ids.length > 0 && (
        <ul class="setup-chips" aria-label="Providers">
          {ids.map((id, i) => (
            <li key={`${id} ${ids.indexOf(id) === i}`} class="setup-chip">
              <Icon name="provider" width={14} height={14} />
              {known.has(id) ? <Link href={editorPath('providers', id)}>{id}</Link> : <span>{id}</span>}
              {!known.has(id) && <span class="faint">not heard of</span>}
              <button type="button" aria-label={`Remove ${id}`} onClick={() => remove(i)}>
                <Icon name="close" width={12} height={12} />
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
