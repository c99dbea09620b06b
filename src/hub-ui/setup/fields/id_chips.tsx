import { useId, useState } from 'preact/hooks';
import { Button } from '../../controls/button.tsx';
import fieldStyles from '../../controls/field.module.css';
import { Field } from '../../controls/field.tsx';
import flow from '../../controls/flow.module.css';
import { Icon, type IconName } from '../../controls/icons.tsx';
import { Link } from '../../controls/link.tsx';
import typography from '../../controls/typography.module.css';
import type { AnyDraft } from '../../drafts/entity_draft.ts';
import { type Entities, type Kind, kindsText, kindText, labelOf } from '../../hub/entity_kinds.ts';
import { editorPath } from '../../hub/page_paths.ts';
import { useEntities } from '../../hub/stores.ts';
import { capitalized, t } from '../../languages/language.ts';
import { memberOf, problemOf } from './draft_fields.tsx';
import styles from './id_chips.module.css';

const OFFERED_MAX = 200;

interface IdChipsProps {
  readonly draft: AnyDraft;
  /** Name of the member, a list of ids. */
  readonly field: string;
  readonly kind: Kind;
  readonly icon: IconName;
  readonly help: string;
}

/** Editor for a list of entity ids. It suggests existing entities and accepts any other id. */
export function IdChips({ draft, field, kind, icon, help }: IdChipsProps) {
  const entities: ReadonlyMap<string, Entities[Kind]> = useEntities(kind);
  const [text, setText] = useState('');
  const listId = useId();
  const ids = memberOf<readonly string[]>(draft, field) ?? [];
  const add = (): void => {
    const id = text.trim();
    if (id === '') return;
    setText('');
    draft.change({ [field]: [...ids, id] });
  };
  const remove = (index: number): void => {
    const left = ids.filter((_, i) => i !== index);
    draft.change({ [field]: left.length === 0 ? undefined : left });
  };
  const offered = [...entities.values()].filter(({ id }) => !ids.includes(id)).slice(0, OFFERED_MAX);
  return (
    <div class={flow.stack}>
      <Field
        label={t(/^[aeiou]/.test(kind) ? 'Add an {kind}' : 'Add a {kind}', { kind: kindText(kind) })}
        help={help}
        error={problemOf(draft, field)}
      >
        {(attributes) => (
          <form
            class={styles.add}
            onSubmit={(event) => {
              event.preventDefault();
              add();
            }}
          >
            <input
              {...attributes}
              class={fieldStyles.input}
              list={listId}
              value={text}
              onInput={(event) => setText(event.currentTarget.value)}
            />
            <datalist id={listId}>
              {offered.map((entity) => (
                <option key={entity.id} value={entity.id}>
                  {labelOf(entity)}
                </option>
              ))}
            </datalist>
            <Button type="submit" disabled={text.trim() === ''}>
              {t('Add')}
            </Button>
          </form>
        )}
      </Field>
      {ids.length > 0 && (
        <ul class={styles.chips} aria-label={capitalized(kindsText(kind))}>
          {ids.map((id, i) => (
            <li key={`${id} ${ids.indexOf(id) === i}`} class={styles.chip}>
              <Icon name={icon} width={14} height={14} />
              {entities.has(id) ? <Link href={editorPath(kind, id)}>{id}</Link> : <span>{id}</span>}
              {!entities.has(id) && <span class={typography.faint}>{t('unknown id')}</span>}
              <button type="button" aria-label={t('Remove {id}', { id })} onClick={() => remove(i)}>
                <Icon name="close" width={12} height={12} />
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
