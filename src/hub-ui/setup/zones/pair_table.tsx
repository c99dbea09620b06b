import type { ComponentChildren } from 'preact';
import { Badge } from '../../controls/badge.tsx';
import { Button, IconButton } from '../../controls/button.tsx';
import flow from '../../controls/flow.module.css';
import tableStyles from '../../controls/table.module.css';
import typography from '../../controls/typography.module.css';
import { t } from '../../languages/language.ts';
import { PositionCells, PositionTable } from '../fields/position_fields.tsx';
import { meanResidual, type Pair, residualsOf, residualText } from './pairs.ts';

/** Table of control points with residuals, for exact coordinates and for use without a pointer. */
export function PairTable({
  pairs,
  columns,
  selected,
  problemAt,
  onSelect,
  onChange,
}: {
  readonly pairs: readonly Pair[];
  /** Labels of the coordinates in the other plane. */
  readonly columns: readonly [string, string];
  readonly selected: number | undefined;
  /** Error of the hub for a row of the API's list. */
  readonly problemAt?: (row: number) => string | undefined;
  readonly onSelect: (index: number | undefined) => void;
  readonly onChange: (pairs: readonly Pair[], step?: string) => void;
}) {
  const residuals = residualsOf(pairs);
  const setAt = (index: number, pair: Pair, step: string): void => onChange(pairs.with(index, pair), step);
  const remove = (index: number): void => {
    onChange(pairs.filter((_, i) => i !== index));
    onSelect(undefined);
  };
  const last = pairs.at(-1);
  return (
    <div class={flow.stack}>
      {pairs.length > 0 && (
        <PositionTable
          hasActions
          label={t('Points')}
          columns={[
            t('Longitude'),
            t('Latitude'),
            ...columns,
            <div key="residual" class={tableStyles.number}>
              {t('Error')}
            </div>,
          ]}
        >
          {pairs.map((pair, i) => {
            const problem = problemAt?.(2 * i) ?? problemAt?.(2 * i + 1);
            return (
              <tr key={i} aria-selected={i === selected} onFocusIn={() => onSelect(i)}>
                <th scope="row" title={problem}>
                  {i + 1}
                </th>
                <PositionCells
                  position={pair.earth}
                  labels={[
                    t('Longitude of point {number}', { number: i + 1 }),
                    t('Latitude of point {number}', { number: i + 1 }),
                  ]}
                  isWrong={problem !== undefined}
                  onChange={(earth) => setAt(i, { ...pair, earth }, `earth ${i}`)}
                />
                <PositionCells
                  position={pair.own}
                  labels={[
                    t('{column} of point {number}', { column: columns[0], number: i + 1 }),
                    t('{column} of point {number}', { column: columns[1], number: i + 1 }),
                  ]}
                  isWrong={problem !== undefined}
                  onChange={(own) => setAt(i, { ...pair, own }, `own ${i}`)}
                />
                <td class={tableStyles.number} data-residual>
                  {residuals?.[i] === undefined ? '–' : residualText(residuals[i])}
                </td>
                <td>
                  <IconButton
                    icon="trash"
                    label={t('Remove point {number}', { number: i + 1 })}
                    onClick={() => remove(i)}
                  />
                </td>
              </tr>
            );
          })}
        </PositionTable>
      )}
      <div class={flow.row}>
        <Button
          icon="plus"
          onClick={() => onChange([...pairs, { earth: last?.earth ?? [0, 0], own: last?.own ?? [0, 0] }])}
        >
          {t('Add point')}
        </Button>
        <FitBadge count={pairs.length} residuals={residuals} />
      </div>
    </div>
  );
}

function FitBadge({
  count,
  residuals,
}: {
  readonly count: number;
  readonly residuals: readonly number[] | undefined;
}): ComponentChildren {
  if (count < 2) return <span class={typography.faint}>{t('2 points position it; a 3rd shows accuracy')}</span>;
  if (residuals === undefined) return <Badge tone="danger">{t('These points determine no position')}</Badge>;
  if (count === 2) return <Badge tone="warn">{t('2 points: a 3rd shows accuracy')}</Badge>;
  const mean = meanResidual(residuals);
  const tone = mean < 0.3 ? 'ok' : mean < 1.5 ? 'warn' : 'danger';
  return (
    <Badge tone={tone} dot>
      {t('Fits to {mean} on average', { mean: residualText(mean) })}
    </Badge>
  );
}
