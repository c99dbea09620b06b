import type { Trackable } from '../../model/trackable.ts';
import { type DraftMembers, withMember } from '../drafts/member_changes.ts';
import { type Entities, type Kind, labelOf } from '../hub/entity_kinds.ts';
import { equal } from '../json/equal.ts';

/** Unit of an input. The API has milliseconds instead of seconds, and -1 for no limit. */
export type BulkUnit = 'floor' | 's' | 'm' | 'property' | 'trackable';

/** Field that can be changed in bulk. */
export interface BulkField {
  readonly name: string;
  readonly unit: BulkUnit;
}

const ENTRY: readonly BulkField[] = [
  { name: 'entry_delay', unit: 's' },
  { name: 'entry_tolerance_timeout', unit: 's' },
];
const EXIT: readonly BulkField[] = [
  { name: 'exit_delay', unit: 's' },
  { name: 'exit_tolerance', unit: 'm' },
  { name: 'tolerance_timeout', unit: 's' },
];
const PROPERTY: BulkField = { name: 'properties', unit: 'property' };

export const BULK_FIELDS: Readonly<Record<Kind, readonly BulkField[]>> = {
  zones: [{ name: 'floor', unit: 'floor' }, PROPERTY],
  fences: [
    { name: 'floor', unit: 'floor' },
    ...EXIT,
    ...ENTRY,
    { name: 'entry_tolerance', unit: 'm' },
    { name: 'timeout', unit: 's' },
    { name: 'extrusion', unit: 'm' },
    PROPERTY,
  ],
  trackables: [{ name: 'fence_timeout', unit: 's' }, ...EXIT, ...ENTRY, { name: 'radius', unit: 'm' }, PROPERTY],
  providers: [
    { name: 'assignment', unit: 'trackable' },
    { name: 'fence_timeout', unit: 's' },
    ...EXIT,
    ...ENTRY,
    PROPERTY,
  ],
  anchors: [PROPERTY],
};

/** Parses the value of a property as JSON; other text is a string. */
export function propertyValue(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** New value of a member or property; undefined removes it. */
export interface Edit {
  readonly path: readonly string[];
  readonly value: unknown;
}

/** Update of one entity: the changed members before and after. */
export interface BulkWrite {
  readonly kind: Kind;
  readonly id: string;
  readonly label: string;
  readonly before: DraftMembers;
  readonly after: DraftMembers;
}

/** Row of the preview. */
export interface PreviewRow {
  readonly id: string;
  readonly label: string;
  readonly path: readonly string[];
  readonly from: unknown;
  readonly to: unknown;
}

export interface BulkPlan {
  readonly writes: readonly BulkWrite[];
  readonly rows: readonly PreviewRow[];
  /** Number of selected entities that change. The others already have the new values. */
  readonly changed: number;
}

/** Plans edits of entities; later edits override earlier ones. */
export function planEdits<K extends Kind>(kind: K, entities: readonly Entities[K][], edits: readonly Edit[]): BulkPlan {
  const writes: BulkWrite[] = [];
  const rows: PreviewRow[] = [];
  for (const entity of entities) {
    const first = entity as unknown as DraftMembers;
    const last = edits.reduce((members, { path, value }) => withMember(members, path, value), first);
    const names = [...new Set(edits.map(({ path: [name = ''] }) => name))];
    const changed = names.filter((name) => !equal(first[name] ?? null, last[name] ?? null));
    if (changed.length === 0) continue;
    const label = labelOf(entity);
    writes.push({ kind, id: entity.id, label, before: only(first, changed), after: only(last, changed) });
    const paths = new Map(edits.map(({ path }) => [JSON.stringify(path), path]));
    for (const path of paths.values()) {
      const [from, to] = [valueAt(first, path), valueAt(last, path)];
      if (!equal(from ?? null, to ?? null)) rows.push({ id: entity.id, label, path, from, to });
    }
  }
  return { writes, rows, changed: writes.length };
}

/** Plans the assignment of providers to only `target`, or to no trackable if it is undefined. */
export function planAssignment(
  providers: readonly Entities['providers'][],
  trackables: Iterable<Trackable>,
  target: Trackable | undefined,
): BulkPlan {
  const all = [...trackables];
  const moved = new Set(providers.map(({ id }) => id));
  const owners = new Map<string, Trackable[]>();
  for (const trackable of all) {
    for (const id of trackable.location_providers ?? []) {
      if (moved.has(id)) owners.set(id, [...(owners.get(id) ?? []), trackable]);
    }
  }
  const rows = providers.flatMap((provider): PreviewRow[] => {
    const current = owners.get(provider.id) ?? [];
    const isAssigned =
      target === undefined ? current.length === 0 : current.length === 1 && current[0]?.id === target.id;
    const from = current.length === 0 ? undefined : current.map(labelOf).join(', ');
    const to = target === undefined ? undefined : labelOf(target);
    return isAssigned ? [] : [{ id: provider.id, label: labelOf(provider), path: ['assignment'], from, to }];
  });
  const changing = new Set(rows.map(({ id }) => id));
  const writes = all.flatMap((trackable): BulkWrite[] => {
    const before = trackable.location_providers ?? [];
    const remaining = before.filter((id) => !changing.has(id) || (trackable.id === target?.id && moved.has(id)));
    const added = trackable.id === target?.id ? [...changing].filter((id) => !remaining.includes(id)) : [];
    const after = [...remaining, ...added];
    if (equal(before, after)) return [];
    const members = (ids: readonly string[]): DraftMembers => (ids.length === 0 ? {} : { location_providers: ids });
    return [
      {
        kind: 'trackables',
        id: trackable.id,
        label: labelOf(trackable),
        before: members(before),
        after: members(after),
      },
    ];
  });
  return { writes, rows, changed: rows.length };
}

/** Returns the writes that revert `writes`. */
export function undone(writes: readonly BulkWrite[]): readonly BulkWrite[] {
  return writes.map((write) => ({ ...write, before: write.after, after: write.before }));
}

function only(members: DraftMembers, names: readonly string[]): DraftMembers {
  return Object.fromEntries(names.flatMap((name) => (members[name] === undefined ? [] : [[name, members[name]]])));
}

function valueAt(members: DraftMembers, [name = '', ...inner]: readonly string[]): unknown {
  const value = members[name];
  return inner.length === 0 || value == null ? value : valueAt(value as DraftMembers, inner);
}
