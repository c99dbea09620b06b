import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { IconButton } from '../controls/button.tsx';
import { Check } from '../controls/field.tsx';
import typography from '../controls/typography.module.css';
import { hasHistory } from '../hub/settings.ts';
import type { LayerName } from './map_url.ts';
import popoverStyles from './popover.module.css';

const LABELS: readonly (readonly [string, readonly (readonly [LayerName, string])[]])[] = [
  [
    'Show',
    [
      ['trackables', 'Trackables'],
      ['providers', 'Location providers'],
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
      ['labels', 'Names'],
      ['tails', 'Tails'],
      ['accuracy', 'Accuracy'],
      ['clusters', 'Clusters where it is crowded'],
    ],
  ],
];

/** Time that was spent somewhere is known where it was recorded. */
function isThere([name]: readonly [LayerName, string]): boolean {
  return name !== 'heat' || hasHistory('/analytics/heatmap');
}

/** What is shown on the map. */
export function LayerMenu({
  layers,
  onChange,
}: {
  readonly layers: ReadonlySet<LayerName>;
  readonly onChange: (layers: ReadonlySet<LayerName>) => void;
}) {
  const [isOpen, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  // Before the menu is seen: whoever sees it may leave it at once.
  useLayoutEffect(() => {
    if (!isOpen) return;
    const close = (event: Event): void => {
      if (event instanceof KeyboardEvent ? event.key === 'Escape' : !box.current?.contains(event.target as Node)) {
        setOpen(false);
      }
    };
    addEventListener('pointerdown', close);
    addEventListener('keydown', close);
    return () => {
      removeEventListener('pointerdown', close);
      removeEventListener('keydown', close);
    };
  }, [isOpen]);
  const set = (name: LayerName, isOn: boolean): void => {
    const next = new Set(layers);
    if (isOn) next.add(name);
    else next.delete(name);
    onChange(next);
  };
  return (
    <div class={popoverStyles.box} ref={box}>
      <IconButton icon="layers" label="Layers" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)} />
      {isOpen && (
        <div class={popoverStyles.popover}>
          {LABELS.map(([title, rows]) => (
            <fieldset key={title}>
              <legend class={typography.caption}>{title}</legend>
              {rows.filter(isThere).map(([name, label]) => (
                <Check key={name} label={label} checked={layers.has(name)} onChange={(isOn) => set(name, isOn)} />
              ))}
            </fieldset>
          ))}
        </div>
      )}
    </div>
  );
}
