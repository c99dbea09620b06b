import type { ComponentChildren, ComponentProps } from 'preact';
import { Badge } from '../controls/badge.tsx';
import { Button } from '../controls/button.tsx';
import { Card } from '../controls/card.tsx';
import flow from '../controls/flow.module.css';
import { Link } from '../controls/link.tsx';
import { Empty, Spinner } from '../controls/notice.tsx';
import { Page } from '../controls/page.tsx';
import { sortedBy } from '../controls/sort_and_page.ts';
import { type Column, Table } from '../controls/table.tsx';
import typography from '../controls/typography.module.css';
import { setUrlParams, urlParam } from '../controls/url_state.ts';
import { can } from '../hub/access.ts';
import { t } from '../languages/language.ts';
import { ProblemNotice } from '../operations/polled.tsx';
import styles from './exchange.module.css';

/** A column, and the value by which it sorts. */
export type ExchangeColumn<Row> = Column<Row> & {
  readonly value: (row: Row) => string | number | undefined;
};

interface ExchangeListProps<Row> {
  readonly title: string;
  readonly lead: string;
  /** API path of the list, without the version. */
  readonly path: string;
  /** Label of the button for a new item. */
  readonly add: string;
  /** What the list shows without items. */
  readonly empty: {
    readonly icon: ComponentProps<typeof Empty>['icon'];
    readonly title: string;
    readonly text: string;
  };
  /** Undefined until the rows are loaded. */
  readonly rows: readonly Row[] | undefined;
  readonly problem: ComponentProps<typeof ProblemNotice>['problem'];
  readonly columns: readonly ExchangeColumn<Row>[];
  readonly keyOf: (row: Row) => string;
  /** The dialog for a new item. */
  readonly dialog: (onClose: () => void) => ComponentChildren;
}

/** Page with a list of sinks or links, which sorts by the URL and creates items. */
export function ExchangeList<Row>(props: ExchangeListProps<Row>) {
  const { title, lead, path, add, empty, rows, problem, columns, keyOf, dialog } = props;
  const key = urlParam('sort') ?? 'name';
  const sorting = { key: key.replace(/^-/, ''), descending: key.startsWith('-') };
  const sortedColumn = columns.find((column) => column.key === sorting.key) ?? columns[0];
  const sorted = sortedBy(rows ?? [], sortedColumn?.value ?? (() => undefined), sorting.descending);
  return (
    <Page
      title={title}
      lead={lead}
      actions={
        can('CREATE', path) && (
          <Button kind="main" icon="plus" onClick={() => setUrlParams({ new: 1 })}>
            {add}
          </Button>
        )
      }
    >
      <ProblemNotice problem={problem} />
      {rows === undefined && problem === undefined && <Spinner />}
      {rows !== undefined && (
        <Card flush>
          {rows.length === 0 ? (
            <Empty icon={empty.icon} title={empty.title}>
              <p>{empty.text}</p>
            </Empty>
          ) : (
            <Table
              label={title}
              columns={columns}
              rows={sorted}
              keyOf={keyOf}
              sorting={sorting}
              onSort={(next) => setUrlParams({ sort: next.descending ? `-${next.key}` : next.key })}
            />
          )}
        </Card>
      )}
      {urlParam('new') !== undefined && dialog(() => setUrlParams({ new: undefined }))}
    </Page>
  );
}

/** A cell without a value. */
export const nothing = <span class={typography.faint}>–</span>;

/** Column with the name of an item, which leads to its page, and why it does not work. */
export function nameColumn<Row>({
  itemOf,
  pathOf,
  errorOf,
}: {
  readonly itemOf: (row: Row) => { readonly id: string; readonly name: string };
  readonly pathOf: (id: string) => string;
  readonly errorOf: (row: Row) => string | undefined;
}): ExchangeColumn<Row> {
  return {
    key: 'name',
    title: t('Name'),
    sorts: true,
    class: styles.name,
    value: (row) => itemOf(row).name,
    cell: (row) => {
      const { id, name } = itemOf(row);
      const error = errorOf(row);
      return (
        <>
          <Link href={pathOf(id)}>{name}</Link>
          {error !== undefined && <p class={styles.error}>{error}</p>}
        </>
      );
    },
  };
}

/** Column with a number, which is shown on wide pages only. */
export function numberColumn<Row>(
  key: string,
  title: string,
  { value, text }: { readonly value: (row: Row) => number | undefined; readonly text: (value: number) => string },
): ExchangeColumn<Row> {
  const cell = (row: Row): ComponentChildren => {
    const found = value(row);
    return found === undefined ? nothing : text(found);
  };
  return { key, title, sorts: true, isNumber: true, class: flow.wideOnly, value, cell };
}

/** Column with an address, or the name of what it leads to, which is cut off if it is long. */
export function addressColumn<Row>(
  key: string,
  title: string,
  { urlOf, nameOf = urlOf }: { readonly urlOf: (row: Row) => string; readonly nameOf?: (row: Row) => string },
): ExchangeColumn<Row> {
  return {
    ...{ key, title, sorts: true, class: flow.wideOnly, value: nameOf },
    cell: (row) => (
      <span class={`${typography.cut} ${styles.address}`} title={urlOf(row)}>
        {nameOf(row)}
      </span>
    ),
  };
}

interface StateLook {
  readonly label: string;
  readonly tone: NonNullable<ComponentProps<typeof Badge>['tone']>;
}

/** A state of an item. */
export function StateBadge({ label, tone }: StateLook) {
  return (
    <Badge tone={tone} dot>
      {label}
    </Badge>
  );
}
