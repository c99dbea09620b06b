import type { ReadJson } from './topics.ts';

/** Which hub of a cluster owns each provider: a hint where to send its locations. */
export interface Owners {
  readonly owners: readonly (string | null)[];
  readonly urls: Readonly<Record<string, string>>;
}

/** Returns the owners at the moment; undefined if the hub has no such list, or if it names no other URL. */
export async function readOwners(read: ReadJson): Promise<Owners | undefined> {
  try {
    const found = (await read('/cluster/owners')) as Owners & { readonly hash: string };
    return found.hash === 'fnv1a-32' && Object.keys(found.urls).length > 0 ? found : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the URL of the hub that owns a provider; undefined if it is unknown. */
export function ownerUrl({ owners, urls }: Owners, providerId: string): string | undefined {
  const owner = owners[fnv1a32(providerId) % owners.length];
  return typeof owner === 'string' ? urls[owner] : undefined;
}

const utf8 = new TextEncoder();

/** The hash FNV-1a with 32 bits, of the text in UTF-8 (draft-eastlake-fnv). */
export function fnv1a32(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of utf8.encode(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}
