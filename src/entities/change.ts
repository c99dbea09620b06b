import { parseLossless } from '../model/lossless_numbers.ts';
import { show } from '../model/error_value_text.ts';
import type { EntityMap, Kind } from './known.ts';

/** One entity was created (no `before`), replaced, or deleted (no `after`). */
export interface Change<K extends Kind = Kind> {
  readonly kind: K;
  /** As the entity was created with: a UUID may be asked for in another case. */
  readonly id: string;
  readonly before: EntityMap[K] | undefined;
  readonly after: EntityMap[K] | undefined;
  /** The trackable's locations are to be evaluated at once. */
  readonly force?: boolean;
}

/** A change as hubs tell it to each other. */
export interface ForeignChange {
  readonly kind: Kind;
  readonly id: string;
  /** The entity as JSON; null where it is deleted. */
  readonly text: string | null;
  /** The trackable's locations are to be evaluated at once. */
  readonly force: boolean;
  /** Nothing changes where the entity exists already. */
  readonly ifAbsent?: boolean;
}

export function writtenChange({ kind, id, after, force }: Change): ForeignChange {
  return { kind, id, text: after === undefined ? null : JSON.stringify(after), force: force === true };
}

/** The entity after a change; undefined where it is deleted. Throws where the text is none. */
export function foreignEntity({ kind, id, text }: ForeignChange): EntityMap[Kind] | undefined {
  if (text === null) return undefined;
  const what = `Cannot apply a change of ${kind} ${show(id)}`;
  let entity: unknown;
  try {
    entity = parseLossless(text);
  } catch (cause) {
    throw new Error(`${what}: ${String((cause as Error).message).replaceAll(/\s+/g, ' ')}`, { cause });
  }
  if (typeof entity === 'object' && entity !== null && 'id' in entity) return entity as EntityMap[Kind];
  throw new Error(`${what}: must be an object with an id, found ${show(entity)}`);
}
