import { accessToken } from '../hub/access.ts';
import { API_PATH } from '../hub/api_path.ts';
import type { Entities, Kind } from '../hub/entity_kinds.ts';
import { entityPath } from '../hub/rest.ts';

export type CurlVerb = 'GET' | 'PUT' | 'DELETE';

/** Returns the curl command of a request for an entity. */
export function curlOf(verb: CurlVerb, kind: Kind, entity: Entities[Kind]): string {
  return curlCommand(verb, entityPath(kind, entity.id), verb === 'PUT' ? entity : undefined);
}

/**
 * Returns the curl command of a request for an API path. The token is a shell variable, so that a copied command never
 * contains it.
 */
export function curlCommand(verb: CurlVerb, path: string, body?: unknown): string {
  const parts = ['curl', ...(verb === 'GET' ? [] : ['-X', verb])];
  parts.push(quoted(`${location.origin}${API_PATH}${path}`));
  if (accessToken.peek() !== undefined) parts.push('\\\n  -H "Authorization: Bearer $TOKEN"');
  if (body !== undefined) {
    parts.push(`\\\n  -H 'Content-Type: application/json'`);
    parts.push(`\\\n  -d ${quoted(JSON.stringify(body))}`);
  }
  return parts.join(' ');
}

/** Quotes a word for a shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
