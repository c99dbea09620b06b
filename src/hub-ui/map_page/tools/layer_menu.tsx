import { useMemo, useState } from 'preact/hooks';
import { Button, Choice, IconButton } from '../../controls/button.tsx';
import { downloadBlob } from '../../controls/download.ts';
import { Check, SelectField } from '../../controls/field.tsx';
import type { Option } from '../../controls/select.tsx';
import { toastError } from '../../controls/toasts.tsx';
import typography from '../../controls/typography.module.css';
import { setUrlParams } from '../../controls/url_state.ts';
import { hasHistory } from '../../hub/settings.ts';
import { storeOf } from '../../hub/stores.ts';
import { t } from '../../languages/language.ts';
import { inputText, wholeText } from '../../languages/times.ts';
import { type ColorBy, propertyNames } from '../../map/view/color_by.ts';
import {
  colorByFromUrl,
  fencesByFromUrl,
  type LayerName,
  type NameDisplay,
  namesFromUrl,
  pastFromUrl,
} from '../../map/view/map_url.ts';
import { useMap } from '../../map/view/map_view.tsx';
import { palette } from '../../map/view/palette.ts';
import styles from './layer_menu.module.css';
import popoverStyles from './popover.module.css';
import { usePopover } from './use_popover.ts';

const LABELS: readonly (readonly [string, readonly (readonly [LayerName, string])[]])[] = [
  [
    t('Show'),
    [
      ['trackables', t('Trackables')],
      ['providers', t('Location providers')],
      ['unassigned', t('Unassigned providers')],
      ['fences', t('Fences')],
      ['buildings', t('Buildings')],
      ['zones', t('Zones')],
      ['anchors', t('Anchors')],
      ['plans', t('Floor plans')],
      ['heat', t('Heat map')],
    ],
  ],
  [
    t('Details'),
    [
      ['tails', t('Tails')],
      ['accuracy', t('Accuracy')],
      ['filter', t('Raw and filtered track')],
      ['gates', t('Crossings of gates today')],
      ['clusters', t('Clusters in dense areas')],
    ],
  ],
];

const NAMES: readonly Option<NameDisplay>[] = [
  { value: 'off', label: t('Off') },
  { value: 'auto', label: t('Auto') },
  { value: 'all', label: t('All that fit') },
];

/** Attributes that can set the colors of objects, apart from properties. */
const COLORINGS: readonly Option<ColorBy>[] = [
  { value: 'state', label: t('State') },
  { value: 'type', label: t('Type') },
  { value: 'provider_type', label: t('Provider type') },
  { value: 'floor', label: t('Floor') },
  { value: 'parent', label: t('What carries it') },
];

/** Whether a layer is available: the heat map requires recorded history. */
function isAvailable([name]: readonly [LayerName, string]): boolean {
  return name !== 'heat' || hasHistory('/analytics/heatmap');
}

/** Menu of the map layers and their appearance. */
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
  const setNames = (names: NameDisplay): void => {
    set('labels', names !== 'off');
    setUrlParams({ labels: names === 'all' ? 'all' : undefined });
  };
  return (
    <div class={popoverStyles.box} ref={box}>
      <IconButton icon="layers" label={t('Layers')} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)} />
      {isOpen && (
        <div class={`${popoverStyles.popover} ${styles.menu}`}>
          {LABELS.map(([title, rows]) => (
            <fieldset key={title}>
              <legend class={typography.caption}>{title}</legend>
              {rows.filter(isAvailable).map(([name, label]) => (
                <Check key={name} label={label} checked={layers.has(name)} onChange={(isOn) => set(name, isOn)} />
              ))}
            </fieldset>
          ))}
          <div class={styles.choice}>
            <span aria-hidden="true">{t('Names')}</span>
            <Choice label={t('Names')} value={namesFromUrl(layers)} options={NAMES} onChange={setNames} />
          </div>
          <ColorSelect />
          <FenceColorSelect />
          <SaveImage />
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
    const properties = names.map((name) => ({
      value: `property:${name}` as const,
      label: t('Property “{name}”', { name }),
    }));
    const known = [...COLORINGS, ...properties];
    if (known.some(({ value }) => value === by)) return known;
    return [...known, { value: by, label: t('Property “{name}”', { name: by.slice('property:'.length) }) }];
  }, [trackables, providers, by]);
  return (
    <SelectField
      label={t('Color by')}
      value={by}
      options={options}
      onChange={(next) => setUrlParams({ color: next === 'state' ? undefined : next })}
    />
  );
}

function FenceColorSelect() {
  const by = fencesByFromUrl();
  const fences = storeOf('fences').items.value;
  const names = useMemo(() => propertyNames(fences.values()), [fences]);
  const known = by === undefined || names.includes(by) ? names : [...names, by];
  if (known.length === 0) return null;
  return (
    <SelectField
      label={t('Color fences by')}
      value={by ?? ''}
      options={[
        { value: '', label: t('One color') },
        ...known.map((name) => ({ value: name, label: t('Property “{name}”', { name }) })),
      ]}
      onChange={(next) => setUrlParams({ fences_by: next })}
    />
  );
}

function SaveImage() {
  const { map, ground } = useMap();
  const colors = palette();
  const save = async (): Promise<void> => {
    const atMs = pastFromUrl() ?? Date.now();
    const caption = [wholeText(atMs), ground.tileCredit.peek()].filter((part) => part !== '').join(' · ');
    try {
      const { imageOfMap } = await import('../../map/view/map_image.ts');
      downloadBlob(await imageOfMap(map, { caption }, colors), `map-${inputText(atMs).replaceAll(':', '')}.png`);
    } catch (error) {
      toastError(error);
    }
  };
  return (
    <Button icon="download" onClick={() => void save()}>
      {t('Save as PNG')}
    </Button>
  );
}
