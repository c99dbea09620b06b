import { problemOf } from '../problem.ts';
import type { EntityWrite } from '../core/entity_write.ts';
import { HubError } from '../errors.ts';
import type { AlertRule } from '../model/alert.ts';
import { idKey } from '../model/id.ts';
import { isSame } from '../model/json_tree.ts';
import type { Sink } from '../model/sink.ts';
import type { Source } from '../model/source.ts';
import type { MapView } from '../model/view.ts';
import { ALERT_RULES } from './alert_rules.ts';
import { type EntityBody, bodyObject, withId } from './body.ts';
import {
  type DefinedDocument,
  type DefinedWrite,
  type DocumentKind,
  withSecretsOf,
  withoutSecrets,
} from './documents.ts';
import {
  DEFINED_NAMES,
  type DefinedName,
  type EntityDocument,
  type ImportCounts,
  type DocumentProblem,
  problemAt,
} from './import_document.ts';
import { MAP_VIEWS } from './map_views.ts';
import { type MergedMemberChange, memberChanges, merge, shownAt } from './merge.ts';
import { SINKS } from './sinks.ts';
import { SOURCES } from './sources.ts';

/** Lists of user-defined documents, such as alert rules and views, in an import document. */

export interface DefinedLists {
  readonly alert_rules: readonly AlertRule[];
  readonly views: readonly MapView[];
  readonly sinks: readonly Sink[];
  readonly sources: readonly Source[];
}

export const DEFINED_KINDS: Readonly<Record<DefinedName, DocumentKind<DefinedDocument>>> = {
  alert_rules: ALERT_RULES,
  views: MAP_VIEWS,
  sinks: SINKS as DocumentKind<DefinedDocument>,
  sources: SOURCES as DocumentKind<DefinedDocument>,
};

export interface DefinedPlan {
  readonly writes: readonly DefinedWrite[];
  readonly counts: Readonly<Partial<Record<DefinedName, ImportCounts>>>;
  /** Changes of members. */
  readonly memberChanges: readonly DefinedChange[];
  /** Values in the hub that are missing in the document, whether or not they are deleted. */
  readonly missing: readonly DefinedChange[];
}

interface DefinedChange extends MergedMemberChange {
  readonly list: DefinedName;
  readonly id: string;
}

interface DefinedOptions {
  /** Whether documents missing in a list are deleted. */
  readonly replace: boolean;
  /** Whether values missing in a listed rule or view are deleted. */
  readonly deletesMembers: boolean;
  readonly problems: DocumentProblem[];
}

/** The stored documents of each kind. */
export function definedIn(stored: readonly EntityWrite[]): DefinedLists {
  const listOf = (name: DefinedName): readonly DefinedDocument[] => {
    const { prefix } = DEFINED_KINDS[name];
    return stored.flatMap(({ kind, id, text }) => {
      return kind === 'setting' && id.startsWith(prefix) && text !== undefined
        ? [JSON.parse(text) as DefinedDocument]
        : [];
    });
  };
  return {
    alert_rules: listOf('alert_rules') as readonly AlertRule[],
    views: listOf('views') as readonly MapView[],
    sinks: listOf('sinks') as readonly Sink[],
    sources: listOf('sources') as readonly Source[],
  };
}

/** Merges the lists of a document into the stored ones. Checks each like the API, and collects problems. */
export function planDefined(
  stored: DefinedLists,
  document: EntityDocument,
  { replace, deletesMembers, problems }: DefinedOptions,
): DefinedPlan {
  const writes: DefinedWrite[] = [];
  const counts: Partial<Record<DefinedName, ImportCounts>> = {};
  const changes: DefinedChange[] = [];
  const missing: DefinedChange[] = [];
  for (const name of DEFINED_NAMES) {
    const listed = document.defined.get(name);
    if (listed === undefined) continue;
    const { prefix, kind: noun, max, ...kind } = DEFINED_KINDS[name];
    const before = new Map<string, DefinedDocument>(stored[name].map((each) => [idKey(each.id), each]));
    const after = new Map(replace ? [] : before);
    const named = new Set<string>();
    for (const { id, place, body } of listed) {
      const key = idKey(id);
      if (named.has(key)) problems.push({ ...problemAt(`${place}.id`, problemOf('taken_id', { kind: noun, id })), id });
      named.add(key);
      const stored = before.get(key) as EntityBody | undefined;
      const merged = stored && merge(withoutSecrets(stored, kind), bodyObject(body), { deletes: deletesMembers });
      for (const path of merged?.missing ?? []) {
        missing.push({ list: name, id, path, before: shownAt(stored as EntityBody, path) });
      }
      try {
        const whole = stored && merged && withSecretsOf(stored, merged.body, kind);
        const next = kind.check(withId(whole ?? bodyObject(body), before.get(key)?.id ?? id));
        after.delete(key);
        for (const other of kind.besides?.(next, [...after.values()]) ?? []) after.set(idKey(other.id), other);
        after.set(key, next);
      } catch (error) {
        if (!(error instanceof HubError)) throw error;
        problems.push({ ...problemAt(place, error), id });
      }
    }
    if (after.size > max) {
      problems.push(problemAt(name, problemOf('too_many_left', { limit: max, unit: name, found: after.size })));
    }
    const isNews = (key: string): boolean => !isSame(before.get(key), after.get(key));
    const gone = [...before].filter(([key]) => !after.has(key));
    const created = [...named].filter((key) => !before.has(key)).length;
    const changed = [...named].filter((key) => before.has(key) && isNews(key)).length;
    counts[name] = { created, changed, unchanged: named.size - created - changed, deleted: gone.length };
    for (const [, { id }] of gone) writes.push([prefix + id, undefined]);
    for (const [key, each] of after) {
      if (!isNews(key)) continue;
      writes.push([prefix + each.id, each]);
      const old = before.get(key);
      const its = memberChanges(
        old && (withoutSecrets(old, kind) as unknown as EntityBody),
        withoutSecrets(each, kind) as unknown as EntityBody,
      );
      changes.push(...its.map((change) => ({ list: name, id: each.id, ...change })));
    }
  }
  return { writes, counts, memberChanges: changes, missing };
}
