import { createHash } from 'node:crypto';
import { hubError } from '../errors.ts';
import type { HttpReply } from '../exchange.ts';
import { show } from '../model/error_value_text.ts';
import type { ParamsGiven } from '../reasons.ts';
import type { ApiCall } from './route.ts';

/**
 * ETags of entities and documents, and the conditions of requests (RFC 9110, sections 8.8.3 and 13.1).
 *
 *     "<version>.<representation>"       replies with a body
 *     "<version>"                        replies without one
 *
 * The version is a digest of the stored form, without members that the caller may not see. The representation is a
 * digest of the body. It may depend on other entities, such as the zone of a fence, on the CRS and on the version of
 * the API. If-Match compares versions, so a change of another entity does not refuse a write. If-None-Match compares
 * the whole ETag, so a 304 never hides a change of the body.
 */

/** Digests are long enough that no two versions of an entity have the same by chance: 132 bits. */
const DIGEST_LENGTH = 22;

type Asking = Pick<ApiCall, 'client' | 'reply'>;

/** An entity or document in two forms, as JSON. */
interface Forms {
  readonly stored: string;
  readonly shown: string;
}

/** Returns the reply with the ETag of its body. */
export function withETag(reply: HttpReply, { stored, shown }: Forms): HttpReply {
  return { ...reply, headers: { ...reply.headers, ETag: `"${digestOf(stored)}.${digestOf(shown)}"` } };
}

/** Returns the reply without body, with the ETag of what was stored. */
export function withVersion(reply: HttpReply, stored: string): HttpReply {
  return { ...reply, headers: { ...reply.headers, ETag: `"${digestOf(stored)}"` } };
}

/** Returns 200 with the JSON, or 304 if If-None-Match lists its ETag. */
export function unlessKnown({ client, reply }: Asking, forms: Forms): HttpReply {
  const full = withETag(reply.json(forms.shown), forms);
  const known = etagsIn(client.header('if-none-match') ?? '');
  if (known === undefined) return full;
  const isKnown = known === '*' || known.some(({ tag }) => `"${tag}"` === full.headers?.['ETag']);
  return isKnown ? withETag(reply.notModified, forms) : full;
}

/**
 * Returns a function that checks the current stored form against If-Match. It throws HUB_PRECONDITION_FAILED if the
 * header does not list its version. Call it when the write runs, after all earlier writes. Throws HUB_BAD_REQUEST for
 * an invalid header.
 */
export function versionCheck(
  { client }: Pick<ApiCall, 'client'>,
  what: Pick<ParamsGiven<'version_differs'>[0], 'action' | 'kind' | 'id'>,
): (stored: () => string) => void {
  const header = client.header('if-match');
  if (header === undefined) return () => undefined;
  const listed = etagsIn(header);
  if (listed === undefined) throw hubError('not_etags', { path: 'If-Match', found: show(header) });
  return (stored) => {
    if (listed === '*') return;
    const version = digestOf(stored());
    // Weak ETags never match: a proxy that compresses replies weakens them.
    if (listed.some(({ tag, isWeak }) => !isWeak && tag.split('.')[0] === version)) return;
    throw hubError('version_differs', { ...what, found: show(header) });
  };
}

interface ListedTag {
  readonly tag: string;
  readonly isWeak: boolean;
}

/** An ETag of a list, and the comma after it. */
const LISTED = /[ \t]*(W\/)?"([^"]*)"[ \t]*(,|$)/y;

/** Returns the ETags of a condition; undefined if it is invalid. */
function etagsIn(header: string): '*' | readonly ListedTag[] | undefined {
  if (header.trim() === '*') return '*';
  const tags: ListedTag[] = [];
  LISTED.lastIndex = 0;
  for (let hasMore = true; hasMore; ) {
    const [, weak, tag, comma] = LISTED.exec(header) ?? [];
    if (tag === undefined) return undefined;
    tags.push({ tag, isWeak: weak !== undefined });
    hasMore = comma === ',';
  }
  return tags;
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, DIGEST_LENGTH);
}
