import { hubError } from '../../errors.ts';
import type { ClusterContext } from '../context.ts';
import type { ConfigChange } from './config_changes.ts';
import type { ConfigLog } from './config_log.ts';
import type { EntityChange } from './config_record.ts';
import type { ConfigState } from './config_state.ts';
import type { ObjectPartitions } from './object_partitions.ts';
import { changeRecord } from './repartition.ts';

export interface EntityCommitsOptions extends Pick<ClusterContext, 'hubName' | 'elapsed' | 'schedule'> {
  /** Partitions by the applied configuration. */
  readonly partitions: ObjectPartitions;
  log(): ConfigLog;
  /** State after the last applied record. */
  state(): ConfigState;
  /** Resolves when every member has applied a record. */
  appliedByAll(sequence: number, timeoutMs: number): Promise<void>;
  /** Whether this hub is out of the cluster. */
  isOut(): boolean;
}

/** Time that a change of entities waits for migrations, and then until other hubs have applied it. */
const EVERYWHERE_MS = 10_000;

/** A setting to store with changed entities, as JSON. */
export type SettingText = readonly [name: string, text: string];

/** Commits of changed entities to the configuration log, once the objects that they move may migrate. */
export class EntityCommits {
  readonly #options: EntityCommitsOptions;
  /** Called with the next record, or when this hub has acquired something. */
  readonly #watchers = new Set<() => void>();

  constructor(options: EntityCommitsOptions) {
    this.#options = options;
  }

  /** See Cluster. */
  async commit(changes: readonly ConfigChange[], settings: readonly SettingText[]): Promise<'overtaken' | undefined> {
    const { hubName, partitions, log, state, appliedByAll } = this.#options;
    const { applied: before } = log();
    const rows = [
      ...changes.map(({ kind, id, text, force }): EntityChange => [kind, id, text, force]),
      ...settings.map(([name, text]): EntityChange => ['setting', name, text, false]),
    ];
    const made = () => changeRecord(hubName, rows, { state: state(), partitions });
    const record = made();
    if (record === undefined) {
      await this.#until(() => made() !== undefined);
      // The records that have completed the migrations came first.
      return 'overtaken';
    }
    const appended = await log().append(record, before);
    if (appended.at === 'overtaken') return 'overtaken';
    await appliedByAll(appended.sequence, EVERYWHERE_MS);
    return undefined;
  }

  /** Resolves when migrations are so far. Rejects with HUB_UNAVAILABLE if that takes too long. */
  async #until(isSo: () => boolean): Promise<void> {
    const { elapsed, isOut } = this.#options;
    const untilMs = elapsed() + EVERYWHERE_MS;
    while (!isSo()) {
      const leftMs = untilMs - elapsed();
      if (isOut() || leftMs <= 0) {
        throw hubError('migrating');
      }
      await this.change(leftMs);
    }
  }

  /** Resolves with the next record, when this hub has acquired something, or after `ms`. */
  change(ms = EVERYWHERE_MS): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        this.#watchers.delete(end);
        cancel();
        resolve();
      };
      const cancel = this.#options.schedule(ms, end);
      this.#watchers.add(end);
    });
  }

  /** Call it after each record, and when this hub has acquired something. */
  hasChanged(): void {
    for (const watcher of [...this.#watchers]) watcher();
  }
}
