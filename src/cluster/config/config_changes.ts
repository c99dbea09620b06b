import type { StoredKind } from '../../core/entity_write.ts';
import type { ConfigBody, EntityChange } from './config_record.ts';

/** A change of an entity, as it is in the configuration log. */
export interface ConfigChange {
  readonly kind: Exclude<StoredKind, 'setting'>;
  readonly id: string;
  /** JSON; null if it is deleted. */
  readonly text: string | null;
  readonly force: boolean;
  /** Whether the change applies only if the entity does not exist. */
  readonly ifAbsent?: boolean;
}

/** Entities that a record changes. */
export function changesIn(body: ConfigBody): readonly ConfigChange[] {
  if (body.kind === 'ensure') {
    return body.providers.map(([id, text]) => ({ kind: 'provider', id, text, force: false, ifAbsent: true }));
  }
  return rowsOf(body).flatMap(([kind, id, text, force]) => (kind === 'setting' ? [] : [{ kind, id, text, force }]));
}

/** Settings that a record changes, as JSON; null if one is deleted. */
export function settingsIn(body: ConfigBody): readonly (readonly [name: string, text: string | null])[] {
  return rowsOf(body).flatMap(([kind, name, text]) => (kind === 'setting' ? [[name, text] as const] : []));
}

function rowsOf(body: ConfigBody): readonly EntityChange[] {
  return body.kind === 'change' || body.kind === 'regroup' ? body.changes : [];
}
