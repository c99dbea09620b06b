import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openTestHub } from '../support/running_hub.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { fenceOf, HubProcess, randomFrom } from './hub_process.ts';

const KILLS = 3;
/** Events of the other hub in each round. */
const EVENTS = 150;
/** Reached only if events are lost. */
const WAIT_MS = 30_000;
const FENCE = '0c5c1b0e-54b5-4b64-8d5f-0b0a3d5a6f02';

test(`After ${KILLS} crashes a hub has each fence event of a linked hub exactly once, in order`, async (t) => {
  const other = await openTestHub({}, { isAlone: true });
  t.after(other.close);
  const [folder, random] = [temporaryFolder(), randomFrom(1)];
  const settings = { link_allowed_hosts: '["127.0.0.1"]' };
  let hub = await HubProcess.start(folder, settings, after);
  assert.equal((await other.post('/fences', fenceOf(FENCE))).status, 201);
  assert.equal((await hub.post('/fences', fenceOf(FENCE)))?.status, 201);
  const link = await hub.post('/links', { name: 'other', url: other.base, topics: ['fence_events'] });
  assert.equal(link?.status, 201, JSON.stringify(link?.body));
  // The link begins with the events after its creation.
  while ((await hub.get(`/links/${link.body.id}`))?.body.state.read_at === undefined);
  const sent: string[] = [];
  for (let kill = 0; kill <= KILLS; kill++) {
    const killedAt = kill === KILLS ? -1 : Math.floor(random() * EVENTS);
    let crashed: Promise<unknown> | undefined;
    for (let i = 0; i < EVENTS; i++) {
      const id = `tag-${kill}-${i}`;
      const event = { event_type: 'region_entry', provider_id: id };
      assert.equal((await other.post(`/fences/${FENCE}/events`, event)).status, 204);
      sent.push(id);
      if (i === killedAt) crashed = hub.crash();
    }
    await crashed;
    if (crashed !== undefined) hub = await HubProcess.start(folder, settings, after);
  }
  let logged: readonly string[] = [];
  for (const endMs = performance.now() + WAIT_MS; logged.length < sent.length && performance.now() < endMs; ) {
    const { events } = (await hub.get('/events?topic=fence_events&limit=1000'))?.body ?? {};
    logged = events.map(({ payload }: { readonly payload: { readonly provider_id: string } }) => payload.provider_id);
  }
  assert.deepEqual(logged, sent);
  await hub.stop();
});
