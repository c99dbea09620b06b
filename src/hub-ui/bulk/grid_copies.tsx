import { useMemo, useState } from 'preact/hooks';
import type { Fence } from '../../model/fence.ts';
import { positionLists } from '../../model/position_lists.ts';
import fieldStyles from '../controls/field.module.css';
import { NumberField, TextField } from '../controls/field.tsx';
import { t } from '../languages/language.ts';
import { countText } from '../languages/numbers.ts';
import { angleOf, type FenceGrid, gridOf, ringInMeters, sizeOf } from './copies.ts';
import styles from './copy_dialog.module.css';
import { type CopiesProps, CopyFrame, type Created, createAll, type Make, named, PATTERN_HELP } from './copy_frame.tsx';

/** Limit against mistyped grid sizes. */
const COPIES_MAX = 2_000;

/** Form that copies a fence to the cells of a grid. */
export function GridCopies({ fence, ...frame }: CopiesProps & { readonly fence: Fence }) {
  const [columns, setColumns] = useState<number | undefined>(3);
  const [rows, setRows] = useState<number | undefined>(1);
  const [angle, setAngle] = useState<number | undefined>(() => angleOf(fence));
  const size = useMemo(() => sizeOf(fence, angle ?? 0), [fence, angle]);
  const [gapX, setGapX] = useState<number | undefined>(1);
  const [gapY, setGapY] = useState<number | undefined>(1);
  const [pattern, setPattern] = useState('{name} {n}');
  const grid: FenceGrid = {
    columns: Math.max(1, Math.round(columns ?? 1)),
    rows: Math.max(1, Math.round(rows ?? 1)),
    stepX: size.width + (gapX ?? 0),
    stepY: size.height + (gapY ?? 0),
    angle: angle ?? 0,
    pattern,
  };
  const isTooMany = grid.columns * grid.rows > COPIES_MAX;
  const copies = useMemo(() => (isTooMany ? [] : gridOf(fence, grid)), [fence, JSON.stringify(grid), isTooMany]);
  const make: Make = async (options) => {
    const created: Created[] = [];
    return { created, failures: named(await createAll('fences', copies, created, options)) };
  };
  return (
    <CopyFrame
      {...frame}
      copies={copies}
      make={make}
      picture={<GridPicture fences={[fence, ...copies] as readonly Fence[]} />}
    >
      <div class={fieldStyles.fields}>
        <NumberField
          label={t('Columns')}
          step="1"
          min={1}
          value={columns}
          error={isTooMany ? t('This would be more than {most} fences.', { most: countText(COPIES_MAX) }) : undefined}
          onInput={setColumns}
        />
        <NumberField label={t('Rows')} step="1" min={1} value={rows} onInput={setRows} />
        <NumberField label={t('Space between columns')} unit="m" value={gapX} onInput={setGapX} />
        <NumberField label={t('Space between rows')} unit="m" value={gapY} onInput={setGapY} />
        <NumberField
          label={t('Rotation')}
          unit="°"
          help={t('By default, along the longest edge of the fence.')}
          value={angle}
          onInput={setAngle}
        />
      </div>
      <TextField label={t('Names')} help={PATTERN_HELP} value={pattern} onInput={setPattern} />
    </CopyFrame>
  );
}

/** Scale drawing of the fence and its copies; north, or the y axis of its zone, is up. */
function GridPicture({ fences }: { readonly fences: readonly Fence[] }) {
  const [first] = fences;
  if (first === undefined) return null;
  const origin = positionLists(first.region)[0]?.[0] ?? [];
  const shapes = fences.map((fence) => outlineFrom(fence, origin));
  const radius = first.region.type === 'Point' ? (first.radius ?? 1) : 0;
  const xs = shapes.flatMap((shape) => shape.map(([x]) => x));
  const ys = shapes.flatMap((shape) => shape.map(([, y]) => y));
  const [left, right] = [Math.min(...xs) - radius, Math.max(...xs) + radius];
  const [low, high] = [Math.min(...ys) - radius, Math.max(...ys) + radius];
  const margin = Math.max(right - left, high - low, 1) * 0.04;
  const box = [left - margin, -high - margin, right - left + 2 * margin, high - low + 2 * margin];
  return (
    <svg class={styles.picture} viewBox={box.join(' ')} role="img" aria-label={t('The fences from above')}>
      {shapes.map((shape, i) =>
        radius > 0 ? (
          <circle key={i} data-first={i === 0 || undefined} cx={shape[0]?.[0]} cy={-(shape[0]?.[1] ?? 0)} r={radius} />
        ) : first.region.type === 'LineString' ? (
          <polyline
            key={i}
            data-first={i === 0 || undefined}
            points={shape.map(([x, y]) => `${x},${-y}`).join(' ')}
            fill="none"
          />
        ) : (
          <polygon key={i} data-first={i === 0 || undefined} points={shape.map(([x, y]) => `${x},${-y}`).join(' ')} />
        ),
      )}
    </svg>
  );
}

/** Outline of a fence in meters relative to `origin`. */
function outlineFrom(fence: Fence, origin: readonly number[]): readonly (readonly [number, number])[] {
  const { region } = fence;
  if (region.type === 'Point') {
    const line = { ...fence, region: { type: 'Polygon', coordinates: [[origin, region.coordinates]] } } as Fence;
    return ringInMeters(line).slice(1);
  }
  const ring = [origin, ...(positionLists(region)[0] ?? [])];
  return ringInMeters({ ...fence, region: { type: 'Polygon', coordinates: [ring] } } as Fence).slice(1);
}
