import type { Author } from '../model/audit.ts';
import { parseLossless } from '../model/lossless_numbers.ts';
import { show } from '../model/error_value_text.ts';
import type { EntityMap, EntityKindName } from './entity_lookup.ts';

/** Creation (no `before`), replacement, or deletion (no `after`) of one entity. */
export interface Change<K extends EntityKindName = EntityKindName> {
  readonly kind: K;
  /** Id in the spelling of its creation; requests may use another case of a UUID. */
  readonly id: string;
  readonly before: EntityMap[K] | undefined;
  readonly after: EntityMap[K] | undefined;
  /** Whether to evaluate the trackable's locations at once. */
  readonly force?: boolean;
  /** Author of a change that is audited; undefined for a change that the hub makes, such as the move of a zone. */
  readonly by?: Author | undefined;
}

/** A change as exchanged between hubs. */
export interface RemoteChange {
  readonly kind: EntityKindName;
  readonly id: string;
  /** The entity as JSON; null for a deletion. */
  readonly text: string | null;
  /** Whether to evaluate the trackable's locations at once. */
  readonly force: boolean;
  /** Whether to change nothing if the entity exists. */
  readonly ifAbsent?: boolean;
}

export function writtenChange({ kind, id, after, force }: Change): RemoteChange {
  return { kind, id, text: after === undefined ? null : JSON.stringify(after), force: force === true };
}

/** The entity after a change; undefined for a deletion. Throws if `text` is not a valid entity. */
export function remoteEntity({ kind, id, text }: RemoteChange): EntityMap[EntityKindName] | undefined {
  if (text === null) return undefined;
  const what = `Cannot apply a change of ${kind} ${show(id)}`;
  let entity: unknown;
  try {
    entity = parseLossless(text);
  } catch (cause) {
    throw new Error(`${what}: ${String((cause as Error).message).replaceAll(/\s+/g, ' ')}`, { cause });
  }
  if (typeof entity === 'object' && entity !== null && 'id' in entity) return entity as EntityMap[EntityKindName];
  throw new Error(`${what}: must be an object with an id, found ${show(entity)}`);
}
