import type { Import } from '../../model/import.ts';
import { Button } from '../controls/button.tsx';
import flow from '../controls/flow.module.css';
import { Notice } from '../controls/notice.tsx';
import { countText } from '../controls/number_text.ts';
import { labelOf, SINGULAR } from '../hub/kinds.ts';
import { placeOf, sentenceOf } from '../problems/sentences.ts';
import type { EntityDocument } from './entity_document.ts';
import { placeIn } from './left_out.ts';
import styles from './progress.module.css';

const SHOWN = 50;

/** What does not fit of a file: which entity, which field and what was found. Without these the rest can go on. */
export function ImportProblems({
  plan,
  document,
  onLeaveOut,
}: {
  readonly plan: Import;
  readonly document: EntityDocument;
  readonly onLeaveOut: () => void;
}) {
  const { problems = [], problem_count: count = 0 } = plan;
  if (count === 0) return null;
  return (
    <Notice tone="danger">
      <div class={flow.stack}>
        <strong>
          {count === 1 ? '1 problem: nothing can be imported' : `${countText(count)} problems: nothing can be imported`}
        </strong>
        <ul class={styles.failures} aria-label="Problems">
          {problems.slice(0, SHOWN).map(({ place, message }) => (
            <li key={place}>
              <strong>{nameOf(document, place)}</strong> {sentenceOf(message)}
            </li>
          ))}
          {count > SHOWN && <li>{`${countText(count - SHOWN)} more`}</li>}
        </ul>
        <div>
          <Button onClick={onLeaveOut}>Leave out what does not fit</Button>
        </div>
      </div>
    </Notice>
  );
}

/** `Fence 4, Dock A, Shape, corner 3:` */
function nameOf(document: EntityDocument, place: string): string {
  const at = placeIn(document, place);
  if (at === undefined) return `${placeOf(place)}:`;
  const entity = document.lists.get(at.kind)?.[at.index];
  const kind = SINGULAR[at.kind];
  const number = `${kind.charAt(0).toUpperCase()}${kind.slice(1)} ${at.index + 1}`;
  const parts = [number, entity && labelOf(entity), at.field === '' ? undefined : placeOf(at.field)];
  return `${parts.filter((part) => part !== undefined).join(', ')}:`;
}
