import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { openWebhookServer } from '../support/webhook_server.ts';
import { fenceOf, HubProcess, locationOf, newFolder } from './hub_process.ts';

const FENCE = '0c5c1b0e-54b5-4b64-8d5f-0b0a3d5a6f01';
const PROVIDERS = Array.from({ length: 8 }, (_, i) => `tag-${i}`);
const SETTINGS = { sink_allowed_hosts: '["127.0.0.1"]' };
const KILLS = 2;
/** Steps of all providers between two kills. Each step crosses the fence. */
const STEPS = 60;

interface Page {
  readonly events: readonly { readonly cursor: string }[];
  readonly next: string;
  readonly has_more: boolean;
}

/** Returns the cursors of all fence events of the log, in order. */
async function cursorsOf(hub: HubProcess): Promise<readonly string[]> {
  const cursors: string[] = [];
  for (let after = ''; ; ) {
    const reply = await hub.get(`/events?topic=fence_events&limit=1000${after === '' ? '' : `&after=${after}`}`);
    assert.ok(reply?.status === 200, JSON.stringify(reply?.body));
    const { events, next, has_more: hasMore } = reply.body as Page;
    cursors.push(...events.map(({ cursor }) => cursor));
    if (!hasMore) return cursors;
    after = encodeURIComponent(next);
  }
}

test(`After ${KILLS} crashes a webhook has every event of the log at least once, in order per object`, async (t: TestContext) => {
  const target = await openWebhookServer();
  t.after(() => target.close());
  const folder = newFolder();
  let hub = await HubProcess.start(folder, SETTINGS);
  await hub.post('/fences', fenceOf(FENCE));
  const sink = await hub.post('/sinks', { name: 'A', type: 'webhook', url: target.url, topics: ['fence_events'] });
  assert.equal(sink?.status, 201, JSON.stringify(sink?.body));
  let step = 0;
  for (let kill = 0; kill <= KILLS; kill++) {
    for (let i = 0; i < STEPS; i++) {
      step++;
      const locations = PROVIDERS.map((provider) => locationOf(provider, step % 2 === 0 ? 0 : 100));
      await hub.put('/providers/locations', locations);
    }
    if (kill === KILLS) break;
    await hub.crash();
    hub = await HubProcess.start(folder, SETTINGS);
  }
  await hub.get('/trackables/motions');
  const logged = await cursorsOf(hub);
  assert.ok(logged.length > 300, `${logged.length} events`);
  const wanted = new Set(logged);
  const received = (): { readonly cursor: string; readonly subject: string }[] => {
    return target.requests.map(({ body }) => JSON.parse(body));
  };
  for (let seen = 0; ; ) {
    const missing = wanted.difference(new Set(received().map(({ cursor }) => cursor)));
    if (missing.size === 0) break;
    seen = target.requests.length;
    await target.until(seen + 1);
  }
  const index = new Map(logged.map((cursor, i) => [cursor, i]));
  const owners = new Map(received().map(({ cursor, subject }) => [cursor, subject]));
  const ofObject = Map.groupBy(logged, (cursor) => owners.get(cursor) ?? '');
  const has = new Set<string>();
  for (const { cursor, subject } of received()) {
    const earlier = (ofObject.get(subject) ?? []).filter((each) => (index.get(each) ?? 0) < (index.get(cursor) ?? 0));
    const skipped = earlier.find((each) => !has.has(each));
    assert.equal(skipped, undefined, `${cursor} of ${subject} arrived before ${skipped}`);
    has.add(cursor);
  }
  t.diagnostic(`${logged.length} events, ${target.requests.length - logged.length} sent again`);
  await hub.stop();
});
