import type { EntityWrite, StoredState, StoreBatch } from '../../core/entity_write.ts';
import type { ShapeChecks } from '../../core/shape_checks.ts';
import { definedIn } from '../../entities/defined_lists.ts';
import { type EntityDocument, LISTS, type Problem } from '../../entities/import_document.ts';
import { planImport } from '../../entities/import_plan.ts';
import { RULES_SETTING } from '../../entities/locating_rules.ts';
import type { LocatingRule } from '../../model/rule.ts';
import { definedWrites, entityWrites, keptByKind, keptSetting, settingWrite } from '../../store/entity_text.ts';

/** What an import does to a database. */
export interface Overlay {
  readonly batch: StoreBatch;
  readonly created: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly deleted: number;
}

export interface OverlayOptions {
  /** Whether the document is all there will be: other entities are deleted, and members that it does not have. */
  readonly replace: boolean;
  readonly shapes: ShapeChecks;
  /** Told how many entities are checked. A throw ends it. */
  checked(count: number): void;
}

const ALL_KINDS = new Set(LISTS.map(([, kind]) => kind));
/** Entities that are checked before the bar moves, and Ctrl-C is heard. */
const AT_ONCE = 500;

/** Lays a document over what a database keeps. Returns the writes, or, when something does not fit, what. */
export async function overlay(
  kept: Pick<StoredState, 'entities'>,
  document: EntityDocument,
  { replace, shapes, checked }: OverlayOptions,
): Promise<Overlay | readonly Problem[]> {
  let shown = 0;
  const plan = await planImport(keptByKind(kept.entities), document, {
    replaced: replace ? ALL_KINDS : new Set(),
    deletesMembers: replace,
    shapes,
    defined: definedIn(kept.entities),
    replacesDefined: replace,
    rules: keptSetting<readonly LocatingRule[]>(kept.entities, RULES_SETTING) ?? [],
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
