import { hubError } from '../errors.ts';
import { ApiKey, type StoredApiKey } from '../model/api_key.ts';
import { checker } from '../model/check.ts';
import { pathOf, show } from '../model/error_value_text.ts';
import { formatTime, parseTime } from '../model/time.ts';
import { bodyObject, type EntityBody, onlyMembers } from './body.ts';
import type { DocumentKind } from './documents.ts';

const schema = checker(ApiKey);

/** API keys as stored documents. */
export const API_KEYS: DocumentKind<StoredApiKey> = {
  prefix: 'api_key ',
  kind: 'api_key',
  max: 1000,
  secrets: { paths: [['hash']], receivers: [] },
  check(body) {
    const { key: _key, ...document } = onlyMembers(ApiKey, schema.parse(body));
    const repeated = document.roles.findIndex((role, i) => document.roles.indexOf(role) < i);
    if (repeated >= 0) {
      const path = pathOf('roles', [String(repeated)]);
      throw hubError('repeated_value', { path, found: show(document.roles[repeated]) });
    }
    return { ...document, hash: String(body['hash']) };
  },
};

export interface NewApiKey {
  /** Hash of its secret. */
  readonly hash: string;
  readonly nowMs: number;
}

/** The body of a new key, with the members that the hub sets. Throws HUB_BAD_REQUEST for an invalid or past expiry. */
export function newKeyBody(sent: unknown, { hash, nowMs }: NewApiKey): EntityBody {
  const { expires_at: expiry, revoked_at: _revoked, ...body } = bodyObject(sent);
  let expires: string | undefined;
  if (expiry != null) {
    const expiresMs = typeof expiry === 'string' ? parseTime(expiry) : Number.NaN;
    if (Number.isNaN(expiresMs)) throw hubError('not_a_time', { path: 'expires_at', found: show(expiry) });
    if (expiresMs <= nowMs) throw hubError('not_in_the_future', { path: 'expires_at', found: show(expiry) });
    expires = formatTime(expiresMs);
  }
  return { ...body, ...(expires !== undefined && { expires_at: expires }), created_at: formatTime(nowMs), hash };
}
