import { errorOfAll, hubError, HubError } from '../errors.ts';
import { Problem } from '../problem.ts';
import type { Author } from '../model/audit.ts';
import type { Import, ImportState } from '../model/import.ts';
import { formatTime } from '../model/time.ts';
import type { TaskScheduler } from '../time/task_scheduler.ts';
import type { EntityBody } from './body.ts';
import { DEFINED_KINDS, type DefinedLists } from './defined_lists.ts';
import type { DefinedDocument, Documents } from './documents.ts';
import type { Entities } from './entities.ts';
import {
  DEFINED_NAMES,
  type DefinedName,
  type EntityDocument,
  LISTS,
  type DocumentProblem,
  readDocument,
} from './import_document.ts';
import { type ImportPlan, planImport } from './import_plan.ts';
import type { LocatingRules } from './locating_rules.ts';

type DefinedDocuments = Pick<Documents<DefinedDocument>, 'list' | 'keep' | 'take' | 'audited'>;

export interface ImportsDeps {
  readonly entities: Entities;
  readonly rules: LocatingRules;
  /** Documents defined in the page. */
  defined(): Readonly<Record<DefinedName, DefinedDocuments>>;
  readonly turns: TaskScheduler;
  /** Wall-clock time. */
  now(): number;
  /** Reports internal errors. */
  report(error: unknown): void;
  /**
   * With a shared log of hubs: the maximum bytes of the changes of one import as JSON, since they form one record;
   * rules, alert rules and views are not part of it. Default: no limit, and everything is stored in one transaction.
   */
  readonly bytesMax?: number;
}

export interface ImportOrder {
  /** Whether to only report the effect. */
  readonly dryRun: boolean;
  /** Whether entities missing in the document are deleted, for kinds whose list it has. */
  readonly replace: boolean;
  /** Whether values of listed entities are deleted if the document could contain them and does not. */
  readonly deleteMembers?: boolean;
  /** Author of its changes. */
  readonly by?: Author | undefined;
}

/** Maximum problems listed individually. */
const PROBLEMS_MAX = 1000;

/**
 * Imports of documents, one at a time. An import continues even if no client waits for it. The outcome of the last one is
 * available until the hub stops.
 *
 *   state      signal                        next
 *   ---------  ----------------------------  ----------------------------------
 *   (none)     start                         waiting
 *   waiting    its turn has come             checking
 *   checking   the document is invalid       refused
 *   checking   the document is valid         keeping; done for a dry run
 *   checking   overtaken (cluster)           checking, from the beginning
 *   keeping    committed and all notified    done
 *   keeping    the database fails            failed: nothing was changed
 *   waiting    cancel                        cancelled
 *   checking   cancel                        cancelled
 *   keeping    cancel                        keeping: the cancellation is rejected
 */
export class Imports {
  readonly #deps: ImportsDeps;
  #shown: Import = { state: 'idle' };
  #canceling = new AbortController();
  #running: Promise<void> | undefined;

  constructor(deps: ImportsDeps) {
    this.#deps = deps;
  }

  /** The running import, or else the last one. */
  get current(): Import {
    return this.#shown;
  }

  /**
   * Starts an import and returns its state; `current` has later states. Throws HUB_UNAVAILABLE during another import,
   * and HUB_BAD_REQUEST for an invalid document.
   */
  start(body: EntityBody, order: ImportOrder): Import {
    if (this.#running !== undefined) {
      throw hubError('import_in_progress', { import_id: this.#shown.id ?? '' });
    }
    const document = readDocument(body);
    if (!('entities' in document)) throw refusedDocument(document);
    this.#canceling = new AbortController();
    this.#shown = {
      state: 'waiting',
      id: this.#deps.entities.newId(),
      dry_run: order.dryRun,
      replace: order.replace,
      delete_members: order.deleteMembers === true,
      began_at: formatTime(this.#deps.now()),
      total: document.entities.length,
      checked: 0,
    };
    this.#running = this.#run(document, order).finally(() => {
      this.#running = undefined;
    });
    return this.#shown;
  }

  /** Cancels the running import without changes. Throws HUB_BAD_REQUEST once it is being committed. */
  cancel(): void {
    if (this.#running === undefined) return;
    if (this.#shown.state === 'keeping') {
      throw hubError('import_being_stored', { import_id: this.#shown.id ?? '' });
    }
    this.#canceling.abort();
  }

  /** Cancels the running import if possible, and resolves when none is running. */
  async close(): Promise<void> {
    this.#canceling.abort();
    await this.#running;
  }

  async #run(document: EntityDocument, order: ImportOrder): Promise<void> {
    try {
      const plan = order.dryRun
        ? await this.#plan(document, order)
        : await this.#deps.entities.changeTogether(() => this.#planToKeep(document, order));
      if (!order.dryRun) {
        await this.#takeRules(plan, order.by);
        await this.#takeDefined(plan, order.by);
      }
      this.#end(plan.problems.length > 0 ? 'refused' : 'done');
    } catch (error) {
      this.#endWith(error);
    }
  }

  #endWith(error: unknown): void {
    const isCancelled = error === this.#canceling.signal.reason;
    if (error instanceof Refused || isCancelled) {
      this.#end(isCancelled ? 'cancelled' : 'refused');
      return;
    }
    if (!(error instanceof HubError)) this.#deps.report(error);
    this.#end('failed', error instanceof HubError ? error : hubError('hub_failed'));
  }

  async #plan(document: EntityDocument, order: ImportOrder): Promise<ImportPlan> {
    const { entities, rules, defined, turns } = this.#deps;
    const { signal } = this.#canceling;
    let begun = turns.begin();
    this.#show({ state: 'checking', checked: 0 });
    signal.throwIfAborted();
    const plan = await planImport(entities.lists(), document, {
      replaced: order.replace ? document.kinds : new Set(),
      deletesMembers: order.deleteMembers === true,
      shapes: entities.shapes,
      bounds: entities.bounds,
      rules: rules.current,
      defined: Object.fromEntries(DEFINED_NAMES.map((name) => [name, defined()[name].list])) as unknown as DefinedLists,
      replacesDefined: order.replace,
      checked: async (checked) => {
        this.#show({ checked });
        if (turns.isLong(begun)) {
          await turns.next();
          begun = turns.begin();
        }
        signal.throwIfAborted();
      },
    });
    const { problems, counts, definedCounts, memberChanges, missing } = plan;
    const byList = Object.fromEntries(LISTS.flatMap(([name, kind]) => (counts[kind] ? [[name, counts[kind]]] : [])));
    this.#show({
      counts: { ...byList, ...definedCounts },
      rules: plan.rules === undefined ? 'unchanged' : 'changed',
      // A running import needs no preview, and is polled.
      ...(order.dryRun && {
        member_change_count: memberChanges.count,
        member_changes: [...memberChanges.first],
        missing_count: missing.count,
        missing: [...missing.first],
      }),
      problem_count: problems.length,
      problems: problems.slice(0, PROBLEMS_MAX),
    });
    return plan;
  }

  async #planToKeep(document: EntityDocument, order: ImportOrder): Promise<ImportPlan & Pick<ImportOrder, 'by'>> {
    const plan = await this.#plan(document, order);
    if (plan.problems.length > 0) throw new Refused();
    this.#checkSize(plan);
    this.#show({ state: 'keeping' });
    return { ...plan, by: order.by };
  }

  #checkSize({ changes }: ImportPlan): void {
    const { bytesMax = Number.POSITIVE_INFINITY } = this.#deps;
    if (bytesMax === Number.POSITIVE_INFINITY) return;
    let bytes = 0;
    for (const { after } of changes) bytes += after === undefined ? 0 : Buffer.byteLength(JSON.stringify(after));
    if (bytes <= bytesMax) return;
    throw hubError('import_too_large', { limit: bytesMax, found: bytes });
  }

  /** Notifies of rules that were committed together with entities. */
  async #takeRules({ changes, rules: changed }: ImportPlan, by: Author | undefined): Promise<void> {
    const { rules, bytesMax } = this.#deps;
    if (changed === undefined) return;
    if (changes.length > 0 && bytesMax === undefined) rules.apply(changed);
    else await rules.replace(changed, by);
  }

  async #takeDefined({ changes, defined }: ImportPlan, by: Author | undefined): Promise<void> {
    const { bytesMax } = this.#deps;
    for (const name of DEFINED_NAMES) {
      const its = defined.filter(([each]) => each.startsWith(DEFINED_KINDS[name].prefix));
      if (its.length === 0) continue;
      const documents = this.#deps.defined()[name];
      if (changes.length > 0 && bytesMax === undefined) documents.take(its);
      else await documents.keep(its, by);
    }
  }

  #show(members: Partial<Import>): void {
    this.#shown = { ...this.#shown, ...members };
  }

  #end(state: ImportState, error?: HubError): void {
    const why = error && { error: error.message, reason: error.reason, params: error.params };
    this.#show({ state, ended_at: formatTime(this.#deps.now()), ...why });
  }
}

/** Invalid document; the problems are reported with the import. */
class Refused extends Error {}

function refusedDocument(problems: readonly DocumentProblem[]): HubError {
  return errorOfAll(
    problems.map((problem) => new Problem(problem).at(problem.place)),
    1,
  );
}
