import type { Import } from '../../model/import.ts';
import { Button } from '../controls/button.tsx';
import flow from '../controls/flow.module.css';
import { Notice } from '../controls/notice.tsx';
import styles from '../controls/progress.module.css';
import type { HubDocument } from '../formats/entity_document.ts';
import { kindText, labelOf } from '../hub/entity_kinds.ts';
import { capitalized, t } from '../languages/language.ts';
import { countText } from '../languages/numbers.ts';
import { pathLabel, sentenceOf } from '../problems/sentences.ts';
import { entityPathIn } from './left_out.ts';

const SHOWN = 50;

/** List of validation errors by entity and field; offers to import the rest without these entities. */
export function ImportProblems({
  plan,
  document,
  onLeaveOut,
}: {
  readonly plan: Import;
  readonly document: HubDocument;
  readonly onLeaveOut: () => void;
}) {
  const { problems = [], problem_count: count = 0 } = plan;
  if (count === 0) return null;
  // One item may have several problems. The hub lists only the first problems.
  const listed = new Set(problems.map(({ place }) => itemOf(document, place))).size;
  const invalid = Math.max(1, problems.length < count ? listed + count - problems.length : listed);
  return (
    <Notice tone="danger">
      <div class={flow.stack}>
        <strong>
          {invalid === 1
            ? t('1 item is invalid. Skip it, or fix the file.')
            : t('{count} items are invalid. Skip them, or fix the file.', { count: countText(invalid) })}
        </strong>
        <ul class={styles.failures} aria-label={t('Problems')}>
          {problems.slice(0, SHOWN).map((problem) => (
            <li key={problem.place}>
              <strong>{nameOf(document, problem.place)}</strong> {sentenceOf(problem)}
            </li>
          ))}
          {count > SHOWN && <li>{t('{count} more', { count: countText(count - SHOWN) })}</li>}
        </ul>
        <div>
          <Button onClick={onLeaveOut}>{t('Skip invalid items')}</Button>
        </div>
      </div>
    </Notice>
  );
}

/** Key of the item that a path is in. */
function itemOf(document: HubDocument, place: string): string {
  const at = entityPathIn(document, place);
  return at === undefined ? place : `${at.kind} ${at.index}`;
}

/**
 * Label of a path in a document, by the part of the file if the reader knows it, such as `Row 5, Cart 1, Radius:`; else such as
 * `Fence 4, Dock A, Shape, corner 3:`.
 */
function nameOf(document: HubDocument, place: string): string {
  const at = entityPathIn(document, place);
  if (at === undefined) return `${pathLabel(place)}:`;
  const entity = document.lists.get(at.kind)?.[at.index];
  const number = `${capitalized(kindText(at.kind))} ${at.index + 1}`;
  const origin = entity && document.origins?.get(entity.id);
  const parts = [
    ...(origin === undefined ? [number, entity && labelOf(entity)] : [origin]),
    at.field === '' ? undefined : pathLabel(at.field),
  ];
  return `${parts.filter((part) => part !== undefined).join(', ')}:`;
}
