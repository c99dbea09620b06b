import { HubError } from '../errors.ts';
import { isSame } from '../model/json_tree.ts';
import type { LocatingRule } from '../model/rule.ts';
import { type DraftOptions, ImportDraft, type ListedChange, type StoredLists } from './import_draft.ts';
import type { Change } from './change.ts';
import { type DefinedLists, type DefinedPlan, planDefined } from './defined_lists.ts';
import type { DefinedWrite } from './documents.ts';
import { type EntityDocument, type ImportCounts, type DocumentProblem, problemAt } from './import_document.ts';
import type { EntityKindName } from './entity_lookup.ts';
import { checkedRules } from './locating_rules.ts';

/** Planned effect of an import. */
export interface ImportPlan {
  /** In an order suitable for notifications. */
  readonly changes: readonly Change[];
  /** Undefined if the rules do not change. */
  readonly rules: readonly LocatingRule[] | undefined;
  /** Documents defined in the page. */
  readonly defined: readonly DefinedWrite[];
  readonly counts: Readonly<Partial<Record<EntityKindName, ImportCounts>>>;
  readonly definedCounts: DefinedPlan['counts'];
  /** Changes of members, those of changed entities first. */
  readonly memberChanges: Listing<ListedChange>;
  /** Values in the hub that are missing in the document, whether or not they are deleted. */
  readonly missing: Listing<ListedChange>;
  readonly problems: readonly DocumentProblem[];
}

/** The first elements of a list, and its length. */
export interface Listing<T> {
  readonly first: readonly T[];
  readonly count: number;
}

export interface ImportOptions extends DraftOptions {
  readonly rules: readonly LocatingRule[];
  /** Documents defined in the page, and whether documents missing in a list are deleted. */
  readonly defined: DefinedLists;
  readonly replacesDefined: boolean;
  /** Called periodically with the number of checked entities, and awaited. A rejection cancels the plan. */
  checked(count: number): Promise<void>;
}

/** Entities checked between yields. */
const AT_ONCE = 20;
/** Changes listed between yields. */
const LISTED_AT_ONCE = 200;

/** Maximum changes of members listed individually. */
const MEMBERS_LISTED_MAX = 1000;

/**
 * Merges a document into the stored entities. Each of its entities is checked like the API does, against the resulting
 * state: stored entities not in the document, and its own previous entities. If anything is invalid, the plan has
 * problems and no changes. Has no side effects.
 */
export async function planImport(
  stored: StoredLists,
  document: EntityDocument,
  options: ImportOptions,
): Promise<ImportPlan> {
  const draft = new ImportDraft(document, options);
  for (const _part of draft.load(stored)) await options.checked(0);
  const { inOrder, problems } = draft;
  for (let done = 0; done < inOrder.length; done += AT_ONCE) {
    for (const each of inOrder.slice(done, done + AT_ONCE)) await draft.add(each);
    await options.checked(Math.min(done + AT_ONCE, inOrder.length));
  }
  // Anchors refer to zones, and zones to anchors: anchors are completed last.
  for (const each of inOrder.filter(({ kind }) => kind === 'anchor')) await draft.complete(each);
  const rules = rulesOf(document, problems);
  const counts = draft.counts();
  const { replacesDefined: replace, deletesMembers } = options;
  const definedPlan = planDefined(options.defined, document, { replace, deletesMembers, problems });
  const { writes: defined, counts: definedCounts } = definedPlan;
  const listings = {
    memberChanges: listing([...draft.memberChanges(), ...definedPlan.memberChanges]),
    missing: listing([...draft.missing, ...definedPlan.missing]),
  };
  const result = { counts, definedCounts, ...listings, problems };
  if (problems.length > 0) return { changes: [], rules: undefined, defined: [], ...result };
  const isNews = rules !== undefined && !isSame(rules, options.rules);
  const changes: Change[] = [];
  for (const change of draft.changes()) {
    changes.push(change);
    if (changes.length % LISTED_AT_ONCE === 0) await options.checked(inOrder.length);
  }
  return { changes, rules: isNews ? rules : undefined, defined, ...result };
}

/** Lists replaced values first: an import may change these by mistake. */
function listing(all: readonly ListedChange[]): Listing<ListedChange> {
  const isOld = ({ before }: ListedChange): boolean => before !== undefined;
  const inOrder = [...all.filter(isOld), ...all.filter((each) => !isOld(each))];
  return { first: inOrder.slice(0, MEMBERS_LISTED_MAX), count: all.length };
}

function rulesOf({ locatingRules }: EntityDocument, problems: DocumentProblem[]): readonly LocatingRule[] | undefined {
  if (locatingRules === undefined) return undefined;
  try {
    return checkedRules(locatingRules, 'locating_rules');
  } catch (error) {
    if (!(error instanceof HubError)) throw error;
    problems.push(problemAt('', error));
    return undefined;
  }
}
