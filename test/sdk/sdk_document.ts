import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { openApi } from '../api/open_api.ts';

/** Folder of the SDKs. */
export const SDK = new URL('../../sdk/', import.meta.url).pathname;

/** A file of an SDK that `npm run generate:sdk` makes of the OpenAPI document. */
export const GENERATED = ['typescript/src/generated.ts', 'python/src/omlox_hub/generated.py'] as const;

/** Returns the OpenAPI document of the hub as text, without its name and version. */
export async function sdkDocument(version: '3.1' | '3.0' = '3.1'): Promise<string> {
  const name = version === '3.1' ? 'openapi.json' : 'openapi-3.0.json';
  const { status, body } = await openApi().send('GET', `/v2/${name}`);
  assert.equal(status, 200);
  return JSON.stringify({ ...body, info: { title: 'Location hub', version: '2' } });
}

/** First line of a generated file, without the mark of a comment: it has the hash of its document. */
export function bannerOf(document: string): string {
  const hash = createHash('sha256').update(document).digest('hex');
  return `Made by "npm run generate:sdk" of the OpenAPI document with SHA-256 ${hash}.`;
}
