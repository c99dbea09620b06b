import type { ApiKeysApi } from '../api/deps.ts';
import { keyHash, keyText, newKeyId, newKeySecret } from '../auth/api_key_text.ts';
import { API_KEYS, newKeyBody } from '../entities/api_keys.ts';
import { Documents, type DocumentsDeps } from '../entities/documents.ts';
import { hubError } from '../errors.ts';
import type { StoredApiKey } from '../model/api_key.ts';
import { formatTime } from '../model/time.ts';
import type { HubAuthorization } from './authorization.ts';
import type { Log } from './log.ts';

interface KeysDeps {
  readonly commit: DocumentsDeps['commit'];
  /** Wall-clock time. */
  now(): number;
  /** Undefined: the hub requires no authorization. */
  readonly authorization: Pick<HubAuthorization, 'keys' | 'checkKey'> | undefined;
}

/** Warns if no client can authenticate: without an identity server, at least one valid API key is needed. */
export function warnOfNoKeys(
  { keys, now }: { readonly keys: ApiKeysApi; now(): number },
  authorization: HubAuthorization | undefined,
  log: Log,
): void {
  if (authorization === undefined || authorization.signIn !== null) return;
  const isValid = ({ revoked_at: revoked, expires_at: expiry }: StoredApiKey): boolean => {
    return revoked == null && (expiry == null || Date.parse(expiry) > now());
  };
  if (keys.documents.list.some(isValid)) return;
  const what = 'No client can authenticate: the hub has no identity server and no valid API key';
  log.warn(what, { advice: 'stop the hub, and create a key: npm run hub -- keys create NAME --role ROLE --offline' });
}

/** Connects the stored API keys with the authorization of requests. */
export function connectKeys({ commit, now, authorization }: KeysDeps): ApiKeysApi {
  const documents = new Documents(API_KEYS, {
    newId: newKeyId,
    commit,
    changed: () => authorization?.keys.changed(),
  });
  authorization?.keys.attach((id) => documents.find(id));
  return {
    documents,
    async create(body, { token, by }) {
      const secret = newKeySecret();
      const complete = newKeyBody(body, { hash: keyHash(secret).toString('base64url'), nowMs: now() });
      const checked = documents.checked(complete);
      if (authorization === undefined) throw hubError('keys_without_authorization');
      await authorization.checkKey(checked, token);
      const document = await documents.create(complete, by);
      return { document, key: keyText(document.id, secret) };
    },
    revoke: (id, by) =>
      documents.change(id, (stored) => ({ ...stored, revoked_at: stored.revoked_at ?? formatTime(now()) }), by),
  };
}
