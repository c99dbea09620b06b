import { type CollisionRow, goneRow, ongoing, type PairRow, storedCollision } from './row.ts';

/**
 * Progress of the stage of a cluster. It is written behind the rows of each step, so it commits these: its step has stored
 * all starts and ends that follow from the motions up to there. The next owner of the stage evaluates the motions after them,
 * publishes what is not published, and undoes what a step has stored without its progress.
 */
export interface StageProgress {
  /** Last step that is stored as a whole. */
  readonly step: number;
  /** Last step whose starts and ends are published. */
  readonly published: number;
  /** For each other hub, the number of the item before which the motions are evaluated. */
  readonly others: readonly (readonly [hub: string, item: number])[];
}

export const NO_PROGRESS: StageProgress = { step: 0, published: 0, others: [] };

/** Id of its row, which no pair has. */
export const PROGRESS_ID = 'progress';

/** Stored state of a stage. */
export interface StoredStage {
  readonly progress: StageProgress;
  /** Rows of its pairs, without steps that are not committed. */
  readonly pairs: readonly PairRow[];
  /** Rows that replace those of steps that are not committed. */
  readonly undone: readonly CollisionRow[];
}

export function progressRow(progress: StageProgress): CollisionRow {
  return { kind: 'collision', id: PROGRESS_ID, startMs: 0, bodies: JSON.stringify(progress) };
}

export function storedStage(rows: readonly CollisionRow[]): StoredStage {
  const present = rows.filter((row): row is PairRow => row.gone !== true);
  const found = present.find(({ id }) => id === PROGRESS_ID);
  const progress = found === undefined ? NO_PROGRESS : (JSON.parse(found.bodies) as StageProgress);
  const pairs: PairRow[] = [];
  const undone: CollisionRow[] = [];
  for (const row of present) {
    if (row === found) continue;
    const { begun, ended } = storedCollision(row);
    const isEndUndone = ended !== undefined && ended.at[0] > progress.step;
    if (begun.at[0] > progress.step) undone.push(goneRow(row.id));
    else pairs.push(isEndUndone ? ongoing(row) : row);
    if (isEndUndone && begun.at[0] <= progress.step) undone.push(ongoing(row));
  }
  return { progress, pairs, undone };
}
