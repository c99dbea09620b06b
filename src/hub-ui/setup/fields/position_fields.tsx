import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Point } from '../../../model/geojson.ts';
import { IconButton } from '../../controls/button.tsx';
import fieldStyles from '../../controls/field.module.css';
import { NumberField } from '../../controls/field.tsx';
import flow from '../../controls/flow.module.css';
import { NumberInput } from '../../controls/number_input.tsx';
import tableStyles from '../../controls/table.module.css';
import typography from '../../controls/typography.module.css';
import type { AnyDraft } from '../../drafts/entity_draft.ts';
import { t } from '../../languages/language.ts';
import type { Position } from '../../map/plane/plane.ts';
import { memberOf, problemOf, useProblem } from './draft_fields.tsx';
import styles from './position_fields.module.css';

/** Labels of coordinates. */
const NAMES = {
  earth: { x: t('Longitude'), y: t('Latitude'), z: t('Height'), unit: undefined },
  zone: { x: 'x', y: 'y', z: 'z', unit: 'm' },
} as const;

/** Coordinates of a possibly incomplete position. */
type Numbers = readonly (number | undefined)[];

/** Inputs for the two or three coordinates of a member. */
export function PointFields({
  draft,
  field,
  plane,
  isRemovable = false,
}: {
  readonly draft: AnyDraft;
  readonly field: string;
  readonly plane: keyof typeof NAMES;
  readonly isRemovable?: boolean;
}) {
  const { x: xName, y: yName, z: zName, unit } = NAMES[plane];
  const units = unit === undefined ? {} : { unit };
  const position = memberOf<Point>(draft, field);
  const [begun, setBegun] = useState<Numbers>([]);
  const numbers: Numbers = position?.coordinates ?? begun;
  const [x, y, z] = numbers;
  const isHalf = position === undefined && begun.some((number) => number !== undefined);
  const missing = isHalf
    ? t('Enter both {xName} and {yName}.', { xName: xName.toLowerCase(), yName: yName.toLowerCase() })
    : undefined;
  useProblem(draft, { field, problem: missing });
  const set = (index: number, value: number | undefined): void => {
    const [nextX, nextY, nextZ] = [0, 1, 2].map((i) => (i === index ? value : numbers[i]));
    if (nextX !== undefined && nextY !== undefined) {
      const coordinates = nextZ === undefined ? [nextX, nextY] : [nextX, nextY, nextZ];
      draft.change({ [field]: { type: 'Point', coordinates } }, `${field} ${index}`);
      setBegun([]);
    } else if (position === undefined) setBegun([nextX, nextY, nextZ]);
  };
  return (
    <div class={`${flow.row} ${styles.position}`}>
      <div class={`${fieldStyles.fields} ${styles.three}`} data-plane={plane}>
        <NumberField
          label={xName}
          {...units}
          value={x}
          error={missing ?? problemOf(draft, field)}
          onInput={(value) => set(0, value)}
        />
        <NumberField label={yName} {...units} value={y} onInput={(value) => set(1, value)} />
        <NumberField label={zName} unit="m" value={z} onInput={(value) => set(2, value)} />
      </div>
      {isRemovable && position !== undefined && (
        <IconButton
          icon="trash"
          label={t('Remove {xName} and {yName}', { xName, yName })}
          onClick={() => draft.change({ [field]: undefined })}
        />
      )}
    </div>
  );
}

/** Table of numbered positions, whose rows may end with buttons. */
export function PositionTable({
  label,
  columns,
  hasActions = false,
  children,
}: {
  readonly label: string;
  /** Titles of the columns between the number and the buttons. */
  readonly columns: readonly ComponentChildren[];
  readonly hasActions?: boolean;
  /** Rows. */
  readonly children: ComponentChildren;
}) {
  const actions = <span class={typography.hidden}>{t('Actions')}</span>;
  return (
    <section class={tableStyles.box} aria-label={label}>
      <table class={`${tableStyles.table} ${styles.points}`}>
        <thead>
          <tr>
            {['#', ...columns, ...(hasActions ? [actions] : [])].map((title, i) => (
              <th scope="col" key={i}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  );
}

/** Table cells with inputs for x and y; z is preserved. */
export function PositionCells({
  position,
  labels,
  isWrong,
  onChange,
}: {
  readonly position: readonly number[];
  readonly labels: readonly string[];
  readonly isWrong: boolean;
  readonly onChange: (position: number[]) => void;
}) {
  const [x = 0, y = 0] = position;
  const cell = (value: number, label: string, to: (next: number) => [number, number]) => (
    <td>
      <NumberInput
        class={styles.cell}
        aria-label={label}
        aria-invalid={isWrong}
        value={value}
        onInput={(next) => next !== undefined && onChange(movedTo(position, to(next)))}
      />
    </td>
  );
  return (
    <>
      {cell(x, labels[0] ?? '', (next) => [next, y])}
      {cell(y, labels[1] ?? '', (next) => [x, next])}
    </>
  );
}

/** Parses the numbers of each non-empty line, separated by commas, semicolons or spaces. */
export function readRows(text: string): number[][] {
  const lines = text.split('\n').map((line) => line.split(/[,;\s]+/).filter((part) => part !== ''));
  return lines.filter((parts) => parts.length > 0).map((parts) => parts.map(Number));
}

/** Moves a position in the plane; preserves the height. */
export function movedTo(position: Position, [x, y]: readonly [number, number]): number[] {
  return [x, y, ...position.slice(2)];
}
