import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HALL } from '../support/hall.ts';
import { whileAuthorized } from './authorized_hub.ts';

const STREAM = { Accept: 'text/event-stream' };

test('Events of the log are read with the permissions of subscriptions to their topics', async () => {
  await whileAuthorized(
    "warden:\n  '/v2/ws/socket/zone_changes': [READ_ANY]\nstranger:\n  '/v2/zones': [READ_ANY]\n",
    async ({ hub, issuer, admin, as }) => {
      assert.equal((await admin.post('/zones', HALL)).status, 201);
      assert.equal((await admin.post('/providers', { id: 'tag', type: 'uwb' })).status, 201);
      const topicsOf = (body: { readonly events: readonly { readonly topic: string }[] }) => {
        return body.events.map(({ topic }) => topic);
      };
      const [warden, stranger] = [
        as(await issuer.token({ roles: ['warden'] })),
        as(await issuer.token({ roles: ['stranger'] })),
      ];
      const seen = await admin.get('/events');
      assert.deepEqual([seen.status, topicsOf(seen.body)], [200, ['zone_changes', 'provider_changes']]);
      const own = await warden.get('/events');
      assert.deepEqual([own.status, topicsOf(own.body)], [200, ['zone_changes']]);
      for (const path of ['/events', '/events/stream']) {
        assert.equal((await hub.request('GET', path, undefined, STREAM)).status, 401, path);
        assert.equal(
          (await hub.request('GET', path, undefined, { ...STREAM, Authorization: 'Bearer x' })).status,
          401,
          path,
        );
        assert.equal((await stranger.request('GET', path, undefined, STREAM)).status, 403, path);
        assert.equal(
          (await warden.request('GET', `${path}?topic=provider_changes`, undefined, STREAM)).status,
          403,
          path,
        );
      }
    },
  );
});
