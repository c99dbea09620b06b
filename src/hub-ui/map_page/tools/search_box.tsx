import { useLayoutEffect, useMemo, useState } from 'preact/hooks';
import fieldStyles from '../../controls/field.module.css';
import { Icon, type IconName } from '../../controls/icons.tsx';
import typography from '../../controls/typography.module.css';
import { labelOf } from '../../hub/entity_kinds.ts';
import { searchEntities } from '../../hub/entity_search.ts';
import { useEntities } from '../../hub/stores.ts';
import { t } from '../../languages/language.ts';
import type { MapSelection } from '../../map/view/map_url.ts';
import popoverStyles from './popover.module.css';
import styles from './search_box.module.css';

const ICONS: Readonly<Record<string, IconName>> = {
  zones: 'zone',
  fences: 'fence',
  anchors: 'anchor',
  trackables: 'trackable',
  providers: 'provider',
};

/** Search field for entities by id, name or properties, with results while typing. The slash key focuses it. */
export function SearchBox({ onFound }: { readonly onFound: (selection: MapSelection) => void }) {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const [isOpen, setOpen] = useState(false);
  useSlash('map-search');
  const found = useFound(text);
  const take = (selection: MapSelection | undefined): void => {
    if (selection === undefined) return;
    setOpen(false);
    onFound(selection);
  };
  const keys = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown') setAt(Math.min(found.length - 1, at + 1));
    else if (event.key === 'ArrowUp') setAt(Math.max(0, at - 1));
    else if (event.key === 'Enter') take(found[at]);
    else if (event.key === 'Escape') setOpen(false);
    else return;
    event.preventDefault();
  };
  const isShown = isOpen && text.trim() !== '';
  return (
    <div class={styles.search}>
      <Icon name="search" />
      <input
        id="map-search"
        class={fieldStyles.input}
        type="search"
        role="combobox"
        placeholder={t('Search name, id, properties')}
        aria-label={t('Search the site')}
        aria-expanded={isShown}
        aria-controls="map-found"
        aria-activedescendant={isShown && found.length > 0 ? `map-found-${at}` : undefined}
        autocomplete="off"
        value={text}
        onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
          setOpen(true);
        }}
        onKeyDown={keys}
      />
      {isShown && (
        <div class={`${popoverStyles.popover} ${styles.list}`} id="map-found" role="listbox" aria-label={t('Found')}>
          {found.map(({ kind, id, label }, index) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/useFocusableInteractive: the input has the focus and the keys
            <div
              key={`${kind} ${id}`}
              id={`map-found-${index}`}
              role="option"
              class={styles.found}
              aria-selected={index === at}
              onPointerDown={(event) => event.preventDefault()}
              onClick={() => take({ kind, id })}
            >
              <Icon name={ICONS[kind] ?? 'list'} />
              <span class={`${typography.cut} ${styles.label}`}>{label}</span>
              <span class={typography.faint}>{kind.slice(0, -1)}</span>
            </div>
          ))}
          {found.length === 0 && (
            <p class={`${styles.found} ${typography.faint}`}>{t('No match for “{text}”', { text })}</p>
          )}
        </div>
      )}
    </div>
  );
}

function useFound(text: string): readonly (MapSelection & { readonly label: string })[] {
  const zones = useEntities('zones');
  const fences = useEntities('fences');
  const anchors = useEntities('anchors');
  const trackables = useEntities('trackables');
  const providers = useEntities('providers');
  return useMemo(() => {
    const all = { trackables, fences, zones, providers, anchors };
    return searchEntities(all, text, 12).map(({ kind, entity }) => ({ kind, id: entity.id, label: labelOf(entity) }));
  }, [text, zones, fences, trackables, providers, anchors]);
}

function useSlash(id: string): void {
  // Runs before the first paint, because the user may press the key at once.
  useLayoutEffect(() => {
    const focus = (event: KeyboardEvent): void => {
      const isTyping = (event.target as HTMLElement).closest('input, textarea, select, dialog') !== null;
      if (event.key !== '/' || isTyping) return;
      event.preventDefault();
      document.getElementById(id)?.focus();
    };
    addEventListener('keydown', focus);
    return () => removeEventListener('keydown', focus);
  }, [id]);
}
