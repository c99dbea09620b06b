import { type CollisionRow, goneRow, ongoing, type PairRow, storedCollision } from './row.ts';

/**
 * Progress of a cluster's collision stage, written after the rows of each step. It commits the step: all starts and
 * ends that follow from the motions up to there are stored. The next owner of the stage publishes the committed starts
 * and ends that are not published yet, undoes rows of steps that are not committed, and continues with the motions
 * after the progress.
 */
export interface StageProgress {
  /** Last committed step. */
  readonly step: number;
  /** Last step whose starts and ends are published. */
  readonly published: number;
  /** For each other hub, the number of the first item whose motions are not evaluated yet. */
  readonly others: readonly (readonly [hub: string, item: number])[];
}

export const NO_PROGRESS: StageProgress = { step: 0, published: 0, others: [] };

/** Id of the row of the progress. No pair has this id. */
export const PROGRESS_ID = 'progress';

/** Stored state of a stage. */
export interface StoredStage {
  readonly progress: StageProgress;
  /** Rows of the pairs, without changes by uncommitted steps. */
  readonly pairs: readonly PairRow[];
  /** Rows that undo uncommitted steps. */
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
