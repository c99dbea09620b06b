import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openApi } from './open_api.ts';

const FENCES = ['GET /fences/summary', 'POST /fences', 'PUT /fences/:fence_id'];
const RULES = ['GET /alerts/rules', 'POST /alerts/rules', 'PUT /alerts/rules/:rule_id'];
const VIEWS = ['GET /views', 'POST /views', 'PUT /views/:view_id'];

for (const [query, lists, expected] of [
  ['', { fences: [] }, FENCES],
  ['', { fences: [], alert_rules: [], views: [] }, [...FENCES, ...RULES, ...VIEWS]],
  ['?delete_others=true', { views: [] }, [...VIEWS, 'DELETE /views/:view_id']],
  ['?dry_run=true', { alert_rules: [], views: [] }, ['GET /alerts/rules', 'GET /views']],
  ['', { locating_rules: [] }, ['GET /trackables/rules/locating', 'PUT /trackables/rules/locating']],
] as const) {
  const names = Object.keys(lists).join(', ');
  test(`An import${query} of ${names} needs the permissions for its changes`, async () => {
    const asked: string[] = [];
    const api = openApi({ permit: async (method, path) => void asked.push(`${method} ${path}`) });
    const document = { format: 'location-hub-entities', version: 1, ...lists };
    const { status } = await api.send('POST', `/v2/import${query}`, document);
    assert.equal(status, 202);
    assert.deepEqual(asked, expected);
  });
}
