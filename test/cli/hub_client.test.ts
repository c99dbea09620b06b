import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { hubClient } from '../../src/cli/hub_client.ts';
import { fakeHub } from './fake_hub.ts';

test('Requests remove their listeners from the signal that aborts them, and reject with its reason', async (context) => {
  const { promise: reached, resolve } = Promise.withResolvers<void>();
  const hub = await fakeHub(context, {
    answer: ({ path }) => {
      if (path !== '/hub/v2/last') return undefined;
      resolve();
      // If the hub answers with a Retry-After of half a minute, the request stays open.
      return { status: 503, headers: { 'retry-after': '30' } };
    },
  });
  const ending = new AbortController();
  const client = hubClient(hub.url, ending);
  await Promise.all(Array.from({ length: 20 }, () => client.send('PUT', '/many', {})));
  assert.deepEqual(getEventListeners(ending.signal, 'abort'), []);
  const last = client.send('GET', '/last');
  await reached;
  ending.abort(new Error('enough'));
  await assert.rejects(last, (error: Error) => error.name === 'AbortError' || error.message === 'enough');
  await assert.rejects(client.send('GET', '/more'), /enough/);
});
