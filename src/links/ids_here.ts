import { createHash } from 'node:crypto';

/** How ids of another hub become ids of this hub. */
export interface ForeignIds {
  readonly peerId: string;
  readonly idPrefix: string;
}

/**
 * The id here of a trackable or an event of another hub. These ids are UUIDs, which a prefix would spoil: with a prefix
 * they get a UUID that is derived from their id.
 */
export function uuidHere(id: string, { peerId, idPrefix }: ForeignIds): string {
  if (idPrefix === '') return id;
  const hex = createHash('sha256').update(`${idPrefix}\n${peerId}\n${id}`).digest('hex');
  // Version 8: a UUID of an application.
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  );
}
