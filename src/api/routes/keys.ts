import { ApiKey, type StoredApiKey } from '../../model/api_key.ts';
import { type ApiRoute, valueRoute } from '../route.ts';
import { documentRows } from './document_rows.ts';

/** The endpoints of API keys. A key has no owner, so they need permissions for all. */
export const KEY_ROUTES: readonly ApiRoute[] = [
  ...documentRows<StoredApiKey>({
    path: '/keys',
    idName: 'key_id',
    schema: ApiKey,
    noun: 'API key',
    summaries: {
      list: 'All API keys, without their secrets',
      create: 'Create an API key',
      get: 'One API key, without its secret',
      remove: 'Delete an API key',
    },
    notes: {
      create: {
        description: 'Only this reply has the key: the hub stores a hash of it.',
        refusals: { 403: 'A role of the key permits more than the token of the request.' },
      },
    },
    removed: 'The API key is deleted, and no longer valid.',
    of: ({ keys }) => keys.documents,
    async create({ body, token, by }, { keys }) {
      const { document, key } = await keys.create(body, { token, by: by() });
      return { document, more: { key } };
    },
  }),
  valueRoute({
    method: 'POST',
    path: '/keys/:key_id/revoke',
    summary: 'Revoke an API key; it remains in the list',
    permission: { operation: 'UPDATE' },
    returns: ['The key, which is no longer valid.', ApiKey],
    value: async ({ id, by }, { keys }) => keys.documents.shown(await keys.revoke(id, by())),
  }),
];
