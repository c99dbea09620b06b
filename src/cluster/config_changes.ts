import type { EntityKind } from '../core/kept.ts';
import type { ConfigBody, EntityChange } from './config_record.ts';

/** A change of an entity, as all hubs tell it. */
export interface ForeignChange {
  readonly kind: Exclude<EntityKind, 'setting'>;
  readonly id: string;
  /** JSON; null where it is deleted. */
  readonly text: string | null;
  readonly force: boolean;
  /** Nothing changes where the entity exists already. */
  readonly ifAbsent?: boolean;
}

/** The entities that a record changes. */
export function changesIn(body: ConfigBody): readonly ForeignChange[] {
  if (body.kind === 'ensure') {
    return body.providers.map(([id, text]) => ({ kind: 'provider', id, text, force: false, ifAbsent: true }));
  }
  return rowsOf(body).flatMap(([kind, id, text, force]) => (kind === 'setting' ? [] : [{ kind, id, text, force }]));
}

/** The settings that a record changes, as JSON; null where one is deleted. */
export function settingsIn(body: ConfigBody): readonly (readonly [name: string, text: string | null])[] {
  return rowsOf(body).flatMap(([kind, name, text]) => (kind === 'setting' ? [[name, text] as const] : []));
}

function rowsOf(body: ConfigBody): readonly EntityChange[] {
  return body.kind === 'change' || body.kind === 'regroup' ? body.changes : [];
}
