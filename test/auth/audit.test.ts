import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AuditEntries } from '../../src/model/audit.ts';
import { HALL } from '../support/hall.ts';
import { whileAuthorized } from './authorized_hub.ts';

/** Ids of two zones. */
const [A, B] = ['6f1f4d3e-6a53-4a3e-9a43-0d8f4a4f2b21', '6f1f4d3e-6a53-4a3e-9a43-0d8f4a4f2b22'] as const;
const PERMISSIONS = `
planner:
  '/v2/zones': [CREATE_ANY]
owner:
  '/*': [READ_OWN, UPDATE_OWN]
`;

test('An entry names the subject of the token, the client and its request', async () => {
  await whileAuthorized(PERMISSIONS, async ({ hub, admin, issuer }) => {
    const token = await issuer.token({ roles: ['planner'], claims: { sub: 'ada' } });
    const create = (headers: Record<string, string>, id: string) =>
      hub.request('POST', '/zones', { ...HALL, id, foreign_id: id }, { Authorization: `Bearer ${token}`, ...headers });
    assert.equal((await create({ 'X-Request-Id': 'req-7' }, A)).status, 201);
    // A text that is no id is not recorded.
    assert.equal((await create({ 'X-Request-Id': 'two words' }, B)).status, 201);
    // A refused request changes nothing.
    assert.equal((await create({ 'X-Request-Id': 'req-8' }, A)).status, 400);
    const { entries } = (await admin.get('/audit?subject=ada')).body as AuditEntries;
    assert.deepEqual(
      entries.map(({ id, subject, address, via, request_id }) => [id, subject, address, via, request_id]),
      [
        [A, 'ada', '127.0.0.1', 'rest', 'req-7'],
        [B, 'ada', '127.0.0.1', 'rest', undefined],
      ],
    );
  });
});

test('The audit log needs a permission for everything', async () => {
  await whileAuthorized(PERMISSIONS, async ({ hub, admin, as, issuer }) => {
    const planner = as(await issuer.token({ roles: ['planner'] }));
    const owner = as(await issuer.token({ roles: ['owner'], owned: { zone_ids: [HALL.id] } }));
    assert.equal((await hub.get('/audit')).status, 401);
    assert.equal((await planner.get('/audit')).status, 403);
    assert.equal((await owner.get('/audit')).status, 403);
    assert.equal((await admin.get('/audit')).status, 200);
  });
});
