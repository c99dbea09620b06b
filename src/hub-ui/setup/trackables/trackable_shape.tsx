import { useState } from 'preact/hooks';
import type { Trackable } from '../../../model/trackable.ts';
import { Choice } from '../../controls/button.tsx';
import { Card } from '../../controls/card.tsx';
import fieldStyles from '../../controls/field.module.css';
import { NumberField } from '../../controls/field.tsx';
import flow from '../../controls/flow.module.css';
import type { Option } from '../../controls/select.tsx';
import type { Notation } from '../../controls/use_typed.ts';
import type { EntityDraft } from '../../drafts/entity_draft.ts';
import { t } from '../../languages/language.ts';
import { closedRing, openRing } from '../../map/plane/rings.ts';
import { DraftNumber, DraftWritten, problemOf } from '../fields/draft_fields.tsx';
import { readRows } from '../fields/position_fields.tsx';
import styles from './trackable_shape.module.css';

type Form = 'none' | 'round' | 'rectangle' | 'polygon';

const FORMS: readonly Option<Form>[] = [
  { value: 'none', label: t('A point') },
  { value: 'round', label: t('Round') },
  { value: 'rectangle', label: t('Rectangle') },
  { value: 'polygon', label: t('Polygon') },
];

/** Form section for the extent of a trackable: a circle, or a polygon that turns with its course. */
export function TrackableShape({ draft }: { readonly draft: EntityDraft<'trackables'> }) {
  const { geometry, radius } = draft.value.value;
  const corners = cornersOf(geometry);
  const size = rectangleSize(corners);
  const [picked, setPicked] = useState<Form | undefined>(
    size === undefined && corners.length > 0 ? 'polygon' : undefined,
  );
  // Keep the selected form: a number may be missing while typing, and corners may happen to be a rectangle.
  const flat: Form = radius == null && picked !== 'round' ? 'none' : 'round';
  const form: Form = geometry == null ? flat : picked === 'polygon' || size === undefined ? 'polygon' : 'rectangle';
  const change = (next: Form): void => {
    setPicked(next);
    const [length, width] = size ?? [2, 1];
    if (next === 'none') draft.change({ geometry: undefined, radius: undefined });
    if (next === 'round') draft.change({ geometry: undefined, radius: radius ?? 1 });
    if (next === 'rectangle') draft.change({ geometry: rectangle(length, width), radius: undefined });
    if (next === 'polygon') draft.change({ geometry: geometry ?? rectangle(length, width), radius: undefined });
  };
  const resize = (length = 0, width = 0): void => {
    if (length > 0 && width > 0) draft.change({ geometry: rectangle(length, width) }, 'size');
  };
  return (
    <Card title={t('Shape')}>
      <div class={styles.columns}>
        <div class={flow.stack}>
          <Choice label={t('Shape')} value={form} options={FORMS} onChange={change} />
          {form === 'round' && <DraftNumber draft={draft} field="radius" label={t('Radius')} unit="m" min={0} />}
          {form === 'rectangle' && size !== undefined && (
            <div class={fieldStyles.fields}>
              <NumberField
                label={t('Length')}
                unit="m"
                min={0}
                value={size[0]}
                error={problemOf(draft, 'geometry')}
                onInput={(length) => resize(length, size[1])}
              />
              <NumberField
                label={t('Width')}
                unit="m"
                min={0}
                value={size[1]}
                onInput={(width) => resize(size[0], width)}
              />
            </div>
          )}
          {form === 'polygon' && <CornersField draft={draft} />}
          <DraftNumber draft={draft} field="extrusion" label={t('Height')} unit="m" min={0} />
        </div>
        <ShapePicture corners={corners} radius={geometry == null ? (radius ?? 0) : 0} />
      </div>
    </Card>
  );
}

/** Notation with one x, y line per corner. */
const CORNERS: Notation<number[][]> = {
  write: (corners) => corners.map((corner) => corner.join(', ')).join('\n'),
  read(text) {
    const corners = readRows(text);
    const areWhole = corners.every((corner) => corner.length >= 2 && corner.every(Number.isFinite));
    return areWhole && corners.length >= 3 ? corners : undefined;
  },
};

/** Text area for the corners. */
function CornersField({ draft }: { readonly draft: EntityDraft<'trackables'> }) {
  const { geometry } = draft.value.value;
  const change = (corners: number[][]): void => {
    const holes = geometry?.coordinates.slice(1) ?? [];
    draft.change({ geometry: { type: 'Polygon', coordinates: [closedRing(corners), ...holes] } }, 'corners');
  };
  return (
    <DraftWritten
      draft={draft}
      field="geometry"
      label={t('Corners')}
      help={t('One x, y in meters per line around the position: x to the right, y in the direction of travel.')}
      rows={5}
      value={cornersOf(geometry)}
      notation={CORNERS}
      unreadable={() => t('Enter at least three lines of two numbers.')}
      onRead={change}
    />
  );
}

/** Drawing of the shape from above; the direction of travel is up. */
function ShapePicture({ corners, radius }: { readonly corners: readonly number[][]; readonly radius: number }) {
  const reach = Math.max(0.5, radius, ...corners.flat().map(Math.abs)) * 1.35;
  return (
    <svg class={styles.picture} viewBox={`${-reach} ${-reach} ${2 * reach} ${2 * reach}`} role="img">
      <title>{t('The shape from above, traveling upwards')}</title>
      <path class={styles.cross} d={`M${-reach} 0H${reach}M0 ${-reach}V${reach}`} />
      {radius > 0 && <circle class={styles.shape} r={radius} />}
      {corners.length > 2 && (
        <polygon class={styles.shape} points={corners.map(([x = 0, y = 0]) => `${x},${-y}`).join(' ')} />
      )}
      <path
        class={styles.course}
        d={`M0 ${0.16 * reach}V${-0.4 * reach}m${-0.1 * reach} ${0.12 * reach}l${0.1 * reach} ${-0.12 * reach}l${0.1 * reach} ${0.12 * reach}`}
      />
    </svg>
  );
}

function cornersOf(geometry: Trackable['geometry']): number[][] {
  return [...openRing(geometry?.coordinates[0] ?? [])];
}

/** Length along the course and width across it, of a rectangle around the position; undefined for other polygons. */
function rectangleSize(corners: readonly number[][]): readonly [number, number] | undefined {
  if (corners.length !== 4 || corners.some((corner) => corner.length > 2)) return undefined;
  const xs = corners.map(([x = 0]) => Math.abs(x));
  const ys = corners.map(([, y = 0]) => Math.abs(y));
  const [x = 0, y = 0] = [xs[0], ys[0]];
  const signs = new Set(corners.map(([cx = 0, cy = 0]) => `${Math.sign(cx)} ${Math.sign(cy)}`));
  if (signs.size !== 4 || xs.some((each) => each !== x) || ys.some((each) => each !== y)) return undefined;
  return [2 * y, 2 * x];
}

function rectangle(length: number, width: number): NonNullable<Trackable['geometry']> {
  const [x, y] = [width / 2, length / 2];
  const corners = [
    [-x, -y],
    [x, -y],
    [x, y],
    [-x, y],
  ];
  return { type: 'Polygon', coordinates: [closedRing(corners)] };
}
