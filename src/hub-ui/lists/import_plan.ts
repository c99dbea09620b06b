import type { LocatingRule } from '../../model/rule.ts';
import type { Entities, Kind } from '../hub/kinds.ts';
import { createEntity, deleteEntity, replaceEntity, request } from '../hub/rest.ts';
import { type EntityDocument, NEEDED_ORDER } from './entity_document.ts';
import { type Failure, runAll } from './run_all.ts';

type Any = Entities[Kind];

/** What an import does to one kind. */
export interface KindPlan {
  readonly kind: Kind;
  readonly created: readonly Any[];
  readonly changed: readonly Any[];
  readonly unchanged: number;
  /** In the hub, and not in the file. */
  readonly missing: readonly Any[];
}

export interface Plan {
  readonly kinds: readonly KindPlan[];
  /** Rules to set; undefined where they stay as they are. */
  readonly rules: readonly LocatingRule[] | undefined;
}

/** Compares a file with what the hub has. */
export function planOf(file: EntityDocument, hub: EntityDocument): Plan {
  const kinds = NEEDED_ORDER.flatMap((kind): KindPlan[] => {
    const list = file.lists.get(kind);
    if (list === undefined) return [];
    const present = new Map((hub.lists.get(kind) ?? []).map((entity) => [entity.id, entity]));
    const ids = new Set(list.map(({ id }) => id));
    const changed = list.filter((entity) => {
      const its = present.get(entity.id);
      return its !== undefined && !isSame(asWritten(entity), asWritten(its));
    });
    const created = list.filter(({ id }) => !present.has(id));
    const missing = [...present.values()].filter(({ id }) => !ids.has(id));
    return [{ kind, created, changed, unchanged: list.length - created.length - changed.length, missing }];
  });
  const rules = file.rules !== undefined && !isSame(file.rules, hub.rules ?? []) ? file.rules : undefined;
  return { kinds, rules };
}

/** One step of an import. */
export interface Step {
  readonly what: 'create' | 'change' | 'delete' | 'rules';
  readonly kind: Kind | undefined;
  readonly id: string;
  readonly act: () => Promise<void>;
}

/** All steps, in groups: those of one group do not need each other. Deletions go the other way round. */
export function stepsOf({ kinds, rules }: Plan, { withDeletions }: { readonly withDeletions: boolean }): Step[][] {
  const writes = kinds.map(({ kind, created, changed }): Step[] => [
    ...created.map((entity): Step => {
      const act = async (): Promise<void> => void (await createEntity(kind, entity));
      return { what: 'create', kind, id: entity.id, act };
    }),
    ...changed.map((entity): Step => ({ what: 'change', kind, id: entity.id, act: () => replaceEntity(kind, entity) })),
  ]);
  const deletions = [...kinds].reverse().map(({ kind, missing }): Step[] => {
    return missing.map(({ id }) => ({ what: 'delete', kind, id, act: () => deleteEntity(kind, id) }));
  });
  const act = async (): Promise<void> => void (await request('PUT', '/trackables/rules/locating', { body: rules }));
  const last: Step[] = rules === undefined ? [] : [{ what: 'rules', kind: undefined, id: 'locating rules', act }];
  return [...writes, ...(withDeletions ? deletions : []), last].filter((group) => group.length > 0);
}

/**
 * Does all steps. What fails is tried again once everything else is there, for as long as that helps: within a kind, too,
 * one may need another. Returns what could not be done.
 */
export async function runSteps(
  groups: readonly (readonly Step[])[],
  { signal, onDone }: { readonly signal: AbortSignal; readonly onDone: () => void },
): Promise<Failure<Step>[]> {
  let failures: Failure<Step>[] = [];
  for (const group of groups) failures.push(...(await runAll(group, ({ act }) => act(), { signal, onDone })));
  for (let before = Number.POSITIVE_INFINITY; failures.length > 0 && failures.length < before && !signal.aborted; ) {
    before = failures.length;
    const again = failures.map(({ item }) => item);
    failures = await runAll(again, ({ act }) => act(), { signal, onDone: () => undefined });
  }
  return failures;
}

/** What is only read, and follows from other entities, is left out. */
function asWritten(entity: Any): object {
  return { ...entity, children: undefined };
}

/** Whether two values say the same: absent and null make no difference. */
function isSame(a: unknown, b: unknown): boolean {
  if (a === b || (a == null && b == null)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  if (Array.isArray(a) && a.length !== (b as readonly unknown[]).length) return false;
  const [one, other] = [a as Readonly<Record<string, unknown>>, b as Readonly<Record<string, unknown>>];
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names].every((name) => isSame(one[name], other[name]));
}
