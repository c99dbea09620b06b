import { useState } from 'preact/hooks';
import { Button, Choice } from '../controls/button.tsx';
import fieldStyles from '../controls/field.module.css';
import flow from '../controls/flow.module.css';
import { countText } from '../controls/number_text.ts';
import tableStyles from '../controls/table.module.css';
import typography from '../controls/typography.module.css';
import { t } from '../languages/language.ts';
import type { EntityDocument } from '../lists/entity_document.ts';
import { labelOfMember } from '../problems/sentences.ts';
import type { Table } from './csv.ts';
import styles from './match.module.css';
import {
  entitiesOfTable,
  guessKind,
  guessMeanings,
  type Meaning,
  meaningsOf,
  type TableKind,
} from './table_entities.ts';

const KINDS = [
  { value: 'trackables', label: t('Trackables') },
  { value: 'providers', label: t('Providers') },
] as const;

/** Asks what the rows of a table become, and what each column means. */
export function MatchTable({
  name,
  table,
  onMatched,
}: {
  readonly name: string;
  readonly table: Table;
  readonly onMatched: (document: EntityDocument) => void;
}) {
  const { columns, rows } = table;
  const [kind, setKind] = useState<TableKind>(() => guessKind(columns));
  const [meanings, setMeanings] = useState(() => guessMeanings(columns, kind));
  const pick = (next: TableKind): void => {
    setKind(next);
    setMeanings(guessMeanings(columns, next));
  };
  return (
    <div class={flow.stack}>
      <p class={typography.soft}>
        {t('{count} rows. Say what they become, and what each column means.', { count: countText(rows.length) })}
      </p>
      <Choice label={t('Rows become')} value={kind} options={KINDS} onChange={pick} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable */}
      <section class={tableStyles.box} aria-label={t('Columns')} tabIndex={0}>
        <table class={tableStyles.table}>
          <thead>
            <tr>
              <th scope="col">{t('Column')}</th>
              <th scope="col">{t('For example')}</th>
              <th scope="col">{t('Means')}</th>
            </tr>
          </thead>
          <tbody>
            {columns.map((column, index) => (
              <tr key={column}>
                <th scope="row">{column}</th>
                <td class={`${typography.soft} ${styles.example}`}>
                  {rows.find((row) => row[index] !== '')?.[index] ?? ''}
                </td>
                <td>
                  <select
                    class={`${fieldStyles.input} ${styles.becomes}`}
                    aria-label={t('{column} means', { column })}
                    value={meanings[index] ?? 'none'}
                    onChange={({ currentTarget: { value } }) =>
                      setMeanings(meanings.map((each, i) => (i === index ? value : each)))
                    }
                  >
                    {meaningsOf(kind).map((meaning) => (
                      <option key={meaning} value={meaning}>
                        {labelOfMeaning(meaning)}
                      </option>
                    ))}
                  </select>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <div>
        <Button
          kind="main"
          disabled={rows.length === 0}
          onClick={() => onMatched(entitiesOfTable(table, { kind, meanings, name }))}
        >
          {t('Compare with the hub')}
        </Button>
      </div>
    </div>
  );
}

function labelOfMeaning(meaning: Meaning): string {
  if (meaning === 'none') return t('Left out');
  return meaning === 'property' ? t('A property') : labelOfMember(meaning);
}
