import type { EntityWrite, StoredState, StoreBatch } from '../../core/entity_write.ts';
import type { ShapeChecks } from '../../core/shape_checks.ts';
import { definedIn } from '../../entities/defined_lists.ts';
import { type EntityDocument, LISTS, type DocumentProblem } from '../../entities/import_document.ts';
import { planImport } from '../../entities/import_plan.ts';
import { RULES_SETTING } from '../../entities/locating_rules.ts';
import type { LocatingRule } from '../../model/rule.ts';
import { definedWrites, entityWrites, storedByKind, storedSetting, settingWrite } from '../../store/entity_json.ts';

/** Effect of an import on a database. */
export interface Overlay {
  readonly batch: StoreBatch;
  readonly created: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly deleted: number;
}

export interface OverlayOptions {
  /** Whether entities and members missing in the document are deleted. */
  readonly replace: boolean;
  readonly shapes: ShapeChecks;
  /** Called with the number of checked entities. A throw cancels the import. */
  checked(count: number): void;
}

const ALL_KINDS = new Set(LISTS.map(([, kind]) => kind));
/** Entities checked between updates of the progress bar, which also allow Ctrl-C. */
const AT_ONCE = 500;

/** Merges a document into the stored entities of a database. Returns the writes, or the problems. */
export async function overlay(
  stored: Pick<StoredState, 'entities'>,
  document: EntityDocument,
  { replace, shapes, checked }: OverlayOptions,
): Promise<Overlay | readonly DocumentProblem[]> {
  let shown = 0;
  const plan = await planImport(storedByKind(stored.entities), document, {
    replaced: replace ? ALL_KINDS : new Set(),
    deletesMembers: replace,
    shapes,
    defined: definedIn(stored.entities),
    replacesDefined: replace,
    rules: storedSetting<readonly LocatingRule[]>(stored.entities, RULES_SETTING) ?? [],
    async checked(count) {
      if (count - shown < AT_ONCE && count < document.entities.length) return;
      shown = count;
      checked(count);
      await new Promise((resolve) => setImmediate(resolve));
    },
  });
  if (plan.problems.length > 0) return plan.problems;
  const entities: EntityWrite[] = entityWrites(plan.changes);
  if (plan.rules !== undefined) entities.push(settingWrite(RULES_SETTING, plan.rules));
  entities.push(...definedWrites(plan.defined));
  const rows = plan.changes.flatMap(({ kind, id, after }) => {
    return after === undefined && (kind === 'provider' || kind === 'trackable')
      ? [{ kind, id, gone: true as const }]
      : [];
  });
  const sum = (name: 'created' | 'changed' | 'unchanged' | 'deleted') =>
    Object.values({ ...plan.counts, ...plan.definedCounts }).reduce((total, counts) => total + counts[name], 0);
  const counts = { created: sum('created'), changed: sum('changed'), unchanged: sum('unchanged') };
  return { batch: { entities, rows }, ...counts, deleted: sum('deleted') };
}
