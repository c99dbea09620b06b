import { signal } from '@preact/signals';
import type { Link, LinkState } from '../../model/link.ts';
import { type MirrorMark, mirrorMark } from '../../model/mirror_mark.ts';
import { can } from './access.ts';
import { request } from './rest.ts';

type StatedLink = Link & { readonly state?: LinkState };

/** Links of the hub by id; undefined until loaded, and if the user may not read them. */
const links = signal<ReadonlyMap<string, StatedLink> | undefined>(undefined);

/** Time after which the links are read again. */
const FRESH_MS = 60_000;
let readMs = Number.NEGATIVE_INFINITY;

/** Origin of an entity that is mirrored from another hub. */
export interface Mirror {
  readonly mark: MirrorMark;
  /** Link that mirrors the entity; undefined while it is unknown. */
  readonly link: StatedLink | undefined;
}

/**
 * Returns the origin of a mirrored entity, which is read-only; undefined for one of this hub. When its link is deleted or
 * stops mirroring, a mirrored entity becomes an entity of this hub.
 */
export function mirrorOf(entity: object | undefined): Mirror | undefined {
  const mark = entity === undefined ? undefined : mirrorMark(entity);
  if (mark === undefined) return undefined;
  void readLinks();
  const all = links.value;
  const link = all?.get(mark.link);
  return all === undefined || link?.entities === 'mirror' ? { mark, link } : undefined;
}

async function readLinks(): Promise<void> {
  const nowMs = Date.now();
  if (nowMs - readMs < FRESH_MS || !can('READ', '/links')) return;
  readMs = nowMs;
  try {
    const listed = await request<readonly StatedLink[]>('GET', '/links', { isOnce: true });
    links.value = new Map(listed.map((link) => [link.id, link]));
  } catch {
    // The next reading is in a minute. Until then, the entity counts as mirrored: the hub rejects changes to it.
  }
}
