import { Button } from '../controls/button.tsx';
import { Notice } from '../controls/notice.tsx';
import { type Entities, type Kind, SINGULAR } from '../hub/kinds.ts';
import { labelOfMember } from '../problems/sentences.ts';
import type { EntityDraft } from './draft.ts';
import styles from './overtaken_notice.module.css';
import layoutStyles from './setup_layout.module.css';

interface OvertakenProps<K extends Kind> {
  readonly kind: K;
  readonly draft: EntityDraft<K>;
  /** What the hub has now. */
  readonly theirs: Entities[K];
}

/** Says that somebody else has changed what is being edited, and what they have made of it. */
export function OvertakenNotice<K extends Kind>({ kind, draft, theirs }: OvertakenProps<K>) {
  const changes = draft.changesOf(theirs);
  return (
    <div class={layoutStyles.news} role="status">
      <Notice tone="warn">
        <p>
          Somebody else has changed this {SINGULAR[kind]} in the meantime.{' '}
          {changes.some(({ isMine }) => isMine)
            ? 'Saving replaces their values with yours.'
            : 'Saving changes only what you have changed.'}
        </p>
        <dl class={styles.changes}>
          {changes.map(({ name, theirs: their, mine, isMine }) => (
            <div key={name}>
              <dt>{labelOfMember(name)}</dt>
              <dd>
                theirs: <strong>{valueText(name, their)}</strong>
              </dd>
              {isMine && (
                <dd>
                  yours: <strong>{valueText(name, mine)}</strong>
                </dd>
              )}
            </div>
          ))}
        </dl>
        <Button onClick={() => draft.follow(theirs)}>Take theirs</Button>
      </Notice>
    </div>
  );
}

const DURATION = /(delay|timeout)$/;

/** A value as one reads it in the form. */
function valueText(name: string, value: unknown): string {
  if (value == null || value === '') return 'empty';
  if (typeof value === 'number' && DURATION.test(name)) return value === -1 ? 'forever' : `${value / 1_000} s`;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value !== 'object') return String(value);
  const { type, coordinates } = value as { readonly type?: unknown; readonly coordinates?: readonly unknown[] };
  if (type === 'Polygon') return `${((coordinates?.[0] as readonly unknown[] | undefined)?.length ?? 1) - 1} corners`;
  if (type === 'Point') return `at ${coordinates?.join(', ')}`;
  const text = JSON.stringify(value);
  return text.length > 120 ? `${text.slice(0, 119)}…` : text;
}
