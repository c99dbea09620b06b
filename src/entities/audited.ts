import type { AuditEntry, Author } from '../model/audit.ts';
import { publicFence, type StoredFence } from '../model/fence.ts';
import { patchBetween } from '../model/json_diff.ts';
import { formatTime } from '../model/time.ts';
import type { FilterFields } from '../model/topics.ts';
import type { Change } from './change.ts';

/** A change of an entity, a document or a setting by a known author. Without secrets. */
export interface AuditedChange {
  readonly kind: AuditEntry['kind'];
  readonly id: string;
  /** Undefined for a creation. */
  readonly before: unknown;
  /** Undefined for a deletion. */
  readonly after: unknown;
  readonly by: Author;
}

/** An entry of the audit log before it has a position: its fields for filters, and its JSON without the cursor. */
export interface WrittenEntry {
  /** Kind, id and subject, and further ids. */
  readonly fields: FilterFields;
  readonly json: string;
}

/** Returns the audited changes among changes of entities: those with an author. */
export function auditedEntities(changes: readonly Change[]): readonly AuditedChange[] {
  return changes.flatMap(({ kind, id, before, after, by }) => {
    if (by === undefined) return [];
    const shown = (entity: object | undefined): unknown =>
      kind === 'fence' && entity !== undefined ? publicFence(entity as StoredFence) : entity;
    return [{ kind, id, before: shown(before), after: shown(after), by }];
  });
}

/** Returns the entries of changes. A write that changes nothing has no entry. */
export function auditEntries(changes: readonly AuditedChange[], nowMs: number): readonly WrittenEntry[] {
  const time = formatTime(nowMs);
  return changes.flatMap(({ kind, id, before, after, by }) => {
    const patch = patchBetween(before, after);
    if (patch.length === 0) return [];
    const action = before === undefined ? 'create' : after === undefined ? 'delete' : 'update';
    const json = JSON.stringify({ time, kind, id, action, ...by, patch });
    return [{ fields: [kind, id, by.subject], json }];
  });
}
