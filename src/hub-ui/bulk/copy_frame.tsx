import { Button } from '../controls/button.tsx';
import { Dialog } from '../controls/dialog.tsx';
import { Failures, Progress } from '../controls/progress.tsx';
import { toast } from '../controls/toasts.tsx';
import typography from '../controls/typography.module.css';
import type { Entities, Kind } from '../hub/entity_kinds.ts';
import { createEntity } from '../hub/rest.ts';
import { type Failure, runAll } from '../hub/run_all.ts';
import { t } from '../languages/language.ts';
import { countText } from '../languages/numbers.ts';
import { type NamedFailure, undoingCreations, useWork, type WorkOptions } from './bulk_work.ts';
import styles from './copy_dialog.module.css';

const NAMED_MAX = 100;
/** Help of the pattern for names. */
export const PATTERN_HELP = t(
  'Pattern: {name} is the old name, {floor} the floor, {n} a number, {row} and {column} the position in the grid.',
  { name: '{name}', floor: '{floor}', n: '{n}', row: '{row}', column: '{column}' },
);

export interface CopiesProps {
  readonly title: string;
  readonly choice: preact.ComponentChildren;
  readonly onClose: () => void;
}

export interface Created {
  readonly kind: Kind;
  readonly id: string;
}

/** Creates the copies; returns those that succeeded, and the failures. */
export type Make = (
  options: WorkOptions,
) => Promise<{ readonly created: readonly Created[]; readonly failures: readonly NamedFailure[] }>;

export function createAll<K extends Kind>(
  kind: K,
  entities: readonly Partial<Entities[K]>[],
  created: Created[],
  options: WorkOptions,
): Promise<Failure<Partial<Entities[K]>>[]> {
  const create = async (entity: Partial<Entities[K]>): Promise<void> => {
    const { id } = await createEntity(kind, entity);
    created.push({ kind, id });
  };
  return runAll(entities, create, options);
}

export function named(failures: readonly Failure<{ readonly name?: string | null }>[]): readonly NamedFailure[] {
  return failures.map(({ item, reason }) => ({ label: item.name ?? '', reason }));
}

/** Frame of the dialog: form, preview and action. */
export function CopyFrame({
  title,
  choice,
  copies,
  make,
  picture,
  onClose,
  children,
}: CopiesProps & {
  readonly copies: readonly { readonly name?: string | null }[];
  readonly make: Make;
  readonly picture?: preact.ComponentChildren;
  readonly children: preact.ComponentChildren;
}) {
  const { isRunning, failures, count, run } = useWork(onClose);
  const create = async (options: WorkOptions): Promise<readonly NamedFailure[]> => {
    const { created, failures: failed } = await make(options);
    if (created.length > 0)
      toast(t('{count} created', { count: countText(created.length) }), 'ok', undoingCreations(created));
    return failed;
  };
  return (
    <Dialog
      wide
      title={title}
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>{isRunning ? t('Stop') : t('Cancel')}</Button>
          <Button kind="main" disabled={isRunning || copies.length === 0} onClick={() => void run(create)}>
            {copies.length === 1 ? t('Create 1 copy') : t('Create {count} copies', { count: countText(copies.length) })}
          </Button>
        </>
      }
    >
      {choice}
      {children}
      {isRunning && <Progress label={t('Copying')} done={count} total={copies.length} />}
      <Failures
        title={t('{count} could not be created', { count: countText(failures.length) })}
        rows={failures.map(({ label, reason }) => [label, reason])}
      />
      <div class={styles.outcome}>
        {picture}
        {copies.length === 0 ? (
          <p class={typography.faint}>{t('There is nothing to copy.')}</p>
        ) : (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable list needs keyboard focus
          <ul class={styles.names} tabIndex={0} aria-label={t('Copies to create')}>
            {copies.slice(0, NAMED_MAX).map(({ name }, index) => (
              <li key={index} class={typography.cut}>
                {name}
              </li>
            ))}
            {copies.length > NAMED_MAX && (
              <li>{t('… and {count} more', { count: countText(copies.length - NAMED_MAX) })}</li>
            )}
          </ul>
        )}
      </div>
    </Dialog>
  );
}
