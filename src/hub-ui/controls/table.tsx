import type { ComponentChildren } from 'preact';
import { Icon } from './icons.tsx';
import styles from './table.module.css';

export interface Column<Row> {
  readonly key: string;
  readonly title: string;
  /** Content of the heading instead of the title, which is then its accessible name. */
  readonly head?: ComponentChildren;
  /** CSS class of its cells and its heading. */
  readonly class?: string | undefined;
  readonly cell: (row: Row) => ComponentChildren;
  readonly isNumber?: boolean;
  /** Whether its cells are row headings. */
  readonly isHeading?: boolean;
  /** Whether its heading is a button that sorts. */
  readonly sorts?: boolean;
}

export interface Sorting {
  readonly key: string;
  readonly descending: boolean;
}

/** Table that shows rows in the given order; the caller sorts and pages them. */
export function Table<Row>(props: {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly sorting?: Sorting | undefined;
  readonly onSort?: (sorting: Sorting) => void;
  readonly isSelected?: (row: Row) => boolean;
  readonly class?: string | undefined;
}) {
  const { columns, rows, keyOf, sorting, onSort, isSelected } = props;
  return (
    // Focusable, so that a wide table can be scrolled by keyboard.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region needs keyboard focus
    <section class={`${styles.box} ${props.class ?? ''}`} aria-label={props.label} tabIndex={0}>
      <table class={styles.table}>
        <thead>
          <tr>
            {columns.map((column) => (
              <Heading key={column.key} column={column} sorting={sorting} onSort={onSort} />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)} aria-selected={isSelected?.(row)}>
              {columns.map(({ key, cell, isHeading = false, ...column }) =>
                isHeading ? (
                  <th key={key} scope="row" class={classOf(column)}>
                    {cell(row)}
                  </th>
                ) : (
                  <td key={key} class={classOf(column)}>
                    {cell(row)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Heading<Row>({
  column,
  sorting,
  onSort,
}: {
  readonly column: Column<Row>;
  readonly sorting: Sorting | undefined;
  readonly onSort: ((sorting: Sorting) => void) | undefined;
}) {
  const { key, title, head, sorts } = column;
  const isSorted = sorting?.key === key;
  const order = isSorted ? (sorting.descending ? 'descending' : 'ascending') : undefined;
  return (
    <th scope="col" class={classOf(column)} aria-sort={order}>
      {sorts && onSort ? (
        <button type="button" onClick={() => onSort({ key, descending: isSorted && !sorting.descending })}>
          {title}
          {isSorted && <Icon name={sorting.descending ? 'down' : 'up'} width={12} height={12} />}
        </button>
      ) : (
        (head ?? title)
      )}
    </th>
  );
}

function classOf({ isNumber, class: own }: Pick<Column<never>, 'isNumber' | 'class'>): string | undefined {
  return [isNumber && styles.number, own].filter(Boolean).join(' ') || undefined;
}
