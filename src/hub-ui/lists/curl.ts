import { accessToken } from '../hub/access.ts';
import { API_PATH } from '../hub/api_path.ts';
import type { Entities, Kind } from '../hub/entity_kinds.ts';
import { entityPath } from '../hub/rest.ts';

export type CurlVerb = 'GET' | 'PUT' | 'DELETE';

/** Returns the curl command of a request. The token is a shell variable, so that a copied command never contains it. */
export function curlOf(verb: CurlVerb, kind: Kind, entity: Entities[Kind]): string {
  const parts = ['curl', ...(verb === 'GET' ? [] : ['-X', verb])];
  parts.push(quoted(`${location.origin}${API_PATH}${entityPath(kind, entity.id)}`));
  if (accessToken.peek() !== undefined) parts.push('\\\n  -H "Authorization: Bearer $TOKEN"');
  if (verb === 'PUT') {
    parts.push(`\\\n  -H 'Content-Type: application/json'`);
    parts.push(`\\\n  -d ${quoted(JSON.stringify(entity))}`);
  }
  return parts.join(' ');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
