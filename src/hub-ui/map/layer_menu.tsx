import { useMemo, useState } from 'preact/hooks';
import { Choice, IconButton } from '../controls/button.tsx';
import { Check, SelectField } from '../controls/field.tsx';
import typography from '../controls/typography.module.css';
import { hasHistory } from '../hub/settings.ts';
import { storeOf } from '../hub/stores.ts';
import { setUrlParams } from '../shell/url_state.ts';
import { type ColorBy, propertyNames } from './color_by.ts';
import styles from './layer_menu.module.css';
import { colorByFromUrl, type LayerName, type Names, namesFromUrl } from './map_url.ts';
import popoverStyles from './popover.module.css';
import { usePopover } from './use_popover.ts';

const LABELS: readonly (readonly [string, readonly (readonly [LayerName, string])[]])[] = [
  [
    'Show',
    [
      ['trackables', 'Trackables'],
      ['providers', 'Location providers'],
      ['unassigned', 'Unassigned providers'],
      ['fences', 'Fences'],
      ['zones', 'Zones'],
      ['anchors', 'Anchors'],
      ['plans', 'Floor plans'],
      ['heat', 'Heat map'],
    ],
  ],
  [
    'Details',
    [
      ['tails', 'Tails'],
      ['accuracy', 'Accuracy'],
      ['clusters', 'Clusters where it is crowded'],
    ],
  ],
];

const NAMES: readonly { readonly value: Names; readonly label: string }[] = [
  { value: 'off', label: 'Off' },
  { value: 'auto', label: 'Auto' },
  { value: 'all', label: 'All that fit' },
];

/** What objects can have their colors by, whatever their properties. */
const COLORINGS: readonly { readonly value: ColorBy; readonly label: string }[] = [
  { value: 'state', label: 'State' },
  { value: 'type', label: 'Type' },
  { value: 'provider_type', label: 'Provider type' },
  { value: 'floor', label: 'Floor' },
  { value: 'parent', label: 'What carries it' },
];

/** Time that was spent somewhere is known where it was recorded. */
function isThere([name]: readonly [LayerName, string]): boolean {
  return name !== 'heat' || hasHistory('/analytics/heatmap');
}

/** What is shown on the map, and how. */
export function LayerMenu({
  layers,
  onChange,
}: {
  readonly layers: ReadonlySet<LayerName>;
  readonly onChange: (layers: ReadonlySet<LayerName>) => void;
}) {
  const [isOpen, setOpen] = useState(false);
  const box = usePopover(isOpen, () => setOpen(false));
  const set = (name: LayerName, isOn: boolean): void => {
    const next = new Set(layers);
    if (isOn) next.add(name);
    else next.delete(name);
    onChange(next);
  };
  const setNames = (names: Names): void => {
    set('labels', names !== 'off');
    setUrlParams({ labels: names === 'all' ? 'all' : undefined });
  };
  return (
    <div class={popoverStyles.box} ref={box}>
      <IconButton icon="layers" label="Layers" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)} />
      {isOpen && (
        <div class={`${popoverStyles.popover} ${styles.menu}`}>
          {LABELS.map(([title, rows]) => (
            <fieldset key={title}>
              <legend class={typography.caption}>{title}</legend>
              {rows.filter(isThere).map(([name, label]) => (
                <Check key={name} label={label} checked={layers.has(name)} onChange={(isOn) => set(name, isOn)} />
              ))}
            </fieldset>
          ))}
          <div class={styles.choice}>
            <span aria-hidden="true">Names</span>
            <Choice label="Names" value={namesFromUrl(layers)} options={NAMES} onChange={setNames} />
          </div>
          <ColorSelect />
        </div>
      )}
    </div>
  );
}

function ColorSelect() {
  const by = colorByFromUrl();
  const trackables = storeOf('trackables').items.value;
  const providers = storeOf('providers').items.value;
  const options = useMemo(() => {
    const names = propertyNames([...trackables.values(), ...providers.values()]);
    const properties = names.map((name) => ({ value: `property:${name}` as const, label: `Property “${name}”` }));
    const known = [...COLORINGS, ...properties];
    if (known.some(({ value }) => value === by)) return known;
    return [...known, { value: by, label: `Property “${by.slice('property:'.length)}”` }];
  }, [trackables, providers, by]);
  return (
    <SelectField
      label="Color by"
      value={by}
      options={options}
      onChange={(next) => setUrlParams({ color: next === 'state' ? undefined : next })}
    />
  );
}
