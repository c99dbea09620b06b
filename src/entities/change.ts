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
  /** Clients see no difference, and are not told. */
  readonly isSilent?: boolean;
}
