import { useEffect, useState } from 'preact/hooks';
import { Button, IconButton } from '../../controls/button.tsx';
import typography from '../../controls/typography.module.css';
import { t } from '../../languages/language.ts';
import { countText, positionText } from '../../languages/numbers.ts';
import { moveView } from './move_view.ts';
import { fromMap, unitsPerMeter } from '../plane/plane.ts';
import { gridStep } from './grid.ts';
import styles from './map_tools.module.css';
import { useMap } from './map_view.tsx';

/** Buttons that zoom in, zoom out, and fit the view to everything. */
export function ZoomButtons({ onFit }: { readonly onFit: () => void }) {
  const { map } = useMap();
  const zoom = (by: number): void => {
    const view = map.getView();
    moveView(view, { zoom: (view.getZoom() ?? 0) + by }, 150);
  };
  return (
    <div class={styles.buttons}>
      <IconButton icon="plus" label={t('Zoom in')} onClick={() => zoom(1)} />
      <IconButton icon="minus" label={t('Zoom out')} onClick={() => zoom(-1)} />
      <IconButton icon="frame" label={t('Show everything')} onClick={onFit} />
    </div>
  );
}

/**
 * Switch between floors, the highest on top; `undefined` selects all. Floors may have names and numbers of objects. `onStack`
 * shows all floors as a stack.
 */
export function FloorSwitch({
  floors,
  floor,
  names,
  counts,
  onChange,
  onStack,
}: {
  readonly floors: readonly number[];
  readonly floor: number | undefined;
  readonly names: ReadonlyMap<number, string>;
  readonly counts: ReadonlyMap<number, number>;
  readonly onChange: (floor: number | undefined) => void;
  readonly onStack?: (() => void) | undefined;
}) {
  if (floors.length < 2 && floor === undefined) return null;
  const sorted = [...new Set([...floors, ...(floor === undefined ? [] : [floor])])].sort((a, b) => b - a);
  return (
    <fieldset class={`${styles.buttons} ${styles.floors}`} aria-label={t('Floor')}>
      {sorted.map((each) => {
        const [name, count] = [names.get(each), counts.get(each)];
        const label = [t('Floor {floor}', { floor: each }), name, count].filter((part) => part !== undefined).join(' ');
        return (
          <Button
            key={each}
            kind="quiet"
            aria-pressed={each === floor}
            aria-label={label}
            onClick={() => onChange(each)}
          >
            <span class={styles.floor}>{name ?? (each < 0 ? `−${-each}` : each)}</span>{' '}
            {count !== undefined && <span class={styles.count}>{countText(count)}</span>}
          </Button>
        );
      })}
      <Button kind="quiet" aria-pressed={floor === undefined} onClick={() => onChange(undefined)}>
        {t('All')}
      </Button>
      {onStack && <IconButton icon="stack" label={t('Show floors as a stack')} onClick={onStack} />}
    </fieldset>
  );
}

/** Scale bar with the pointer's position and the attribution of the tiles. */
export function ScaleBar({ children }: { readonly children?: preact.ComponentChildren }) {
  const { map, plane, ground } = useMap();
  const [bar, setBar] = useState({ meters: 1, pixels: 0 });
  const [pointer, setPointer] = useState<string>();
  useEffect(() => {
    const measure = (): void => {
      const view = map.getView();
      const metersPerPixel = (view.getResolution() ?? 1) / unitsPerMeter(plane, view.getCenter() ?? [0, 0]);
      const meters = gridStep(metersPerPixel, 60);
      setBar({ meters, pixels: meters / metersPerPixel });
    };
    const move = ({ coordinate }: { readonly coordinate: readonly number[] }): void => {
      setPointer(positionText(fromMap(plane, coordinate), plane.kind));
    };
    measure();
    map.on('moveend', measure);
    map.on('pointermove', move);
    return () => {
      map.un('moveend', measure);
      map.un('pointermove', move);
    };
  }, [map, plane]);
  return (
    <div class={styles.foot} data-scale>
      <span class={styles.bar} style={{ width: `${bar.pixels}px` }} />
      <span>{lengthText(bar.meters)}</span>
      {pointer !== undefined && (
        <span class={styles.pointer} data-pointer>
          {pointer}
        </span>
      )}
      {children}
      {ground.tileCredit.value !== '' && <span class={typography.faint}>{ground.tileCredit}</span>}
      {ground.isWorld.value && <span class={typography.faint}>Natural Earth</span>}
    </div>
  );
}

/** Formats a length in kilometers, meters or centimeters. */
export function lengthText(meters: number): string {
  if (meters >= 1_000) return `${trim(meters / 1_000)} km`;
  if (meters >= 1) return `${trim(meters)} m`;
  return `${trim(meters * 100)} cm`;
}

function trim(value: number): string {
  return String(Number(value.toPrecision(value >= 100 ? Math.ceil(Math.log10(value)) + 1 : 3)));
}
