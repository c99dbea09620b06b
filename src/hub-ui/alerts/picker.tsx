import { useState } from 'preact/hooks';
import { Check } from '../controls/field.tsx';
import { SearchInput } from '../controls/search_input.tsx';
import typography from '../controls/typography.module.css';
import { labelOf } from '../hub/entity_kinds.ts';
import { useEntities } from '../hub/stores.ts';
import { t } from '../languages/language.ts';
import styles from './picker.module.css';

const SEARCHES = {
  fences: t('Search fences'),
  trackables: t('Search trackables'),
  providers: t('Search providers'),
} as const;

/** Maximum number of listed entities; others are found by search. */
const OFFERED_MAX = 100;

/** Multiple selection of fences, trackables or providers; selected ones come first. */
export function Picker({
  kind,
  label,
  ids,
  onChange,
}: {
  readonly kind: keyof typeof SEARCHES;
  readonly label: string;
  readonly ids: readonly string[];
  readonly onChange: (ids: readonly string[]) => void;
}) {
  const known = useEntities(kind);
  const [text, setText] = useState('');
  const words = text.trim().toLowerCase();
  const named = [...known.values()]
    .map((entity) => ({ id: entity.id, name: labelOf(entity) }))
    .sort((one, other) => one.name.localeCompare(other.name));
  const chosen = ids.map((id) => named.find((each) => each.id === id) ?? { id, name: id });
  const others = named.filter(({ id, name }) => !ids.includes(id) && `${name} ${id}`.toLowerCase().includes(words));
  return (
    <fieldset class={styles.picker}>
      <legend>{label}</legend>
      <SearchInput label={SEARCHES[kind]} hint={t('Search names and ids')} text={text} onInput={setText} />
      <div class={styles.list}>
        {chosen.map(({ id, name }) => (
          <Check key={id} label={name} checked onChange={() => onChange(ids.filter((each) => each !== id))} />
        ))}
        {others.slice(0, OFFERED_MAX).map(({ id, name }) => (
          <Check key={id} label={name} checked={false} onChange={() => onChange([...ids, id])} />
        ))}
        {others.length > OFFERED_MAX && <p class={typography.faint}>{t('Search to find more')}</p>}
        {chosen.length + others.length === 0 && <p class={typography.faint}>{t('There is none')}</p>}
      </div>
    </fieldset>
  );
}
