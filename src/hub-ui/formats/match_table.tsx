import { useState } from 'preact/hooks';
import { Button, Choice } from '../controls/button.tsx';
import flow from '../controls/flow.module.css';
import { Notice } from '../controls/notice.tsx';
import { type Option, Select } from '../controls/select.tsx';
import { Table } from '../controls/table.tsx';
import typography from '../controls/typography.module.css';
import { t } from '../languages/language.ts';
import { countText } from '../languages/numbers.ts';
import { labelOfMember } from '../problems/sentences.ts';
import type { Table as CsvTable } from './csv.ts';
import type { HubDocument } from './entity_document.ts';
import styles from './match.module.css';
import { guessKind, guessMeanings, MEMBERS, type Meaning, meaningsOf, type TableKind } from './table_columns.ts';
import { entitiesOfTable, signOf, whyNoMatch } from './table_entities.ts';
import { type DecimalSign, numberOfText } from './written_numbers.ts';

const KINDS = [
  { value: 'trackables', label: t('Trackables') },
  { value: 'providers', label: t('Providers') },
] as const;

const SIGNS = [
  { value: '.', label: '1,234.56' },
  { value: ',', label: '1.234,56' },
] as const satisfies readonly Option<DecimalSign>[];

/** Form that maps the rows and columns of a table, and its number format if that is ambiguous. */
export function MatchTable({
  name,
  table,
  notes,
  onMatched,
}: {
  readonly name: string;
  readonly table: CsvTable;
  /** Warnings about the file as a whole. */
  readonly notes: readonly string[];
  readonly onMatched: (document: HubDocument) => void;
}) {
  const { columns, rows } = table;
  const [kind, setKind] = useState<TableKind>(() => guessKind(table));
  const [meanings, setMeanings] = useState(() => guessMeanings(columns, kind));
  const [selectedSign, setSign] = useState<DecimalSign>();
  const detected = signOf(table, { kind, meanings });
  const sign = selectedSign ?? detected.sign;
  const matching = { kind, meanings, sign, name };
  const isUndecided = sign === undefined && detected.undecided.length > 0;
  const problem = whyNoMatch(table, matching);
  const pick = (next: TableKind): void => {
    setKind(next);
    setMeanings(guessMeanings(columns, next));
  };
  return (
    <div class={flow.stack}>
      <p class={typography.soft}>
        {t('{count} rows. Select what they become, and the meaning of each column.', { count: countText(rows.length) })}
      </p>
      {notes.map((note) => (
        <Notice key={note} tone="warn">
          {note}
        </Notice>
      ))}
      <Choice label={t('Rows become')} value={kind} options={KINDS} onChange={pick} />
      <Table
        label={t('Columns')}
        rows={columns.map((name, index) => ({ name, index }))}
        keyOf={({ index }) => String(index)}
        columns={[
          { key: 'column', title: t('Column'), isHeading: true, cell: ({ name: column }) => column },
          {
            key: 'example',
            title: t('For example'),
            class: `${typography.soft} ${styles.example}`,
            cell: ({ index }) => (
              <Example cell={exampleIn(table, index)} isNumber={isNumber(meanings[index], kind)} sign={sign} />
            ),
          },
          {
            key: 'meaning',
            title: t('Means'),
            cell: ({ name: column, index }) => (
              <Select
                class={styles.becomes}
                aria-label={t('{column} means', { column })}
                value={meanings[index] ?? 'none'}
                options={meaningsOf(kind).map((value) => ({ value, label: labelOfMeaning(value) }))}
                onChange={(meaning) => setMeanings(meanings.with(index, meaning))}
              />
            ),
          },
        ]}
      />
      {(isUndecided || selectedSign !== undefined) && (
        <>
          <Notice tone="warn">
            {t('Select the number format: {numbers} is ambiguous.', {
              numbers: detected.undecided.join(' / '),
            })}
          </Notice>
          <Choice
            label={t('Number format')}
            value={selectedSign}
            options={SIGNS}
            onChange={(value) => setSign(value)}
          />
        </>
      )}
      {problem !== undefined && <Notice tone="danger">{problem}</Notice>}
      <div>
        <Button
          kind="main"
          disabled={rows.length === 0 || isUndecided || problem !== undefined}
          onClick={() => onMatched(entitiesOfTable(table, matching))}
        >
          {t('Compare with the hub')}
        </Button>
      </div>
    </div>
  );
}

function isNumber(meaning: Meaning | undefined, kind: TableKind): boolean {
  return meaning !== undefined && MEMBERS[kind][meaning] === 'number';
}

/** Example of a column: the first cell whose separators show a number format, else the first non-empty cell. */
function exampleIn({ rows }: CsvTable, column: number): string {
  const cells = rows.map((row) => row[column] ?? '').filter((cell) => cell !== '');
  return cells.find((cell) => /\d[.,\s'’]\d/.test(cell)) ?? cells[0] ?? '';
}

/** Example cell, with the parsed number if it is formatted differently. */
function Example({
  cell,
  isNumber,
  sign,
}: {
  readonly cell: string;
  readonly isNumber: boolean;
  readonly sign: DecimalSign | undefined;
}) {
  const number = isNumber ? numberOfText(cell, sign) : undefined;
  if (number === undefined || String(number) === cell) return <>{cell}</>;
  return <>{t('{text}, that is {number}', { text: cell, number: String(number) })}</>;
}

function labelOfMeaning(meaning: Meaning): string {
  if (meaning === 'none') return t('Skipped');
  return meaning === 'property' ? t('A property') : labelOfMember(meaning);
}
