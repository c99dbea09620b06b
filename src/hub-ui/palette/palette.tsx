import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { clockOf } from '../../model/zone_clock.ts';
import fieldStyles from '../controls/field.module.css';
import { Icon, type IconName } from '../controls/icons.tsx';
import { theme } from '../controls/theme.ts';
import typography from '../controls/typography.module.css';
import { can } from '../hub/access.ts';
import { labelOf } from '../hub/entity_kinds.ts';
import { searchEntities } from '../hub/entity_search.ts';
import { floorNames, floorsOf } from '../hub/floors.ts';
import { mapPath } from '../hub/page_paths.ts';
import { settings } from '../hub/settings.ts';
import { useEntities } from '../hub/stores.ts';
import { t } from '../languages/language.ts';
import { timeZone } from '../languages/time_zone.ts';
import { wholeText } from '../languages/times.ts';
import { type Command, matchingCommands } from './commands.ts';
import styles from './palette.module.css';
import { readTime } from './written_time.ts';

const FOUND_MAX = 12;
const ENTITIES_MAX = 8;

const KIND_ICONS: Readonly<Record<string, IconName>> = {
  ...{ zones: 'zone', fences: 'fence', anchors: 'anchor', trackables: 'trackable', providers: 'provider' },
};

export interface PaletteProps {
  /** Pages that the user may open. */
  readonly pages: readonly { readonly path: string; readonly label: string; readonly icon: IconName }[];
  readonly onClose: () => void;
}

/** Dialog that goes to a page, a floor, an entity or a time, or runs an action, by a few typed letters. */
export function Palette({ pages, onClose }: PaletteProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const found = useFound(text, pages);
  // A layout effect, so that the letters after Ctrl+K arrive here.
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    return () => element?.close();
  }, []);
  const run = (command: Command | undefined): void => {
    if (command === undefined) return;
    onClose();
    command.run();
  };
  const keys = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown') setAt(Math.min(found.length - 1, at + 1));
    else if (event.key === 'ArrowUp') setAt(Math.max(0, at - 1));
    else if (event.key === 'Enter') run(found[at]);
    else return;
    event.preventDefault();
  };
  return (
    <dialog
      ref={dialog}
      class={styles.palette}
      aria-label={t('Go to')}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <input
        class={fieldStyles.input}
        type="search"
        role="combobox"
        placeholder={t('Page, floor, object, action or time, such as “yesterday 14:00”')}
        aria-label={t('Go to')}
        aria-expanded
        aria-controls="palette-found"
        aria-activedescendant={found.length > 0 ? `palette-${at}` : undefined}
        autocomplete="off"
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={keys}
      />
      <div class={styles.list} id="palette-found" role="listbox" aria-label={t('Found')}>
        {found.map((command, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/useFocusableInteractive: the input has the focus and the keys
          <div
            key={command.key}
            id={`palette-${index}`}
            role="option"
            class={styles.found}
            aria-selected={index === at}
            onPointerDown={(event) => event.preventDefault()}
            onClick={() => run(command)}
          >
            <Icon name={command.icon} />
            <span class={typography.cut}>{command.label}</span>
            <span class={styles.kind}>{command.kind}</span>
          </div>
        ))}
      </div>
      {found.length === 0 && <p class={styles.none}>{t('No match for “{text}”', { text })}</p>}
    </dialog>
  );
}

function useFound(text: string, pages: PaletteProps['pages']): readonly Command[] {
  const [, go] = useLocation();
  const zones = useEntities('zones');
  const fences = useEntities('fences');
  const anchors = useEntities('anchors');
  const trackables = useEntities('trackables');
  const providers = useEntities('providers');
  return useMemo(() => {
    const names = floorNames(zones.values());
    const floors = floorsOf([...zones.values(), ...fences.values()]).sort((one, other) => one - other);
    const commands: readonly Command[] = [
      ...pages.map(({ path, label, icon }) => ({ key: path, label, icon, kind: t('Page'), run: () => go(path) })),
      ...floors.map((floor): Command => {
        const name = names.get(floor);
        const label = name === undefined ? t('Floor {floor}', { floor }) : `${t('Floor {floor}', { floor })} · ${name}`;
        return { key: `floor ${floor}`, label, icon: 'layers', kind: t('Floor'), run: () => go(`/?floor=${floor}`) };
      }),
      ...actions(go),
    ];
    const entities = searchEntities({ trackables, fences, zones, providers, anchors }, text, ENTITIES_MAX);
    const found = entities.map(({ kind, entity }): Command => {
      const run = (): void => go(mapPath(kind, entity.id));
      const icon = KIND_ICONS[kind] ?? 'list';
      return { key: `${kind} ${entity.id}`, label: labelOf(entity), icon, kind: t('On the map'), run };
    });
    return [...times(text, go), ...matchingCommands(commands, text), ...found].slice(0, FOUND_MAX);
  }, [text, pages, zones, fences, anchors, trackables, providers]);
}

/** The time that the text describes, as a target in the history. */
function times(text: string, go: (path: string) => void): readonly Command[] {
  if (!settings.value.history) return [];
  const atMs = readTime(text, Date.now(), clockOf(timeZone));
  if (atMs === undefined) return [];
  const run = (): void => go(`/?t=${new Date(atMs).toISOString()}`);
  return [{ key: 'time', label: wholeText(atMs), icon: 'clock', kind: t('History'), run }];
}

/** Actions that the user may perform. */
function actions(go: (path: string) => void): readonly Command[] {
  const kind = t('Action');
  const create = (path: string, label: string, icon: IconName): readonly Command[] => {
    return can('CREATE', path) ? [{ key: `new ${path}`, label, icon, kind, run: () => go(`${path}/new`) }] : [];
  };
  const newRule: Command = {
    ...{ key: 'new rule', label: t('New alert rule'), icon: 'bell', kind },
    run: () => go('/alerts/rules?rule=new'),
  };
  return [
    ...create('/zones', t('New zone'), 'zone'),
    ...create('/fences', t('New fence'), 'fence'),
    ...create('/trackables', t('New trackable'), 'trackable'),
    ...(can('CREATE', '/alerts/rules') ? [newRule] : []),
    { key: 'wall', label: t('Wall view'), icon: 'frame', kind, run: () => go('/?wall=1') },
    ...(['light', 'dark', 'system'] as const).map((value): Command => {
      const label = { light: t('Light theme'), dark: t('Dark theme'), system: t('Theme of the system') }[value];
      const run = (): void => {
        theme.value = value;
      };
      return { key: `theme ${value}`, label, icon: value === 'dark' ? 'moon' : 'sun', kind, run };
    }),
  ];
}
